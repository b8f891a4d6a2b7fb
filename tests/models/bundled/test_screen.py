"""The screen: loses hardly a pair that says something, sees no order, and knows nothing of single pairs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.models.bundled.scorer import FOLDER, BundledScorer
from mem0_dream.models.bundled.screen import SCREEN_FILE, Screen
from mem0_dream.models.encoder import SentenceEncoder, TokenVectors
from mem0_dream.models.scorer import (
    CONTRADICTION,
    DISTINCT,
    DUPLICATE,
    PairInput,
    PairTable,
    Remember,
    forgetful,
    worth_reading,
)
from mem0_dream.pipeline.judging.cache import Cache, Remembered
from mem0_dream.scripts.evaluate.labelled import read_worlds
from mem0_dream.scripts.train.screen import candidates, save

WORLDS = Path(__file__).parents[3] / "scripts" / "data" / "worlds_sample"

pytestmark = pytest.mark.model

Labelled = tuple[list[PairInput], np.ndarray[tuple[int], np.dtype[np.int64]]]


@pytest.fixture(scope="module")
def screen() -> Screen:
    return Screen.load(FOLDER / SCREEN_FILE)


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    encoder = SentenceEncoder()
    found = [row for world in read_worlds(WORLDS) for row in candidates(world.lines, encoder.encode)]
    return [pair for pair, _ in found], np.array([what for _, what in found])


def test_what_says_something_is_read_and_most_else_is_not(screen: Screen, labelled: Labelled) -> None:
    pairs, label = labelled
    read = screen.worth(PairTable.of(pairs)) > 0
    assert read[label == DUPLICATE].mean() >= 0.99
    assert read[label == CONTRADICTION].mean() >= 0.95
    assert read[label == DISTINCT].mean() <= 0.25


def test_neither_order_nor_company_plays_a_part(screen: Screen, labelled: Labelled) -> None:
    pairs = labelled[0][:300]
    read = screen.worth(PairTable.of(pairs)) > 0
    assert np.array_equal(screen.worth(PairTable.of([pair.swapped() for pair in pairs])) > 0, read)
    assert np.array_equal(screen.worth(PairTable.of(pairs[::-1])) > 0, read[::-1])
    assert [bool(screen.worth(PairTable.of([pair]))[0] > 0) for pair in pairs[:20]] == read[:20].tolist()


def test_what_passed_the_screen_is_not_screened_again_to_be_scored(labelled, monkeypatch) -> None:
    pairs, worth, screened = labelled[0][:120], Screen.worth, list[int]()
    expected = BundledScorer().score(pairs)

    def counted(self: Screen, some: PairTable, remember: Remember = forgetful) -> object:
        screened.append(len(some.rows))
        return worth(self, some, remember)

    monkeypatch.setattr(Screen, "worth", counted)
    scorer = BundledScorer()
    told = worth_reading(scorer, PairTable.of(pairs))
    assert told is not None
    left = [replace(pair, worth=said) for pair, said in zip(pairs, told.tolist(), strict=True) if said]
    assert 0 < len(left) < len(pairs)
    said = scorer.score([*left, pairs[0].swapped()])
    assert screened == [len(pairs), 1]
    assert np.array_equal(said.probabilities[:-1], expected.probabilities[told > 0])


def test_a_pair_of_which_no_store_is_known_is_read(screen: Screen) -> None:
    alone = PairInput("Likes tea.", "The build runs on Fridays.", 0.1)
    assert BundledScorer().worth_of([alone]).tolist() == [1]
    assert screen.worth(PairTable.of([])).shape == (0,)


def test_texts_are_read_and_compared_once_for_pairs_that_words_leave(screen, labelled, tmp_path, monkeypatch):
    # The second night finds the tokens of a neighbour on disk, and the comparison of two that it knows.
    pairs = labelled[0][:200]
    stages: list[tuple[str, int, int]] = []
    read: list[tuple[int, ...]] = []
    remember = Remembered("screen", Cache(tmp_path), lambda *stage: stages.append(stage))
    packed = TokenVectors._packed

    def counted(self: TokenVectors, some: Sequence[tuple[int, ...]]) -> list[bytes]:
        read.extend(some)
        return packed(self, some)

    monkeypatch.setattr(TokenVectors, "_packed", counted)
    table = PairTable.of(pairs[:100])
    first = screen.worth(table, remember)
    assert np.array_equal(screen.worth(table, remember), first)
    assert 0 < stages[0][2] < 100
    assert stages[-1][1:] == (stages[0][2],) * 2
    other = PairTable.of([replace(pair, b=more.a) for pair, more in zip(pairs, pairs[50:], strict=False)])
    seen = screen.worth(other, remember)
    assert len(read) == len(set(read)) > 0
    assert np.array_equal(seen > 0, screen.worth(other) > 0)


def test_saving_and_loading_changes_nothing(screen: Screen, labelled: Labelled, tmp_path: Path) -> None:
    save(screen, tmp_path / SCREEN_FILE)
    again = Screen.load(tmp_path / SCREEN_FILE)
    assert again.limits == screen.limits
    table = PairTable.of(labelled[0][:100])
    assert np.array_equal(again.worth(table), screen.worth(table))
