"""Names of people, places, products and organisations: capitalised words, and known tools in lower case.

A word that opens a sentence is a name only if it is not everyday vocabulary, and counts as weak. Short forms
that everyone knows ("k8s", "NYC") agree with the long ones, names that merely begin alike do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ..text.tables import listed, table_lines, table_set
from ..text.vocabulary import common
from ..text.words import CACHED_TEXTS, Word
from .details import Detail, Page

_DERIVED = ("sql", "s", "n", "an", "ian", "ean", "ese", "ish", "er", "ers", "i", "js", "db", "ic")
_SHORTEST_ROOT = 4
_SHORTEST_TYPO = 7
_OTHER_NAMES: dict[str, frozenset[str]] = {
    word: frozenset(line.split()) for line in table_lines("names", "aliases") for word in line.split()
}
for _formal, *_short in map(str.split, table_lines("names", "short_forms")):
    for _word, _others in ((_formal, _short), *((each, [_formal]) for each in _short)):
        _OTHER_NAMES[_word] = _OTHER_NAMES.get(_word, frozenset()).union(_others)


@lru_cache(maxsize=CACHED_TEXTS)
def _alike(word: str) -> frozenset[str]:
    """All spellings of a folded word that name the same thing, letters in another order aside."""
    endings = _DERIVED if len(word) >= _SHORTEST_ROOT else ("s",)
    longer = {word + ending for ending in endings}
    bases = {ending: word.removesuffix(ending) for ending in _DERIVED if word.endswith(ending)}
    shorter = {base for ending, base in bases.items() if ending == "s" or len(base) >= _SHORTEST_ROOT}
    return frozenset({word}).union(_OTHER_NAMES.get(word, ()), longer, shorter)


def named_among(word: str, words: frozenset[str]) -> bool:
    """Whether any of these folded words names the same thing, by look-up: there may be thousands."""
    if not _alike(word).isdisjoint(words):
        return True
    return len(word) >= _SHORTEST_TYPO and "".join(sorted(word)) in _letters(words)


@lru_cache(maxsize=64)
def _letters(words: frozenset[str]) -> frozenset[str]:
    return frozenset("".join(sorted(word)) for word in words if len(word) >= _SHORTEST_TYPO)


def same_name(left: str, right: str) -> bool:
    """Whether two folded words name the same thing."""
    typo = len(left) == len(right) >= _SHORTEST_TYPO and sorted(left) == sorted(right)
    return typo or right in _alike(left)


_NEVER, _ACRONYMS, _TITLES, _VERB_FOLLOWERS, _TOOLS = (
    table_set("names", key) for key in ("never", "acronyms", "titles", "verb_followers", "tools")
)
_COMMON_ENDINGS = listed("ing ional ical able ible tion sion ment ness ful less ous ive ising izing ally")
_JOINTS = frozenset((" ", "-", " & ", "."))
_CONTRACTED = ("'ll", "'ve", "'re", "'d", "'m", "n't")


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

    def _same(self, other: Name, /) -> bool:
        return same_name(self.folded, other.folded)

    def _excludes(self, other: Name, /) -> bool:
        """Whether both could name the same thing: no shared word, or a shared one in the same place.

        "Skoda Octavia" and "Octavia Combi" may be one car; "Anna Nowak" and "Ben Nowak" are two people.
        """
        placed = "" != self.before == other.before or "" != self.after == other.after
        if not ((self.strong and other.strong) or (self.opens and other.opens) or placed):
            return False
        shared = set(self.phrase) & set(other.phrase)
        if not shared:
            return True
        from_behind = zip(self.phrase[::-1], other.phrase[::-1], strict=False)
        pairs = (*zip(self.phrase, other.phrase, strict=False), *from_behind)
        return any(mine == theirs for mine, theirs in pairs)


def names(page: Page) -> tuple[Name, ...]:
    """Read the names of a text, word by word; words that others have taken are not names."""
    spelled = page.words
    shouting = sum(word.text.isupper() for word in spelled) > len(spelled) / 2 and len(spelled) > 2
    lower = {word.folded for word in spelled if word.text.islower()}
    runs: list[list[tuple[int, Word]]] = []
    last: Word | None = None
    for place, word in enumerate(spelled):
        untaken = page.rest[word.start : word.end] == page.text[word.start : word.end]
        named = untaken and _is_name(word, lower, shouting=shouting) and not _is_verb(word, place, spelled)
        goes_on = last is not None and page.text[last.end : word.start] in _JOINTS and last.text[-2:] != "'s"
        if named and goes_on:
            runs[-1].append((place, word))
        elif named:
            runs.append([(place, word)])
        last = word if named else None
    return tuple(name for run in runs for name in _named(run, spelled))


def _is_verb(word: Word, place: int, spelled: tuple[Word, ...]) -> bool:
    """Whether a word that opens a sentence is rather its verb: "Boycotts the shop", not "Thomas lives"."""
    if not word.opens or _marked(word) or not word.folded.endswith("s") or place + 1 >= len(spelled):
        return False
    following = spelled[place + 1]
    return following.folded in _VERB_FOLLOWERS or following.text[:1].isupper()


def _named(run: list[tuple[int, Word]], spelled: tuple[Word, ...]) -> list[Name]:
    start, end, opens = run[0][0], run[-1][0] + 1, run[0][1].opens
    phrase = tuple(word.folded for _, word in run)
    before = spelled[start - 1].folded if start and not opens else ""
    after = spelled[end].folded if end < len(spelled) and not spelled[end].opens else ""
    found = []
    for _, word in run:  # surely a name is no technical term that happens to be an acronym
        strong = word.folded not in _ACRONYMS and (len(phrase) > 1 or not word.opens or _marked(word))
        found.append(Name(word.text, word.folded, phrase, strong, opens, before, after))
    return found


def _marked(word: Word) -> bool:
    text = word.text.removesuffix("'s")
    spelled = len(text) > 1 and (text != text.capitalize() or not text.isascii())
    return spelled or word.folded in _TOOLS or word.text.endswith("'s")


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
