"""Forgetting on request: what is found, in which order, and exactly what goes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from builders import ALICE, BOB, NOW, memory
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.forgetting import forget_plan, rank
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Inventory
from mem0_dream.testing import FakeEncoder, InMemoryStore

PHONE, OLD_PHONE, DOG = "Phone number is 0161 496 0000.", "Old phone number was 0161 496 0999.", "Has a dog."
CLOSE = FakeEncoder({"telephone": [1.0, 0.0], PHONE: [0.8, 0.6], OLD_PHONE: [0.3, 0.95], DOG: [0.0, 1.0]})


def found(query: str, *memories, encoder: FakeEncoder = CLOSE) -> list[str]:
    return [item.id for item in rank(query, Inventory("s", memories), encoder=encoder, now=NOW)]


def test_shared_words_come_before_similarity() -> None:
    """More shared words first, then the closer vector, then the id."""
    memories = (memory("a", PHONE), memory("b", OLD_PHONE), memory("c", DOG))
    words = FakeEncoder()
    assert found("old phone", *memories, encoder=words) == ["b", "a"]
    assert found("phone number", *memories, encoder=words)[:2] in (["a", "b"], ["b", "a"])


def test_similarity_alone_is_enough_when_it_is_close() -> None:
    assert found("telephone", memory("a", PHONE), memory("b", OLD_PHONE), memory("c", DOG)) == ["a"]


def test_nothing_is_found_for_nothing() -> None:
    assert found("  ", memory("a", PHONE)) == []
    assert found("phone") == []


def test_retired_memories_are_not_found() -> None:
    assert found("phone", memory("a", PHONE, expires_on=date(2020, 1, 1)), encoder=FakeEncoder()) == []


def test_the_plan_removes_exactly_what_was_chosen(own_state: Path) -> None:
    bobs = memory("b", OLD_PHONE, days=None, scope=BOB)
    store = InMemoryStore([memory("a", PHONE), bobs, memory("c", DOG)])
    before = store.fetch(["a", "b", "c"])
    with Session(store) as session:
        inventory = session.read(ScopeFilter())
        chosen = [item for item in inventory.memories if item.id != "c"]
        plan = forget_plan(chosen, inventory, kind=session.store.kind, now=NOW, settings=session.settings)
        gone = [(prune.removes, prune.reason, prune.age_days) for prune in plan.prunes]
        assert gone == [(("a",), "forgotten", 10), (("b",), "forgotten", None)]
        assert [(total.scope, total.memories) for total in plan.totals] == [(ALICE, 2), (BOB, 1)]
        result = session.apply(plan, now=NOW, within_budget=False)
        assert (result.pruned, set(store.rows)) == (2, {"c"})
        session.undo(now=NOW)
        assert store.fetch(["a", "b", "c"]) == before


def test_an_incomplete_listing_stays_read_only(own_state: Path) -> None:
    store = InMemoryStore([memory("a", PHONE)])
    store.gaps = ("20 of 45",)
    with Session(store) as session:
        held, settings = session.read(ScopeFilter()), session.settings
        plan = forget_plan(held.memories, held, kind=session.store.kind, now=NOW, settings=settings)
        assert plan.gaps == ("20 of 45",)
