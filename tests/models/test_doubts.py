from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import rows_of
from mem0_dream.models.doubts import hinted_conflict, settled, stated_conflict
from mem0_dream.models.guards import compare

TABLE = Path(__file__).with_name("rows.tsv")


def test_another_order_of_equal_words_is_settled_where_each_entails_the_other_and_no_word_takes_a_place():
    same = "Frozen logs confuse the model", "User's model is confused by frozen logs"
    exchanged = "speakon tape: red 20 m, blue 10m", "red tape = 10 m speakon, blue = 20 m"
    assert settled(*same, (0.95, 0.9))
    assert not settled(*same, (0.95, 0.8))
    assert not settled(*exchanged, (0.95, 0.95))


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
