"""What is read out of one text: every kind of detail with its value."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models import facts
from mem0_dream.models.facts import Day, Relative, Version, Weekday, extract
from mem0_dream.models.facts.details import Page
from mem0_dream.models.facts.literals import versions
from mem0_dream.models.facts.names import named_among, same_name
from mem0_dream.models.facts.numbers import spelled
from mem0_dream.models.text.words import fold, normalise, stem, words

NUMBERS = [
    ("20 mg", [(20.0, "mass")]),
    ("1,234.5 km", [(1234.5, "length")]),
    ("1.234.567 €", [(1234567.0, "money")]),
    ("€1.450,50", [(1450.5, "money")]),
    ("1 450 €", [(1450.0, "money")]),
    ("96k", [(96000.0, "")]),
    ("$12.5k", [(12500.0, "money")]),
    ("$11m", [(11e6, "money")]),
    ("3e-4", [(0.0003, "")]),
    (".74", [(0.74, "")]),
    ("2½ hours", [(2.5, "time")]),
    ("-5 °C", [(-5.0, "temperature")]),
    ("5'11\"", [(71.0, "length")]),
    ("5 ft 11.", [(71.0, "length")]),
    ("7 ft 15", [(7.0, "length"), (15.0, "")]),
    ("one hundred and thirty grams", [(130.0, "mass")]),
    ("six and a half thousand euros", [(6500.0, "money")]),
    ("half a million", [(500000.0, "")]),
    ("three quarters of the budget", [(75.0, "ratio")]),
    ("three fifths of it", [(60.0, "ratio")]),
    ("87/100", [(87.0, "ratio")]),
    ("148/92", [(148.0, ""), (92.0, "")]),
    ("twenty-seventh", [(27.0, "")]),
    ("open 24/7", [(24.0, ""), (7.0, "")]),
    ("one of the cellists", []),
    ("no one came", []),
    ("year-old 3-year-old", [(3.0, "time")]),
    ("5-10 mg", [(5.0, "mass"), (10.0, "mass")]),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers_are_read_with_their_unit(text, expected):
    assert [(each.value, each.dimension) for each in extract(text).numbers] == expected


def test_numbers_carry_their_period():
    (direct,) = extract("pays 300 CHF a month").numbers
    (overall,) = extract("Annual salary: $96,000").numbers
    assert direct.period == pytest.approx(30.4375 * 86400)
    assert overall.period == pytest.approx(365.25 * 86400)


@pytest.mark.parametrize("text", ["one", "first", "a month", "an hour"])
def test_small_words_are_weak_numbers(text):
    assert [each.form for each in extract(text).numbers] == ["weak"]


DATES = [
    ("2025-03-12", [(2025, 3, 12)]),
    ("12 March 2025", [(2025, 3, 12)]),
    ("March 12th, 2025", [(2025, 3, 12)]),
    ("the second of October", [(None, 10, 2)]),
    ("14.10.2025", [(2025, 10, 14)]),
    ("on 10.8.", [(None, 8, 10)]),
    ("14/10", [(None, 10, 14)]),
    ("3-17 Oct", [(None, 10, 3), (None, 10, 17)]),
    ("4 to 11 June 2025", [(2025, 6, 4), (2025, 6, 11)]),
    ("May 2024", [(2024, 5, None)]),
    ("in May", [(None, 5, None)]),
    ("you may go", []),
    ("march on", []),
    ("since 2012", [(2012, None, None)]),
    ("a '74 bass", [(1974, None, None)]),
    ("2000 IU", []),
    ("Christmas Eve", [(None, 12, 24)]),
    ("31 February-ish", [(None, 2, 31)]),
    ("45/67", []),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates_are_read_with_the_parts_they_state(text, expected):
    assert [(each.year, each.month, each.day) for each in extract(text).days] == expected


def test_parts_of_years_are_read():
    assert [each.part for each in extract("Q2 2025, week 42, the 1990s").days] == [
        "Q2",
        "week 42",
        "decade 1990",
    ]


def test_a_bare_month_and_a_bare_year_are_no_rivals():
    month, year = Day("August", None, 8), Day("2015", 2015)
    assert not month.agrees(year)
    assert not month.rivals(year)


def test_an_ambiguous_order_of_day_and_month_agrees_with_both():
    (day,) = extract("3/4/2025").days
    assert day.agrees(Day("", 2025, 4, 3))
    assert day.agrees(Day("", 2025, 3, 4))
    assert day.rivals(Day("", 2025, 5, 4))


def test_a_date_covers_only_what_it_states():
    whole, month = Day("", 2025, 3, 12), Day("", None, 3)
    assert whole.covers(month)
    assert not month.covers(whole)


RELATIVE = [
    ("yesterday", (2024, 12, 31)),
    ("tomorrow", (2025, 1, 2)),
    ("last month", (2024, 12, None)),
    ("next year", (2026, None, None)),
    ("two months ago", (2024, 11, None)),
    ("last spring", (None, None, None)),
]


@pytest.mark.parametrize(("text", "expected"), RELATIVE)
def test_relative_days_resolve_against_a_date(text, expected):
    (relative,) = extract(text).relatives
    day = relative.on(datetime(2025, 1, 1))  # noqa: DTZ001
    assert (day.year, day.month, day.day) == expected


def test_a_relative_day_beyond_the_calendar_does_not_raise():
    assert Relative("", "day", 10**9).on(datetime(2025, 1, 1)).year == 9999  # noqa: DTZ001


WEEKDAYS = [
    ("Mondays", [0]),
    ("on Tue", [1]),
    ("Fri-Sun", [4, 5, 6]),
    ("weekends", [5, 6]),
    ("weekdays", [0, 1, 2, 3, 4]),
    ("sat in the sun", []),
    ("the working day", []),
]


@pytest.mark.parametrize(("text", "expected"), WEEKDAYS)
def test_weekdays_are_read_day_by_day(text, expected):
    assert [each.number for each in extract(text).weekdays] == expected


CLOCKS = [
    ("17:00", [1020]),
    ("5 pm", [1020]),
    ("12 am", [0]),
    ("12:30 p.m.", [750]),
    ("16h30", [990]),
    ("half past six", [390]),
    ("quarter to seven in the evening", [1125]),
    ("five o'clock", [300]),
    ("three in the afternoon", [900]),
    ("noon and midnight", [720, 0]),
    ("09:00-17:00", [540, 1020]),
    ("5 to 7", []),
    ("ratio 3:70", []),
]


@pytest.mark.parametrize(("text", "expected"), CLOCKS)
def test_times_of_day_are_read(text, expected):
    assert [each.minute for each in extract(text).clocks] == expected


FREQUENCIES = [
    ("daily", 1.0),
    ("twice a day", 0.5),
    ("2x daily", 0.5),
    ("every other week", 14.0),
    ("fortnightly", 14.0),
    ("every two weeks", 14.0),
    ("every second Friday", 14.0),
    ("alternate weeks", 14.0),
    ("four weekly sessions", 1.75),
    ("once a month", 30.4375),
    ("every night", 1.0),
    ("half-yearly", 182.625),
]


@pytest.mark.parametrize(("text", "days"), FREQUENCIES)
def test_frequencies_are_read_as_distances(text, days):
    (found,) = extract(text).frequencies
    assert found.seconds[0] / 86400 == pytest.approx(days)


NAMES = [
    ("Lives in Gdańsk with Łukasz Ní Bhriain", {"gdansk", "lukasz", "ni", "bhriain"}),
    ("Anna reviews code", {"anna"}),
    ("Uses tabs", set()),
    ("Boycotts the shop", set()),
    ("She asked whether I could help", set()),
    ("User likes iPhone and PostgreSQL", {"iphone", "postgresql"}),
    ("writes python on linux", {"python", "linux"}),
    ("Works at NASA", {"nasa"}),
    ("Meets Uncle Rolf in March", {"rolf"}),
    ("Doesn't mind", set()),
    ("Bruno's bowl is blue", {"bruno"}),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_names_are_read(text, expected):
    assert {each.folded for each in extract(text).names} == expected


SAME_NAMES = [
    ("postgres", "postgresql", True),
    ("k8s", "kubernetes", True),
    ("bob", "robert", True),
    ("heidelberg", "heidleberg", True),
    ("german", "germany", True),
    ("java", "javascript", False),
    ("robert", "roberto", False),
    ("bob", "bill", False),
    ("mirka", "minka", False),
    ("anna", "hanna", False),
]


@pytest.mark.parametrize(("left", "right", "same"), SAME_NAMES)
def test_spellings_of_one_name(left, right, same):
    assert same_name(left, right) is same
    assert same_name(right, left) is same


LITERALS = [
    ("links", "see https://Example.com/a/.", ["example.com/a"]),
    ("links", "mail anna.b@example.org!", ["anna.b@example.org"]),
    ("paths", "src/app.py, ~/notes and /etc/hosts", ["src/app.py", "notes", "etc/hosts"]),
    ("paths", "edit README.md", ["readme.md"]),
    ("paths", "$8 /month with Node.js and km/h", []),
    ("identifiers", "PR #260 on log-01", ["#260", "log-01"]),
    ("identifiers", "set MAX_RETRIES and orders_v2", ["max_retries", "orders_v2"]),
    ("identifiers", "run with --fast -p", ["--fast", "-p"]),
    ("identifiers", "3-year-old, 12-week, 20-minute", []),
    ("identifiers", "commit 9ab41f7", ["9ab41f7"]),
    ("identifiers", "10.0.0.1:80", ["10.0.0.1:80"]),
    ("versions", "v1.2 and 1.4.0-rc1", ["1.2", "1.4.0-rc1"]),
    ("versions", "Python 3.11", ["3.11"]),
    ("versions", "Takes 0.02 g", []),
    ("quotes", 'says "go on" and `make test`', ["make test", "go on"]),
    ("quotes", "the dog's and the cats' bowls", []),
]


@pytest.mark.parametrize(("field", "text", "expected"), LITERALS)
def test_literals_are_read_letter_for_letter(field, text, expected):
    assert [each.key for each in getattr(extract(text), field)] == expected


def test_versions_compare_part_by_part():
    assert Version("", "18").agrees(Version("", "18.17"))
    assert not Version("", "3.1").agrees(Version("", "3.10"))
    assert Version("", "18.17").covers(Version("", "18"))
    assert not Version("", "18").covers(Version("", "18.17"))


def test_negations_know_their_reach():
    first, second = extract("Does not use tabs, avoids dairy").negations
    assert (first.hard, first.reach) == (True, (stem("use"), stem("tabs")))
    assert (second.hard, second.reach) == (False, (stem("dairy"),))
    assert extract("no later than Friday, left hand, non-stop").negations == ()


def test_traits_answer_the_question_of_their_family():
    staging, production = extract("staging").traits[0], extract("prod").traits[0]
    assert staging.rivals(production)
    assert not staging.agrees(production)
    assert production.agrees(extract("production").traits[0])


def test_a_weekday_is_itself():
    assert Weekday("Mon", 0).agrees(Weekday("Mondays", 0))
    assert Weekday("Mon", 0).rivals(Weekday("Tue", 1))


SPELLED = [
    ("zero", 0),
    ("nineteen", 19),
    ("ninety-nine", 99),
    ("two hundred", 200),
    ("a thousand", 1000),
    ("three million two", 3000002),
]


@pytest.mark.parametrize(("phrase", "value"), SPELLED)
def test_numbers_in_words_have_their_value(phrase, value):
    assert spelled(phrase) == value


def test_folding_ignores_case_and_diacritics():
    assert [fold(word) for word in ("GDAŃSK", "Łukasz", "Ørsted", "straße")] == [
        "gdansk",
        "lukasz",
        "orsted",
        "strasse",
    ]


def test_normalising_keeps_every_offset():
    text = "“5–6” ٣ \u00a0’\ud800🦊"
    assert len(normalise(text)) == len(text)
    assert normalise(text).startswith('"5-6" 3')


def test_words_know_where_a_sentence_opens():
    assert [word.text for word in words("One two. Three (four) five\nsix") if word.opens] == [
        "One",
        "Three",
        "four",
        "six",
    ]


def test_a_page_gives_each_span_once():
    page = Page("v1 or v2")
    assert len(versions(page)) == 2
    assert versions(page) == ()
    assert page.marks == [(0, 2), (6, 8)]


def test_a_text_is_read_once():
    assert extract("Takes 20 mg") is extract("Takes 20 mg")


@pytest.mark.parametrize("module", [each.name for each in pkgutil.iter_modules(facts.__path__)])
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(importlib.import_module(f"{facts.__name__}.{module}")).failed == 0


_ROOTS = st.sampled_from(
    [
        "postgres",
        "rust",
        "api",
        "elizabeth",
        "liz",
        "kubernetes",
        "k8s",
        "listen",
        "article",
        "recital",
        "ca",
        "mongo",
    ]
)
_FOLDED = st.builds(
    lambda root, ending: root + ending, _ROOTS, st.sampled_from(["", "s", "sql", "db", "er", "ers", "ic"])
)


@given(word=_FOLDED, words=st.frozensets(_FOLDED, max_size=6))
def test_a_word_is_looked_up_among_many_as_it_is_compared_with_each(word: str, words: frozenset[str]) -> None:
    assert named_among(word, words) is any(same_name(word, other) for other in words)
