"""Metadata: equal words about two subjects are two facts, and where they come from plays no part."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, memory, plan_of
from hypothesis import given, strategies as st
from markdown_trees import MEMORY, open_store, write_tree
from mem0_dream.models.whose import NOBODY
from mem0_dream.pipeline.judging import subjects
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.judging.subjects import MetadataKeys, apart, judged_text, keys_by_scope
from mem0_dream.pipeline.planning.merges import collapse
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.pipeline.reporting.report import Report
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Candidate, Evidence, Label, Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

PAYS = "Pays 45 days net."
ACCOUNT = frozenset({"account"})


def keys_of(memories: list[Memory], settings: Settings | None = None) -> MetadataKeys:
    return keys_by_scope(memories, settings=settings)[ALICE]


def about(memory_id: str, text: str = PAYS, **metadata: Any) -> Memory:
    return memory(memory_id, text, metadata=metadata)


@pytest.mark.parametrize(
    "key", ["account", "Customer", "projectId", "repo_url", "client name", "env", "target_project", "contact"]
)
def test_a_key_that_names_a_thing_or_person_is_a_subject(key: str) -> None:
    assert keys_of([memory("a", PAYS, metadata={key: "Kestrel"})]).subjects


@pytest.mark.parametrize(
    "key",
    ["source", "session_id", "channel", "createdAt", "message_id", "url", "due_date", "hash", "run", "score"],
)
def test_a_key_that_says_where_a_memory_is_from_is_none(key: str) -> None:
    memories = [memory(name, PAYS, metadata={key: value}) for name, value in (("a", "one"), ("b", "two"))]
    assert replace(keys_of(memories), names=NOBODY) == subjects.NO_KEYS


def test_settings_come_before_the_built_in_lists() -> None:
    """Who uses `session` for a course and `account` for a log-in can say so."""
    memories = [memory("a", PAYS, metadata={"session": "Autumn", "account": "bot", "lane": "north"})]
    limits = Settings(subject_keys=("session",), provenance_keys=("Account",))
    assert keys_of(memories, limits).subjects == {"session"}
    assert keys_of(memories).subjects == ACCOUNT


REMARKS = "seen on the way to the station by chance", "told by a friend of hers on Monday"


@pytest.mark.parametrize("values", [("north", "south", "north", "south", "south"), ("north", "south")])
def test_an_unknown_key_is_unclear_while_its_values_group(values: tuple[str, ...]) -> None:
    others = (
        ("north", "north"),
        ("2026-01-04", "2026-01-05"),
        ("one", "two", "three", "four", "five"),
        ("7", 8, 2.5, True),
    )
    for given_values in (values, *others, REMARKS):
        memories = [about(str(i), lane=value) for i, value in enumerate(given_values)]
        assert keys_of(memories).unclear == ({"lane"} if given_values == values else frozenset())


@pytest.mark.parametrize(
    ("a", "b", "unclear", "told"),
    [
        ({"account": "Kestrel"}, {"account": "Vellum"}, "", Evidence("subject", "account: Kestrel / Vellum", veto=True)),
        ({"account": "Kestrel"}, {"account": "kestrel."}, "", None),
        ({"account": "Kestrel"}, {"project": "x"}, "", None),
        ({"account": "Kestrel"}, {}, "", None),
        ({"project": ["x", "y"]}, {"project": ["y", "x"]}, "", None),  # lists are compared as a whole
        ({"account": "Kestrel"}, {"account": "Kestrel Optics"}, "", Evidence("metadata", "account: Kestrel / Kestrel Optics")),
        ({"lane": "north"}, {"lane": "south"}, "", None),
        ({"lane": "north"}, {"lane": "south"}, "lane", Evidence("metadata", "lane: north / south")),
    ],
)  # fmt: skip
def test_a_key_that_both_have_tells_them_apart_or_leaves_it_to_a_person(a, b, unclear, told) -> None:
    keys = MetadataKeys(ACCOUNT | {"project"}, frozenset(filter(None, [unclear])))
    assert apart(about("a", **a), about("b", **b), keys) == told


def test_the_judged_text_names_the_subject_once() -> None:
    optics = about("a", account="Kestrel Optics", source="mail")
    assert judged_text(optics, MetadataKeys(ACCOUNT)) == f"Kestrel Optics: {PAYS}"
    named = about("a", "Kestrel Optics pays 45 days net.", account="Kestrel Optics")
    assert judged_text(named, MetadataKeys(ACCOUNT)) == named.text
    both = about("a", account="Kestrel", env="prod")
    assert judged_text(both, MetadataKeys(ACCOUNT | {"env"})) == f"Kestrel, prod: {PAYS}"


VALUES = st.sampled_from(["Kestrel", "kestrel", "Kestrel Optics", "Vellum", "", "2026-01-04"])
METADATA = st.dictionaries(st.sampled_from(["account", "lane", "source", "projectId"]), VALUES, max_size=4)


@given(METADATA, METADATA)
def test_being_apart_is_symmetric_and_fits_the_grouping(mine: dict[str, str], theirs: dict[str, str]) -> None:
    a, b = memory("a", PAYS, metadata=mine), memory("b", PAYS, metadata=theirs)
    keys = keys_by_scope([a, b])
    meaning = keys.get(ALICE)
    if meaning is None:
        return
    there, back = apart(a, b, meaning), apart(b, a, meaning)
    assert (there and (there.kind, there.veto)) == (back and (back.kind, back.veto))
    if subjects.signature(a, meaning) == subjects.signature(b, meaning):
        assert there is None


class TestCopies:
    def test_words_without_a_subject_belong_to_the_only_one_there_is(self) -> None:
        alone = [about("a", account="Kestrel"), about("b")]
        for memories, standing in ((alone, 1), ([*alone, about("c", account="Vellum")], 3)):
            assert len(collapse(memories, keys=keys_by_scope(memories))[0]) == standing

    def test_copies_about_other_subjects_look_for_neighbours_of_their_own(self) -> None:
        memories = [about("a", account="Kestrel"), about("b", account="Vellum"), about("c", "Pays late.")]
        vectors = FakeEncoder().encode([item.text for item in memories])
        found = find_candidates(memories, vectors, floor=-1.0, neighbours=5)
        assert {(pair.a, pair.b, pair.exact) for pair in found} == {
            ("a", "b", False), ("a", "c", False), ("b", "c", False),
        }  # fmt: skip


class TestJudge:
    def judged(self, a: Memory, b: Memory, scores: tuple[float, float, float]) -> tuple[Any, FakeScorer]:
        scorer = FakeScorer(default=lambda _a, _b: scores)
        (found,) = judge([Candidate("a", "b", 0.9)], {"a": a, "b": b}, scorer)
        return found, scorer

    @pytest.mark.parametrize("scores", [DUPLICATE, CONTRADICTION])
    def test_other_subjects_are_distinct_and_not_even_scored(self, scores):
        other = about("b", "Net 45.", account="Vellum")
        found, scorer = self.judged(about("a", account="Kestrel"), other, scores)
        assert found.label is Label.DISTINCT
        assert found.evidence == (Evidence("subject", "account: Kestrel / Vellum", veto=True),)
        assert scorer.asked == []

    def test_the_scorer_and_the_guards_read_whom_a_memory_is_about(self) -> None:
        other = about("b", "Vellum pays 45 days net.")
        found, scorer = self.judged(about("a", account="Kestrel"), other, DUPLICATE)
        assert (scorer.asked[0].a, scorer.asked[0].b) == (f"Kestrel: {PAYS}", other.text)
        assert found.label is Label.UNSURE

    @pytest.mark.parametrize(
        ("a", "b", "told"),
        [
            (about("a", lane="north"), about("b", "Net 45.", lane="south"), "lane: north / south"),
            (about("a", account="Kestrel"), about("b"), "account: Kestrel / -"),
        ],
        ids=["an unclear key", "one names a subject"],
    )
    def test_what_may_be_about_two_is_a_persons_decision(self, a: Memory, b: Memory, told: str) -> None:
        found, _ = self.judged(a, b, DUPLICATE)
        assert (found.label, found.auto) == (Label.DUPLICATE, False)
        assert Evidence("metadata", told) in found.evidence


class TestPlan:
    def test_a_memory_without_subject_does_not_join_two_accounts(self) -> None:
        """A star around it would make one fact of both."""
        a, b = about("a", "Net 45.", account="Kestrel"), about("b", "45 days net.", account="Vellum")
        hub = about("c", "Pays within 45 days net.")
        plan = plan_of(InMemoryStore([a, b, hub]), FakeScorer(default=lambda _a, _b: DUPLICATE))
        merged = [{member.id for member in merge.members} for merge in plan.merges]
        assert merged in ([], [{"a", "c"}], [{"b", "c"}])

    def test_equal_words_that_stay_apart_are_named_on_request(self) -> None:
        memories = [about("a", account="Kestrel"), about("b", account="Vellum")]
        plan = plan_of(InMemoryStore(memories), FakeScorer())
        assert plan.apart == (("a", "b", "account: Kestrel / Vellum"),)
        assert plan.actions == ()
        assert "[memory:a] / [memory:b] — account: Kestrel / Vellum" in Report(plan, explain=True).lines()
        assert "Kestrel" not in "\n".join(Report(plan).lines())
        assert parse_plan(dump_plan(plan)) == plan

    def test_each_scope_has_keys_of_its_own(self) -> None:
        mine = [memory(f"a{i}", PAYS, metadata={"lane": f"l{i % 2}"}) for i in range(4)]
        theirs = [memory(f"b{i}", PAYS, scope=BOB, metadata={"lane": f"l{i}"}) for i in range(4)]
        keys = keys_by_scope([*mine, *theirs])
        assert keys[ALICE].unclear == {"lane"}
        assert keys[BOB].unclear == frozenset()


def test_frontmatter_names_a_subject(tmp_path: Path) -> None:
    body = "---\nproject: {}\n---\nThe release branch is cut on Mondays.\n"
    write_tree(tmp_path, {f"{MEMORY}/a.md": body.format("Kestrel"), f"{MEMORY}/b.md": body.format("Vellum")})
    memories = open_store(tmp_path, tmp_path / "state").read(ScopeFilter()).memories
    named = [item for item in memories if item.metadata.get("project")]
    assert sorted(item.metadata["project"] for item in named) == ["Kestrel", "Vellum"]
    assert len(collapse(named, keys=keys_by_scope(named))[0]) == 2
