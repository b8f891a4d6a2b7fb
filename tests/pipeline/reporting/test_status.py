"""The status: counts that a person can check by hand; and what was held true before."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from builders import BOB, CONTRADICTION, MEANS, NOW, duplicates, memory
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.reporting.status import (
    chain,
    matching,
    run_json,
    run_line,
    spoken_status,
    spoken_versions,
    status_of,
    versions,
)
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.journal import ChangeState, Operation, Recorded, Run, RunState
from mem0_dream.records import Inventory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

RUN = Run("20261121-r", "s", NOW - timedelta(hours=1), NOW, RunState.APPLIED, None, "")
MEMORIES = (
    memory("a", "Likes tea."),
    memory("b", "likes tea"),
    memory("c", "Likes tea.", scope=BOB),
    memory("d", "Is looking for a plumber in Leeds.", days=400, category="todo"),
    memory("e", "[PINNED] Never push to main.", days=900, pinned=True, category=None),
    memory("f", "Parked on level 2.", days=900, expires_on=date(2026, 11, 20)),
    memory("g", "Parked on level 3.", expires_on=date(2026, 11, 21)),
)


def lines(inventory: Inventory, *history: Run) -> list[str]:
    texts = {memory.id: memory.text for memory in inventory.memories}
    return spoken_status(status_of(inventory, history, MEANS, kind=""), texts.__getitem__)


def test_every_count() -> None:
    assert lines(Inventory("s", MEMORIES)) == [
        "Memories: 6 living, 1 retired, 1 pinned",
        "Scopes: 2",
        "Exact duplicates: 1",
        "Stale: 1",
        "Listing: complete",
        "       5  user_id=alice",
        "       1  user_id=bob",
        "Categories:",
        "       4  note",
        "       1  todo",
        "       1  (no category)",
        "Last run: never",
        "Not confirmed for longest:",
        "     400 d  [:d] Is looking for a plumber in Leeds.",
    ]


def test_gaps_the_last_run_and_the_interrupted_one() -> None:
    killed = replace(RUN, id="killed", state=RunState.APPLYING)
    found = lines(Inventory("s", (), ("20 of 45 listed", "the count is unknown")), RUN, killed)
    assert found[:2] == ["Memories: 0 living, 0 retired, 0 pinned", "Scopes: 0"]
    assert "Listing: incomplete, read-only: 20 of 45 listed; the count is unknown" in found
    assert found[-2:] == [
        "Interrupted: run killed; finish it with `mem0-dream resume killed`",
        "Last run: 20261121-r (applied)",
    ]


def test_a_run_tells_what_it_left_to_a_person() -> None:
    header = {"kind": "mem0", "totals": [{"scope": {"ids": [["user_id", "alice"]]}, "memories": 3}]}
    lines = [header, {"record": "action", "text": '"record": "unsure"'}, {"record": "unsure"}]
    run = replace(RUN, plan="".join(json.dumps(line) + "\n" for line in lines))
    told = run_json(run, [])
    assert (told["kind"], told["scopes"], told["unsure"]) == ("mem0", [{"user_id": "alice"}], 1)
    assert run_line(run, []).endswith("removed 0, added 0, unsure=1")
    assert run_json(RUN, [])["unsure"] == 0


def test_a_run_in_one_line() -> None:
    changes = [
        Recorded(1, "m1", Operation.ADD, "n", ChangeState.DONE),
        Recorded(2, "m1", Operation.REMOVE, "a", ChangeState.DONE),
        Recorded(3, "m1", Operation.REMOVE, "b", ChangeState.TAKEN_BACK),
        Recorded(4, "m1", Operation.REMOVE, "c", ChangeState.INTENDED),
    ]
    assert run_line(RUN, changes) == "20261121-r  applied   2026-11-21 11:00 UTC  removed 2, added 1"
    changes.append(Recorded(5, "c1", Operation.REMOVE, "d", ChangeState.DONE))
    kinds = (("m1", "merge"), ("c1", "resolve"))
    plan = "".join(json.dumps({"id": name, "kind": kind}) + "\n" for name, kind in kinds)
    for retires, told in (({"resolve"}, "removed 2, retired 1"), ({"merge", "resolve"}, "retired 3")):
        run = replace(RUN, plan=plan, retire_on=date(2026, 11, 20), retires=frozenset(retires))
        assert run_line(run, changes).endswith(f"UTC  {told}, added 1")


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
