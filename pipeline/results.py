"""What a run and an undo did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did."""

    run: str  # empty if nothing had to be done
    merged: int = 0
    pruned: int = 0
    resolved: int = 0
    skipped: int = 0  # conflicts left open, and actions whose memories had moved
    removed: int = 0
    added: int = 0
    moved: tuple[tuple[str, str], ...] = ()  # id of each action that was not applied as planned, and why
    held: tuple[str, ...] = ()  # what the delete budget held back, one sentence for each scope


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What an undo did."""

    run: str
    restored: int = 0
    withdrawn: int = 0  # memories that the run had added and that are gone again
    kept: tuple[tuple[str, str], ...] = ()  # memories that changed since and were left alone, and why
