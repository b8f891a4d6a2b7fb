"""Actions: each a change with its preconditions, as a plan proposes it and the writer carries it out.

An action says what it is by its class. It holds everything its report needs and everything the writer
must check before it acts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from ..records import MERGED_VALUES_KEY, ActionKind, Memory, Scope, Verdict, text_hash

Side = Literal["a", "b"]
Relation = tuple[str, str]
"""Type and target of a relation that leaves a node."""
PruneReason = Literal[
    "stale",
    "vague",
    "forgotten",
    "secret",
    "echo",
    "chatter",
    "heartbeat",
    "tool-output",
    "greeting",
    "injection",
    "outdated",
]


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
    """A memory as the plan saw it; the writer skips the action if it is no longer so.

    Attributes:
        stated_at: The latest moment the fact is known to have been stated or read.
        hash: SHA-256 of the text that was judged where `text` is not that text, since it holds a secret.
    """

    id: str
    text: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    stated_at: datetime | None = None
    hash: str | None = None

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
    """Several memories state one fact: one of them stays, or one new text replaces all.

    Attributes:
        survivor: The member that stays, or None if a new memory takes the place of all. It stays
            untouched if it says it all; else `text` becomes its text.
        text: The text that is alive afterwards.
        metadata: Metadata of what stays, every member's united; empty where a survivor's is left alone.
        created_at: The oldest creation date of the members.
        expires: Where the survivor would expire before another member: that one's day, "" if it never
            expires. None leaves the survivor's.
        observations: What a graph's entity says afterwards, one by one; `text` says the same for a person.
        exact: Ids of the removed members whose text equals the survivor's.
        verdicts: Why: each removed member against the survivor or the centre of the star.
        said: Of two sentences the one that goes and the one that stays, where memories say more than these:
            `text` is then what stands in the place of the second, and no member goes. Else empty.
        places: Where the two stand, for a person.
    """

    survivor: str | None
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    expires: str | None = None
    observations: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    said: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
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
    """Two facts cannot both hold now: a person chooses.

    Attributes:
        a: Ids that state the older fact; the first is the one that was judged.
        b: Ids that state the newer fact; the first is the one that was judged.
        topic: A few words both sides share.
        newer: The side stated later, the likely winner; None if unknown or equal.
        choice: The side that stays; None means skip.
        verdicts: The contradicting pairs.
        said: The two sentences, A's first, where the memories say more than these; else empty. Both may
            stand in one memory.
        places: Where the two stand, for a person.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    topic: str
    newer: Side | None = None
    choice: Side | None = None
    verdicts: tuple[Verdict, ...] = ()
    said: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
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
        return {"a": self.b, "b": self.a, None: ()}[self.choice] if self.a != self.b else ()

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

    @property
    def junk(self) -> bool:
        """Whether it goes for what it says, and not for its age or brevity."""
        return self.reason not in ("stale", "vague", "forgotten")

    @property
    def survivor(self) -> None:
        """Nothing stays."""
        return

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

    @property
    def survivor(self) -> str:
        """The one id."""
        return self.members[0].id

    @property
    def removes(self) -> tuple[str, ...]:
        """Nothing goes."""
        return ()

    @property
    def rewrites(self) -> str:
        """The one id."""
        return self.members[0].id


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
    """A node of a graph gets other relations.

    Attributes:
        source: The node they leave.
        relations: All that leave it afterwards, as (type, target), in the order of the file.
        held: All that left it before.
    """

    source: str = ""
    relations: tuple[Relation, ...] = ()
    held: tuple[Relation, ...] = ()
    kind: Literal[ActionKind.RELATE] = ActionKind.RELATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Promote(TextChange):
    """A memory of a graph goes into the core memory, too; its new text says so."""

    kind: Literal[ActionKind.PROMOTE] = ActionKind.PROMOTE


NewText = Rewrite | Append | Reindex | Relate | Promote
"""Every kind of `TextChange`."""
Action = Merge | Resolve | Prune | NewText


def net_removals(action: Action) -> int:
    """How many facts an action takes away, exact copies not counted.

    A merge of three memories into one removes two; if one of the two was an exact copy, one.
    """
    if isinstance(action, Merge):
        return 0 if action.said else max(0, len(action.members) - 1 - len(action.exact))
    return len(action.removes)


def sorts(action: Action) -> frozenset[str]:
    """What an action is called where some of all are meant: its kind, and the reason of a removal."""
    return frozenset({str(action.kind), action.reason} if isinstance(action, Prune) else {str(action.kind)})


def acts(action: Action) -> bool:
    """Whether an action changes the store; a conflict without a choice does not."""
    return bool(action.removes) or isinstance(action, TextChange)


def in_order(action: Action) -> list[Member]:
    """Members as they are shown: A before B in a conflict, else the older before the newer."""
    if isinstance(action, Resolve):
        place = {memory_id: number for number, memory_id in enumerate((*action.a, *action.b))}
        first = [action.a[0], action.b[0]]
        return sorted(action.members, key=lambda member: (member.id not in first, place[member.id]))
    return sorted(action.members, key=lambda member: (str(member.stated_at or ""), member.id))
