"""What a store may forget: stale memories and vague ones; every rule leans towards keeping."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from ...models.guards import is_specific
from ...models.text import vocabulary
from ...models.text.statements import sentences
from ...models.text.tables import pattern, table_words
from ...models.text.words import Word, significant_words, tokens
from ...records import CONFIRMED_KEY, LAST_STATED_KEY, Memory, Scope, as_utc, noted_moment, says_pinned
from ...settings import Settings
from ..plan import Merge, Prune, PruneReason

_ABOUT = frozenset(("about", "with", "for", "to", "regarding", "on", "in", "around"))
_TIMES = frozenset(table_words("generic", "times"))
_WHEN = frozenset(("at", "in", "on", "every", "each", "by", "until"))


def stale_prune(
    memory: Memory, *, settings: Settings, now: datetime, accessed: datetime | None = None
) -> Prune | None:
    """The removal of a memory past its age and unread since (`accessed`, by the log); None if it stays."""
    age, limit = age_of(memory, now=now), settings.retention.get(memory.category or "", settings.stale_after)
    if _stays(memory, now) or age is None or age <= limit:
        return None
    known = [as_utc(moment) for moment in (memory.accessed_at, accessed) if moment is not None]
    unread = as_utc(now) - max(known) if known else None
    if unread is not None and unread <= settings.access_window:
        return None
    read = "no known access" if unread is None else f"last read {unread.days} days ago"
    return prune_of(memory, "stale", f"{age.days} days old, limit {limit.days}; {read}", now=now)


def vague_prune(memory: Memory, *, settings: Settings, now: datetime) -> Prune | None:
    """The removal of a memory that says nothing; None if it does, or is pinned or retired."""
    if _stays(memory, now) or not is_vague(memory.text, min_words=settings.min_words):
        return None
    count = len(significant_words(memory.text))
    detail = f"{count} meaningful words of at least {settings.min_words}, none of them specific"
    return prune_of(memory, "vague", detail, now=now)


def prune_of(memory: Memory, reason: PruneReason, detail: str, *, now: datetime) -> Prune:
    """The removal of a memory; the engine gives it its id."""
    age = age_of(memory, now=now)
    return Prune.of(memory, reason=reason, age_days=None if age is None else age.days, detail=detail)


def _stays(memory: Memory, now: datetime) -> bool:
    return memory.pinned or says_pinned(memory.text) or memory.is_retired(as_utc(now).date())


def age_of(memory: Memory, *, now: datetime) -> timedelta | None:
    """Time since the latest statement of the memory; None if no date is known or any lies in the future."""
    noted = (noted_moment(memory.metadata.get(key)) for key in (LAST_STATED_KEY, CONFIRMED_KEY))
    known = [memory.created_at, memory.updated_at, *noted]
    moments = [as_utc(moment) for moment in known if moment is not None]
    if not moments or max(moments) > as_utc(now):
        return None
    return as_utc(now) - max(moments)


def is_vague(text: str, *, min_words: int) -> bool:
    """Whether a text is too short to mean anything and holds nothing specific.

    Shortness alone proves nothing: every word must also come from the vocabulary of empty words, or the
    text must open with an indefinite "something about". Other languages are vague only when empty.
    """
    words = tokens(text)
    if len(significant_words(text)) >= min_words:
        return False
    if not words:
        return all(char.isspace() or ord(char) < 0x2190 for char in text)  # an emoji shows something
    if not (_is_generic(words) or _opens_indefinite(words)):
        return False
    if _is_rule(words) or _is_habit(words) or _names_something(text):
        return False
    plain = pattern("attribute_shape").sub(" ", text).strip()  # its mere shape does not make it specific
    return not is_specific(plain.lower() if plain.isupper() else plain[:1].lower() + plain[1:])


def _is_generic(words: Sequence[Word]) -> bool:
    """All content words are empty, and the half-empty ones stand in empty company."""
    forms = {_form(token) for token in words}
    content = {_form(token) for token in words if not token.is_stop}
    if content <= vocabulary.GENERIC or content <= vocabulary.NOISE:
        return True
    if content & vocabulary.TASTES:
        return content <= vocabulary.GENERIC | vocabulary.HALF_EMPTY | vocabulary.TASTES and bool(
            forms & vocabulary.FILLERS
        )
    return content <= vocabulary.GENERIC | vocabulary.HALF_EMPTY and bool(
        forms & (vocabulary.FILLERS | vocabulary.JUDGEMENTS | vocabulary.CHANGES | vocabulary.PAST_EVENTS)
    )


def _opens_indefinite(words: Sequence[Word]) -> bool:
    """Nothing but empty words, then "something about" or "some issue", which leaves the rest hanging."""
    for token, following in pairwise(words):
        form, after = _form(token), _form(following)
        if form in vocabulary.FILLERS and (after in _ABOUT or (form == "some" and after in vocabulary.NOUNS)):
            return True
        if not token.is_stop and form not in vocabulary.GENERIC | vocabulary.TASTES:
            return False
    return False


def _is_rule(words: Sequence[Word]) -> bool:
    """Whether a text forbids, demands or orders: "Never push", "No meetings", "Commit often"."""
    forms = [*(_form(token) for token in words), ""]
    if forms[0] in vocabulary.ORDERS and len(words) > 1 and not vocabulary.NO_ORDER & set(forms):
        return True
    return any(
        (form == "no" and after not in vocabulary.EMPTY_AFTER_NO)
        or (form in {"before", "after"} and after)
        or (form not in {"no", "before", "after"} and form in vocabulary.RULE_WORDS)
        or (form == "do" and after == "not")
        for form, after in pairwise(forms)
    )


def _is_habit(words: Sequence[Word]) -> bool:
    """Whether a text says when something is done: "works at night", not "had lunch at noon"."""
    forms = [_form(token) for token in words if _form(token) != "the"]
    if vocabulary.PAST_EVENTS & set(forms):
        return False
    return any(after in _TIMES and before in _WHEN for before, after in pairwise(forms))


def _names_something(text: str) -> bool:
    """Pronouns ("she/her"), a value ("Build tool: make"), a place ("in CI"), or an acronym of its own."""
    _, sign, value = text.replace("=", ":").partition(":")
    if pattern("pronouns").search(text) or (
        sign and not {_form(token) for token in tokens(value)} <= vocabulary.EMPTY_VALUES
    ):
        return True
    acronyms = (match[0].lower() for match in pattern("capitals").finditer(text))
    return text.upper() != text and bool(
        pattern("capitals_at_place").search(text) or any(each not in vocabulary.GENERIC for each in acronyms)
    )


def _form(token: Word) -> str:
    return token.text.casefold().removesuffix("'s")


UNTRACKED = (
    "Past their age, but kept: {count}. Nothing says what the agent reads in their scope; wrap its client "
    "with track_access, or add --assume-unread to remove them."
)
CROWD = (
    "Past their age, but not proposed: {count}. They are a large part of what is stored, which an old store "
    "always is; `mem0-dream forget` removes what you name."
)
PROTECTED = (
    "Past their age, but kept: {count}. They may be rules, or about health, identity, family, work, law or "
    "safety; `mem0-dream forget` removes what you name."
)


_PERSONAL = ("health", "identity", "family")


def _words_of(*kinds: str) -> re.Pattern[str]:
    """A word ends where it is written to end, unless a star lets it go on; `_` joins words of a phrase."""
    words = sorted({word for kind in kinds for word in table_words("protected", kind)})
    parts = "|".join(word.replace("*", r"\S*").replace("_", " ").replace("/", " ") for word in words)
    return re.compile(rf"(?<= )(?:{parts})(?= )")


_OF_PEOPLE, _PROTECTED = _words_of(*_PERSONAL), _words_of(*_PERSONAL, "legal", "safety")
_READ = ("LATIN", "MICRO SIGN", "FEMININE ORDINAL", "MASCULINE ORDINAL")


@dataclass(frozen=True, slots=True)
class Aged:
    """What becomes of old memories, by id: what goes, what a person is asked about, what stays, and why."""

    goes: frozenset[str]
    asked: frozenset[str]
    kept: Mapping[str, str]


def by_age(
    old: Sequence[Memory],
    living: Sequence[Memory],
    merges: Sequence[Merge],
    *,
    settings: Settings,
    unattended: bool,
    tracked: frozenset[str],
) -> Aged:
    """What age does: it removes where reads are on record, is a question where none is, and never more.

    `living` are all memories of their scopes, the old ones included; `tracked` the ids that the agent's own
    client is known to have read. With `assume_unread` what is not on record counts as unread. What is
    protected stays, and most of a scope is never taken, whatever is on record.
    """
    kept = {memory.id: PROTECTED for memory in old if is_protected(memory)}
    free = [memory for memory in old if memory.id not in kept]
    read = {memory.scope for memory in living if memory.id in tracked or memory.accessed_at is not None}
    unread = [] if settings.assume_unread else [memory for memory in free if memory.scope not in read]
    if unattended:
        kept |= {memory.id: UNTRACKED for memory in unread}

    def many(part: int, whole: int) -> bool:
        """More than one run may remove; of a few, which the budget leaves alone, more than half."""
        few = part <= settings.min_delete and 2 * part <= whole
        return part > settings.max_delete * whole and not few

    too_many = _scopes_losing(unread, living, merges, many)
    most = _scopes_losing(free, living, merges, lambda part, whole: 2 * part > whole)
    asked = {memory.id for memory in unread}
    for memory in free:
        if memory.scope in (most | too_many if memory.id in asked else most):
            kept.setdefault(memory.id, CROWD)
    left = {memory.id for memory in free} - kept.keys()
    return Aged(frozenset(left - asked), frozenset(left & asked), kept)


def _scopes_losing(
    old: Sequence[Memory],
    living: Sequence[Memory],
    merges: Sequence[Merge],
    losing: Callable[[int, int], bool],
) -> set[Scope]:
    """The scopes that would lose too much with what is old, before these merges and after them."""
    names = {memory.id for memory in old}
    merged = {member.id for merge in merges for member in merge.members}
    left = [memory for memory in living if memory.id not in merged]
    fused = [merge.scope for merge in merges if names.issuperset(member.id for member in merge.members)]
    old_before, all_before = Counter(m.scope for m in old), Counter(m.scope for m in living)
    old_after = Counter([*(memory.scope for memory in left if memory.id in names), *fused])
    all_after = Counter([*(memory.scope for memory in left), *(merge.scope for merge in merges)])
    return {
        scope
        for scope in old_before
        if losing(old_before[scope], all_before[scope]) and losing(old_after[scope], all_after[scope])
    }


def notes_of(kept: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each reason that kept something."""
    counted = Counter(kept.values())
    reasons = (UNTRACKED, PROTECTED, CROWD)
    return tuple(reason.format(count=counted[reason]) for reason in reasons if counted[reason])


def is_protected(memory: Memory, *, learning: bool = False) -> bool:
    """Whether a memory may be a rule, or about health, identity, family, work, law or safety.

    A learning, which always advises, is protected only where it may be about somebody.
    """
    text = f"{memory.text} {memory.category or ''}"
    forms = [part for token in tokens(text) for part in _spoken(token.text)]
    if not learning and any(_is_rule(tokens(said)) for said in sentences(memory.text)):
        return True
    if any(char.isalpha() and not unicodedata.name(char, "LATIN").startswith(_READ) for char in text):
        return True  # another script, which the lists cannot read
    told = _OF_PEOPLE if learning else _PROTECTED
    return bool(told.search(f" {' '.join(forms)} ") or pattern("dose").search(text))


def _spoken(form: str) -> list[str]:
    """The words of a token without case, accents and a possessive; "née" is looked up as "nee"."""
    plain = unicodedata.normalize("NFKD", form.casefold().removesuffix("'s"))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return letters.replace("-", " ").replace("_", " ").split()
