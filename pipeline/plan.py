"""Plans: actions on one store, what they stand on, and what a person should know; and what a run of one did.

A plan is data: it can be printed, saved, read by a person and applied later. An action says what it is by its
class, and holds everything its report needs and everything the writer must check before it acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal, Self

from ..records import MERGED_VALUES_KEY, ActionKind, Memory, Scope, Verdict, text_hash

_DRAFTED = "\U0010fffd+"
"""Begins the id of a text that is not stored yet; a private-use character, to sort behind all others."""
OPINION = "second-opinion"  # of the evidence that the opinion of a language model is
Side = Literal["a", "b"]
Relation = tuple[str, str]  # type and target of a relation that leaves a node
PruneReason = Literal[
    "stale", "vague", "forgotten", "secret", "echo", "chatter", "heartbeat", "tool-output", "greeting",
    "injection", "outdated",
]  # fmt: skip


class Cause(StrEnum):
    """What the new text of a Markdown memory comes from."""

    DATES = "relative dates"
    PATHS = "moved paths"
    LINKS = "links"
    INDEX = "moved in from the index"
    CONTRADICTION = "contradiction"
    DUPLICATE = "said twice"
    FACTS = "new facts"


@dataclass(frozen=True, slots=True)
class Member:
    """A memory as the plan saw it; the writer skips the action if it is no longer so."""

    id: str
    text: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    stated_at: datetime | None = None  # the latest moment the fact is known to have been stated or read
    hash: str | None = None  # of the text that was judged where `text` hides a secret of it

    @property
    def text_hash(self) -> str:
        """SHA-256 of the text that was judged."""
        return self.hash or text_hash(self.text)

    def shown_as(self, text: str) -> Member:
        """The same memory under a text that may be shown; preconditions hold for its own."""
        return replace(self, text=text, hash=self.text_hash)

    @classmethod
    def of(cls, memory: Memory) -> Member:
        """Freeze what a plan must remember of a memory."""
        return cls(memory.id, memory.text, memory.created_at, memory.updated_at, memory.stated_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What every action has; members, the memories it is about, are sorted by id."""

    id: str
    scope: Scope
    category: str | None
    members: tuple[Member, ...]

    @classmethod
    def of(cls, memory: Memory, *others: Memory, name: str = "", **what: Any) -> Self:  # noqa: ANN401
        """An action on memories, in the scope and category of the first; the plan gives a name if none is."""
        members = {each.id: Member.of(each) for each in (memory, *others)}
        ordered = tuple(members[each] for each in sorted(members))
        return cls(id=name, scope=memory.scope, category=memory.category, members=ordered, **what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Proposed):
    """Several memories state one fact: one of them stays, or one new text replaces all."""

    survivor: str | None  # the member that stays, untouched if it says it all; None if a new one replaces all
    text: str  # that is alive afterwards
    metadata: Mapping[str, Any] = field(default_factory=dict)  # every member's united; empty if left alone
    created_at: datetime | None = None  # the oldest of the members
    expires: str | None = None  # the day until which a survivor must last, "" for ever; None leaves its own
    observations: tuple[str, ...] = ()  # what an entity of a graph says afterwards; `text` says the same
    exact: tuple[str, ...] = ()  # ids of the removed members whose text equals the survivor's
    verdicts: tuple[Verdict, ...] = ()  # each removed member against the survivor or the centre of the star
    # Of two sentences the one that goes and the one that stays, where memories say more than these: `text` is
    # then what stands in the place of the second, and no member goes. Else empty.
    said: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # where the two stand, for a person
    kind: Literal[ActionKind.MERGE] = ActionKind.MERGE

    @property
    def removes(self) -> tuple[str, ...]:
        """Ids that go once the survivor is proven alive."""
        return () if self.said else tuple(member.id for member in self.members if member.id != self.survivor)

    @property
    def adds(self) -> bool:
        """Whether a new memory is written."""
        return self.survivor is None

    @property
    def amends(self) -> bool:
        """Whether a member survives and takes over what the metadata of the others says."""
        return self.survivor is not None and bool(self.metadata)

    @property
    def disagreements(self) -> Mapping[str, Sequence[Any]]:
        """Values that the members disagree on, by metadata key, the latest statement last."""
        values = self.metadata.get(MERGED_VALUES_KEY)
        return values if isinstance(values, Mapping) else {}

    @property
    def rewrites(self) -> str | None:
        """Id of the survivor if its text changes."""
        kept = next((member for member in self.members if member.id == self.survivor), None)
        return kept.id if kept is not None and kept.text != self.text and not self.said else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve(Proposed):
    """Two facts cannot both hold now: a person chooses."""

    a: tuple[str, ...]  # ids that state the older fact; the first is the one that was judged
    b: tuple[str, ...]  # the same of the newer fact
    topic: str  # a few words both sides share
    newer: Side | None = None  # the side stated later, the likely winner; None if unknown or equal
    choice: Side | None = None  # the side that stays; None means skip
    verdicts: tuple[Verdict, ...] = ()  # the contradicting pairs
    said: tuple[str, ...] = ()  # the two sentences, A's first, where the memories say more than these
    places: tuple[str, ...] = ()  # where the two stand, for a person
    # By id what a memory is shortened to if its side loses, since it alone says that; others go.
    rests: Mapping[str, str] = field(default_factory=dict)
    kind: Literal[ActionKind.RESOLVE] = ActionKind.RESOLVE

    @property
    def ends(self) -> str:
        """What became of the side that goes; two that may be one fact have no topic."""
        return "contradicted" if self.topic else "same fact"

    @property
    def survivor(self) -> str | None:
        """The judged memory of the chosen side."""
        return {"a": self.a[0], "b": self.b[0], None: None}[self.choice]

    @property
    def removes(self) -> tuple[str, ...]:
        """Ids of the side that was not chosen; nothing while there is no choice, or within one memory."""
        return tuple(name for name in self.loses if name not in self.rests)

    @property
    def loses(self) -> tuple[str, ...]:
        """The same with those that are shortened."""
        return {"a": self.b, "b": self.a, None: ()}[self.choice] if self.a != self.b else ()

    @property
    def shortened(self) -> Mapping[str, str]:
        """Texts, by id, of what loses and says more than what is denied."""
        return {name: self.rests[name] for name in self.loses if name in self.rests}

    def choose(self, side: Side | None) -> Resolve:
        """The same conflict with a person's answer."""
        return replace(self, choice=side)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune(Proposed):
    """A memory that is stale, says nothing, is to be forgotten, or is junk; `detail` is what was measured."""

    reason: PruneReason
    age_days: int | None = None
    detail: str = ""
    kind: Literal[ActionKind.PRUNE] = ActionKind.PRUNE
    survivor: ClassVar[None] = None

    @property
    def junk(self) -> bool:
        """Whether it goes for what it says, and not for its age or brevity."""
        return self.reason not in ("stale", "vague", "forgotten")

    @property
    def removes(self) -> tuple[str, ...]:
        """The one id."""
        return tuple(member.id for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange(Proposed):
    """A memory that stays, with another text; each kind of change is a class of its own."""

    text: str
    reason: str
    observations: tuple[str, ...] = ()
    removes: ClassVar[tuple[str, ...]] = ()

    @property
    def survivor(self) -> str:
        """The one id."""
        return self.members[0].id

    rewrites = survivor


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite(TextChange):
    """A memory is worded anew; where its planner tells causes apart, the new text comes from these."""

    causes: tuple[Cause, ...] = ()
    kind: Literal[ActionKind.REWRITE] = ActionKind.REWRITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(TextChange):
    """New facts go into a file that holds more than one memory, or does not exist yet."""

    kind: Literal[ActionKind.APPEND] = ActionKind.APPEND


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex(TextChange):
    """The index of a directory follows what is in it."""

    kind: Literal[ActionKind.REINDEX] = ActionKind.REINDEX


@dataclass(frozen=True, slots=True, kw_only=True)
class Relate(TextChange):
    """A node of a graph gets other relations."""

    source: str = ""  # the node they leave
    relations: tuple[Relation, ...] = ()  # all that leave it afterwards, in the order of the file
    held: tuple[Relation, ...] = ()  # all that left it before
    kind: Literal[ActionKind.RELATE] = ActionKind.RELATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Promote(TextChange):
    """A memory of a graph goes into the core memory, too; its new text says so."""

    kind: Literal[ActionKind.PROMOTE] = ActionKind.PROMOTE


NewText = Rewrite | Append | Reindex | Relate | Promote
Action = Merge | Resolve | Prune | NewText


def net_removals(action: Action) -> int:
    """How many facts an action takes away, exact copies not counted."""
    if isinstance(action, Merge):
        return 0 if action.said else max(0, len(action.members) - 1 - len(action.exact))
    return len(action.removes)


def sorts(action: Action) -> frozenset[str]:
    """What an action is called where some of all are meant: its kind, and the reason of a removal."""
    return frozenset({str(action.kind), action.reason} if isinstance(action, Prune) else {str(action.kind)})


def guessed(action: Action) -> bool:
    """Whether a proposal rests on a suspicion or an opinion, so that a person looks at it by itself."""
    if isinstance(action, Prune):
        return action.reason in ("secret", "echo", "injection")
    judged = getattr(action, "verdicts", ())
    return any(item.kind == OPINION for verdict in judged for item in verdict.evidence)


def acts(action: Action) -> bool:
    """Whether an action changes the store; a conflict without a choice does not."""
    changes = isinstance(action, TextChange) or (isinstance(action, Resolve) and bool(action.shortened))
    return bool(action.removes) or changes


def in_order(action: Action) -> list[Member]:
    """Members as they are shown: A before B in a conflict, else the older before the newer."""
    if isinstance(action, Resolve):
        place = {memory_id: number for number, memory_id in enumerate((*action.a, *action.b))}
        first = [action.a[0], action.b[0]]
        return sorted(action.members, key=lambda member: (member.id not in first, place[member.id]))
    return sorted(action.members, key=lambda member: (str(member.stated_at or ""), member.id))


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
                lost.update(answered.loses)
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
    return set(action.loses if isinstance(action, Resolve) else (member.id for member in action.members))


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
    lost: tuple[tuple[str, str], ...] = ()  # memories that could not be brought back, and why
