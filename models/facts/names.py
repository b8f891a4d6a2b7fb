"""Names of people, places, products and organisations: capitalised words, and known tools in lower case.

A capital opens a sentence too: there a word is a name only if it is not everyday vocabulary, and it counts as
weak. Diacritics, case, plural and possessive endings do not tell names apart; short forms that everyone knows
("k8s", "Postgres", "NYC") agree with the long ones, names that merely begin alike do not (Java, JavaScript).
Nobody's gender, country or role is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ..text.tables import listed, table_lines, table_words
from ..text.vocabulary import common
from ..text.words import Word
from .details import Detail, Page

_FORMAL: dict[str, frozenset[str]] = {
    line.split()[0]: frozenset(line.split()[1:]) for line in table_lines("names", "short_forms")
}
_ALIAS_GROUPS: dict[str, int] = {
    word: number for number, line in enumerate(table_lines("names", "aliases")) for word in line.split()
}
_DERIVED = ("sql", "s", "n", "an", "ian", "ean", "ese", "ish", "er", "ers", "i", "js", "db", "ic")
_SHORTEST_ROOT = 4
_SHORTEST_TYPO = 7


_OF_GROUP: dict[int, frozenset[str]] = {
    number: frozenset(word for word, of in _ALIAS_GROUPS.items() if of == number)
    for number in set(_ALIAS_GROUPS.values())
}
_SHORT_OF: dict[str, frozenset[str]] = {
    short: frozenset(word for word, forms in _FORMAL.items() if short in forms)
    for short in frozenset().union(*_FORMAL.values())
}


def named_among(word: str, words: frozenset[str]) -> bool:
    """Whether any of these folded words names the same thing, by look-up: documents have thousands of words.

    >>> named_among("postgres", frozenset({"the", "postgresql", "port"}))
    True
    """
    known = {word} | _FORMAL.get(word, frozenset()) | _SHORT_OF.get(word, frozenset())
    known |= _OF_GROUP.get(_ALIAS_GROUPS.get(word, -1), frozenset())
    endings = _DERIVED if len(word) >= _SHORTEST_ROOT else ("s",)
    known |= {word + ending for ending in endings}
    known |= {
        word.removesuffix(ending)
        for ending in _DERIVED
        if word.endswith(ending) and (ending == "s" or len(word) - len(ending) >= _SHORTEST_ROOT)
    }
    if not known.isdisjoint(words):
        return True
    return len(word) >= _SHORTEST_TYPO and "".join(sorted(word)) in _letters(words)


@lru_cache(maxsize=64)
def _letters(words: frozenset[str]) -> frozenset[str]:
    return frozenset("".join(sorted(word)) for word in words if len(word) >= _SHORTEST_TYPO)


@lru_cache(maxsize=65536)
def same_name(left: str, right: str) -> bool:
    """Whether two folded words name the same thing.

    >>> same_name("postgres", "postgresql"), same_name("java", "javascript"), same_name("k8s", "kubernetes")
    (True, False, True)
    """
    if left == right:
        return True
    group = _ALIAS_GROUPS.get(left)
    if group is not None and group == _ALIAS_GROUPS.get(right):
        return True
    if left in _FORMAL.get(right, ()) or right in _FORMAL.get(left, ()):
        return True
    if len(left) == len(right) >= _SHORTEST_TYPO and sorted(left) == sorted(right):
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < _SHORTEST_ROOT:
        return long == short + "s"
    return long.startswith(short) and long[len(short) :] in _DERIVED


_NEVER = frozenset(table_words("names", "never"))
_ACRONYMS = frozenset(table_words("names", "acronyms"))
_TITLES = frozenset(table_words("names", "titles"))
_VERB_FOLLOWERS = frozenset(table_words("names", "verb_followers"))
_COMMON_ENDINGS = listed("ing ional ical able ible tion sion ment ness ful less ous ive ising izing ally")
_CONTRACTED = ("'ll", "'ve", "'re", "'d", "'m", "n't")
_TOOLS = frozenset(table_words("names", "tools"))


@dataclass(frozen=True, slots=True)
class Name(Detail):
    """One word of a name, with the whole name it stands in."""

    kind: ClassVar[str] = "name"
    folded: str = ""  # lower case, without diacritics
    phrase: tuple[str, ...] = ()  # all folded words of the name, in order: ("san", "francisco")
    strong: bool = True
    opens: bool = False  # the name begins a sentence, so it may be its subject
    before: str = ""  # the folded word before the whole name
    after: str = ""  # the folded word behind the whole name

    def agrees(self, other: Detail) -> bool:
        """Whether both are the same word or a known short form of it."""
        return isinstance(other, Name) and same_name(self.folded, other.folded)

    def rivals(self, other: Detail) -> bool:
        """Whether both could name the same thing: no shared word, or a shared one in the same place.

        "Skoda Octavia" and "Octavia Combi" may be one car; "Anna Nowak" and "Ben Nowak" are two people.
        """
        if not isinstance(other, Name):
            return False
        if not (self.strong and other.strong) and not self._same_place(other):
            return False
        shared = set(self.phrase) & set(other.phrase)
        if not shared:
            return True
        mine, theirs = self.phrase, other.phrase
        return any(
            mine[i] == theirs[i] or mine[-1 - i] == theirs[-1 - i] for i in range(min(len(mine), len(theirs)))
        )

    def _same_place(self, other: Name) -> bool:
        if self.opens and other.opens:
            return True
        before = self.before != "" and self.before == other.before
        return before or (self.after != "" and self.after == other.after)


def names(page: Page, spelled: tuple[Word, ...]) -> tuple[Name, ...]:
    """Read the names of a text, word by word; words that others have taken are not names.

    >>> from ..text.words import words
    >>> page = Page("Łukasz moved to San Francisco.")
    >>> [name.phrase for name in names(page, tuple(words(page.text)))]
    [('lukasz',), ('san', 'francisco'), ('san', 'francisco')]
    """
    shouting = sum(word.text.isupper() for word in spelled) > len(spelled) / 2 and len(spelled) > 2
    lower = {word.folded for word in spelled if word.text.islower()}
    runs: list[list[Word]] = []
    last: Word | None = None
    for place, word in enumerate(spelled):
        if page.rest[word.start : word.end] != page.text[word.start : word.end]:
            last = None
            continue
        if not _is_name(word, lower, shouting=shouting) or _is_verb(word, place, spelled):
            last = None
            continue
        joined = (
            last is not None
            and page.text[last.end : word.start] in {" ", "-", " & ", "."}
            and not last.text.endswith("'s")
        )
        if joined:
            runs[-1].append(word)
        else:
            runs.append([word])
        last = word
    places = {word.start: number for number, word in enumerate(spelled)}
    return tuple(name for run in runs for name in _named(run, spelled, places[run[0].start]))


def _is_verb(word: Word, place: int, spelled: tuple[Word, ...]) -> bool:
    """Whether a word that opens a sentence is rather its verb: "Boycotts the shop", not "Thomas lives"."""
    if not word.opens or _marked(word) or not word.folded.endswith("s") or place + 1 >= len(spelled):
        return False
    following = spelled[place + 1]
    return following.folded in _VERB_FOLLOWERS or following.text[:1].isupper()


def _named(run: list[Word], spelled: tuple[Word, ...], place: int) -> list[Name]:
    phrase = tuple(word.folded for word in run)
    before = spelled[place - 1].folded if place and not run[0].opens else ""
    end = place + len(run)
    after = spelled[end].folded if end < len(spelled) and not spelled[end].opens else ""
    return [
        Name(word.text, word.folded, phrase, _strong(word, run), run[0].opens, before, after) for word in run
    ]


def _strong(word: Word, run: list[Word]) -> bool:
    """Whether a word is surely a name, and not a technical term that happens to be an acronym."""
    return word.folded not in _ACRONYMS and (len(run) > 1 or not word.opens or _marked(word))


def _marked(word: Word) -> bool:
    text = word.text.removesuffix("'s")
    return (
        word.folded in _TOOLS
        or word.text.endswith("'s")
        or (len(text) > 1 and (text != text.capitalize() or not text.isascii()))
    )


def _is_name(word: Word, lower: set[str], *, shouting: bool) -> bool:
    folded = word.folded
    if folded in _NEVER or folded in _TITLES or word.text[0].isdigit() or folded.endswith(_CONTRACTED):
        return False
    if folded in _TOOLS:
        return True
    if len(folded) == 1 or not any(char.isupper() for char in word.text):
        return False
    if not word.opens and not shouting:
        return True
    return not common(folded) and folded not in lower and not folded.endswith(_COMMON_ENDINGS)
