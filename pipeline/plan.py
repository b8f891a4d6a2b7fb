"""Plans: actions on one store, their totals, what a person should know; and what a run of one did.

A plan is data. It can be printed, saved, read by a person and applied later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..records import ActionKind, Memory, Scope
from .actions import Action, Member, Merge, NewText, Prune, Resolve, Side, TextChange

_DRAFTED = "\U0010fffd+"
"""Begins the id of a text that is not stored yet; a private-use character, to sort behind all others."""


@dataclass(frozen=True, slots=True)
class ScopeTotal:
    """How many living memories a scope held when the plan was made; of a graph also what belongs to them."""

    scope: Scope
    memories: int
    relations: int = 0
    observations: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A frozen list of actions on one store."""

    store: str  # fingerprint of the store it was made for
    kind: str  # name printed before ids
    now: datetime  # the moment ages were reckoned from
    scorer: str  # identity of the scorer
    totals: tuple[ScopeTotal, ...]
    actions: tuple[Action, ...]  # merges, conflicts, prunes, each sorted; then the new texts of what stays
    unsure: tuple[Merge | Resolve | Prune, ...] = ()  # what only a person can decide; never acted on as it is
    gaps: tuple[str, ...] = ()  # why the listing was not provably complete; such a plan cannot be applied
    fidelity: tuple[str, ...] = ()  # what an undo could not bring back
    apart: tuple[tuple[str, str, str], ...] = ()  # ids of equal words that may be about two subjects, and why
    notes: tuple[str, ...] = ()  # what else a person should know about this plan
    left_open: int = 0  # conflicts that a person skipped earlier and that still stand

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges of this plan."""
        return tuple(action for action in self.actions if isinstance(action, Merge))

    @property
    def conflicts(self) -> tuple[Resolve, ...]:
        """The contradictions of this plan."""
        return tuple(action for action in self.actions if isinstance(action, Resolve))

    @property
    def prunes(self) -> tuple[Prune, ...]:
        """The prunes of this plan."""
        return tuple(action for action in self.actions if isinstance(action, Prune))

    @property
    def rewrites(self) -> tuple[NewText, ...]:
        """Memories that stay with another text, whatever the kind of the change."""
        return tuple(action for action in self.actions if isinstance(action, TextChange))

    def with_choices(self, choices: Mapping[str, Side | None]) -> Plan:
        """The same plan with answers to its conflicts.

        A merge or a new text of a memory that lost a conflict is dropped, unless only a sentence of it lost.
        A conflict whose winner lost another one is left open.
        """
        lost: set[str] = set()
        resolved: dict[str, Resolve] = {}
        for conflict in self.conflicts:
            answered = conflict.choose(choices.get(conflict.id, conflict.choice))
            if answered.survivor in lost:
                answered = answered.choose(None)
            if not answered.said:
                lost.update(answered.removes)
            resolved[answered.id] = answered
        actions = tuple(
            resolved.get(action.id, action)
            for action in self.actions
            if not (isinstance(action, Merge | TextChange) and lost & {m.id for m in action.members})
        )
        return replace(self, actions=actions)

    def accept(self, accepted: Iterable[str], choices: Mapping[str, Side | None]) -> Plan:
        """The same plan with what a person wants of the unsure: merges, removals, answered conflicts.

        What changes a memory that another action is about, or the reverse, is left out: one memory may
        stay in place of several others, and nothing else. Of one that stays several sentences may go.
        """
        actions, wanted = list(self.actions), set(accepted)
        for doubt in self.unsure:
            action = doubt.choose(choices.get(doubt.id)) if isinstance(doubt, Resolve) else doubt
            free = not any(
                _changed(one) & {member.id for member in two.members}
                for other in actions
                for one, two in ((action, other), (other, action))
            )
            if free and (action.choice if isinstance(action, Resolve) else action.id in wanted):
                actions.append(action)
        return replace(self, actions=tuple(actions))

    def only(self, *kinds: ActionKind) -> Plan:
        """The same plan with actions and questions of the given kinds alone."""
        actions = tuple(action for action in self.actions if action.kind in kinds)
        return replace(self, actions=actions, unsure=tuple(d for d in self.unsure if d.kind in kinds))


def _changed(action: Action) -> set[str]:
    if getattr(action, "said", ()):
        return set()  # a sentence goes, and what else is in the memory stays
    return set(action.removes if isinstance(action, Resolve) else (member.id for member in action.members))


def draft_id(members: Sequence[Memory | Member]) -> str:
    """Id of what a merge of these would add."""
    return _DRAFTED + "+".join(memory.id for memory in members)


def spoken_id(memory_id: str) -> str:
    """An id as it may be printed: a drafted text is named by its sources."""
    return "merged:" + memory_id.removeprefix(_DRAFTED) if memory_id.startswith(_DRAFTED) else memory_id


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
