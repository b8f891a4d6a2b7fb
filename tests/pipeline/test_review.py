"""The review behind all fronts: what an answer means, how long it holds, what a person's own words lose."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import ALICE, MAYBE, NOW, memory
from mem0_dream.errors import UsageError
from mem0_dream.pipeline.cli.passes import careless, review_of_file
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Member, Merge, Plan, Resolve, Rewrite, ScopeTotal
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.review import Review, lost_by, unattended
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.testing import FakeScorer, InMemoryStore
from reviewing import World, small_world

PAIRS = {name: f"{name}1 {name}2" for name in ("dog", "tabs", "sea")}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return small_world(tmp_path)


@pytest.fixture
def session(world: World) -> Iterator[Session]:
    with world.session() as opened:
        yield opened


def plan_of(session: Session) -> Plan:
    return session.propose(ScopeFilter(), now=NOW)


def named(plan: Plan, ids: str) -> str:
    proposals = (*plan.actions, *plan.unsure)
    return next(a.id for a in proposals if {m.id for m in a.members} == set(ids.split()))


def reviewed(session: Session, **said: str) -> tuple[Plan, Review]:
    plan = plan_of(session)
    review = Review(session, plan)
    for name, answer in said.items():
        review.answer(named(plan, PAIRS.get(name, name)), answer, now=NOW)
    return plan, review


@pytest.mark.parametrize(
    ("text", "details", "words"),
    [
        ("Feeds two cats and walks the indoor dog.", [], []),
        ("Walks the indoor dog.", [("number", "two")], ["Feeds", "cats"]),
        ("Feeds two cats and walks the outdoor dog.", [], ["indoor"]),
        ("Walking the dog indoors, feeding two cats", [], []),
    ],
)
def test_a_text_by_hand_names_the_words_that_it_leaves_out(text, details, words):
    assert lost_by(["Feeds two cats.", "Walks the indoor dog."], text) == (details, words)


def test_an_edited_line_of_a_plan_file_is_told_what_it_leaves_out(session: Session) -> None:
    plan = plan_of(session)
    (merge,) = (merge for merge in plan.merges if merge.id == named(plan, PAIRS["dog"]))
    assert careless(plan) == []
    edited = replace(merge, text="Has a dog.")
    assert careless(replace(plan, actions=(edited,))) == [(merge.id, "Pickle, whippet, named, brindle")]


class TestAnswers:
    def test_they_hold_for_another_plan_and_lapse_with_a_text(self, world: World, session: Session) -> None:
        reviewed(session, tabs="a")
        world.store.rows |= type(world.store)([memory("aa", "Fixed the bug", days=200)]).rows
        _, again = reviewed(session)
        assert [str(given.say) for given in again.answers.values()] == ["a"]
        done = again.planned(session)
        assert {c.choice for c in done.conflicts} == {"a"}
        assert {a.id for a in done.actions} == {a.id for a in again.plan.actions}
        world.store.rows["tabs1"]["text"] = "Uses tabs for indentation in C code."
        assert reviewed(session)[1].answers == {}

    def test_one_answer_drops_no_other_change(self) -> None:
        a, b = Member("a", "Deploys on Fridays. See lib/pay.py."), Member("b", "Never deploys on Fridays.")
        given = {"scope": ALICE, "category": None}
        sides: Any = {"a": ("a",), "b": ("b",), "said": ("Deploys on Fridays.", b.text)}
        conflict = Resolve(id="c1", members=(a, b), topic="", **sides, **given)
        moved = Rewrite(id="w1", members=(a,), text="Deploys on Fridays. See src/pay.py.", reason="", **given)
        plan = Plan("s", "md", NOW, "k", (ScopeTotal(ALICE, 2),), (conflict, moved))
        assert plan.with_choices({"c1": "b"}).actions == (conflict.choose("b"), moved)
        whole = replace(plan, actions=(replace(conflict, said=()), moved))
        assert [action.id for action in whole.with_choices({"c1": "b"}).actions] == ["c1"]

    def test_a_night_leaves_alone_what_a_person_wants_otherwise(self, session: Session) -> None:
        plan, _ = reviewed(session, dog="skip", tap="yes")
        left = {action.id for action in plan.actions} - {named(plan, PAIRS["dog"])}
        assert {action.id for action in unattended(session, plan).actions} == left

    def test_what_a_run_carried_out_is_open_no_more_and_an_undo_takes_it_back(self, session: Session) -> None:
        plan = plan_of(session)
        review = Review(session, plan, opt_in=True)
        review.answer(named(plan, PAIRS["dog"]), "yes", now=NOW)
        review.answer(named(plan, PAIRS["tabs"]), "skip", now=NOW)
        result = review.apply(session, review.planned(session), now=NOW)
        assert review.answers == {}
        told = {str(given.say): given.run for given in session.answered}
        assert told == dict.fromkeys(("yes", "skip"), result.run)
        session.undo(now=NOW)
        assert [str(given.say) for given in session.answered] == ["taken back"]

    def test_effects_name_what_becomes_of_each(self, session: Session) -> None:
        plan, review = reviewed(session, dog="no", tap="skip", tabs="both", sea="yes", bug="yes")
        assert review.effects(review.planned(session)) == {
            named(plan, PAIRS["dog"]): "left out for good",
            named(plan, "tap"): "left out this time",
            named(plan, PAIRS["tabs"]): "both hold, not asked again",
            named(plan, PAIRS["sea"]): "accepted",
            named(plan, "bug"): "accepted",
        }

    def test_two_sides_become_one_memory_in_a_persons_words(self, world: World, session: Session) -> None:
        plan = plan_of(session)
        review = Review(session, plan, opt_in=True)
        mine = "Uses tabs in Go code, but never in Python."
        review.answer(named(plan, PAIRS["tabs"]), "edit", mine, now=NOW)
        done = review.planned(session)
        assert [(type(a), getattr(a, "text", "")) for a in done.actions] == [(Merge, mine)]
        review.apply(session, done, now=NOW)
        texts = [row["text"] for row in world.store.rows.values() if "tabs" in row["text"]]
        assert texts == [mine]

    @pytest.mark.parametrize(
        ("ids", "say", "text", "told"),
        [
            ("dog1 dog2", "a", None, "is answered by yes, no, skip, edit; 'a' is none of these"),
            ("tabs1 tabs2", "no", None, "is answered by a, b, both, same, still, skip, edit"),
            ("tap", "edit", "x", "is answered by yes, no, skip"),
            ("dog1 dog2", "yes", "x", "belongs to the answer edit"),
            ("dog1 dog2", "edit", None, "belongs to the answer edit"),
            ("dog1 dog2", "edit", "A dog.", "would lose"),
        ],
    )
    def test_an_answer_that_does_not_fit_is_refused(self, session, ids, say, text, told):
        plan, review = reviewed(session)
        with pytest.raises(UsageError, match=told):
            review.answer(named(plan, ids), say, text, now=NOW)
        assert review.answers == {}


class TestPlanFile:
    def reviewed(self, session: Session, plan: Plan, **answers: dict[str, Any]) -> Plan:
        lines = [json.loads(line) for line in dump_plan(plan).splitlines()]
        text = "".join(json.dumps(line | answers.get(line.get("id", ""), {})) + "\n" for line in lines)
        return review_of_file(session, text, now=NOW).planned(session)

    def test_a_line_may_hold_an_answer(self, session: Session) -> None:
        plan = plan_of(session)
        dog, conflict, sea = (named(plan, ids) for ids in PAIRS.values())
        given = {dog: {"answer": "No"}, conflict: {"answer": "b"}, sea: {"answer": "yes"}}
        done = {action.id: action for action in self.reviewed(session, plan, **given).actions}
        assert dog not in done
        assert sea in done
        assert getattr(done[conflict], "choice", None) == "b"

    def test_what_was_refused_elsewhere_is_not_done_by_a_file(self, session: Session) -> None:
        plan, _ = reviewed(session, dog="no")
        dog = named(plan, PAIRS["dog"])
        assert dog not in {action.id for action in self.reviewed(session, plan).actions}

    def test_an_answer_to_nothing_is_named(self, session: Session) -> None:
        plan = plan_of(session)
        with pytest.raises(UsageError, match="is none of these"):
            self.reviewed(session, plan, **{plan.actions[0].id: {"answer": "perhaps"}})


def test_one_of_two_that_may_be_one_fact_is_kept_and_an_undo_asks_again(world, session):
    plan, review = reviewed(session)
    name = named(plan, PAIRS["sea"])
    assert {"a", "b"} < set(review.choices(review.find(name)))
    for say, kept_as in (("same", "yes"), ("both", "no"), ("b", "b")):
        assert review.answer(name, say, now=NOW).say == kept_as
    done = review.planned(session)
    (kept,) = (action for action in done.actions if action.id == name)
    assert (kept.survivor, kept.removes) == ("sea2", ("sea1",))
    assert review.effects(done)[name] == "B stays"
    review.apply(session, done, now=NOW)
    assert world.store.rows["sea1"]["expires_on"] is not None
    assert world.store.rows["sea2"]["expires_on"] is None
    session.undo(now=NOW)
    assert named(plan_of(session), PAIRS["sea"])


def test_what_is_gone_from_the_store_is_joined_with_nothing(world: World) -> None:
    """A plan file may be applied late; the second answer waits for the next pass."""
    world.store = InMemoryStore([memory(name, f"Reads {name} novels about the sea.") for name in "abc"])
    texts = {name: row["text"] for name, row in world.store.rows.items()}
    world.scorer = FakeScorer({(texts["a"], texts[other]): MAYBE for other in "bc"})
    with world.session() as session:
        plan, review = reviewed(session)
        for doubt in plan.unsure:
            review.answer(doubt.id, "yes", now=NOW)
        assert [len(action.members) for action in review.planned(session).actions] == [3]
        del world.store.rows["c"]
        assert [len(action.members) for action in review.planned(session).actions] == [2]
