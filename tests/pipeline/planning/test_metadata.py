"""A merge loses nothing of anyone's metadata, whether a new text is written or a member stays."""

import copy
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import NOW, duplicates, memory, session_on
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.drafts import united_metadata
from mem0_dream.pipeline.reporting.report import Report
from mem0_dream.pipeline.stores.base import Amend, ScopeFilter
from mem0_dream.testing import InMemoryStore
from mem0_stores import Place

DOG, DOG_NAME = "Has a dog.", "Has a dog and walks it."


def two_dogs() -> InMemoryStore:
    less = {"source": "chat", "tags": ["pet"], "vet": "Dr Ode"}
    more = {"source": "form", "tags": ["dog", "pet"]}
    rows = memory("d1", DOG, days=90, metadata=less), memory("d2", DOG_NAME, days=20, metadata=more)
    return InMemoryStore([*rows, memory("x", "Shoe size 39")])


def session(store: InMemoryStore, folder: Path) -> Session:
    return session_on(store, duplicates([DOG, DOG_NAME]), folder, max_delete=1.0)


def test_a_member_that_stays_takes_over_what_the_others_say(tmp_path: Path) -> None:
    store = two_dogs()
    before = copy.deepcopy((store.rows, store.vectors))
    with session(store, tmp_path) as opened:
        plan = opened.propose(ScopeFilter(), now=NOW)
        assert "    source: chat / form (all kept, the last counts)" in Report(plan).lines()
        result = opened.apply(plan, now=NOW)
        row = store.rows["d2"]
        assert "d1" not in store.rows
        assert row["text"] == DOG_NAME
        assert row["created_at"] == (NOW - timedelta(days=90)).isoformat()
        assert row["updated_at"] == before[0]["d2"]["updated_at"]
        assert row["metadata"] == {
            "source": "form",
            "tags": ["pet", "dog"],
            "vet": "Dr Ode",
            "merged_values": {"source": ["chat", "form"]},
            "merged_from": ["d1", "d2"],
            "last_stated_at": (NOW - timedelta(days=20)).isoformat(),
        }
        assert opened.propose(ScopeFilter(), now=NOW).actions == ()
        opened.undo(result.run, now=NOW)
    assert (store.rows, store.vectors) == before
    store.capabilities = replace(store.capabilities, amend=False)  # a store that cannot is left as it is
    with session(store, tmp_path / "other") as opened:
        (merge,) = opened.propose(ScopeFilter(), now=NOW).merges
    assert (merge.amends, merge.metadata) == (False, {})


def test_a_survivor_that_was_written_since_is_left_alone(tmp_path: Path) -> None:
    store = two_dogs()
    with session(store, tmp_path) as opened:
        run = opened.apply(opened.propose(ScopeFilter(), now=NOW), now=NOW).run
        store.rows["d2"]["metadata"]["mood"] = "glad"
        store.rows["d2"]["updated_at"] = NOW.isoformat()
        undone = opened.undo(run, now=NOW)
    assert store.rows["d2"]["metadata"]["mood"] == "glad"
    assert "d1" in store.rows
    assert undone.kept == (("d2", "it was written anew since the run"),)


def test_values_of_earlier_merges_stay_listed() -> None:
    earlier = {"place": "Leeds", "merged_values": {"place": ["York", "Leeds"]}}
    merged = memory("a", DOG, days=9, metadata=earlier)
    new = memory("b", DOG, days=1, metadata={"place": "York", "merged_from": ["z"]})
    united = united_metadata([merged, new])
    assert united["merged_values"] == {"place": ["Leeds", "York"]}
    assert united["place"] == "York"
    assert united["merged_from"] == ["a", "b", "z"]


EARLY, LATE = date(2027, 1, 1), date(2028, 1, 1)


@pytest.mark.parametrize(
    ("first", "second", "then"),
    [
        (None, EARLY, None),
        (LATE, EARLY, str(LATE)),
        (EARLY, LATE, str(LATE)),
        (EARLY, None, None),
        (None,) * 3,
    ],
)
def test_a_fact_does_not_go_sooner_than_its_longest_source(tmp_path, first, second, then):
    rows = memory("d1", DOG, expires_on=first), memory("d2", DOG_NAME, expires_on=second)
    store = InMemoryStore([*rows, memory("x", "Shoe size 39")])
    before = copy.deepcopy(store.rows)
    with session(store, tmp_path) as opened:
        run = opened.apply(opened.propose(ScopeFilter(), now=NOW), now=NOW).run
        assert store.rows["d2"]["expires_on"] == then
        opened.undo(run, now=NOW)
    assert store.rows == before


@pytest.mark.store
def test_mem0_keeps_it_beside_its_own_keys(place: Place) -> None:
    """On each vector store: the user's keys and the date change, mem0's own and the vector do not."""
    (row_id,) = place.fill([DOG], metadata={"category": "pets", "source": "chat"})
    store = place.open()
    before = store.fetch([row_id])[row_id]
    old = datetime(2024, 5, 1, tzinfo=UTC)
    values = {"source": ["chat", "form"]}
    told: dict[str, Any] = {"source": "form", "tags": ["a", "b"], "merged_values": values}
    store.write(Amend(row_id, told, old, "2099-01-01"))
    lasting = store.parse(store.fetch([row_id])[row_id]).expires_on
    store.write(Amend(row_id, told, old, ""))
    assert lasting == date(2099, 1, 1)
    after = store.fetch([row_id])[row_id]
    read = store.parse(after)
    store.close()
    assert (read.created_at, read.text, read.category) == (old, DOG, "pets")
    assert read.metadata == {"category": "pets", **told}
    assert after.vector == before.vector
    changed = {key for key in after.payload if after.payload[key] != before.payload.get(key)}
    assert changed <= {"created_at", *told}
