"""Which statements are asked about, wherever they stand; judged by the shipped models."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.models.keywords import KeywordScorer
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.pipeline.judging.screens import comparable
from mem0_dream.pipeline.judging.statements import Reader, Statement, about_one, findings, repeating
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder

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


@pytest.mark.parametrize(
    ("a", "b", "may"),
    [
        ("Step 1: ann moves (cell=1) to cell=2", "Step 2: ann moves (cell=2) to cell=3", False),
        ("Step 3: ann moves (cell=1) to cell=2", "Step 1: ann moves (cell=1) to cell=2", False),
        ("Ten to 20x cheaper", "Ten to 20x cheaper and 3x smaller", True),
        (
            "Replaced user.door_lock with user.door_lock.get()",
            "Replaced usr.door_lock with usr.door_lock.get()",
            False,
        ),
        ("Send the image: 'box send x.io/img'", "Name the image: 'box name img x.io/img'", False),
        (
            "Need to add the watering rota and the tool list",
            "Added the watering rota and the tool list",
            False,
        ),
        ("Likes tea. Ask Ines before the order.", "Likes hats. Ask Ines before the order.", False),
        ("Likes tea. Ask Ines before the order.", "Rides on Mondays. Ask Ines before the tea order.", False),
        ("Likes tea. Ask Ines first.", "Likes green tea. Ask Ines first.", True),
        ("Check the pump and the hose", "✅ pump and hose checked", False),
        ("✅ COMPLETED - pump checked", "Completed: pump is checked", True),
        ("Code: anna/garden", "Code: github.com/anna/garden", True),
        ("Reads config/tools.yml at start", "At start config/tools.yml is read", True),
        ("\u652f\u63f4 Door", "\u652f\u63f4 Door Lock", False),
        ("Adds caching \u8a08\u753b", "Adds caching \u5b8c\u4e86", False),
        ("L\u00e4uft auf Port 80", "L\u00e4uft \u00f6ffentlich auf Port 80", True),
    ],
)
def test_rows_of_a_list_are_never_the_same(a, b, may):
    assert (comparable(a, b), comparable(b, a)) == (may, may)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Python version: 3.9", "Python version: 3.12"),
        ("Uses Python 3.9", "Uses Python 3.12"),
        ("Is married", "Is divorced"),
        ("Uses tabs for Go code", "Uses spaces for Go code"),
        ("Deploys are manual", "Deploys are automatic"),
        ("Lives in Oslo", "Lives in Bergen"),
        ("CI was moved from Jenkins to GitHub Actions", "CI runs on Jenkins"),
        ("Use tabs for Go code", "Do not use tabs for Go code"),
        ("Status: in progress", "Status: completed - all tests pass"),
        ("The API listens on port 3000", "The API listens on port 8080"),
        ("Default branch is main", "Default branch is develop"),
        ("Always squash before merging", "Never squash before merging"),
        ("Dark mode is enabled", "Dark mode is disabled"),
        ("Uses Jest for testing", "Migrated from Jest to Vitest"),
        ("Uses Redis for caching", "No longer uses Redis"),
        ("Session timeout: 30s", "Session timeout: 60s"),
        ("Use jQuery in new pages", "Stop using jQuery in new pages"),
        ("Types should move to pkg/metrics/types/", "Moved types to pkg/metrics/types"),
        ("Need to add tests for the login", "Added tests for the login"),
        ("Package manager is npm", "Package manager is pnpm"),
        ("Uses npm as package manager", "Package manager: pnpm"),
        ("No separate database required", "A separate database is required"),
        ("Has 6 components", "Has 7 components"),
        ("Components: 6", "Components: 7"),
        ("Login page is planned", "Login page is done"),
        ("Login bug in progress", "Login bug is fixed"),
        ("Login tests: 4/6", "Login tests: 6/6"),
        ("API port: 3000", "CORRECTED: API port: 8080"),
    ],
)
def test_what_cannot_both_hold_is_found(shipped, a, b):
    assert verdict(shipped, ("web", a), ("web", b)) == AGAINST
    assert verdict(shipped, ("web", b), ("web", "Something else"), ("web", a)) == AGAINST


@pytest.mark.parametrize(
    "texts",
    [
        ["Supports public spaces", "Supports private spaces"],
        ["Port 3001", "Port 3002", "Port 3003"],
        ["Development: API port 3000, web port 80", "Test: API port 3001, web port 81"],
        ["Data service API at /api/v1/data", "Auth service API at /api/v1/auth"],
        ["Phase 4 is complete", "Phase 5 is complete"],
        ["Implements issue 883", "Implements issue 885"],
        ["2025-07-01: version is 1.0", "2026-02-01: version is 1.1"],
        ["Kafka is configured with KAFKA_*", "RabbitMQ is configured with RABBITMQ_*"],
        ["The 'install' command does not accept --yes", "The 'add' command does not accept --yes"],
        ["Do not change any files without permission", "Do not delete files without permission"],
        ["Email: the address of the account", "Email: the address of the account, checked"],
        ["Owner: Ana", "Reviewer: Ben"],
        ["Plans to migrate from Jest to Vitest", "Uses Jest for testing"],
        ["Uses Redis for caching", "Does not use Redis for the sessions of guests"],
        ["Styles are in Sass (recently migrated from Less)", "Modern pages have their styles in Sass"],
        ["Unit tests are run with Jest", "E2E tests are run with Playwright"],
        ["If the token expires, the user is not logged in", "The user is logged in"],
        ["Framework: React", "Framework: React 18"],
        ["Need to add tests for the login", "Added a button to the start page"],
        ["Functions: load, save", "Exports: save, load"],
        ["Started the shop", "Finished the shop"],
        ["Step: 1", "Step: 2"],
        ["Login page is planned", "Start page is done"],
    ],
)
def test_facts_side_by_side_are_no_rivals(shipped, texts):
    assert verdict(shipped, *(("web", text) for text in texts)) in (NOTHING, SAME)


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (("Agreements", "Invoices are sent on Mondays"), ("Billing", "On Mondays the invoices are sent"), SAME),
        (("Cookies", "The session cookie expires after 45 minutes"),
         ("Login", "The session cookie expires after 15 minutes"), AGAINST),
        (("shop", "Package manager is npm"), ("Build setup", "The shop uses pnpm as package manager"), AGAINST),
        (("shop", "Uses npm as package manager"), ("blog", "Uses pnpm as package manager"), NOTHING),
        (("shop", "Uses Tailwind for all styles"), ("blog", "All styles use Tailwind"), NOTHING),
        (("Import", "Knowledge captured: 2025-07-25T20:41:58"), ("Export", "Knowledge captured: 2025-07-25T20:37:52"),
         NOTHING),
        (("rpc_get_volume", "RPC for fetching the volume of all exercises"),
         ("rpc_get_weight", "RPC for fetching the weight of all exercises"), NOTHING),
        (("Shop API", "Defined in api/shop/prices.go"), ("Shop", "Prices should be in api/shop/prices.go"), NOTHING),
        (("Import", "Step 2: add the token to the vault"), ("Import", "The token is added to the vault"), NOTHING),
    ],
)  # fmt: skip
def test_a_place_completes_what_has_no_subject_of_its_own(shipped, a, b, found):
    assert verdict(shipped, a, b) == found


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


def test_a_field_that_many_entities_have_is_about_its_entity(shipped):
    path = "Path: core/instruments/camera.py"
    rows = [("Camera", path), ("CameraConfig", path), ("Lens", "Path: core/lens.py")]
    assert (verdict(shipped, *rows[:2]), verdict(shipped, *rows)) == (SAME, NOTHING)


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


def test_a_name_may_be_written_in_one_word():
    a, b = said(("TradeList", "Manages routes"), ("System", "Each factory has a TradeList with routes"))
    assert about_one(a, b)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(1, 3))
def test_whatever_stands_there_each_pair_is_told_once(texts, places):
    rows = [(f"place {at % places}", text) for at, text in enumerate(texts)]
    found = findings(said(*rows), Reader(FakeEncoder(), KeywordScorer()))
    assert len({frozenset((each.a.key, each.b.key)) for each in found}) == len(found)
