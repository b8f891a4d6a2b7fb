"""Relations between entities: proposed on request, from evidence, few for each node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ....records import Candidate
from ...rules.graph.names import siblings
from ...rules.graph.nodes import Node
from ...stores.graph.text import words_of
from ...stores.graph.usage import MERGED_MARK
from .merging import GraphJudging, judged_memory

RELATED_TO, SUPERSEDES, APPLIES_TO = "related_to", "supersedes", "applies_to"
DERIVED_FROM, COMPETES_IN, PART_OF = "derived_from", "competes_in", "part_of"
STANDARD = (RELATED_TO, SUPERSEDES, APPLIES_TO, DERIVED_FROM, COMPETES_IN, PART_OF)
"""The types that are proposed or understood; others are left as they are."""

_APPLYING = ("pattern",)
_APPLIED_TO = ("stack", "tech-insight")
_SHORTEST_NAME = 2

Edge = tuple[str, str, str]
"""From, to, type."""


def dangling(names: Iterable[str], edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Relations of which an end does not exist."""
    known = set(names)
    return tuple(edge for edge in edges if not known.issuperset(edge[:2]))


def orphans(names: Iterable[str], edges: Sequence[Edge]) -> tuple[str, ...]:
    """Entities that no relation touches, sorted; one to a name without a line counts as well."""
    return tuple(sorted(set(names) - {end for edge in edges for end in edge[:2]}))


def proposed(nodes: Mapping[str, Node], edges: Sequence[Edge], judging: GraphJudging) -> tuple[Edge, ...]:
    """New relations, each with evidence for it.

    Args:
        nodes: Entities by name.
        edges: Relations there are.
        judging: Models and limits.

    Returns:
        In the order of the strength of their evidence. Two entities that have any relation get none.
    """
    joined = {frozenset(edge[:2]) for edge in edges}
    count = Counter(end for edge in edges if edge[2] in STANDARD for end in edge[:2])
    kept: list[Edge] = []
    for edge in (*_derived(nodes), *_applied(nodes), *_near(nodes, edges, judging)):
        ends = frozenset(edge[:2])
        full = any(count[end] >= judging.settings.max_relations for end in ends)
        if ends in joined or full or len(ends) < len(edge[:2]):
            continue
        joined.add(ends)
        count.update(ends)
        kept.append(edge)
    return tuple(kept)


def _near(nodes: Mapping[str, Node], edges: Sequence[Edge], judging: GraphJudging) -> list[Edge]:
    """Pairs that are each other's nearest neighbour below the duplicate line, nearest first.

    Only for what no relation touches yet, and never between two that were written from one template.
    """
    alone = set(orphans(nodes, edges))
    memories = [replace(judged_memory(node), category=None) for node in nodes.values() if node.content]
    pairs = judging.near(memories, floor=judging.settings.related_above)
    nearest: dict[str, Candidate] = {}
    for pair in sorted(pairs, key=_strength):
        for end in (pair.a, pair.b):
            nearest.setdefault(end, pair)
    chosen = [
        pair
        for pair in dict.fromkeys(nearest.values())
        if nearest[pair.a] is nearest[pair.b]
        and pair.cosine <= judging.settings.merge_above
        and alone & {pair.a, pair.b}
        and not siblings(nodes[pair.a], nodes[pair.b])
    ]
    return [(pair.a, pair.b, RELATED_TO) for pair in sorted(chosen, key=_strength)]


def _applied(nodes: Mapping[str, Node]) -> list[Edge]:
    """Patterns whose text names a stack or a technical insight."""
    targets = {
        name: _named(name)
        for name, node in sorted(nodes.items())
        if node.type.casefold() in _APPLIED_TO and len(words_of(name)) > _SHORTEST_NAME
    }
    return [
        (name, target, APPLIES_TO)
        for name, node in sorted(nodes.items())
        if node.type.casefold() in _APPLYING
        for target, pattern in targets.items()
        if pattern.search(" ".join(node.content))
    ]


def _derived(nodes: Mapping[str, Node]) -> list[Edge]:
    """Entities that were merged from another one that exists (again).

    A merge removes its sources, so the relation can stand only where one of them came back.
    """
    edges: list[Edge] = []
    for name, node in sorted(nodes.items()):
        marks = [text for text in node.observations if text.startswith(MERGED_MARK)]
        sources = [
            source
            for text in marks
            for source in text.removeprefix(MERGED_MARK).rpartition(" on ")[0].split(", ")
        ]
        edges += [(name, source, DERIVED_FROM) for source in sources if source in nodes]
    return edges


def _named(name: str) -> re.Pattern[str]:
    forms = "|".join(re.escape(form) for form in dict.fromkeys((name, words_of(name))))
    return re.compile(rf"(?<!\w)(?:{forms})(?!\w)", re.IGNORECASE)


def _strength(pair: Candidate) -> tuple[float, str, str]:
    return (-pair.cosine, pair.a, pair.b)
