"""One text against what is known, before it is stored: new, the same, more, or against it; writes nothing.

The text is judged beside each near memory as a pass would judge it there, by the same scorer, guards and
thresholds, and beside each near statement of a memory that has several: what one sentence of a long memory
says, or denies, is known, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.encoder import Encoder
from ...models.merger import whole_of
from ...models.scorer import PairScorer, Thresholds, reads_context
from ...models.text.statements import split_statements
from ...records import Candidate, Label, Memory, Scope, Verdict, rejection_key
from .candidates import PART_FLOOR, Near, contexts_of
from .judge import RIVALS, judge
from .subjects import NO_KEYS, KeysOf

NEAREST = 6  # so many memories and statements a text is judged against,
FLOOR = 0.3  # and none farther than this
MOST_VECTORS = 50_000
TEXT = "\U0010ffff"  # id of the text that is checked; it sorts behind every real one


class Finding(StrEnum):
    """What a text is to a memory, in the words in which it is told."""

    NEW = "new"
    SAME = "same as"
    AGAINST = "contradicts"
    MORE = "says more than"


@dataclass(frozen=True, slots=True)
class Match:
    """What a text is to one memory, the first side of the verdict."""

    finding: Finding
    memory: Memory
    said: str  # the statement of the memory that was compared; empty if all of it
    sure: bool  # otherwise a person would be asked
    verdict: Verdict
    part: str = ""  # the statement of the text that was compared; empty if all of it

    @property
    def rank(self) -> tuple[bool, int, bool, float, str]:
        """For sorting: the surest first."""
        place, likeliest = [*Finding].index(self.finding), max(self.verdict.probabilities[:2])
        return not self.sure, place, bool(self.part), -likeliest, self.memory.id


@dataclass(frozen=True, slots=True)
class Checked:
    """What a text is to all that is known: one match for each memory, the surest first."""

    text: str
    matches: tuple[Match, ...] = ()

    @property
    def finding(self) -> Finding:
        """What is sure of it; what only may be so leaves it new."""
        return self.matches[0].finding if self.matches and self.matches[0].sure else Finding.NEW


@dataclass(frozen=True, slots=True)
class _Row:
    memory: Memory
    text: str
    whole: bool


@dataclass
class Known:
    """Memories, ready to be asked about one text after another; nothing is embedded twice."""

    encoder: Encoder
    scorer: PairScorer
    thresholds: Thresholds | None = None
    single: Collection[str] = ()

    def __post_init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self.learn((), keys={})

    def learn(
        self,
        memories: Iterable[tuple[Memory, Sequence[str]]],
        *,
        keys: KeysOf,
        rejected: Collection[str] = (),
    ) -> None:
        """Know these memories, in the words in which they are judged, each with its statements; no others."""
        self._keys, self._rejected = keys, rejected
        if len(self._vectors) > MOST_VECTORS:
            self._vectors.clear()
        self._groups: dict[tuple[Scope, str | None], list[Memory]] = {}
        self._rows: list[_Row] = []
        for memory, said in sorted(memories, key=lambda item: item[0].id):
            self._groups.setdefault((memory.scope, memory.category), []).append(memory)
            self._rows.append(_Row(memory, memory.text, whole=True))
            self._rows += [_Row(memory, text, whole=False) for text in said if text != memory.text]
        self._matrix = self._embedded([row.text for row in self._rows])

    def check(self, text: str, metadata: Mapping[str, Any] | None = None) -> Checked:
        """What a text is to the memories near it; one of several statements is known if each of them is."""
        found = self._matches(text, metadata or {})
        parts = split_statements(text)
        if len(parts) > 1 and not any(match.finding is Finding.SAME and match.sure for match in found):
            told = [self._matches(part, metadata or {}, part=part) for part in parts]
            known = all(any(match.finding is Finding.SAME and match.sure for match in each) for each in told)
            for match in itertools.chain(*told):
                if match.finding is Finding.SAME and not known:
                    found.append(replace(match, finding=Finding.MORE))
                elif match.finding is not Finding.MORE:
                    found.append(match)
        best: dict[str, Match] = {}
        for match in sorted(found, key=lambda match: match.rank):
            best.setdefault(match.memory.id, match)
        return Checked(text, tuple(best.values()))

    def _matches(self, text: str, metadata: Mapping[str, Any], part: str = "") -> list[Match]:
        if not self._rows or not text.strip():
            return []
        cosines = self._matrix @ self._embedded([text])[0]
        near: dict[tuple[Scope, str], int] = {}
        for at in np.argsort(-cosines, kind="stable").tolist():
            row = self._rows[at]
            if len(near) == NEAREST or cosines[at] < FLOOR:
                break
            if row.whole or cosines[at] >= PART_FLOOR:
                near.setdefault((row.memory.scope, row.text), at)

        def group(at: int) -> tuple[Scope, str, bool]:
            row = self._rows[at]
            return row.memory.scope, row.memory.category or "", row.whole

        matches = []
        for key, members in itertools.groupby(sorted(near.values(), key=group), key=group):
            rows = [self._rows[at] for at in members]
            new = Memory(TEXT, text, rows[0].memory.scope, rows[0].memory.category, metadata=metadata)
            judged = zip(rows, self._judged(rows, new, placed=key[-1]), strict=True)
            matches += [self._match(row, verdict, new, part) for row, verdict in judged]
        return [match for match in matches if match]

    def _judged(self, rows: Sequence[_Row], new: Memory, *, placed: bool) -> Sequence[Verdict]:
        named = {f"{number:04}": replace(row.memory, text=row.text) for number, row in enumerate(rows)}
        vectors = self._embedded([row.text for row in rows]) @ self._embedded([new.text])[0]
        pairs = [Candidate(name, TEXT, float(cosine)) for name, cosine in zip(named, vectors, strict=True)]
        if placed and reads_context(self.scorer):
            group = self._groups[new.scope, new.category]
            texts = [*(memory.text for memory in group), new.text]
            at = {memory.id: row for row, memory in enumerate(group)}
            places = np.array([(at[row.memory.id], len(group)) for row in rows], dtype=np.int64)
            contexts = contexts_of(self._embedded(texts), texts, places)
            pairs = [Near(p.a, p.b, p.cosine, context=c) for p, c in zip(pairs, contexts, strict=True)]
        named[TEXT] = new
        return judge(
            pairs, named, self.scorer, thresholds=self.thresholds, keys=self._keys, single=self.single
        )

    def _match(self, row: _Row, verdict: Verdict, new: Memory, part: str) -> Match | None:
        held = replace(row.memory, text=row.text, pinned=False)
        if verdict.label is Label.DISTINCT or rejection_key(held, new) in self._rejected:
            return None
        likely = verdict.probabilities[0] >= verdict.probabilities[1]
        rivals = any(item.veto or item.kind in RIVALS for item in verdict.evidence)
        said = "" if row.whole else row.text
        if verdict.label is Label.CONTRADICTION or (verdict.label is Label.UNSURE and (rivals or not likely)):
            sure = verdict.label is Label.CONTRADICTION
            return Match(Finding.AGAINST, row.memory, said, sure, verdict, part)

        def entails(premise: str, _hypothesis: str) -> float:
            return verdict.entailment[0 if premise == held.text else 1]

        names = self._keys.get(new.scope, NO_KEYS).names
        held, new = (replace(each, text=names.read(each.text)) for each in (held, new))
        same = whole_of((held, new), among=(held,), entails=entails)
        return Match(Finding.SAME if same else Finding.MORE, row.memory, said, verdict.auto, verdict, part)

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= zip(new, self.encoder.encode(new), strict=True)
        return np.stack([self._vectors[text] for text in texts]) if texts else np.zeros((0, 1), np.float32)
