"""Which bare fields give one attribute two values, and which are two of several; no model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import rows_of
from mem0_dream.pipeline.judging.bare_fields import bare, rival_values, rivals, several
from mem0_dream.pipeline.judging.statements import Reader, findings
from mem0_dream.pipeline.planning.markdown_look import statements_of
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder, FakeScorer

TABLE = Path(__file__).with_name("fields.tsv")


def asked(text: str) -> list[set[str]]:
    said = statements_of([Memory("notes.md", text, Scope(()), metadata={})], {})
    found = findings(said, Reader(FakeEncoder(), FakeScorer(default=lambda _a, _b: (0.0, 0.0, 1.0))))
    return [{each.a.text, each.b.text} for each in found if not each.same]


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "rivals"))
def test_rival_values_of_one_attribute_are_rivals(a, b):
    assert rival_values(a, b)
    assert rival_values(b, a)
    assert not several(a, b)


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "several"))
def test_what_there_may_be_several_of_has_no_rivals(a, b):
    assert not rival_values(a, b)
    assert not rival_values(b, a)


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "one value"))
def test_one_value_in_two_forms_and_values_of_two_things_are_none(a, b):
    assert not rival_values(a, b)


def test_a_count_is_no_list_and_an_attribute_with_three_values_is_one():
    assert not several("Components: 6", "Components: 7")
    assert not several("Supports 5 users", "Supports 6 users")
    members = [("web", f"Port {port}") for port in (80, 81, 82)]
    assert (list(rivals(members[:2])), list(rivals(members))) == ([(0, 1)], [])
    assert list(rivals([("web", "Port 80"), ("db", "Port 81"), ("", "Port 82"), ("", "Port 83")])) == []


@pytest.mark.parametrize("before", ["In short:", "In\u2028short:"])
def test_bullets_of_one_list_are_compared(before):
    text = f"# Web\n\n## Setup\n\n{before}\n\n- Port 80\n- Ask Ines.\n- Listens on port 81\n"
    assert asked(text) == [{"Port 80", "Listens on port 81"}]


@pytest.mark.parametrize(
    "text",
    [
        "- shop\n  - Port 80\n- office\n  - Port 81\n",
        "Shop:\n- Port 80\n\nOffice:\n- Port 81\n",
        "## Shop\n\n- Port 80\n\n## Office\n\n- Port 81\n",
        "Port 80\n\nPort 81\n",
    ],
)
def test_those_of_two_lists_are_not(text):
    assert asked(f"# Web\n\n## Setup\n\nIn short, this is how it runs.\n\n{text}") == []


def test_what_says_more_than_a_field_is_none():
    assert bare("Listens on port 9090") == ("port", frozenset(), "9090")
    assert bare("Port 80 is closed") is None
    assert bare("Status: done, but for the tests") is None
