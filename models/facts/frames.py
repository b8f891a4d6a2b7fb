"""Two texts that are equal sentences but in one place, one that denies the other, and what is over or ahead.

Most rules look at the words only and need the rest of the sentence to be equal. Paraphrases often swap
polarity ("not open" for "closed"), so the other text must hold most of what is denied, and not deny it too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from ..text.tables import found, pattern, table_lines, table_set
from ..text.vocabulary import FRAME_WORDS, synonyms
from ..text.words import CACHED_TEXTS, Word, fold, stem, words
from . import VALUED, Facts
from .calendar import Clock, Day, Relative
from .details import Detail
from .literals import Identifier, Quote, Version
from .names import Name, named_among
from .numbers import Number
from .values import Negation

_SUBJECT = "user"  # "Anna has a dog" may be "User has a dog"


class Kind(NamedTuple):
    """One kind of evidence, as `tables/evidence.toml` tells it."""

    said: str
    of: str
    families: tuple[str, ...]


KINDS, JUDGED = (
    {
        kind: Kind(said, details.partition(":")[0], tuple(details.partition(": ")[2].split(", ")))
        for kind, details, said in (map(str.strip, line.split("|")) for line in lines)
    }
    for lines in (table_lines("evidence", key) for key in ("found", "judged"))
)
"""The kinds that the guards find, and those that the judge adds."""
_FAMILY_KIND = {family: name for name, kind in KINDS.items() for family in kind.families}


class Difference(NamedTuple):
    """The details of one kind in two texts, and those of each that the other does not state."""

    kind: str
    mine: Sequence[Detail]
    theirs: Sequence[Detail]
    only_left: Sequence[Detail]
    only_right: Sequence[Detail]


def differences(
    left: Facts, right: Facts, a_date: datetime | None = None, b_date: datetime | None = None
) -> list[Difference]:
    """What two texts state of each kind of which either states something; the dates are for "yesterday"."""
    sides = ((kind, _of_kind(kind, left, a_date), _of_kind(kind, right, b_date)) for kind in KINDS)
    return [Difference(*side, *parted(*side[1:], left, right)) for side in sides if side[1] or side[2]]


def _of_kind(kind: str, facts: Facts, moment: datetime | None) -> Sequence[Detail]:
    row = KINDS[kind]
    details: tuple[Detail, ...] = getattr(facts, row.of) if row.of else ()
    if kind == "date" and facts.relatives:
        return (*details, *(each if moment is None else each.on(moment) for each in facts.relatives))
    if row.of != "traits" or not details:
        return details
    return [each for each in facts.traits if _FAMILY_KIND.get(each.family, "trait") == kind]


def stated(detail: Detail, others: Sequence[Detail], facts: Facts) -> bool:
    """Whether a text states a detail of another one, given its details of that kind and all its facts."""
    elsewhere = _ELSEWHERE.get(type(detail))
    said = any(detail.agrees(other) for other in others)
    return said or (elsewhere is not None and elsewhere(detail, facts))


def parted(
    mine: Sequence[Detail], theirs: Sequence[Detail], left: Facts, right: Facts
) -> tuple[list[Detail], list[Detail]]:
    """Those of the details of two texts that the other text does not state."""
    return (
        [each for each in mine if not stated(each, theirs, right)],
        [each for each in theirs if not stated(each, mine, left)],
    )


def _number(number: Number, facts: Facts) -> bool:
    """Whether a number stands there as an hour, a version, a year, a day or a date written "3/6"."""
    if number.unit is not None:
        slashed = re.fullmatch(r"(\d+)/(\d+)", number.text)
        parts = {int(part[:4]) for part in slashed.groups()} if slashed else None
        return any({day.day, day.month} == parts for day in facts.days)
    if any(clock.on_hour(number) for clock in facts.clocks):
        return True
    if any(_version_number(version, number) for version in facts.versions):
        return True
    return any(number.value in (day.year, day.day) for day in facts.days)


def _version_number(version: Version, number: Number) -> bool:
    parts = (version.key, version.key.split(".")[0])
    return number.unit is None and (number.text in parts or f"{number.value:g}" in parts)


def _day(day: Day, facts: Facts) -> bool:
    year = day.year if day.month is None else None
    return any(
        (number.form == "ordinal" and number.value == day.day) or number.value == year
        for number in facts.numbers
    )


def _name(name: Name, facts: Facts) -> bool:
    """Whether the word of a name stands there in any case or spelling, as initials, or as the user."""
    if name.folded in facts.vocabulary or (name.opens and _SUBJECT in facts.vocabulary):
        return True
    if named_among(name.folded, facts.vocabulary):
        return True
    if name.text.isupper() and len(name.folded) > 1 and name.folded in facts.initials:
        return True
    return len(name.phrase) > 1 and "".join(word[0] for word in name.phrase) in facts.vocabulary


_ELSEWHERE: dict[type[Detail], Callable[[Any, Facts], bool]] = {
    Number: _number,
    Day: _day,
    Clock: lambda clock, facts: any(map(clock.on_hour, facts.numbers)),
    Relative: lambda _, facts: bool(facts.days),
    Version: lambda version, facts: any(_version_number(version, number) for number in facts.numbers),
    Name: _name,
    Identifier: lambda each, facts: named_among(each.key, facts.vocabulary),
    Quote: lambda quote, facts: quote.key in fold(facts.text),
}
"""Whether a text states a detail in another kind."""
_SHORTEST_FRAME = 2
_LONGEST_SWAP = 3
Change = tuple[str, str]


def only_one(mine: str, theirs: str) -> Change | None:
    """What two texts say, where only one of them says anything."""
    return (mine or "-", theirs or "-") if bool(mine) != bool(theirs) else None


def crosswise(
    mine: str, theirs: str, one: re.Pattern[str], other: re.Pattern[str], *, hides: bool = False
) -> Change | None:
    """The words by which each text says the reverse; those that hide others: "does not like" is no liking."""
    said, reverse = one.search(mine), other.search(theirs)
    if said is None or reverse is None or other.search(mine):
        return None
    said_too = one.search(other.sub(" ", theirs) if hides else theirs)
    return None if said_too else (said[0], reverse[0])


def exception(left: Facts, right: Facts) -> Change | None:
    """Return the exception that only one of two general statements makes."""
    change = only_one(found("exception", left.text), found("exception", right.text))
    return change if all(found("universal", each.text) for each in (left, right)) else None


def swap(left: Facts, right: Facts) -> Change | None:
    """Return the different words that two texts hold in one place of an otherwise equal sentence."""
    mine, theirs = left.words, right.words
    shorter = min(len(mine), len(theirs))
    head = next((i for i in range(shorter) if mine[i].stem != theirs[i].stem), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if mine[-1 - i].stem != theirs[-1 - i].stem), rest)
    core, other = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    frame = _content((*mine[:head], *mine[len(mine) - tail :]))
    parts = _content(core), _content(other)
    sizes = [len(part) for part in parts]
    if min(sizes) < 1 or max(sizes) > _LONGEST_SWAP or len(frame) < max(_SHORTEST_FRAME, *sizes):
        return None
    if _explained(parts[0], parts[1]) or _typed(parts[0], left) or _typed(parts[1], right):
        return None
    return surface(left, core), surface(right, other)


def swap_of_one(left: Facts, right: Facts) -> tuple[Word, Word] | None:
    """Return the words in the only place in which two texts of equal length differ."""
    if len(left.words) != len(right.words):
        return None
    pairs = zip(left.words, right.words, strict=True)
    swapped = [(mine, theirs) for mine, theirs in pairs if mine.stem != theirs.stem]
    return swapped[0] if len(swapped) == 1 else None


def _content(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.folded not in FRAME_WORDS]


def _explained(core: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two exchanged parts may mean the same: a shared stem or synonym, or other punctuation."""
    if "".join(word.folded for word in core) == "".join(word.folded for word in other):
        return True
    return any(x.stem == y.stem or synonyms(x.folded, y.folded) for x in core for y in other)


def _typed(part: Sequence[Word], facts: Facts) -> bool:
    """Whether a part holds a name, number, date, time or negation, which have guards of their own."""
    kinds = (*VALUED, "relatives", "negations")
    spans = [each.text for kind in kinds if kind != "versions" for each in getattr(facts, kind)]
    return any(word.text in span for word in part for span in spans)


def surface(facts: Facts, part: Sequence[Word]) -> str:
    """A run of words as it stands in the text."""
    return facts.text[part[0].start : part[-1].end]


def added_count(left: Facts, right: Facts) -> Change | None:
    """The counts of one kind of thing in both texts, where only one text has another beside it."""
    for mine, theirs in ((left.text, right.text), (right.text, left.text)):
        for listing in pattern("two_counts").finditer(mine):
            one, of_one, things, two, of_two = listing.groups("")
            counted = pattern("counted_thing").finditer(theirs)
            known = {" ".join(match.groups("")).lower(): match[0] for match in counted}
            both = [known.get(f"{n} {of} {things}".lower()) for n, of in ((one, of_one), (two, of_two))]
            other = both[0] or both[1]
            if other and None in both:
                return (listing[0], other) if mine == left.text else (other, listing[0])
    return None


_REACH_SHARE = 0.6  # of the denied words that the other text must hold; fitted on development pairs
_DENYING = table_set("denials", "single")
_HELPING = table_set("denials", "helping")
_BOUNDS = [tuple(line.split("|")) for line in table_lines("denials", "bounds")]
_OTHER_BOUNDS = {pair for one, other in _BOUNDS for pair in ((one, other), (other, one))}


def opposed(left: Facts, right: Facts) -> bool:
    """Whether equal sentences differ in a denial, a bound or a port alone, so that both cannot hold."""
    (mine, denying, said, bounds, port, serving) = _heard(left.text)
    (theirs, denying_there, said_there, bounds_there, other_port, serving_there) = _heard(right.text)
    if odd := denying ^ denying_there:
        rest, other_rest = ([word for word in stems if word not in odd] for stems in (mine, theirs))
        return rest == other_rest and bool(denied(left, right) or denied(right, left))
    for x, y in ((x, y) for x in bounds for y in bounds_there if (x, y) in _OTHER_BOUNDS):
        bare = re.sub(rf"\b{x}\b", "#", said, count=1), re.sub(rf"\b{y}\b", "#", said_there, count=1)
        if "#" in bare[0] and bare[0] == bare[1]:
            return True
    return "" not in (port, other_port) and port != other_port and serving == serving_there


_Heard = tuple[tuple[str, ...], frozenset[str], str, tuple[str, ...], str, tuple[str, ...]]


@lru_cache(maxsize=CACHED_TEXTS)
def _heard(text: str) -> _Heard:
    """Of a text its stems, the denying ones, its words, bounds, port, and what is said beside the port."""
    heard = [word.folded for word in words(text) if word.folded not in _HELPING]
    port = pattern("port").search(text)
    serving = pattern("serving").sub(" ", pattern("port").sub("", text.lower())).split() if port else ()
    kept = tuple(word for word in serving if word not in _HELPING)
    stems, said = tuple(map(stem, heard)), " ".join(heard)
    bounds = tuple(word for pair in _BOUNDS for word in pair if word in said)
    return stems, _DENYING.intersection(stems), said, bounds, port[1] if port else "", kept


def denied(denying: Facts, other: Facts) -> list[Negation]:
    """Return the negations of one text whose reach the other affirms."""
    hard = [each for each in denying.negations if each.hard and each.reach]
    if not hard or pattern("hidden_denial").search(other.text):
        return []
    # stems that the text has outside the reach of its negations, so that it does not simply deny them
    counts = Counter(word.stem for word in denying.words)
    for each in denying.negations:
        counts.subtract(each.reach)
    affirmed = {word for word, count in counts.items() if count > 0}
    return [
        each
        for each in hard
        if _affirms(each, other.stems)
        and not _doubled(each, denying, other)
        and not any(_same_denial(each, theirs) for theirs in other.negations)
        and affirmed.isdisjoint(each.objects & other.stems)
    ]


def _affirms(negation: Negation, present: frozenset[str]) -> bool:
    reach = negation.reach
    if reach[0] in present:
        return sum(word in present for word in reach) >= _REACH_SHARE * len(reach)
    return len(reach) > 2 and reach[0] in negation.heavy and all(word in present for word in reach[1:])


def _doubled(negation: Negation, denying: Facts, other: Facts) -> bool:
    """Whether a denying verb is itself denied ("does not exclude") and missing in the other text."""
    verb = negation.reach[0]
    return verb not in other.stems and any(verb == _verb(each) for each in denying.negations if not each.hard)


def _verb(negation: Negation) -> str:
    return stem(negation.cue.split(" ")[0])


def _same_denial(mine: Negation, theirs: Negation) -> bool:
    """Whether two negations deny a common thing; "not allergic" does not repeat the denial in "allergic"."""
    if not theirs.hard and _verb(theirs) in mine.reach:
        return False
    if mine.agrees(theirs):
        return True
    return not (mine.heavy and theirs.heavy) and bool(set(mine.reach) & set(theirs.reach))


def foreign_denial(left: Facts, right: Facts) -> Change | None:
    """Return the negations of both texts where only one of them has any."""
    texts = left.text, right.text
    denials = (found("foreign_denial", text) or found("spanish_no", text) for text in texts)
    return only_one(*map(str.strip, denials))


def told_end(a: str, b: str) -> str | None:
    """The word by which one of two texts tells of an end, if the other tells of none."""
    ends = _end(a), _end(b)
    return None if all(ends) else ends[0] or ends[1] or None


@lru_cache(maxsize=CACHED_TEXTS)
def _end(text: str) -> str:
    return found("end", text).lower()


def still_done(a: str, b: str) -> int | None:
    """Which text, 0 or 1, says that something is done now of which the other tells that it is given up."""
    end, plain = told_end(a, b), int(_end(a) != "")
    given_up = end is not None and pattern("given_up").fullmatch(end)
    return plain if given_up and not pattern("not_now").search((a, b)[plain]) else None


_MOST_WORDS = 14  # of content, up to which one mark speaks for all of a text; longer ones tell several things


def progressed(left: Facts, right: Facts) -> Change | None:
    """Return the words for what is ahead and for what is done, where each text has only one of these.

    The older of two such texts is no copy of the newer: read today it is false.
    """
    if max(len(left.content), len(right.content)) > _MOST_WORDS:
        return None
    ahead, done = pattern("ahead"), pattern("done")
    change = crosswise(left.text, right.text, ahead, done) or crosswise(left.text, right.text, done, ahead)
    return None if change is None else (change[0].strip(" .;:,"), change[1].strip(" .;:,"))
