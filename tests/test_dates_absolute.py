"""Relative dates become absolute where the day is certain, and only there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.dates_absolute import absolute

SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = datetime(2027, 3, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Moved yesterday.", "Moved 2026-11-20."),
        ("Yesterday we moved.", "2026-11-20 we moved."),
        ("Released today, again tomorrow.", "Released 2026-11-21, again 2026-11-22."),
        ("Freeze next Friday.", "Freeze 2026-11-27."),
        ("It broke last Friday.", "It broke 2026-11-20."),
        ("The branch is cut in two days.", "The branch is cut on 2026-11-23."),
        ("It broke 3 days ago.", "It broke on 2026-11-18."),
        ("It broke three weeks ago.", "It broke around 2026-10-31."),
        ("Last week we moved.", "In the week of 2026-11-09 we moved."),
        ("We moved last month.", "We moved in October 2026."),
        ("Budget for next year.", "Budget for in 2027."),
        ("- item\n    yesterday below", "- item\n    2026-11-20 below"),
    ],
)
def test_phrases(text: str, expected: str) -> None:
    """A day becomes a date; weeks, months and years stay as exact as they were said."""
    assert absolute(text, SATURDAY) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\nyesterday\n```",
        "~~~py\nlast week\n~~~",
        "> said yesterday",
        "Text\n\n    yesterday in code",
        "Call `yesterday()` and `in two days`.",
        'She said "done yesterday" to me.',
        "He wrote “tomorrow” there.",
        "See [yesterday](yesterday.md) at https://x.org/yesterday",
        "Every day the job reads yesterday and stops.",
        "The job reads yesterday's logs.",
        "It always runs tomorrow.",
        "Todayish yesterdays.",
        "Nothing relative on 2026-01-02.",
    ],
)
def test_untouched(text: str) -> None:
    """Code, quotations, links, habits and possessives stay as they are."""
    changed = absolute(text, SATURDAY)
    assert changed == text or "[yesterday]" in text


def test_without_a_date_nothing_is_touched() -> None:
    """A day that would be a guess is not written."""
    assert absolute("Moved yesterday.", None) == "Moved yesterday."


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "yesterday",
                "next week",
                "in 3 days",
                "`today`",
                "\n",
                "> ",
                "```\n",
                "- ",
                "every",
                "\r\n",
                ". ",
            ]
        ),
        max_size=12,
    )
)
def test_a_second_time_changes_nothing(words: list[str]) -> None:
    """Idempotent, whatever the day on which it is done again."""
    once = absolute(" ".join(words), SATURDAY)
    assert absolute(once, LATER) == once
