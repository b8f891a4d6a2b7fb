"""Which bare fields give one attribute two values, and which are two of several; no model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from mem0_dream.pipeline.judging.bare_fields import bare, rivals, several, two_values
from mem0_dream.pipeline.judging.statements import Reader, findings
from mem0_dream.pipeline.planning.markdown_look import statements_of
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder, FakeScorer
from rows import rows_of

TABLE = Path(__file__).with_name("fields.tsv")


def asked(text: str) -> list[set[str]]:
    said = statements_of([Memory("notes.md", text, Scope(()), metadata={})], {})
    found = findings(said, Reader(FakeEncoder(), FakeScorer(default=lambda _a, _b: (0.0, 0.0, 1.0))))
    return [{each.a.text, each.b.text} for each in found if not each.same]


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "rivals"))
def test_two_values_of_one_attribute_are_rivals(a, b):
    assert two_values(a, b)
    assert two_values(b, a)
    assert not several(a, b)


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "several"))
def test_what_there_may_be_several_of_has_no_rivals(a, b):
    assert not two_values(a, b)
    assert not two_values(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("License: MIT", "Licensed under the MIT License"),
        ("Database: Postgres", "Database is PostgreSQL"),
        ("Status: done", "Status: finished"),
        ("Node 18", "Node 18.2"),
        ("Frontend uses npm", "Backend uses pnpm"),
        ("Server port 4000", "Client port 5000"),
        ("Minimum Node version 16", "Node 20"),
        ("Requires Node 18", "Runs on Node 20"),
        ("Port: 8080 (local)", "Port: 80"),
        ("Uses npm and pnpm", "Uses yarn"),
        ("Default tags: red", "Default tags: blue"),
        ("Room 18", "Room 20"),
    ],
)
def test_one_value_in_two_forms_and_values_of_two_things_are_none(a, b):
    assert not two_values(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [("Components: 6", "Components: 7"), ("Supports 5 users", "Supports 6 users")]
)
def test_a_count_is_no_list(a, b):
    assert not several(a, b)


def test_an_attribute_with_three_values_is_a_list():
    members = [("web", f"Port {port}") for port in (80, 81, 82)]
    assert (list(rivals(members[:2])), list(rivals(members))) == ([(0, 1)], [])
    assert list(rivals([("web", "Port 80"), ("db", "Port 81"), ("", "Port 82"), ("", "Port 83")])) == []


def test_bullets_of_one_list_are_compared():
    assert asked("# Web\n\n## Setup\n\nIn short:\n\n- Port 80\n- Ask Ines.\n- Listens on port 81\n") == [
        {"Port 80", "Listens on port 81"}
    ]


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
    assert bare("Port 80 is closed") is None
    assert bare("Status: done, but for the tests") is None
