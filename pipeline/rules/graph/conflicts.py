"""Observations that cannot both hold, inside one entity or between two that are about the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....models.words import exact_key
from ....records import Candidate, Label, Memory, Verdict
from ...stores.graph.text import observation_key, part_id, parts_of
from .nodes import SENTENCE_TYPES, Node
from .partners import same_subject
from .rivals import rivals


def observation_verdicts(nodes: Mapping[str, Node], verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Contradictions between observations of one entity, or of two that are about the same.

    No model is asked: the observations of one subject are alike, and hardly ever against each other.
    Entities that are not near each other have different subjects, so their observations are never
    compared: "prefers tabs" may hold of one person and not of another.
    """
    within: dict[tuple[str, str], Verdict] = {}
    for node in nodes.values():
        if not node.memory.pinned:
            within |= _against([node], attributes=True)
    for verdict in verdicts:
        pair = [nodes[verdict.pair.a], nodes[verdict.pair.b]]
        if not any(node.memory.pinned for node in pair) and (one := _one_subject(pair)) is not None:
            within |= {
                ends: each for ends, each in _against(pair, attributes=one).items() if ends not in within
            }
    return tuple(within[ends] for ends in sorted(within))


def _one_subject(pair: Sequence[Node]) -> bool | None:
    """Whether two entities have one subject; None if their observations cannot be compared at all."""
    a, b = pair
    if same_subject(a.statement, b.statement) or "".join(parts_of(a.id)) == "".join(parts_of(b.id)):
        return True
    return False if a.type.casefold() in SENTENCE_TYPES else None


def _against(nodes: Sequence[Node], *, attributes: bool) -> dict[tuple[str, str], Verdict]:
    """What of some entities cannot both hold; of two entities only what stands in different ones."""
    rows = [(node, text) for node in nodes for text in dict.fromkeys(node.content)]
    verdicts: dict[tuple[str, str], Verdict] = {}
    for rival in rivals([text for _, text in rows], attributes=attributes):
        (first, older), (second, newer) = rows[rival.older], rows[rival.newer]
        if len(nodes) > 1 and (first is second or exact_key(older) == exact_key(newer)):
            continue
        names = [(first.id, older), (second.id, newer)]
        a, b = sorted(part_id(name, observation_key(text)) for name, text in names)
        pair = Candidate(a, b, 0.0)
        verdicts[a, b] = Verdict(
            pair, Label.CONTRADICTION, probabilities=(0.0, 1.0, 0.0), evidence=(rival.why,)
        )
    return verdicts


def observations_of(node: Node) -> list[Memory]:
    """The observations of an entity that say something, each as a memory of its own."""
    return [
        Memory(
            part_id(node.id, observation_key(text)),
            text,
            node.memory.scope,
            category=node.memory.category,
            pinned=node.memory.pinned,
        )
        for text in dict.fromkeys(node.content)
    ]
