"""What a person has answered: a refusal, a skip, an undo; nothing repeats what was answered.

An answer is kept by the texts it is about, never by ids alone: it lapses as soon as one of them
changes. A pin alone is about a memory, whatever it says. Every answer can be listed and withdrawn.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeGuard

from ..records import ActionKind, Inventory, Memory, TextHashed, rejection_key, text_hash
from .actions import Action, Merge, Prune, Resolve, TextChange
from .plan import Plan


class AnswerKind(StrEnum):
    """What a person said."""

    REJECTED = "rejected"
    SKIPPED = "skipped"
    TAKEN_BACK = "taken back"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class About:
    """A memory as it was when the answer was given.

    Attributes:
        id: The store's id.
        text: Its text.
        said: The sentence of it that was in question, where that is not all of it.
    """

    id: str
    text: str
    said: str = ""

    @property
    def spoken(self) -> str:
        """What the answer was about, to be shown."""
        return self.said or self.text

    @property
    def text_hash(self) -> str:
        """SHA-256 of the text."""
        return text_hash(self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a person.

    Attributes:
        kind: What was said.
        what: The kind of action it is about: merge, resolve, prune, rewrite; empty if not known.
        keys: By which planning recognises the same question; see `keys_of`.
        about: The memories in question; empty if an earlier version kept none.
        run: The run it belongs to; empty if none.
        at: When it was given.
        number: Its number in the journal, by which it is withdrawn; 0 before it is there.
    """

    kind: AnswerKind
    what: str
    keys: frozenset[str]
    about: tuple[About, ...]
    at: datetime
    run: str = ""
    number: int = 0

    @classmethod
    def to(cls, action: Action, kind: AnswerKind, *, at: datetime, run: str = "") -> Answer:
        """A person's answer to an action."""
        said = dict(zip((action.a[0], action.b[0]), action.said, strict=True)) if _by_sentence(action) else {}
        about = tuple(About(member.id, member.text, said.get(member.id, "")) for member in action.members)
        return cls(kind, str(action.kind), keys_of(action), about, at, run)

    @classmethod
    def about_pair(cls, a: Memory, b: Memory, *, at: datetime) -> Answer:
        """A refusal to be asked about two memories again."""
        about = (About(a.id, a.text), About(b.id, b.text))
        return cls(AnswerKind.REJECTED, "", frozenset({rejection_key(a, b)}), about, at)

    @classmethod
    def pin(cls, memory_id: str, text: str, *, at: datetime) -> Answer:
        """A wish that a memory be left alone, whatever it comes to say."""
        return cls(AnswerKind.PINNED, "", frozenset({f"pin:{memory_id}"}), (About(memory_id, text),), at)

    @property
    def closes(self) -> bool:
        """Whether what it is about is not proposed again.

        A person who takes back the choice of a side is asked about the conflict again.
        """
        return not (self.kind is AnswerKind.TAKEN_BACK and self.what == ActionKind.RESOLVE)

    def stands(self, hashes: Collection[tuple[str, str]]) -> bool:
        """Whether all memories it is about are still there as they were, by (id, hash of the text)."""
        return bool(self.about) and all((item.id, item.text_hash) in hashes for item in self.about)


def keys_of(action: Action) -> frozenset[str]:
    """Names of what an action is about, by its texts.

    A merge or a conflict is known by its pairs, so that no other grouping of the same memories repeats
    it; a conflict between sentences by these, whatever is written around them; a prune by its text; a
    new text by what it makes of which text.
    """
    match action:
        case Prune():
            return frozenset(map(prune_key, action.members))
        case TextChange():
            return frozenset(f"rewrite:{m.text_hash}:{text_hash(action.text)}" for m in action.members)
        case Resolve() if action.said:
            return frozenset({said_key(*action.said)})
        case Resolve():
            sides = {member.id: member for member in action.members}
            judged = [(v.pair.a, v.pair.b) for v in action.verdicts]
            pairs = judged or list(itertools.product(action.a, action.b))
            return frozenset(rejection_key(sides[a], sides[b]) for a, b in pairs if a in sides and b in sides)
        case Merge():
            return _pairs_of(action)


def _by_sentence(action: Action) -> TypeGuard[Resolve]:
    return isinstance(action, Resolve) and bool(action.said)


def prune_key(memory: TextHashed) -> str:
    """Name of a removal by what is removed."""
    return f"prune:{memory.text_hash}"


def rewritten(answered: Iterable[str]) -> frozenset[str]:
    """Hashes of the texts of which a rewrite was refused, whatever it would have made of them."""
    return frozenset(key.split(":")[1] for key in answered if key.startswith("rewrite:"))


def said_key(a: str, b: str) -> str:
    """Name of a pair of sentences; it outlives edits around them."""
    return ":".join(sorted((text_hash(a), text_hash(b))))


def _pairs_of(merge: Merge) -> frozenset[str]:
    """Every pair of different texts; equal texts are a pair where there are two of them."""
    counted = Counter(member.text_hash for member in merge.members)
    one_of = {member.text_hash: member for member in merge.members}
    pairs = itertools.combinations(one_of.values(), 2)
    twins = ((one_of[text], one_of[text]) for text, count in counted.items() if count > 1)
    return frozenset(rejection_key(a, b) for a, b in (*pairs, *twins))


def unanswered(plan: Plan, answered: Collection[str], *, asked: Collection[str] = ()) -> Plan:
    """The plan without what a person answered already.

    The pairs of merges and conflicts are left out where they are judged; planners that judge in another
    way are held to it here, too: an action goes if all it is about was answered.

    Args:
        plan: What is proposed.
        answered: Keys of all that was answered.
        asked: Memories whose new text is what a person has just asked for.
    """
    actions = tuple(
        action
        for action in plan.actions
        if (isinstance(action, TextChange) and action.survivor in asked) or not _known(action, answered)
    )
    unsure = tuple(doubt for doubt in plan.unsure if not _known(doubt, answered))
    same = len(actions) == len(plan.actions) and len(unsure) == len(plan.unsure)
    return plan if same else replace(plan, actions=actions, unsure=unsure)


def _known(action: Action, answered: Collection[str]) -> bool:
    keys = keys_of(action)
    return bool(keys) and all(key in answered for key in keys)


def taken_back(actions: Iterable[Action], *, run: str, at: datetime) -> list[Answer]:
    """What an undo says about the actions it takes back; a request to forget is nothing that repeats."""
    return [
        Answer.to(action, AnswerKind.TAKEN_BACK, at=at, run=run)
        for action in actions
        if not (isinstance(action, Prune) and action.reason == "forgotten")
    ]


def pinned_ids(answers: Iterable[Answer]) -> frozenset[str]:
    """Memories that a person wants to be left alone."""
    return frozenset(
        item.id for answer in answers if answer.kind is AnswerKind.PINNED for item in answer.about
    )


def with_pins(inventory: Inventory, answers: Iterable[Answer]) -> Inventory:
    """The inventory in which what a person pinned is pinned, whatever the store knows of it."""
    pins = pinned_ids(answers)
    if not pins:
        return inventory
    memories = tuple(replace(m, pinned=True) if m.id in pins else m for m in inventory.memories)
    return replace(inventory, memories=memories)


def held(answers: Iterable[Answer], memories: Iterable[Memory]) -> frozenset[str]:
    """Memories that are as an undo gave them back, so that no rule changes them unasked."""
    hashes = {(memory.id, memory.text_hash) for memory in memories}
    back = (item for item in answers if item.kind is AnswerKind.TAKEN_BACK)
    return frozenset(about.id for item in back if item.stands(hashes) for about in item.about)


def open_conflicts(answers: Iterable[Answer], memories: Iterable[Memory]) -> int:
    """Skipped conflicts that still stand, since both of their texts do."""
    hashes = {(memory.id, memory.text_hash) for memory in memories}
    skipped = (item for item in answers if item.kind is AnswerKind.SKIPPED and item.what == "resolve")
    return sum(answer.stands(hashes) for answer in skipped)
