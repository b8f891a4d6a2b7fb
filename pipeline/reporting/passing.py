"""The report of a pass: before the questions, after the answers, and after the run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ...errors import IncompleteListingError
from ..actions import Resolve
from ..planning.doubts import open_question
from ..planning.plan_file import to_json
from ..results import RunResult
from .alignment import excerpts
from .report import (
    NOTHING_CERTAIN,
    NOTHING_FOUND,
    NOTHING_NEW,
    NOTHING_STORED,
    Report,
    auto_summary,
    moved_lines,
    summary,
)

UNCHANGED = "Dry run: no changes made."


class PassReport(Report):
    """Renders one pass; a kind of store that has more to say does so in a class of its own."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be agreed to, and nothing to be reported."""
        return not self._plan.actions

    @property
    def confirms(self) -> bool:
        """Whether a person has to agree to it."""
        return True

    def dry_run(self) -> list[str]:
        """What a pass would do.

        Raises:
            IncompleteListingError: If nothing was found, but not everything was seen.
        """
        plan = self._plan
        self._refuse_unseen()
        if not plan.totals:
            return [NOTHING_STORED]
        lines = self._shown()
        if not plan.actions:
            return [*lines, *self.nothing()]
        return [*lines, *self.left_open(), self.proposal(), *self._gaps(), UNCHANGED]

    def opening(self, *, asks: bool) -> list[str]:
        """What a person is shown before the questions.

        Args:
            asks: They will be asked about doubts, too.

        Raises:
            IncompleteListingError: If nothing was found, but not everything was seen.
        """
        plan = self._plan
        self._refuse_unseen()
        if not plan.totals:
            return [NOTHING_STORED]
        if asks:
            return self._shown()
        return [*self._shown(), *(self.left_open() if plan.actions else self.nothing())]

    def nothing(self) -> list[str]:
        """The lines where nothing is to be applied; doubts and open conflicts are named all the same."""
        if not self._plan.totals:
            return [NOTHING_STORED]
        nothing = NOTHING_NEW if self._plan.left_open else NOTHING_FOUND
        doubtful = self._plan.unsure or self._plan.notes
        return [NOTHING_CERTAIN if doubtful else nothing, *self.left_open()]

    def left_open(self) -> list[str]:
        """What is left to a person, and how to see it; nothing if there is nothing."""
        plan = self._plan
        lines = [f"{open_question(plan.unsure)}: --review"] if plan.unsure else []
        if plan.left_open:
            noun = "conflicts were" if plan.left_open > 1 else "conflict was"
            lines.append(f"{plan.left_open} {noun} left open earlier: `mem0-dream reject --list`")
        return lines

    def sides(self, conflict: Resolve) -> list[str]:
        """Both sides of a conflict, above the question."""
        texts = {member.id: member.text for member in conflict.members}
        sides = excerpts(texts[conflict.a[0]], texts[conflict.b[0]])
        return [f"  {side}: {text}{likely(conflict, side)}" for side, text in zip("AB", sides, strict=True)]

    def question(self, conflict: Resolve) -> str:
        """What a person is asked about a conflict."""
        return self.line(conflict).removesuffix("[A/B/skip]")

    def changed(self, before: PassReport) -> list[str]:  # noqa: ARG002
        """What follows from the answers and was not shown yet."""
        return []

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:  # noqa: ARG002
        """The report after a run.

        Args:
            result: What was done.
            auto: The run was unattended.
            took: How long the pass took.
        """
        if auto:
            if not self._plan.totals:
                return [NOTHING_STORED]
            return [auto_summary(result, conflicts=len(self._plan.conflicts) + self._plan.left_open)]
        return [*moved_lines(result, self._plan, self), summary(result), *self.left_open()]

    def skipped(self, result: RunResult) -> list[str]:
        """Changes of an unattended run that could not be made; names no memory, since logs are kept."""
        return [f"skipped {name}: {reason}" for name, reason in result.moved]

    def to_json(self, result: RunResult | None) -> dict[str, Any]:
        """The plan, and what was done of it, as JSON."""
        return to_json(self._plan, result)

    def _shown(self) -> list[str]:
        lines = self.lines() if self._plan.actions else []
        return [*lines, *(self.unsure_lines() if self._explain else [])]

    def _gaps(self) -> list[str]:
        return [f"Read-only: {gap}" for gap in self._plan.gaps]

    def _refuse_unseen(self) -> None:
        if self._plan.gaps and not self._plan.actions:
            raise IncompleteListingError(
                f"Read-only: {'; '.join(self._plan.gaps)}. Nothing was found in what could be listed."
            )


def likely(conflict: Resolve, side: str) -> str:
    """A word beside the side of a conflict that was stated later."""
    return " (newer, likely to hold)" if conflict.newer == side.lower() else ""
