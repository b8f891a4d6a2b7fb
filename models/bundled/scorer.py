"""The default scorer: our own small cross-encoder and a calibrator over all its signals.

It reads both memories as wholes and statement by statement, adds word statistics and typed facts, and lets
calibrated decision trees turn that into probabilities. Nothing heavy is imported before the first pair is
scored, and nothing is ever downloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ..bert import on_all_cores
from ..encoder import encodable, equal_length_batches
from ..guards import FACTS_VERSION
from ..scorer import PairInput, PairScores, PairTable, Remember, distinct, forgetful
from ..text.statements import split_statements
from . import columns
from .calibrator import Calibrator
from .screen import SCREEN_FILE, Screen
from .weights import check_sums, load_network, read_config, read_thresholds, sums_digest

if TYPE_CHECKING:
    from .network import PairNetwork, PairTokenizer

FOLDER = Path(__file__).parent / "memory_nli"
CALIBRATOR_FILE = "calibrator.npz"
DECIMALS = 4  # of what it says, so that a pair reads the same in any company, on one thread or eight
READ_DECIMALS = 6
READ_IN = "int8"  # numbers that the network reads in: what others said is no reading of its
BATCH_TOKENS = 512  # what a core holds near itself; four times as many were half as fast again
ENOUGH = 8  # readings sure of `distinct` after which a memory is not read any more (decision 21)

Answers = dict[tuple[str, str], tuple[columns.Floats, columns.Floats]]


class BundledScorer:
    """Judges pairs with the weights of a folder, loaded and checked at the first call of `score`.

    Its name changes with every byte of the weights, and with the guards. ModelError if the weights are
    missing, damaged or do not fit the base model that they name. The screen leaves out pairs that their store
    shows to be distinct.
    """

    english_only = True
    reads_context = True
    needs_words = True

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self.thresholds = read_thresholds(folder)
        self.thresholds_alone = read_thresholds(folder, "thresholds_alone")
        self.name = f"bundled@{sums_digest(folder)[:16]}.{FACTS_VERSION}.{READ_IN}"
        self._screens = (folder / SCREEN_FILE).exists()

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Probabilities and entailment of each pair; swapping a and b swaps the entailment columns only."""
        return self.score_with(pairs, forgetful)

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        """Score as `score` does, with stage results taken from a cache."""
        scores = distinct(len(pairs))
        worth = self.worth_of(pairs, remember)
        rows = np.flatnonzero(worth > 0).tolist()

        def read(numbers: list[int], *, brief: bool = True) -> list[bool]:
            """Read and score pairs by number; whether one reading was sure that they are distinct."""
            chosen = [pairs[at] for at in numbers]
            stage = "judge" if brief else "judge alone"
            said = remember(stage, chosen, lambda some: self._read(some, brief=brief))
            found = self._conclude(chosen, said)
            scores.probabilities[numbers], scores.entailment[numbers] = found.probabilities, found.entailment
            return [bool(sure) for sure in np.isnan(said[:, 0])]

        among = [at for at in rows if pairs[at].placed]
        alone = [at for at in rows if not pairs[at].placed]
        if among and self._screens:
            some = [pairs[at] for at in among]
            read_in_turns(some, worth[among].tolist(), lambda turn: read([among[at] for at in turn]))
        elif among:
            read(among)
        if alone:
            read(alone, brief=False)
        return scores

    def worth(self, table: PairTable, remember: Remember = forgetful) -> columns.Floats | None:
        """How much speaks for reading each pair of a store: 0 if it shows that they are distinct."""
        return self._screen.worth(table, remember) if self._screens else None

    def worth_of(self, pairs: Sequence[PairInput], remember: Remember = forgetful) -> columns.Floats:
        """The same of pairs that may have been screened before, or of which no store is known."""
        worth = np.array([1.0 if pair.worth is None else pair.worth for pair in pairs])
        new = [at for at, pair in enumerate(pairs) if pair.worth is None and pair.context is not None]
        if new and self._screens:
            worth[new] = self._screen.worth(PairTable.of([pairs[at] for at in new]), remember)
        return worth

    def _read(self, pairs: Sequence[PairInput], *, brief: bool) -> NDArray[np.float32]:
        """What the texts of each pair say: their columns, and the entailments from and to the longer one.

        If brief, a pair that one reading is sure to be distinct gets no columns (NaN).
        """
        signals = self._reader.signals([(encodable(pair.a), encodable(pair.b)) for pair in pairs])
        told = [at for at, s in enumerate(signals) if not (brief and columns.sure_distinct(s.whole[1][0]))]
        own = columns.own_columns([signals[at] for at in told])
        rows = np.full((len(pairs), own.shape[1] + 2), np.nan, dtype=np.float32)
        rows[told, :-2] = own
        rows[:, -2:] = [[row[columns.ENTAILS] for row in signal.whole[0]] for signal in signals]
        return rows

    def _conclude(self, pairs: Sequence[PairInput], readings: NDArray[np.float32]) -> PairScores:
        """Scores of pairs that were read, by their cosine, their dates and their place in the store, too."""
        told = np.flatnonzero(~np.isnan(readings[:, 0]))
        probabilities = distinct(len(pairs)).probabilities
        rows = columns.placed(readings[told, :-2].astype(np.float64), [pairs[at] for at in told.tolist()])
        probabilities[told, :2] = self._calibrator.probabilities(rows)[:, :2].round(DECIMALS)
        probabilities[told, 2] = np.clip(1 - probabilities[told, :2].sum(axis=1), 0, 1)
        texts = [(encodable(pair.a), encodable(pair.b)) for pair in pairs]
        long_first = np.array([columns.short_long(a, b)[1] == a for a, b in texts])
        down, up = readings[:, -2], readings[:, -1]
        forward, backward = np.where(long_first, down, up), np.where(long_first, up, down)
        entailment = np.stack([forward, backward], axis=1).astype(np.float32)
        return PairScores(probabilities, entailment.round(DECIMALS))

    @cached_property
    def _screen(self) -> Screen:
        check_sums(self._folder)
        return Screen.load(self._folder / SCREEN_FILE)

    @cached_property
    def _calibrator(self) -> Calibrator:
        self._refuse_unfit()
        return Calibrator.load(self._folder / CALIBRATOR_FILE)

    @cached_property
    def _reader(self) -> PairReader:
        self._refuse_unfit()
        return PairReader(*load_network(self._folder))

    def _refuse_unfit(self) -> None:
        check_sums(self._folder)
        config = read_config(self._folder)
        fitted = tuple(config.get("features", ())), config.get("facts")
        if fitted != (columns.FEATURE_NAMES, FACTS_VERSION):
            raise ModelError(f"the weights in {self._folder} belong to another version; reinstall mem0-dream")


class PairReader:
    """Runs the pair network over memories: each ordered pair of texts once, in an order of their own."""

    def __init__(self, network: PairNetwork, tokenizer: PairTokenizer) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer

    def signals(self, pairs: Sequence[tuple[str, str]]) -> list[columns.PairSignals]:
        """Signals of pairs of texts, in their order.

        Each pair is read once, longer text first; unless that reading is sure that the two are distinct, the
        other order and every statement follow.
        """
        ordered = [columns.short_long(a, b) for a, b in pairs]
        answers = self.read(sorted({(long, short) for short, long in ordered}))
        statements = cache(split_statements)
        asked = {
            (short, long): (
                [(long, short), (short, long)],
                [(long, part) for part in statements(short)],
                [(short, part) for part in statements(long)],
                columns.aligned(statements(short), statements(long)),
            )
            for short, long in ordered
            if not columns.sure_distinct(answers[long, short][1])
        }
        wanted = {pair for questions in asked.values() for some in questions for pair in some}
        answers |= self.read(sorted(wanted - answers.keys()))

        def said(some: Iterable[tuple[str, str]]) -> columns.Reading:
            entailment, memory = zip(*(answers[pair] for pair in some), strict=True)
            return np.stack(entailment), np.stack(memory)

        return [
            columns.PairSignals(*pair, *(said(some or asked[pair][0]) for some in asked[pair]))
            if pair in asked
            else columns.read_once(*pair, *answers[pair[::-1]])
            for pair in ordered
        ]

    def read(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        """Entailment [3] (premise first) and memory [3] probabilities of each ordered pair."""
        texts = sorted({text for pair in pairs for text in pair})
        known = dict(zip(texts, self.tokenizer.ids(texts), strict=True))
        rows = [(known[a], known[b]) for a, b in pairs]

        def read(chosen: Sequence[int]) -> tuple[columns.Floats, columns.Floats]:
            logits = self.network(self.tokenizer.batch([rows[row] for row in chosen]))
            both = logits.entailment, logits.memory
            entailment, memory = (some.softmax(-1).double().numpy().round(READ_DECIMALS) for some in both)
            return entailment, memory

        widths = [self.tokenizer.width(row) for row in rows]
        batches = list(equal_length_batches(widths, size=BATCH_TOKENS, tokens=BATCH_TOKENS))
        return {
            pairs[row]: said
            for chosen, (entailment, memory) in zip(batches, on_all_cores(read, batches), strict=True)
            for row, said in zip(chosen, zip(entailment, memory, strict=True), strict=True)
        }


def read_in_turns(
    pairs: Sequence[PairInput], worth: Sequence[float], read: Callable[[list[int]], Sequence[bool]]
) -> None:
    """Read the pairs of which both memories have not been read often enough, the likeliest first.

    In a large store every memory has ever more neighbours that only sound like it. So each memory is read
    until so many readings were sure that it says something else; a reading that was not sure costs nothing.
    `worth` says how much speaks for reading each pair, whatever their order and which memory is called a;
    `read` reads pairs by number, and says of each whether it is surely distinct.
    """
    ends = [tuple((pair.group, pair.category, text) for text in (pair.a, pair.b)) for pair in pairs]
    room = Counter({end: ENOUGH for both in ends for end in both})
    waiting = sorted(range(len(pairs)), key=lambda at: (-worth[at], *sorted((pairs[at].a, pairs[at].b))))
    while waiting:
        chosen = []
        for at in waiting:
            if all(room[end] for end in ends[at]):
                chosen.append(at)
                room.subtract(ends[at])
        if not chosen:
            return
        for at, distinct_surely in zip(chosen, read(chosen), strict=True):
            if not distinct_surely:
                room.update(ends[at])
        read_now = set(chosen)
        waiting = [at for at in waiting if at not in read_now]
