"""Which memories of one type may be one thing at all, by their words: only those are embedded and judged.

Embedding a memory costs a hundred times what comparing its words does, so that the words come first.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ....models.words import significant_words
from .names import siblings
from .nodes import SENTENCE_TYPES, Node

PARTNER_SHARE = 0.25
"""Share of the shorter one's words in common below which no two memories were ever near each other."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class StatementWords:
    """The words of a statement.

    Attributes:
        words: All that mean something.
        name: Those of the name in front.
    """

    words: frozenset[str]
    name: frozenset[str]

    @classmethod
    def of(cls, statement: str) -> StatementWords:
        """Read a statement as `text.statement` writes it."""
        return cls(significant_words(statement), significant_words(statement.partition(":")[0]))

    def names(self, other: StatementWords) -> bool:
        """Whether each holds every word of the other's name."""
        return self.name <= other.words and other.name <= self.words

    def shares(self, other: StatementWords) -> bool:
        """Whether they have so many words in common that they may be near each other."""
        fewer = min(len(self.words), len(other.words))
        return len(self.words & other.words) >= PARTNER_SHARE * fewer


def same_subject(a: str, b: str) -> bool:
    """Whether each statement holds every word of the other's name."""
    return StatementWords.of(a).names(StatementWords.of(b))


def labels(kind: str | None) -> bool:
    """Whether names of this type are labels of what is said, so that they tell nothing about its subject."""
    return (kind or "").casefold() in SENTENCE_TYPES


def may_be_near(a: StatementWords, b: StatementWords, kind: str | None) -> bool:
    """Whether two statements of one type are worth an embedding.

    Two things whose names are unknown to each other are two, however alike their descriptions are.
    """
    return (labels(kind) or a.names(b)) and a.shares(b)


def partners(nodes: Iterable[Node]) -> frozenset[Pair]:
    """Pairs of one type that are worth judging, each by its two names in order."""
    groups: dict[str | None, list[tuple[Node, StatementWords]]] = defaultdict(list)
    for node in sorted(nodes, key=lambda node: node.id):
        if node.content:
            groups[node.memory.category].append((node, StatementWords.of(node.statement)))
    return frozenset(
        (a.id, b.id)
        for kind, rows in groups.items()
        for (a, first), (b, second) in itertools.combinations(rows, 2)
        if may_be_near(first, second, kind) and not siblings(a, b)
    )
