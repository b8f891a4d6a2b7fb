"""The delete budget: each scope for itself, the most certain merges first."""

from pathlib import Path

import pytest
from builders import ALICE, BOB, NOW, duplicates, memory, plan_of, session_on
from mem0_dream.errors import BudgetExceededError
from mem0_dream.pipeline.planning.budget import affordable, overdrafts
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

THIRD = Settings(floor=-1.0, max_delete=0.3, min_delete=1, assume_unread=True)
SURE, LESS_SURE = (0.99, 0.0, 0.01), (0.97, 0.0, 0.03)
PAIRS = {("Has a dog.", "Has a dog and walks it."): LESS_SURE, ("Likes tea.", "Likes tea with milk."): SURE}


def two_scopes() -> InMemoryStore:
    """Of Alice two merges and two old facts are proposed, of six memories; of Bob one merge, of five."""
    texts = [text for pair in PAIRS for text in pair]
    alice = [memory(f"a{number}", text) for number, text in enumerate(texts)]
    alice += [memory(f"old{number}", f"Rented flat {number} in Leeds.", days=400) for number in (1, 2)]
    bob = [memory("b1", "Likes tea.", scope=BOB), memory("b2", "Likes tea with milk.", scope=BOB)]
    bob += [memory(f"c{number}", f"Has a flat in street {number}.", scope=BOB) for number in range(3)]
    return InMemoryStore([*alice, *bob])


def test_one_scope_over_budget_does_not_stop_another() -> None:
    plan = plan_of(two_scopes(), FakeScorer(PAIRS), settings=THIRD)
    (over,) = overdrafts(plan, THIRD)
    assert (over.scope, over.removed, over.memories) == (ALICE, 4, 6)
    kept, (held,) = affordable(plan, THIRD)
    done = [(action.scope, [member.id for member in action.members]) for action in kept.actions]
    assert done == [(ALICE, ["a2", "a3"]), (BOB, ["b1", "b2"])]
    assert held.startswith("3 of 4 proposals are held back: they would remove 4 of 6 memories of user_id=")


def test_copies_are_free_and_nothing_else_is() -> None:
    store = InMemoryStore([memory(f"c{number}", "Has a dog named Rex.") for number in range(9)])
    store.rows |= InMemoryStore([memory("o", "Rented a flat in Leeds.", days=400)]).rows
    none = Settings(floor=-1.0, max_delete=0.0, assume_unread=True)
    plan = plan_of(store, duplicates(), settings=none)
    kept, held = affordable(plan, none)
    assert ([len(merge.members) for merge in kept.merges], len(kept.prunes), len(held)) == ([9], 0, 1)


def test_what_is_held_back_altogether_is_refused() -> None:
    texts = ("Fixed bug", "Had a good day.", "Something about work", "Updated file")
    vague = [memory(f"v{number}", text) for number, text in enumerate(texts)]
    plan = plan_of(InMemoryStore(vague), FakeScorer(), settings=THIRD)
    with pytest.raises(BudgetExceededError, match="4 of 4 memories"):
        affordable(plan, THIRD)


def test_an_unattended_run_says_what_it_held_back(tmp_path: Path) -> None:
    store = two_scopes()
    with session_on(store, FakeScorer(PAIRS), tmp_path, settings=THIRD) as session:
        plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
        with pytest.raises(BudgetExceededError):
            session.apply(plan, now=NOW)
        assert session.journal.runs() == ()
        done = session.apply(plan, now=NOW, hold_back=True)
    assert (done.merged, done.pruned, len(done.held)) == (2, 0, 1)
