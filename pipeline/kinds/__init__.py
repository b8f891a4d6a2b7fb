"""The kinds of stores: one small adapter each, through which the one engine plans, follows and reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any, Protocol, cast

from ...models.encoder import Encoder
from ...models.scorer import PairScorer, Thresholds
from ...models.text.statements import split_statements
from ...records import ActionKind, Candidate, Evidence, Inventory, Label, Memory, Verdict
from ...settings import Settings
from ..answers import Say, prune_key, standing
from ..judging.cache import Cache
from ..judging.subjects import keys_by_scope
from ..plan import Action, Merge, Plan, Prune, Resolve
from ..planning.drafts import conflict_of_pair, conflicts_of
from ..planning.engine import planned
from ..planning.graph_relations import RelationChanges
from ..planning.hooks import Entails, Found, Hooks, Means, Proposal, United, View
from ..planning.merges import most_complete
from ..reporting.health import Health, health_of_store
from ..reporting.report import Report
from ..rules.graph_relevance import Learning, Relevance, relevance
from ..rules.graph_use import GraphSettings
from ..rules.hygiene import Junk, find_junk, prunes_of
from ..rules.stale import by_age, notes_of, stale_prune, vague_prune
from ..stores.base import Store
from ..stores.graph.entities import nodes_of
from ..writing.journal import Journal


class Kind(Hooks, Protocol):
    """One kind of store, bound to a store; the defaults are those of single records."""

    scoped: bool = False  # memories belong to users, agents and runs, and can expire
    explained: bool = False  # the report shows all that changes only with explanations
    graph: GraphSettings = GraphSettings()  # by which use, age and relevance are weighed

    @property
    def core(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each core memory, beside which a graph stands."""
        return ()

    def limits(self, settings: Settings) -> Settings:
        """The same limits, as far as they make sense for this kind."""
        return settings

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """One for each two facts that contradict."""
        return conflicts_of(view, verdicts, actions)

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool) -> Report:
        """What shows a proposal to a person; see `Session.reporter`."""
        return Report(proposal.plan, explain=explain)

    def left_out(self) -> list[str]:
        """What of the store may not be read, with the reason."""
        return []

    def relations(self, journal: Journal, run: str) -> RelationChanges | None:
        """What a run did to relations, which have no line among its actions; None if that is not known."""
        return None

    def spoken(self, inventory: Inventory, today: date) -> Iterator[tuple[Memory, Sequence[str]]]:
        """What a new text is held against: each living memory as it is judged, with its statements."""
        for memory in inventory.memories:
            if not memory.is_retired(today):
                yield memory, split_statements(memory.text)

    def relevance(
        self,
        learning: Learning,
        memories: Sequence[Memory],
        *,
        threshold: int | None = None,
        **asked: Any,  # noqa: ANN401
    ) -> Relevance:
        """Whether something is worth remembering; `threshold`: from which score on."""
        limits = {} if threshold is None else {"keep_above": threshold}
        settings = self.graph.model_copy(update=limits)
        return relevance(learning, nodes_of(memories), self.core, settings=settings, **asked)

    def condemned(self, inventory: Inventory, means: Means) -> int | None:
        """How many memories a pass would prune, needing no model; None where age alone decides."""
        return None

    def health(self, inventory: Inventory, means: Means) -> Health:
        """How the memory is doing."""
        return health_of_store(inventory, means, ages=self.condemned(inventory, means) is None)

    def due(self, now: datetime) -> tuple[bool, str] | None:
        """Whether a pass is due, and why, by notes of the kind's own; None if there are none."""
        return None

    def remember(self, *, now: datetime, run: str) -> None:
        """Record the state of the store after a run, if later runs compare with it."""
        return


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
    collapses = 2
    words_stay = True

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
        """What is old, vague or junk goes; where only age speaks against it a person is asked."""
        view = cast("RecordsView", view)
        aged = [memory for memory in view.living if memory.id in view.old]
        who: dict[str, Any] = {"unattended": means.unattended, "tracked": means.tracked}
        age = by_age(aged, view.living, merges, settings=means.settings, **who)
        noted = standing(means.answers, view.units, Say.NOTED)
        pairs = [[about.id for about in answer.about] for answer in noted if len(answer.about) == 2]
        verdicts = (Verdict(Candidate(a, b, 0.0), Label.UNSURE, evidence=(NOTED,)) for a, b in pairs)
        doubts = [conflict_of_pair(verdict, view.stored) for verdict in verdicts]
        asked = [prune for name, prune in view.old.items() if name in age.asked and name not in view.vague]
        old = {name: prune for name, prune in view.old.items() if name in age.goes}
        actions = (*{**view.vague, **old}.values(), *view.junk)
        return Found(actions=actions, doubts=(*doubts, *asked), notes=notes_of(age.kept))

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """As every kind; where texts are written in place, the most complete one takes in a new text."""
        united = super().unite(units, among, entails)
        if united.whole or not self.store.capabilities.in_place:
            return united
        return replace(united, survivor=most_complete(units).id)


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


def kind_of(store: Store) -> Kind:
    """The adapter for a store, everything wanted."""
    if store.kind == "md":
        from .markdown import MarkdownKind

        return MarkdownKind(cast("Any", store))
    if store.kind == "graph":
        from .graph import GraphKind

        return GraphKind(cast("Any", store))
    return Mem0Kind(store)
