"""Relative dates become absolute where word and day are certain, and only there."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline.rules.markdown_dates import absolute

TABLE = Path(__file__).with_name("dates.tsv")
SATURDAY = date(2026, 11, 21)
LATER = date(2027, 3, 3)


@pytest.mark.parametrize(("text", "expected"), rows_of(TABLE, "certain"))
def test_a_certain_day_is_written_out(text: str, expected: str) -> None:
    assert absolute(text, SATURDAY) == expected
    assert absolute(text, datetime(2026, 11, 21, 23, tzinfo=UTC)) == expected


@pytest.mark.parametrize("text", [text for (text,) in rows_of(TABLE, "uncertain")])
def test_whatever_is_not_certain_stays(text: str) -> None:
    assert absolute(text, SATURDAY) == text


@pytest.mark.parametrize(("text", "expected"), rows_of(TABLE, "anchor", cells=2))
def test_the_nearest_date_is_the_anchor(text: str, expected: str) -> None:
    assert absolute(text, None) == (expected or text)


def test_each_line_may_have_its_own_day() -> None:
    days = {"We moved it yesterday.": SATURDAY}
    text = "We moved it yesterday.\nWe fixed it yesterday.\n"
    assert absolute(text, days.get) == "We moved it 2026-11-20.\nWe fixed it yesterday.\n"


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["We moved it yesterday", "tomorrow we will ship", "last friday", "in 3 days", "`today`", "\n", "> ", "```\n", "- ",
             "every", "\r\n", ". ", "2026-03-02", "# 2026-03-02\n"]
        ),
        max_size=12,
    )
)  # fmt: skip
def test_a_second_time_changes_nothing(words: list[str]) -> None:
    once = absolute(" ".join(words), SATURDAY)
    assert absolute(once, LATER) == once
