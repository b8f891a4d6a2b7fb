"""What small words reach: whom "only" means, what is denied, of what there are twelve, whose thing does it.

Each rule finds two texts of nearly the same words in which a word belongs to something else. None says that
the texts are different; a merge of them is for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .bindings import relation
from .facts.extraction import REMEMBERED_TEXTS, extract
from .places import PERSON, THIRD, bound
from .text.tables import table_lines
from .text.words import significant_words

_LONG = 16  # words, from which denials belong to many things
_BRIEF = 12  # words, up to which a text speaks of one thing
_SHORT = 3  # letters, up to which a word behind a number may be its unit
_CLAUSE = re.compile(r"[,;.:()]|\b(?:but|while|whereas|and|yet|with)\b", re.IGNORECASE)
_DENYING = (re.escape(word) for line in table_lines("denials", "denying") for word in line.split(", "))
_DENIED = re.compile(rf"n't\b|\b(?:{'|'.join(_DENYING)})\b", re.IGNORECASE)
_OWNED = re.compile(r"^\W*(?:his|her|my|their|our|(?:the )?user's) \S+", re.IGNORECASE)
_JOINED = re.compile(r"[^\W_]+(?:(?:[._/@:+-]|->)[^\W_]+)+")
_PART = re.compile(r"[^\W_]+")

Words = tuple[str, str]


def misplaced(a: str, b: str) -> Words | tuple[()]:
    """The words of two texts that belong to other things in them, or nothing.

    >>> misplaced("Only Ana fixes old bikes", "Ana fixes only old bikes")
    ('only Ana', 'only old')
    >>> misplaced("Fish is fine, meat is not", "Meat is fine but no fish")
    ('not meat', 'not fish')
    """
    if b < a:
        return misplaced(b, a)[::-1]
    return (
        _only(a, b)
        or _denied_crosswise(a, b)
        or _parts_turned(a, b)
        or _cause(a, b)
        or _most(a, b)
        or _most(b, a)[::-1]
    )


def of_another(a: str, b: str) -> Words | tuple[()]:
    """One number of two things, or what one text says of a person and the other of what is the person's.

    >>> of_another("The mill has 312 employees", "The mill has 312 parking spaces")
    ('312 employees', '312 parking')
    >>> of_another("Lives in Oslo", "His dentist lives in Oslo too")
    ('-', 'His dentist')
    """
    if max(len(text.split()) for text in (a, b)) > _BRIEF:
        return ()
    if b < a:
        return of_another(b, a)[::-1]
    return _other_count(a, b) or _other_subject(a, b) or _other_subject(b, a)[::-1]


def _only(a: str, b: str) -> Words | tuple[()]:
    """Two things of which "only" reaches one in each text."""
    mine, theirs = _reached(a), _reached(b)
    if not mine or not theirs or not mine.keys().isdisjoint(theirs):
        return ()
    both = mine.keys() <= bound(b).keys and theirs.keys() & bound(a).keys
    return (f"only {next(iter(mine.values()))}", f"only {next(iter(theirs.values()))}") if both else ()


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _reached(text: str) -> dict[str, str]:
    """The words that the one "only" of a text may be about: up to the next verb, or all if it opens them."""
    units = bound(text).units
    at = [number for number, unit in enumerate(units) if unit.key == "only"]
    if len(at) != 1:
        return {}
    behind = units[at[0] + 1 :]
    end = next((number for number, unit in enumerate(behind) if unit.verb), len(behind)) or len(behind)
    return {unit.key: unit.text for unit in behind[:end]}


def _denied_crosswise(a: str, b: str) -> Words | tuple[()]:
    """What each text denies and the other affirms."""
    if max(len(text.split()) for text in (a, b)) > _LONG:
        return ()
    (said, denied), (said_there, denied_there) = _polarity(a), _polarity(b)
    mine, theirs = sorted(denied & said_there), sorted(said & denied_there)
    return (f"not {mine[0]}", f"not {theirs[0]}") if mine and theirs else ()


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _polarity(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a text affirms, and those that it denies, without those of both."""
    said: list[set[str]] = [set(), set()]
    for clause in _CLAUSE.split(text):
        denials = len(_DENIED.findall(clause))
        if denials < len(said):  # "not without" is neither
            said[denials] |= significant_words(_DENIED.sub(" ", clause))
    affirmed, denied = said
    return frozenset(affirmed - denied), frozenset(denied - affirmed)


def _parts_turned(a: str, b: str) -> Words | tuple[()]:
    """Two signs of the same parts in another order: owner/name, name/owner."""
    mine, theirs = dict(_joined(a)), dict(_joined(b))
    for parts, word in mine.items():
        for others, other in theirs.items():
            if parts != others and sorted(parts) == sorted(others) and not {parts} & theirs.keys():
                return word, other
    return ()


def _joined(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for match in _JOINED.finditer(text):
        yield tuple(_PART.findall(match[0].lower())), match[0]


def _cause(a: str, b: str) -> Words | tuple[()]:
    """Of two things the one that is for the other, and in the other text comes from it."""
    if max(len(text.split()) for text in (a, b)) > _BRIEF:
        return ()
    mine, theirs = ({unit.key: unit for unit in bound(text).units if unit.marker} for text in (a, b))
    for one, other in (("for", "from"), ("from", "for")):
        first = next((unit for unit in mine.values() if unit.marker == one), None)
        second = next((unit for unit in theirs.values() if unit.marker == other), None)
        if first and second and first.key != second.key and _bare(second.key, a) and _bare(first.key, b):
            return f"{one} {first.text}", f"{other} {second.text}"
    return ()


def _bare(key: str, text: str) -> bool:
    """Whether a word stands in a text without a preposition."""
    return any(unit.key == key and not unit.marker for unit in bound(text).units)


def _most(a: str, b: str) -> Words | tuple[()]:
    """The most of all in one text, and only more than others in the other: oldest, older."""
    mine, theirs = (set(_PART.findall(text.lower())) for text in (a, b))
    for word in sorted(mine - theirs):
        more = word.removesuffix("est") + "er"
        if word.endswith("est") and more in theirs - mine:
            return word, more
    return ()


def _other_count(a: str, b: str) -> Words | tuple[()]:
    """One number of things of which each text names its own."""
    counts = [
        {each.text for each in extract(text).numbers if each.unit is None and each.period is None}
        for text in (a, b)
    ]
    left, right = (
        {unit.key: unit.head for unit in bound(text).units if unit.text in plain}
        for text, plain in zip((a, b), counts, strict=True)
    )
    mine, theirs = ({unit.key: unit.text for unit in units} for units in relation(a, b).unsaid)
    for number in sorted(left.keys() & right.keys()):
        things = mine.get(left[number], ""), theirs.get(right[number], "")
        if min(map(len, things)) > _SHORT:
            return f"{number} {things[0]}", f"{number} {things[1]}"
    return ()


def _other_subject(a: str, b: str) -> Words | tuple[()]:
    """What the first text says of the person and the second of somebody of the person's."""
    owned = _OWNED.search(b)
    if owned is None:
        return ()
    other = bound(b)
    first = next((unit.key for unit in other.units if unit.key not in (PERSON, THIRD)), "")
    if any(unit.key == first and unit.marker for unit in bound(a).units) and bound(a).person:
        return "-", owned[0].strip()  # "is afraid of dogs", "User's dog is afraid"
    for (family, side), keys in bound(a).sides.items():
        subject = other.sides.get((family, side), frozenset())
        if side > 0 and keys == {PERSON} and first in subject:
            return "-", owned[0].strip()
    return ()
