"""Every error a user can meet; `exit_code` is that of the command line.

A message says what happened, to which memory or file, and what to do. It never holds the text of a memory.
"""

from __future__ import annotations


class DreamError(Exception):
    """Root of all errors of this package."""

    exit_code = 1

    def __init__(self, message: str, *, ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ids = ids


class UsageError(DreamError):
    """The command line or a setting asks for something impossible."""

    exit_code = 2


class ConfigError(UsageError):
    """The mem0 configuration is missing, unreadable or wrong."""


class PlanFileError(UsageError):
    """A plan file is damaged, of another version, or for another store."""


class BudgetExceededError(DreamError):
    """The plan would remove more than the delete budget allows."""

    exit_code = 3


class StoreError(DreamError):
    """The store answers with an error, or only in part."""

    exit_code = 4


class IncompleteListingError(StoreError):
    """The listing is not provably complete, so nothing may be written."""


class MovedOnError(StoreError):
    """The store, or what was agreed to, is no longer as it was shown; nothing was changed."""


class RefusedChangeError(StoreError):
    """One change is impossible: what it changes moved, or may not be written; the others go on."""


class UnreadableError(RefusedChangeError):
    """What the store tells of one memory is no record of it, so that nothing may rest on it."""


class StoreLockedError(StoreError):
    """Another process holds the store, or another run is under way."""

    exit_code = 5


class JournalError(DreamError):
    """A run cannot be found, resumed or undone."""

    exit_code = 6


class ModelError(DreamError):
    """A model cannot be loaded, or does not fit its place."""

    exit_code = 7


class NoAnswerError(ModelError):
    """The model gave no answer that could be read.

    `reason` says why in two or three words; `hopeless` that a key, name or address is wrong, and stays so.
    """

    def __init__(
        self, message: str, *, ids: tuple[str, ...] = (), reason: str = "no answer", hopeless: bool = False
    ) -> None:
        super().__init__(message, ids=ids)
        self.reason = reason
        self.hopeless = hopeless


class MissingExtraError(DreamError):
    """An optional dependency is not installed."""

    exit_code = 8
