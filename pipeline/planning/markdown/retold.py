"""Questions about files that the original's rule calls duplicates: scorers read statements, not reports.

Two files of one folder and type, named alike, of which the shorter shares most of its words with the longer.
None of it is certain, so only a person decides.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ....models.words import significant_words
from ....records import Candidate, Evidence, Label, Memory, Verdict
from ...actions import Member, Merge
from ...judging.original_rules import RULE

SHARED = 0.6
"""The shorter file shares so many of its words (origin: the original's 60%)."""
NAMED_ALIKE = 0.4
"""And so many words of its name, its description left out: those that sum up are never alike."""
_FEWEST = 20
"""Words of the shorter file: a file of few words is easily contained in a long one."""


def retold(memories: Sequence[Memory]) -> list[Merge]:
    """A question for each two files that may tell the same, all of both as its draft."""
    return [_doubt(number, a, b, share) for number, (a, b, share) in enumerate(_pairs(memories), 1)]


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, float]]:
    groups: dict[tuple[object, str | None], list[Memory]] = defaultdict(list)
    for memory in memories:
        if not memory.pinned and "#" not in memory.id:
            groups[memory.scope, memory.category].append(memory)
    for group in groups.values():
        words = {memory.id: significant_words(memory.text) for memory in group}
        names = {memory.id: _name(memory) for memory in group}
        for a, b in itertools.combinations(group, 2):
            if min(len(words[a.id]), len(words[b.id])) < _FEWEST:
                continue
            share = _share(words[a.id], words[b.id])
            if share >= SHARED and _share(names[a.id], names[b.id]) >= NAMED_ALIKE:
                yield a, b, share


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    fewer = min(len(one), len(other))
    return len(one & other) / fewer if fewer else 0.0


def _name(memory: Memory) -> frozenset[str]:
    stem = re.sub(r"[_-]", " ", PurePosixPath(memory.id).stem)
    return significant_words(f"{memory.metadata.get('name') or ''} {stem}")


def _doubt(number: int, a: Memory, b: Memory, share: float) -> Merge:
    rule = Evidence(RULE, f"named alike, with {share:.0%} of the shorter file's words in both")
    first, second = sorted((a.id, b.id))
    pair = Candidate(first, second, share)
    verdict = Verdict(pair, Label.UNSURE, probabilities=(share, 0.0, 1.0 - share), evidence=(rule,))
    return Merge(
        id=f"r{number}",
        scope=a.scope,
        category=a.category,
        members=(Member.of(a), Member.of(b)),
        survivor=b.id,
        text=f"{a.text}\n\n{b.text}",
        verdicts=(verdict,),
    )
