"""Promotion: a memory that was used often and nearly always helped becomes core memory."""

from __future__ import annotations

from datetime import datetime

from ...stores.graph.core_memory import SECTIONS
from ...stores.graph.usage import PROMOTED_MARK, Usage
from .settings import GraphSettings


def promotion_reason(used: Usage, entity_type: str, *, settings: GraphSettings, now: datetime) -> str | None:
    """Why a memory is promoted, with the figures; None if it is not."""
    age, share = used.age_days(now), used.effectiveness
    if used.promoted or entity_type.casefold() not in SECTIONS or age is None or share is None:
        return None
    proved = used.uses >= settings.promote_uses and share >= settings.promote_effectiveness
    if not proved or age < settings.promote_age.days:
        return None
    return f"promote: {used.uses} uses, effectiveness {share:.0%}, {age} days old"


def promotion_mark(now: datetime) -> str:
    """The observation that says so."""
    return f"{PROMOTED_MARK}{now.date().isoformat()}"
