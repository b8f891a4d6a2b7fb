"""What is bound to what: the same details in two texts, and whether each stands in the same place in both.

A place is a side of a verb ("Anna reports to Ben"), of a preposition ("from Oslo to Bergen") or of an order
("before", "older than"), and the item of an enumeration. Words that keep their order are taken to keep their
places. Others must not stand where another one stood, unless the places are shown to agree.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..records import Evidence
from .facts import VALUED, Facts, extract
from .facts.frames import stated
from .facts.names import same_name
from .places import CONVERSE, DIRECTIONS, PERSON, THIRD, Bound, Unit, bound
from .stance import steps
from .text.tables import table_lines, table_set
from .text.vocabulary import synonyms
from .text.words import fold, out_of_order, stem

ALIKE = 0.8  # share of the words of each text that the other says, from which one word misplaced is enough
HALF_SAID = 0.5  # the same share, from which two states are those of one thing
_REMEMBERED_PAIRS = 8_192
_SHOWN = 3
_SHARED_START, _LONGEST_ENDING = 4, 5  # letters of one root, and of what may follow it
_APPOSITION, _TELLING = (table_set("bindings", key) for key in ("apposition", "telling"))
_FORMS = {stem(word): at for at, line in enumerate(table_lines("bindings", "forms")) for word in line.split()}
_NOTHING: frozenset[str] = frozenset()
_Sides = Mapping[tuple[str, int], frozenset[str]]
_Shared = Sequence[tuple[Unit, Unit]]
_Words = tuple[tuple[str, str], ...]


class Relation(NamedTuple):
    """How the words of two texts are bound in each: what moved, and what only one of them says."""

    said: tuple[float, float]  # share of the words of the first text that the second says, and the reverse
    unsaid: tuple[tuple[Unit, ...], tuple[Unit, ...]]  # the words of each text that the other does not say
    moved: tuple[Unit, ...]  # shared words that do not keep their order
    crossed: _Words  # pairs of shared words that may stand in each other's places
    displaced: _Words  # those of which one stands where the other stood, or all where words are unsaid
    regrouped: tuple[str, ...]  # words that changed their companions with each other
    differ: _Words  # (family, words) of verbs, orders and directions whose sides changed places
    agree: tuple[str, ...]  # families that have the same sides in both texts
    narrowed: _Words  # (words, words) where only one text goes on: a bird, a bird feeder
    marked: _Words  # shared words behind prepositions that say two things: near, in

    @property
    def one_way(self) -> bool:
        """Whether sides changed that cannot hold both ways: who reports to whom, what is before what."""
        return any(family.startswith("*") for family, _ in self.differ)

    @property
    def excludes(self) -> bool:
        """Whether both cannot hold: nearly the same words with exchanged items, or sides that go one way.

        Of sides nothing is known where each text has a word more: picked before, bloom before.
        """
        one_way = self.one_way and not all(self.unsaid)
        return min(self.said) >= ALIKE and (one_way or (bool(self.regrouped) and not self.differ))


def relation(a: str, b: str) -> Relation:
    """Compare what is bound to what in two texts; swapping them swaps what is said of each.

    >>> relation("Anna manages Ben", "Ben reports to Anna").agree
    ('*report',)
    """
    if a <= b:
        return _relation(a, b)
    found = _relation(b, a)
    narrowed, marked = (tuple((x, y) for y, x in words) for words in (found.narrowed, found.marked))
    return found._replace(said=found.said[::-1], unsaid=found.unsaid[::-1], narrowed=narrowed, marked=marked)


@lru_cache(maxsize=_REMEMBERED_PAIRS)
def _relation(a: str, b: str) -> Relation:
    left, right = _with_person(bound(a), bound(b)), _with_person(bound(b), bound(a))
    right = _renamed(right, _same_keys(left, right))
    mine, theirs = (
        [unit for unit in each.units if unit.key not in (PERSON, THIRD)] for each in (left, right)
    )
    unsaid = _unsaid(mine, right.keys, a, b), _unsaid(theirs, left.keys, b, a)
    said = 1 - len(unsaid[0]) / max(1, len(mine)), 1 - len(unsaid[1]) / max(1, len(theirs))
    once = _once(mine) & _once(theirs)
    places = {unit.key: unit for unit in theirs}
    shared = [(unit, places[unit.key]) for unit in mine if unit.key in once]
    moved = out_of_order([place.at for _, place in shared])
    strict, loose, turned = not any(unsaid), min(said) < ALIKE, left.passive != right.passive
    differ, agree = _compare_sides(left.sides, right.sides, turned=turned)
    differ += _markers_exchanged(shared)
    person = left.person or right.person
    turnable = moved or turned or person or left.keys != right.keys or ("*than", 1) in left.sides
    regrouped: tuple[str, ...] = ()
    crossed: _Words = ()
    displaced: _Words | None = None
    if moved:
        regrouped = _regrouped(mine, theirs, with_each_other=True)
        respectively = "respectively" in f"{a} {b}"
        fixed = {
            key
            for place in itertools.product(agree, (1, -1))
            for key in left.sides.get(place, _NOTHING) & right.sides.get(place, _NOTHING)
        }
        crossed = _crossed(shared, fixed, strict=strict or respectively, loose=loose)
        if crossed and strict and not respectively:
            displaced = _crossed(shared, fixed, strict=False, loose=loose)
        if not crossed and not loose:
            crossed = tuple((key, key) for key in _regrouped(mine, theirs, with_each_other=False))
    if not crossed and strict:
        crossed = _mirrored(mine, theirs)
    changed = turned and not moved and not agree
    if changed and shared and sum(unit.detail for unit, _ in shared) > 1 - left.person:
        crossed = ((shared[0][0].key, shared[-1][0].key),)
    spelled = {unit.key: unit.text for unit in (*right.units, *left.units)}
    said_differ = ((family, ", ".join(spelled.get(key, key) for key in keys)) for family, keys in differ)
    return Relation(
        said,
        unsaid,
        tuple(shared[at][0] for at in sorted(moved)),
        tuple((spelled[x], spelled[y]) for x, y in crossed),
        crossed if displaced is None else displaced,
        tuple(spelled[key] for key in regrouped),
        tuple(said_differ) if turnable else (),
        agree,
        _narrowed(shared, unsaid),
        _marked(shared),
    )


def _with_person(text: Bound, other: Bound) -> Bound:
    """The text with the person it is about under one key: she or he, and a name that opens it."""
    names = {} if text.person else {THIRD: PERSON}
    if other.person and not text.person and text.opening and text.opening not in other.keys:
        names[text.opening] = PERSON
    return _renamed(text, names)


def _renamed(text: Bound, names: Mapping[str, str]) -> Bound:
    if text.keys.isdisjoint(names):
        return text

    def side(key: str) -> str:
        return key[:2] + names.get(key[2:], key[2:]) if key[:2] in {"+1", "-1"} else names.get(key, key)

    units = tuple(
        replace(
            unit,
            key=names.get(unit.key, unit.key),
            head=names.get(unit.head, unit.head),
            near=frozenset(map(side, unit.near)),
        )
        for unit in text.units
    )
    sides: dict[tuple[str, int], frozenset[str]] = {}
    for (family, at), keys in text.sides.items():
        place = names.get(family, family), at
        sides[place] = sides.get(place, frozenset()) | {names.get(key, key) for key in keys}
    return text._replace(units=units, sides=sides, keys=frozenset(unit.key for unit in units))


def _same_keys(left: Bound, right: Bound) -> dict[str, str]:
    """Keys of the second text that say what another key of the first one says."""
    mine = {unit.key: unit for unit in left.units if unit.key not in right.keys and unit.key != PERSON}
    theirs = {unit.key: unit for unit in right.units if unit.key not in left.keys and unit.key != PERSON}
    found: dict[str, str] = {}
    for key, word in theirs.items():
        same = next((other for other, unit in mine.items() if _same_word(word, unit)), None)
        if same is not None:
            found[key] = same
            del mine[same]
    return found


def _same_word(one: Unit, other: Unit) -> bool:
    """Whether two words say the same: synonyms, spellings of a name, one root, or one family of verbs."""
    if one.key[:1].isdigit() or other.key[:1].isdigit():
        return False
    first, second = fold(one.text).removesuffix("'s"), fold(other.text).removesuffix("'s")
    if synonyms(first, second) or same_name(first, second):
        return True
    if one.detail or other.detail:
        return False
    if one.key in CONVERSE and other.key in CONVERSE:
        return CONVERSE[one.key][0] == CONVERSE[other.key][0]
    if one.key in _FORMS and _FORMS[one.key] == _FORMS.get(other.key):
        return True
    short, long = sorted((one.key, other.key), key=len)
    root = short[: max(_SHARED_START, len(short) - 2)]
    return len(root) >= _SHARED_START and long.startswith(root) and len(long) - len(short) <= _LONGEST_ENDING


def _unsaid(units: Sequence[Unit], keys: frozenset[str], text: str, other: str) -> tuple[Unit, ...]:
    """The words that the other text does not say, in no form of a typed detail either."""
    return tuple(
        unit
        for unit in units
        if unit.key not in keys and not (unit.detail and _in_details(unit, extract(text), extract(other)))
    )


def _in_details(unit: Unit, mine: Facts, theirs: Facts) -> bool:
    """Whether a word stands in a typed detail that the other text states in another form."""
    if unit.text.isupper() and len(unit.text) > 1 and fold(unit.text) in theirs.initials:
        return True
    return any(
        unit.text in each.text and stated(each, getattr(theirs, kind), theirs)
        for kind in VALUED
        for each in getattr(mine, kind)
    )


def _once(units: Iterable[Unit]) -> set[str]:
    return {key for key, count in Counter(unit.key for unit in units).items() if count == 1}


def _compare_sides(
    mine: _Sides, theirs: _Sides, *, turned: bool
) -> tuple[list[tuple[str, list[str]]], tuple[str, ...]]:
    """Families of which two things changed sides, with these, and those of which something keeps its side.

    One thing is enough where both cannot hold and nothing stayed, or where one text is passive, so turned.
    """
    differ, agree = [], []
    for family in sorted({family for family, _ in mine} & {family for family, _ in theirs}):
        one, two, one_there, two_there = (
            sides.get((family, side), _NOTHING) for sides in (mine, theirs) for side in (1, -1)
        )
        first, second = one - two, two - one
        first_there, second_there = one_there - two_there, two_there - one_there
        up, down = first & second_there, second & first_there
        stays = first & first_there or second & second_there
        if stays and not (one & two_there or two & one_there):
            agree.append(family)
        enough = family.startswith("*") or (turned and PERSON in up | down)
        if (up and down) or ((up or down) and not stays and enough):
            differ.append((family, sorted(up | down)))
    return differ, tuple(agree)


def _markers_exchanged(shared: _Shared) -> list[tuple[str, list[str]]]:
    """Two words that have each other's preposition in the other text: "in French with Persian"."""
    changed = [
        (unit.key, unit.marker, place.marker)
        for unit, place in shared
        if unit.marker != place.marker and {unit.marker, place.marker}.isdisjoint({"by", "", "of"})
    ]
    for (key, mine, theirs), (other, its, others) in itertools.combinations(changed, 2):
        if mine == others and theirs == its:
            return [(f"{mine}, {theirs}", [key, other])]
    return []


def _narrowed(shared: _Shared, unsaid: tuple[tuple[Unit, ...], tuple[Unit, ...]]) -> _Words:
    """Where one text goes on behind a shared word that ends a phrase of the other: "bird", "bird feeder"."""
    narrowed = []
    for at, added in ((0, unsaid[1]), (1, unsaid[0])):
        told = (unit for unit in added if unit.text[0].isalpha() and fold(unit.text) not in _APPOSITION)
        heads = {unit.key: unit.text for unit in told}
        for pair in shared:
            bare, other = pair[at], pair[1 - at]
            head = heads.get(other.head, "")
            numbered = bare.key[0].isdigit() and not head[:1].isupper()
            joined = fold(bare.text) == fold(other.text + head) or other.text.endswith(("'s", "s'"))
            if head and not (bare.verb or bare.head or numbered or joined):
                words = bare.text, f"{other.text} {head}"
                narrowed.append(words if at == 0 else words[::-1])
    return tuple(narrowed)


def _marked(shared: _Shared) -> _Words:
    """Shared words behind other prepositions, of which one tells by itself (near) or both do (from, to)."""
    return tuple(
        (f"{unit.marker} {unit.text}".strip(), f"{place.marker} {place.text}".strip())
        for unit, place in shared
        if (unit.marker != place.marker and not _TELLING.isdisjoint((unit.marker, place.marker)))
        or DIRECTIONS.get(unit.marker, 0) * DIRECTIONS.get(place.marker, 0) < 0
    )


def _items(units: Iterable[Unit], of: set[str] | None = None) -> dict[int, frozenset[str]]:
    items: dict[int, set[str]] = {}
    for unit in units:
        if of is None or unit.key in of:
            items.setdefault(unit.item, set()).add(unit.key)
    return {item: frozenset(keys) for item, keys in items.items()}


def _regrouped(mine: Sequence[Unit], theirs: Sequence[Unit], *, with_each_other: bool) -> tuple[str, ...]:
    """Words that stand beside other things in their item; whole items may move."""
    common = {unit.key for unit in mine} & {unit.key for unit in theirs}
    wholes, other_wholes = (set(_items(units, common).values()) for units in (mine, theirs))
    changed = []
    for key in sorted(common):
        beside, beside_there = _beside(key, wholes), _beside(key, other_wholes)
        lost, gained = beside - beside_there, beside_there - beside
        if lost and gained and not (_made_of(lost, other_wholes) and _made_of(gained, wholes)):
            changed.append((key, lost, gained))
    return tuple(
        key
        for key, lost, gained in changed
        if not with_each_other or any(lost & others and gained & its for _, its, others in changed)
    )


def _beside(key: str, items: Iterable[frozenset[str]]) -> set[str]:
    return set().union(*(keys for keys in items if key in keys)) - {key}


def _made_of(keys: set[str], wholes: Iterable[frozenset[str]]) -> bool:
    return set().union(*(whole for whole in wholes if whole <= keys)) == keys


def _crossed(shared: _Shared, fixed: set[str], *, strict: bool, loose: bool) -> _Words:
    """Pairs of like words in another order, whose places are not shown to be the same.

    Strict, every such pair counts; else those of which one took the other's place; loose, each the other's.
    """
    nouns = [(unit, place) for unit, place in shared if not unit.verb]
    items, items_there = _items(unit for unit, _ in nouns), _items(place for _, place in nouns)
    whole = {unit.key for unit, place in nouns if items[unit.item] == items_there[place.item]}
    crossed = []
    for (x, x_there), (y, y_there) in itertools.combinations(nouns, 2):
        if x_there.at < y_there.at or x.key[0].isdigit() != y.key[0].isdigit() or {x.key, y.key} & fixed:
            continue
        if not strict and not _took_place(x, y, x_there, y_there, both_ways=loose):
            continue
        # phrases between them: "project deadline", "deadline of the project"
        apart = {abs(x.chunk - y.chunk), abs(x_there.chunk - y_there.chunk)}
        agrees = (
            (x.item != y.item and x.key in whole and y.key in whole)
            or (x.marker == x_there.marker != y.marker == y_there.marker)
            or ("" != x.head == x_there.head != y.head == y_there.head != "")
            or (x.item == y.item and x_there.item == y_there.item and 0 in apart and apart <= {0, 1})
            or (_listed(x, y, items) and _listed(x_there, y_there, items_there))
        )
        if not agrees:
            crossed.append((x.key, y.key))
    return tuple(crossed)


def _took_place(x: Unit, y: Unit, x_there: Unit, y_there: Unit, *, both_ways: bool) -> bool:
    """Whether one, or each, of two words stands beside what the other stood beside, or behind its marker."""
    both = {x.key, y.key}
    near_x, near_y = x_there.near - both, y_there.near - both
    marked = x.marker not in {y.marker, x_there.marker}
    y_took = (x.near - y.near) & (near_y - near_x) or (marked and x.marker and x.marker == y_there.marker)
    x_took = (y.near - x.near) & (near_x - near_y) or (marked and y.marker and y.marker == x_there.marker)
    return bool(x_took and y_took) if both_ways else bool(x_took or y_took)


def _listed(x: Unit, y: Unit, items: Mapping[int, frozenset[str]]) -> bool:
    return x.run == y.run and x.item != y.item and max(len(items[x.item]), len(items[y.item])) == 1


def _mirrored(mine: Sequence[Unit], theirs: Sequence[Unit]) -> _Words:
    """A word that both texts repeat and that stands beside other things: "tea, no milk; she milk, no tea"."""
    if Counter(unit.key for unit in mine) != Counter(unit.key for unit in theirs):
        return ()
    first, second = _items(mine).values(), _items(theirs).values()
    for key in sorted({unit.key for unit in mine} - _once(mine) - _once(theirs)):
        if Counter(keys for keys in first if key in keys) != Counter(keys for keys in second if key in keys):
            return ((key, key),)
    return ()


def meant(a: str, b: str) -> tuple[Evidence, ...]:
    """What speaks against two texts being bound and meant the same; in other words "some" says less."""
    alike = min(relation(a, b).said) >= HALF_SAID
    told = (step for step in steps(a, b) if alike or step.kind != "extent")
    states = (Evidence(step.kind, " / ".join(word or "-" for word in step.words), veto=True) for step in told)
    return (*_bound_otherwise(relation(a, b)), *states)


def _bound_otherwise(found: Relation) -> tuple[Evidence, ...]:
    """A veto where places differ; evidence where they may, or where one word makes another thing."""
    sides = [f"{family.lstrip('*')}: {words}" for family, words in found.differ]
    if sides or found.regrouped:
        return (Evidence("binding", "; ".join(sides) or ", ".join(found.regrouped), veto=True),)
    if max(map(len, found.unsaid)) <= 1 and (found.marked or (found.narrowed and not all(found.unsaid))):
        return (Evidence("narrower", " / ".join((*found.narrowed, *found.marked)[0])),)
    pairs = [(x, y) for x, y in found.crossed if x != y or any(found.unsaid)]
    if pairs and min(found.said) >= ALIKE:
        return (Evidence("place", "; ".join(f"{x}, {y}" for x, y in pairs[:_SHOWN])),)
    return ()
