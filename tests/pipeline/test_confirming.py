"""Still true: an answer that counts like a statement; what is said in several scopes; what nobody confirmed."""

from __future__ import annotations

import pytest
from builders import BOB, CONTRADICTION, NOW, memory, session_on
from mem0_dream.pipeline.planning.engine import judged
from mem0_dream.pipeline.reporting import status as told
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Inventory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

EVERYTHING = ScopeFilter()


def test_a_memory_that_still_holds_is_not_stale_again() -> None:
    store = InMemoryStore([memory("old", "Keeps bees on the roof of the town hall", days=400)])
    with session_on(store, assume_unread=True) as session:
        plan = session.propose(EVERYTHING, now=NOW)
        assert [prune.reason for prune in plan.prunes] == ["stale"]
        review = Review(session.directory, plan, unites=True)
        review.answer(plan.prunes[0].id, "still", now=NOW)
        assert review.planned(session).actions == ()
        assert session.kind.health(session.read(EVERYTHING), session.means(NOW)).value("stale") == 0
        before = store.rows["old"].copy()
        assert session.propose(EVERYTHING, now=NOW).prunes == ()
        assert session.propose(EVERYTHING, now=NOW.replace(year=NOW.year + 1)).prunes != ()
        later = session.propose(EVERYTHING, now=NOW.replace(year=NOW.year + 1))
        assert Review(session.directory, later).answers == {}  # the old answer is none to the new question
        assert [str(given.say) for given in review.answers.values()] == ["still"]
        review.withdraw(plan.prunes[0].id)
        assert session.propose(EVERYTHING, now=NOW).prunes != ()
        assert store.rows["old"] == before


def test_a_conflict_whose_sides_both_still_hold_is_not_asked_again() -> None:
    """The answer is kept under its own name, and gives both sides the day on which it was given."""
    store = InMemoryStore(
        [memory("a", "Likes tea at noon", days=100), memory("b", "Likes tea at one", days=3)]
    )
    scorer = FakeScorer(default=lambda _a, _b: CONTRADICTION)
    with session_on(store, scorer) as session:
        plan = session.propose(EVERYTHING, now=NOW)
        review = Review(session.directory, plan)
        review.answer(plan.conflicts[0].id, "still", now=NOW)
        assert review.effects(review.planned(session)) == {"c1": "still true, not asked again"}
        assert session.propose(EVERYTHING, now=NOW).conflicts == ()
        held = session.read(EVERYTHING).memories
        assert [each.metadata["confirmed_at"] for each in held] == [NOW.isoformat()] * 2


def test_what_nobody_confirmed_for_longest_is_listed() -> None:
    ages = {"a": 500, "b": 300, "c": 10, "p": 900}
    held = tuple(memory(i, f"Fact {i}", days=days, pinned=i == "p") for i, days in ages.items())
    status = told.status_of(Inventory("s", held), (), settings=Settings(), now=NOW, kind="mem0")
    assert status["unconfirmed"] == [{"days": 500, "id": "a"}, {"days": 300, "id": "b"}]
    assert "Not confirmed for longest:" in told.spoken_status(status, str)


def test_what_is_said_in_several_scopes_is_listed_and_left_alone() -> None:
    held = (memory("1", "Likes tea."), memory("2", "likes tea", scope=BOB), memory("3", "Likes tea"))
    found = told.said_across(Inventory("s", held), NOW, str)
    assert [[each["id"] for each in group["memories"]] for group in found] == [["1", "2", "3"]]
    assert told.across_lines(found, "mem0")[:2] == ["Said in several scopes (1):", "  Likes tea."]
    assert told.across_lines(told.said_across(Inventory("s", held[::2]), NOW, str), "mem0") == [
        "Nothing is said in several scopes."
    ]


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
