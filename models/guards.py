"""Guards: the load-bearing details in which two memories differ, and those a merged text would lose.

A guard never says that two texts mean the same; it only finds reasons why they do not. `compare` gives
evidence for a pair, `missing` refuses a merged text, `is_specific` keeps short but specific memories,
`described` feeds the scorer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple

from ..records import Evidence
from .bindings import meant, relation
from .facts import Detail, Facts, Name, Negation, Quote, Relative, Trait, extract, frames
from .facts.attributes import Rival, rival
from .facts.frames import Change
from .facts.roles import exchange, other_actor, rearranged, turned_round
from .text.tables import pattern, table_lines
from .text.words import fold, normalise, stem

FACTS_VERSION = 3
"""Rises with every change of the guards, of what they read, or of the columns made of them.

Scores that were kept, and a calibration or weights that were fitted, belong to one version.
"""


class Kind(NamedTuple):
    """One kind of evidence; its words and columns stand in `tables/evidence.toml`."""

    said: str
    of: str
    families: tuple[str, ...]
    column: str


def _kinds(key: str) -> dict[str, Kind]:
    rows = ([cell.strip() for cell in line.split("|")] for line in table_lines("evidence", key))
    return {
        kind: Kind(said, details.partition(":")[0], tuple(details.partition(": ")[2].split(", ")), column)
        for kind, details, column, said in rows
    }


KINDS, JUDGED = _kinds("found"), _kinds("judged")
"""The kinds that `compare` finds, and those that the judge adds."""
WHOLE = frozenset({"exact", "adds", "rule"})  # kinds whose detail is a sentence of its own
COLUMNS = tuple(dict.fromkeys(kind.column for kind in KINDS.values() if kind.column))
_FAMILY_KIND = {family: name for name, kind in KINDS.items() for family in kind.families}
FEATURE_NAMES = (
    *(f"{kind}_{facet}" for kind in COLUMNS for facet in ("equal", "conflict", "only_min", "only_max")),
    "order", "swap", "exception", "vetoes",
)  # fmt: skip
UNCOUNTED = frozenset({"rival", "actor", "denial", "progress"})
"""Vetoes that are no column: the weights were fitted without them."""
_VALUES = frozenset(("number", "date", "weekday", "time", "frequency", "identifier", "version"))


class Contradicting(IntEnum):
    """How sure typed facts are that two texts contradict each other."""

    NO = 0
    POSSIBLE = 1
    SURE = 2


def compare(
    a: str, b: str, *, a_date: datetime | None = None, b_date: datetime | None = None
) -> tuple[Evidence, ...]:
    """Return one evidence per kind of detail in which two texts differ; the dates are for "yesterday".

    An evidence is a veto where both texts answer one question differently, and none where one only says more.
    Swapping the texts gives the same kinds and vetoes.

    >>> compare("Takes 20 mg at 5 pm", "Takes 40 mg at 17:00")
    (Evidence(kind='number', detail='20 mg / 40 mg', veto=True),)
    """
    left, right = extract(a), extract(b)
    evidence = _evidence(left, right, _differences(left, right, a_date, b_date))
    return evidence if left.text == right.text else (*evidence, *meant(a, b))


class _Difference(NamedTuple):
    kind: str
    mine: Sequence[Detail]
    theirs: Sequence[Detail]
    only_left: Sequence[Detail]
    only_right: Sequence[Detail]


def _differences(
    left: Facts, right: Facts, a_date: datetime | None = None, b_date: datetime | None = None
) -> list[_Difference]:
    differences = []
    for kind in KINDS:
        mine, theirs = _of_kind(kind, left, a_date), _of_kind(kind, right, b_date)
        if mine or theirs:
            differences.append(_Difference(kind, mine, theirs, *frames.parted(mine, theirs, left, right)))
    return differences


def _of_kind(kind: str, facts: Facts, moment: datetime | None) -> Sequence[Detail]:
    """The details that are reported under a kind; days said relatively count where the text is dated."""
    row = KINDS[kind]
    details: tuple[Detail, ...] = getattr(facts, row.of) if row.of else ()
    if kind == "date" and facts.relatives:
        return (*details, *(each if moment is None else each.on(moment) for each in facts.relatives))
    if row.of != "traits" or not details:
        return details
    return [each for each in facts.traits if _FAMILY_KIND.get(each.family, "trait") == kind]


def _evidence(left: Facts, right: Facts, differences: Sequence[_Difference]) -> tuple[Evidence, ...]:
    """One evidence per kind; a kind that vetoes says nothing else."""
    if left.text == right.text:
        return ()
    evidence = [each for each in map(_differ, differences) if each is not None]
    denied = frames.denied(left, right), frames.denied(right, left)
    if any(denied) or bool(left.negations) != bool(right.negations):
        shown = map(_show, denied if any(denied) else (left.negations, right.negations))
        evidence.append(_said("negation", shown, veto=any(denied)))
    exchanged = exchange(left, right)
    framed: list[tuple[str, Change | None]] = [
        ("number", frames.added_count(left, right)),
        ("quantifier", frames.exception(left, right)),
        ("order", exchanged),
    ]
    if not any(each.veto for each in evidence) and not any(change for _, change in framed):
        framed.append(("swap", frames.swap(left, right)))  # where nothing else explains the difference
    evidence += [_said(kind, change) for kind, change in framed if change]
    turned = None if exchanged else rearranged(left, right)
    if turned:
        evidence.append(_said("order", turned, veto=False))
    values = _rivals(left, right)
    if values is not None:
        evidence.append(_said("rival", (f"{values.attribute}: {values.mine}", values.theirs)))
    beyond = {"actor": other_actor, "denial": frames.foreign_denial, "progress": frames.progressed}
    told = ((kind, rule(left, right)) for kind, rule in beyond.items())
    evidence += [_said(kind, change) for kind, change in told if change]
    vetoes = {each.kind for each in evidence if each.veto}
    return tuple(each for each in evidence if each.veto or each.kind not in vetoes)


def _said(kind: str, change: Iterable[str], *, veto: bool = True) -> Evidence:
    return Evidence(kind, " / ".join(change), veto=veto)


def _differ(difference: _Difference) -> Evidence | None:
    only = difference.only_left, difference.only_right
    if not any(only):
        return None
    rivals = [(x, y) for x in only[0] for y in only[1] if x.rivals(y)] if difference.kind != "quote" else []
    shown = zip(*rivals, strict=True) if rivals else only
    return _said(difference.kind, map(_show, shown), veto=bool(rivals))


def _show(details: Sequence[Detail]) -> str:
    return ", ".join(dict.fromkeys(each.text for each in details)) or "-"


def contradicting(a: str, b: str) -> Contradicting:
    """Whether two texts give one attribute two values, or deny or turn round each other, and how surely."""
    left, right = extract(a), extract(b)
    if frames.opposed(left, right) or turned_round(left, right):
        return Contradicting.SURE
    done = frames.still_done(a, b)
    if done is not None and not relation(a, b).unsaid[done]:
        return Contradicting.SURE
    values = _rivals(left, right)
    if values is None:
        return Contradicting.NO
    return Contradicting.SURE if values.sure else Contradicting.POSSIBLE


def _rivals(left: Facts, right: Facts) -> Rival | None:
    """Values set against each other of which neither text names both, one in the other: "Porto, Portugal"."""
    values = rival(left, right)
    if values is None or not values.equal:
        return None
    mine, theirs = re.escape(values.mine), re.escape(values.theirs)
    within = re.compile(rf"\b(?:{mine}[ ,(]+(?:in )?{theirs}|{theirs}[ ,(]+(?:in )?{mine})\b")
    return None if within.search(left.text) or within.search(right.text) else values


def missing(sources: Sequence[str], merged: str) -> tuple[Evidence, ...]:
    """Return every load-bearing detail of the sources that a merged text does not keep.

    An equivalent form counts as kept, a less precise one does not. A merge with anything missing is refused.

    >>> missing(["Takes 20 mg at 5 pm", "Anna knows"], "Anna knows: 20 mg at 17:00")
    ()
    """
    target = extract(merged)
    kept, folded = _carried(target), fold(target.text)
    lost: dict[tuple[str, str], Evidence] = {}
    for detail in (each for source in sources for each in _carried(extract(source))):
        if not _kept(detail, kept, target, folded):
            kind = "date" if isinstance(detail, Relative) else detail.kind
            kind = detail.family if isinstance(detail, Trait) else kind
            lost[kind, detail.text] = Evidence(kind, detail.text, veto=True)
    return tuple(lost.values())


def _carried(facts: Facts) -> tuple[Detail, ...]:
    return tuple(
        each for each in facts.details() if not isinstance(each, Trait) or each.family == "environment"
    )


def _kept(detail: Detail, kept: Sequence[Detail], target: Facts, folded: str) -> bool:
    """Whether a merged text keeps a detail: by value, or letter for letter at the edges of words."""
    if any(each.covers(detail) for each in kept):
        return True
    if isinstance(detail, Name):
        plain = not detail.strong and detail.opens and stem(detail.folded) in target.stems  # "Services"
        if plain or detail.folded in target.vocabulary:
            return True
    surface = fold(detail.clause if isinstance(detail, Negation) else normalise(detail.text))
    if isinstance(detail, Quote):
        return surface in folded
    edged = rf"(?<![^\W_])(?<![0-9][.,]){re.escape(surface)}(?![^\W_])(?![.,][0-9])"
    return re.search(edged, folded) is not None


def is_specific(text: str) -> bool:
    """Return whether a text holds a detail: a name, number, date, identifier, attribute and value."""
    facts = extract(text)
    literal = facts.links or facts.paths or facts.identifiers or facts.versions or facts.names or facts.quotes
    dated = facts.days or facts.weekdays or facts.clocks
    counted = any(number.form != "weak" for number in facts.numbers)
    return bool(literal or dated or counted or pattern("attribute").search(facts.text))


def shared_values(a: str, b: str) -> bool:
    """Whether two texts state one number, date, time, version or code."""
    return any(
        len(each.only_left) + len(each.only_right) < len(each.mine) + len(each.theirs)
        for each in _differences(extract(a), extract(b))
        if KINDS[each.kind].column in _VALUES
    )


def described(a: str, b: str) -> tuple[dict[str, float], tuple[Evidence, ...]]:
    """Return the named numbers that the calibrator learns from, and the evidence of `compare`.

    For each kind: how many details agree, whether they conflict, and how many only one text has (the smaller
    and the larger count). URLs, paths and quotations count as identifiers. See `FEATURE_NAMES`. Swapping the
    texts gives the same numbers.

    >>> counts, _ = described("Takes 20 mg", "Takes 40 mg daily")
    >>> counts["number_conflict"], counts["frequency_only_max"], counts["vetoes"]
    (1.0, 1.0, 1.0)
    """
    left, right = extract(a), extract(b)
    differences = _differences(left, right)
    values = dict.fromkeys(FEATURE_NAMES, 0.0)
    for each in differences:
        name = KINDS[each.kind].column
        only = sorted((len(each.only_left), len(each.only_right)))
        values[f"{name}_equal"] += (len(each.mine) + len(each.theirs) - sum(only)) / 2
        values[f"{name}_only_min"] += only[0]
        values[f"{name}_only_max"] += only[1]
    counts = sorted((len(left.negations), len(right.negations)))
    values["negation_equal"] = float(counts[0])
    values["negation_only_max"] = float(counts[1] - counts[0])
    evidences = _evidence(left, right, differences)
    for evidence in evidences:
        if evidence.veto and evidence.kind not in UNCOUNTED:
            column = f"{KINDS[evidence.kind].column}_conflict"
            values[evidence.kind if evidence.kind in values else column] = 1.0
            values["vetoes"] += 1
    values["exception"] = float(frames.exception(left, right) is not None)
    return values, evidences
