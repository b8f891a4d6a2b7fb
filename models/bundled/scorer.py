"""The default scorer: our own small cross-encoder and a calibrator over all its signals.

It reads both memories as wholes and statement by statement, adds word statistics and typed facts, and lets
calibrated decision trees turn that into probabilities. It abstains rather than guesses: between its
thresholds a pair is left to a person. Nothing heavy is imported before the first pair is scored, and nothing
is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..bert import on_all_cores
from ..encoder import encodable, equal_length_batches
from ..guards import FACTS_VERSION
from ..scorer import PairInput, PairScores, Remember, distinct, forgetful
from ..text.statements import split_statements
from . import columns
from .calibrator import Calibrator
from .screen import SCREEN_FILE, Screen
from .weights import base_folder, check_features, check_sums, load_network, read_thresholds, sums_digest

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
    missing, damaged or do not fit the base model, which is by default the one that they name. The screen
    leaves out pairs that their store shows to be distinct.
    """

    english_only = True
    reads_context = True

    def __init__(self, folder: Path = FOLDER, *, base: Path | None = None, screen: bool = True) -> None:
        self._folder = folder
        self._base = base
        self.thresholds = read_thresholds(folder)
        self.thresholds_alone = read_thresholds(folder, "thresholds_alone")
        self.name = f"bundled@{sums_digest(folder)[:16]}.{FACTS_VERSION}.{READ_IN}{'' if screen else '.all'}"
        self._screens = screen and (folder / SCREEN_FILE).exists()
        self._parts: tuple[PairReader, Calibrator] | None = None
        self._screen: Screen | None = None

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Probabilities and entailment of each pair; swapping a and b swaps the entailment columns only."""
        return self.score_with(pairs, forgetful)

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        """Score as `score` does, with stage results taken from a cache."""
        scores = distinct(len(pairs))
        worth = self._worth(pairs, remember)
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

    def _worth(self, pairs: Sequence[PairInput], remember: Remember) -> columns.Floats:
        """How much speaks for reading each pair, float64 [n]; 0 where its store shows it to be distinct."""
        if not self._screens or all(pair.context is None for pair in pairs):
            return np.ones(len(pairs))
        if self._screen is None:
            check_sums(self._folder)
            self._screen = Screen.load(self._folder / SCREEN_FILE)
        return self._screen.worth(pairs, remember)

    def _read(self, pairs: Sequence[PairInput], *, brief: bool) -> NDArray[np.float32]:
        """What the texts of each pair say: their columns, and the entailments from and to the longer one.

        If brief, a pair that one reading is sure to be distinct gets no columns (NaN).
        """
        reader, _ = self._load()
        signals = reader.signals([(encodable(pair.a), encodable(pair.b)) for pair in pairs])
        told = [
            at for at, s in enumerate(signals) if not (brief and columns.sure_distinct(s.whole_memory[0]))
        ]
        own = columns.own_columns([signals[at] for at in told])
        rows = np.full((len(pairs), own.shape[1] + 2), np.nan, dtype=np.float32)
        rows[told, :-2] = own
        rows[:, -2:] = [[row[columns.ENTAILS] for row in signal.whole_entailment] for signal in signals]
        return rows

    def _conclude(self, pairs: Sequence[PairInput], readings: NDArray[np.float32]) -> PairScores:
        """Scores of pairs that were read, by their cosine, their dates and their place in the store, too."""
        _, calibrator = self._load()
        told = np.flatnonzero(~np.isnan(readings[:, 0]))
        probabilities = distinct(len(pairs)).probabilities
        rows = columns.placed(readings[told, :-2].astype(np.float64), [pairs[at] for at in told.tolist()])
        probabilities[told, :2] = calibrator.probabilities(rows)[:, :2].round(DECIMALS)
        probabilities[told, 2] = np.clip(1 - probabilities[told, :2].sum(axis=1), 0, 1)
        texts = [(encodable(pair.a), encodable(pair.b)) for pair in pairs]
        long_first = np.array([columns.short_long(a, b)[1] == a for a, b in texts])
        down, up = readings[:, -2], readings[:, -1]
        forward, backward = np.where(long_first, down, up), np.where(long_first, up, down)
        entailment = np.stack([forward, backward], axis=1).astype(np.float32)
        return PairScores(probabilities, entailment.round(DECIMALS))

    def _load(self) -> tuple[PairReader, Calibrator]:
        if self._parts is None:
            check_sums(self._folder)
            check_features(self._folder, columns.feature_names(), facts=FACTS_VERSION)
            network, tokenizer = load_network(self._folder, self._base or base_folder(self._folder))
            self._parts = PairReader(network, tokenizer), Calibrator.load(self._folder / CALIBRATOR_FILE)
        return self._parts


class PairReader:
    """Runs the pair network over memories and gathers the signals of each pair.

    Each distinct ordered pair of texts is read once, in an order that depends on the texts alone, so that two
    calls with the same pairs give equal bytes.
    """

    def __init__(self, network: PairNetwork, tokenizer: PairTokenizer) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer

    def signals(self, pairs: Sequence[tuple[str, str]], *, screen: bool = True) -> list[columns.PairSignals]:
        """Signals of pairs of texts, in their order.

        Each pair is read once, longer text first; unless that reading is sure that the two are distinct (or
        `screen` is off), the other order and every statement follow.
        """
        ordered = [columns.short_long(a, b) for a, b in pairs]
        answers = self.read(sorted({(long, short) for short, long in ordered}))
        asked = {
            (short, long)
            for short, long in ordered
            if not (screen and columns.sure_distinct(answers[long, short][1]))
        }
        parts = {text: split_statements(text) for pair in asked for text in pair}
        wanted = set(asked)
        for short, long in asked:
            wanted |= {(long, part) for part in parts[short]} | {(short, part) for part in parts[long]}
            wanted |= set(columns.aligned(parts[short], parts[long]))
        answers |= self.read(sorted(wanted - answers.keys()))
        return [
            _gather(short, long, parts, answers)
            if (short, long) in asked
            else columns.read_once(short, long, *answers[long, short])
            for short, long in ordered
        ]

    def read(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        """Entailment [3] (premise first) and memory [3] probabilities of each ordered pair."""
        texts = sorted({text for pair in pairs for text in pair})
        known = dict(zip(texts, self.tokenizer.ids(texts), strict=True))
        rows = [(known[a], known[b]) for a, b in pairs]

        def read(chosen: Sequence[int]) -> tuple[columns.Floats, columns.Floats]:
            logits = self.network(self.tokenizer.batch([rows[row] for row in chosen]))
            entailment, memory = (
                some.softmax(-1).double().numpy().round(READ_DECIMALS)
                for some in (logits.entailment, logits.memory)
            )
            return entailment, memory

        widths = [self.tokenizer.width(row) for row in rows]
        batches = list(equal_length_batches(widths, size=BATCH_TOKENS, tokens=BATCH_TOKENS))
        return {
            pairs[row]: said
            for chosen, (entailment, memory) in zip(batches, on_all_cores(read, batches), strict=True)
            for row, said in zip(chosen, zip(entailment, memory, strict=True), strict=True)
        }


def _gather(
    short: str, long: str, parts: dict[str, tuple[str, ...]], answers: Answers
) -> columns.PairSignals:
    whole = [answers[long, short], answers[short, long]]
    of_short = [answers[long, part] for part in parts[short]]
    of_long = [answers[short, part] for part in parts[long]]
    of_clauses = [answers[pair] for pair in columns.aligned(parts[short], parts[long])] or whole
    said = {
        name: (np.stack([entailment for entailment, _ in some]), np.stack([memory for _, memory in some]))
        for name, some in (("whole", whole), ("short", of_short), ("long", of_long), ("clauses", of_clauses))
    }
    return columns.PairSignals(
        short, long, *said["whole"], said["short"][0], said["long"][0], said["short"][1], said["long"][1],
        said["clauses"][1],
    )  # fmt: skip


def read_in_turns(
    pairs: Sequence[PairInput], worth: Sequence[float], read: Callable[[list[int]], Sequence[bool]]
) -> None:
    """Read the pairs of which both memories have not been read often enough, the likeliest first.

    In a large store every memory has ever more neighbours that only sound like it, and what it is one with or
    against stands first among them. So each memory is read until so many readings were sure that it says
    something else; a reading that was not sure costs nothing: twenty wordings of one fact are all read.
    Neither the order of the pairs nor which memory is called a plays a part, and what is read in one group
    leaves the others alone. `worth` says how much speaks for reading each; `read` reads pairs by number, and
    says of each whether it is surely distinct.
    """
    ends = [tuple((pair.group, pair.category, text) for text in (pair.a, pair.b)) for pair in pairs]
    room = {end: ENOUGH for both in ends for end in both}
    waiting = sorted(range(len(pairs)), key=lambda at: (-worth[at], *sorted((pairs[at].a, pairs[at].b))))
    while waiting:
        chosen, later = [], []
        for at in waiting:
            if all(room[end] for end in ends[at]):
                chosen.append(at)
                for end in ends[at]:
                    room[end] -= 1
            else:
                later.append(at)
        if not chosen:
            return
        for at, distinct_surely in zip(chosen, read(chosen), strict=True):
            if not distinct_surely:
                for end in ends[at]:
                    room[end] += 1
        waiting = later
