"""The place of each word: its phrase, its item of a list, its side of verbs and orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from .facts import extract
from .facts.numbers import ORDINALS, SMALL, TENS
from .text.tables import pattern, table_lines, table_set, table_words
from .text.vocabulary import FRAME_WORDS
from .text.words import CACHED_TEXTS, fold, normalise
from .text.words import stem as rough_stem

PERSON = "@"  # stands for the one whose memory it is: "User", "the user", "I"
THIRD = "@she"  # she, he: the same person wherever nobody says "user" or "I"
_LONGEST_READ = 4_000  # characters
_SENTENCE_MARKS = frozenset(".;:!?\n")
_OBJECT_MARKERS = frozenset(
    {"to", "from", "with", "for", "of", "on", "about", "after", "against", "up", "off", "out"}
)
DIRECTIONS = {"from": 1, "to": -1, "into": -1}  # preposition -> the side on which what stands behind it is
_DENYING = frozenset(("not", "never"))
_HANDED = frozenset(("to", "from"))
_SHORTEST_PAST = 5
HAVE = frozenset(("has", "have", "had"))
_WORK = frozenset(("work", "works", "worked", "working"))


def _families(key: str) -> dict[str, tuple[str, int]]:
    """Stem -> (family, side on which the subject stands)."""
    families: dict[str, tuple[str, int]] = {}
    for line in table_lines("bindings", key):
        family, first, second = line.split("|")
        for words, side in ((first, 1), (second, -1)):
            families |= {rough_stem(word): (family.strip(), side) for word in words.split()}
    return families


_words = partial(table_set, "bindings")
_THIRD_PERSONS, _PERSONS = _words("third"), _words("person")
_KINDS = {
    word: kind
    for kind in ("auxiliary", "determiner", "relative", "conjunction", "preposition")
    for word in table_words("bindings", kind)
} | dict.fromkeys(_PERSONS | _THIRD_PERSONS, "person")
_BE, _LISTING, _POSSESSIVES, _TOGETHER, _THEMATIC, _PARTICIPLES, _NO_PARTICIPLES, _VERB_WORDS = map(
    _words, ("be", "listing", "possessive", "together", "thematic", "participles", "no_participles", "verbs")
)
_LIGHT = (_words("light") | FRAME_WORDS) - _words("binding")
_LESS = frozenset({"less", "fewer", "worse"})
_PREFERRING = frozenset(map(rough_stem, _words("preferring")))
_NUMBERS = {word: str(value) for word, value in {**SMALL, **TENS, **ORDINALS}.items()}
VERBS = frozenset(map(rough_stem, _VERB_WORDS))
CONVERSE, _ORDERS, _SCALES = map(_families, ("converse", "orders", "scales"))
"""Stem -> (family, side of its subject) of verbs and nouns that tell one fact from either side, of words that
set one thing before or above another, and of opposed comparatives."""


@dataclass(slots=True)
class Unit:
    """One word and its place."""

    text: str
    folded: str
    stem: str
    kind: str  # unit, verb, person, light, stop, or a kind of `_KINDS`
    key: str  # what is compared: stem, digits, `PERSON` or `THIRD`
    detail: bool  # a name, number or code span
    at: int  # the place in the text
    chunk: int = 0  # its phrase
    item: int = 0  # its part of an enumeration, between commas and conjunctions
    run: int = 0  # the enumeration
    marker: str = ""  # the preposition before its phrase
    head: str = ""  # the key of the word behind it in its phrase
    near: frozenset[str] = frozenset()  # the words beside it in its item; of a verb its side, as "+1lik"

    @property
    def verb(self) -> bool:
        """Whether it is a verb here or elsewhere."""
        return self.kind == "verb" or self.stem in VERBS

    @property
    def owns(self) -> bool:
        """Whether it is a possessive: "Sana's", "my"."""
        return self.text.endswith(("'s", "s'")) or self.folded in _POSSESSIVES


class Bound(NamedTuple):
    """The words of content of a text, and what stands on which side (1, -1) of each family of verbs."""

    units: tuple[Unit, ...]
    sides: Mapping[tuple[str, int], frozenset[str]]
    passive: bool  # a verb is passive
    person: bool  # the text says "user" or "I"
    opening: str  # the key of a name that opens the text, or ""
    keys: frozenset[str]


_START = Unit("\n", "\n", "\n", "stop", "\n", detail=False, at=-1)  # before the first word


@lru_cache(maxsize=CACHED_TEXTS)
def bound(text: str) -> Bound:
    """Read the places of the words of a text; the same text is read once.

    >>> [(unit.key, unit.marker, unit.item) for unit in bound("Moved from Oslo to Bergen, alone").units]
    [('mov', '', 0), ('oslo', 'from', 0), ('bergen', 'to', 0), ('alon', '', 1)]
    """
    names = {name.folded for name in extract(text).names}
    reader = _Reader(text, names)
    units = reader.units()
    first = next((token for token in reader.tokens if token.kind != "stop"), None)
    return Bound(
        units,
        reader.sides(),
        any(map(reader.is_passive, range(len(reader.tokens)))),
        any(token.folded in _PERSONS and not reader.owner(at) for at, token in enumerate(reader.tokens)),
        first.key if first is not None and first.folded in names else "",
        frozenset(unit.key for unit in units),
    )


class _Reader:
    """The words of one text with what each does; `sides` and `units` read their places."""

    def __init__(self, text: str, names: set[str]) -> None:
        self.names = names
        self.tokens: list[Unit] = []
        clean = pattern("nobody_but").sub("only", normalise(text)[:_LONGEST_READ])
        for match in pattern("word_at_place").finditer(clean):
            surface = match[0].strip() or "\n"
            folded = fold(surface.strip("`")).removesuffix("'s")
            stem = rough_stem(folded) if folded.isalpha() else folded
            kind = self._kind(surface, folded, stem)
            key = _NUMBERS.get(folded, stem)
            if kind == "person":
                key = THIRD if folded in _THIRD_PERSONS else PERSON
            elif surface[0].isdigit():
                key = folded.replace(",", "")
            detail = surface[0].isdigit() or surface[0] == "`" or folded in names or folded in _NUMBERS
            self.tokens.append(Unit(surface, folded, stem, kind, key, detail, len(self.tokens)))
        self._place()
        self._sides: dict[tuple[str, int], set[str]] = {}

    def _kind(self, surface: str, folded: str, stem: str) -> str:
        if not surface[0].isalnum() and surface[0] != "`":
            return "stop"
        if folded in _KINDS:
            return _KINDS[folded]
        last = self.tokens[-1] if self.tokens else _START
        # Behind an article, a preposition or a possessive stands a noun.
        noun = last.folded != "to" and (last.owns or last.kind in {"determiner", "preposition"})
        if not noun and not surface.endswith(("'s", "s'")) and self._verbal(surface, folded, stem, last):
            return "verb"
        return "light" if folded in _LIGHT else "unit"

    def _verbal(self, surface: str, folded: str, stem: str, last: Unit) -> bool:
        """Whether a word is a verb: a known one, or by its ending and the word before it."""
        ends = (
            last is not _START and surface.islower() and folded not in _LIGHT and folded.endswith(("s", "ed"))
        )
        if ends and (last.kind == "person" or last.folded in {"who", "whom", *self.names}):
            return True
        past = folded.endswith("ed") and len(folded) >= _SHORTEST_PAST
        if ends and past and last.kind in {"unit", "stop", "auxiliary"}:
            return True
        doer = folded.endswith(("er", "ers", "ment", "ments")) and folded not in _VERB_WORDS  # "feeder"
        return stem in VERBS and not doer and (last.kind == "stop" or not surface[0].isupper())

    def _place(self) -> None:
        """Give each word its phrase, its item, its enumeration, and the preposition before it."""
        chunk = item = run = 0
        marker, filled = "", False
        for at, token in enumerate(self.tokens):
            behind_stop = at > 0 and self.tokens[at - 1].kind == "stop"
            breaks = token.kind in {"auxiliary", "verb", "relative"}
            if token.kind == "stop":
                item, chunk, marker, filled = item + 1, chunk + 1, "", False
                run += token.text != ","
            elif token.kind == "conjunction":
                listing = token.folded in _LISTING
                item += token.folded != "while" or behind_stop
                run += not listing
                chunk, filled = chunk + 1, False
                marker = marker if listing else ""
            elif token.kind == "preposition":
                chunk, marker, filled = chunk + 1, token.folded, False
            elif breaks or (token.kind in {"determiner", "person"} and filled):
                chunk, marker, filled = chunk + 1, "", False
            elif token.kind in {"unit", "person"}:
                filled = True
            token.chunk, token.item, token.run, token.marker = chunk, item, run, marker
            chunk += breaks

    def units(self) -> tuple[Unit, ...]:
        """The words of content with their places."""
        units = [token for token in self.tokens if token.kind in {"unit", "verb", "person"}]
        for last, word, after in zip([_START, *units], units, [*units[1:], _START], strict=False):
            word.head = after.key if after.chunk == word.chunk and after is not _START else ""
            word.near = frozenset(
                self._beside(word, other, step)
                for step, other in ((-1, last), (1, after))
                if other is not _START and other.item == word.item and other.kind != "person"
            )
        return tuple(units)

    def _beside(self, word: Unit, other: Unit, step: int) -> str:
        """What stands before (-1) or behind (1) a word; of a verb, too, on which side of it the word is."""
        if other.kind != "verb":
            return other.key
        family, side = CONVERSE.get(other.stem, (other.stem, 1))
        if self.is_passive(other.at):
            side = -side if step > 0 else side if word.marker == "by" else 0
        elif step < 0:
            side = -side
        return f"{side:+}{family}"

    def is_passive(self, at: int) -> bool:
        """Whether a word is a participle behind a form of be, or before "by"."""
        word = self.tokens[at]
        if word.kind not in {"verb", "unit"} or word.folded in _NO_PARTICIPLES:
            return False
        if not (word.folded.endswith(("ed", "en")) or word.folded in _PARTICIPLES):
            return False
        before = self._before(at, {"auxiliary", "verb", "stop"})
        if before and before[-1].folded in _BE:
            return True
        return at + 1 < len(self.tokens) and self.tokens[at + 1].folded == "by"

    def _before(self, at: int, kinds: set[str]) -> list[Unit]:
        return [each for each in self.tokens[max(0, at - 3) : at] if each.kind in kinds]

    def sides(self) -> dict[tuple[str, int], frozenset[str]]:
        """What stands on which side of each verb, order, comparison and direction."""
        for at, token in enumerate(self.tokens):
            if token.kind in {"verb", "unit"}:
                self._of_verb(at)
            if token.kind != "preposition":
                continue
            if token.stem in _ORDERS:
                self._of_order(at)
            if token.folded in {"than", "over", "to"}:
                self._of_comparison(at)
            if token.folded in DIRECTIONS:
                stop = self._next(at, {"stop", "conjunction", "auxiliary"}, len(self.tokens))
                target = _first(self._phrases(at + 1, stop), {token.folded})
                self._put("*from", DIRECTIONS[token.folded], target)
        if not (self._sides.get(("*from", 1)) and self._sides.get(("*from", -1))):
            self._sides = {key: keys for key, keys in self._sides.items() if key[0] != "*from"}
        told = Counter(_ORDERS[token.stem][0] for token in self.tokens if token.stem in _ORDERS)
        for family in (family for family, count in told.items() if count > 1):
            if self._sides.get((family, 1), set()) & self._sides.get((family, -1), set()):
                del self._sides[family, 1], self._sides[family, -1]  # noon comes after A and before B
        return {key: frozenset(keys) for key, keys in self._sides.items() if keys}

    def _put(self, family: str, side: int, keys: Iterable[str]) -> None:
        """Keep what stands on a side; a family with a tilde has one side only."""
        self._sides.setdefault((family, 1 if family[0] == "~" else side), set()).update(keys)

    def _phrases(self, start: int, end: int) -> list[tuple[str, list[str], int]]:
        """(marker, keys, chunk) of the phrases among some words, in order."""
        phrases: list[tuple[str, list[str], int]] = []
        for at in range(start, end):
            token = self.tokens[at]
            if token.kind not in {"unit", "person"} or self.owner(at) or token.folded in _DENYING:
                continue
            if not phrases or phrases[-1][2] != token.chunk:
                phrases.append((token.marker, [], token.chunk))
            phrases[-1][1].append(token.key)
        return phrases

    def owner(self, at: int) -> bool:
        """Whether a word only says whose the next one is: "his niece", not "adores her"."""
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        return after is not None and self.tokens[at].owns and after.kind in {"unit", "light", "verb"}

    def _sentence(self, at: int) -> tuple[int, int]:
        start = next((i + 1 for i in range(at - 1, -1, -1) if self.tokens[i].text in _SENTENCE_MARKS), 0)
        stops = (i for i in range(at + 1, len(self.tokens)) if self.tokens[i].text in _SENTENCE_MARKS)
        return start, next(stops, len(self.tokens))

    def _next(self, at: int, kinds: set[str], end: int) -> int:
        return next((i for i in range(at + 1, end) if self.tokens[i].kind in kinds), end)

    def _of_verb(self, at: int) -> None:
        """Subject and object of one verb, or of a noun of its family behind "is the", each on its side."""
        word, last = self.tokens[at], self.tokens[at - 1] if at else _START
        known = CONVERSE.get(word.stem)
        if word.kind != "verb" and (known is None or not self._relates(at, last)):
            return
        if word.folded in _WORK and self._for_somebody(at):
            known = CONVERSE["employ"][0], -1
        family, side = known or (word.stem, 1)
        start, end = self._sentence(at)
        owned = last.owns  # "is the user's manager"
        if owned:
            self._put(family, -side, [last.key])
        left = self._phrases(start, at - owned)
        right = self._phrases(at + 1, self._next(at, {"verb", "conjunction", "relative"}, end))
        bare = [keys for marker, keys, _ in left if not marker]
        theme = _first(right, {""})
        subject = bare[-1] if bare else [] if left else [PERSON]
        handed = family in _THEMATIC  # "lent Ann 20 for the bed"
        beside = _first(right, _HANDED if handed else _OBJECT_MARKERS)
        passive = self.is_passive(at)
        if family[0] == "~" and passive:  # "is married to"
            self._put(family, 1, (*subject, *beside))
            return
        together = _first(right, {"with"})
        if together and word.folded in _TOGETHER:  # "works with", "shares a car with"
            self._put(f"~{family}", 1, (*subject, *together))
            self._put(family, -1, theme)
            return
        has_theme = handed and (bool(beside) or side < 0)
        if passive:
            self._put(family, -side, beside if has_theme and beside else subject)
            self._put(family, side, _first([*right, *left], {"by"}))
            return
        self._put(family, side, subject)
        if handed and side < 0:  # "borrowed Sana's tent"
            owners = [token.key for token in self.tokens[at + 1 : end] if token.owns]
            self._put(family, 1, owners[:1])
        objects = [[] if has_theme else theme, beside]
        if not any(objects) and len(bare) > 1:  # "whom Anna called"
            objects = [bare[-2]]
        for keys in objects:
            self._put(family, -side, keys)

    def _relates(self, at: int, last: Unit) -> bool:
        """Whether a noun says who one is to another: "is the boss", not "the boss", "has no boss"."""
        nominal = last.kind in {"determiner", "preposition", "person"} or last.text.endswith(("'s", "s'"))
        *_, be, article = _START, _START, *self._before(at, {"auxiliary", "determiner"})
        predicate = be.folded in _BE and article.kind == "determiner"
        had = any(each.folded in HAVE for each in self.tokens[max(0, at - 2) : at])
        return not had and (predicate or not nominal)

    def _for_somebody(self, at: int) -> bool:
        """Whether a form of work goes on as in "works for Kestrel", "works at the Kestrel"."""
        how, *behind = [*self.tokens[at + 1 : at + 4], _START]
        whose = next((each for each in behind if each.kind != "determiner"), _START)
        return how.folded in ("for", "at") and whose.text[0].isupper()

    def _of_order(self, at: int) -> None:
        """What stands before or above what: the phrase behind the word, and the rest of the sentence."""
        family, side = _ORDERS[self.tokens[at].stem]
        start, end = self._sentence(at)
        fronted = not self._phrases(start, at) or (at > 0 and self.tokens[at - 1].text == ",")
        stops = {"stop", "conjunction", "relative"} if fronted else {"stop", "conjunction"}
        stop = self._next(at, stops, end)
        phrases = self._phrases(at + 1, stop)
        if fronted and stop == end and len(phrases) > 1:
            stop = next(i for i in range(at + 1, end) if self.tokens[i].chunk > phrases[0][2])
        if fronted:
            rest = self.tokens[stop:end]
        else:
            parted = (
                i + 1 for i in range(at - 1, start - 1, -1) if self.tokens[i].kind in {"stop", "conjunction"}
            )
            rest = self.tokens[next(parted, start) : at]
        for place, tokens in ((side, rest), (-side, self.tokens[at + 1 : stop])):
            self._put(
                family, place, (token.key for token in tokens if token.kind in {"unit", "person", "verb"})
            )

    def _of_comparison(self, at: int) -> None:
        """What is set over what: "older than", "prefers a to b", "a rather than b"."""
        start, end = self._sentence(at)
        before = self.tokens[start:at]
        if self.tokens[at].folded == "than":
            scales = (_SCALES[token.stem] for token in reversed(before) if token.stem in _SCALES)
            family, side = next(scales, ("*than", 1))
            side = -side if any(token.folded in _LESS for token in before) else side
        elif any(token.stem in _PREFERRING for token in before):
            family, side = "*prefer", 1
        else:
            return
        keys = {token.key for token in before if token.kind in {"unit", "person"}}
        keys = keys or {token.key for token in before[-1:]}  # "rather be texted than called"
        others = keys - {PERSON}
        compared = {token.key for token in before[-1:] if token.folded.endswith("er")}
        if others <= compared and family != "*prefer":  # "the user runs faster": nothing else is faster
            others = keys & {PERSON}
        self._put(family, side, others or keys)
        lesser = self._phrases(at + 1, self._next(at, {"stop", "auxiliary", "conjunction"}, end))
        behind = [key for _, keys, _ in lesser for key in keys]
        self._put(family, -side, behind or [word.key for word in self.tokens[at + 1 : end][:1]])


def _first(phrases: Sequence[tuple[str, list[str], int]], markers: Collection[str]) -> list[str]:
    return next((keys for marker, keys, _ in phrases if marker in markers), [])
