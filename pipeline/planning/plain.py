"""The planner of every store of single records: what the core proposes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ...records import ActionKind, Inventory
from ...settings import Settings
from ..actions import Side
from ..answers import unanswered
from ..plan import Plan
from ..stores.base import Store
from .proposal import Means, Proposal
from .stages import Stages
from .unchanged import Planning, planned

if TYPE_CHECKING:
    from ...models.scorer import PairScorer


class PlainPlanner:
    """Merges, conflicts and prunes of a store."""

    def __init__(self, store: Store, *, wanted: Collection[ActionKind] | None = None) -> None:
        """Bind a store.

        Args:
            store: Whose memories.
            wanted: Kinds of actions to propose; all if omitted.
        """
        self._store = store
        self._wanted = tuple(wanted) if wanted is not None else tuple(ActionKind)

    def limits(self, settings: Settings) -> Settings:
        """All limits make sense."""
        return settings

    def propose(self, inventory: Inventory, means: Means) -> Proposal:
        """See `Planner.propose`."""
        plan = core_plan(inventory, self._store, means)
        plan = unanswered(plan, means.rejected).only(*self._wanted)
        return Proposal.of(means.advise(plan).only(*self._wanted))

    def complete(self, proposal: Proposal, choices: Mapping[str, Side | None], means: Means) -> Proposal:  # noqa: ARG002
        """Answers change nothing else."""
        return replace(proposal, plan=proposal.asked.with_choices(choices))

    def answered(self, plan: Plan, choices: Mapping[str, Side | None]) -> Plan:
        """The losing side goes."""
        return plan.with_choices(choices)

    def completed(self, plan: Plan) -> Plan:
        """Nothing follows."""
        return self.answered(plan, {})

    def remember(self, *, now: datetime, run: str) -> None:
        """Nothing to remember: no later run compares with this one."""


def core_plan(
    inventory: Inventory,
    store: Store,
    means: Means,
    *,
    screen: Callable[[PairScorer], PairScorer] | None = None,
) -> Plan:
    """What the core proposes about an inventory; scopes that are as the last plan saw them cost nothing.

    Args:
        inventory: Memories of a store, as they are judged.
        store: Says how its merges are made.
        means: Models, limits, and what is known about the store.
        screen: Put before the scorer.
    """
    with Stages(means.observer) as stages:
        scorer: PairScorer = means.models.asked(on_stage=stages)
        planning = Planning(
            kind=store.kind,
            encoder=means.models.read(on_stage=stages),
            scorer=scorer if screen is None else screen(scorer),
            settings=means.settings,
            circumstances=means.circumstances,
            in_place=store.capabilities.in_place,
            amend=store.capabilities.amend,
        )
        return planned(inventory, planning, means.models.plans, stages)
