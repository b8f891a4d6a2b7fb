"""What the memory is about at present: topics weighted by how recently and how often they were used.

A topic is a type of memory with the words its names share. Weights lie between 0 and 1, the heaviest
topic has 1. A focus that a person set lifts every memory it matches to the full weight.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ....models.words import significant_words
from ...stores.graph.text import statement, words_of
from .forgetting import forget_reason
from .nodes import TYPES, Node
from .settings import GraphSettings

_SHOWN = 5
_LEAST_PROTECTED = 10
"""So many memories may always be protected, however small the graph is."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Memories that share a word, and how much attention they get.

    Attributes:
        name: Its word.
        weight: 0 to 1.
        memories: Names, heaviest first.
        focused: A person set the focus on it.
    """

    name: str
    weight: float
    memories: tuple[str, ...]
    focused: bool = False

    def to_json(self) -> dict[str, Any]:
        """The topic as JSON."""
        return {
            "topic": self.name,
            "weight": round(self.weight, 4),
            "focused": self.focused,
            "memories": list(self.memories),
        }


def topics(
    nodes: Sequence[Node], *, now: datetime, settings: GraphSettings, focus: str | None = None
) -> tuple[Topic, ...]:
    """All topics, heaviest first."""
    own = {node.id: _activity(node, now=now, settings=settings) for node in nodes}
    groups: dict[str, list[str]] = defaultdict(list)
    word = _topic_words(nodes)
    for node in nodes:
        groups[word[node.id]].append(node.id)
    totals = {name: sum(own[member] for member in members) for name, members in groups.items()}
    heaviest = max(totals.values(), default=0.0)
    wanted = significant_words(focus or "")
    ranked = []
    for name, members in groups.items():
        focused = any(_matches(node, wanted) for node in nodes if node.id in members)
        weight = 1.0 if focused else totals[name] / heaviest if heaviest else 0.0
        ordered = tuple(sorted(members, key=lambda member: (-own[member], member)))
        ranked.append(Topic(_readable(name, ordered), weight, ordered, focused))
    return tuple(sorted(ranked, key=lambda topic: (-topic.weight, topic.name)))


def weights_of(
    nodes: Sequence[Node], *, now: datetime, settings: GraphSettings, focus: str | None = None
) -> dict[str, float]:
    """The weight of each memory that protects it from being forgotten.

    The focus protects whatever it matches. Else a memory that was used at least once shares in the
    weight of a hot topic: one with several memories in use now. What could be forgotten itself lends
    no weight, so that forgetting it changes nothing for the others.
    """
    wanted = significant_words(focus or "")
    base = [node for node in nodes if forget_reason(node.usage, settings=settings, now=now) is None]
    count = Counter(word for node in base for word in _own_words(node))
    active: dict[str, list[float]] = defaultdict(list)
    for node in base:
        unused = node.usage.unused_days(now) if node.usage.last_used else None
        if unused is not None and unused <= settings.protect_used.days:
            active[_topic_word(node, count)].append(_activity(node, now=now, settings=settings))
    hot = {
        word: min(1.0, max(weights)) for word, weights in active.items() if len(weights) >= settings.hot_topic
    }
    weights = {
        node.id: 1.0
        if _matches(node, wanted)
        else hot.get(_topic_word(node, count), 0.0)
        if node.usage.last_used
        else 0.0
        for node in nodes
    }
    # Counted against what stays anyway, so that forgetting changes nothing for the others.
    most = max(_LEAST_PROTECTED, int(settings.attention_share * len(base)))
    staying = {node.id for node in base}
    activity = {node.id: _activity(node, now=now, settings=settings) for node in nodes}
    needing = [name for name, weight in weights.items() if weight > 0 and name not in staying]
    needing.sort(key=lambda name: (-weights[name], -activity[name], name))
    return weights | dict.fromkeys(needing[most:], 0.0)


def focused(nodes: Iterable[Node], focus: str | None) -> tuple[str, ...]:
    """Names of the memories that the focus matches."""
    wanted = significant_words(focus or "")
    return tuple(node.id for node in nodes if _matches(node, wanted))


def attention_lines(ranked: Sequence[Topic], focus: str | None, matched: int) -> list[str]:
    """The weights for a person."""
    lines = [f"Focus: {focus} (memories: {matched})" if focus else "Focus: none set"]
    lines.append("Attention:" if ranked else "Attention: there is no memory.")
    for topic in ranked:
        shown = ", ".join(topic.memories[:_SHOWN]) + (", ..." if len(topic.memories) > _SHOWN else "")
        lines.append(f"  {topic.weight:>5.0%}  {topic.name} ({len(topic.memories)}): {shown}")
    return lines


def _activity(node: Node, *, now: datetime, settings: GraphSettings) -> float:
    days = node.usage.unused_days(now)
    if days is None:
        return 0.0
    recency: float = 0.5 ** (days / max(1, settings.half_life.days))
    return recency * (1.0 + math.log1p(node.usage.uses))


def _topic_words(nodes: Sequence[Node]) -> Mapping[str, str]:
    """The word under which each memory is filed: the one its name shares with most others."""
    count = Counter(word for node in nodes for word in _own_words(node))
    return {node.id: _topic_word(node, count) for node in nodes}


def _topic_word(node: Node, count: Mapping[str, int]) -> str:
    words = _own_words(node)
    return min(words, key=lambda word: (-count.get(word, 0), word), default=node.type or "other")


def _readable(stem: str, names: Iterable[str]) -> str:
    """A topic's stem as a word of one of its names."""
    words = (word for name in names for word in words_of(name).lower().split())
    return next((word for word in words if stem in significant_words(word)), stem)


def _matches(node: Node, wanted: Iterable[str]) -> bool:
    asked = set(wanted)
    return bool(asked) and asked <= significant_words(statement(_bare(node), node.content))


def _own_words(node: Node) -> frozenset[str]:
    """The words of a name that tell it from others of its type."""
    return significant_words(words_of(_bare(node)))


def _bare(node: Node) -> str:
    """A name without its type in front: in "pattern:early-returns" the first word is no topic."""
    kind, separator, bare = node.id.partition(":")
    typed = kind.strip().casefold() in {*TYPES, node.type.casefold()}
    return bare if separator and typed and bare.strip() else node.id
