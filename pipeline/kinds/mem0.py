"""Stores of single records, such as mem0's: old, vague and junk memories may go, and nothing follows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from ...models.encoder import Encoder
from ...models.scorer import PairScorer, Thresholds
from ...records import ActionKind, Candidate, Evidence, Inventory, Label, Memory, Verdict
from ...settings import Settings
from ..answers import Say, prune_key, standing
from ..judging.cache import Cache
from ..judging.subjects import keys_by_scope
from ..plan import Merge, Plan, Prune
from ..planning.drafts import conflict_of_pair
from ..planning.engine import planned
from ..planning.hooks import Entails, Found, Means, Proposal, United, View
from ..planning.merges import most_complete
from ..reporting.report import Report
from ..rules.hygiene import Junk, find_junk, prunes_of
from ..rules.stale import kept_although_old, notes_of, stale_prune, vague_prune
from ..stores.base import Store
from ..writing.journal import Journal
from . import Kind

NOTED = Evidence("noted", "the newer one was against the older when it was stored")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsView(View):
    """What lives, but for junk that goes and secrets; and by id what is past its age or says nothing."""

    living: tuple[Memory, ...]
    junk: tuple[Prune, ...]
    old: Mapping[str, Prune] = field(hash=False)
    vague: Mapping[str, Prune] = field(hash=False)


class Mem0Kind(Kind):
    """Merges, conflicts and prunes of single records."""

    scoped = True
    collapses = True

    def __init__(self, store: Store, *, wanted: Collection[ActionKind] | None = None) -> None:
        self.store = store
        self.wanted = tuple(ActionKind if wanted is None else wanted)
        self.amends = store.capabilities.amend
        self.keeps = f"in place: {store.capabilities.in_place}"

    def view(self, inventory: Inventory, means: Means) -> RecordsView:
        """What is alive, unpinned, and says something."""
        now = means.now
        present = [memory for memory in inventory.memories if not memory.is_retired(now.date())]
        keys = keys_by_scope(present, settings=means.settings)
        findings = find_junk(present, means.hygiene, keys=keys)
        junk = prunes_of(findings, now=now, unattended=means.unattended, refused=means.rejected)
        out = {each.memory.id for each in findings if each.junk is Junk.SECRET}  # which a report would show
        out |= {member.id for prune in junk for member in prune.members}
        living = tuple(memory for memory in present if memory.id not in out)
        free = [m for m in living if not m.pinned and prune_key(m) not in means.rejected]
        vague = {m.id: prune for m in free if (prune := vague_prune(m, settings=means.settings, now=now))}
        limits, read = means.settings, means.accessed
        aged = ((m.id, stale_prune(m, settings=limits, now=now, accessed=read.get(m.id))) for m in free)
        old = {name: prune for name, prune in aged if prune}
        return RecordsView(
            inventory=inventory,
            units=tuple(m for m in living if not m.pinned and m.id not in vague),
            stored={memory.id: memory for memory in present},
            keys=keys,
            living=living,
            junk=junk,
            old=old,
            vague=vague,
        )

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What is old, vague or junk goes; what is old is kept where its age is no reason."""
        view = cast("RecordsView", view)
        aged = [memory for memory in view.living if memory.id in view.old]
        who: dict[str, Any] = {"unattended": means.unattended, "tracked": means.tracked}
        kept = kept_although_old(aged, view.living, merges, settings=means.settings, **who)
        old = {name: prune for name, prune in view.old.items() if name not in kept}
        noted = standing(means.answers, view.units, Say.NOTED)
        pairs = [[about.id for about in answer.about] for answer in noted if len(answer.about) == 2]
        verdicts = (Verdict(Candidate(a, b, 0.0), Label.UNSURE, evidence=(NOTED,)) for a, b in pairs)
        doubts = tuple(conflict_of_pair(verdict, view.stored) for verdict in verdicts)
        actions = (*{**view.vague, **old}.values(), *view.junk)
        return Found(actions=actions, doubts=doubts, notes=notes_of(kept))

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """As every kind; where texts are written in place, the most complete one takes in a new text."""
        united = super().unite(units, among, entails)
        if united.whole or not self.store.capabilities.in_place:
            return united
        return replace(united, survivor=most_complete(units).id)

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool) -> Report:
        """See `Kind.report`."""
        return Report(proposal.plan, explain=explain)


def build_plan(
    inventory: Inventory,
    *,
    store: Store,
    encoder: Encoder,
    scorer: PairScorer,
    settings: Settings,
    thresholds: Thresholds | None = None,
    cache: Cache | None = None,
    **circumstances: Any,  # noqa: ANN401
) -> Plan:
    """What the engine proposes about single records with these models; for workers, evaluations and tests."""
    kind = Mem0Kind(store)
    given = {"encoder": encoder, "scorer": scorer, "calibrated": thresholds, "cache": cache}
    models: Any = SimpleNamespace(read=lambda **_: encoder, asked=lambda **_: scorer, **given)
    means = Means(models=models, settings=settings, **circumstances)
    return planned(kind, kind.view(inventory, means), means)
