from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import rows_of
from mem0_dream.models.doubts import doubts, hinted_conflict, settled, stated_conflict
from mem0_dream.models.guards import compare

TABLE = Path(__file__).with_name("rows.tsv")


def test_another_order_of_equal_words_is_settled_where_each_entails_the_other_and_no_word_takes_a_place():
    same = "Frozen logs confuse the model", "User's model is confused by frozen logs"
    exchanged = "speakon tape: red 20 m, blue 10m", "red tape = 10 m speakon, blue = 20 m"
    assert settled(*same, (0.95, 0.9))
    assert not settled(*same, (0.95, 0.8))
    assert not settled(*exchanged, (0.95, 0.95))


def test_words_that_each_text_alone_has_need_some_entailment():
    pair = "Keeps bees behind the barn", "Two hives stand in the meadow"
    assert not doubts(*pair, entailment=(0.8, 0.8))
    assert [each.kind for each in doubts(*pair, entailment=(0.05, 0.0))] == ["unsaid"]
    assert doubts(*pair, entailment=(0.05, 0.0))[0].veto is False


EARLIER, LATER = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(("first", "then", "told", "turned"), rows_of(TABLE, "change", cells=4))
def test_a_change_is_told_after_what_it_changes(first, then, told, turned):
    for says, dates in ((told, (EARLIER, LATER)), (turned, (LATER, EARLIER))):
        for a, b, when in ((first, then, dates), (then, first, dates[::-1])):
            found = compare(a, b)
            assert stated_conflict(a, b, found, when) is (says == "stated")
            assert says == "stated" or hinted_conflict(a, b, found, when) is (says == "hinted")
    for when in ((None, LATER), (LATER, LATER)):
        assert stated_conflict(first, then, compare(first, then), when) is (told == "stated")


@pytest.mark.parametrize(("a", "b", "there", "back", "shown"), rows_of(TABLE, "shown"))
def test_one_inside_another_is_shown_by_most_of_its_words_or_by_what_both_name(a, b, there, back, shown):
    for one, other, way in ((a, b, (float(there), float(back))), (b, a, (float(back), float(there)))):
        assert ("unsaid" in {each.kind for each in doubts(one, other, entailment=way)}) is not (
            shown == "yes"
        )
