"""A whole pass in one call, whatever the kind of store."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from ..errors import UsageError
from ..settings import Settings
from .engine import Session, scope_filter
from .plan import Plan, RunResult
from .stores.base import Store

P = ParamSpec("P")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a pass proposed, and what was done about it."""

    plan: Plan
    result: RunResult | None = None  # what was applied, and what was held back; None after a dry run


def consolidate(
    store: Store,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    app_id: str | None = None,
    all_scopes: bool = False,
    apply: bool = False,
    retire: bool | None = None,
    settings: Settings | None = None,
    state_dir: Path | str | None = None,
    now: datetime | None = None,
) -> Consolidation:
    """Consolidate a store: what `mem0-dream` does, in one call; the store is left open.

    Only the memories of this user, agent, run or app are looked at, or with `all_scopes` all, each scope for
    itself. Without `apply` nothing is changed. With it merges and prunes are applied as `--auto` does, and
    contradictions are left to a person. `retire` expires instead of deleting, by default only what lost a
    conflict; `settings` are those of the store's own configuration if omitted; ages are reckoned from `now`.

    Raises:
        UsageError: If neither an id nor `all_scopes` says whose memories are meant.
        BudgetExceededError: If the delete budget holds back all that was to be done.
    """
    scopes = scope_filter(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
    moment = now or datetime.now(UTC)
    session = Session(store, settings=settings, state_dir=state_dir)
    try:
        scoped = session.kind.scoped
        if not scoped and (scopes.ids or retire):
            raise UsageError(
                f"A store of the kind {store.kind} has no users and no expiry; leave ids and retire out."
            )
        if scoped and not scopes.ids and not all_scopes:
            raise UsageError(
                "Say whose memories to consolidate: user_id, agent_id, run_id or app_id, or all_scopes=True."
            )
        with session.locked():
            plan = session.look(scopes, now=moment, unattended=apply, say=logger.info).plan
            result = session.apply(plan, now=moment, retire=retire, hold_back=True) if apply else None
    finally:
        session.release()
    return Consolidation(plan, result)


def _in_a_thread(
    whole: Callable[Concatenate[Store, P], Consolidation],
) -> Callable[Concatenate[object, P], Coroutine[Any, Any, Consolidation]]:
    @functools.wraps(whole)
    async def coroutine(memory: object, /, *args: P.args, **kwargs: P.kwargs) -> Consolidation:
        def run() -> Consolidation:
            """The journal and the store belong to one thread."""
            from .stores import store_over

            given = memory if hasattr(memory, "capabilities") else None
            store: Any = given or store_over(memory)
            try:
                return whole(store, *args, **kwargs)
            finally:
                if given is None:
                    store.close()

        return await asyncio.to_thread(run)

    coroutine.__name__ = coroutine.__qualname__ = "aconsolidate"
    coroutine.__doc__ = f"""Do as `consolidate`, in a thread of its own, for an `AsyncMemory`, an
    `AsyncMemoryClient`, their synchronous sisters, or a store; the client stays open.

    Example:
        done = await aconsolidate(AsyncMemoryClient(), user_id="alice", apply=True, retire=True)

    {whole.__doc__}"""
    return coroutine


aconsolidate = _in_a_thread(consolidate)
