"""One session on one store: lock, plan, apply, resume, undo, and what is remembered between passes."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import Mock

import pytest
from builders import BOB, CONTRADICTION, NOW, memory, session_on, skipped
from mem0_dream.errors import BudgetExceededError, JournalError, UsageError
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import KEPT_BACKUPS, Session, scope_filter
from mem0_dream.pipeline.judging.cache import Models
from mem0_dream.pipeline.planning.stages import Advance
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.journal import RunState
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore
from messy import DOG_NAME, NO_TABS, messy_scorer, messy_store

ALICE = ScopeFilter({"user_id": "alice"})
LAX = Settings(floor=-1.0, max_delete=1.0, assume_unread=True)


@pytest.fixture
def store() -> InMemoryStore:
    """A merge, a conflict and a prune of alice; a copy of bob."""
    return messy_store("d1 d2 t1 t2 old", [memory(name, DOG_NAME, scope=BOB) for name in ("bob1", "bob2")])


@pytest.fixture
def session(store: InMemoryStore) -> Iterator[Session]:
    with session_on(store, messy_scorer(), settings=LAX) as opened:
        yield opened


def test_propose_apply_and_undo(session: Session, store: InMemoryStore) -> None:
    before = store.fetch(list(store.rows))
    plan = session.propose(ALICE, now=NOW)
    assert [len(plan.merges), len(plan.conflicts), len(plan.prunes)] == [1, 1, 1]
    assert (store.fetch(list(store.rows)), session.journal.runs()) == (before, ())
    first = session.apply(plan, now=NOW)
    later = NOW + timedelta(minutes=1)
    second = session.apply(session.propose(ScopeFilter({"user_id": "bob"}), now=later), now=later)
    assert first.run.startswith("20261121-120000-")
    assert session.undo(now=later).run == second.run
    assert session.undo(now=later).run == first.run
    assert store.fetch(list(store.rows)) == before
    with pytest.raises(JournalError, match="no run that could be taken back"):
        session.undo(now=later)


@pytest.mark.parametrize(("retire", "left"), [(None, "2026-11-20"), (True, "2026-11-20"), (False, None)])
def test_what_loses_a_conflict_stays_readable(session, store, retire, left) -> None:
    plan = session.propose(ALICE, now=NOW)
    before = store.fetch(list(store.rows))
    result = session.apply(plan, now=NOW, choices={plan.conflicts[0].id: "a"}, retire=retire)
    assert (result.resolved, result.skipped) == (1, 0)
    loser, winner = store.rows.get("t2", {"expires_on": None, "metadata": {}}), store.rows["t1"]
    assert loser["expires_on"] == left
    marks = {"superseded_by": "t1", "superseded_at": NOW.isoformat(), "superseded_reason": "contradicted"}
    assert loser["metadata"] == (marks if left else {})
    assert winner["metadata"] == ({"supersedes": ["t2"]} if left else {})
    merged = [row["expires_on"] for name, row in store.rows.items() if name.startswith("d")]
    assert (merged.count("2026-11-20") > 0) == (retire is True)
    session.undo(now=NOW)
    assert store.fetch(list(store.rows)) == before


def test_reads_count_and_a_skip_is_remembered_until_a_text_changes(session, store) -> None:
    session.access.record(store.fingerprint, ["old"], NOW - timedelta(days=5))
    plan = session.propose(ALICE, now=NOW)
    assert plan.prunes == ()
    skipped(session, plan.conflicts)
    assert session.propose(ALICE, now=NOW).conflicts == ()
    store.rows["t9"] = store.rows.pop("t1")
    assert session.propose(ALICE, now=NOW).conflicts == ()
    store.rows["t9"]["text"] = "Uses tabs in all Go code."
    changed = FakeScorer({(NO_TABS, "Uses tabs in all Go code."): CONTRADICTION})
    session.models = Models(session.settings, session.directory, encoder=FakeEncoder(), scorer=changed)
    assert len(session.propose(ALICE, now=NOW).conflicts) == 1


def test_an_interrupted_run_is_resumed_without_a_name(session: Session, store: InMemoryStore) -> None:
    with pytest.raises(JournalError, match="nothing to resume"):
        session.resume(now=NOW)
    store.before_write = Mock(side_effect=[None, KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt):
        session.apply(session.propose(ALICE, now=NOW), now=NOW)
    store.before_write = lambda _: None
    session.resume(now=NOW)
    assert not {"d1", "old"} & store.rows.keys()
    assert session.journal.runs()[0].state is RunState.APPLIED


def test_stages_are_told(store: InMemoryStore) -> None:
    heard: list[str] = []

    class Listening:
        @contextlib.contextmanager
        def stage(self, name: str, total: int | None) -> Iterator[Advance]:
            heard.append(name)
            yield lambda _done: None

    with session_on(store, messy_scorer(), settings=LAX, observer=Listening()) as session:
        session.apply(session.propose(ALICE, now=NOW), now=NOW)
    assert heard == ["fetch", "embedding", "judging", "drafting", "apply"]


def test_a_store_of_files_is_copied_before_each_run(own_state):
    store = messy_store()

    def backup(folder):
        folder.mkdir(parents=True)
        (folder / "copy").write_text("x")
        return (folder / "copy",)

    store.backup = backup
    with session_on(store, messy_scorer(), own_state, max_delete=1.0) as session:
        for _ in range(KEPT_BACKUPS + 2):
            plan = session.propose(ScopeFilter(), now=NOW)
            session.undo(session.apply(plan, now=NOW).run, now=NOW)
            session.withdraw(session.answered)
    assert len(list((own_state / "backups" / store.fingerprint).iterdir())) == KEPT_BACKUPS


class TestConsolidate:
    def test_it_proposes_unless_told_to_apply(self, store: InMemoryStore) -> None:
        told = consolidate(store, user_id="alice", settings=LAX, now=NOW)
        assert told.result is None
        assert len(store.rows) == 7
        done = consolidate(store, user_id="alice", settings=LAX, now=NOW, apply=True)
        assert done.result is not None
        assert (done.result.pruned, done.result.resolved) == (1, 0)
        assert {"t1", "t2"} < store.rows.keys()

    def test_every_scope_for_itself_but_somebody_must_be_named(self, store: InMemoryStore) -> None:
        done = consolidate(store, all_scopes=True, settings=LAX, now=NOW, apply=True)
        assert {str(action.scope) for action in done.plan.actions} == {"user_id=alice", "user_id=bob"}
        assert len({"bob1", "bob2"} & store.rows.keys()) == 1
        with pytest.raises(UsageError, match="all_scopes=True"):
            consolidate(store)
        with pytest.raises(UsageError, match="user_id is empty"):
            consolidate(store, user_id=" ")
        assert scope_filter(user_id=" alice ", agent_id=None).ids == {"user_id": "alice"}

    def test_the_lock_is_free_afterwards(self, store: InMemoryStore) -> None:
        for _ in range(2):
            with pytest.raises(BudgetExceededError):
                consolidate(
                    store, user_id="alice", now=NOW, apply=True,
                    settings=Settings(floor=-1.0, max_delete=0.0, min_delete=0, assume_unread=True),
                )  # fmt: skip
        consolidate(store, user_id="alice", now=NOW)
