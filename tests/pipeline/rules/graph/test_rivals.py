"""What observations of one subject are against each other, and which names may be one."""

from __future__ import annotations

import pytest
from graph_world import NOW, entity, relation, session, write
from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.rules.graph.names import same_names, siblings
from mem0_dream.pipeline.rules.graph.nodes import Node
from mem0_dream.pipeline.rules.graph.rivals import rivals
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.text import parts_of
from mem0_dream.records import Label, Memory, Scope


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
        ("Command syntax: tool update self-test", "Moved from 'tool update self-test' to 'tool self-test'"),
        ("Session timeout: 30s", "Session timeout: 60s"),
        ("Use jQuery in new pages", "Stop using jQuery in new pages"),
        ("Types should move to pkg/metrics/types/", "Moved types to pkg/metrics/types"),
        ("Need to add tests for the login", "Added tests for the login"),
    ],
)
def test_rival_observations_are_found(a, b):
    """In whatever order they stand."""
    assert [(found.older, found.newer) for found in rivals([a, b])] == [(0, 1)]
    assert len(rivals([b, "Something else", a])) == 1


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
        ["Unit tests are run with Jest", "E2E tests are run with Playwright"],
        ["If the token expires, the user is not logged in", "The user is logged in"],
        ["Framework: React", "Framework: React 18"],
        ["Test coverage was 40 percent", "Test coverage is 80 percent"],
        ["Need to add tests for the login", "Added a button to the start page"],
    ],
)
def test_facts_side_by_side_are_no_rivals(texts):
    """Lists, logs, tasks, additions, different things, refinements."""
    assert rivals(texts) == ()


def test_of_two_subjects_only_whole_sentences_are_compared():
    """What two people are called, or where they live, is no contradiction."""
    assert rivals(["Lives in Oslo", "Lives in Bergen"], attributes=False) == ()
    assert len(rivals(["Use tabs in Go", "Do not use tabs in Go"], attributes=False)) == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6))
def test_whatever_stands_there_each_pair_is_told_once(texts):
    """In the order of the list, never a text with itself or with an equal one."""
    found = rivals(texts)
    pairs = [(each.older, each.newer) for each in found]
    assert len(set(pairs)) == len(pairs)
    assert all(a < b and texts[a] != texts[b] for a, b in pairs)


def node(name, *observations, kind="Service"):
    """An entity outside of any file."""
    return Node.of(
        Memory(name, name, Scope(()), category=kind, metadata={"observations": list(observations)})
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("DataService", "Data Service"),
        ("data_service", "DataService"),
        ("MQTT Configuration Panel", "MqttConfigurationPanel"),
        ("Postgres", "PostgreSQL"),
        ("k8s cluster", "Kubernetes cluster"),
        ("Derkino Data Service", "Data Service"),
        ("Door Lock Service", "DoorLockServiceImplementation"),
        ("Garden Shop", "Garden Shop Project"),
    ],
)
def test_one_name_in_two_forms(a, b):
    """Of the same type; the last one because other names begin with that word, too."""
    others = [node(f"Derkino {word}") for word in ("Web", "Trend Service", "Auth Service")]
    assert list(same_names([node(a), node(b), *others])) == [(min(a, b), max(a, b))]
    assert same_names([node(a), node(b, kind="person"), *others]) == {}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Phase 1", "Phase 2"),
        ("Java", "JavaScript"),
        ("Auth Service", "Data Service"),
        ("Apple", "Apple Pie"),
        ("API Test", "API Tester"),
        ("Team Page", "Team Page Images"),
        ("Shop", "Shop System"),
        ("v1", "v1s"),
    ],
)
def test_names_of_two_things_are_two(a, b):
    """A number, another word, a part of it."""
    assert same_names([node(a), node(b)]) == {}


def test_a_name_is_taken_apart():
    """At separators, capitals and digits."""
    assert parts_of("SSOProviderV2_test-run") == ("sso", "provider", "v", "2", "test", "run")


def test_siblings_are_told_by_names_or_by_their_template():
    """Tools of one set are not asked about, and neither are rules that differ in what they are about."""
    said = "Rotate the keys of the {} gateway on the first Monday of the month"
    keys = [node(f"{word}-keys", said.format(word), kind="pattern") for word in ("amber", "basil")]
    assert siblings(*keys)
    assert siblings(node("tool open page", "Opens"), node("tool close page", "Closes a page"))
    assert not siblings(
        node("strict", said.format("x"), kind="pattern"), node("strict mode", said, kind="pattern")
    )


def test_a_name_in_two_spellings_is_asked_about_and_never_merged_unasked(tmp_path, own_state):
    """However different what the two say; an undone or refused pair is not asked about again."""
    lines = [
        entity("Data Service", "Keeps the titles of all films", kind="Service"),
        entity("DataService", "Listens to Kafka", "Written in Java", kind="Service"),
    ]
    write(tmp_path / "g.jsonl", lines)
    opened = session(tmp_path / "g.jsonl", own_state)
    plan = opened.propose(ScopeFilter(), now=NOW)
    assert plan.actions == ()
    (doubt,) = plan.unsure
    assert (doubt.survivor, doubt.verdicts[0].label) == ("Data Service", Label.UNSURE)
    assert doubt.verdicts[0].evidence[0].detail == "one name in two spellings"
    opened.remember_skips([doubt], now=NOW)
    assert opened.propose(ScopeFilter(), now=NOW).unsure == ()


def test_one_name_with_rival_values_is_a_conflict_and_no_merge(tmp_path, own_state):
    """The person settles the value first."""
    lines = [
        entity("Data Service", "API port: 3000", kind="Service"),
        entity("DataService", "API port: 8080", kind="Service"),
    ]
    write(tmp_path / "g.jsonl", lines)
    plan = session(tmp_path / "g.jsonl", own_state).propose(ScopeFilter(), now=NOW)
    assert (len(plan.conflicts), plan.merges, plan.unsure) == (1, (), ())


def test_two_people_are_not_compared(tmp_path, own_state):
    """They live where they live."""
    lines = [
        entity("Ana Nowak", "Lives in Oslo", "Works at Acme", kind="person"),
        entity("Ben Nowak", "Lives in Bergen", "Works at Acme", kind="person"),
    ]
    write(tmp_path / "g.jsonl", lines)
    assert session(tmp_path / "g.jsonl", own_state).propose(ScopeFilter(), now=NOW).conflicts == ()


def test_near_equal_observations_are_folded(tmp_path, own_state):
    """But for a bullet, an article, case and the final stop; the first one stays, with its place."""
    said = ["Current branch: main", "The tests run at night", "- Current branch: main", "tests run at night."]
    before = write(tmp_path / "g.jsonl", [entity("a", *said, "Offset -5", "Offset 5"), relation("a", "b")])
    opened = session(tmp_path / "g.jsonl", own_state)
    plan = opened.propose(ScopeFilter(), now=NOW)
    assert [item.reason for item in plan.rewrites] == ["2 observations stand twice"]
    shown = opened.reporter(plan).lines()
    assert {"    - - Current branch: main", "    - tests run at night."} <= set(shown)
    opened.apply(plan, now=NOW)
    assert opened.propose(ScopeFilter(), now=NOW).actions == ()
    opened.undo(now=NOW)
    assert (tmp_path / "g.jsonl").read_bytes() == before
