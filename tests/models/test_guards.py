"""The guards: what vetoes a merge, what does not, and what a merged text must keep."""

from datetime import UTC, datetime
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream.models.bundled.columns import GUARD_NAMES, guard_row
from mem0_dream.models.guards import compare, is_specific, missing
from mem0_dream.records import Evidence


def vetoes(a: str, b: str, **dates: datetime | None) -> set[str]:
    return {each.kind for each in compare(a, b, **dates) if each.veto}


def test_details_are_printed_in_the_given_order_and_a_quotation_alone_never_vetoes():
    (evidence,) = compare("Takes 40 mg", "Takes 20 mg")
    assert evidence == Evidence("number", "40 mg / 20 mg", veto=True)
    found = compare('Calls it "the beast"', 'Calls it "the monster"')
    assert [each.veto for each in found if each.kind == "quote"] == [False]


MONDAY, TUESDAY = datetime(2025, 3, 3, tzinfo=UTC), datetime(2025, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("a", "b", "a_date", "b_date", "found"),
    [
        ("Saw the dentist yesterday", "saw the dentist yesterday", None, None, set()),
        ("Saw the dentist yesterday", "saw the dentist yesterday", MONDAY, MONDAY, set()),
        ("Saw the dentist yesterday", "saw the dentist yesterday", MONDAY, TUESDAY, {"date"}),
        ("Dentist tomorrow", "Dentist on 4 March 2025", MONDAY, None, set()),
        ("Dentist tomorrow", "Dentist on 5 March 2025", MONDAY, None, {"date"}),
    ],
)
def test_relative_days_count_only_with_dates(a, b, a_date, b_date, found):
    assert vetoes(a, b, a_date=a_date, b_date=b_date) == found


def test_columns_count_what_speaks_against_one_fact():
    found = dict(zip(GUARD_NAMES, guard_row("Anna takes 20 mg at 5 pm", "Anna takes 30 mg"), strict=True))
    assert found == {"vetoes": 1.0, "veto_kinds": 1.0, "soft_kinds": 1.0}


PIECES = st.sampled_from(
    """20 mg|5 pm|17:00|12 March 2025|not|never|Anna|Łukasz|San Francisco|src/a.py|https://a.b/c|#12|v1.2|prod|`x y`|"q"
    |every other week|Mon-Fri|one|half|a dozen|$12k|€1.450|3/4|1/2/2024|'74|two|and|uses|tabs|.|,|;|(|)|’|–|٣|日本|🦊|–5
    |1e999|0x1F|99999999999999999999|5'11"|q|no longer|except|all|2000|yesterday|a month|monthly|Ünïcödé|ﬁ|½|²|①|\ud800
    """.strip().split("|")
)
WORDS = """Anna|Ben|cats|films|by|,|.|and|we|us|not|the|Lives|in|Oslo|Bergen|CI|runs|on|Jenkins|3|5|hours|kg|married
|tabs|only|if|2024""".replace("\n", "").split("|")
TEXTS = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=st.characters(), max_size=60),
    st.lists(PIECES, max_size=14).map(" ".join),
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join),
)
LIMITS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@LIMITS
@given(TEXTS)
def test_a_text_never_conflicts_with_itself_and_keeps_all_of_itself(text):
    assert compare(text, text) == ()
    assert vetoes(text, text + " ") == set()
    assert missing([text], text) == ()


@LIMITS
@given(TEXTS, TEXTS)
def test_comparing_is_symmetric_and_never_raises_and_joined_texts_keep_everything(a, b):
    there, back = compare(a, b), compare(b, a)
    assert sorted((e.kind, e.veto) for e in there) == sorted((e.kind, e.veto) for e in back)
    assert compare(a, b) == there
    assert guard_row(a, b) == guard_row(b, a)
    assert missing([a, b], f"{a}. {b}") == ()


@pytest.mark.parametrize(
    "text", ["a" * 10_000, "1 " * 5_000, "not " * 2_500, "A. " * 3_000, "x/" * 5_000, "5-" * 5_000]
)
def test_long_texts_are_read_in_reasonable_time(text):
    started = process_time()  # not the clock: a busy machine is no defect
    is_specific(text)
    compare(text, text + " 20 mg")
    assert process_time() - started < 10
