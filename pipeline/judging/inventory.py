"""Embeds and judges for a plan: whole inventories first, drafted memories later, nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ...models.encoder import Encoder
from ...models.scorer import PairContext, PairScorer, Thresholds, reads_context
from ...models.text.statements import split_statements
from ...records import Candidate, Label, Memory, Verdict, rejection_key
from ...settings import Settings
from ..plan import draft_id
from .cache import Models, OnStage
from .candidates import Near, Parts, find_candidates
from .judge import close_for, judge
from .subjects import KeysOf

FAR = 0.97
"""Distinct with this probability, two texts stay so within one plan, whatever is merged beside them.
Of 50,084 verdicts on invented memories that stood elsewhere after merges, three changed, all from 0.74."""


@dataclass(slots=True)
class Judging:
    """One encoder and one scorer for one plan; verdicts so far are known by ids, texts and place."""

    encoder: Encoder
    scorer: PairScorer
    settings: Settings
    keys: KeysOf
    rejected: frozenset[str] = frozenset()
    thresholds: Thresholds | None = None
    notes: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str, str, PairContext | None], Verdict] = field(default_factory=dict)
    _far: set[tuple[str, str, str, str]] = field(default_factory=set)

    @classmethod
    def by(
        cls,
        models: Models,
        settings: Settings,
        keys: KeysOf,
        *,
        rejected: frozenset[str] = frozenset(),
        on_stage: OnStage | None = None,
    ) -> Self:
        """The same with the models of a session and its calibration."""
        encoder, scorer = models.read(on_stage=on_stage), models.asked(on_stage=on_stage)
        return cls(encoder, scorer, settings, keys, rejected, models.calibrated)

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge every candidate pair; pairs that a person refused come back as distinct."""
        return self._judge(memories, self._candidates(memories, contexts=reads_context(self.scorer)))

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge drafted memories, and the pairs whose place they change.

        A draft against its own sources is judged by its texts alone: they will not stand beside each other.
        """
        memories = [*others, *new]
        fresh = {memory.id for memory in new}
        if reads_context(self.scorer) and fresh != {draft_id(others)}:
            return self._moved(memories)
        if not new:
            return ()
        pairs = self._candidates(memories, contexts=False)
        return self._judge(memories, [pair for pair in pairs if pair.a in fresh or pair.b in fresh])

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts on pairs of these memories, judged again where their place has changed."""
        ids = {memory.id for memory in memories}
        left = [item for item in verdicts if item.pair.a in ids and item.pair.b in ids]
        if len(left) < len(verdicts) and reads_context(self.scorer):
            left += self._moved(memories)
        return left

    def _moved(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        texts = {memory.id: memory.text for memory in memories}
        far = {
            (a, b) for a, b, told_a, told_b in self._far if texts.get(a) == told_a and texts.get(b) == told_b
        }
        return self._judge(memories, self._candidates(memories, contexts=True, but=far))

    def _candidates(
        self, memories: Sequence[Memory], *, contexts: bool, but: Collection[tuple[str, str]] = ()
    ) -> tuple[Candidate, ...]:
        vectors, limits = self.encoder.encode([memory.text for memory in memories]), self.settings
        return find_candidates(
            memories,
            vectors,
            floor=limits.floor,
            neighbours=limits.neighbours,
            keys=self.keys,
            contexts=contexts,
            parts=self._parts(memories) if len(memories) > limits.neighbours else None,
            but=but,
            notes=None if but else self.notes,
        )

    def _parts(self, memories: Sequence[Memory]) -> Parts:
        statements = [(row, split_statements(memory.text)) for row, memory in enumerate(memories)]
        said = [(row, text) for row, texts in statements if len(texts) > 1 for text in texts]
        rows = np.array([row for row, _ in said], dtype=np.int64)
        vectors = self.encoder.encode([text for _, text in said]) if said else np.zeros((0, 1), np.float32)
        return Parts(vectors, rows)

    def _judge(self, memories: Sequence[Memory], pairs: Sequence[Candidate]) -> tuple[Verdict, ...]:
        by_id = {memory.id: memory for memory in memories}
        named = [
            (p.a, p.b, rejection_key(by_id[p.a], by_id[p.b]), p.context if isinstance(p, Near) else None)
            for p in pairs
        ]
        new = [
            pair
            for pair, name in zip(pairs, named, strict=True)
            if name[2] not in self.rejected and name not in self._known
        ]
        judged = judge(
            new,
            by_id,
            self.scorer,
            thresholds=self.thresholds,
            keys=self.keys,
            asks_from=close_for(self.encoder.name),
            single=self.settings.single,
        )
        fresh = {(item.pair.a, item.pair.b): item for item in judged}
        self._far |= {
            (a, b, by_id[a].text, by_id[b].text)
            for (a, b), item in fresh.items()
            if item.label is Label.DISTINCT and item.probabilities[2] >= FAR
        }
        self._known |= {name: fresh[name[:2]] for name in named if name[:2] in fresh}
        return tuple(self._known[name] for name in named if name in self._known)
