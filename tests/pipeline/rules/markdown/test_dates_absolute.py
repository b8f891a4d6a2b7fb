"""Relative dates become absolute where word and day are certain, and only there."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline.rules.markdown_dates import absolute

SATURDAY = date(2026, 11, 21)
LATER = date(2027, 3, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The gateway moved to Bern yesterday.", "The gateway moved to Bern 2026-11-20."),
        ("Yesterday we moved it.", "On 2026-11-20 we moved it."),
        ("The pipeline broke last Friday.", "The pipeline broke 2026-11-20."),
        ("The pipeline broke last Saturday.", "The pipeline broke 2026-11-14."),
        ("Tomorrow we cut the branch.", "On 2026-11-22 we cut the branch."),
        ("We moved it the day before yesterday.", "We moved it 2026-11-19."),
        ("- item one\n    moved to Bern yesterday", "- item one\n    moved to Bern 2026-11-20"),
        ("`f()` left `a/b.py` there yesterday.", "`f()` left `a/b.py` there 2026-11-20."),
        ("We moved the gateway last week.", "We moved the gateway in the week of 2026-11-09."),
        ("Last month we moved the gateway.", "In 2026-10 we moved the gateway."),
        ("The new plan starts next month.", "The new plan starts in 2026-12."),
        ("The review is due tomorrow, at noon.", "The review is due 2026-11-22, at noon."),
        ("It broke. Ines fixed it yesterday. Fine.", "It broke. Ines fixed it 2026-11-20. Fine."),
    ],
)
def test_a_certain_day_is_written_out(text: str, expected: str) -> None:
    assert absolute(text, SATURDAY) == expected
    assert absolute(text, datetime(2026, 11, 21, 23, tzinfo=UTC)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Tokens expire in 7 days.",
        "The trial ends within two weeks of sign-up.",
        "The branch is cut in two days.",
        "It broke 3 days ago.",
        "We moved last week, or last month.",
        "Files older than yesterday are removed.",
        "Every day the job reads yesterday and stops.",
        "If it failed yesterday, run it again.",
        "Compare the price with yesterday and write it down.",
        "The job reads yesterday's logs.",
        "The filters are Today and Yesterday there.",
        "The list is grouped by Yesterday and older.",
        "Yesterday / Today / Tomorrow are shown.",
        "It moved yesterday and today again.",
        "It ran from yesterday to tomorrow.",
        "- Yesterday",
        "Better today than tomorrow.",
        "The plan for tomorrow is unknown there.",
        "# We moved it yesterday",
        "| we moved | it yesterday |",
        "```\nWe moved it yesterday.\n```",
        "> she said she moved it yesterday",
        "Text\n\n    We moved it yesterday in code.",
        "We call `yesterday()` there and here.",
        'She said "we moved it yesterday" to me.',
        "See [we moved yesterday](yesterday.md) for all of it.",
        "It would break yesterday already.",
        "We moved it yesterday (2026-11-19).",
        "price_yesterday and yesterday=1 are set there",
        "Nothing relative on 2026-01-02.",
    ],
)
def test_whatever_is_not_certain_stays(text: str) -> None:
    assert absolute(text, SATURDAY) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 2026-03-02: we moved it yesterday.", "- 2026-03-02: we moved it 2026-03-01."),
        ("- **2026-03-02** we moved it yesterday.", "- **2026-03-02** we moved it 2026-03-01."),
        ("## 2026-03-02 Move\nWe moved it yesterday.", "## 2026-03-02 Move\nWe moved it 2026-03-01."),
        ("## 2026-03-02\n### Why\nWe moved it yesterday.", "## 2026-03-02\n### Why\nWe moved it 2026-03-01."),
        ("## 2026-03-02\nx\n## Why\nWe moved it yesterday.", "## 2026-03-02\nx\n## Why\nWe moved it yesterday."),
        ("## 2026-03-02 to 2026-03-09\nWe moved it yesterday.", "## 2026-03-02 to 2026-03-09\nWe moved it yesterday."),
        ("Due 2026-03-02, we moved it yesterday.", "Due 2026-03-02, we moved it yesterday."),
        ("We moved it there yesterday.", "We moved it there yesterday."),
    ],
)  # fmt: skip
def test_the_nearest_date_is_the_anchor(text: str, expected: str) -> None:
    assert absolute(text, None) == expected


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
