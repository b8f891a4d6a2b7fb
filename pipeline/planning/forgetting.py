"""Forgetting on request: find what a person means, and plan its removal like any other action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ...models.encoder import Encoder
from ...models.text.words import significant_words
from ...records import Inventory, Memory
from ...settings import Settings
from ..plan import Plan, ScopeTotal
from ..rules.hygiene import shown_text
from ..rules.stale import prune_of

_CLOSE = 0.35  # cosine from which a memory is worth showing for a query, unless it shares a word with it


def rank(query: str, inventory: Inventory, *, encoder: Encoder, now: datetime) -> list[Memory]:
    """Living memories that match a query, best first: shared words, then similarity."""
    living = [memory for memory in inventory.memories if not memory.is_retired(now.date())]
    if not living or not query.strip():
        return []
    vectors = encoder.encode([query, *(memory.text for memory in living)])
    cosines = vectors[1:] @ vectors[0]
    wanted = significant_words(query)
    shared = [len(wanted & significant_words(memory.text)) for memory in living]
    order = sorted(range(len(living)), key=lambda i: (-shared[i], -float(cosines[i]), living[i].id))
    return [living[i] for i in order if shared[i] or cosines[i] >= _CLOSE]


def forget_plan(
    chosen: Sequence[Memory], inventory: Inventory, *, kind: str, now: datetime, settings: Settings
) -> Plan:
    """A plan that removes exactly the chosen memories; it shows no secret that hygiene looks for."""
    actions = []
    for number, memory in enumerate(chosen, 1):
        prune = prune_of(memory, "forgotten", "on request", now=now)
        shown = shown_text(memory.text, settings)
        members = (prune.members[0].shown_as(shown),) if shown != memory.text else prune.members
        actions.append(replace(prune, id=f"p{number}", members=members))
    scopes = sorted({memory.scope for memory in chosen})
    totals = tuple(ScopeTotal(scope, sum(m.scope == scope for m in inventory.memories)) for scope in scopes)
    return Plan(
        store=inventory.store,
        kind=kind,
        now=now,
        scorer="none",
        totals=totals,
        actions=tuple(actions),
        gaps=inventory.gaps,
        fidelity=inventory.fidelity,
    )
