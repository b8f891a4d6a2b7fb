"""The default scorer: two cross-encoders of ours, small and large, and a calibrator over their signals.

The small one reads each pair once; what it is not sure of, the large one reads in both orders. Statistics of
words and what typed facts say against one fact are added, and calibrated decision trees make probabilities of
it. Nothing heavy is imported before the first pair is scored, and nothing is ever downloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ..bert import on_all_cores
from ..encoder import encodable, equal_length_batches
from ..guards import FACTS_VERSION
from ..scorer import PairInput, PairScores, PairTable, Remember, distinct, forgetful
from . import columns
from .calibrator import Calibrator
from .reader_files import load_reader
from .screen import SCREEN_FILE, Screen
from .weights import check_sums, load_network, read_config, read_thresholds, sums_digest

if TYPE_CHECKING:
    from .network import PairNetwork, PairTokenizer

FOLDER = Path(__file__).parent / "memory_nli"
CALIBRATOR_FILE = "calibrator.npz"
READER_FOLDER = "reader"  # of the large network, in the folder of the weights
DECIMALS = 4  # of what it says, so that a pair reads the same in any company, on one thread or eight
READ_DECIMALS = 6
READ_IN = "int8"  # numbers that the network reads in: what others said is no reading of its
BATCH_TOKENS = 512  # what a core holds near itself; four times as many were half as fast again
SURE_BEFORE = 0.995  # of distinct, from which the small network is believed
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
        told = [at for at, s in enumerate(signals) if not (brief and columns.sure_distinct(s.memory[0]))]
        own = columns.own_columns([signals[at] for at in told])
        rows = np.full((len(pairs), own.shape[1] + 2), np.nan, dtype=np.float32)
        rows[told, :-2] = own
        rows[:, -2:] = [[row[columns.ENTAILS] for row in signal.entailment] for signal in signals]
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
        return load_readers(self._folder)

    def _refuse_unfit(self) -> None:
        check_sums(self._folder)
        config = read_config(self._folder)
        fitted = tuple(config.get("features", ())), config.get("facts")
        if fitted != (columns.FEATURE_NAMES, FACTS_VERSION):
            raise ModelError(f"the weights in {self._folder} belong to another version; reinstall mem0-dream")


def load_readers(folder: Path) -> PairReader:
    """The reader of a folder: its large network behind its small one, or that alone if it has no other."""
    small = PairReader(*load_network(folder))
    large = folder / READER_FOLDER
    return PairReader(*load_reader(large), before=small) if large.is_dir() else small


class PairReader:
    """Runs a pair network over memories: each ordered pair of texts once, in an order of their own.

    A pair that the reader `before` is sure to be distinct is not read.
    """

    def __init__(
        self, network: PairNetwork, tokenizer: PairTokenizer, *, before: PairReader | None = None
    ) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self._before = before

    def signals(self, pairs: Sequence[tuple[str, str]]) -> list[columns.PairSignals]:
        """Signals of pairs of texts, in their order.

        Each pair is read once, longer text first, by the small network and then by the large one; unless a
        reading is sure that the two are distinct, the other order follows.
        """
        ordered = [columns.short_long(a, b) for a, b in pairs]
        answers = self._read_once(sorted({(long, short) for short, long in ordered}))
        unsure = {pair for pair, (_, memory) in answers.items() if not columns.sure_distinct(memory)}
        answers |= self.read(sorted((short, long) for long, short in unsure if short != long))

        def said(short: str, long: str) -> columns.PairSignals:
            down = answers[long, short]
            if (long, short) not in unsure:
                return columns.read_once(short, long, *down)
            return columns.PairSignals(
                short, long, *map(np.stack, zip(down, answers[short, long], strict=True))
            )

        return [said(short, long) for short, long in ordered]

    def _read_once(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        answers = {} if self._before is None else self._before.read(pairs)
        sure = {pair for pair, (_, memory) in answers.items() if memory[columns.DISTINCT] >= SURE_BEFORE}
        return answers | self.read([pair for pair in pairs if pair not in sure])

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
