"""Which statements are asked about, wherever they stand; judged by the shipped models."""

from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import given, settings, strategies as st
from mem0_dream.models.keywords import KeywordScorer
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.pipeline.judging.screens import comparable
from mem0_dream.pipeline.judging.statements import Reader, Statement, about_one, findings, repeating
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder

TABLE = Path(__file__).with_name("observations.tsv")
SAME, AGAINST, NOTHING = "same", "against", ""


def said(*rows: tuple[str, str]) -> list[Statement]:
    return [
        Statement(Memory(f"{at:04}", text, Scope(())), text, text, place, named=True)
        for at, (place, text) in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def shipped() -> Reader:
    return Reader(load_encoder(None, scorer="bundled"), load_scorer("bundled"))


def verdict(reader: Reader, *rows: tuple[str, str]) -> str:
    found = findings(said(*rows), reader)
    return SAME if found and found[0].same else AGAINST if found else NOTHING


@pytest.mark.parametrize(("kind", "a", "b"), rows_of(TABLE, "rows of a list", "comparable"))
def test_what_may_be_the_same_is_compared_and_rows_of_a_list_never_are(kind, a, b):
    assert (comparable(a, b), comparable(b, a)) == (kind == "comparable",) * 2


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "against"))
def test_what_cannot_both_hold_is_found(shipped, a, b):
    assert verdict(shipped, ("web", a), ("web", b)) == AGAINST
    assert verdict(shipped, ("web", b), ("web", "Something else"), ("web", a)) == AGAINST


@pytest.mark.parametrize("texts", rows_of(TABLE, "side by side"))
def test_facts_side_by_side_are_no_rivals(shipped, texts):
    assert verdict(shipped, *(("web", text) for text in texts)) in (NOTHING, SAME)


@pytest.mark.parametrize("row", rows_of(TABLE, "places"))
def test_a_place_completes_what_has_no_subject_of_its_own(shipped, row):
    found, at, a, by, b = row
    assert (verdict(shipped, (at, a), (by, b)) or "-") == found


def test_what_stands_in_many_places_is_a_template(shipped):
    text = "The form is validated before it is sent"
    assert verdict(shipped, *((place, text) for place in ("login", "order"))) == SAME
    assert verdict(shipped, *((place, text) for place in ("login", "order", "search"))) == NOTHING


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Thread-safe with mutex protection for readers", False),
        ("Zero is a valid state of the counter", True),
    ],
)
def test_what_two_entities_are_like_is_no_question_by_itself(shipped, text, alone):
    (found,) = findings(said(("cpu", text), ("power", text)), shipped)
    assert found.alone == alone


def test_a_field_that_many_entities_have_is_about_its_entity_as_are_its_own_checks(shipped):
    path = "Path: core/instruments/camera.py"
    rows = [("Camera", path), ("CameraConfig", path), ("Lens", "Path: core/lens.py")]
    assert (verdict(shipped, *rows[:2]), verdict(shipped, *rows)) == (SAME, NOTHING)
    checks = ("Production build passes with strict types", "Strict types, production build clean")
    assert verdict(shipped, *zip(("Invoices", "Orders"), checks, strict=True)) == NOTHING


def test_one_place_that_repeats_most_of_another_is_told(shipped):
    rows = [
        ("Garden shop", "Delivers tools for small gardens by bicycle"),
        ("Garden shop", "Invoices are sent on Mondays"),
        ("Garden shop", "Runs on a server in Oslo"),
        ("The store", "On Mondays the invoices are sent"),
        ("The store", "Tools for small gardens are delivered by bicycle"),
    ]
    told = repeating(findings(said(*rows), shipped), said(*rows))
    assert told == {frozenset(("Garden shop", "The store")): (2, 2)}
    a, b = said(("TradeList", "Manages routes"), ("System", "Each factory has a TradeList with routes"))
    assert about_one(a, b)  # a name may be written in one word


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(1, 3))
def test_whatever_stands_there_each_pair_is_told_once(texts, places):
    rows = [(f"place {at % places}", text) for at, text in enumerate(texts)]
    found = findings(said(*rows), Reader(FakeEncoder(), KeywordScorer()))
    assert len({frozenset((each.a.key, each.b.key)) for each in found}) == len(found)
