"""Forgetting: what a request finds and exactly what goes; and questions about what may have become untrue."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from builders import ALICE, BOB, CONTRADICTION, NOW, memory, session_on
from mem0_dream.pipeline.answers import Say
from mem0_dream.pipeline.cli.passes import review_of_file
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.forgetting import NEAREST, Settled, forget_plan, outdated, rank
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Inventory
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

PHONE, OLD_PHONE, DOG = "Phone number is 0161 496 0000.", "Old phone number was 0161 496 0999.", "Has a dog."
CLOSE = FakeEncoder({"telephone": [1.0, 0.0], PHONE: [0.8, 0.6], OLD_PHONE: [0.3, 0.95], DOG: [0.0, 1.0]})


ABC = (memory("a", PHONE), memory("b", OLD_PHONE), memory("c", DOG))


@pytest.mark.parametrize(
    ("query", "memories", "encoder", "expected"),
    [
        ("old phone", ABC, FakeEncoder(), ["b", "a"]),  # more shared words first, then the closer vector
        ("telephone", ABC, CLOSE, ["a"]),  # similarity alone is enough when it is close
        ("  ", ABC[:1], CLOSE, []),
        ("phone", (), CLOSE, []),
        ("phone", (memory("a", PHONE, expires_on=date(2020, 1, 1)),), FakeEncoder(), []),
    ],
    ids=["shared words", "similarity", "no query", "no memory", "retired"],
)
def test_what_a_request_finds(query, memories, encoder, expected) -> None:
    found = rank(query, Inventory("s", memories), encoder=encoder, now=NOW)
    assert [item.id for item in found] == expected


def test_the_plan_removes_exactly_what_was_chosen(own_state: Path) -> None:
    bobs = memory("b", OLD_PHONE, days=None, scope=BOB)
    store = InMemoryStore([memory("a", PHONE), bobs, memory("c", DOG)])
    before = store.fetch(["a", "b", "c"])
    with Session(store) as session:
        inventory = replace(session.read(ScopeFilter()), gaps=("20 of 45",))
        chosen = [item for item in inventory.memories if item.id != "c"]
        plan = forget_plan(chosen, inventory, kind=session.store.kind, now=NOW, settings=session.settings)
        assert plan.gaps == ("20 of 45",)  # an incomplete listing stays read-only
        plan = replace(plan, gaps=())
        gone = [(prune.removes, prune.reason, prune.age_days) for prune in plan.prunes]
        assert gone == [(("a",), "forgotten", 10), (("b",), "forgotten", None)]
        assert [(total.scope, total.memories) for total in plan.totals] == [(ALICE, 2), (BOB, 1)]
        result = session.apply(plan, now=NOW, within_budget=False)
        assert (result.pruned, set(store.rows)) == (2, {"c"})
        session.undo(now=NOW)
        assert store.fetch(["a", "b", "c"]) == before


# --- what a settled conflict may have made untrue ---

PORTO, FARO = "Lives in Porto near the river.", "Lives in Faro near the river."
TRAM = "Takes the tram to the office in Porto."
EVERY = ScopeFilter()


@pytest.fixture
def session(tmp_path) -> Iterator[Session]:
    """A store of two that contradict, and what names the value that is about to lose."""
    far: dict[str, list[float]] = {PORTO: [1, 0], FARO: [0.6, 0.8], TRAM: [0, 1]}
    rows = (("a", PORTO, 100), ("b", FARO, 3), ("other", TRAM, 50))
    store = InMemoryStore([memory(name, text, days=days) for name, text, days in rows])
    scorer = FakeScorer({(FARO, PORTO): CONTRADICTION}, default=lambda _a, _b: (0.0, 0.0, 1.0))
    with session_on(store, scorer, tmp_path, encoder=FakeEncoder(far), max_delete=1.0) as opened:
        yield opened


def settle(session: Session, side: str = "b") -> None:
    plan = session.propose(EVERY, now=NOW)
    review = Review(session, plan)
    review.answer("c1", side, now=NOW)
    review.apply(session, review.planned(session), now=NOW)


@pytest.mark.parametrize(
    ("say", "retired"), [("yes", True), ("still", False), ("no", False), ("skip", False)]
)
def test_a_settled_conflict_leads_to_a_question(session, say, retired) -> None:
    assert session.propose(EVERY, now=NOW).unsure == ()
    settle(session)
    assert session.propose(EVERY, now=NOW, unattended=True).unsure == ()
    plan = session.propose(EVERY, now=NOW)
    assert [(each.reason, each.members[0].id) for each in plan.unsure] == [("outdated", "other")]
    before = session.store.rows["other"].copy()
    review = Review(session, plan)
    given = review.answer("o1", say, now=NOW)
    assert given.say is (Say.STILL if say == "no" else Say(say))
    result = review.apply(session, review.planned(session), now=NOW)
    stored = {each.id: each for each in session.read(EVERY).memories}["other"]
    marks = stored.is_retired(NOW.date()), "confirmed_at" in stored.metadata
    assert marks == (retired, say in ("still", "no"))
    assert session.propose(EVERY, now=NOW).unsure == ()
    if retired:
        session.undo(result.run, now=NOW)
        assert session.store.rows["other"] == before


def test_a_question_is_answered_in_a_plan_file_and_not_asked_after_an_undo(session) -> None:
    settle(session)
    text, answered = dump_plan(session.propose(EVERY, now=NOW)), '"answer": "yes", "record": "unsure"'
    review = review_of_file(session, text.replace('"record": "unsure"', answered), now=NOW)
    assert [action.removes for action in review.planned(session).actions] == [("other",)]
    session.undo(now=NOW)
    assert session.propose(EVERY, now=NOW).unsure == ()


@pytest.mark.parametrize(
    ("text", "scope", "vector", "asked"),
    [
        (TRAM, None, [0, 1], True),
        ("Takes the tram to the office in Faro.", None, [0, 1], False),
        ("Takes the tram to the office in Portobello.", None, [0, 1], False),
        (TRAM, BOB, [0, 1], False),
        ("Rows on the Douro before work.", None, [0.9, 0.436], False),
        ("Rows on the Ria Formosa before work.", None, [0.436, 0.9], False),
        ("Rows before work.", None, [0.5, -0.866], False),
    ],
)
def test_only_what_names_the_old_value_is_asked_about(text, scope, vector, asked) -> None:
    vectors = {PORTO: [1, 0], FARO: [0.6, 0.8], text: vector}
    held = memory("m", text, **({"scope": scope} if scope else {}))
    conflict = Settled(memory("a", PORTO).scope, PORTO, FARO, frozenset({"a", "b"}))
    encode = lambda texts: np.array([vectors[each] for each in texts], np.float32)  # noqa: E731
    many = [held] * (NEAREST + 2) if asked else [held]
    found = outdated([conflict], many, encode=encode, show=str, now=NOW)
    assert [each.members[0].id for each in found] == ["m"] * asked
