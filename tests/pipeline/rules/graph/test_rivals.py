"""Which names may be one, and what follows for their entities."""

from pathlib import Path

import pytest
from builders import rows_of, skipped
from graph_world import apply, entity, propose, relation
from mem0_dream.pipeline.rules.graph_names import same_names, siblings
from mem0_dream.pipeline.stores.graph.entities import Node
from mem0_dream.records import Label, Memory, Scope

TABLE = Path(__file__).with_name("names.tsv")


def node(name, *observations, kind="Service"):
    said = {"observations": list(observations)}
    return Node.of(Memory(name, name, Scope(()), category=kind, metadata=said))


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "one"))
@pytest.mark.parametrize("kind", ["Service", "Component"])
def test_one_name_in_two_forms(a, b, kind):
    others = [node(f"Derkino {word}") for word in ("Web", "Trend Service", "Auth Service")]
    assert list(same_names([node(a), node(b, kind=kind), *others])) == [(min(a, b), max(a, b))]


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "two"))
def test_names_of_two_things_are_two(a, b):
    assert same_names([node(a), node(b)]) == {}


def test_a_word_with_which_few_of_many_names_begin_is_no_project():
    names = ["Seed Order Fix", "OrderFix", "Seed Store", "Seed Web"]
    many = [f"{letter * 4} {letter * 5}" for letter in "abcdefghijklmnopqrstuvwxyzäöüé"]
    assert len(same_names(map(node, names))) == 1
    assert not same_names(map(node, [*names, *many]))
    assert (
        same_names([node("Vercel"), node(".vercel", kind="Directory")]) == {}
    )  # a folder is not what it is of
    assert same_names([node("docs", kind="Folder"), node("Docs", kind="Directory")])


def test_siblings_are_told_by_names_or_by_their_template():
    said = "Rotate the keys of the {} gateway on the first Monday of the month"
    assert siblings(*(node(f"{word}-keys", said.format(word), kind="pattern") for word in ("amber", "basil")))
    assert siblings(node("tool open page", "Opens"), node("tool close page", "Closes a page"))
    strict = node("strict", said.format("x"), kind="pattern")
    assert not siblings(strict, node("strict mode", said, kind="pattern"))


def test_a_name_in_two_spellings_is_asked_about_and_never_merged_unasked(graph):
    opened = graph.open(
        entity("Data Service", "Keeps the titles of all films", kind="Service"),
        entity("DataService", "Listens to Kafka", "Written in Java", kind="Service"),
    )
    plan = propose(opened)
    assert plan.actions == ()
    (doubt,) = plan.unsure
    assert (doubt.survivor, doubt.verdicts[0].label) == ("Data Service", Label.UNSURE)
    assert doubt.verdicts[0].evidence[0].detail == "one name in two spellings"
    skipped(opened, [doubt])
    assert propose(opened).unsure == ()


@pytest.mark.parametrize(
    ("names", "said", "kind", "conflicts"),
    [
        (("Data Service", "DataService"), ("Use make for builds", "Never use make for builds"), "Service", 1),
        (("Ana Nowak", "Ben Nowak"), ("Lives in Oslo", "Lives in Bergen"), "person", 0),
    ],
    ids=["one name with rival values", "two people"],
)
def test_what_excludes_each_other_is_a_conflict_of_one_thing_alone(graph, names, said, kind, conflicts):
    more = () if conflicts else ("Works at Acme",)
    plan = propose(graph.open(*(entity(*each, *more, kind=kind) for each in zip(names, said, strict=True))))
    assert (len(plan.conflicts), plan.merges) == (conflicts, ())
    # whether the two are one is asked beside their conflict
    assert not conflicts or [each.verdicts[0].evidence[0].kind for each in plan.unsure] == ["name"]


def test_near_equal_observations_are_folded(graph):
    said = ["Current branch: main", "The tests run at night", "- Current branch: main", "tests run at night."]
    opened = graph.open(entity("a", *said, "Offset -5", "Offset 5"), relation("a", "b"))
    plan = propose(opened)
    assert [item.reason for item in plan.rewrites] == ["2 observations stand twice"]
    shown = opened.reporter(plan).lines()
    assert {"    - - Current branch: main", "    - tests run at night."} <= set(shown)
    apply(opened, plan)
    assert propose(opened).actions == ()
    assert graph.undone(opened)
