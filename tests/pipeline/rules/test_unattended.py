"""What nobody removes by age alone while no person looks on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import BOB, NOW, memory, rows_of, session_on
from e2e_cli import OWN
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.rules.stale import is_protected, kept_although_old
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore

PLUMBER = "Is looking for a plumber in Leeds for the kitchen tap."
TRACKED_ONLY = OWN.replace(", assume_unread: true", "")

TABLE = Path(__file__).with_name("ages.tsv")


def old(memory_id: str, text: str, **more: Any) -> Memory:
    return memory(memory_id, text, days=400, **more)


@pytest.mark.parametrize(("kind", "text"), rows_of(TABLE, "protected", "everyday"))
def test_what_may_be_needed_once_in_ten_years_is_protected(kind: str, text: str) -> None:
    assert is_protected(memory("a", text)) is (kind == "protected")
    assert is_protected(memory("a", text, category="medical"))


def test_only_a_record_of_the_same_scope_counts() -> None:
    plain, bobs = memory("a", PLUMBER), memory("b", PLUMBER, scope=BOB, accessed_at=NOW)

    def kept(*memories: Memory, tracked: tuple[str, ...] = (), assume_unread: bool = False) -> set[str]:
        limits = Settings(assume_unread=assume_unread)
        read = frozenset(tracked)
        return set(kept_although_old(memories, memories, (), settings=limits, unattended=True, tracked=read))

    assert kept(plain, bobs) == {"a"}
    assert kept(plain, bobs, tracked=("a",)) == set()
    assert kept(plain, assume_unread=True) == set()


class TestPass:
    @pytest.fixture
    def session(self, tmp_path: Path) -> Session:
        store = InMemoryStore(
            [old("tap", PLUMBER), old("nuts", "Is allergic to penicillin"), memory("x", "Likes tea")]
        )
        return session_on(store, folder=tmp_path, max_delete=1.0)

    def test_without_a_record_age_removes_nothing_unless_a_person_says_so(self, session: Session) -> None:
        """What a merge proves to be in use does not prove that reads are tracked."""
        for noted in (False, True):
            plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
            assert plan.actions == ()
            (note,) = plan.notes
            assert note.startswith("Past their age, but kept: 2. Nothing says what the agent reads")
            assert all(word in note for word in ("track_access", "--assume-unread"))
            asked = session.propose(ScopeFilter(), now=NOW)
            assert [prune.members[0].id for prune in asked.prunes] == ["nuts", "tap"]
            assert asked.notes == ()
            if not noted:
                session.access.record(session.store.fingerprint, ["x"], NOW)

    @pytest.mark.parametrize(
        ("new", "limits", "proposed"),
        [
            (6, {}, 0), (14, {}, 6), (6, {"max_delete": 0.6}, 6), (6, {"min_delete": 6}, 6),
            (6, {"assume_unread": True}, 6),
        ],
    )  # fmt: skip
    def test_age_is_no_sign_where_most_of_a_scope_is_old(self, tmp_path, new, limits, proposed):
        """Nobody is asked to prune more than one run may remove; old memories are judged like others."""
        errands = [f"Is looking for a {trade} in Leeds" for trade in ("plumber", "roofer", "joiner", "tiler")]
        gone = [old(f"o{number}", text) for number, text in enumerate((*errands, PLUMBER, PLUMBER))]
        fresh = [memory(f"n{number}", f"Likes tea number {number}") for number in range(new)]
        bobs = [replace(each, id=f"b{each.id}", scope=BOB) for each in fresh]
        store = InMemoryStore([*gone, *fresh, *bobs])
        with session_on(store, folder=tmp_path, **limits) as session:
            plan = session.propose(ScopeFilter(), now=NOW)
            assert len(plan.prunes) == proposed
            assert [note.split(".")[0] for note in plan.notes] == (
                [] if proposed else ["Past their age, but not proposed: 6"]
            )
            assert len(plan.merges) == (0 if proposed else 1)
            if not proposed:
                session.access.record(store.fingerprint, ["n0"], NOW, tracked=True)
                assert len(session.propose(ScopeFilter(), now=NOW).prunes) == 6

    def test_nor_where_most_of_a_few_are_old(self) -> None:
        """Else a scope that merges and answers made small would lose all that it has left."""
        gone = [old(trade, f"Is looking for a {trade}") for trade in ("roofer", "joiner", "tiler")]
        new = [memory(f"n{number}", f"Likes tea number {number}") for number in range(3)]
        for fresh, proposed in ((0, 0), (2, 0), (3, 3)):
            with session_on(InMemoryStore([*gone, *new[:fresh]])) as session:
                assert len(session.propose(ScopeFilter(), now=NOW).prunes) == proposed

    def test_with_a_record_only_the_protected_stays(self, session: Session) -> None:
        session.access.record(session.store.fingerprint, ["x"], NOW, tracked=True)
        plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
        assert [prune.members[0].id for prune in plan.prunes] == ["tap"]
        (note,) = plan.notes
        assert note.startswith("Past their age, but kept: 1. They may be about health, identity")

    def test_old_copies_are_merged_instead(self) -> None:
        with session_on(InMemoryStore([old("a", PLUMBER), old("b", PLUMBER)]), max_delete=1.0) as session:
            plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
        assert (len(plan.merges), len(plan.prunes)) == (1, 0)


class TestCommandLine:
    def test_one_line_says_what_was_kept_and_how_to_change_it(self, store, dream):
        done = dream("--user-id", "alice", "--auto", settings=TRACKED_ONLY)
        assert done.stdout == "[mem0-dream --auto] merged=2 pruned=1 conflicts_skipped=1\n"
        assert done.stderr.startswith("mem0-dream: Past their age, but kept: 1. Nothing says")
        assert done.stderr.count("\n") == 1
        assert "tap" in store.rows
        again = dream("--user-id", "alice", "--auto", "--assume-unread", settings=TRACKED_ONLY)
        assert again.stdout == "[mem0-dream --auto] merged=0 pruned=1 conflicts_skipped=1\n"
        assert "tap" not in store.rows
