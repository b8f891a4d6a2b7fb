"""What a scorer says that is not believed without words, where two texts would merge by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .bindings import relation
from .places import Unit

# Entailment in the weaker direction, from which a scorer sees more than one statement inside the other.
RESTATED = 0.3
# A merge by itself of texts that each entail the other in words of their own: least share of the words of one
# that the other says, and least probability of a duplicate if words keep their order, and if they do not.
ALONE, PLACED = (0.7, 0.94, 0.97), (0.0, 0.94, 0.94)
# Least probability where one text has words that the other, which should contain it, does not say.
CONTAINED = 0.95
_SHOWN = 4  # words of a detail
Words = tuple[str, ...]  # what each of two texts says, in their order; nothing where a rule finds nothing


class Said(NamedTuple):
    """What a scorer says that is not believed without words."""

    likely: float  # how probably two texts are duplicates
    placed: bool  # whether it knows what else their store holds


def told_again(a: str, b: str, entailment: Sequence[float], said: Said | None) -> Words:
    """Words that a text alone says, where only a scorer says that the other has them in words of its own.

    Of 818 pairs that it took for one fact, each entailing the other, 182 were two; in a store, where it knows
    what else is near, 3 of 169. Where one should contain the other ("is for using Rust", "is for it if it
    proves faster") what goes must be said, or be all the more likely.
    """
    found = relation(a, b)
    if said is None or not any(found.unsaid):
        return ()
    if min(entailment) < RESTATED:
        goes = int(entailment[0] > entailment[1])
        return shown_words(found.unsaid) if found.unsaid[goes] and said.likely < CONTAINED else ()
    share, sure, sure_of_order = PLACED if said.placed else ALONE
    enough = max(found.said) >= share and said.likely >= (sure_of_order if found.moved else sure)
    return () if enough else shown_words(found.unsaid)


def shown_words(units: tuple[Sequence[Unit], Sequence[Unit]]) -> Words:
    """The first of the words that each text alone says, and a dash for none."""
    return tuple(", ".join(unit.text for unit in each[:_SHOWN]) or "-" for each in units)
