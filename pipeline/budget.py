"""The delete budget: how much one run may take away from a scope."""

from __future__ import annotations

from ..errors import BudgetExceededError
from .plan import Plan, net_removals
from .records import Scope


def check_budget(plan: Plan, *, max_share: float, min_count: int) -> None:
    """Refuse a plan that takes away too much of a scope; exact copies are not counted.

    Args:
        plan: With the conflicts answered as they would be applied.
        max_share: Largest share of a scope's living memories, 0 to 1.
        min_count: So few removals are always allowed.

    Raises:
        BudgetExceededError: With the numbers of the first scope over budget.
    """
    taken: dict[Scope, int] = {}
    for action in plan.actions:
        taken[action.scope] = taken.get(action.scope, 0) + net_removals(action)
    for total in plan.totals:
        count = taken.get(total.scope, 0)
        if count > min_count and count > max_share * total.memories:
            raise BudgetExceededError(
                f"The plan would remove {count} of {total.memories} memories of {total.scope} "
                f"({count / total.memories:.0%}, exact copies not counted), more than the delete budget of "
                f"{max_share:.0%}; nothing was changed. Look at it with --dry-run, then raise --max-delete."
            )
