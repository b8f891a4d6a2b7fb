"""What is read out of one text: every kind of detail with its value."""

import doctest
import importlib
import pkgutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from mem0_dream import models
from mem0_dream.models import facts, text
from mem0_dream.models.facts import Day, Identifier, Relative, Version, Weekday, extract
from mem0_dream.models.facts.details import Page
from mem0_dream.models.facts.literals import versions
from mem0_dream.models.facts.names import named_among, same_name
from mem0_dream.models.facts.numbers import spelled
from mem0_dream.models.text.words import fold, normalise, words

TABLE = Path(__file__).with_name("read.tsv")
ROWS = [[*line.split("\t"), ""][:3] for line in TABLE.read_text("utf-8").splitlines()]
"""What is read: the kind, the text, and what is found in it."""

NEW_YEAR = datetime(2025, 1, 1)  # noqa: DTZ001


def shown_day(day: Day) -> str:
    return " ".join("-" if part is None else str(part) for part in day.parts[:3])


SHOWN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "numbers": ("numbers", lambda each: f"{each.value:g} {each.dimension}".strip()),
    "forms": ("numbers", lambda each: each.form),
    "days": ("days", shown_day),
    "resolved": ("relatives", lambda each: shown_day(each.on(NEW_YEAR))),
    "parts": ("days", lambda each: each.part),
    "weekdays": ("weekdays", lambda each: str(each.number)),
    "clocks": ("clocks", lambda each: str(each.minute)),
    "periods": ("numbers", lambda each: f"{each.period / 86400:g}"),
    "values": ("values", lambda each: f"{each.attribute} {each.key}"),
    "negations": ("negations", lambda each: " ".join(("hard" if each.hard else "soft", *each.reach))),
    "frequencies": ("frequencies", lambda each: f"{each.seconds[0] / 86400:g}"),
}


@pytest.mark.parametrize(("kind", "text", "found"), ROWS)
def test_each_kind_of_detail_is_read_with_its_value(kind, text, found):
    if kind == "numbers_in_words":
        assert f"{spelled(text):.0f}" == found
    elif kind == "names":
        assert {each.folded for each in extract(text).names} == set(filter(None, found.split("; ")))
    else:
        field, shown = SHOWN.get(kind, (kind, lambda each: each.key))
        assert "; ".join(map(shown, getattr(extract(text), field))) == found


def test_relative_days_end_with_the_calendar():
    assert Relative("", "day", 10**9).on(NEW_YEAR).year == 9999


@pytest.mark.parametrize(
    ("same", "pairs"),
    [
        (True, "postgres=postgresql k8s=kubernetes bob=robert heidelberg=heidleberg german=germany"),
        (False, "java=javascript robert=roberto bob=bill mirka=minka anna=hanna"),
    ],
)
def test_spellings_of_one_name(same, pairs):
    for left, right in (pair.split("=") for pair in pairs.split()):
        assert same_name(left, right) is same_name(right, left) is same, left


STAGING, PROD, PRODUCTION = (extract(text).traits[0] for text in ("staging", "prod", "production"))
(EITHER_DAY,) = extract("3/4/2025").days


@pytest.mark.parametrize(
    ("mine", "theirs", "holds"),
    [
        (Day("August", None, 8), Day("2015", 2015), ""),
        (EITHER_DAY, Day("", 2025, 4, 3), "agrees covers"),
        (EITHER_DAY, Day("", 2025, 3, 4), "agrees covers"),
        (EITHER_DAY, Day("", 2025, 5, 4), "rivals"),
        (Day("", 2025, 3, 12), Day("", None, 3), "agrees covers"),
        (Day("", None, 3), Day("", 2025, 3, 12), "agrees"),
        (Version("", "18"), Version("", "18.17"), "agrees"),
        (Version("", "3.1"), Version("", "3.10"), "rivals"),
        (Version("v1.2", "1.2"), Version("1.2.0", "1.2.0"), "agrees"),
        (Identifier("SHA-256", "sha-256"), Identifier("HMAC-SHA256", "hmac-sha256"), "agrees"),
        (Version("", "18.17"), Version("", "18"), "agrees covers"),
        (STAGING, PROD, "rivals"),
        (PROD, PRODUCTION, "agrees covers"),
        (Weekday("Mon", 0), Weekday("Mondays", 0), "agrees covers"),
        (Weekday("Mon", 0), Weekday("Tue", 1), "rivals"),
    ],
)
def test_details_of_one_kind_know_how_they_stand_to_each_other(mine, theirs, holds):
    agrees, covers = mine.agrees(theirs), mine.covers(theirs)
    rivals = mine.rivals(theirs) and not agrees
    assert [agrees, covers, rivals] == [word in holds for word in ("agrees", "covers", "rivals")]


def test_folding_ignores_case_and_diacritics_and_normalising_keeps_every_offset():
    told = [fold(word) for word in ("GDAŃSK", "Łukasz", "Ørsted", "straße")]
    assert told == ["gdansk", "lukasz", "orsted", "strasse"]
    text = "“5–6” ٣ \u00a0’\ud800🦊"
    assert len(normalise(text)) == len(text)
    assert normalise(text).startswith('"5-6" 3')


def test_words_know_where_a_sentence_opens():
    opening = [word.text for word in words("One two. Three (four) five\nsix") if word.opens]
    assert opening == ["One", "Three", "four", "six"]


def test_a_page_gives_each_span_once_and_a_text_is_read_once():
    page = Page("v1 or v2")
    assert len(versions(page)) == 2
    assert versions(page) == ()
    assert page.marks == [(0, 2), (6, 8)]
    assert extract("Takes 20 mg") is extract("Takes 20 mg")


MODULES = [
    f"{package.__name__}.{each.name}"
    for package in (models, text, facts)
    for each in pkgutil.iter_modules(package.__path__)
    if "bert" not in each.name  # which need torch
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(importlib.import_module(module), extraglobs={"extract": extract}).failed == 0


_ROOTS = "postgres rust api elizabeth liz kubernetes k8s listen article recital ca mongo".split()  # noqa: SIM905
_ENDINGS = ["", "s", "sql", "db", "er", "ers", "ic"]
_FOLDED = st.builds(lambda root, ending: root + ending, st.sampled_from(_ROOTS), st.sampled_from(_ENDINGS))


@given(word=_FOLDED, words=st.frozensets(_FOLDED, max_size=6))
def test_a_word_is_looked_up_among_many_as_it_is_compared_with_each(word: str, words: frozenset[str]) -> None:
    assert named_among(word, words) is any(same_name(word, other) for other in words)
