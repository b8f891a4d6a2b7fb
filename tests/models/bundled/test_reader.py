"""What is read of a pair: once where the first reading is sure, both orders and all statements elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from mem0_dream.models.bundled.columns import features, screened
from mem0_dream.models.bundled.scorer import Answers, PairReader
from mem0_dream.models.bundled.weights import load_network
from mem0_dream.models.encoder import packaged_model_path
from mem0_dream.models.scorer import PairInput

SURE = np.array([0.002, 0.003, 0.995])
UNSURE = np.array([0.3, 0.1, 0.6])
ENTAILMENT = np.array([0.2, 0.7, 0.1])
SHORT, LONG = "Ana has a dog.", "Ana is a nurse in Leeds. She plays chess on Sundays."


class ScriptedReader(PairReader):
    def __init__(self, memory: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        self.memory = memory
        self.asked: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        self.asked += pairs
        return dict.fromkeys(pairs, (ENTAILMENT, self.memory))


def test_a_sure_first_reading_is_the_only_one() -> None:
    for pair in ((SHORT, LONG), (LONG, SHORT)):
        reader = ScriptedReader(SURE)
        reader.signals([pair])
        assert reader.asked == [(LONG, SHORT)]


def test_an_unsure_pair_is_read_both_ways_and_by_statement() -> None:
    reader = ScriptedReader(UNSURE)
    reader.signals([(SHORT, LONG)])
    assert set(reader.asked) == {
        (LONG, SHORT), (SHORT, LONG), (SHORT, "Ana is a nurse in Leeds."), (SHORT, "She plays chess on Sundays."),
    }  # fmt: skip
    assert len(reader.asked) == 4


def test_statements_that_speak_of_the_same_are_read_against_each_other() -> None:
    older = "Reads the Rust book. Has a cat."
    newer = "Has finished the Rust book. Owns a dog."
    reader = ScriptedReader(UNSURE)
    reader.signals([(older, newer)])
    clauses = {pair for pair in reader.asked if older not in pair and newer not in pair}
    assert clauses == {("Has finished the Rust book.", "Reads the Rust book.")}


def test_without_the_screen_every_pair_is_read_in_full() -> None:
    reader = ScriptedReader(SURE)
    full = reader.signals([(SHORT, LONG)], screen=False)
    assert len(reader.asked) == 4
    once = ScriptedReader(SURE).signals([(SHORT, LONG)])
    pair = [PairInput(SHORT, LONG, 0.1)]
    assert np.array_equal(features([screened(full[0])], pair), features(once, pair), equal_nan=True)


def test_no_text_is_read_twice() -> None:
    reader = ScriptedReader(UNSURE)
    assert len(reader.signals([(SHORT, SHORT), (SHORT, LONG), (LONG, SHORT)])) == 3
    assert len(reader.asked) == len(set(reader.asked))


@pytest.mark.model
def test_the_real_network_reads_nothing_of_no_pairs() -> None:
    from mem0_dream.models.bundled.scorer import FOLDER

    assert PairReader(*load_network(FOLDER, packaged_model_path())).signals([]) == []
