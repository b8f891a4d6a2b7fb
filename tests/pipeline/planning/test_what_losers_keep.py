"""An answer to a conflict takes away what is denied, and nothing else that only the losing side says."""

from copy import deepcopy
from pathlib import Path

import pytest
from builders import CONTRADICTION, DUPLICATE, NOW, memory, session_on
from mem0_dream.errors import PlanFileError
from mem0_dream.pipeline.answers import Say
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.pipeline.reporting.status import versions
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.testing import FakeScorer, InMemoryStore

EVERY = ScopeFilter()
OLD = {
    "a": "The shop's tech stack is React, FastAPI and Postgres.",
    "b": "Tech stack: React, FastAPI and Postgres",
    "c": "Ana set up Postgres for the shop. Ana lives in Leeds.",
}
NEW = "The shop's database moved from Postgres to MySQL."
OTHERS = {
    "e": "Postgres backups of the shop run at night.",
    "f": "The FastAPI service has 12 routes.",
    "g": "React pages are built with Vite.",
    "h": "The shop was moved from Postgres to MySQL in May.",
}
KEPT = {"The shop's tech stack is React and FastAPI.", "Ana lives in Leeds."}


@pytest.fixture
def store() -> InMemoryStore:
    rows = {**OLD, "d": NEW, **OTHERS}
    return InMemoryStore([memory(name, text, days=1 if name == "d" else 40) for name, text in rows.items()])


def opened(store: InMemoryStore, folder: Path) -> Session:
    a, b, c = OLD.values()
    same = {(x, y): DUPLICATE for x in (a, b, c) for y in (a, b, c) if x < y}

    def against(x: str, y: str) -> tuple[float, float, float]:
        old = x if y == NEW else y
        denied = NEW in (x, y) and "Postgres" in old and old not in OTHERS.values()
        return CONTRADICTION if denied else (0.0, 0.0, 1.0)

    return session_on(store, FakeScorer(same, default=against), folder, max_delete=1.0)


def texts(store: InMemoryStore) -> set[str]:
    return {each.text for each in store.read(EVERY).memories if not each.is_retired(NOW.date())}


def answered(session: Session, side: str) -> Review:
    review = Review(session, session.propose(EVERY, now=NOW))
    for conflict in review.plan.conflicts:
        review.answer(conflict.id, side, now=NOW)
    return review


def test_what_only_the_losing_side_says_is_kept_once_shown_before_and_taken_back(store, tmp_path) -> None:
    before = deepcopy(store.rows)
    with opened(store, tmp_path) as session:
        plan = session.propose(EVERY, now=NOW)
        shown = "\n".join(session.reporter(plan).opening(asks=True))
        assert plan.conflicts
        for conflict in plan.conflicts:
            assert set(conflict.rests.values()) <= KEPT
            assert all(f"keeps: {text}" in shown for text in conflict.rests.values())
        assert parse_plan(dump_plan(plan)) == plan
        review = answered(session, "b")
        result = review.apply(session, review.planned(session), now=NOW)
        left = texts(store) - {NEW, *OTHERS.values()}
        assert left == KEPT
        told = versions(
            session.read(EVERY).memories, session.journal, session.store.fingerprint, scopes=EVERY
        )
        assert {(one.text, one.how) for one in told if one.text in OLD.values()} == {
            (text, "contradicted") for text in OLD.values()
        }
        asked = session.propose(EVERY, now=NOW).unsure
        assert [(str(doubt.kind), doubt.members[0].id) for doubt in asked] == [("prune", "e")]
        session.undo(result.run, now=NOW)
        assert store.rows == before


def test_the_side_that_holds_is_left_as_it_is(store, tmp_path) -> None:
    with opened(store, tmp_path) as session:
        review = answered(session, "a")
        review.apply(session, review.planned(session), now=NOW)
        assert texts(store) >= {*OTHERS.values()}
        assert NEW not in texts(store)
        assert not texts(store) & KEPT


@pytest.mark.parametrize("at", range(1, 6))
def test_a_pass_that_dies_while_it_shortens_goes_on_to_the_same_end(at, store, tmp_path) -> None:
    made: list[object] = []

    def dies(change: object) -> None:
        made.append(change)
        if len(made) == at:
            raise KeyboardInterrupt

    with opened(store, tmp_path) as session:
        review = answered(session, "b")
        plan = review.planned(session)
        store.after_write = dies
        try:
            review.apply(session, plan, now=NOW)
        except KeyboardInterrupt:
            session.resume(now=NOW)
        assert texts(store) - {NEW, *OTHERS.values()} == KEPT


def test_a_plan_may_shorten_only_what_it_names(store, tmp_path) -> None:
    with opened(store, tmp_path) as session:
        plan = session.propose(EVERY, now=NOW)
        line = dump_plan(plan)
        name = next(iter(plan.conflicts[0].rests))
        with pytest.raises(PlanFileError, match="names memories"):
            parse_plan(line.replace(f'"rests": {{"{name}"', '"rests": {"e"'))


def test_two_wordings_of_one_fact_are_no_conflict_and_none_is_shortened(store, tmp_path) -> None:
    maybe = FakeScorer({(OLD["b"], OLD["a"]): (0.7, 0.0, 0.3), (OLD["a"], OLD["b"]): (0.7, 0.0, 0.3)})
    with session_on(InMemoryStore([memory(n, OLD[n]) for n in "ab"]), maybe, tmp_path) as session:
        plan = session.propose(EVERY, now=NOW)
        review = Review(session, plan)
        review.answer(plan.unsure[0].id, Say.A, now=NOW)
        (action,) = review.planned(session).conflicts
        assert (len(action.removes), dict(action.rests)) == (1, {})
