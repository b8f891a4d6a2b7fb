"""Selective forgetting of memories that were not used for long and never helped much.

Never forgotten: what is critical, pinned or promoted, was used within 30 days, or whose age is not
known. Every rule leans towards keeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ...stores.graph.usage import Usage
from .nodes import Node
from .settings import GraphSettings


def forget_reason(used: Usage, *, settings: GraphSettings, now: datetime, weight: float = 0.0) -> str | None:
    """Why a memory may be forgotten, with the figures; None if it may not.

    Args:
        used: What is known of its use.
        settings: Limits.
        now: The present moment.
        weight: What its topic weighs in the present attention, 0 to 1.
    """
    unused, age = used.unused_days(now), used.age_days(now)
    if used.critical or used.promoted or unused is None or age is None:
        return None
    if unused <= max(settings.forget_unused.days, settings.protect_used.days):
        return None
    if weight >= settings.attention_floor:
        return None
    share = used.effectiveness
    if used.uses < settings.forget_uses:
        why = f"{used.uses} uses, fewer than {settings.forget_uses}"
    elif share is not None and share < settings.forget_effectiveness:
        why = f"effectiveness {share:.0%}, below {settings.forget_effectiveness:.0%}"
    else:
        return None
    return f"unused for {unused} days; {why}"


def records_use(nodes: Iterable[Node]) -> bool:
    """Whether a graph says of any memory that it was used."""
    return any(node.usage.uses or node.usage.last_used for node in nodes)


def forgettable(
    nodes: Mapping[str, Node], *, settings: GraphSettings, now: datetime, weights: Mapping[str, float]
) -> dict[str, str]:
    """Names of all memories that may be forgotten, with the reason of each.

    None at all where no memory says that it was ever used: there an old date proves nothing.
    """
    reasons: dict[str, str] = {}
    if not records_use(nodes.values()):
        return reasons
    for name, node in nodes.items():
        reason = forget_reason(node.usage, settings=settings, now=now, weight=weights.get(name, 0.0))
        if reason is not None and not node.memory.pinned:
            reasons[name] = reason
    return reasons
