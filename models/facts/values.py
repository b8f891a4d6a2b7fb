"""Answers that a text gives to known questions: traits, denials, and values of attributes.

Traits are words that exclude each other: each family is a question, each group one answer with its synonyms.
A value of an attribute that has one value at a time (home, CI) is read with its subject, unless the clause is
about the past, a plan or a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from ..text.tables import pattern, table_lines, table_pairs, table_set
from ..text.vocabulary import content_stems
from ..text.words import fold, stem, words
from .details import Detail, Page

_VIEWS = {word: view for view, kin in table_pairs("opposites", "relatives").items() for word in kin.split()}
_ONE_RELATIVE = {frozenset(line.split()) for line in table_lines("opposites", "one_relative")}


@dataclass(frozen=True, slots=True)
class Trait(Detail):
    """One answer of a family of words that exclude each other."""

    kind: ClassVar[str] = "trait"
    family: str = ""  # the question
    group: int = 0  # number of the answer in the family
    soft: bool = False  # the question is too common in other senses to forbid a merge by itself

    def _same(self, other: Trait, /) -> bool:
        return (self.family, self.group) == (other.family, other.group)

    def _excludes(self, other: Trait, /) -> bool:
        """Whether both answer the same question; a nephew may be a sister's son."""
        if self.family != other.family or self.soft:
            return False
        views = frozenset(_VIEWS.get(each.text.rstrip("s")) for each in (self, other))
        return self.family != "kinship" or views not in _ONE_RELATIVE


@cache
def _families() -> tuple[re.Pattern[str], dict[str, list[tuple[str, int, bool]]]]:
    """What finds a spelling, the longest first, and the answers that each gives: family, group, soft."""
    table: dict[str, list[tuple[str, int, bool]]] = {}
    for line in table_lines("opposites", "families"):
        family, _, groups = line.partition(": ")
        for number, group in enumerate(groups.split("|")):
            for spelling in group.split(","):
                answer = (family.lstrip("~"), number, family.startswith("~"))
                table.setdefault(spelling.strip(), []).append(answer)
    ordered = sorted(table, key=lambda spelling: (-len(spelling), spelling))
    spellings = "|".join(re.escape(each).replace(r"\*", r"\w*") for each in ordered)
    return re.compile(rf"(?<![\w-])(?:{spellings})(?![\w-])"), {each: table[each] for each in ordered}


def traits(page: Page) -> tuple[Trait, ...]:
    """Read the answers a text gives to the known questions."""
    spellings, table = _families()
    answers: list[Trait] = []
    for match in spellings.finditer(page.text.lower()):
        said = match.group()
        stars = (each for each in table if each.endswith("*") and said.startswith(each[:-1]))
        answers.extend(Trait(said, *answer) for answer in table[said if said in table else next(stars)])
    return tuple(answers)


_REACH = 5
_LOOK_BACK, _LOOK_AHEAD = 80, 160
_EMPTY = table_set("grammar", "undenied")
_LIGHT_VERBS = frozenset(map(stem, table_set("grammar", "light")))


@dataclass(frozen=True, slots=True)
class Negation(Detail):
    """One denial and what it reaches; two denials never contradict each other by themselves."""

    kind: ClassVar[str] = "negation"
    cue: str = ""  # the folded cue word: "not", "avoids"
    hard: bool = True  # grammatical negation rather than a denying verb
    reach: tuple[str, ...] = ()  # stems of the words it denies, in order; light verbs included
    subject: frozenset[str] = frozenset()
    clause: str = ""  # the cue with its reach as it stands in the text

    @property
    def heavy(self) -> frozenset[str]:
        """The denied stems that are more than a light verb: use, have, take."""
        return frozenset(self.reach) - _LIGHT_VERBS

    @property
    def objects(self) -> frozenset[str]:
        """The denied stems that carry meaning."""
        return self.heavy or frozenset(self.reach)

    def _same(self, other: Negation, /) -> bool:
        shared = self.objects & other.objects or self.objects & other.subject or self.subject & other.objects
        return bool(shared) or (not self.reach and not other.reach)

    def _holds(self, other: Negation, /) -> bool:
        held = self.hard or not other.hard
        return held and other.objects <= self.objects and {*other.reach} <= {*self.reach, *self.subject}

    def _excludes(self, _other: Negation, /) -> bool:
        return False


def negations(page: Page) -> tuple[Negation, ...]:
    """Read the denials of a text."""
    text, ends = page.text, pattern("denial_end")
    idle = [match.span() for match in pattern("not_denying").finditer(text)]
    denials = []
    for match in pattern("denying").finditer(text):
        if any(start <= match.start() < end for start, end in idle):
            continue
        furthest = min(len(text), match.end() + _LOOK_AHEAD)
        end = ends.search(text, match.end(), furthest)
        stop = end.start() if end else furthest
        before = ends.split(text[max(0, match.start() - _LOOK_BACK) : match.start()])[-1]
        cue, hard = match.group(), match["hard"] is not None
        reach, subject = _denied(text[match.end() : stop])[:_REACH], frozenset(_denied(before)[-_REACH:])
        clause = text[match.start() : stop].strip()
        denials.append(Negation(cue, fold(cue), hard, reach, subject, clause))
    return tuple(dict.fromkeys(denials))


def _denied(clause: str) -> tuple[str, ...]:
    told = (word for word in words(clause) if word.folded not in _EMPTY or word.stem in _LIGHT_VERBS)
    return tuple(word.stem for word in told)


_PERSON, _NO_PLACE = (table_set("values", key) for key in ("person", "no_place"))
_LIGHT = frozenset(map(stem, table_set("values", "light")))
_SHARED_WORDS = 0.5
_SAME_KIN = {"mum": "mother", "mom": "mother", "dad": "father"}
_ALIKE = table_pairs("values", "alike")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an attribute."""

    attribute: str  # the attribute
    text: str  # the value as it stands in the text
    key: str  # the value in its plain form
    subject: frozenset[str]  # whose it is: names and kin before it in the clause
    closed: bool = False  # it is one of a closed list, so that other words of its clause count, too
    rest: frozenset[str] = frozenset()  # the stems of those words

    def about_as(self, other: Value) -> bool:
        """Whether both may be values of one thing: one attribute and subject, and mostly the same words."""
        if (self.attribute, self.subject) != (other.attribute, other.subject):
            return False
        return len(self.rest & other.rest) >= _SHARED_WORDS * min(len(self.rest), len(other.rest))

    def agrees(self, other: Value) -> bool:
        """Whether both may be the same value: equal, or one part of the other."""
        if self.closed and "spaces" not in {self.key, other.key}:
            return self.key == other.key
        return not set(self.key.split()).isdisjoint(other.key.split())


@cache
def _attributes() -> tuple[re.Pattern[str], list[tuple[str, re.Pattern[str], re.Pattern[str]]]]:
    """What some value stands in, and of each attribute its name, what tells of it, and its values."""
    rows = [line.split(" := ") for line in table_lines("values", "attributes")]
    some = "|".join((*(known for *_, known in rows), *table_lines("patterns", "other_values")))
    readers = [
        (name, re.compile(rf"(?i)\b(?:{cue})\b"), re.compile(rf"(?i)(?<![\w-])(?:{known})(?![\w-])"))
        for name, cue, known in rows
    ]
    return re.compile(some, re.IGNORECASE), readers


def values(page: Page) -> tuple[Value, ...]:
    """Read the values of a text."""
    text = page.text
    if _attributes()[0].search(text) is None:
        return ()
    assertions: list[Value] = []
    for match in pattern("value_clause").finditer(text):
        clause = match.group()
        moved = pattern("moved").search(clause)
        if not pattern("unsettled").search(pattern("was").sub("", clause) if moved else clause):
            assertions += (*_people(clause), *_closed(clause, moved.end() if moved else 0))
    return tuple(dict.fromkeys(assertions))


def _people(clause: str) -> Iterator[Value]:
    """Where people live and to whom they report; no day or month is a place."""
    for match in pattern("home").finditer(clause):
        place, before = match["v"], clause[: match.start()]
        spelled = list(words(before))
        if place.split()[0].lower() not in _NO_PLACE and all(
            word.folded in _PERSON or word.text[0].isupper() for word in spelled
        ):
            opening = {word.folded for word in spelled[:1] if word.folded not in _PERSON}
            yield Value("home", place, fold(place), _subject(before) | opening)
    for match in pattern("boss").finditer(clause):
        if all(word.folded in _PERSON for word in words(clause[: match.start()])):
            yield Value("boss", match["v"], fold(match["v"]), frozenset())


def _closed(clause: str, start: int) -> Iterator[Value]:
    for name, cue, known in _attributes()[1]:
        match = known.search(clause, start) if cue.search(clause) else None
        if match is not None:
            subject = _subject(known.sub(" ", clause[: match.start()]))
            rest = frozenset(content_stems(words(cue.sub(" ", known.sub(" ", clause))))) - _LIGHT
            yield Value(name, match.group(), _key(fold(match.group())), subject, closed=True, rest=rest)
    favourite = pattern("favourite").search(clause)
    if favourite is not None:
        name, value = (part.strip().lower() for part in favourite.groups())
        subject = _subject(clause[: favourite.start()])
        yield Value(f"favourite {name}", favourite[2].strip(), fold(value), subject)


def _subject(before: str) -> frozenset[str]:
    kin = {_SAME_KIN.get(match[0], match[0]) for match in pattern("kin").finditer(before.lower())}
    named = {fold(match[0]).removesuffix("'s") for match in pattern("named").finditer(before)}
    return frozenset(kin | named)


def _key(value: str) -> str:
    hours = pattern("hours").match(value)
    if hours is None:
        return _ALIKE.get(value, value)
    late = 12 * 60 if hours[3] == "p" else 0
    return str(int(hours[1]) * 60 + int(hours[2] or 0) + late)
