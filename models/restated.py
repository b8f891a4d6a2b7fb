"""One statement told from another side, or in another order: shown by the words alone, without a network.

Only short texts are read, and only where every word has its place: one verb whose sides agree, two sides of
one relation ("Ivo is Maja's landlord", "Maja is Ivo's tenant"), or items that moved as wholes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from .bindings import relation
from .guards import compare
from .places import CONVERSE, HAVE, PERSON, THIRD, VERBS, Bound, bound
from .text.tables import pattern, table_lines, table_pairs, table_set
from .text.vocabulary import common
from .text.words import CACHED_TEXTS, IRREGULAR, fold, normalise, stem

MOST_WORDS = 16  # of a text, up to which its one verb says what it is about
_JOINTS = frozenset((",", ";", "and", "plus"))
_BE = frozenset(("is", "are", "was", "were"))
_LINKS = _BE | {":", "="}
_KEPT = frozenset(("have", "do", "use", "get", "go", "see", "child", "person", "wife", "agree", "guarantee"))
_PREPOSITIONS = table_set("bindings", "preposition")
_HARMLESS = frozenset(("order", "place", "trait", "kinship", "quantifier"))
_TENSES = (
    (HAVE, {"perfect"}),
    ({"was", "were"}, {"past"}),
    ({"is", "are", "am"}, {"present"}),
    ({"put", "set", "cut", "read", "run", "beat", "let", "hit"}, {"past", "present"}),
)
"""Words of a text, and the tenses in which its verb may stand then."""
_REGULAR = {
    form: f"{base.removesuffix('e')}ed"
    for name in ("grammar", "bindings")
    for base, forms in table_pairs(name, "irregular").items()
    for form in forms.split()
    if form != base and base not in _KEPT
}
"""Past forms without an ending, with one: "wrote" and "written" are one word."""
_INFLECTED = (
    ("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
    ("ers", ""), ("er", ""), ("er", "e"),
)  # fmt: skip
_BEFORE_ES = ("s", "x", "z", "ch", "sh", "o")
_TURNED = {
    (mine, theirs)
    for line in table_lines("bindings", "turned")
    for one, other in [line.split(" | ")]
    for mine, theirs in ((one, other), (other, one))
}
_Item = tuple[str, ...]


def restated(a: str, b: str) -> str | None:
    """Say how two texts are shown to be one statement; None where they are not."""
    left, right = _straight(a), _straight(b)
    mine, theirs = _stems(left), _stems(right)
    if len(mine & theirs) * 2 < min(len(mine), len(theirs)):  # nearly all pairs; the rest is dearer
        return None
    unread, spelt = pattern("unread"), pattern("word_of_brief")
    long = max(len(text.split()) for text in (a, b)) > MOST_WORDS
    if long or unread.search(left) or unread.search(right) or not _same_words(_words(left), _words(right)):
        return None
    spelled = {*spelt.findall(left)[1:], *spelt.findall(right)[1:]}
    # a word with a capital in one place only
    if len(spelled) > len(set(map(fold, spelled))) or any(one_of_family(left, right)):
        return None
    if left == right:
        return "the same words set apart"
    rules = {
        "the same items in another order": _same_items,
        "the same told from the other side": _told_from_the_other_side,
        "the same sides of one verb": _same_sides,
    }
    said = next((said for said, rule in rules.items() if rule(left, right)), None)
    turned = said == "the same told from the other side"
    kinds = _HARMLESS | {"binding"} if turned else _HARMLESS
    if said and any(item.kind not in kinds or (item.veto and not turned) for item in compare(left, right)):
        return None
    return said


def one_of_family(a: str, b: str) -> tuple[str, ...]:
    """A name in one text whose family is in the other: the Smiths, Smith."""
    return _family_of(a, b) or _family_of(b, a)[::-1]


def _family_of(name_in: str, family_in: str) -> tuple[str, ...]:
    named, others = (set(pattern("word_of_brief").findall(text)) for text in (name_in, family_in))
    for name in pattern("family").findall(family_in):
        if name in named - others and f"{name}s" not in named and not common(name.lower()):
            return name, f"{name}s"
    return ()


@lru_cache(maxsize=CACHED_TEXTS)
def _straight(text: str) -> str:
    """The text without a cleft ("It was Ada who"), irregular pasts and a phrase in front of a comma."""
    plain = pattern("cleft").sub(r"\1 ", normalise(text).strip().rstrip(".!"))
    plain = pattern("no_ending").sub(lambda match: _REGULAR.get(match["past"], match[0]), plain)
    return pattern("fronted").sub(lambda match: f"{match[2]} {match[1][0].lower()}{match[1][1:]}", plain)


@lru_cache(maxsize=CACHED_TEXTS)
def _words(text: str) -> _Item:
    words = pattern("word_of_brief").findall(text)
    return tuple(fold(word) for word in words if word not in ("the", "a", "an", "The", "An"))


@lru_cache(maxsize=CACHED_TEXTS)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _words(text)))


def _same_words(mine: _Item, theirs: _Item) -> bool:
    """Whether words of one stem are forms of one word: plums and plum, not plums and plumes, cap and cape."""
    rest = {stem(word): word for word in theirs if word not in mine}
    odd = ((word, rest[stem(word)]) for word in mine if word not in theirs and stem(word) in rest)
    return all(_bases(word) & _bases(other) for word, other in odd)


@lru_cache(maxsize=CACHED_TEXTS)
def _bases(word: str) -> frozenset[str]:
    """The words that a word may be a form of."""
    plain = word.removesuffix("'s").removesuffix("'")
    found = {plain, IRREGULAR.get(plain, plain)}
    for ending, instead in _INFLECTED:
        base = plain.removesuffix(ending)
        if base not in (plain, "") and (ending != "es" or base.endswith(_BEFORE_ES)):
            found.add(base + instead)
            if ending in ("ed", "ing", "er") and base[-1:] == base[-2:-1]:
                found.add(base[:-1])
    return frozenset(found)


def _same_items(a: str, b: str) -> bool:
    mine, theirs = (
        [tuple(run) for joint, run in groupby(_words(text), _JOINTS.__contains__) if not joint]
        for text in (a, b)
    )
    if len(mine) != len(theirs) or len(mine) < 2:
        return False
    if not set(_lists(mine)).isdisjoint(_lists(theirs)):
        return True
    joined = all(" and " in text for text in (a, b))
    tells = [any(word in _PREPOSITIONS or word[0].isdigit() for word in half) for half in mine]
    return len(mine) == 2 and (joined or all(tells)) and _halves_moved(mine, theirs)  # not "a son, Cai Mao"


def _halves_moved(mine: list[_Item], theirs: list[_Item]) -> bool:
    """Whether two halves changed places, but for a verb of all the list that one half says for both."""
    for at in (0, 1):
        carried = (set(mine[at]) & set(theirs[at])) - set(mine[1 - at]) - set(theirs[1 - at])
        bare, other = (tuple(word for word in halves[at] if word not in carried) for halves in (mine, theirs))
        if bare and other and (bare, other) == (theirs[1 - at], mine[1 - at]):
            runs, others = (
                [(key, tuple(run)) for key, run in groupby(half[at], carried.__contains__)]
                for half in (mine, theirs)
            )
            said, run = runs[-at]
            behind = [run[0] for _, run in runs[1:]] + ["0"]
            apart = any(  # "for half a year, ... for a year"
                key and not (_of_all(run[-1]) or after in _PREPOSITIONS or after[0].isdigit())
                for (key, run), after in zip(runs, behind, strict=True)
            )
            alike = [key for key, _ in runs] == [key for key, _ in others]
            return alike and not apart and (not said or _of_all(run[at - 1], verbs_only=at == 1))
    return False


def _of_all(word: str, *, verbs_only: bool = False) -> bool:
    return stem(word) in VERBS or word in _BE | HAVE or (not verbs_only and word in _PREPOSITIONS)


def _lists(items: list[_Item]) -> Iterator[tuple[_Item, frozenset[_Item]]]:
    """What a list is of, and its items: behind or before "are" or a colon."""
    first, *middle, last = items
    ats, ends = ([at for at, word in enumerate(item) if word in _LINKS] for item in (first, last))
    found = [(first[:at], (first[at + 1 :], *middle, last)) for at in ats]
    found += [(last[at + 1 :], (first, *middle, last[:at])) for at in ends]
    for head, listed in found:
        plain = all(listed) and all((_LINKS | _PREPOSITIONS).isdisjoint(item) for item in listed)
        if plain and len(set(listed)) == len(listed):
            yield tuple(word for word in head if word not in ("user", "has", "have")), frozenset(listed)


def _told_from_the_other_side(a: str, b: str) -> bool:
    """Whether two things changed places around "before" and "after", or beside "is" or "is landlord of"."""
    mine, theirs = (f" {' '.join(_words(text))} " for text in (a, b))
    for one, other in _TURNED:
        if mine.count(f" {one} ") == theirs.count(f" {other} ") == 1:
            first, second = mine.split(f" {one} "), theirs.split(f" {other} ")
            if _halves_moved([tuple(x.split()) for x in first], [tuple(x.split()) for x in second]):
                return True
    left, right = _equation(a), _equation(b)
    if left is None or right is None or left[1] != right[1]:
        return False
    if (left[0], left[2]) == (right[2], right[0]) and any(map(pattern("definite").search, (a, b))):
        return True
    noun, reverse = (CONVERSE.get(stem(each[2][-1]), ("", 0)) for each in (left, right))
    if not noun[0] or noun[0] != reverse[0] or noun[1] != -reverse[1]:
        return False
    owners = [tuple(word.removesuffix("'s") for word in each[2][:-1]) for each in (left, right)]
    return (left[0], owners[0]) == (owners[1], right[0]) and all(owners)


def _equation(text: str) -> tuple[_Item, str, _Item] | None:
    """What stands before and behind the only "is" of a text, and that word."""
    words = _words(text)
    at = [number for number, word in enumerate(words) if word in _BE]
    if len(at) != 1 or not (_JOINTS | _PREPOSITIONS).isdisjoint(words):
        return None
    before, behind = words[: at[0]], words[at[0] + 1 :]
    return (before, words[at[0]], behind) if before and behind else None


def _same_sides(a: str, b: str) -> bool:
    """Whether one verb, or its converse, has the same things on its sides in both texts."""
    found, left, right = relation(a, b), bound(a), bound(b)
    families = {family for text in (left, right) for family, _ in text.sides}
    verbs = [family for family in families if family != "*from"]
    if (
        any(found.unsaid)
        or found.differ or found.regrouped or found.narrowed or found.marked
        or any(unit.item for text in (left, right) for unit in text.units)
        or len(verbs) != 1
        or not families <= set(found.agree)
        or _tenses(a).isdisjoint(_tenses(b))
        or _owned(left) != _owned(right)
    ):  # fmt: skip
        return False
    first, second = ([text.sides.get((verbs[0], side)) for text in (left, right)] for side in (1, -1))
    told = all(first) and (all(second) or verbs[0][0] == "~")
    if first[0] != first[1] or not (told or (left.passive and right.passive and second[0] == second[1])):
        return False
    stems, there = ({unit.key for unit in text.units if unit.verb} for text in (left, right))
    turned = stems != there
    known = {*(first[0] or ()), *(CONVERSE if turned else ())}
    mine, theirs = (
        {unit.key: unit.marker for unit in text.units if not ((unit.verb and turned) or unit.key in known)}
        for text in (left, right)
    )
    names, others = (
        {PERSON, THIRD, *(unit.key for unit in text.units if unit.detail and unit.text[0].isalpha())}
        & (keys or set())
        for text, keys in zip((left, right), second, strict=True)
    )
    return (
        mine.keys() == theirs.keys()
        and names == others
        and (turned or _phrases(left) == _phrases(right))
        and all(mine[key] == theirs[key] or (turned and key in names) for key in mine)
    )


def _owned(text: Bound) -> set[tuple[str, str]]:
    owners = (unit for unit in text.units if unit.text.endswith(("'s", "s'")))
    return {(unit.key, unit.head) for unit in owners if unit.head not in CONVERSE}


def _phrases(text: Bound) -> set[tuple[str, ...]]:
    groups = groupby((unit for unit in text.units if not unit.verb), lambda unit: unit.chunk)
    return {tuple(unit.key for unit in units) for _, units in groups}


def _tenses(text: str) -> set[str]:
    words = _words(text)
    known = next((tenses for forms, tenses in _TENSES if not forms.isdisjoint(words)), None)
    past = any(word.endswith("ed") or word in _REGULAR for word in words)
    return known or ({"past"} if past else {"present"})
