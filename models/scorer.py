"""The interface of pair scorers: what one reads of a pair of memories, and the probabilities it returns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

DUPLICATE, CONTRADICTION, DISTINCT = 0, 1, 2  # columns of `PairScores.probabilities`
LEAST_SIZE = 4.0  # logarithm to base 2 of the memories from which ranks among them mean something


@dataclass(frozen=True, slots=True)
class PairContext:
    """Where a pair stands among the other memories of its scope and category; without any, crowds are 0."""

    rank_a: float  # how many others are nearer to a than b is, 0 for its nearest
    rank_b: float  # the same from b
    margin_a: float  # cosine of the pair, less the cosine of a and its nearest third memory
    margin_b: float  # the same for b
    crowd_a: float  # mean cosine of a and its five nearest third memories
    crowd_b: float  # the same for b
    bridge: float  # highest, over third memories, of the lower of its two cosines with a and b
    size: float  # how many memories there are, as a logarithm to base 2, rounded: one more changes nothing
    # weight of the words in both texts by that of the words in each; rare words weigh more
    shared: float = 0.0
    shared_rank_a: float = 0.0  # how many others share more with a than b does
    shared_rank_b: float = 0.0  # the same from b
    shared_margin_a: float = 0.0  # `shared`, less what a shares with the third memory it shares most with
    shared_margin_b: float = 0.0  # the same for b

    def swapped(self) -> PairContext:
        """The context of the pair the other way round."""
        sided = ("rank", "margin", "crowd", "shared_rank", "shared_margin")
        turned = {f"{name}_{y}": getattr(self, f"{name}_{x}") for name in sided for x, y in ("ab", "ba")}
        return replace(self, **turned)


@dataclass(frozen=True, slots=True)
class PairInput:
    """What a scorer may read of a candidate pair."""

    a: str
    b: str
    cosine: float  # similarity of the two embeddings, in [-1, 1]
    category: str | None = None
    a_date: datetime | None = None  # when the first was last stated, aware UTC, or None if unknown
    b_date: datetime | None = None  # the same for the second
    # where the pair stands inside its store; None for a pair of which no store is known
    context: PairContext | None = None
    # whose memories these are; what is read of one group never depends on another
    group: tuple[tuple[str, str], ...] = ()
    worth: float | None = field(default=None, compare=False)  # what a screen said of it, if it was asked

    @property
    def placed(self) -> bool:
        """Whether the pair stands among so many other memories that its place says something."""
        return self.context is not None and self.context.size >= LEAST_SIZE

    @property
    def told(self) -> tuple[datetime | None, datetime | None]:
        """When each text was last stated."""
        return self.a_date, self.b_date

    def swapped(self) -> PairInput:
        """The same pair, the other way round."""
        context = self.context.swapped() if self.context else None
        dates = self.b_date, self.a_date
        return PairInput(self.b, self.a, self.cosine, self.category, *dates, context, self.group, self.worth)


PLACE_NAMES = tuple(each.name for each in fields(PairContext))
numbers_of = operator.attrgetter(*PLACE_NAMES)


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Pairs of texts as columns, for a screen that looks at many at once."""

    texts: tuple[str, ...]
    rows: NDArray[np.int64]  # int64 [n, 2], of the texts
    cosines: NDArray[np.float64]  # float64 [n]
    places: NDArray[np.float64]  # float64 [n, len(PLACE_NAMES)]: where each pair stands

    @classmethod
    def of(cls, pairs: Sequence[PairInput]) -> Self:
        """The same of pairs that have a place, each of them."""
        texts = tuple(dict.fromkeys(text for pair in pairs for text in (pair.a, pair.b)))
        row = {text: at for at, text in enumerate(texts)}
        rows = np.array([(row[pair.a], row[pair.b]) for pair in pairs], dtype=np.int64)
        cosines = np.array([pair.cosine for pair in pairs], dtype=np.float64)
        places = np.array([numbers_of(pair.context) for pair in pairs], dtype=np.float64)
        return cls(texts, rows.reshape(-1, 2), cosines, places.reshape(-1, len(PLACE_NAMES)))


@dataclass(frozen=True, slots=True)
class PairScores:
    """Scores of n pairs, in the order they were given."""

    # float32 [n, 3], columns duplicate, contradiction, distinct; rows sum to 1
    probabilities: NDArray[np.float32]
    entailment: NDArray[np.float32]  # float32 [n, 2], probability that a entails b, and that b entails a


def distinct(count: int) -> PairScores:
    """Scores of pairs that are plainly distinct, without any entailment."""
    probabilities = np.zeros((count, 3), dtype=np.float32)
    probabilities[:, DISTINCT] = 1.0
    return PairScores(probabilities, np.zeros((count, 2), dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where probabilities become verdicts; fitted for a stated precision."""

    auto: float  # duplicate probability from which a merge may be applied without a person
    duplicate: float  # duplicate probability from which a pair is worth showing as a possible duplicate
    contradiction: float  # contradiction probability from which a pair is reported as a conflict


class PairScorer(Protocol):
    """Scores pairs of memories. Symmetric: swapping a and b swaps only the entailment columns."""

    @property
    def name(self) -> str:
        """Identity of model and version: part of a plan and of every cache key."""

    @property
    def thresholds(self) -> Thresholds:
        """The decision thresholds fitted for this scorer."""

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs; an empty sequence gives empty arrays."""


Packing = Callable[[Sequence[str]], list[bytes]]
Compute = Callable[[Sequence["PairInput"]], "NDArray[np.float32]"]


class Remember(Protocol):
    """What stages of a scorer have, of the texts alone, the same for a mirrored pair; here forgotten."""

    def __call__(self, _stage: str, pairs: Sequence[PairInput], compute: Compute, /) -> NDArray[np.float32]:
        """Rows of numbers for pairs: float32 [n, width]."""
        return compute(pairs)

    def texts(self, _stage: str, texts: Sequence[str], compute: Packing, /) -> list[bytes]:
        """Bytes for each text."""
        return compute(texts)


class _Forgetful(Remember):
    pass


forgetful = _Forgetful()


@runtime_checkable
class StagedScorer(Protocol):
    """A scorer whose expensive stages depend on the texts alone, so that their results can be cached."""

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        """Score as `score` does, with the expensive stages computed through `remember`."""


class Wrapped:
    """Base of a scorer that wraps another one: what it says of itself is what the one inside says."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer
        self.name = scorer.name
        self.thresholds = scorer.thresholds
        self.thresholds_alone: Thresholds | None = getattr(scorer, "thresholds_alone", None)
        self.reads_context = reads_context(scorer)
        self.english_only = english_only(scorer)
        self.needs_words = needs_words(scorer)


class Screened(Wrapped):
    """A scorer to which all pairs are plainly distinct."""

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Distinct, every one."""
        return distinct(len(pairs))


def worth_reading(scorer: PairScorer, table: PairTable, *remember: Remember) -> NDArray[np.float64] | None:
    """How much speaks for reading each pair, float64 [n]: 0 if its store shows it to be distinct.

    None where a scorer has no screen.
    """
    screen = getattr(scorer, "worth", None)
    worth: NDArray[np.float64] | None = screen(table, *remember) if screen else None
    return worth


def limits_for(scorer: PairScorer, pair: PairInput) -> Thresholds:
    """The thresholds for a pair: those for pairs alone where its place tells nothing, if there are such."""
    alone: Thresholds | None = getattr(scorer, "thresholds_alone", None)
    return scorer.thresholds if alone is None or pair.placed else alone


def reads_context(scorer: PairScorer) -> bool:
    """Whether a scorer makes use of `PairInput.context`; only then it is worth computing."""
    return bool(getattr(scorer, "reads_context", False))


def english_only(scorer: PairScorer) -> bool:
    """Whether a scorer has no say about texts in another language."""
    return bool(getattr(scorer, "english_only", False))


def needs_words(scorer: PairScorer) -> bool:
    """Whether a scorer takes too many facts for one another that share few words, to be believed alone."""
    return bool(getattr(scorer, "needs_words", False))
