"""What an unattended run never removes for its age alone, and what it does not even propose.

Age says that a fact is old, not that it is gone. Where no read of a scope is on record, "nobody read
it lately" is an assumption; and a fact about health, identity, family, law or safety may be needed once
in ten years (`protected` among the word tables). A person is shown all of it all the same, and decides;
unless age alone would take a large part of a scope of which no read is on record: then it is no sign of
disuse, but of a store that has lived for a while.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ...models.word_tables import table_words
from ...models.words import tokens
from ...records import Memory, Scope

UNTRACKED = (
    "Past their age, but kept: {count}. Nothing says what the agent reads in their scope; wrap its client "
    "with track_access, or add --assume-unread to remove them."
)
CROWD = (
    "Past their age, but not proposed: {count}. They are a large part of what is stored, and nothing says "
    "what the agent reads; wrap its client with track_access, or see them with --forget-only."
)
PROTECTED = (
    "Past their age, but kept: {count}. They may be about health, identity, family, law or safety, which "
    "only a person removes."
)


def _pattern(*keys: str) -> re.Pattern[str]:
    """A word ends where it is written to end, unless a star lets it go on; `_` joins words of a phrase."""
    words = sorted({word for key in keys for word in table_words("protected", key)})
    parts = [word.replace("*", r"\S*").replace("_", " ").replace("/", " ") for word in words]
    return re.compile(rf"(?<= )(?:{'|'.join(parts)})(?= )")


_PROTECTED = _pattern("health", "identity", "family", "legal", "safety")
_DOSE = re.compile(r"\d\s*(?:mg|mcg|µg|ml|iu)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spared:
    """Memories whose age is no reason.

    Attributes:
        untracked: Ids in scopes of which no read is on record; empty for an attended run.
        protected: Ids of facts that only a person removes.
        crowd: Ids past their age of which there are too many to say anything, for a person.
    """

    untracked: frozenset[str] = frozenset()
    protected: frozenset[str] = frozenset()
    crowd: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """All of them."""
        return self.untracked | self.protected | self.crowd

    def notes(self, stale: Iterable[str]) -> tuple[str, ...]:
        """One sentence for each reason that kept something, of the ids that are past their age."""
        old = frozenset(stale)
        protected = old & self.protected - self.untracked
        counted = (
            (UNTRACKED, len(old & self.untracked)),
            (PROTECTED, len(protected)),
            (CROWD, len(old & self.crowd)),
        )
        return tuple(sentence.format(count=count) for sentence, count in counted if count)


def summed(notes: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The notes of several plans as those of one: equal sentences with their counts added up."""
    every = [note for part in notes for note in part]
    counted: list[str] = []
    for sentence in (UNTRACKED, PROTECTED, CROWD):
        before, _, after = sentence.partition("{count}")
        same = [note for note in every if note.startswith(before) and note.endswith(after)]
        counts = [int(note[len(before) : len(note) - len(after)]) for note in same]
        counted += [sentence.format(count=sum(counts))] if counts else []
        every = [note for note in every if note not in same]
    return (*counted, *dict.fromkeys(every))


def spared(memories: Sequence[Memory], *, tracked: frozenset[str], assume_unread: bool) -> Spared:
    """What an unattended run keeps however old it is.

    Args:
        memories: The living memories of all scopes in question.
        tracked: Ids that the agent's own client is known to have read.
        assume_unread: Take what is not on record as unread, as the original skill does.
    """
    read = _read_scopes(memories, tracked)
    untracked = () if assume_unread else (m.id for m in memories if m.scope not in read)
    return Spared(frozenset(untracked), frozenset(m.id for m in memories if is_protected(m)))


def crowded(
    memories: Sequence[Memory],
    old: Collection[str],
    *,
    tracked: frozenset[str],
    max_share: float,
    min_count: int,
) -> Spared:
    """What a person is not asked about either: old memories of which there are too many.

    Args:
        memories: The living memories of all scopes in question.
        old: Ids of those past their age.
        tracked: Ids that the agent's own client is known to have read.
        max_share: Largest share of a scope that age alone may propose to remove, 0 to 1.
        min_count: So few are always proposed.
    """
    read = _read_scopes(memories, tracked)
    of_scope: dict[Scope, list[str]] = defaultdict(list)
    for memory in memories:
        of_scope[memory.scope].append(memory.id)
    crowd: set[str] = set()
    for scope, ids in of_scope.items():
        past = [memory_id for memory_id in ids if memory_id in old]
        if scope not in read and is_crowd(len(past), len(ids), max_share=max_share, min_count=min_count):
            crowd.update(past)
    return Spared(crowd=frozenset(crowd))


def is_crowd(old: int, memories: int, *, max_share: float, min_count: int) -> bool:
    """Whether so many of a scope's memories are old that age is no sign of disuse; see `crowded`."""
    return old > max(min_count, max_share * memories)


def _read_scopes(memories: Sequence[Memory], tracked: frozenset[str]) -> set[Scope]:
    """Scopes of which a read is on record."""
    return {memory.scope for memory in memories if memory.id in tracked or memory.accessed_at is not None}


def is_protected(memory: Memory) -> bool:
    """Whether a memory may be about health, identity, family, law or safety, or cannot be told.

    >>> from .records import Scope
    >>> is_protected(Memory("1", "Is allergic to penicillin", Scope(())))
    True
    >>> is_protected(Memory("2", "Is looking for a plumber in Leeds", Scope(())))
    False
    """
    text = f"{memory.text} {memory.category or ''}"
    forms = [part for token in tokens(text) for part in _spoken(token.text)]
    return bool(_PROTECTED.search(f" {' '.join(forms)} ") or _DOSE.search(text) or _is_foreign(text))


def _spoken(form: str) -> list[str]:
    """The words of a token without case, accents and a possessive; "née" is looked up as "nee"."""
    plain = unicodedata.normalize("NFKD", form.casefold().removesuffix("'s"))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return letters.replace("-", " ").replace("_", " ").split()


def _is_foreign(text: str) -> bool:
    """Whether letters of another script stand in it, which the lists cannot read."""
    return any(char.isalpha() and not unicodedata.name(char, "LATIN").startswith(_READ) for char in text)


_READ = ("LATIN", "MICRO SIGN", "FEMININE ORDINAL", "MASCULINE ORDINAL")
