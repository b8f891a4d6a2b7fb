"""What the use of memories decides: which are in the focus, which may be forgotten, which are promoted.

Never forgotten is what is critical, pinned or promoted, was used within 30 days, or whose age is not known.
A topic is what memories share in their names; weights lie between 0 and 1, and what is heavy is protected.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ...models.text.words import counted, significant_words
from ...settings import Days
from ..stores.graph.core_memory import SECTIONS
from ..stores.graph.entities import PROMOTED_MARK, Node, Usage, statement, words_of

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Some = Annotated[int, Field(ge=1)]


class Points(BaseModel):
    """What each reason adds to the relevance of a learning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # By severity.
    critical: int = 5
    high: int = 3
    medium: int = 2
    low: int = 1
    # It applies to more than two contexts, or to two.
    many_contexts: int = 3
    two_contexts: int = 2
    # It was learned from a mistake, the user said so, it agrees with the core memory, it comes up often.
    mistake: int = 2
    feedback: int = 3
    aligned: int = 1
    common: int = 2
    # A memory is similar to it.
    similar: int = -2


class GraphSettings(BaseModel):
    """Limits of consolidation, forgetting, promotion, relevance, attention and health."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Similarity from which two memories of one type may be merged, if judged duplicates; from which a person
    # is asked; from which two memories are related, each to so many others.
    merge_above: Share = 0.85
    review_above: Share = 0.70
    related_above: Share = 0.50
    max_relations: Count = 3
    # A memory may be forgotten that was unused for longer, and was used less often or helped less. Never one
    # that was used within the last.
    forget_unused: Days = timedelta(days=90)
    forget_uses: Count = 3
    forget_effectiveness: Share = 0.30
    protect_used: Days = timedelta(days=30)
    # So many uses, this effectiveness and this age prove a memory.
    promote_uses: Some = 15
    promote_effectiveness: Share = 0.85
    promote_age: Days = timedelta(days=30)
    # More memories than this are worth a consolidation, and a warning; so is a larger share of stale, seldom
    # helpful (below this), double or orphaned ones.
    max_memories: Some = 200
    low_effectiveness: Share = 0.30
    warn_share: Share = 0.10
    # A learning is worth saving from this relevance on. One more similar to a memory is known already, above
    # the next it counts less; from this share of common words it agrees with the core memory.
    keep_above: int = 5
    same_above: Share = 0.85
    similar_above: Share = 0.60
    aligned_above: Share = 0.30
    points: Points = Points()
    # A consolidation is due so long after the last one, or after so many new memories.
    due_after: Days = timedelta(days=7)
    due_new: Some = 10
    # Topics and focus protect at most this share of what stays anyway (but always ten). A topic protects from
    # this weight on, and is hot with so many memories in use. After so long without use a memory counts half.
    attention_share: Share = 0.25
    attention_floor: Share = 0.25
    hot_topic: Some = 3
    half_life: Days = timedelta(days=30)


_SHOWN = 5
_LEAST_PROTECTED = 10  # so many memories may always be protected, however small the graph is


def forget_reason(used: Usage, *, settings: GraphSettings, now: datetime, weight: float = 0.0) -> str | None:
    """Why a memory whose topic has this weight may be forgotten, with the figures; None if it may not."""
    unused, age, share = used.unused_days(now), used.age_days(now), used.effectiveness
    if used.critical or used.promoted or unused is None or age is None or weight >= settings.attention_floor:
        return None
    if unused <= max(settings.forget_unused.days, settings.protect_used.days):
        return None
    if used.uses < settings.forget_uses:
        return f"unused for {unused} days; {counted(used.uses, 'use')}, fewer than {settings.forget_uses}"
    if share is not None and share < settings.forget_effectiveness:
        limit = settings.forget_effectiveness
        return f"unused for {unused} days; effectiveness {share:.0%}, below {limit:.0%}"
    return None


def records_use(nodes: Iterable[Node]) -> bool:
    """Whether a graph says of any memory that it was used; where none was, an old date proves nothing."""
    return any(node.usage.uses or node.usage.last_used for node in nodes)


def promotion_reason(used: Usage, entity_type: str, *, settings: GraphSettings, now: datetime) -> str | None:
    """Why a memory that was used often and nearly always helped becomes core memory; None if it does not."""
    age, share = used.age_days(now), used.effectiveness
    if used.promoted or entity_type.casefold() not in SECTIONS or age is None or share is None:
        return None
    proved = used.uses >= settings.promote_uses and share >= settings.promote_effectiveness
    if not proved or age < settings.promote_age.days:
        return None
    return f"promote: {counted(used.uses, 'use')}, effectiveness {share:.0%}, {age} days old"


def promotion_mark(now: datetime) -> str:
    """The observation that says that a memory was promoted."""
    return f"{PROMOTED_MARK}{now.date().isoformat()}"


@dataclass(frozen=True, slots=True)
class Topic:
    """Memories that share a word of their names (heaviest first), and how much attention they get, 0 to 1."""

    name: str
    weight: float
    memories: tuple[str, ...]
    focused: bool = False

    def to_json(self) -> dict[str, Any]:
        """The topic as JSON."""
        weight, memories = round(self.weight, 4), list(self.memories)
        return {"topic": self.name, "weight": weight, "focused": self.focused, "memories": memories}


def topics(
    nodes: Sequence[Node], *, now: datetime, settings: GraphSettings, focus: str | None = None
) -> tuple[Topic, ...]:
    """All topics, heaviest first; one that holds a memory in the focus has the full weight."""
    own = {node.id: _activity(node, now, settings) for node in nodes}
    word, inside = _topic_words(nodes, nodes), set(focused(nodes, focus))
    groups: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        groups[word[node.id]].append(node.id)
    totals = {name: sum(own[member] for member in members) for name, members in groups.items()}
    heaviest = max(totals.values(), default=0.0)
    ranked = []
    for name, members in groups.items():
        ordered = tuple(sorted(members, key=lambda member: (-own[member], member)))
        spoken = (each for member in ordered for each in words_of(member).lower().split())
        readable = next((each for each in spoken if name in significant_words(each)), name)
        share, seen = totals[name] / heaviest if heaviest else 0.0, not inside.isdisjoint(members)
        ranked.append(Topic(readable, 1.0 if seen else share, ordered, seen))
    return tuple(sorted(ranked, key=lambda topic: (-topic.weight, topic.name)))


def weights_of(
    nodes: Sequence[Node], *, now: datetime, settings: GraphSettings, focus: str | None = None
) -> dict[str, float]:
    """The weight of each memory that protects it from being forgotten.

    The focus protects whatever it matches. Else a memory that was used at least once shares in the weight of
    a hot topic: one with several memories in use now. What could be forgotten itself lends no weight.
    """
    base = [node for node in nodes if forget_reason(node.usage, settings=settings, now=now) is None]
    word, inside = _topic_words(nodes, base), set(focused(nodes, focus))
    activity = {node.id: _activity(node, now, settings) for node in nodes}
    active: dict[str, list[float]] = defaultdict(list)
    for node in base:
        unused = node.usage.unused_days(now) if node.usage.last_used else None
        if unused is not None and unused <= settings.protect_used.days:
            active[word[node.id]].append(activity[node.id])
    hot = {name: min(1.0, max(held)) for name, held in active.items() if len(held) >= settings.hot_topic}
    weights = {
        node.id: 1.0 if node.id in inside else hot.get(word[node.id], 0.0) if node.usage.last_used else 0.0
        for node in nodes
    }
    # Counted against what stays anyway, so that forgetting changes nothing for the others.
    most = max(_LEAST_PROTECTED, int(settings.attention_share * len(base)))
    staying = {node.id for node in base}
    needing = [name for name, weight in weights.items() if weight > 0 and name not in staying]
    needing.sort(key=lambda name: (-weights[name], -activity[name], name))
    return weights | dict.fromkeys(needing[most:], 0.0)


def focused(nodes: Iterable[Node], focus: str | None) -> tuple[str, ...]:
    """Names of the memories that the focus matches."""
    wanted = significant_words(focus or "")
    said = ((node.id, significant_words(statement(node.bare_name, node.content))) for node in nodes)
    return tuple(name for name, words in said if wanted and wanted <= words)


def attention_lines(ranked: Sequence[Topic], focus: str | None, matched: int) -> list[str]:
    """The weights for a person."""
    lines = [f"Focus: {focus} (memories: {matched})" if focus else "Focus: none set"]
    lines.append("Attention:" if ranked else "Attention: there is no memory.")
    for topic in ranked:
        shown = ", ".join(topic.memories[:_SHOWN]) + (", ..." if len(topic.memories) > _SHOWN else "")
        lines.append(f"  {topic.weight:>5.0%}  {topic.name} ({len(topic.memories)}): {shown}")
    return lines


def _activity(node: Node, now: datetime, settings: GraphSettings) -> float:
    """How recently and how often a memory was used."""
    days = node.usage.unused_days(now)
    if days is None:
        return 0.0
    recency: float = 0.5 ** (days / max(1, settings.half_life.days))
    return recency * (1.0 + math.log1p(node.usage.uses))


def _topic_words(nodes: Iterable[Node], among: Iterable[Node]) -> Mapping[str, str]:
    """The word under which each memory is filed: the one its name shares with most of some others."""
    words = {node.id: significant_words(words_of(node.bare_name)) for node in nodes}
    count = Counter(word for node in among for word in words[node.id])
    return {
        node.id: min(words[node.id], key=lambda word: (-count[word], word), default=node.type or "other")
        for node in nodes
    }
