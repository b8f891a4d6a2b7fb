"""What a person has answered: a refusal, a skip, an undo; nothing repeats what was answered.

An answer is kept by the texts it is about, never by ids alone: it lapses as soon as one of them
changes. A pin alone is about a memory, whatever it says.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from ..records import CONFIRMED_KEY, ActionKind, Inventory, Memory, TextHashed, rejection_key, text_hash
from .plan import Action, Merge, Plan, Prune, Reindex, Resolve, TextChange


class Say(StrEnum):
    """What a person says, in the terminal, in the browser, through an agent or in a plan file.

    To a change: yes, no, skip (not this time), edit (yes, in the person's own words). To a conflict: a, b,
    both (both hold), same (both say one thing), skip, edit. To a conflict or a removal also still: it holds,
    and counts as stated today. An undo, a pin, and a conflict noted with a new memory are answers, too.
    """

    YES = "yes"
    NO = "no"
    SKIP = "skip"
    A = "a"
    B = "b"
    BOTH = "both"
    SAME = "same"
    EDIT = "edit"
    TAKEN_BACK = "taken back"
    PINNED = "pinned"
    NOTED = "noted"
    STILL = "still"

    @property
    def spoken(self) -> str:
        """As a list of answers has it."""
        return _SPOKEN.get(self, str(self))

    @property
    def changes(self) -> bool:
        """Whether something is done to the store after it."""
        return self in _CHANGES


_SPOKEN = {
    Say.YES: "accepted",
    Say.NO: "rejected",
    Say.SKIP: "skipped",
    Say.A: "A stays",
    Say.B: "B stays",
    Say.BOTH: "both hold",
    Say.SAME: "the same",
    Say.EDIT: "in own words",
    Say.STILL: "still true",
}
_CHANGES = frozenset({Say.YES, Say.A, Say.B, Say.SAME, Say.EDIT})
_CLOSE = frozenset({Say.NO, Say.SKIP, Say.BOTH, Say.STILL, Say.TAKEN_BACK})


@dataclass(frozen=True, slots=True)
class About:
    """A memory as it was when the answer was given; `said` is the sentence in question, if not all of it."""

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
    """One answer of a person."""

    say: Say
    what: str  # the kind of action it is about: merge, resolve, prune, rewrite; empty if not known
    keys: frozenset[str]  # by which planning recognises the same question; see `keys_of`
    about: tuple[About, ...]  # the memories in question
    at: datetime
    run: str = ""  # that it belongs to; empty if it was not applied yet, or is nothing to be applied
    number: int = 0  # in the journal, by which it is withdrawn; 0 before it is there
    key: str = ""  # the proposal it was given to, by its content; see `content_key`
    text: str | None = None  # what a person wrote instead of the drafted text
    pair: str = ""  # what it teaches a scorer, as a line that `calibrate` reads; empty if nothing

    @classmethod
    def to(cls, action: Action, say: Say, *, at: datetime, run: str = "") -> Answer:
        """A person's answer to an action."""
        by_id = {member.id: member.text for member in action.members}
        about = tuple(About(name, text) for name, text in by_id.items())
        if isinstance(action, Resolve | Merge) and action.said:
            pairs = zip(sides(action), action.said, strict=True)
            about = tuple(About(name, by_id[name], said) for name, said in pairs)
        return cls(say, str(action.kind), keys_of(action), about, at, run, key=content_key(action))

    @classmethod
    def about_pair(cls, a: Memory, b: Memory, *, at: datetime) -> Answer:
        """A refusal to be asked about two memories again."""
        about = (About(a.id, a.text), About(b.id, b.text))
        return cls(Say.NO, "", frozenset({rejection_key(a, b)}), about, at)

    @classmethod
    def pin(cls, memory_id: str, text: str, *, at: datetime) -> Answer:
        """A wish that a memory be left alone, whatever it comes to say."""
        return cls(Say.PINNED, "", frozenset({f"pin:{memory_id}"}), (About(memory_id, text),), at)

    @property
    def closes(self) -> bool:
        """Whether what it is about is not proposed again; it is if the choice of a side was taken back."""
        return self.say in _CLOSE and not (self.say is Say.TAKEN_BACK and self.what == ActionKind.RESOLVE)

    @property
    def applied(self) -> bool:
        """Whether it was a yes that a run carried out: there is nothing left of it but what it teaches."""
        return bool(self.run) and self.say.changes


def content_key(action: Action) -> str:
    """Name of a proposal by its texts, its members and what becomes of them, the same in every plan."""
    parts = [str(action.kind), *sorted(f"{member.id}\0{member.text_hash}" for member in action.members)]
    match action:
        case Merge():
            parts += [action.text, *action.said]
        case TextChange():
            parts.append(action.text)
        case Resolve():
            parts += [*action.a, "\0", *action.b, *action.said]
            parts += [f"{name}\0{text}" for name, text in sorted(action.rests.items())]
        case Prune():
            parts += [action.reason, *([action.detail] if action.reason == "outdated" else [])]
    return hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def keys_of(action: Action) -> frozenset[str]:
    """Names of what an action is about, by its texts.

    A merge or a conflict is known by its pairs, so that no other grouping of the same memories repeats
    it; one between sentences by these; a prune by its text; a new text by what it makes of which text, that
    of an index by each line that comes or goes.
    """
    match action:
        case Prune():
            # After another conflict it may be asked again whether a memory is out of date.
            old = f"outdated:{text_hash(action.detail)}:" if action.reason == "outdated" else ""
            return frozenset(old + prune_key(member) for member in action.members)
        case Reindex():
            return frozenset(line_key(action.survivor, line) for line in _changed_lines(action))
        case TextChange():
            return frozenset(f"rewrite:{m.text_hash}:{text_hash(action.text)}" for m in action.members)
        case Resolve() | Merge() if action.said:
            return frozenset({said_key(*action.said)})
        case Resolve():
            held = {member.id: member for member in action.members}
            judged = [(v.pair.a, v.pair.b) for v in action.verdicts]
            pairs = judged or list(itertools.product(action.a, action.b))
            return frozenset(rejection_key(held[a], held[b]) for a, b in pairs if a in held and b in held)
        case Merge():  # every pair of different texts; equal texts are a pair where there are two of them
            counted = Counter(member.text_hash for member in action.members)
            one_of = {member.text_hash: member for member in action.members}
            twins = ((one_of[text], one_of[text]) for text, count in counted.items() if count > 1)
            different = itertools.combinations(one_of.values(), 2)
            return frozenset(rejection_key(a, b) for a, b in (*different, *twins))


def sides(action: Resolve | Merge) -> tuple[str, str]:
    """The memories of the two sentences of an action, in the order in which it names these."""
    if isinstance(action, Resolve):
        return action.a[0], action.b[0]
    stays = str(action.survivor)
    return next((member.id for member in action.members if member.id != stays), stays), stays


def line_key(memory_id: str, line: str) -> str:
    """Name of a change of one line: "+" or "-", and the line."""
    return f"line:{memory_id}:{text_hash(line)}"


def _changed_lines(change: TextChange) -> Iterator[str]:
    old, new = change.members[0].text.split("\n"), change.text.split("\n")
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (f"-{line}" for line in old[a:b] if line.strip())
            yield from (f"+{line}" for line in new[c:d] if line.strip())


def prune_key(memory: TextHashed) -> str:
    """Name of a removal by what is removed."""
    return f"prune:{memory.text_hash}"


def rewritten(answered: Iterable[str]) -> frozenset[str]:
    """Hashes of the texts of which a rewrite was refused, whatever it would have made of them."""
    return frozenset(key.split(":")[1] for key in answered if key.startswith("rewrite:"))


def said_key(a: str, b: str) -> str:
    """Name of a pair of sentences; it outlives edits around them."""
    return ":".join(sorted((text_hash(a), text_hash(b))))


def unanswered(plan: Plan, answered: Collection[str], *, asked: Collection[str] = ()) -> Plan:
    """The plan without what a person answered already; what is `asked` for just now stays."""
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
    meant = (each for each in actions if not (isinstance(each, Prune) and each.reason == "forgotten"))
    return [Answer.to(action, Say.TAKEN_BACK, at=at, run=run) for action in meant]


def pinned_ids(answers: Iterable[Answer]) -> frozenset[str]:
    """Memories that a person wants to be left alone."""
    return frozenset(item.id for answer in answers if answer.say is Say.PINNED for item in answer.about)


def as_answered(inventory: Inventory, answers: Collection[Answer]) -> Inventory:
    """The inventory with what a person pinned, and with the day on which they said that something holds."""
    pins = pinned_ids(answers)
    said = {(i.id, i.text_hash): a.at.isoformat() for a in answers if a.say is Say.STILL for i in a.about}

    def known(memory: Memory) -> Memory:
        day = said.get((memory.id, memory.text_hash))
        metadata = {**memory.metadata, CONFIRMED_KEY: day} if day else memory.metadata
        return replace(memory, pinned=memory.pinned or memory.id in pins, metadata=metadata)

    return replace(inventory, memories=tuple(map(known, inventory.memories))) if pins or said else inventory


def standing(answers: Iterable[Answer], memories: Iterable[Memory], say: Say) -> list[Answer]:
    """The answers of this kind of which all memories are still there as they were."""
    said = [item for item in answers if item.say is say and item.about]
    asked = {about.id for item in said for about in item.about}
    there = {(memory.id, memory.text_hash) for memory in memories if memory.id in asked}
    return [item for item in said if all((about.id, about.text_hash) in there for about in item.about)]


def open_conflicts(answers: Iterable[Answer], memories: Iterable[Memory]) -> int:
    """How many skipped conflicts still stand, since both of their texts do."""
    return sum(item.what == "resolve" for item in standing(answers, memories, Say.SKIP))
