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
from collections import Counter
from collections.abc import Mapping, Sequence

from ...models.text.tables import table_words
from ...models.text.words import tokens
from ...records import Memory, Scope
from ...settings import Settings
from ..actions import Merge

UNTRACKED = (
    "Past their age, but kept: {count}. Nothing says what the agent reads in their scope; wrap its client "
    "with track_access, or add --assume-unread to remove them."
)
CROWD = (
    "Past their age, but not proposed: {count}. They are a large part of what is stored, and nothing says "
    "what the agent reads; wrap its client with track_access, or see them with --only prunes."
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


def kept_although_old(
    old: Sequence[Memory],
    living: Sequence[Memory],
    merges: Sequence[Merge],
    *,
    settings: Settings,
    unattended: bool,
    tracked: frozenset[str],
) -> dict[str, str]:
    """Old memories that are not proposed to go, by id, each with the sentence that says why.

    Args:
        old: What is past its age and unread.
        living: All memories of the scopes in question, the old ones included.
        merges: What will be merged, as far as it is known.
        settings: Limits; with `assume_unread` what is not on record counts as unread, as the original has it.
        unattended: No person sees the plan.
        tracked: Ids that the agent's own client is known to have read.
    """
    read = {memory.scope for memory in living if memory.id in tracked or memory.accessed_at is not None}
    unread = [] if settings.assume_unread else [memory for memory in old if memory.scope not in read]
    if unattended:
        protected = {memory.id: PROTECTED for memory in old if is_protected(memory)}
        return protected | {memory.id: UNTRACKED for memory in unread}
    too_many = _mostly_old({memory.id for memory in unread}, living, merges, settings)
    return {memory.id: CROWD for memory in unread if memory.scope in too_many}


def _mostly_old(
    old: set[str], living: Sequence[Memory], merges: Sequence[Merge], settings: Settings
) -> set[Scope]:
    """Scopes of which so much is old that age is no sign of disuse, before the merges and after them."""
    merged = {member.id for merge in merges for member in merge.members}
    counts = [Counter[Scope]() for _ in range(4)]
    old_before, all_before, old_after, all_after = counts
    for memory in living:
        old_before[memory.scope] += memory.id in old
        all_before[memory.scope] += 1
        old_after[memory.scope] += memory.id in old and memory.id not in merged
        all_after[memory.scope] += memory.id not in merged
    for merge in merges:
        old_after[merge.scope] += old.issuperset(member.id for member in merge.members)
        all_after[merge.scope] += 1

    def crowd(part: int, whole: int) -> bool:
        """More than one run may remove; of a few, which the budget leaves alone, more than half."""
        few = part <= settings.min_delete and 2 * part <= max(whole, 2)
        return part > settings.max_delete * whole and not few

    return {
        scope
        for scope in old_before
        if crowd(old_before[scope], all_before[scope]) and crowd(old_after[scope], all_after[scope])
    }


def notes_of(kept: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each reason that kept something."""
    counted = Counter(kept.values())
    reasons = (UNTRACKED, PROTECTED, CROWD)
    return tuple(reason.format(count=counted[reason]) for reason in reasons if counted[reason])


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
