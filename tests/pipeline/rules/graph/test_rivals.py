"""Which names may be one, and what follows for their entities."""

from __future__ import annotations

import pytest
from builders import skipped
from graph_world import NOW, entity, relation, session, write
from mem0_dream.pipeline.rules.graph.names import same_names, siblings
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.entities import Node, parts_of
from mem0_dream.records import Label, Memory, Scope


def node(name, *observations, kind="Service"):
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
        ("Header", "HeaderComponent"),
        ("Login Form", "Login Form (React)"),
        ("Data Model Update", "Data Model"),
        ("install_tools", "install_tools.sh"),
        ("User Profile", "User Profiles"),
    ],
)
@pytest.mark.parametrize("kind", ["Service", "Component"])
def test_one_name_in_two_forms(a, b, kind):
    others = [node(f"Derkino {word}") for word in ("Web", "Trend Service", "Auth Service")]
    assert list(same_names([node(a), node(b, kind=kind), *others])) == [(min(a, b), max(a, b))]


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
        ("Login Form (React)", "Login Form (Vue)"),
        ("Phase", "Phase (2)"),
        ("tools.sh", "tools.py"),
        ("API Overview", "API Update"),
    ],
)
def test_names_of_two_things_are_two(a, b):
    assert same_names([node(a), node(b)]) == {}


def test_a_folder_is_not_what_it_is_of():
    assert same_names([node("Vercel"), node(".vercel", kind="Directory")]) == {}
    assert same_names([node("docs", kind="Folder"), node("Docs", kind="Directory")])


def test_a_name_is_taken_apart():
    assert parts_of("SSOProviderV2_test-run") == ("sso", "provider", "v", "2", "test", "run")


def test_siblings_are_told_by_names_or_by_their_template():
    said = "Rotate the keys of the {} gateway on the first Monday of the month"
    keys = [node(f"{word}-keys", said.format(word), kind="pattern") for word in ("amber", "basil")]
    assert siblings(*keys)
    assert siblings(node("tool open page", "Opens"), node("tool close page", "Closes a page"))
    assert not siblings(
        node("strict", said.format("x"), kind="pattern"), node("strict mode", said, kind="pattern")
    )


def test_a_name_in_two_spellings_is_asked_about_and_never_merged_unasked(tmp_path, own_state):
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
    skipped(opened, [doubt])
    assert opened.propose(ScopeFilter(), now=NOW).unsure == ()


def test_one_name_with_rival_values_is_a_conflict_and_no_merge(tmp_path, own_state):
    lines = [
        entity("Data Service", "Use make for builds", kind="Service"),
        entity("DataService", "Never use make for builds", kind="Service"),
    ]
    write(tmp_path / "g.jsonl", lines)
    plan = session(tmp_path / "g.jsonl", own_state).propose(ScopeFilter(), now=NOW)
    assert (len(plan.conflicts), plan.merges, plan.unsure) == (1, (), ())


def test_two_people_are_not_compared(tmp_path, own_state):
    lines = [
        entity("Ana Nowak", "Lives in Oslo", "Works at Acme", kind="person"),
        entity("Ben Nowak", "Lives in Bergen", "Works at Acme", kind="person"),
    ]
    write(tmp_path / "g.jsonl", lines)
    assert session(tmp_path / "g.jsonl", own_state).propose(ScopeFilter(), now=NOW).conflicts == ()


def test_near_equal_observations_are_folded(tmp_path, own_state):
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
