"""Guards: the load-bearing details in which two memories differ, and those a merged text would lose.

A guard never says that two texts mean the same; it only finds reasons why they do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum

from ..records import Evidence
from .bindings import meant, relation
from .facts import Detail, Facts, Name, Negation, Quote, Relative, Trait, extract, frames
from .facts.attributes import Rival, rival
from .facts.frames import Change, Difference, differences
from .facts.roles import exchange, other_actor, rearranged, turned_round
from .text.tables import pattern
from .text.words import fold, normalise, stem

# Rises with every change of guards, of what they read, or of columns: scores and weights belong to one of it.
FACTS_VERSION = 5
WHOLE = frozenset({"exact", "adds", "rule"})  # kinds whose detail is a sentence of its own


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
    evidence = described(a, b, a_date, b_date)[1]
    return evidence if extract(a).text == extract(b).text else (*evidence, *meant(a, b))


def described(
    a: str, b: str, a_date: datetime | None = None, b_date: datetime | None = None
) -> tuple[list[Difference], tuple[Evidence, ...]]:
    """What two texts state kind by kind, and one evidence per kind; a kind that vetoes says nothing else."""
    left, right = extract(a), extract(b)
    differing = differences(left, right, a_date, b_date)
    if left.text == right.text:
        return differing, ()
    evidence = [_differ(each) for each in differing if each.only_left or each.only_right]
    denied = frames.denied(left, right), frames.denied(right, left)
    if any(denied) or bool(left.negations) != bool(right.negations):
        shown = map(_show, denied if any(denied) else (left.negations, right.negations))
        evidence.append(_said("negation", shown, veto=any(denied)))
    exchanged, values = exchange(left, right), _rivals(left, right)
    framed = frames.added_count(left, right), frames.exception(left, right), exchanged
    explained = any(each.veto for each in evidence) or any(framed)
    rows: list[tuple[str, Change | None]] = [
        *zip(("number", "quantifier", "order"), framed, strict=True),
        ("swap", None if explained else frames.swap(left, right)),
        ("", None if exchanged else rearranged(left, right)),
        ("rival", (f"{values.attribute}: {values.mine}", values.theirs) if values else None),
        ("actor", other_actor(left, right)),
        ("denial", frames.foreign_denial(left, right)),
        ("progress", frames.progressed(left, right)),
    ]
    evidence += [_said(kind or "order", change, veto=bool(kind)) for kind, change in rows if change]
    vetoes = {each.kind for each in evidence if each.veto}
    return differing, tuple(each for each in evidence if each.veto or each.kind not in vetoes)


def _said(kind: str, change: Iterable[str], *, veto: bool = True) -> Evidence:
    return Evidence(kind, " / ".join(change), veto=veto)


def _differ(difference: Difference) -> Evidence:
    only = difference.only_left, difference.only_right
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
    """Every load-bearing detail of the sources that a merged text keeps in no equivalent form."""
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
