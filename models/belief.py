"""What a scorer says that is not believed without words, where two texts would merge by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..records import Evidence
from .bindings import relation
from .places import Unit

# Entailment in the weaker direction, from which a scorer sees more than one statement inside the other.
RESTATED = 0.3
# A merge by itself of texts that each entail the other in words of their own: least share of the words of one
# that the other says, and least probability of a duplicate if words keep their order, and if they do not.
ALONE, PLACED = (0.7, 0.94, 0.97), (0.0, 0.94, 0.94)
# Least probability where one text has words that the other, which should contain it, does not say; and where
# the text that goes is brief, whatever its words: "Open on Saturdays", "Open on Saturdays only in summer".
CONTAINED, BRIEFLY = 0.95, 0.97
# Words of each text, from which a scorer has enough to read; and what it must say to be believed whatever the
# words: that each text entails the other, or that both are one fact, all the more probably.
ENOUGH, TOLD, SURE = 7, 0.6, 0.97
_SHOWN = 4  # words of a detail
Words = tuple[str, ...]  # what each of two texts says, in their order; nothing where a rule finds nothing


class Said(NamedTuple):
    """What a scorer says that is not believed without words."""

    likely: float  # how probably two texts are duplicates
    placed: bool  # whether it knows what else their store holds


def believed(a: str, b: str, entailment: Sequence[float], said: Said | None) -> bool:
    """Whether a scorer is believed that two texts say the same, however they are worded.

    Of pairs that it was nearly sure of and rules about single words held back, 12 of 341 were two facts where
    both have seven words or more, and 88 of 151, most of them written to mislead, where one word is much.
    """
    if said is None or min(len(text.split()) for text in (a, b)) < ENOUGH:
        return False
    return min(entailment) >= TOLD or said.likely >= SURE


def restricted(a: str, b: str, entailment: Sequence[float], found: Sequence[Evidence]) -> Words:
    """What limits a text ("only", "until") that should contain the other, brief one, without such a word."""
    if min(entailment) >= RESTATED or len((a, b)[_goes(entailment)].split()) >= ENOUGH:
        return ()
    limits = (item for item in found if item.kind == "quantifier" or "until" in item.detail.split())
    return next((tuple(item.detail.split(" / ", 1)) for item in limits), ())


def _goes(entailment: Sequence[float]) -> int:
    return int(entailment[0] > entailment[1])


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
        goes = _goes(entailment)
        brief = len((a, b)[goes].split()) < ENOUGH
        sure = BRIEFLY if brief else CONTAINED if found.unsaid[goes] else 0.0
        return shown_words(found.unsaid) if said.likely < sure else ()
    share, sure, sure_of_order = PLACED if said.placed else ALONE
    enough = max(found.said) >= share and said.likely >= (sure_of_order if found.moved else sure)
    return () if enough else shown_words(found.unsaid)


def shown_words(units: tuple[Sequence[Unit], Sequence[Unit]]) -> Words:
    """The first of the words that each text alone says, and a dash for none."""
    return tuple(", ".join(unit.text for unit in each[:_SHOWN]) or "-" for each in units)
