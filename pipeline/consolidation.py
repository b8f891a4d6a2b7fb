"""A whole pass in one call, whatever the kind of store."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

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
            result = session.apply(plan, now=moment, retire=retire) if apply else None
    finally:
        session.release()
    return Consolidation(plan, result)
