"""What two texts have in common, apart from whom they are about: a conflict and a question need some."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..records import Evidence
from .bindings import relation
from .places import PERSON, THIRD, bound
from .stance import marks
from .text.tables import pattern
from .text.words import CACHED_TEXTS

# Share of its words that a text has from the other, of the text that has more and of the one that has less:
ONE_THING, ONE_THING_BACK = 0.5, 0.3
NEAR = 0.5  # cosine from which two texts speak of one thing in words of their own
TOUCHED, TOUCHED_NEAR = 0.34, 0.4  # share of words, and cosine, below both of which nothing is in common


@lru_cache(maxsize=CACHED_TEXTS)
def unstamped(text: str) -> str:
    """A text without the mark in front that says where or when it was noted: "[mention 3] Has a cold"."""
    return pattern("stamp").sub("", text)


def agree(a: str, b: str, cosine: float, found: Sequence[Evidence]) -> bool:
    """Whether two texts speak of one thing, so that one of them can be wrong about it.

    Two names in two roles are no rivals: "is called Martin", "works at Stromhaus".
    """
    less, more = sorted(_said(a, b))
    several = more >= TOUCHED and _words_of_both(a, b) > 1
    told = several or (more >= ONE_THING and less >= ONE_THING_BACK)
    return told or _near(a, b, cosine) >= NEAR or any(item.veto and item.kind == "rival" for item in found)


def touch(a: str, b: str, cosine: float, *, against: bool) -> bool:
    """Whether two texts have anything in common that is worth a question; a word is enough for `against`."""
    share, near = shared(a, b), _near(a, b, cosine)
    return (share > 0 or near >= NEAR) if against else (share >= TOUCHED or near >= TOUCHED_NEAR)


def shared(a: str, b: str) -> float:
    """The share of its words that one of two texts has from the other, the higher one."""
    return max(_said(a, b))


def wish_beside_state(a: str, b: str) -> bool:
    """Whether one of two texts, and only one, tells a wish or plan."""
    wishes = [any(mark.kind == "stage" and not (mark.rank or mark.weak) for mark in marks(x)) for x in (a, b)]
    return wishes[0] != wishes[1]


def _said(a: str, b: str) -> tuple[float, float]:
    return relation(unstamped(a), unstamped(b)).said


def _words_of_both(a: str, b: str) -> int:
    first, second = unstamped(a), unstamped(b)
    words = [unit for unit in bound(first).units if unit.key not in (PERSON, THIRD)]
    return len(words) - len(relation(first, second).unsaid[0])


def _near(a: str, b: str, cosine: float) -> float:
    """The cosine, of which nothing is known where both have a stamp."""
    return 0.0 if unstamped(a) != a and unstamped(b) != b else cosine
