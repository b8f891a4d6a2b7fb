"""What the tables know of single words, given folded: everyday, empty, synonyms, opposites, names, slips."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache, lru_cache

from .tables import table_lines, table_set, table_words
from .words import CACHED_TEXTS, STOP_WORDS, Word, stem

# Words that say nothing by themselves: "Fixed bug" consists of such words alone, "Uses vim" does not.
FILLERS, JUDGEMENTS, DOINGS, NOUNS, HALF_EMPTY, TASTES, CHANGES, NOISE = (
    table_set("generic", key)
    for key in ("fillers", "judgements", "doings", "nouns", "half_empty", "tastes", "changes", "noise")
)
PAST_EVENTS, RULE_WORDS, ORDERS, NO_ORDER, EMPTY_AFTER_NO = (
    table_set("generic", key) for key in ("past_events", "rule_words", "orders", "no_order", "empty_after_no")
)
GENERIC = FILLERS | JUDGEMENTS | DOINGS | NOUNS  # of these a text can be made without saying anything
EMPTY_VALUES = FILLERS | JUDGEMENTS | NOISE  # what an attribute may be without having a value: "Status: done"
FRAME_WORDS = table_set("grammar", "frame")  # words of grammar, left out where sentences are compared
_COMMON = table_set("common", "words")
_FORMS = [form.split("-") for form in ("ies-y", "ied-y", "es-", "s-", "ed-", "ed-e", "ing-", "ing-e", "ly-")]
_SHORTEST_BASE = 3
_SYNONYMS: dict[str, set[int]] = {}
for _number, _line in enumerate(table_lines("synonyms", "groups")):
    for _word in _line.split():
        _SYNONYMS.setdefault(stem(_word), set()).add(_number)
_OPPOSITES: dict[str, set[str]] = {}
for _pair in " ".join(table_words("opposites", "pairs")).split(","):
    _one, _other = (stem(word) for word in _pair.split())
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)
_SHORTEST_WHOLE = 4
_ENDINGS, _BEGINNINGS = (table_words("grammar", key) for key in ("endings", "beginnings"))


@lru_cache(maxsize=CACHED_TEXTS)
def common(word: str) -> bool:
    """Return whether a word, or the base it is inflected from, is everyday vocabulary."""
    if word in _COMMON:
        return True
    for ending, added in _FORMS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_BASE:
            base = word[: -len(ending)]
            if base + added in _COMMON or (base[-1] == base[-2] and base[:-1] in _COMMON):
                return True
    return False


def content_stems(words: Iterable[Word]) -> list[str]:
    """The stems of the words that are no words of grammar, in order."""
    return [word.stem for word in words if word.folded not in FRAME_WORDS]


def synonyms(left: str, right: str) -> bool:
    """Whether two words may stand for each other."""
    return not _SYNONYMS.get(stem(left), set()).isdisjoint(_SYNONYMS.get(stem(right), set()))


def opposite(left: str, right: str) -> bool:
    """Whether two words are plain opposites."""
    return stem(right) in opposites(left)


def opposites(word: str) -> Collection[str]:
    """The stems of the plain opposites of a word."""
    return _OPPOSITES.get(stem(word), ())


@lru_cache(maxsize=CACHED_TEXTS)
def is_word(word: str) -> bool:
    """Whether a word is spelt as it should be, as far as the tables know."""
    if len(word) < 3 or _known(word) or word in STOP_WORDS:
        return True
    for end in filter(word.endswith, _ENDINGS):
        base = word[: -len(end)]
        bases = [base, *([base + "e"] if end[0] in "eia" else ())]
        bases += [base[:-1]] if len(bases) > 1 and base[-1:] == base[-2:-1] else []
        if any(_known(each) and (end == "s" or each not in known_names()) for each in bases):
            return True
    rests = (word[len(start) :] for start in _BEGINNINGS if word.startswith(start))
    return any(len(rest) > _SHORTEST_WHOLE and _known(rest) and rest not in known_names() for rest in rests)


def _known(word: str) -> bool:
    return len(word) > 2 and (word in _vocabulary() or common(word))


@cache
def _vocabulary() -> frozenset[str]:
    return table_set("vocabulary", "words", "near_others") | known_names()


@cache
def known_names() -> frozenset[str]:
    """Words that are names of people, places and tools, or may be."""
    names = table_set("vocabulary", "names") | table_set("names", "tools")
    return names - {f"{day}{s}" for day in table_words("grammar", "calendar") for s in ("", "s")}
