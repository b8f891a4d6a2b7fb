"""The interface of planners, one for each kind of store: what a planner is given, and what it proposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ...records import Inventory
from ...settings import Settings
from ..actions import Side
from ..answers import Answer
from ..judging.inventory import Circumstances
from ..judging.models import Models
from ..plan import Plan
from .stages import Observer, Silent

_SILENT = Silent()


def _unadvised(plan: Plan) -> Plan:
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a planner works with.

    Attributes:
        models: Encoder and scorer.
        settings: Limits, as `Planner.limits` gave them.
        now: The moment ages are reckoned from, aware UTC.
        unattended: No person will see the plan before it is applied: only what is certain.
        accessed: Latest reads from the access log, by memory id.
        tracked: Ids that the agent's own client is known to have read.
        answers: What a person answered about the store.
        rejected: Keys of all that was closed by an answer.
        observer: Is told how far a pass has come.
        advise: Asks a second opinion about the doubts of a plan, if one is wanted.
    """

    models: Models
    settings: Settings
    now: datetime
    unattended: bool = False
    accessed: Mapping[str, datetime] = field(default_factory=dict)
    tracked: frozenset[str] = frozenset()
    answers: tuple[Answer, ...] = ()
    rejected: frozenset[str] = frozenset()
    observer: Observer = _SILENT
    advise: Callable[[Plan], Plan] = _unadvised

    @property
    def circumstances(self) -> Circumstances:
        """The same for the core's planning; loads the scorer, whose thresholds may be calibrated."""
        return Circumstances(
            now=self.now,
            accessed=self.accessed,
            rejected=self.rejected,
            thresholds=self.models.calibrated,
            unattended=self.unattended,
            tracked=self.tracked,
            hygiene=frozenset(self.settings.hygiene_auto if self.unattended else self.settings.hygiene),
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pass would do.

    Attributes:
        plan: All of it, as it follows from the answers so far.
        asked: What a person decides about: its conflicts and doubts, before the answers.
        findings: What its planner found out besides, for `Planner.complete` and the report.
    """

    plan: Plan
    asked: Plan
    findings: Any = None

    @classmethod
    def of(cls, plan: Plan) -> Proposal:
        """A plan from which nothing else follows."""
        return cls(plan, plan)


class Planner(Protocol):
    """Makes a plan of an inventory for one kind of store; what is wanted of it is given when it is made."""

    def limits(self, settings: Settings) -> Settings:
        """The same limits, as far as they make sense for this kind."""
        ...

    def propose(self, inventory: Inventory, means: Means) -> Proposal:
        """Everything worth doing, without questions; changes nothing."""
        ...

    def complete(self, proposal: Proposal, choices: Mapping[str, Side | None], means: Means) -> Proposal:
        """What follows from a person's answers.

        Args:
            proposal: Its `asked` holds the doubts that were agreed to among its actions.
            choices: The side that stays, by conflict.
            means: As for `propose`.
        """
        ...

    def answered(self, plan: Plan, choices: Mapping[str, Side | None]) -> Plan:
        """A plan with answers to its conflicts, and with the changes that follow from these alone."""
        ...

    def completed(self, plan: Plan) -> Plan:
        """A plan that was read, edited and answered elsewhere, as it will be applied."""
        ...

    def remember(self, *, now: datetime, run: str) -> None:
        """Record the state of the store after a run, if later runs compare with it."""
        ...
