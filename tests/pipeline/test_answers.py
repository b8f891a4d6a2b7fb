"""What a person answered is not repeated, can be listed, and can be withdrawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import NOW, duplicates, memory, session_on
from e2e_cli import ALICE, Invoke
from mem0_dream.pipeline.actions import Member, Merge, Rewrite
from mem0_dream.pipeline.answers import Answer, Say, keys_of, open_conflicts, unanswered
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.journal import Journal
from mem0_dream.records import Scope
from mem0_dream.testing import InMemoryStore

DOG, DOG_NAME = "Has a dog.", "Has a dog and walks it."


def members(*texts: str) -> tuple[Member, ...]:
    return tuple(Member(f"m{number}", text) for number, text in enumerate(texts))


def merge(*texts: str) -> Merge:
    stays, said = f"m{len(texts) - 1}", members(*texts)
    return Merge(id="m1", scope=Scope(()), category=None, members=said, survivor=stays, text=texts[-1])


class TestKeys:
    def test_a_merge_is_its_pairs(self) -> None:
        three = keys_of(merge("a", "b", "c"))
        assert keys_of(merge("c", "a")) < three
        assert len(three) == 3
        assert keys_of(merge("a", "a", "b")) == keys_of(merge("a", "b")) | keys_of(merge("a", "a"))

    def test_a_rewrite_is_what_it_makes_of_what(self) -> None:
        def rewrite(text: str) -> Rewrite:
            return Rewrite(id="w", scope=Scope(()), category=None, members=members("a"), text=text, reason="")

        assert keys_of(rewrite("b")) == keys_of(rewrite("b")) != keys_of(rewrite("c"))

    def test_a_plan_loses_what_was_answered(self, tmp_path: Path) -> None:
        held = InMemoryStore([memory("a", "Fixed bug"), memory("b", "Something about work")])
        with session_on(held, folder=tmp_path) as session:
            plan = session.propose(ScopeFilter(), now=NOW)
        first, second = plan.actions
        assert unanswered(plan, keys_of(first)).actions == (second,)
        assert unanswered(plan, ()) is plan


class TestUndo:
    def test_what_was_taken_back_is_not_done_again(self, tmp_path: Path) -> None:
        held = InMemoryStore([memory("a", DOG), memory("b", DOG_NAME), memory("c", "Fixed bug")])
        scorer = duplicates([DOG, DOG_NAME], [DOG_NAME, "Owns a dog and walks it."])
        with session_on(held, scorer, tmp_path, max_delete=1.0) as session:
            result = session.apply(session.propose(ScopeFilter(), now=NOW), now=NOW)
            assert (result.merged, result.pruned) == (1, 1)
            session.undo(result.run, now=NOW)
            for unattended in (False, True):
                assert session.propose(ScopeFilter(), now=NOW, unattended=unattended).actions == ()
            assert {(item.say, item.what, item.run) for item in session.answered} == {
                (Say.TAKEN_BACK, "merge", result.run),
                (Say.TAKEN_BACK, "prune", result.run),
            }
            held.rows["a"]["text"] = "Owns a dog and walks it."
            assert len(session.propose(ScopeFilter(), now=NOW).merges) == 1
            session.withdraw(session.answered)
            assert len(session.propose(ScopeFilter(), now=NOW).prunes) == 1

    def test_copies_stay_apart(self, tmp_path: Path) -> None:
        """Equal texts whose merge was taken back are not folded again, however many there are."""
        held = InMemoryStore([memory(name, DOG) for name in "abc"])
        with session_on(held, folder=tmp_path) as session:
            result = session.apply(session.propose(ScopeFilter(), now=NOW), now=NOW)
            session.undo(result.run, now=NOW)
            assert session.propose(ScopeFilter(), now=NOW).actions == ()


class TestJournal:
    def test_answers_are_kept_counted_and_withdrawn(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path)
        answer = Answer.to(merge(DOG, DOG_NAME), Say.SKIP, at=NOW, run="r1")
        journal.answer("s", [answer])
        journal.answer("s", [answer])
        journal.answer("other", [answer])
        (found,) = journal.answers("s")
        assert (found.say, found.what, found.keys, found.about, found.run) == (
            answer.say, "merge", answer.keys, answer.about, "r1",
        )  # fmt: skip
        assert (journal.rejected("s"), journal.rejected("nowhere")) == (answer.keys, frozenset())
        journal.withdraw("s", [found])
        assert journal.answers("s") == ()
        assert len(journal.answers("other")) == 1
        journal.close()

    def test_a_skipped_conflict_counts_while_both_texts_stand(self) -> None:
        a, b = memory("a", DOG), memory("b", "Has no dog.")
        answer = replace(Answer.about_pair(a, b, at=NOW), say=Say.SKIP, what="resolve")
        assert open_conflicts([answer], [a, b]) == 1
        assert open_conflicts([answer], [a, memory("b", "Has two dogs.")]) == 0
        assert open_conflicts([answer], [a]) == 0


class TestCommandLine:
    def test_a_skip_is_counted_listed_and_withdrawn(self, store: InMemoryStore, dream: Invoke) -> None:
        dream(*ALICE, answers="skip\ny\n")
        assert dream(*ALICE, "--auto").stdout == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=1\n"
        assert "Answered: 1 skipped; see `mem0-dream reject --list`" in dream("status", "--all").stdout
        (line,) = dream("reject", "--list").stdout.splitlines()
        assert "skipped: resolve [memory:tabs1] Uses tabs for indentation in Go code.; [memory:tabs2]" in line
        number = line.split()[0]
        assert "no answer '99'" in dream("reject", "--forget", "99", "--forget", number, code=2).stderr
        assert dream("reject", "--forget", number).stdout == "Withdrawn: 1. It may be proposed again.\n"
        assert "Conflicts (1):" in dream(*ALICE, "--dry-run").stdout
        assert dream("reject", "--list").stdout == "No answers yet.\n"

    def test_an_undo_takes_the_skips_of_its_run_back(self, dream: Invoke) -> None:
        dream(*ALICE, answers="skip\ny\n")
        undone = dream("undo")
        assert "not proposed again; see `mem0-dream reject --list`" in undone.stderr
        shown = dream(*ALICE, "--dry-run").stdout
        assert "Conflicts (1):" in shown
        assert "Proposed: 0 merges, 0 prunes, 1 conflict." in shown

    def test_a_forgotten_memory_is_no_proposal(self, store: InMemoryStore, dream: Invoke) -> None:
        dream("forget", "standing desk", *ALICE, answers="1\ny\n")
        dream("undo")
        assert dream("reject", "--list").stdout == "No answers yet.\n"

    @pytest.mark.parametrize("words", [(), ("a",), ("a", "b", "--list"), ("--list", "--forget", "1")])
    def test_reject_wants_one_thing(self, dream: Invoke, words: tuple[str, ...]) -> None:
        assert "Give two ids, or --list" in dream("reject", *words, code=2).stderr
