"""The pairs that only a person can decide: their order, the words for them, and what an answer teaches.

A doubt is a merge or a conflict of two memories, or a memory that a settled conflict may have made untrue,
under `unsure` of the plan. A person's yes moves it into the plan, like any other action.

A language model is asked only about pairs that the scorer left unsure, the most probable first, each once.
Its opinion may propose a merge or report a conflict; it never overrules a guard, never settles a
contradiction, and without an answer everything stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from ...errors import NoAnswerError
from ...models.llm import LABELS, PROMPT_VERSION, Adviser, load_adviser, opinion
from ...models.scorer import CONTRADICTION, DUPLICATE, PairInput
from ...records import ActionKind, Evidence, Label
from ..answers import Say
from ..judging.cache import opinion_key
from ..judging.calibration import pair_line
from ..judging.subjects import UNCLEAR
from ..plan import OPINION, Action, Member, Merge, Plan, Prune, Resolve, in_order
from .drafts import conflict_of_pair, loses, merge_of
from .hooks import Hooks, Means, View

Pair = Merge | Resolve
Doubt = Pair | Prune
AnyDoubt = TypeVar("AnyDoubt", Doubt, Resolve)
CLUSTER = 6  # memories that one question is about at most; more cannot be compared at a glance
_TAUGHT_BY_MERGES = {Say.YES: Label.DUPLICATE, Say.EDIT: Label.DUPLICATE, Say.NO: Label.DISTINCT}
_TAUGHT_BY_CONFLICTS = {Say.BOTH: Label.DISTINCT, Say.SAME: Label.DUPLICATE}


def ranked(doubts: Iterable[Doubt]) -> list[Doubt]:
    """The most probable first; equally probable ones by id. What may be untrue follows, as it was ranked."""

    def place(doubt: Doubt) -> tuple[float, list[str]]:
        asked = isinstance(doubt, Prune)
        return (1.0, []) if asked else (-probability(doubt), [member.id for member in doubt.members])

    return sorted(doubts, key=place)


def pairs(doubts: Iterable[Doubt]) -> list[Pair]:
    """Those about two memories, the most probable first."""
    return [doubt for doubt in ranked(doubts) if not isinstance(doubt, Prune)]


def clusters(doubts: Iterable[Doubt]) -> list[list[Doubt]]:
    """Pairs that share memories stand together, the most probable first; of `CLUSTER` memories at most."""
    return _together(ranked(doubts))


def conflict_clusters(conflicts: Iterable[Resolve]) -> list[list[Resolve]]:
    """The same of conflicts, in their order; one of two sentences stands alone, as one that was answered."""
    return _together(list(conflicts))


def _together(left: list[AnyDoubt]) -> list[list[AnyDoubt]]:
    found = list[list[AnyDoubt]]()
    while left:
        group, ids, rest = list[AnyDoubt](), set[str](), list[AnyDoubt]()
        for doubt in left:
            of = ends(doubt)
            alone = isinstance(doubt, Prune) or bool(
                getattr(doubt, "said", ()) or getattr(doubt, "choice", None)
            )
            shares = not ids.isdisjoint(of) and len(ids.union(of)) <= CLUSTER
            fits = not group or (shares and not alone)
            (group if fits else rest).append(doubt)
            ids.update(() if alone or not fits else of)
        found.append(group)
        left = rest
    return found


def ends(doubt: Doubt) -> tuple[str, ...]:
    """The memories that a question sets beside each other, the first one first; what goes with them aside."""
    if isinstance(doubt, Resolve):
        return doubt.a[0], doubt.b[0]
    return tuple(member.id for member in in_order(doubt))


def probability(doubt: Doubt) -> float:
    """How likely the two memories speak of the same thing, in agreement or not."""
    judged = [verdict.probabilities for verdict in getattr(doubt, "verdicts", ())]
    return max((max(pair[DUPLICATE], pair[CONTRADICTION]) for pair in judged), default=0.0)


def open_question(doubts: Iterable[Doubt]) -> str:
    """How many questions are left to a person, in words."""
    kinds, parts = [str(doubt.kind) for doubt in doubts], []
    duplicates, contradictions, outdated = map(
        kinds.count, (ActionKind.MERGE, ActionKind.RESOLVE, ActionKind.PRUNE)
    )
    if duplicates:
        parts.append(f"{duplicates} more {'pairs' if duplicates > 1 else 'pair'} may be duplicates")
    if contradictions:
        noun = "" if duplicates else " pairs" if contradictions > 1 else " pair"
        parts.append(f"{contradictions} more{noun} may contradict")
    if outdated:
        parts.append(f"{outdated} {'memories' if outdated > 1 else 'memory'} may have gone out of date")
    return ", ".join(parts)


def lesson(action: Action, say: Say) -> str:
    """What an answer teaches a scorer, as a line that `calibrate` reads; empty if nothing about one pair."""
    label = None
    pair: tuple[Member, ...] = action.members
    if isinstance(action, Merge):
        if action.said:
            pair = tuple(replace(pair[0], text=said) for said in action.said)
        # larger merges are ambiguous, exact copies carry no signal
        if len(pair) == 2 and not action.exact and pair[0].text != pair[1].text:
            label = _TAUGHT_BY_MERGES.get(say)
    elif isinstance(action, Resolve):
        members = {member.id: member for member in pair}
        pair = (members[action.a[0]], members[action.b[0]])
        if action.said:
            pair = tuple(replace(m, text=said) for m, said in zip(pair, action.said, strict=True))
        label = _TAUGHT_BY_CONFLICTS.get(say)
        # Of rival values that the scorer took for one fact, a choice does not say whether they are two.
        if say in (Say.A, Say.B) and all(
            verdict.probabilities[CONTRADICTION] > verdict.probabilities[DUPLICATE]
            for verdict in action.verdicts
        ):
            label = Label.CONTRADICTION
    return pair_line(pair[0], pair[1], label, category=action.category) if label is not None else ""


LONGEST_TEXT = 8_000  # characters that are sent of a memory at most; longer ones are documents
FAILURES_IN_A_ROW = 3  # after so many no further pair is asked about: the model is down, or the wrong one


def advise(plan: Plan, kind: Hooks, view: View, means: Means, say: Callable[[str], None]) -> Plan:
    """The plan after the language model that the settings name was asked about its doubts."""
    limits, cache = means.settings, means.models.cache
    adviser = load_adviser(limits.second_opinion, llm=kind.store.llm, timeout=limits.second_opinion_timeout)
    if adviser is None:
        return plan
    asked: dict[str, PairInput] = {}
    for doubt in pairs(plan.unsure):
        unclear = any(item.kind == UNCLEAR for verdict in doubt.verdicts for item in verdict.evidence)
        if (
            len(doubt.members) == 2
            and not unclear
            and all(len(m.text) <= LONGEST_TEXT for m in doubt.members)
        ):
            a, b = doubt.members
            asked[doubt.id] = PairInput(a.text, b.text, 0.0, doubt.category, a.stated_at, b.stated_at)
    keys = {name: opinion_key(f"{PROMPT_VERSION}:{adviser.name}", pair) for name, pair in asked.items()}
    kept = cache.load(list(keys.values()))
    labels = {name: kept[key].decode("ascii", "replace") for name, key in keys.items() if key in kept}
    labels = {name: label for name, label in labels.items() if label in LABELS}
    unknown = [name for name in asked if name not in labels]
    if wanted := unknown[: limits.second_opinion_limit]:
        adviser.prepare()
        line = f"second opinion: asking {adviser.spoken} about {len(wanted)} unsure pairs, one call each"
        line += f"; {len(labels)} answered before" if labels else ""
        if left := len(unknown) - len(wanted):
            line += f"; {left} left for another run (limit {limits.second_opinion_limit})"
        say(f"{line}.")
        pairs_wanted = {name: (keys[name], asked[name]) for name in wanted}
        with means.observer.stage("ask", None) as progress:
            labels |= _asked(adviser, pairs_wanted, means, say, progress)
    # Unattended, only conflicts are added.
    merging = not means.unattended or limits.second_opinion_auto
    return _advised(plan, labels, merging=merging, kind=kind, view=view)


def _asked(
    adviser: Adviser,
    pairs: Mapping[str, tuple[bytes, PairInput]],
    means: Means,
    say: Callable[[str], None],
    progress: Callable[[int], None],
) -> dict[str, str]:
    """Labels by the id of the doubt, as far as there are any, each kept at once; what came of it is said."""
    labels, failures, in_a_row = dict[str, str](), Counter[str](), 0
    for number, (name, (key, pair)) in enumerate(pairs.items(), 1):
        try:
            labels[name] = opinion(adviser, pair, timeout=means.settings.second_opinion_timeout)
        except NoAnswerError as error:
            failures[error.reason] += 1
            in_a_row += 1
            if error.hopeless or in_a_row == FAILURES_IN_A_ROW:
                break
        else:
            in_a_row = 0
            means.models.cache.store({key: labels[name].encode("ascii")})
        progress(number)
    counted = Counter(labels.values())
    said = ", ".join(f"{counted[label]} {label}" for label in LABELS if counted[label])
    line = f"second opinion: {len(labels)} of {len(pairs)} pairs answered" + (f" ({said})" if said else "")
    if left := len(pairs) - len(labels):
        unasked = left - failures.total()
        reasons = [f"{count} {reason}" for reason, count in failures.most_common()]
        reasons += [f"{unasked} not asked any more"] if unasked else []
        line += f"; {left} {'stay' if left > 1 else 'stays'} unsure: {', '.join(reasons)}"
    say(f"{line}.")
    return labels


def _advised(plan: Plan, labels: Mapping[str, str], *, merging: bool, kind: Hooks, view: View) -> Plan:
    actions: list[Action] = list(plan.actions)
    unsure: list[Doubt] = [doubt for doubt in plan.unsure if isinstance(doubt, Prune)]
    taken = {member.id for action in actions for member in action.members}
    for doubt in pairs(plan.unsure):
        label = labels.get(doubt.id)
        if label == Label.DISTINCT:
            continue
        said = doubt
        if label in (Label.DUPLICATE, Label.CONTRADICTION):
            note = Evidence(OPINION, label)
            said = replace(
                doubt, verdicts=tuple(replace(v, evidence=(*v.evidence, note)) for v in doubt.verdicts)
            )
        wanted = label if label != Label.DUPLICATE or merging else None
        ids = {member.id for member in doubt.members}
        proposal = None if taken & ids else _proposal(said, wanted, kind, view)
        if proposal is None:
            unsure.append(said)
        else:
            taken |= ids
            actions.append(proposal)
    order = {doubt.id: place for place, doubt in enumerate(plan.unsure)}
    unsure.sort(key=lambda each: order[each.id])
    return replace(plan, actions=tuple(actions), unsure=tuple(unsure))


def _proposal(doubt: Pair, label: str | None, kind: Hooks, view: View) -> Pair | None:
    against = label == Label.CONTRADICTION
    vetoed = any(item.veto for verdict in doubt.verdicts for item in verdict.evidence)
    if not against and (label != Label.DUPLICATE or vetoed):
        return None
    said = Label.CONTRADICTION if against else Label.DUPLICATE
    judged = replace(doubt, verdicts=tuple(replace(v, label=said, auto=False) for v in doubt.verdicts))
    if isinstance(doubt, Resolve if against else Merge):
        return judged if against or not loses(doubt) else None
    pair, units = judged.verdicts[0], {unit.id: unit for unit in view.units}
    if not {member.id for member in doubt.members} <= (view.stored if against else units).keys():
        return None
    stored = view.stored
    other = conflict_of_pair(pair, stored) if against else merge_of(kind, units, stored, [pair])
    return replace(other, id=doubt.id) if other and (against or not loses(other)) else None
