"""A whole pass in one call, whatever the kind of store."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .engine import Session, scope_filter
from .kinds import kind_of

if TYPE_CHECKING:
    from ..settings import Settings
    from .plan import Plan
    from .results import RunResult
    from .stores.base import Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a pass proposed, and what was done about it.

    Attributes:
        plan: Everything proposed.
        result: What was applied; None after a dry run.
    """

    plan: Plan
    result: RunResult | None = None


def consolidate(
    store: Store,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    app_id: str | None = None,
    all_scopes: bool = False,
    apply: bool = False,
    retire: bool = False,
    settings: Settings | None = None,
    state_dir: Path | str | None = None,
    now: datetime | None = None,
) -> Consolidation:
    """Consolidate a store: what `mem0-dream` does, in one call.

    Without `apply` nothing is changed. With it merges and prunes are applied as `--auto` does, and
    contradictions are left to a person. The store is left open.

    Raises:
        UsageError: If neither an id nor `all_scopes` says whose memories are meant.
        BudgetExceededError: If the plan removes more than the delete budget.
    """
    scopes = scope_filter(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
    scoped = kind_of(store).scoped
    if not scoped and (scopes.ids or retire):
        raise UsageError(
            f"A store of the kind {store.kind} has no users and no expiry; leave ids and retire out."
        )
    if scoped and not scopes.ids and not all_scopes:
        raise UsageError(
            "Say whose memories to consolidate: user_id, agent_id, run_id or app_id, or all_scopes=True."
        )
    moment = now or datetime.now(UTC)
    session = Session(store, settings=settings, state_dir=state_dir)
    try:
        with session.locked():
            plan = session.look(scopes, now=moment, unattended=apply, say=logger.info).plan
            if scoped:
                plan = recall_checked(session, plan, unattended=apply)
            result = session.apply(plan, now=moment, retire=retire) if apply else None
    finally:
        session.release()
    return Consolidation(plan, result)


async def aconsolidate(
    memory: object,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    app_id: str | None = None,
    all_scopes: bool = False,
    apply: bool = False,
    retire: bool = False,
    settings: Settings | None = None,
    state_dir: Path | str | None = None,
    now: datetime | None = None,
) -> Consolidation:
    """Do as `consolidate`, for any client of mem0, in a thread of its own; the client stays open.

    Args:
        memory: An `AsyncMemory`, an `AsyncMemoryClient`, their synchronous sisters, or a store.
        user_id: Only this user's memories.
        agent_id: Only this agent's memories.
        run_id: Only this run's memories.
        app_id: Only this app's memories.
        all_scopes: Every scope, each for itself.
        apply: Apply what is certain, as `--auto` does.
        retire: Expire instead of deleting.
        settings: Limits.
        state_dir: Where the journal lives.
        now: The moment ages are reckoned from.

    Example:
        done = await aconsolidate(AsyncMemoryClient(), user_id="alice", apply=True, retire=True)
    """

    def whole() -> Consolidation:
        """The journal and the store belong to one thread."""
        from .stores.clients import store_over

        given = memory if hasattr(memory, "capabilities") else None
        store: Any = given or store_over(memory)
        try:
            return consolidate(
                store,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                app_id=app_id,
                all_scopes=all_scopes,
                apply=apply,
                retire=retire,
                settings=settings,
                state_dir=state_dir,
                now=now,
            )
        finally:
            if given is None:
                store.close()

    return await asyncio.to_thread(whole)


def recall_checked(session: Session, plan: Plan, *, unattended: bool) -> Plan:
    """The plan without merges that would hide a fact from a search, each named in its notes.

    Args:
        session: What read the store last, and proposed the plan.
        plan: What is proposed.
        unattended: No person will see the plan, so it is checked unless the settings say otherwise.
    """
    from .planning.recall import UNATTENDED_QUESTIONS, checked

    count, read = session.settings.recall_check, session.inventory
    if count is None:
        count = UNATTENDED_QUESTIONS if unattended and session.store.capabilities.vector else 0
    if not count or read is None or read.store != plan.store:
        return plan
    return checked(
        plan,
        [memory for memory in read.memories if not memory.is_retired(plan.now.date())],
        encode=session.models.read().encode,
        questions=count,
        accessed=session.access.last(plan.store),
    ).plan
