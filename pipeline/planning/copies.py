"""Copies are collapsed into one before anything is embedded or judged, and come back in the plan."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ...models.merger import whole_of
from ...models.same_statement import statement_key
from ...records import Candidate, Memory, Scope, Verdict, rejection_key
from ..judging.judge import EXACT, one_statement, same_evidence
from ..judging.subjects import NO_KEYS, KeysOf, apart, keys_by_scope, signature
from .merges import Consolidated, of_copy

Copies = dict[str, tuple[Memory, ...]]  # of each representative that has any, by its id


def collapse(
    memories: Sequence[Memory], *, rejected: frozenset[str] = frozenset(), keys: KeysOf | None = None
) -> tuple[tuple[Memory, ...], Copies]:
    """A representative of each group of copies, the newest wording, sorted by id; and the copies of each."""
    known = keys_by_scope(memories) if keys is None else keys
    standing: list[Memory] = []
    copies: dict[str, tuple[Memory, ...]] = {}
    for group in (part for same in _equal_texts(memories) for part in _by_subject(same, known)):
        best = (whole_of(group) or group[0]) if len(group) > 1 else group[0]
        others = [memory for memory in group if memory is not best]
        apart = [memory for memory in others if rejection_key(best, memory) in rejected]
        standing += [best, *apart]
        collapsed = tuple(memory for memory in others if memory not in apart)
        if collapsed:
            copies[best.id] = collapsed
    return tuple(sorted(standing, key=lambda memory: memory.id)), copies


def _equal_texts(memories: Sequence[Memory]) -> list[list[Memory]]:
    groups: dict[tuple[Scope, str | None, str], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.id):
        groups[memory.scope, memory.category, statement_key(memory.text)].append(memory)
    return list(groups.values())


def _by_subject(group: Sequence[Memory], keys: KeysOf) -> list[list[Memory]]:
    """Equal texts in groups that are about one subject; where any two differ, what names none is alone."""
    meaning = keys.get(group[0].scope, NO_KEYS)
    parts: dict[tuple[tuple[str, str], ...], list[Memory]] = defaultdict(list)
    for memory in group:
        parts[signature(memory, meaning)].append(memory)
    firsts = [members[0] for members in parts.values()]
    if any(apart(a, b, meaning) for a, b in itertools.combinations(firsts, 2)):
        return list(parts.values())
    return [list(group)]


def kept_apart(memories: Sequence[Memory], keys: KeysOf) -> tuple[tuple[str, str, str], ...]:
    """Memories with equal words that are not one fact: the first of each two subjects, and what differs."""
    pairs = []
    for group in _equal_texts(memories):
        meaning = keys.get(group[0].scope, NO_KEYS)
        firsts = {signature(memory, meaning): memory for memory in reversed(group)}
        for a, b in itertools.combinations(sorted(firsts.values(), key=lambda item: item.id), 2):
            differing = apart(a, b, meaning)
            pairs += [(a.id, b.id, differing.detail)] if differing else []
    return tuple(sorted(pairs))


def expand(
    merges: Sequence[Consolidated], representatives: Sequence[Memory], copies: Copies
) -> tuple[Consolidated, ...]:
    """Put the copies back: into the merge of their representative, or into one of their own."""
    merged = {memory_id for merge in merges for memory_id in merge.ids}
    alone = [
        Consolidated((memory,), memory.id, memory.text)
        for memory in representatives
        if memory.id in copies and memory.id not in merged
    ]
    whole = [_with_copies(merge, copies) for merge in [*merges, *alone]]
    return tuple(sorted(whole, key=lambda merge: merge.members[0].id))


def _with_copies(merge: Consolidated, copies: Copies) -> Consolidated:
    members, verdicts = list(merge.members), list(merge.verdicts)
    for standing in merge.members:
        for copy in copies.get(standing.id, ()):
            members.append(copy)
            verdicts.append(_verdict_of_copy(copy, standing, merge))
    return replace(
        merge,
        members=tuple(sorted(members, key=lambda memory: memory.id)),
        verdicts=tuple(sorted(verdicts, key=lambda verdict: (verdict.pair.a, verdict.pair.b))),
    )


def _verdict_of_copy(copy: Memory, standing: Memory, merge: Consolidated) -> Verdict:
    """A copy of the survivor is an exact duplicate; any other shares its representative's verdict."""
    exact = standing.id == merge.survivor
    if exact:
        pair = Candidate(min(copy.id, standing.id), max(copy.id, standing.id), 1.0, exact=True)
    else:
        judged = next(item for item in merge.verdicts if standing.id in (item.pair.a, item.pair.b))
        shared = of_copy(judged, standing.id, copy.id)
        pair = shared.pair
    # the side of the copy is named first where it is the first of the pair
    sides = (copy, standing) if copy.id == pair.a else (standing, copy)
    same = same_evidence(*sides) or EXACT
    return one_statement(pair, same) if exact else replace(shared, evidence=(*judged.evidence, same))
