"""The delete budget: how much one run may take away from a scope."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...errors import BudgetExceededError
from ...records import Scope
from ..actions import net_removals
from ..plan import Plan


@dataclass(frozen=True, slots=True)
class Overdraft:
    """A scope of which a plan takes away too much.

    Attributes:
        scope: The first such scope.
        removed: Facts the plan takes away, exact copies not counted.
        memories: Living memories of the scope.
    """

    scope: Scope
    removed: int
    memories: int

    def __str__(self) -> str:
        share = f"{self.removed / self.memories:.0%}"
        return (
            f"{self.removed} of {self.memories} memories of {self.scope} ({share}, exact copies not counted)"
        )


def overdraft(plan: Plan, *, max_share: float, min_count: int) -> Overdraft | None:
    """The first scope of which a plan takes away too much; exact copies are not counted.

    Args:
        plan: With the conflicts answered as they would be applied.
        max_share: Largest share of a scope's living memories, 0 to 1.
        min_count: So few removals are always allowed, unless the share is 0: that means none.
    """
    taken: Counter[Scope] = Counter()
    for action in plan.actions:
        taken[action.scope] += net_removals(action)
    for total in plan.totals:
        count = taken[total.scope]
        small = count <= min_count and max_share > 0
        if not small and count > max_share * total.memories:
            return Overdraft(total.scope, count, total.memories)
    return None


def check_budget(plan: Plan, *, max_share: float, min_count: int) -> None:
    """Refuse a plan over budget; see `overdraft`.

    Raises:
        BudgetExceededError: With the numbers of the first scope over budget.
    """
    over = overdraft(plan, max_share=max_share, min_count=min_count)
    if over is not None:
        raise BudgetExceededError(
            f"The plan would remove {over}, more than the delete budget of {max_share:.0%}; "
            "nothing was changed. Look at it with --dry-run, then raise --max-delete."
        )
