"""How far a thing has come and how it is meant: of two stages the later is the newer state, no duplicate."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .facts import extract
from .text.tables import listed, marked, pattern, table_lines
from .text.vocabulary import content_stems
from .text.words import CACHED_TEXTS, normalise, stem, words

KINDS = ("stage", "hedge", "past", "extent")
_BOUNDS = (3, 4, 6, 7)
_STRICT = (6, 7)
_LIMIT = 4
_BE = frozenset(listed("is are was were be been being has have had got gets get"))
"""Behind these "-ed" is no simple past."""
_SUBJECT = 4  # words in which a subject has ended and its verb has come
UNMARKED = {"stage": 3, "hedge": 2, "past": 1, "extent": 5}  # done, stated, present, whole
_LONGEST_READ = 2_000  # characters
_REACH = 6  # words of content behind a marker, and before one that stands behind its thing
_ROOT = 5  # letters of a stem that another one goes on from
_NEAR = 4  # of them must be half in the other text


def _pattern(kind: str) -> re.Pattern[str]:
    """One expression for a kind; the longest marker that fits counts, its group tells the rank."""
    groups = []
    for line in table_lines("stance", kind):
        rank, _, markers = line.partition(":")
        groups.append(rf"(?P<r{rank.replace('?', 'weak')}>(?<!\w)(?:{marked([markers])})(?!\w))")
    return re.compile("|".join(groups), re.IGNORECASE)


_PATTERNS = {kind: _pattern(kind) for kind in KINDS}


class Mark(NamedTuple):
    """A marker of a text: its rank in its kind, its words, what it reaches; weak, it may mean nothing."""

    kind: str
    rank: int
    text: str
    reach: tuple[str, ...]
    weak: bool


@lru_cache(maxsize=CACHED_TEXTS)
def marks(text: str) -> tuple[Mark, ...]:
    """The markers of a text, kind by kind; the same text is read once."""
    clean, clause = normalise(text[:_LONGEST_READ]), pattern("reached_clause")
    found = []
    for kind, expression in _PATTERNS.items():
        for match in expression.finditer(clean):
            group = match.lastgroup or "r0"
            behind = clause.split(clean[match.end() :], maxsplit=1)[0]
            reach = content_stems(words(behind))
            reach = reach or content_stems(words(clause.split(clean[: match.start()])[-1]))[::-1]
            weak = group.endswith("weak")
            found.append(Mark(kind, int(group[1]), match[0].strip(), tuple(reach[:_REACH]), weak))
    return tuple(found)


class Step(NamedTuple):
    """One kind in which two texts stand at two ranks about shared words, with the markers ("" for none)."""

    kind: str
    mine: int
    theirs: int
    words: tuple[str, str]


def steps(a: str, b: str) -> tuple[Step, ...]:
    """The kinds in which one thing stands at two ranks in two texts."""
    first, second = marks(a), marks(b)
    if not first and not second:
        return ()
    said, said_there = extract(a[:_LONGEST_READ]).content, extract(b[:_LONGEST_READ]).content
    intended = all(any(mark.kind == "stage" and not (mark.rank or mark.weak) for mark in each)
                   for each in (first, second))  # fmt: skip
    found = []
    for kind in KINDS:
        if kind == "hedge" and intended:
            continue  # "is considering it" and "might do it" are as far from being done
        mine, theirs = ([mark for mark in each if mark.kind == kind] for each in (first, second))
        if kind == "extent":
            mine, theirs = _of_one_number(mine, theirs, said_there), _of_one_number(theirs, mine, said)
        reached = [mark for mark in mine if _reaches(mark, said_there)]
        reached_there = [mark for mark in theirs if _reaches(mark, said)]
        both = {mark.rank for mark in mine} & {mark.rank for mark in theirs}
        step = _step(kind, reached, reached_there, both)
        if step is not None:
            found.append(step)
    return tuple(found)


def further(a: str, b: str) -> int:
    """1 where the second text stands at the further stage or states what the first suspects; -1 if reversed.

    >>> further("Wants to move", "Moved"), further("Is ill", "May be ill"), further("Some are ill", "Are ill")
    (1, -1, 0)
    """
    ahead = [step.theirs - step.mine for step in steps(a, b) if step.kind in ("stage", "hedge")]
    return (min(ahead) > 0) - (max(ahead) < 0) if ahead else 0


def _of_one_number(mine: list[Mark], theirs: list[Mark], said: frozenset[str]) -> list[Mark]:
    """The marks; "more than" a number counts only where the other text has the number, and no bound of it."""
    bare = not {mark.text for mark in theirs} - {mark.text for mark in mine if mark.rank not in _STRICT}
    return [
        mark
        if mark.rank not in _STRICT or (bare and mark.reach and mark.reach[0] in said)
        else mark._replace(rank=_LIMIT, weak=True)
        for mark in mine
    ]


def _reaches(mark: Mark, words: frozenset[str]) -> bool:
    """Whether the other text speaks of what a marker bears on: half the next words, one of the first two."""
    near = mark.reach[:_NEAR]
    said = [any(_one_root(word, other) for other in words) for word in near]
    return sum(said) * 2 >= max(1, len(near)) and any(said[:2])


def _one_root(word: str, other: str) -> bool:
    """Whether two stems are of one word: promotion, promoted."""
    short, long = sorted((word, other), key=len)
    return short == long or (len(short) >= _ROOT and long.startswith(short))


def _step(kind: str, mine: list[Mark], theirs: list[Mark], both: set[int]) -> Step | None:
    """The difference of the marks of one kind; a weak rank makes none, nor one of both texts, but a bound."""
    mine, theirs = ([mark for mark in each if mark.rank not in both] for each in (mine, theirs))
    sure = [mark for mark in (*mine, *theirs) if not mark.weak]
    bound = kind == "extent" and any(mark.rank in _BOUNDS for mark in sure)
    if not sure or (both and not (mine and theirs) and not bound):
        return None
    ranks = [min((mark.rank for mark in each), default=UNMARKED[kind]) for each in (mine, theirs)]
    if ranks[0] == ranks[1]:
        return None
    return Step(kind, ranks[0], ranks[1], (mine[0].text if mine else "", theirs[0].text if theirs else ""))


def tenses(text: str) -> tuple[set[str], set[str]]:
    """Stems of what somebody did and of what somebody does, by verbs near the beginning."""
    words = re.findall(r"[a-z]+", text.lower())[:_SUBJECT]
    did = {stem(word) for before, word in pairwise(["", *words]) if word.endswith("ed") and before not in _BE}
    return did, {stem(word) for word in words if word.endswith("s") and word not in _BE}
