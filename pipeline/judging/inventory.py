"""Embeds and judges for a plan: whole inventories first, drafted memories later, nothing twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...indexes.neighbours import Neighbours
from ...models.encoder import Encoder
from ...models.scorer import (
    PairContext,
    PairScorer,
    Screened,
    Thresholds,
    english_only,
    reads_context,
    worth_reading,
)
from ...models.text.statements import split_statements
from ...records import Candidate, Label, Memory, Verdict, rejection_key
from ...settings import Settings
from ..plan import draft_id
from .cache import Cache, Models, OnStage
from .candidates import Block, Kept, Near, Nearest, Parts, each_block
from .judge import close_for, judge
from .quiet import Quiet
from .subjects import KeysOf

FAR = 0.97
"""Distinct with this probability, two texts stay so within one plan, whatever is merged beside them.
Of 50,084 verdicts on invented memories that stood elsewhere after merges, three changed, all from 0.74."""

Ints = NDArray[np.int64]
Place = tuple[str, str, str, str, PairContext | None]  # ids and texts of a pair, and where it stands


@dataclass(slots=True)
class Judging:
    """One encoder and one scorer for one plan; verdicts so far are known by ids, texts and place.

    What is plainly distinct gets no verdict, so that a scope is held in what may matter, and not in pairs.
    """

    encoder: Encoder
    scorer: PairScorer
    settings: Settings
    keys: KeysOf
    rejected: frozenset[str] = frozenset()
    thresholds: Thresholds | None = None
    cache: Cache | None = None
    notes: list[str] = field(default_factory=list)
    _known: dict[Place, Verdict] = field(default_factory=dict)
    _number: dict[tuple[str, str], int] = field(default_factory=dict)  # of each memory, by id and text
    _far: list[Ints] = field(default_factory=list)  # pairs of such numbers that stay distinct
    _nearest: Nearest = field(default_factory=lambda: defaultdict(lambda: (Neighbours(), Neighbours())))
    _group: tuple[Sequence[Memory], Ints, Quiet] | None = None  # of the last block: the next is of it, too

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
        return cls(encoder, scorer, settings, keys, rejected, models.calibrated, models.cache)

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge every candidate pair; those without a verdict are distinct, or a person refused them."""
        return self._judge(memories, contexts=reads_context(self.scorer))

    def of_two(self, a: Memory, b: Memory) -> Verdict | None:
        """The verdict on two memories, also if they are plainly distinct; None if never compared."""
        blocks = self._blocks([a, b], contexts=reads_context(self.scorer))
        pairs = [pair for block in blocks for pair in block.pairs()]
        return next(iter(self._verdicts(pairs, {each.id: each for each in (a, b)})), None)

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge drafted memories, and the pairs whose place they change.

        A draft against its own sources is judged by its texts alone: they will not stand beside each other.
        """
        memories = [*others, *new]
        fresh = {memory.id for memory in new}
        if reads_context(self.scorer) and fresh != {draft_id(others)}:
            return self.moved(memories)
        if not new:
            return ()

        def drafts(standing: Sequence[Memory], rows: Ints) -> NDArray[np.bool_]:
            drafted = np.array([memory.id in fresh for memory in standing], dtype=np.bool_)
            return drafted[rows[:, 0]] | drafted[rows[:, 1]]

        found = self._judge(memories, contexts=False, kept=drafts)
        return tuple(item for item in found if item.pair.a in fresh or item.pair.b in fresh)

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts on these memories, judged again where they stand elsewhere since others are gone."""
        ids = {memory.id for memory in memories}
        left = [item for item in verdicts if item.pair.a in ids and item.pair.b in ids]
        return [*left, *(self.moved(memories) if reads_context(self.scorer) else ())]

    def moved(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge the pairs of these memories that stand elsewhere since others came or went."""
        far = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self._far]))
        self._far = [far]

        def near(standing: Sequence[Memory], rows: Ints) -> NDArray[np.bool_]:
            return ~np.isin(_names(self._numbers(standing)[rows]), far)

        return self._judge(memories, contexts=True, kept=near)

    def _numbers(self, memories: Iterable[Memory]) -> Ints:
        return np.array([self._numbered(memory) for memory in memories], dtype=np.int64)

    def _numbered(self, memory: Memory) -> int:
        return self._number.setdefault((memory.id, memory.text), len(self._number))

    def _blocks(
        self, memories: Sequence[Memory], *, contexts: bool, kept: Kept | None = None
    ) -> Iterable[Block]:
        vectors, limits = self.encoder.encode([memory.text for memory in memories]), self.settings
        return each_block(
            memories,
            vectors,
            floor=limits.floor,
            neighbours=limits.neighbours,
            keys=self.keys,
            contexts=contexts,
            parts=self._parts(memories) if len(memories) > limits.neighbours else None,
            kept=kept,
            notes=None if kept else self.notes,
            nearest=self._nearest,
        )

    def _parts(self, memories: Sequence[Memory]) -> Parts:
        statements = [(row, split_statements(memory.text)) for row, memory in enumerate(memories)]
        said = [(row, text) for row, texts in statements if len(texts) > 1 for text in texts]
        rows = np.array([row for row, _ in said], dtype=np.int64)
        vectors = self.encoder.encode([text for _, text in said]) if said else np.zeros((0, 1), np.float32)
        return Parts(vectors, rows)

    def _judge(
        self, memories: Sequence[Memory], *, contexts: bool, kept: Kept | None = None
    ) -> tuple[Verdict, ...]:
        by_id = {memory.id: memory for memory in memories}
        asked: dict[Place, Candidate] = {}
        listened: list[tuple[Quiet, Ints, list[Candidate]]] = []
        found: list[Verdict] = []
        for block in self._blocks(memories, contexts=contexts, kept=kept):
            worth = worth_reading(self.scorer, block.near) if block.near and block.placed else None
            if worth is None or block.near is None:
                pairs = block.pairs()
            else:
                found += self._by_words(block, np.flatnonzero(worth == 0), by_id)
                left, quiet = np.flatnonzero(worth), self._heard(block)[1]
                rows = block.near.rows[left]
                pairs = block.pairs(left, worth, quiet.knows(rows))
                listened.append((quiet, rows, pairs))
            named = {_place(pair, by_id): pair for pair in pairs if not self._refused(pair, by_id)}
            found += [self._known[name] for name in named if name in self._known]
            asked |= {name: pair for name, pair in named.items() if name not in self._known}
        read = dict(zip(asked, self._verdicts(list(asked.values()), by_id), strict=True))
        nothing = {(item.pair.a, item.pair.b) for item in read.values() if _says_nothing(item)}
        for quiet, rows, pairs in listened:
            quiet.add(rows[[(pair.a, pair.b) in nothing for pair in pairs]])
        far = list(filter(_far, read.values()))
        self._far.append(self._names(far, by_id))
        self._known |= {name: item for name, item in read.items() if not _far(item)}
        found += (item for item in read.values() if not _far(item))
        merging = {name for item in found if item.auto for name in (item.pair.a, item.pair.b)}
        found += (item for item in far if {item.pair.a, item.pair.b} <= merging)
        return tuple(sorted(found, key=lambda item: (item.pair.a, item.pair.b)))

    def _by_words(self, block: Block, chosen: Ints, by_id: Mapping[str, Memory]) -> list[Verdict]:
        """What the words of pairs say that need not be read: most of them nothing."""
        if block.near is None or not len(chosen):
            return []
        numbers, quiet = self._heard(block)
        known = quiet.knows(block.near.rows[chosen])
        new = chosen[~known]
        said = self._verdicts(block.pairs(new), by_id, scorer=Screened(self.scorer))
        silent = np.array([item.label is Label.DISTINCT for item in said], dtype=np.bool_)
        quiet.add(block.near.rows[new[silent]])
        out = np.concatenate([chosen[known], new[silent]])
        self._far.append(_names(numbers[block.near.rows[out]]))
        loud = (item for item in said if item.label is not Label.DISTINCT)
        return [item for item in loud if not self._refused(item.pair, by_id)]

    def _heard(self, block: Block) -> tuple[Ints, Quiet]:
        """The numbers of the memories of a block, and what is known of their pairs."""
        if self._group is None or self._group[0] is not block.memories:
            by = self.encoder.name, english_only(self.scorer), self.settings.single
            quiet = Quiet.among(block.memories, self.keys, *by, cache=self.cache)
            self._group = block.memories, self._numbers(block.memories), quiet
        return self._group[1:]

    def _refused(self, pair: Candidate, by_id: Mapping[str, Memory]) -> bool:
        return bool(self.rejected) and rejection_key(by_id[pair.a], by_id[pair.b]) in self.rejected

    def _verdicts(
        self, pairs: Sequence[Candidate], by_id: Mapping[str, Memory], scorer: PairScorer | None = None
    ) -> tuple[Verdict, ...]:
        return judge(
            pairs,
            by_id,
            scorer or self.scorer,
            thresholds=self.thresholds,
            keys=self.keys,
            asks_from=close_for(self.encoder.name),
            single=self.settings.single,
        )

    def _names(self, verdicts: Iterable[Verdict], by_id: Mapping[str, Memory]) -> Ints:
        ends = (by_id[name] for each in verdicts for name in (each.pair.a, each.pair.b))
        return _names(self._numbers(ends).reshape(-1, 2))


def _far(verdict: Verdict) -> bool:
    return verdict.label is Label.DISTINCT and verdict.probabilities[2] >= FAR


def _says_nothing(verdict: Verdict) -> bool:
    return verdict.label is Label.DISTINCT and not verdict.evidence


def _place(pair: Candidate, by_id: Mapping[str, Memory]) -> Place:
    context = pair.context if isinstance(pair, Near) else None
    return pair.a, pair.b, by_id[pair.a].text, by_id[pair.b].text, context


def _names(pairs: Ints) -> Ints:
    """One number for each pair of numbers, int64 [m, 2], in whichever order the two are."""
    names: Ints = (pairs.min(axis=1) << 32) | pairs.max(axis=1)
    return names
