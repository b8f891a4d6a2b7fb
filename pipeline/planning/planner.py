"""From verdicts to a plan: merges that hold, conflicts between what stays, prunes of what is left.

A memory is merged, pruned or left alone, never two of these; a conflict names all memories that
state either side, so that a person's choice removes the losing fact as a whole. The plan is a pure
function of its arguments: no clock, no store, no order of the input.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...models.encoder import Encoder
from ...models.facts import extract
from ...models.facts.attributes import named_attribute
from ...models.merger import ExtractiveMerger, MergeRefused
from ...models.scorer import PairScorer
from ...models.words import exact_key, topic
from ...records import (
    Inventory,
    Label,
    Memory,
    Scope,
    Verdict,
)
from ...settings import Settings
from ..actions import Action, Member, Merge, Prune, Resolve, Side
from ..judging.clauses import opposing_statements
from ..judging.inventory import Circumstances, Judging
from ..judging.original_rules import RULE
from ..judging.subjects import keys_by_scope
from ..plan import Plan, ScopeTotal
from ..rules.hygiene import Finding, find_junk, prunes_of, without_junk
from ..rules.stale import PruneFinding
from .aged import find_aged, thinned_scopes
from .copies import collapse, expand, kept_apart
from .merges import LONG_AGO, Consolidated, draft_merges, last_stated
from .stages import DRAFT
from .united import longest_life, united_metadata

Group = tuple[Scope, str | None]
OnStage = Callable[[str, int, int], None]


def _unseen(_stage: str, _done: int, _total: int) -> None:
    return None


def build_plan(
    inventory: Inventory,
    *,
    kind: str,
    encoder: Encoder,
    scorer: PairScorer,
    settings: Settings,
    circumstances: Circumstances,
    in_place: bool = False,
    amend: bool = False,
    on_stage: OnStage = _unseen,
) -> Plan:
    """Propose everything worth doing about an inventory.

    Args:
        inventory: Every memory of the scopes in question.
        kind: Name of the store's kind, for the report.
        encoder: Embeds the texts, float32 [n, d], L2-normalised.
        scorer: Judges pairs.
        settings: Limits.
        circumstances: Time, access log, rejections.
        in_place: Put a merged text into the most complete of its sources instead of a new memory.
        amend: A memory that survives a merge takes over the others' metadata.
        on_stage: Told how many groups are drafted.

    Returns:
        Actions sorted by scope, kind and id. An incomplete inventory gives a plan with gaps, which
        the writer refuses.
    """
    now = circumstances.now
    present = [memory for memory in inventory.memories if not memory.is_retired(now.date())]
    keys = keys_by_scope(present, settings=settings)
    junk = find_junk(present, circumstances.hygiene, keys=keys)
    cleaned = junk_prunes(junk, circumstances)
    living = without_junk(present, junk, cleaned)
    aged = find_aged(living, settings, circumstances)
    vague = {item.memory.id for item in aged.prunes if item.reason == "vague"}
    judged, copies = collapse(
        [memory for memory in living if not memory.pinned and memory.id not in vague],
        rejected=circumstances.rejected,
        keys=keys,
    )
    judging = Judging(encoder, scorer, settings, circumstances, keys)
    verdicts = judging.all_pairs(judged)
    lifted: frozenset[Scope] = frozenset()
    while True:
        stale = {item.memory.id for item in aged.prunes}
        unread = {m.id for m in judged if stale.issuperset({m.id, *(c.id for c in copies.get(m.id, ()))})}
        drafts = _merges(judged, verdicts, judging, unread, on_stage=on_stage)
        merges = _without_stale(expand(drafts, judged, copies), stale)
        if not (thinned := thinned_scopes(living, aged, merges, settings)):
            break
        lifted |= thinned
        aged = find_aged(living, settings, circumstances, lifted)
    actions: list[Action] = [
        *_merge_actions(merges, in_place=in_place, amend=amend),
        *_conflict_actions(living, verdicts, merges, aged.prunes),
        *_prune_actions(aged.prunes, merges),
        *cleaned,
    ]
    return Plan(
        store=inventory.store,
        kind=kind,
        now=now,
        scorer=scorer.name,
        totals=_totals(present),
        actions=numbered(actions),
        unsure=_unsure(verdicts, {memory.id: memory for memory in living}, actions, amend=amend),
        gaps=inventory.gaps,
        fidelity=inventory.fidelity,
        apart=kept_apart(judged, keys),
        notes=aged.notes,
    )


def junk_prunes(findings: Sequence[Finding], circumstances: Circumstances) -> tuple[Prune, ...]:
    """The junk that goes under these circumstances."""
    return prunes_of(
        findings,
        now=circumstances.now,
        unattended=circumstances.unattended,
        refused=circumstances.rejected,
    )


def scope_notes(
    memories: Sequence[Memory], settings: Settings, circumstances: Circumstances
) -> tuple[str, ...]:
    """What `build_plan` would note about the memories of one scope alone."""
    living = [memory for memory in memories if not memory.is_retired(circumstances.now.date())]
    junk = find_junk(living, circumstances.hygiene, keys=keys_by_scope(living, settings=settings))
    cleaned = junk_prunes(junk, circumstances)
    return find_aged(without_junk(living, junk, cleaned), settings, circumstances).notes


def judge_all(
    memories: Sequence[Memory],
    *,
    encoder: Encoder,
    scorer: PairScorer,
    settings: Settings,
    circumstances: Circumstances,
) -> tuple[Verdict, ...]:
    """Judge every candidate pair of the given memories, without planning anything."""
    keys = keys_by_scope(memories, settings=settings)
    return Judging(encoder, scorer, settings, circumstances, keys).all_pairs(memories)


def _merges(
    memories: Sequence[Memory],
    verdicts: Sequence[Verdict],
    judging: Judging,
    stale: set[str],
    *,
    on_stage: OnStage,
) -> list[Consolidated]:
    """Merges of all groups, each group for itself."""
    groups: dict[Group, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.id):
        groups[memory.scope, memory.category].append(memory)
    group_of = {memory.id: (memory.scope, memory.category) for memory in memories}
    by_group: dict[Group, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_group[group_of[verdict.pair.a]].append(verdict)
    drafted = [group for group in groups if any(verdict.auto for verdict in by_group[group])]
    merges: list[Consolidated] = []
    for number, group in enumerate(drafted):
        on_stage(DRAFT, number, len(drafted))
        merges += _merges_of_group(groups[group], by_group[group], judging, stale)
    on_stage(DRAFT, len(drafted), len(drafted))
    return merges


def _merges_of_group(
    members: Sequence[Memory], verdicts: Sequence[Verdict], judging: Judging, stale: set[str]
) -> tuple[Consolidated, ...]:
    """Merges among what will still be there: a stale memory that joins no living one is pruned.

    What is pruned may have stood in the way of other merges, so the group is drafted again without
    it; else the next pass would find them.
    """
    leaving: set[str] = set()
    while True:
        staying = [memory for memory in members if memory.id not in leaving]
        left = judging.staying(staying, verdicts)
        merges = draft_merges(
            staying, left, judge_new=judging.drafted, merger=ExtractiveMerger(), keys=judging.keys
        )
        kept = {memory_id for merge in merges if not merge.ids <= stale for memory_id in merge.ids}
        more = {memory.id for memory in staying if memory.id in stale} - kept
        if not more:
            return merges
        leaving |= more


def _without_stale(merges: Iterable[Consolidated], stale: set[str]) -> tuple[Consolidated, ...]:
    """Leave out merges of which every member is stale: those are pruned, whatever they say."""
    return tuple(merge for merge in merges if not merge.ids <= stale)


def _merge_actions(merges: Iterable[Consolidated], *, in_place: bool, amend: bool) -> list[Merge]:
    return [
        _merge_action(merge, merge.most_complete if in_place else merge.survivor, amend=amend)
        for merge in merges
    ]


def _merge_action(merge: Consolidated, survivor: str | None, *, amend: bool) -> Merge:
    return Merge(
        id="",
        scope=merge.members[0].scope,
        category=merge.members[0].category,
        members=tuple(Member.of(memory) for memory in merge.members),
        survivor=survivor,
        text=merge.text,
        metadata=united_metadata(merge.members) if amend or survivor is None else {},
        expires=longest_life(merge.members, survivor) if amend else None,
        created_at=min((m.created_at for m in merge.members if m.created_at), default=None),
        exact=_exact_copies(merge),
        verdicts=merge.verdicts,
    )


def _exact_copies(merge: Consolidated) -> tuple[str, ...]:
    """Members that say literally what another member says: removing them takes no fact away."""
    seen = {exact_key(merge.text)} if merge.survivor else set()
    copies = []
    for memory in merge.members:
        key = exact_key(memory.text)
        if memory.id != merge.survivor and key in seen:
            copies.append(memory.id)
        seen.add(key)
    return tuple(copies)


def _conflict_actions(
    memories: Sequence[Memory],
    verdicts: Iterable[Verdict],
    merges: Iterable[Consolidated],
    prunes: Iterable[PruneFinding],
) -> list[Resolve]:
    """One conflict for each two facts that contradict, however many memories state them."""
    by_id = {memory.id: memory for memory in memories}
    pruned = {prune.memory.id for prune in prunes}
    cluster = {memory_id: merge for merge in merges for memory_id in merge.ids}

    def fact(memory_id: str) -> frozenset[str]:
        """All memories that state the same fact."""
        return cluster[memory_id].ids if memory_id in cluster else frozenset({memory_id})

    between: dict[frozenset[frozenset[str]], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.label is not Label.CONTRADICTION:
            continue
        sides = frozenset({fact(verdict.pair.a), fact(verdict.pair.b)})
        if len(sides) == 2 and not any(side <= pruned for side in sides):
            between[sides].append(verdict)
    return [_conflict(by_id, sides, pairs) for sides, pairs in between.items()]


def _conflict(
    by_id: Mapping[str, Memory], sides: frozenset[frozenset[str]], pairs: Sequence[Verdict]
) -> Resolve:
    strongest = min(pairs, key=lambda item: (-item.probabilities[1], item.pair.a, item.pair.b))
    judged = {strongest.pair.a, strongest.pair.b}

    def newest(side: frozenset[str]) -> tuple[datetime, str]:
        """When a side was last stated; ties go by id."""
        moments = [last_stated(by_id[memory_id]) or LONG_AGO for memory_id in side]
        return (max(moments), min(side))

    older, newer = sorted(sides, key=newest)
    decided: Side | None = (
        "b" if newest(older)[0] < newest(newer)[0] and newest(older)[0] > LONG_AGO else None
    )
    a, b = (tuple(sorted(side, key=lambda i: (i not in judged, i))) for side in (older, newer))
    return Resolve(
        id="",
        scope=by_id[a[0]].scope,
        category=by_id[a[0]].category,
        members=tuple(Member.of(by_id[memory_id]) for memory_id in sorted({*a, *b})),
        a=a,
        b=b,
        topic=_topic(by_id[a[0]], by_id[b[0]]),
        newer=decided,
        verdicts=tuple(pairs),
    )


def _topic(older: Memory, newer: Memory) -> str:
    statements = topic(*opposing_statements(older.text, newer.text))
    words = statements or topic(older.text, newer.text)
    return (
        words or named_attribute(extract(older.text), extract(newer.text)) or older.category or "same topic"
    )


def _prune_actions(prunes: Iterable[PruneFinding], merges: Iterable[Consolidated]) -> list[Prune]:
    merged = {memory_id for merge in merges for memory_id in merge.ids}
    return [
        Prune(
            id="",
            scope=prune.memory.scope,
            category=prune.memory.category,
            members=(Member.of(prune.memory),),
            reason=prune.reason.value,
            age_days=prune.age_days,
            detail=prune.detail,
        )
        for prune in prunes
        if prune.memory.id not in merged
    ]


def _unsure(
    verdicts: Iterable[Verdict], by_id: Mapping[str, Memory], actions: Iterable[Action], *, amend: bool
) -> tuple[Merge | Resolve, ...]:
    """What a person may decide: pairs near a threshold, or held back by a guard.

    A pair of which one memory is touched by an action anyway is left for the next pass. Two texts that
    give rival values are never offered as one text: if they are about one thing, one of them is wrong.
    """
    taken = {member.id for action in actions for member in action.members}
    doubts: list[Merge | Resolve] = []
    for verdict in verdicts:
        doubtful = verdict.label is Label.UNSURE or (verdict.label is Label.DUPLICATE and not verdict.auto)
        if not doubtful or taken & {verdict.pair.a, verdict.pair.b}:
            continue
        chosen = any(item.kind in ("rival", "progress", RULE) for item in verdict.evidence)
        if verdict.probabilities[0] >= verdict.probabilities[1] and not chosen:
            doubt: Merge | Resolve | None = merge_of_pair(verdict, by_id, amend=amend)
        else:
            doubt = conflict_of_pair(verdict, by_id)
        doubts += [doubt] if doubt else []
    doubts.sort(key=lambda action: (action.scope, [member.id for member in action.members]))
    return tuple(replace(doubt, id=f"u{number}") for number, doubt in enumerate(doubts, 1))


def merge_of_pair(verdict: Verdict, by_id: Mapping[str, Memory], *, amend: bool) -> Merge | None:
    """What merging just these two would give, if that can be written down without loss."""
    members = (by_id[verdict.pair.a], by_id[verdict.pair.b])

    def entails(premise: str, _hypothesis: str) -> float:
        """The scorer's entailment, as the merger asks for it."""
        return verdict.entailment[0 if premise == members[0].text else 1]

    try:
        draft = ExtractiveMerger().draft(members, entails=entails)
    except MergeRefused:
        return None
    pair = Consolidated(members, draft.whole, draft.text, (verdict,))
    return _merge_action(pair, pair.survivor, amend=amend)


def conflict_of_pair(verdict: Verdict, by_id: Mapping[str, Memory]) -> Resolve:
    """The question which of just these two holds."""
    sides = frozenset({frozenset({verdict.pair.a}), frozenset({verdict.pair.b})})
    return _conflict(by_id, sides, [verdict])


def _totals(living: Iterable[Memory]) -> tuple[ScopeTotal, ...]:
    ordered = sorted(memory.scope for memory in living)
    return tuple(ScopeTotal(scope, len(list(same))) for scope, same in itertools.groupby(ordered))


_PREFIX = {"merge": "m", "resolve": "c", "prune": "p"}


def numbered(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Give each action its name: by kind, then in order of scope and members."""
    numbered: list[Action] = []
    for kind, prefix in _PREFIX.items():
        same = [action for action in actions if action.kind == kind]
        same.sort(key=lambda action: (action.scope, [member.id for member in action.members]))
        numbered += [replace(action, id=f"{prefix}{number}") for number, action in enumerate(same, 1)]
    return tuple(numbered)
