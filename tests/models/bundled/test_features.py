"""The signals: fixed width, order-free, and right on cases that can be counted by hand."""

from pathlib import Path

import numpy as np
import pytest
from builders import rows_of
from hypothesis import given, strategies as st
from mem0_dream.models.bundled import columns
from mem0_dream.models.bundled.columns import CONTEXT_NAMES, FEATURE_NAMES, PairSignals, short_long, text_row
from mem0_dream.models.scorer import PairInput

TABLE = Path(__file__).parents[1] / "rows.tsv"


def signals(a: str, b: str) -> PairSignals:
    short, long = short_long(a, b)
    return PairSignals(short, long, np.full((2, 3), 1 / 3), np.full((2, 3), 1 / 3))


def table(a: str, b: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return columns.placed(columns.own_columns([signals(a, b)]), [PairInput(a, b, 0.5)])


def value(a: str, b: str, name: str) -> float:
    return float(table(a, b)[0, FEATURE_NAMES.index(name)])


def test_names_are_unique_and_match_the_width() -> None:
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)
    assert table("a", "b").shape == (1, len(FEATURE_NAMES))
    assert columns.placed(columns.own_columns([]), []).shape == (0, len(FEATURE_NAMES))


def test_columns_of_the_place_come_last_and_are_missing_without_one() -> None:
    assert FEATURE_NAMES[-len(CONTEXT_NAMES) :] == CONTEXT_NAMES
    assert np.isnan(table("a", "b")[0, -len(CONTEXT_NAMES) :]).all()
    assert np.isfinite(table("a", "b")[0, : -len(CONTEXT_NAMES)]).all()
    assert value("a", "b", "memory_duplicate") == pytest.approx(1 / 3, abs=1e-4)


@pytest.mark.parametrize(("a", "b", "name", "expected"), rows_of(TABLE, "column"))
def test_each_column_counts_its_words(a: str, b: str, name: str, expected: str) -> None:
    assert value(a, b, name) == float(expected)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_order_of_the_pair_does_not_matter(a: str, b: str) -> None:
    assert short_long(a, b) == short_long(b, a)
    assert np.array_equal(table(a, b), table(b, a), equal_nan=True)
    assert np.isfinite(text_row(a, b)).all()


def test_the_longer_text_is_told_apart_by_words() -> None:
    assert short_long("b b", "a") == ("a", "b b")
    assert short_long("b", "a") == short_long("a", "b") == ("a", "b")
