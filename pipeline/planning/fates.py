"""What a pass does about two memories: what it does or asks about both, or what keeps it from that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...records import Label, Memory, Verdict
from ..plan import Action, Merge, Plan, Resolve, TextChange
from .hooks import Hooks, Means, View
from .merges import collapse, of_copy


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of two memories in a pass over their scope."""

    alone: Verdict | None  # on the two texts by themselves
    here: Verdict | None  # where they stand; None if they are plainly distinct there, or not compared
    beside: int = 0  # how many other memories they stand among
    together: Merge | Resolve | None = None  # what the plan does or asks about both
    asked: bool = False  # it does nothing unless a person says so
    ahead: tuple[Action, ...] = ()  # else what it does or asks about one of them
    out: str = ""  # the one that is compared with nothing
    held: str = ""  # why not even what is certain is done

    @property
    def label(self) -> Label:
        """What the two are where they stand."""
        return self.here.label if self.here else Label.DISTINCT

    @property
    def certain(self) -> bool:
        """Whether the verdict where they stand asks for no person."""
        return bool(self.here and self.here.auto)

    @property
    def moved(self) -> bool:
        """Whether the two would be something else by themselves."""
        return self.alone is not None and (self.alone.label, self.alone.auto) != (self.label, self.certain)


def actions_on(plan: Plan, a: str, b: str) -> tuple[Merge | Resolve | None, bool, tuple[Action, ...]]:
    """What a plan does or asks about both memories, whether it is a question, and what it does about one."""
    for number, action in enumerate((*plan.actions, *plan.unsure)):
        ids = {member.id for member in action.members}
        if isinstance(action, Merge) and {a, b} <= ids:
            return action, number >= len(plan.actions), ()
        if isinstance(action, Resolve) and any(a in x and b in y for x, y in _sides(action)):
            return action, True, ()
    ahead = [each for each in plan.actions if not isinstance(each, TextChange) or each.survivor in (a, b)]
    return None, False, tuple(each for each in ahead if {a, b} & {member.id for member in each.members})


def _sides(conflict: Resolve) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return (conflict.a, conflict.b), (conflict.b, conflict.a)


class Standing:
    """The verdicts on the units of an inventory where they stand."""

    def __init__(self, kind: Hooks, view: View, means: Means) -> None:
        """Judge all of them, as a pass does before it merges anything."""
        self.units = {unit.id: unit for unit in view.units}
        units, copies = tuple(view.units), dict[str, tuple[Memory, ...]]()
        if kind.collapses:
            units, copies, _ = collapse(view.units, rejected=means.rejected, keys=view.keys)
        self._stands = {copy.id: name for name, some in copies.items() for copy in some}
        self._groups = Counter((unit.scope, unit.category) for unit in units)
        judged = kind.judge(view, means, lambda *_: None).all_pairs(units)
        self._judged = {frozenset((each.pair.a, each.pair.b)): each for each in judged}

    def of(self, a: str, b: str) -> tuple[Verdict | None, int]:
        """The verdict on two, and among how many others they stand; see `Fate.here`."""
        named = [(self._stands.get(name, name), name) for name in (a, b)]
        found = self._judged.get(frozenset(stands for stands, _ in named))
        for stands, name in named if found else ():
            found = of_copy(found, stands, name) if found and stands != name else found
        unit = self.units[a]
        return found, self._groups[unit.scope, unit.category] - len({stands for stands, _ in named})
