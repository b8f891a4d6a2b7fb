"""What a person answered is not repeated, can be listed and withdrawn; what still holds, and what nobody confirmed."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import BOB, CONTRADICTION, MEANS, NOW, duplicates, memory, session_on
from e2e_cli import ALICE, Invoke
from mem0_dream.pipeline.answers import Answer, Say, keys_of, open_conflicts, unanswered
from mem0_dream.pipeline.plan import Member, Merge, Rewrite
from mem0_dream.pipeline.planning.engine import judged
from mem0_dream.pipeline.reporting import status as told
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.journal import Journal
from mem0_dream.records import Inventory, Scope
from mem0_dream.testing import FakeScorer, InMemoryStore

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
            told = {(item.say, item.what, item.run) for item in session.answered}
            assert told == {(Say.TAKEN_BACK, what, result.run) for what in ("merge", "prune")}
            held.rows["a"]["text"] = "Owns a dog and walks it."
            assert len(session.propose(ScopeFilter(), now=NOW).merges) == 1
            session.withdraw(session.answered)
            assert len(session.propose(ScopeFilter(), now=NOW).prunes) == 1

    def test_copies_stay_apart(self, tmp_path: Path) -> None:
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
        assert (found.what, found.run) == ("merge", "r1")
        assert (found.say, found.keys, found.about) == (answer.say, answer.keys, answer.about)
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
        assert dream(*ALICE).stdout == (
            "Dream complete. Nothing new to propose.\n"
            "1 conflict was left open earlier: `mem0-dream reject --list`\n"
        )
        assert dream(*ALICE, "--auto").stdout == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=1\n"
        assert "Answered: 1 skipped; see `mem0-dream reject --list`" in dream("status", "--all").stdout
        (line,) = dream("reject", "--list").stdout.splitlines()
        number = line.split()[0]
        assert "no answer '99'" in dream("reject", "--forget", "99", "--forget", number, code=2).stderr
        assert dream("reject", "--forget", number).stdout == "Withdrawn: 1. It may be proposed again.\n"
        assert "Conflicts (1):" in dream(*ALICE, "--dry-run").stdout
        assert dream("reject", "--list").stdout == "No answers yet.\n"

    def test_a_forgotten_memory_is_no_proposal_and_reject_wants_one_thing(self, store, dream: Invoke) -> None:
        dream("forget", "standing desk", *ALICE, answers="1\ny\n")
        dream("undo")
        assert dream("reject", "--list").stdout == "No answers yet.\n"
        for words in ((), ("a",), ("a", "b", "--list"), ("--list", "--forget", "1")):
            assert "Give two ids, or --list" in dream("reject", *words, code=2).stderr


EVERYTHING = ScopeFilter()


def test_a_memory_that_still_holds_is_not_stale_again() -> None:
    new = [memory(f"n{number}", f"Has seen film {number}", days=-300) for number in range(2)]
    store = InMemoryStore([memory("old", "Keeps bees on the roof of the town hall", days=400), *new])
    with session_on(store, assume_unread=True) as session:
        plan = session.propose(EVERYTHING, now=NOW)
        assert [prune.reason for prune in plan.prunes] == ["stale"]
        review = Review(session, plan)
        review.answer(plan.prunes[0].id, "still", now=NOW)
        assert review.planned(session).actions == ()
        assert session.kind.health(session.read(EVERYTHING), session.means(NOW)).value("stale") == 0
        before = store.rows["old"].copy()
        assert session.propose(EVERYTHING, now=NOW).prunes == ()
        assert session.propose(EVERYTHING, now=NOW.replace(year=NOW.year + 1)).prunes != ()
        later = session.propose(EVERYTHING, now=NOW.replace(year=NOW.year + 1))
        assert Review(session, later).answers == {}  # the old answer is none to the new question
        assert [str(given.say) for given in review.answers.values()] == ["still"]
        review.withdraw(plan.prunes[0].id)
        assert session.propose(EVERYTHING, now=NOW).prunes != ()
        assert store.rows["old"] == before


def test_a_conflict_whose_sides_both_still_hold_is_not_asked_again() -> None:
    a, b = memory("a", "Likes tea at noon", days=100), memory("b", "Likes tea at one", days=3)
    store = InMemoryStore([a, b])
    scorer = FakeScorer(default=lambda _a, _b: CONTRADICTION)
    with session_on(store, scorer) as session:
        plan = session.propose(EVERYTHING, now=NOW)
        review = Review(session, plan)
        review.answer(plan.conflicts[0].id, "still", now=NOW)
        assert review.effects(review.planned(session)) == {"c1": "still true, not asked again"}
        assert session.propose(EVERYTHING, now=NOW).conflicts == ()
        held = session.read(EVERYTHING).memories
        assert [each.metadata["confirmed_at"] for each in held] == [NOW.isoformat()] * 2


def test_what_nobody_confirmed_for_longest_is_listed() -> None:
    ages = {"a": 500, "b": 300, "c": 10, "p": 900}
    held = tuple(memory(i, f"Fact {i}", days=days, pinned=i == "p") for i, days in ages.items())
    status = told.status_of(Inventory("s", held), (), MEANS, kind="mem0")
    assert status["unconfirmed"] == [{"days": 500, "id": "a"}, {"days": 300, "id": "b"}]
    assert "Not confirmed for longest:" in told.spoken_status(status, str)


def test_what_is_said_in_several_scopes_is_listed_and_left_alone() -> None:
    held = (memory("1", "Likes tea."), memory("2", "likes tea", scope=BOB), memory("3", "Likes tea"))
    found = told.said_across(Inventory("s", held), NOW, str)
    assert [[each["id"] for each in group["memories"]] for group in found] == [["1", "2", "3"]]
    assert told.across_lines(found, "mem0")[:2] == ["Said in several scopes (1):", "  Likes tea."]
    none = told.said_across(Inventory("s", held[::2]), NOW, str)
    assert told.across_lines(none, "mem0") == ["Nothing is said in several scopes."]


@pytest.mark.parametrize(("likely", "listed"), [(0.99, [["1", "2"]]), (0.7, [])])
def test_the_same_fact_in_other_words_is_said_in_several_scopes_too(likely, listed) -> None:
    """What a pass would merge unasked in one scope; what it would ask about is not."""
    held = (
        memory("1", "The shop is deployed on Tuesdays", category="work"),
        memory("2", "Every Tuesday the shop goes live", scope=BOB),
        memory("3", "Has a dog"),
    )
    scorer = FakeScorer({(held[0].text, held[1].text): (likely, 0.0, 1 - likely)})
    with session_on(InMemoryStore(held), scorer) as session:
        inventory = session.read(EVERYTHING)
        _, verdicts = judged(session.kind, told.in_one_scope(inventory), session.means(NOW))
    found = told.said_across(inventory, NOW, str, verdicts)
    assert [[each["id"] for each in group["memories"]] for group in found] == listed
