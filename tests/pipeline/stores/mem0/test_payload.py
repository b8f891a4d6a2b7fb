"""What a raw payload says."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline.stores.base import Snapshot
from mem0_dream.pipeline.stores.mem0.rows import CORE_KEYS, decoded, encoded, is_memory, moment, parse_memory
from mem0_dream.records import Memory, Scope

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
CASES = json.loads(Path(__file__).with_name("payloads.json").read_text(encoding="utf-8"))


def parsed(**payload: Any) -> Memory:
    return parse_memory(Snapshot("1", {"data": "Likes tea", **payload}))


@pytest.mark.parametrize("value", [*CASES["noon"], NOON])
def test_dates_of_all_kinds_are_read_as_utc(value):
    assert moment(value) == parsed(created_at=value).created_at == NOON


@pytest.mark.parametrize("value", CASES["no moment"])
def test_what_is_no_date_is_none(value):
    assert moment(value) is parsed(created_at=value).created_at is None


@pytest.mark.parametrize(("expected", "payload"), CASES["category"])
def test_the_category_comes_from_the_first_key_that_names_one(expected, payload):
    assert parsed(**payload).category == expected


@pytest.mark.parametrize(("expected", "payload"), CASES["pinned"])
def test_pins_are_seen(expected, payload):
    assert parsed(**payload).pinned is expected


def test_the_scope_is_every_identity_that_is_there():
    ids = {"user_id": "a", "agent_id": "b", "run_id": 3, "app_id": "d", "actor_id": "e", "role": "assistant"}
    assert parsed(**ids).scope == Scope.of(**{key: str(value) for key, value in ids.items()})
    assert parsed(user_id="a", agent_id="", run_id=None).scope == Scope.of(user_id="a")


def test_no_role_and_the_role_of_the_user_are_one_scope():
    plain = parsed(user_id="a").scope
    assert parsed(user_id="a", role="user").scope == plain == parsed(user_id="a", role="User").scope
    assert parsed(user_id="a", role="assistant").scope != plain


def test_metadata_is_what_the_user_gave():
    memory = parsed(**dict.fromkeys(CORE_KEYS - {"data"}, "x"), mood="happy", category="food")
    assert memory.metadata == {"mood": "happy", "category": "food"}


def test_expiry_and_access_are_read():
    memory = parsed(expiration_date="2025-03-01", last_accessed_at="2025-03-01T12:00:00Z")
    assert (memory.expires_on, memory.accessed_at) == (date(2025, 3, 1), NOON)
    assert parsed(expiration_date="soon").expires_on is None


def test_a_row_without_text_is_no_memory():
    assert not is_memory({"user_id": "x", "type": "user_identity"})
    assert is_memory({"data": ""})
    assert parse_memory(Snapshot("1", {})).text == ""


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2), max_leaves=4)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_encoded_metadata_is_flat_and_comes_back(metadata):
    flat = encoded(metadata)
    assert all(isinstance(value, str | int | float | bool) for value in flat.values())
    assert {key: decoded(value) for key, value in flat.items()} == metadata


def test_text_that_only_looks_encoded_stays_text():
    assert decoded("mem0_dream_json:{") == "mem0_dream_json:{"
