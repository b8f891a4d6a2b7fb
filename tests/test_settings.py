"""Settings: durations, limits, and no key that nobody knows."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from mem0_dream.settings import Settings, parse_days
from pydantic import ValidationError


@pytest.mark.parametrize(
    ("given_as", "days"),
    [(90, 90), ("90", 90), ("90d", 90), (" 90 days ", 90), ("1 Day", 1), ("12w", 84), ("2 weeks", 14), ("2y", 730), ("0", 0)],
)  # fmt: skip
def test_durations_are_days_weeks_and_years(given_as: Any, days: int) -> None:
    assert parse_days(given_as) == timedelta(days=days)
    assert Settings(stale_after=given_as).stale_after == timedelta(days=days)


@pytest.mark.parametrize("nonsense", ["soon", "-3d", "3 months", "1.5y", "", None, "d", "90dd", [], True])
def test_anything_else_is_no_duration(nonsense: Any) -> None:
    with pytest.raises(ValidationError):
        Settings(stale_after=nonsense)


@given(st.integers(0, 10_000))
def test_a_duration_stays_what_it_is(days: int) -> None:
    found = timedelta(days=days)
    assert parse_days(found) is found
    assert parse_days(f"{days}d") == found


@pytest.mark.parametrize(
    "wrong",
    [{"stale_aftr": "90d"}, {"max_delete": 1.01}, {"max_delete": -0.1}, {"min_words": -1}, {"min_delete": -1},
     {"neighbours": 0}, {"floor": 2}, {"retention": {"session_state": "forever"}}],
)  # fmt: skip
def test_a_wrong_or_unknown_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(**wrong)


def test_the_defaults_are_those_of_the_skill_and_do_not_change() -> None:
    """A limit that changed during a run would make its plan unexplainable."""
    default, section = Settings(), {"session_state": "90d"}
    assert (default.stale_after.days, default.access_window.days) == (180, 180)
    assert (default.min_words, default.max_delete) == (5, 0.30)
    retention = Settings.model_validate({"retention": section}).retention
    assert retention == {"session_state": timedelta(days=90)}
    with pytest.raises(ValidationError):
        default.max_delete = 1.0
