"""Words that differ in nearly equal texts and may not stand for each other: "left Rome", "left for Rome"."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import dropwhile, product

from .text.tables import pattern, table_lines, table_pairs, table_set
from .text.vocabulary import is_word, synonyms
from .text.words import CACHED_TEXTS, normalised, stem

NEARLY = 0.66  # share of the words of the longer text, in order, from which texts are nearly the same
_BEING = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_LONG = 25  # words, from which a text says several things
_BRIEF = 4  # words that tell something, up to which prepositions do not count
_BRIEF_WHOLE = 10  # words of a text, up to which two words that begin alike tell two things
_BEGINNING = 5  # letters
_OTHER_WORDS = 2  # of each of them
_FEW = 1  # words that tell something, in one place
_SPELT_ALIKE = 0.85
_SHORT = 3  # letters
_ROOT = 6  # letters that a verb and its noun share: diagnosed, diagnosis
_EMPTY, _PERSONS, _FORMS, _PREPOSITIONS, _TURNING, _MODALS = (
    table_set("wording", key) for key in ("empty", "persons", "forms", "prepositions", "turning", "modals")
)
_SMALL = _FORMS | _PREPOSITIONS
_PHRASES = table_pairs("wording", "phrases")
_GROUPS = [frozenset(line.split()) for line in table_lines("wording", "groups")]
_ALIKE = [frozenset(map(stem, line.split())) for line in table_lines("wording", "alike")]
_INFLECTED, _OF_VERBS, _OF_NOUNS = (
    table_set("wording", key) for key in ("inflected", "of_verbs", "of_nouns")
)
_QUITTING = _FORMS | table_set("wording", "quitting")


def exchanged(a: str, b: str) -> tuple[str, ...]:
    """The words in which two nearly equal texts differ and which may not stand for each other, or nothing."""
    if b < a:
        return exchanged(b, a)[::-1]
    first, second = map(pattern("told_by").search, (a, b))
    if bool(first) != bool(second):  # who says what the other text states
        return (first[0].strip() if first else "-", second[0].strip() if second else "-")
    mine, theirs = _words(a), _words(b)
    return _in_place(mine, theirs) or _begin_alike(mine, theirs)


def _in_place(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Words of two nearly equal texts that stand in one place and may not stand for each other."""
    stems, other_stems = ([stem(word) for word in words] for words in (first, second))
    match = SequenceMatcher(None, stems, other_stems, autojunk=False)
    told = [sum(word not in _SMALL for word in words) for words in (first, second)]
    passed = _SMALL if max(told) <= _BRIEF else _FORMS
    longest = max(sum(word not in passed for word in words) for words in (first, second))
    blocks = match.get_matching_blocks()
    equal = sum(word not in passed for block in blocks for word in first[block.a : block.a + block.size])
    if longest > _LONG or equal < NEARLY * longest:
        return ()
    for i, k, size in blocks:
        if size and i and k and _turned(first, second, i, k):
            return first[i], second[k]
    steps = [step for step in match.get_opcodes() if step[0] != "equal"]
    mine = {word for _, i, j, _, _ in steps for word in first[i:j]}
    theirs = {word for _, _, _, k, end in steps for word in second[k:end]}
    moved = {word for each in product(mine, theirs) if _one_root(*each) for word in each}
    for _, i, j, k, end in steps:
        parts = (first[i:j], first[j:]), (second[k:end], second[end:])
        (left, behind), (right, other) = (
            ([word for word in part if word not in moved], rest) for part, rest in parts
        )
        if _same_form(left, behind, right, other) or _same_form(right, other, left, behind):
            continue
        if _differ(left, right, ordered=min(i, k) <= 1 or _orders(first, second)):
            return " ".join(left) or "-", " ".join(right) or "-"
    return ()


def _begin_alike(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Known words of two brief texts that begin alike: station, stationery; not designs, designer."""
    if max(len(first), len(second)) > _BRIEF_WHOLE:
        return ()
    stems, there = ({stem(word) for word in words} for words in (first, second))
    left = [word for word in first if word not in _SMALL and stem(word) not in there]
    right = [word for word in second if word not in _SMALL and stem(word) not in stems]
    if max(len(left), len(right)) > _OTHER_WORDS:
        return ()
    for x, y in product(left, right):
        if x[:_BEGINNING] != y[:_BEGINNING] or min(len(x), len(y)) <= _BEGINNING:
            continue
        doer = stem(x) + "er" == stem(y) or stem(y) + "er" == stem(x)
        if is_word(x) and is_word(y) and not (doer or _agree(x, y) or _one_root(x, y)):
            return x, y
    return ()


def _same_form(
    mine: Sequence[str], behind: Sequence[str], theirs: Sequence[str], behind_there: Sequence[str]
) -> bool:
    """Whether words and those behind say the same: for tracking, to track; plays chess, is a chess player."""
    if not behind or not behind_there:
        return False
    going_on = behind[0].endswith("ing") and stem(behind[0]) == stem(behind_there[0])
    if going_on and all(_FORMS < {*words, *_FORMS} <= _QUITTING for words in (mine, theirs)):
        return True
    if list(theirs) == ["to"] and going_on and list(mine) in (["for"], []):
        return bool(mine) or behind[0] == "being"
    does = len(mine) == 1 and _BEING.issuperset(theirs) and bool(theirs)
    return does and any(
        word.removesuffix("er") == stem(mine[0]) for word in behind_there if word.endswith("er")
    )


def _turned(first: Sequence[str], second: Sequence[str], i: int, k: int) -> bool:
    """Whether one form of a verb is done to somebody and the other is done by him: is paid, pays."""
    passive, other_passive = first[i - 1] in _BEING, second[k - 1] in _BEING
    done, active = (first[i], second[k]) if passive else (second[k], first[i])
    return passive != other_passive and done != active and not done.endswith("ing")


def _words(text: str) -> list[str]:
    words = (word.lower().rstrip("'-/") for word in pattern("word_with_signs").findall(normalised(text)))
    found = f" {' '.join(words)} "
    for phrase, word in _PHRASES.items():
        found = found.replace(f" {phrase} ", f" {word} ")
    told = (word for word in found.split() if word not in _EMPTY)
    return ["user", *dropwhile(_PERSONS.__contains__, told)]


def _orders(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one text opens with the verb that the other has later: use pnpm, pnpm should be used."""
    return any(
        len(mine) > 1 and stem(mine[1]) in map(stem, theirs[2:])
        for mine, theirs in ((first, second), (second, first))
    )


def _differ(mine: Sequence[str], theirs: Sequence[str], *, ordered: bool) -> bool:
    """Whether words in one place tell different things; where it is ordered, "should" adds nothing."""
    if not ordered and _MODALS.isdisjoint(mine) != _MODALS.isdisjoint(theirs):
        return True
    if not mine or not theirs:
        return bool({*mine, *theirs} & _TURNING) and len(mine) + len(theirs) == 1
    if len(mine) == len(theirs) == 1 and not _PREPOSITIONS.isdisjoint((*mine, *theirs)):
        return not any(group.issuperset((*mine, *theirs)) for group in _GROUPS)
    one, other = (
        [word for word in part if word not in _PREPOSITIONS and word not in _PERSONS]
        for part in (mine, theirs)
    )
    if len(one) == len(other) == 1:
        return not ({*one, *other} <= _FORMS or _agree(*one, *other))
    one, other = ([word for word in part if word not in _FORMS] for part in (one, other))
    if not one or not other or max(len(one), len(other)) > _FEW:
        return False
    return not any(_agree(x, y) for x in one for y in other)


def _agree(x: str, y: str) -> bool:
    """Whether one word may stand for another: a synonym, a figure (facts compare these), another spelling."""
    return (
        synonyms(x, y)
        or (min(len(x), len(y)) > _SHORT and _INFLECTED.issuperset(_endings(x, y)))
        or any(group.issuperset((stem(x), stem(y))) for group in _ALIKE)
        or any(map(str.isdecimal, x + y))
        or _spelt_alike(x, y)
    )


def _endings(x: str, y: str) -> tuple[str, str]:
    """What stands behind the letters that open both words; "-" for nothing."""
    at = next((at for at, (p, q) in enumerate(zip(x, y, strict=False)) if p != q), min(len(x), len(y)))
    return (x[at:] or "-", y[at:] or "-") if at >= _SHORT else (x, y)


def _spelt_alike(x: str, y: str) -> bool:
    """Whether two words are one in two spellings: intercounty, colour; two known words are not."""
    one, other = (word.replace("-", "").replace("z", "s").replace("our", "or") for word in (x, y))
    known = is_word(x) and is_word(y)
    return one == other or (not known and SequenceMatcher(None, one, other).ratio() >= _SPELT_ALIKE)


def _one_root(x: str, y: str) -> bool:
    """Whether two words are forms of one, or a verb and its noun: diagnosed, diagnosis."""
    both = (x, y), (y, x)
    return stem(x) == stem(y) or any(_bases(one, _OF_VERBS) & _bases(other, _OF_NOUNS) for one, other in both)


@lru_cache(maxsize=CACHED_TEXTS)
def _bases(word: str, endings: frozenset[str]) -> frozenset[str]:
    found = (word.removesuffix(ending) for ending in endings if word.endswith(ending))
    return frozenset(base for base in found if len(base) >= _ROOT)
