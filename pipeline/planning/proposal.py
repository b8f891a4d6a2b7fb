"""The interface of planners, one for each kind of store: what a planner is given, and what it proposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...settings import Settings
from ..answers import Answer
from ..judging.inventory import Circumstances
from ..judging.models import Models
from ..plan import Plan
from .stages import Observer, Silent

OnStage = Callable[[str, int, int], None]
_SILENT = Silent()


def _unadvised(plan: Plan) -> Plan:
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Circumstances):
    """What a plan is made with, besides what the store holds.

    Attributes:
        settings: Limits, as the kind's `limits` gave them.
        answers: What a person answered about the store.
        observer: Is told how far a pass has come.
        advise: Asks a second opinion about the doubts of a plan, if one is wanted.
    """

    models: Models
    settings: Settings
    answers: tuple[Answer, ...] = ()
    observer: Observer = _SILENT
    advise: Callable[[Plan], Plan] = _unadvised

    @property
    def circumstances(self) -> Circumstances:
        """The same, with the thresholds of a person's calibration; loads the scorer."""
        return replace(self, thresholds=self.models.calibrated)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pass would do.

    Attributes:
        plan: All of it, as it follows from the answers so far.
        asked: What a person decides about: the plan before answers and consequences.
        findings: How the kind looked at the inventory, for the report: its `View`.
        present: What the consequences were worked out from; see `Kind.follow`.
    """

    plan: Plan
    asked: Plan
    findings: Any = None
    present: Any = None

    @classmethod
    def of(cls, plan: Plan) -> Proposal:
        """A plan from which nothing else follows."""
        return cls(plan, plan)
