"""Forgetting: what a person asks for, and what a settled conflict may have made untrue besides.

A request is planned like any other action. After a conflict few questions are asked, ranked: about memories
of the same scope that name the value that is no longer held, and not the one in its place. Nothing of it is
ever done unasked.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ...models.encoder import Encoder
from ...models.guards import Contradicting, contradicting
from ...models.rests import old_values
from ...models.text.words import significant_words
from ...records import SUPERSEDED_KEYS, ActionKind, Inventory, Memory, Scope
from ...settings import Settings
from ..answers import About, Answer, Say
from ..plan import Plan, Prune, ScopeTotal
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


NEAREST = 3  # questions that one settled conflict leads to at most
MOST = 10  # and all of them together
_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Settled:
    """A conflict that was settled: what is no longer held, what is, its memories, and what was kept."""

    scope: Scope
    lost: str
    held: str
    ids: frozenset[str]
    rest: str = ""


def settled(answers: Iterable[Answer], memories: Iterable[Memory], *, now: datetime) -> list[Settled]:
    """What runs settled and nobody took back, the latest first; retired memories have marks of it."""
    memories = list(memories)
    living = {memory.id: memory for memory in memories if not memory.is_retired(now.date())}

    def stands(item: About) -> bool:
        memory = living.get(item.id)
        same = memory and (item.said in memory.text if item.said else memory.text_hash == item.text_hash)
        return bool(same)

    found = []
    for answer in answers:
        if answer.what == ActionKind.RESOLVE and answer.run and answer.say in (Say.A, Say.B):
            holds = [*filter(stands, answer.about)]
            gone = [item for item in answer.about if item not in holds]
            rest = " ".join(living[item.id].text for item in gone if item.id in living and not item.said)
            for lost in gone:
                for held in holds[:1]:
                    ids = frozenset(item.id for item in answer.about)
                    found.append(Settled(living[held.id].scope, lost.spoken, held.spoken, ids, rest))
    for memory in memories:
        into, _, how = (str(memory.metadata.get(key, "")) for key in SUPERSEDED_KEYS)
        if memory.id not in living and into in living and how == "contradicted":
            found.append(Settled(memory.scope, memory.text, living[into].text, frozenset({memory.id, into})))
    return list({(each.lost, each.held): each for each in reversed(found)}.values())


def outdated(
    conflicts: Sequence[Settled],
    memories: Iterable[Memory],
    *,
    encode: Callable[[Sequence[str]], NDArray[np.float32]],
    show: Callable[[str], str],
    now: datetime,
) -> list[Prune]:
    """Whether these memories still hold, at most `NEAREST` for each conflict, the likeliest first."""
    memories = list(memories)
    found: dict[str, tuple[float, Prune]] = {}
    for conflict in conflicts:
        near = [each for each in memories if each.scope == conflict.scope and each.id not in conflict.ids]
        for cosine, memory in _ranked(conflict, near, encode)[:NEAREST]:
            lost, held = (textwrap.shorten(show(each), _WIDTH) for each in (conflict.lost, conflict.held))
            age = (now - memory.stated_at).days if memory.stated_at else None
            told = f"“{lost}” gave way to “{held}”"
            prune = Prune.of(memory, reason="outdated", age_days=age, detail=told)
            found.setdefault(memory.id, (-cosine, prune))
    ranked = sorted(found.values(), key=lambda each: (each[0], each[1].members[0].id))
    return [prune for _, prune in ranked]


def _ranked(
    conflict: Settled, memories: Sequence[Memory], encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> list[tuple[float, Memory]]:
    """The memories that name the value that is no longer held, and not its successor; the nearest first.

    Where one text merely denies the other there is no value: then those that say all that was denied.
    """
    old = old_values(conflict.lost, conflict.held, conflict.rest)
    new = old_values(conflict.held, conflict.lost, "")
    found = [
        memory
        for memory in memories
        if any(_names(memory.text, *value, conflict.lost) for value in old)
        and not any(_says(memory.text, value) for _, value in new)
    ]
    if not (old or new):
        said = significant_words(conflict.lost)
        found = [
            memory
            for memory in memories
            if said <= significant_words(memory.text)
            and contradicting(memory.text, conflict.lost) is Contradicting.NO
        ]
    if not found:
        return []
    lost, *rest = encode([conflict.lost, *(memory.text for memory in found)])
    near = ((float(vector @ lost), memory) for memory, vector in zip(found, rest, strict=True))
    return sorted(near, key=lambda each: (-each[0], each[1].id))


def _names(text: str, kind: str, value: str, lost: str) -> bool:
    """Whether a text names a value; what is no name, a number or a date, may be that of something else."""
    shared = significant_words(text) & significant_words(lost) - significant_words(value)
    return _says(text, value) and bool(kind == "name" or shared)


def _says(text: str, value: str) -> bool:
    """Whether a value stands in a text; a name is written as it was."""
    flags = re.NOFLAG if value[:1].isupper() else re.IGNORECASE
    return bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, flags))
