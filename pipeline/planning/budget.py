"""The delete budget: how much one run may take away from a scope."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ...errors import BudgetExceededError
from ...records import Scope
from ...settings import Settings
from ..plan import Action, Merge, Plan, Relate, net_removals
from ..stores.graph.entities import split_part

MEMORIES, OBSERVATIONS, RELATIONS = UNITS = ("memories", "observations", "relations")


@dataclass(frozen=True, slots=True)
class Overdraft:
    """A scope of which a plan takes away too many of one unit; exact copies are not counted."""

    scope: Scope
    removed: int
    memories: int
    unit: str = MEMORIES

    def __str__(self) -> str:
        share = f"{self.removed / self.memories:.0%}" if self.memories else "all"
        told = f"{share}, exact copies not counted"
        return f"{self.removed} of {self.memories} {self.unit} of {self.scope} ({told})"


def overdrafts(plan: Plan, limits: Settings) -> tuple[Overdraft, ...]:
    """The scopes of which a plan, with its conflicts answered, takes away too much.

    `max_delete` is the largest share of a scope's living memories; `min_delete` removals are always allowed,
    unless the share is 0: that means none.
    """
    taken: Counter[tuple[Scope, str]] = Counter()
    for action in plan.actions:
        for unit in UNITS:
            taken[action.scope, unit] += _taken(action, unit)
    return tuple(
        Overdraft(total.scope, taken[total.scope, unit], count, unit)
        for total in plan.totals
        for unit, count in zip(UNITS, (total.memories, total.observations, total.relations), strict=True)
        if taken[total.scope, unit] > _allowed(count, limits)
    )


def check_budget(plan: Plan, limits: Settings) -> None:
    """Refuse a plan over budget; see `overdrafts`."""
    if over := overdrafts(plan, limits):
        raise BudgetExceededError(
            f"The plan would remove {over[0]}, more than the delete budget of {limits.max_delete:.0%}; "
            "nothing was changed. Look at it with --dry-run, then raise --max-delete."
        )


def affordable(plan: Plan, limits: Settings) -> tuple[Plan, tuple[str, ...]]:
    """What of a plan may be done although some of its scopes are over budget; see `overdrafts`.

    Such a scope is not pruned, and nothing in it is resolved; of its merges those are done that take nothing
    away, then the most certain ones up to the budget. With one sentence for each scope that is held back.

    Raises:
        BudgetExceededError: If nothing is left that could be done.
    """
    held: list[str] = []
    kept = list(plan.actions)
    for over in overdrafts(plan, limits):
        left = _allowed(over.memories, limits)
        here = [action for action in kept if action.scope == over.scope and _taken(action, over.unit)]
        out = {action.id for action in here}
        merges = [action for action in here if isinstance(action, Merge) and over.unit != RELATIONS]
        # the most certain first
        sure = {merge.id: min((v.probabilities[0] for v in merge.verdicts), default=0.0) for merge in merges}
        for merge in sorted(merges, key=lambda merge: (-sure[merge.id], merge.id)):
            if net_removals(merge) <= left:
                left -= net_removals(merge)
                out.remove(merge.id)
        kept = [action for action in kept if action.id not in out]
        held.append(
            f"{len(out)} of {len(here)} proposals are held back: they would remove {over}, more than the "
            f"delete budget of {limits.max_delete:.0%}."
        )
    if held and not any(action.removes for action in kept):
        check_budget(plan, limits)
    return replace(plan, actions=tuple(kept)), tuple(held)


def _taken(action: Action, unit: str) -> int:
    if unit != RELATIONS:
        parts = any(split_part(member.id) for member in action.members)
        return net_removals(action) if parts == (unit == OBSERVATIONS) else 0
    return len(set(action.held) - set(action.relations)) if isinstance(action, Relate) else 0


def _allowed(memories: int, limits: Settings) -> int:
    return max(int(limits.max_delete * memories), limits.min_delete) if limits.max_delete > 0 else 0
