"""What a store may forget: stale memories and vague ones.

Every rule leans towards keeping. Unknown or future dates are never stale, short but specific texts are
never vague, and pinned or already retired memories are never listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from ...models.generic_words import (
    CHANGES,
    EMPTY_AFTER_NO,
    EMPTY_VALUES,
    FILLERS,
    GENERIC,
    HALF_EMPTY,
    JUDGEMENTS,
    NO_ORDER,
    NOISE,
    NOUNS,
    ORDERS,
    PAST_EVENTS,
    RULE_WORDS,
    TASTES,
)
from ...models.guards import is_specific
from ...models.words import Token, significant_words, tokens
from ...records import LAST_STATED_KEY, Memory, as_utc, noted_moment, says_pinned
from ...settings import Settings

_ABOUT = frozenset(("about", "with", "for", "to", "regarding", "on", "in", "around"))
_ATTRIBUTE_SHAPE = re.compile(r"\b(?:is|are)\b|[:=]", re.IGNORECASE)
_PRONOUNS = re.compile(r"\b(?:he|she|they|xe|ze|it)\s*/\s*\w+", re.IGNORECASE)
_ACRONYM = re.compile(r"\b[A-Z]{2,}\b")


class PruneReason(StrEnum):
    """Why a memory may go."""

    STALE = "stale"
    VAGUE = "vague"


@dataclass(frozen=True, slots=True)
class PruneFinding:
    """A memory that may go, and why; the planner makes an action of it.

    Attributes:
        memory: The memory as read.
        reason: Stale or vague.
        age_days: Full days since it was last stated; None if unknown or in the future.
        detail: The figures behind the reason, short enough to print.
    """

    memory: Memory
    reason: PruneReason
    age_days: int | None
    detail: str


def find_prunes(
    memories: Sequence[Memory],
    *,
    settings: Settings,
    now: datetime,
    accessed: Mapping[str, datetime],
    spared: frozenset[str] = frozenset(),
) -> tuple[PruneFinding, ...]:
    """List what may be forgotten, sorted by id; a memory both vague and stale is listed once, as stale.

    Args:
        memories: The memories of one scope.
        settings: Ages, windows and the word limit.
        now: The moment from which ages are reckoned.
        accessed: Last access per memory id from the access log; may be empty.
        spared: Ids whose age is no reason.
    """
    moment, prunes = as_utc(now), list[PruneFinding]()
    for memory in sorted(memories, key=lambda each: each.id):
        if _is_pinned(memory) or memory.is_retired(moment.date()):
            continue
        age = age_of(memory, now=moment)
        days = None if age is None else age.days
        old = is_stale(memory, settings=settings, now=moment, accessed=accessed.get(memory.id))
        if age is not None and old and memory.id not in spared:
            limit = _retention(memory, settings)
            detail = f"{age.days} days old, limit {limit.days}; {_access_detail(memory, accessed, moment)}"
            prunes.append(PruneFinding(memory, PruneReason.STALE, days, detail))
        elif is_vague(memory.text, min_words=settings.min_words):
            count = len(significant_words(memory.text))
            detail = f"{count} meaningful words of at least {settings.min_words}, none of them specific"
            prunes.append(PruneFinding(memory, PruneReason.VAGUE, days, detail))
    return tuple(prunes)


def _is_pinned(memory: Memory) -> bool:
    return memory.pinned or says_pinned(memory.text)


def age_of(memory: Memory, *, now: datetime) -> timedelta | None:
    """Time since the memory was last stated; None if no date is known or any lies in the future.

    The last statement is the latest of creation, update and the `last_stated_at` that a merge leaves in
    the metadata.
    """
    known = [memory.created_at, memory.updated_at, noted_moment(memory.metadata.get(LAST_STATED_KEY))]
    moments = [as_utc(moment) for moment in known if moment is not None]
    if not moments or max(moments) > as_utc(now):
        return None
    return as_utc(now) - max(moments)


def is_stale(memory: Memory, *, settings: Settings, now: datetime, accessed: datetime | None = None) -> bool:
    """Whether it is older than its category's retention and was not read within the access window.

    Both limits are exceeded only strictly: at 180 days to the second a memory is not yet older than 180
    days. A future access counts as recent.
    """
    age = age_of(memory, now=now)
    if age is None or age <= _retention(memory, settings):
        return False
    access = _last_access(memory, accessed)
    return access is None or as_utc(now) - access > settings.access_window


def is_vague(text: str, *, min_words: int) -> bool:
    """Whether a text is too short to mean anything and holds nothing specific.

    Shortness alone proves nothing: every word must also come from the vocabulary of empty words, or the
    text must open with an indefinite "something about". Scripts and languages outside that vocabulary
    are vague only when empty.

    >>> [is_vague(text, min_words=5) for text in ("Fixed bug", "Something about work", "Speaks Welsh")]
    [True, True, False]
    """
    words = tokens(text)
    if len(significant_words(text)) >= min_words:
        return False
    if not words:
        return not _has_symbols(text)
    if not (_is_generic(words) or _opens_indefinite(words)):
        return False
    return not (_is_specific(text) or _is_rule(words) or _names_something(text))


def _is_specific(text: str) -> bool:
    """Whether a text of empty words holds a name, number, date or the like all the same.

    Its mere shape does not count: "X is Y" states an attribute, but not of "The thing is broken", and a
    capital at the beginning makes no name.
    """
    plain = _ATTRIBUTE_SHAPE.sub(" ", text).strip()
    return is_specific(plain.lower() if plain.isupper() else plain[:1].lower() + plain[1:])


def _is_generic(words: Sequence[Token]) -> bool:
    """All content words are empty, and the half-empty ones stand in empty company."""
    forms = {_form(token) for token in words}
    content = {_form(token) for token in words if not token.is_stop}
    if content <= GENERIC or content <= NOISE:
        return True
    if content & TASTES:
        return content <= GENERIC | HALF_EMPTY | TASTES and bool(forms & FILLERS)
    return content <= GENERIC | HALF_EMPTY and bool(forms & (FILLERS | JUDGEMENTS | CHANGES | PAST_EVENTS))


def _opens_indefinite(words: Sequence[Token]) -> bool:
    """Nothing but empty words, then "something about" or "some issue", which leaves the rest hanging."""
    for token, following in pairwise(words):
        form, after = _form(token), _form(following)
        if form in FILLERS and (after in _ABOUT or (form == "some" and after in NOUNS)):
            return True
        if not token.is_stop and form not in GENERIC | TASTES:
            return False
    return False


def _is_rule(words: Sequence[Token]) -> bool:
    """Whether a text forbids, demands or orders: "Never push", "No meetings", "Commit often"."""
    forms = [*(_form(token) for token in words), ""]
    if forms[0] in ORDERS and len(words) > 1 and not NO_ORDER & set(forms):
        return True
    for form, after in pairwise(forms):
        if form == "no":
            rule = after not in EMPTY_AFTER_NO
        elif form in {"before", "after"}:
            rule = bool(after)
        else:
            rule = form in RULE_WORDS or (form == "do" and after == "not")
        if rule:
            return True
    return False


def _names_something(text: str) -> bool:
    """Pronouns ("she/her"), a value ("Build tool: make"), or an acronym that is no common word ("IT")."""
    if _PRONOUNS.search(text):
        return True
    _, sign, value = text.replace("=", ":").partition(":")
    if sign and not {_form(token) for token in tokens(value)} <= EMPTY_VALUES:
        return True
    if text.upper() == text:
        return False
    return any(match[0].lower() not in GENERIC for match in _ACRONYM.finditer(text))


def _has_symbols(text: str) -> bool:
    """Whether a text without words still shows something, such as an emoji."""
    return any(ord(char) >= 0x2190 for char in text if not char.isspace())


def _form(token: Token) -> str:
    return token.text.casefold().removesuffix("'s")


def _retention(memory: Memory, settings: Settings) -> timedelta:
    return settings.retention.get(memory.category or "", settings.stale_after)


def _last_access(memory: Memory, logged: datetime | None) -> datetime | None:
    known = [as_utc(moment) for moment in (memory.accessed_at, logged) if moment is not None]
    return max(known, default=None)


def _access_detail(memory: Memory, accessed: Mapping[str, datetime], now: datetime) -> str:
    access = _last_access(memory, accessed.get(memory.id))
    return "no known access" if access is None else f"last read {(now - access).days} days ago"
