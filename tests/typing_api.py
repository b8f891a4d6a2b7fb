"""The public API as a user's type checker sees it; mypy reads this file, nobody runs it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import assert_type

import mem0_dream as api
from mem0_dream.pipeline.engine import scope_filter
from mem0_dream.pipeline.stores.base import Store
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore


def three_lines() -> None:
    api.track_access(object()).search("tea")
    store = api.open_store("mem0.yaml")
    result = api.consolidate(store, user_id="alice")
    assert_type(result, api.Consolidation)
    assert_type(result.plan, api.Plan)
    assert_type(result.result, api.RunResult | None)
    assert_type(result.plan.merges, tuple[api.Merge, ...])
    assert_type(result.plan.conflicts, tuple[api.Resolve, ...])
    assert_type(result.plan.prunes, tuple[api.Prune, ...])


def with_a_session(store: Store, when: datetime) -> api.UndoResult:
    with (
        api.Session(store, settings=api.Settings(max_delete=0.1), state_dir="state") as session,
        session.locked(),
    ):
        plan = session.propose(scope_filter(user_id="alice"), now=when)
        applied = session.apply(plan, now=when, choices={"c1": "a", "c2": None}, retire=True)
        assert_type(applied, api.RunResult)
        assert_type(applied.merged, int)
        assert_type(applied.moved, tuple[tuple[str, str], ...])
        return session.undo(applied.run, now=when)


def what_a_merge_tells(merge: api.Merge) -> tuple[str, str | None, tuple[str, ...]]:
    verdict = merge.verdicts[0]
    assert_type(verdict, api.Verdict)
    assert_type(verdict.label, api.Label)
    assert_type(verdict.evidence, tuple[api.Evidence, ...])
    assert_type(verdict.probabilities, tuple[float, float, float])
    assert_type(merge.scope, api.Scope)
    assert_type(merge.created_at, datetime | None)
    return merge.text, merge.survivor, merge.removes


def what_a_memory_tells(memory: api.Memory) -> Mapping[str, object]:
    """Dates may be unknown, a scope never is."""
    assert_type(memory.scope.get("user_id"), str | None)
    assert_type(memory.stated_at, datetime | None)
    assert_type(memory.is_retired(datetime.now(UTC).date()), bool)
    return memory.metadata


def with_stand_ins() -> api.Consolidation:
    with api.Session(InMemoryStore(), encoder=FakeEncoder(), scorer=FakeScorer()) as session:
        assert_type(session.store, Store)
    return api.consolidate(InMemoryStore(), all_scopes=True, settings=api.Settings(scorer="keywords"))


def what_can_go_wrong() -> int:
    """One class to catch, with its exit code and the ids it is about."""
    try:
        api.consolidate(api.open_store("mem0.yaml"), agent_id="bot", apply=True)
    except api.DreamError as error:
        assert_type(error.ids, tuple[str, ...])
        return error.exit_code
    return 0


def wrong_uses(store: Store) -> None:
    """Each of these must be refused by a type checker."""
    api.consolidate(store, "alice")  # type: ignore[call-arg]
    api.consolidate(store, users="alice")  # type: ignore[call-arg]
    api.consolidate(store, user_id=7)  # type: ignore[arg-type]
    store.remove_everything()  # type: ignore[attr-defined]
