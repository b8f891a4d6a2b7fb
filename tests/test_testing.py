"""The stand-ins behave like the real parts where it matters for safety."""

import socket
from datetime import date

import numpy as np
import pytest
from builders import ALICE, BOB, NOW, memory
from hypothesis import given, strategies as st
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.scorer import PairInput, PairScorer
from mem0_dream.pipeline.stores.base import Add, Delete, Restore, Retire, ScopeFilter, Store, Update
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

ENCODER: Encoder = FakeEncoder()
SCORER: PairScorer = FakeScorer()
STORE: Store = InMemoryStore()
"""Type-checked: the stand-ins fit the seams."""


@given(st.lists(st.text(max_size=20), max_size=5))
def test_the_encoder_gives_unit_rows(texts):
    rows = FakeEncoder().encode(texts)
    assert rows.dtype == np.float32
    assert rows.shape[0] == len(texts)
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths == pytest.approx([float(bool(text.split())) for text in texts], abs=1e-5)
    assert np.array_equal(rows, FakeEncoder().encode(texts))
    given = FakeEncoder({"a": [3.0, 4.0], "b": [0.0, 2.0]}).encode(["a", "b"])
    assert given.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 1.0]]


def test_the_scorer_answers_from_its_table_in_any_order():
    scorer = FakeScorer({("b", "a"): (0.9, 0.0, 0.1)})
    scores = scorer.score([PairInput("a", "b", 0.5), PairInput("b", "a", 0.5), PairInput("a", "c", 0.5)])
    assert scores.probabilities[:, 0].tolist() == [pytest.approx(0.9), pytest.approx(0.9), 0.0]
    assert scores.entailment.shape == (3, 2)
    assert [pair.b for pair in scorer.asked] == ["b", "a", "c"]
    assert scorer.score([]).probabilities.shape == (0, 3)


def test_a_memory_comes_back_as_it_was_and_gaps_are_told():
    whole = memory(
        "a", "Likes tea.", metadata={"x": [1]}, accessed_at=NOW, expires_on=date(2030, 1, 1), pinned=True
    )
    store = InMemoryStore([whole, memory("b", "Likes tea.", scope=BOB)])
    store.gaps = ("20 of 45",)
    found = store.read(ScopeFilter({"user_id": "alice"}))
    assert (found.memories, found.gaps) == ((whole,), store.gaps)
    snapshot = store.fetch(["a"])["a"]
    assert store.parse(snapshot) == whole
    assert store.fetch(["zz"]) == {}
    store.rows["a"]["metadata"]["x"].append(2)
    assert snapshot.payload["metadata"] == {"x": [1]}


def test_each_change_is_made():
    store = InMemoryStore([memory("a", "Likes tea."), memory("b", "Has a dog.")])
    before = store.fetch(["a", "b"])
    added = store.write(Add("Likes green tea.", ALICE, {"category": "note"}, NOW, "mark"))
    assert store.find_mark("mark", ALICE) == added
    assert store.find_mark("mark", BOB) is None
    assert store.find_mark("other", ALICE) is None
    assert store.finds(added)
    store.write(Update("a", "Likes coffee."))
    store.write(Retire("b", date(2026, 11, 20)))
    assert store.parse(store.fetch(["b"])["b"]).is_retired(date(2026, 11, 21))
    store.write(Delete("b"))
    store.write(Delete("b"))
    assert not store.finds("b")
    for snapshot in before.values():
        store.write(Restore(snapshot))
    store.write(Delete(added))
    assert store.fetch(["a", "b", added]) == before


def test_an_addition_never_takes_an_id_that_exists_and_hooks_see_it_before_and_after():
    store, seen = InMemoryStore([memory("new-1", "Likes tea.")]), list[tuple[str, bool]]()
    store.before_write = lambda change: seen.append(("before", "new-2" in store.rows))
    store.after_write = lambda change: seen.append(("after", "new-2" in store.rows))
    assert store.write(Add("Has a dog.", ALICE, {}, None, "m")) == "new-2"
    assert store.rows["new-1"]["text"] == "Likes tea."
    assert seen == [("before", False), ("after", True)]


def test_a_connection_to_another_machine_fails_and_one_to_this_machine_works() -> None:
    """Also where the caller takes an OSError for an answer."""
    with socket.socket() as outside, pytest.raises(AssertionError, match=r"may not connect to 192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 443))
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
