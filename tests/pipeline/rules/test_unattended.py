"""What nobody removes by age alone while no person looks on."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import BOB, NOW, memory, rows_of, session_on
from e2e_cli import OWN
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Action
from mem0_dream.pipeline.rules.stale import by_age, is_protected
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore

PLUMBER = "Is looking for a plumber in Leeds for the kitchen tap."
TRACKED_ONLY = OWN.replace(", assume_unread: true", "")

YEAR = timedelta(days=365)
TABLE = Path(__file__).with_name("ages.tsv")


def ids(actions: Iterable[Action]) -> list[str]:
    return [action.members[0].id for action in actions]


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
        old = [each for each in memories if each.id in "ab"]
        return set(by_age(old, memories, (), settings=limits, unattended=True, tracked=read).kept)

    more = [memory(f"{name}2", "Likes tea", scope=of.scope) for name, of in (("x", plain), ("y", bobs))]
    assert kept(plain, bobs, *more) == {"a"}
    assert kept(plain, bobs, *more, tracked=("a",)) == set()
    assert kept(plain, *more, assume_unread=True) == set()


class TestPass:
    @pytest.fixture
    def session(self, tmp_path: Path) -> Session:
        store = InMemoryStore(
            [old("tap", PLUMBER), old("nuts", "Is allergic to penicillin"), memory("x", "Likes tea")]
        )
        return session_on(store, folder=tmp_path, max_delete=1.0)

    def test_without_a_record_age_is_at_most_a_question(self, session: Session) -> None:
        """What a merge proves to be in use does not prove that reads are tracked."""
        for noted in (False, True):
            plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
            assert (plan.actions, plan.unsure) == ((), ())
            untracked, protected = plan.notes
            assert untracked.startswith("Past their age, but kept: 1. Nothing says what the agent reads")
            assert all(word in untracked for word in ("track_access", "--assume-unread"))
            assert protected.startswith("Past their age, but kept: 1. They may be rules, or about health")
            asked = session.propose(ScopeFilter(), now=NOW)
            assert (asked.actions, ids(asked.unsure), asked.notes) == ((), ["tap"], (protected,))
            if not noted:
                session.access.record(session.store.fingerprint, ["x"], NOW)

    @pytest.mark.parametrize(
        ("new", "limits", "asked", "proposed"),
        [
            (6, {}, 0, 0), (14, {}, 6, 0), (6, {"max_delete": 0.6}, 6, 0), (6, {"min_delete": 6}, 6, 0),
            (6, {"assume_unread": True}, 0, 6), (5, {"assume_unread": True}, 0, 0),
        ],
    )  # fmt: skip
    def test_age_is_no_sign_where_most_of_a_scope_is_old(self, tmp_path, new, limits, asked, proposed):
        """Nobody is asked about more than one run may remove; old memories are judged like others."""
        trades = ("plumber", "roofer", "joiner", "tiler", "glazier", "mason")
        gone = [
            old(f"o{number}", f"Is looking for a {trade} in Leeds") for number, trade in enumerate(trades)
        ]
        fresh = [memory(f"n{number}", f"Likes tea number {number}") for number in range(new)]
        bobs = [replace(each, id=f"b{each.id}", scope=BOB) for each in fresh]
        store = InMemoryStore([*gone, *fresh, *bobs])
        with session_on(store, folder=tmp_path, **limits) as session:
            plan = session.propose(ScopeFilter(), now=NOW)
            assert (len(plan.unsure), len(plan.prunes)) == (asked, proposed)
            assert [note.split(".")[0] for note in plan.notes] == (
                [] if asked or proposed else ["Past their age, but not proposed: 6"]
            )
            session.access.record(store.fingerprint, ["n0"], NOW, tracked=True)
            plan = session.propose(ScopeFilter(), now=NOW)
            assert (len(plan.unsure), len(plan.prunes)) == (0, 0 if new == 5 else 6)

    @pytest.mark.parametrize("unattended", [False, True])
    @pytest.mark.parametrize("limits", [{}, {"assume_unread": True}, {"max_delete": 1.0}, {"min_delete": 9}])
    def test_no_store_of_a_few_rows_is_offered_whole(self, tmp_path, limits, unattended):
        """Whatever is on record, and whatever the rows are about: name, job and home, or errands."""
        of_whom = ["Name is Sam Ortega.", "Works as a carpenter.", "Lives in Bristol.", "Speaks Basque."]
        trades = [f"Is looking for a {trade}" for trade in ("roofer", "joiner", "tiler", "mason")]
        for texts in (of_whom, trades):
            for count in (1, 2, 3, 4):
                store = InMemoryStore([old(f"m{n}", text) for n, text in enumerate(texts[:count])])
                for tracked in (False, True):
                    with session_on(store, folder=tmp_path / f"{texts[0]}{count}", **limits) as session:
                        if tracked:
                            session.access.record(store.fingerprint, ["m0"], NOW - YEAR, tracked=True)
                        plan = session.propose(ScopeFilter(), now=NOW, unattended=unattended)
                    assert (plan.prunes, plan.unsure) == ((), ())
                    assert all(note.startswith("Past their age, but ") for note in plan.notes)
                    assert plan.notes

    def test_nor_where_most_of_a_few_are_old(self) -> None:
        """Else a scope that merges and answers made small would lose all that it has left."""
        gone = [old(trade, f"Is looking for a {trade}") for trade in ("roofer", "joiner", "tiler")]
        new = [memory(f"n{number}", f"Likes tea number {number}") for number in range(3)]
        for fresh, asked in ((0, 0), (2, 0), (3, 3)):
            with session_on(InMemoryStore([*gone, *new[:fresh]])) as session:
                assert len(session.propose(ScopeFilter(), now=NOW).unsure) == asked

    def test_with_a_record_only_the_protected_stays(self, session: Session) -> None:
        session.access.record(session.store.fingerprint, ["x"], NOW, tracked=True)
        for unattended in (False, True):
            plan = session.propose(ScopeFilter(), now=NOW, unattended=unattended)
            assert ids(plan.prunes) == ["tap"]
            (note,) = plan.notes
            assert note.startswith("Past their age, but kept: 1. They may be rules, or about health")

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
