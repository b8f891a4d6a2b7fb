"""Words of a text: normalised characters, folded words, light stems, and spans that are read only once.

Nothing here knows what a word means. Normalising keeps the length, so that offsets hold in both texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

TAKEN = "\x00"


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a short list written as running text."""
    return tuple(text.split())


class Expression:
    """A regular expression that is compiled when first used: a hundred of them cost a tenth of a second.

    Attributes:
        digits: It cannot match a text without a digit, so that such texts are not searched.
    """

    __slots__ = ("_compiled", "_flags", "_source", "digits")

    def __init__(self, source: str, flags: int = 0, *, digits: bool = False) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self.digits = digits

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Find the first match."""
        return self.compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Match at a position."""
        return self.compiled.match(text, start)

    def all(self, text: str) -> Iterator[re.Match[str]]:
        """Find all matches."""
        return self.compiled.finditer(text)


_SAME_LENGTH = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "`",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "–": "-",
        "‐": "-",
        "‑": "-",
        "−": "-",
        "—": ";",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
        "′": "'",
        "″": '"',
        "µ": "μ",
    }
)
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"}
)
_WORD = Expression(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE_END = Expression(r"[.!?:;\n(\[\"•*|]\s*$|(?:^|\s)[-#>]+\s*$")
_SUFFIXES = (
    "ingly",
    "edly",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "es",
    "ed",
    "ly",
    "s",
    "e",
    "y",
)
_SHORTEST_STEM = 3
_IRREGULAR = {
    form: base
    for base, forms in (
        line.split(": ")
        for line in """have: has had having
do: does did done doing
go: goes went gone going
eat: ate eaten
drink: drank drunk
take: took taken
make: made
get: got gotten
buy: bought
sell: sold
write: wrote written
speak: spoke spoken
drive: drove driven
run: ran running
keep: kept
leave: left
teach: taught
think: thought
know: knew known
meet: met
pay: paid
sleep: slept
wear: wore worn
choose: chose chosen
grow: grew grown
begin: began begun
see: saw seen
child: children
person: people
wife: wives
use: using used""".splitlines()
    )
    for form in forms.split()
}


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text, with where it stands.

    Attributes:
        text: As written.
        folded: Lower case, without diacritics and without a possessive ending.
        start: Offset of the first character.
        end: Offset behind the last character.
        opens: Whether it is the first word of a sentence, clause in brackets, quotation or line.
    """

    text: str
    folded: str
    start: int
    end: int
    opens: bool


def normalise(text: str) -> str:
    """Unify quotes, dashes, spaces and digits of other scripts without changing the length.

    >>> normalise("“5–6” ٣")
    '"5-6" 3'
    """
    text = text.translate(_SAME_LENGTH)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Lower-case a word and strip its diacritics.

    >>> fold("Gdańsk"), fold("Ní"), fold("Łukasz")
    ('gdansk', 'ni', 'lukasz')
    """
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char)).translate(_LETTERS)


def words(text: str) -> Iterator[Word]:
    """Yield the words of a normalised text in order."""
    last = 0
    for match in _WORD.all(text):
        surface, start, end = match.group(), match.start(), match.end()
        gap = text[last:start]
        opens = last == 0 or (gap != " " and _SENTENCE_END.search(gap) is not None)
        folded = fold(surface).removesuffix("'s")
        yield Word(surface, folded, start, end, opens)
        last = end


@lru_cache(maxsize=65536)
def rough_stem(word: str) -> str:
    """Cut the regular endings off a folded word, more coarsely than `models.words.stem`; for comparing only.

    >>> rough_stem("uses"), rough_stem("using"), rough_stem("parties"), rough_stem("party")
    ('us', 'us', 'part', 'part')
    """
    word = _IRREGULAR.get(word, word)
    for suffix in _SUFFIXES:
        shortest = _SHORTEST_STEM - 1 if suffix in {"es", "e"} else _SHORTEST_STEM
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word


class Page:
    """A normalised text whose spans are taken one reader after another: "14:30" is not also 14 and 30.

    >>> page = Page("at 14:30")
    >>> [m.group() for m in page.take(Expression("[0-9]+:[0-9]+"))], page.rest.replace(TAKEN, "_")
    (['14:30'], 'at _____')
    """

    __slots__ = ("digits", "rest", "text")

    def __init__(self, text: str) -> None:
        self.text = normalise(text)
        self.rest = self.text
        self.digits = any(char in self.text for char in "0123456789")

    def find(self, pattern: Expression) -> list[re.Match[str]]:
        """Return the matches in the part of the text that no reader took, without taking them."""
        return [] if pattern.digits and not self.digits else list(pattern.all(self.rest))

    def take(self, pattern: Expression) -> list[re.Match[str]]:
        """Return the matches in the part of the text that no reader took, and take them."""
        matches = self.find(pattern)
        for match in matches:
            self.mark(match.start(), match.end())
        return matches

    def mark(self, start: int, end: int) -> None:
        """Take one span."""
        self.rest = self.rest[:start] + TAKEN * (end - start) + self.rest[end:]
