"""The one engine: from what a store holds to a plan, and from answers to the plan that is applied.

A memory is merged, pruned, rewritten or left alone, never two of these; a conflict names all that is removed
with the side that loses. A plan is a pure function of its arguments: no clock, no order of the input.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from ...models.facts import extract
from ...models.facts.attributes import named_attribute
from ...models.merger import MergeRefused
from ...models.same_statement import statement_key
from ...models.text.words import normalised, tokens, topic
from ...records import Inventory, Label, Memory, Scope, Verdict
from ..actions import Action, Member, Merge, Prune, Resolve, Side, TextChange
from ..answers import unanswered
from ..judging.clauses import opposing_statements
from ..judging.judge import RIVALS
from ..plan import Plan, ScopeTotal
from .copies import Copies, collapse, expand, kept_apart
from .hooks import Found, Hooks, Judge, View
from .merges import LONG_AGO, Consolidated, draft_merges, last_stated
from .metadata import longest_life, united_metadata
from .proposal import Means, OnStage, Proposal
from .stages import DRAFT, Stages
from .unchanged import Unchanged

Doubt = Merge | Resolve
_PREFIX = {"merge": "m", "resolve": "c", "prune": "p"}


def propose(kind: Hooks, inventory: Inventory, means: Means) -> Proposal:
    """Everything worth doing about an inventory, without questions; changes nothing.

    An inventory with gaps gives a plan with gaps, which the writer refuses.
    """
    view = kind.view(inventory, means)
    with Stages(means.observer) as stages:
        plan = planned(kind, view, means, stages)
    plan = unanswered(plan, means.rejected).only(*kind.wanted)
    asked = means.advise(plan).only(*kind.wanted)
    present = kind.present()
    followed = unanswered(kind.follow(asked, present), means.rejected)
    return Proposal(followed, asked, view, present)


def planned(kind: Hooks, view: View, means: Means, on_stage: OnStage = lambda *_: None) -> Plan:
    """What the engine and the rules of a kind propose, before answers and consequences."""
    judge = _Allowed(kind, kind.judge(view, means, on_stage))
    units, copies = tuple(sorted(view.units, key=lambda unit: unit.id)), Copies()
    if kind.collapses:
        units, copies = collapse(units, rejected=means.rejected, keys=view.keys)
    known = Unchanged(kind, view, means, units)
    verdicts = known.verdicts(judge.all_pairs)
    found, merges = kind.rules(view, means, ()), []
    while True:
        going = {memory_id for prune in _prunes(found) for memory_id in prune.removes}
        gone = {m.id for m in units if going.issuperset({m.id, *(c.id for c in copies.get(m.id, ()))})}
        draft = functools.partial(_drafts, judge, view, gone=gone, on_stage=on_stage)
        drafts = known.merges(judge.all_pairs, draft, gone=gone)
        whole = expand(drafts, units, copies)
        merges = [merge_action(kind, view.stored, merge) for merge in whole if not merge.ids <= going]
        more = kind.rules(view, means, merges)
        if going.issuperset(name for prune in _prunes(more) for name in prune.removes):
            break
        found = more
    actions = _actions(kind, view, verdicts, merges, found)
    present = [memory for memory in view.inventory.memories if not memory.is_retired(means.now.date())]
    return Plan(
        store=view.inventory.store,
        kind=kind.kind,
        now=means.now,
        scorer=means.models.scorer.name,
        totals=_totals(present),
        actions=actions,
        unsure=_doubts(kind, view, verdicts, actions, found),
        gaps=view.inventory.gaps,
        fidelity=view.inventory.fidelity,
        apart=kept_apart(units, view.keys),
        notes=(*found.notes, *dict.fromkeys(judge.judge.notes)),
    )


def _prunes(found: Found) -> list[Prune]:
    return [action for action in found.actions if isinstance(action, Prune)]


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A judge whose duplicates a kind may still leave to a person."""

    kind: Hooks
    judge: Judge

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        return self._held_back(memories, self.judge.all_pairs(memories))

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        return self._held_back((*others, *new), self.judge.drafted(new, others))

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
        return self._held_back(memories, self.judge.staying(memories, verdicts))

    def _held_back(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
        by_id = {memory.id: memory for memory in memories}
        may = self.kind.may_merge
        return tuple(
            replace(item, auto=False)
            if item.auto and not may(by_id[item.pair.a], by_id[item.pair.b])
            else item
            for item in verdicts
        )


def _drafts(
    judge: _Allowed,
    view: View,
    units: Sequence[Memory],
    verdicts: Sequence[Verdict],
    *,
    gone: set[str],
    on_stage: OnStage,
) -> list[Consolidated]:
    """Merges of all scopes and categories, each for itself."""
    groups: dict[tuple[Scope, str | None], list[Memory]] = defaultdict(list)
    for unit in units:
        groups[unit.scope, unit.category].append(unit)
    group_of = {unit.id: group for group, members in groups.items() for unit in members}
    of_group: dict[tuple[Scope, str | None], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        of_group[group_of[verdict.pair.a]].append(verdict)
    mergeable = [group for group in groups if any(verdict.auto for verdict in of_group[group])]
    drafts: list[Consolidated] = []
    for number, group in enumerate(mergeable):
        on_stage(DRAFT, number, len(mergeable))
        leaving: set[str] = set()
        while True:
            # What is pruned may have stood in the way of other merges, so without it they are drafted again;
            # else the next pass would find them.
            staying = [unit for unit in groups[group] if unit.id not in leaving]
            left = judge.staying(staying, of_group[group])
            merges = draft_merges(
                staying, left, judge_new=judge.drafted, unite=judge.kind.unite, keys=view.keys
            )
            kept = {name for merge in merges if not merge.ids <= gone for name in merge.ids}
            more = {unit.id for unit in staying if unit.id in gone} - kept
            if not more:
                break
            leaving |= more
        drafts += [merge for merge in merges if not merge.ids <= gone]
    on_stage(DRAFT, len(mergeable), len(mergeable))
    return drafts


def merge_action(kind: Hooks, memories: Mapping[str, Memory], merge: Consolidated) -> Merge:
    """A drafted merge as an action of a plan; it has no id yet."""
    united = merge.united
    survivor = merge.survivor or (united.survivor if united else None)
    stored = [memories[memory.id] for memory in merge.members]
    exact = united.exact if united and united.exact is not None else _exact_copies(merge)
    return Merge(
        id="",
        scope=merge.members[0].scope,
        category=merge.members[0].category,
        members=tuple(map(Member.of, stored)),
        survivor=survivor,
        text=united.stored if united and united.stored is not None else merge.text,
        metadata=united_metadata(stored) if kind.amends or survivor is None else {},
        expires=longest_life(stored, survivor) if kind.amends else None,
        created_at=min((m.created_at for m in stored if m.created_at), default=None),
        observations=united.observations if united else (),
        exact=exact,
        verdicts=merge.verdicts,
    )


def _exact_copies(merge: Consolidated) -> tuple[str, ...]:
    """Members that say literally what another member says: removing them takes no fact away."""
    seen = {statement_key(merge.text)} if merge.survivor else set()
    copies = []
    for memory in merge.members:
        key = statement_key(memory.text)
        if memory.id != merge.survivor and key in seen:
            copies.append(memory.id)
        seen.add(key)
    return tuple(copies)


def _actions(
    kind: Hooks, view: View, verdicts: Sequence[Verdict], merges: Sequence[Merge], found: Found
) -> tuple[Action, ...]:
    """All actions, each with its name; what yields to others is left out."""
    merged = {member.id for merge in merges for member in merge.members}
    prunes = [prune for prune in _prunes(found) if not merged.intersection(prune.removes)]
    conflicts = kind.conflicts(view, verdicts, [*merges, *prunes])
    actions: list[Action] = [*merges, *conflicts, *prunes]
    taken = {member.id for action in actions for member in action.members}
    texts = [
        action
        for action in found.actions
        if isinstance(action, TextChange) and not taken.intersection(m.id for m in action.members)
    ]
    named = [replace(text, id=text.id or f"w{number}") for number, text in enumerate(texts, 1)]
    return (*numbered(actions), *named)


def numbered(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Give each merge, conflict and prune its name: by kind, then in order of scope and members."""
    named: list[Action] = []
    for kind, prefix in _PREFIX.items():
        same = [action for action in actions if action.kind == kind]
        same.sort(key=lambda action: (action.scope, [member.id for member in action.members]))
        named += [replace(action, id=f"{prefix}{number}") for number, action in enumerate(same, 1)]
    return tuple(named)


def _totals(living: Iterable[Memory]) -> tuple[ScopeTotal, ...]:
    ordered = sorted(memory.scope for memory in living)
    return tuple(ScopeTotal(scope, len(list(same))) for scope, same in itertools.groupby(ordered))


def conflicts_of(view: View, verdicts: Iterable[Verdict], actions: Sequence[Action]) -> list[Resolve]:
    """One conflict for each two facts that contradict, however many memories state them.

    A side holds the memory that was judged, and of those merged with it the ones that certainly say the same:
    nothing else goes with an answer.
    """
    verdicts = list(verdicts)
    merge_of = {m.id: action for action in actions if isinstance(action, Merge) for m in action.members}
    pruned = {name for action in actions if isinstance(action, Prune) for name in action.removes}
    same = {(v.pair.a, v.pair.b) for v in verdicts if v.auto}
    same |= {(v.pair.a, v.pair.b) for merge in merge_of.values() for v in merge.verdicts if v.auto}

    def fact(memory_id: str) -> frozenset[str]:
        """All memories that are merged with this one."""
        merge = merge_of.get(memory_id)
        return frozenset(member.id for member in merge.members) if merge else frozenset({memory_id})

    def side(memory_id: str) -> frozenset[str]:
        """Those of them that certainly say what this one says."""
        key = statement_key(view.stored[memory_id].text)
        return frozenset(
            name
            for name in fact(memory_id)
            if name == memory_id
            or (min(name, memory_id), max(name, memory_id)) in same
            or statement_key(view.stored[name].text) == key
        )

    between: dict[frozenset[frozenset[str]], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        facts = frozenset({fact(verdict.pair.a), fact(verdict.pair.b)})
        if verdict.label is Label.CONTRADICTION and len(facts) == 2 and not any(f <= pruned for f in facts):
            between[facts].append(verdict)
    conflicts = []
    for pairs in between.values():
        judged = min(pairs, key=lambda item: (-item.probabilities[1], item.pair.a, item.pair.b)).pair
        sides = {judged.a: side(judged.a), judged.b: side(judged.b)}
        shown = frozenset().union(*sides.values())
        told = [item for item in pairs if {item.pair.a, item.pair.b} <= shown]
        conflicts.append(conflict(view.stored, sides, told))
    return conflicts


def conflict(
    stored: Mapping[str, Memory], sides: Mapping[str, frozenset[str]], pairs: Sequence[Verdict]
) -> Resolve:
    """The question which of two facts holds; it has no id yet.

    Args:
        stored: The memories by id.
        sides: By the two memories that were judged: all that say the same as it.
        pairs: What was judged.
    """

    def stated(judged: str) -> tuple[datetime, str]:
        """When a side was last stated; ties go by id."""
        return max(last_stated(stored[name]) or LONG_AGO for name in sides[judged]), min(sides[judged])

    older, newer = sorted(sides, key=stated)
    known: Side | None = "b" if LONG_AGO < stated(older)[0] < stated(newer)[0] else None
    a, b = (
        tuple(sorted(sides[judged], key=lambda name: (name != judged, name))) for judged in (older, newer)
    )
    return Resolve(
        id="",
        scope=stored[older].scope,
        category=stored[older].category,
        members=tuple(Member.of(stored[name]) for name in sorted({*a, *b})),
        a=a,
        b=b,
        topic=_topic(stored[older], stored[newer]),
        newer=known,
        verdicts=tuple(pairs),
    )


def _topic(older: Memory, newer: Memory) -> str:
    said = opposing_statements(older.text, newer.text)
    for pair in (said, (older.text, newer.text)):
        if words := topic(*pair):
            return _shared_phrase(*pair, words) or words
    return named_attribute(extract(older.text), extract(newer.text)) or older.category or "same topic"


def _shared_phrase(older: str, newer: str, words: str) -> str:
    """The longest run of words in both texts, as the newer one has it, if it holds all of these words.

    >>> _shared_phrase("The default branch is main", "Default branch here: trunk", "Default branch")
    'Default branch'
    """
    wanted = {token.stem for token in tokens(words)}
    first, second = tokens(older), tokens(newer)
    match = SequenceMatcher(
        None, [token.stem for token in first], [token.stem for token in second], autojunk=False
    ).find_longest_match()
    run = second[match.b : match.b + match.size]
    places = [place for place, token in enumerate(run) if token.stem in wanted]
    if len(places) < len(wanted) or len(places) < 2:
        return ""
    return normalised(newer)[run[places[0]].start : run[places[-1]].end]


def _doubts(
    kind: Hooks, view: View, verdicts: Iterable[Verdict], actions: Iterable[Action], found: Found
) -> tuple[Doubt, ...]:
    """What a person may decide: pairs near a threshold, held back by a guard, or doubted by the kind itself.

    A pair of which one memory is touched by an action anyway is left for the next pass.
    """
    actions = tuple(actions)
    taken = {member.id for action in actions for member in action.members}
    units = {unit.id: unit for unit in view.units}
    doubts: list[Doubt] = []
    for verdict in verdicts:
        doubtful = verdict.label in (Label.UNSURE, Label.DUPLICATE)
        if not doubtful or taken & {verdict.pair.a, verdict.pair.b}:
            continue
        rivals = any(item.kind in RIVALS for item in verdict.evidence)
        if verdict.probabilities[0] >= verdict.probabilities[1] and not rivals:
            doubt: Doubt | None = merge_of(kind, units, view.stored, [verdict])
        else:
            doubt = conflict_of_pair(verdict, view.stored)
        doubts += [doubt] if doubt else []
    doubts.sort(key=lambda action: (action.scope, [member.id for member in action.members]))
    known = {frozenset(member.id for member in doubt.members) for doubt in doubts}
    going = {name for action in actions for name in action.removes}
    merged = {member.id for action in actions if isinstance(action, Merge) for member in action.members}
    for doubt in found.doubts:
        ids = frozenset(member.id for member in doubt.members)
        # Of a memory that stays any number of sentences may be asked about.
        doubts += [] if (ids & (going | merged) if doubt.said else taken & ids or ids in known) else [doubt]
    return tuple(replace(doubt, id=f"u{number}") for number, doubt in enumerate(doubts, 1))


def merge_of(
    kind: Hooks, units: Mapping[str, Memory], stored: Mapping[str, Memory], verdicts: Sequence[Verdict]
) -> Merge | None:
    """What merging just these pairs would give, if that can be written down without loss.

    Only a memory that is in all of the pairs may stay as it is.
    """
    pairs = [frozenset((verdict.pair.a, verdict.pair.b)) for verdict in verdicts]
    members = tuple(units[name] for name in sorted(frozenset().union(*pairs)))
    entailed = {
        (units[a].text, units[b].text): likely
        for verdict in verdicts
        for (a, b), likely in zip(
            ((verdict.pair.a, verdict.pair.b), (verdict.pair.b, verdict.pair.a)),
            verdict.entailment,
            strict=True,
        )
    }
    among = [unit for unit in members if all(unit.id in pair for pair in pairs)]
    try:
        united = kind.unite(members, among, lambda premise, said: entailed.get((premise, said), 0.0))
    except MergeRefused:
        return None
    return merge_action(kind, stored, Consolidated.of(members, united, verdicts))


def conflict_of_pair(verdict: Verdict, stored: Mapping[str, Memory]) -> Resolve:
    """The question which of just these two holds."""
    sides = {name: frozenset({name}) for name in (verdict.pair.a, verdict.pair.b)}
    return conflict(stored, sides, [verdict])


def judged(kind: Hooks, inventory: Inventory, means: Means) -> tuple[View, tuple[Verdict, ...]]:
    """How a kind looks at an inventory, and the verdicts on its units; plans nothing."""
    view = kind.view(inventory, means)
    return view, kind.judge(view, means, lambda *_: None).all_pairs(view.units)
