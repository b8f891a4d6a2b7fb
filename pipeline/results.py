"""What a run and an undo did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did.

    Attributes:
        run: Empty if nothing had to be done.
        skipped: Conflicts left open, and actions whose memories had moved.
        moved: Id of each action that was not applied as planned, and why.
        held: What the delete budget held back, one sentence for each scope.
    """

    run: str
    merged: int = 0
    pruned: int = 0
    resolved: int = 0
    skipped: int = 0
    removed: int = 0
    added: int = 0
    moved: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What an undo did.

    Attributes:
        withdrawn: Memories that the run had added and that are gone again.
        kept: Memories that changed since and were left alone, with the reason.
    """

    run: str
    restored: int = 0
    withdrawn: int = 0
    kept: tuple[tuple[str, str], ...] = ()
