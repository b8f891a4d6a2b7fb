"""Names of people, places, products and organisations: capitalised words, and known tools in lower case.

A capital opens a sentence too: there a word is a name only if it is not everyday vocabulary, and it
counts as weak. Diacritics, case, plural and possessive endings do not tell names apart; short forms that
everyone knows ("k8s", "Postgres", "NYC") agree with the long ones. Nobody's gender, country or role is
inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..word_tables import table_words
from .aliases import same_name
from .common_words import common
from .detail import Detail
from .tokens import Page, Word, listed

_NEVER = frozenset(table_words("names", "never"))
_ACRONYMS = frozenset(table_words("names", "acronyms"))
_TITLES = frozenset(table_words("names", "titles"))
_VERB_FOLLOWERS = frozenset(table_words("names", "verb_followers"))
_COMMON_ENDINGS = listed("ing ional ical able ible tion sion ment ness ful less ous ive ising izing ally")
_CONTRACTED = ("'ll", "'ve", "'re", "'d", "'m", "n't")
_TOOLS = frozenset(table_words("names", "tools"))


@dataclass(frozen=True, slots=True)
class Name(Detail):
    """One word of a name, with the whole name it stands in.

    Attributes:
        folded: Lower case, without diacritics.
        phrase: All folded words of the name, in order: ("san", "francisco").
        strong: Capitalised inside a sentence, inner capitals, or a known tool; not only at its start.
        opens: The name begins a sentence, so it may be its subject.
        before: The folded word before the whole name.
        after: The folded word behind the whole name.
    """

    kind: ClassVar[str] = "name"
    folded: str = ""
    phrase: tuple[str, ...] = ()
    strong: bool = True
    opens: bool = False
    before: str = ""
    after: str = ""

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

    >>> from .tokens import words
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
    """Make one name per word of a run that starts at a place among the words."""
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
    """Whether a word shows that it is a name by its own letters."""
    text = word.text.removesuffix("'s")
    return (
        word.folded in _TOOLS
        or word.text.endswith("'s")
        or (len(text) > 1 and (text != text.capitalize() or not text.isascii()))
    )


def _is_name(word: Word, lower: set[str], *, shouting: bool) -> bool:
    """Whether a word is (part of) a name."""
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
