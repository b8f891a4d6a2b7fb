"""What was held true before, out of the journal and of the store's own marks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from builders import CONTRADICTION, NOW, duplicates, memory
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.reporting.past import chain, matching, spoken_versions, versions
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

PORTO, FARO = "Lives in Porto near the river.", "Lives in Faro near the river."
DOG, PICKLE = "Has a dog at home.", "Has a dog at home and walks it."
EVERY = ScopeFilter({"user_id": "alice"})


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(
        [memory("porto", PORTO, days=100), memory("faro", FARO, days=30), memory("dog", DOG, days=90),
         memory("pickle", PICKLE, days=60), memory("tea", "Drinks Assam tea.", days=5)]
    )  # fmt: skip


@pytest.fixture
def session(store: InMemoryStore):
    scorer = duplicates([DOG, PICKLE])
    scorer._pairs[FARO, PORTO] = CONTRADICTION
    limits = Settings(floor=-1.0, max_delete=1.0)
    with Session(store, scorer=scorer, encoder=FakeEncoder(), settings=limits) as opened:
        plan = opened.propose(EVERY, now=NOW)
        opened.apply(plan, now=NOW, choices={plan.conflicts[0].id: plan.conflicts[0].newer})
        yield opened


def _known(session: Session):
    memories = session.read(EVERY).memories
    return versions(memories, session.journal, session.store.fingerprint, scopes=EVERY)


def test_a_chain_says_what_was_true_until_when(session: Session) -> None:
    every = _known(session)
    lines = spoken_versions(chain(matching("faro", every, "memory"), every), every, "memory")
    began, moved = (f"{NOW - timedelta(days=days):%Y-%m-%d}" for days in (100, 30))
    assert lines == [
        f"[memory:porto] {PORTO}",
        f"    since {began} until {moved}: contradicted by [memory:faro]",
        f"[memory:faro] {FARO}",
        f"    since {moved}",
    ]
    assert [one.id for one in chain(matching("walks it", every, "memory"), every)] == ["dog", "pickle"]


@pytest.mark.parametrize(("days", "held"), [(400, []), (95, ["porto"]), (20, ["faro", "pickle", "dog"])])
def test_what_was_held_true_at_a_date(session: Session, days: int, held: list[str]) -> None:
    then = NOW - timedelta(days=days)
    assert sorted(one.id for one in _known(session) if one.held_at(then)) == sorted(held)


def test_the_marks_of_the_store_are_enough_without_a_journal(session: Session, tmp_path) -> None:
    marked = InMemoryStore(session.read(EVERY).memories)
    with Session(marked, scorer=FakeScorer(), encoder=FakeEncoder(), state_dir=tmp_path / "fresh") as opened:
        every = _known(opened)
    (porto,) = (one for one in every if one.id == "porto")
    assert (porto.into, porto.how, porto.until) == ("faro", "contradicted", NOW - timedelta(days=30))


def test_what_was_taken_back_is_no_past(session: Session) -> None:
    session.undo(now=datetime.now(UTC))
    assert all(one.until is None for one in _known(session))
    assert [one.text for one in matching("LIVES  in", _known(session), "memory")] == [PORTO, FARO]
