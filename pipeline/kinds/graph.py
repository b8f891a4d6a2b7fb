"""An MCP knowledge graph as a kind of store: entities are merged, observations settled, relations follow."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, cast

from ...errors import RefusedChangeError
from ...models.encoder import Encoder
from ...models.merger import MergeRefused
from ...models.same_statement import statement_key
from ...models.text.words import counted, topic
from ...records import ActionKind, Candidate, Inventory, Memory, Verdict
from ..answers import prune_key, rewritten
from ..judging.cache import OnStage
from ..judging.statements import Finding, Reader
from ..plan import Action, Merge, Plan, Promote, Prune, Resolve, Rewrite
from ..planning import graph_judging as judging
from ..planning.graph_judging import GraphJudge, GraphView, judged_text
from ..planning.graph_relations import Related, RelationChanges, followed
from ..planning.hooks import Entails, Found, Judge, Means, Proposal, United, View
from ..reporting.graph import GraphReport, changes_of_run
from ..reporting.health import Health, graph_state
from ..reporting.report import Report
from ..rules import graph_use
from ..rules.graph_use import GraphSettings
from ..rules.stale import is_protected
from ..stores.base import ScopeFilter
from ..stores.graph import entities
from ..stores.graph.entities import Node, Usage, entity_text, nodes_of, owner_of, statement
from ..stores.graph.store import FOCUS, GraphStore, LastRun
from ..writing.journal import Journal
from ..writing.passes import LastPass, due_reason
from . import Kind


class GraphKind(Kind):
    """Plans changes of one graph; what was not set of its limits is as the core memory itself states it."""

    store: GraphStore
    explained = True

    def __init__(
        self,
        store: GraphStore,
        *,
        limits: GraphSettings | None = None,
        relate: bool = False,
        repair_relations: bool = False,
        wanted: Collection[ActionKind] | None = None,
    ) -> None:
        """Bind a store; propose new relations, or to remove those that lead nowhere, only where asked to."""
        self.store = store
        self.wanted = tuple(ActionKind if wanted is None else wanted)
        self.graph = limits or GraphSettings()
        with contextlib.suppress(RefusedChangeError):  # told when something is to be promoted
            stated = store.core.limits() if store.core is not None else {}
            new = {name: value for name, value in stated.items() if name not in self.graph.model_fields_set}
            self.graph = self.graph.model_copy(update=new)
        self._relate = relate and ActionKind.RELATE in self.wanted
        self._repair = repair_relations and ActionKind.RELATE in self.wanted
        self._judge: GraphJudge | None = None

    @property
    def core(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each core memory."""
        return self.store.core.statements() if self.store.core is not None else ()

    def reader(self, means: Means, on_stage: OnStage | None = None) -> Reader:
        """Who judges statements during a pass."""
        models = means.models
        scorer = models.scorer if _counts_words(means) else models.asked(on_stage=on_stage)
        return Reader(_encoder(means, on_stage), scorer, models.calibrated)

    def view(self, inventory: Inventory, means: Means) -> GraphView:
        """All entities; those that are not pinned are judged by what they say."""
        nodes = {node.id: node for node in nodes_of(inventory.memories)}
        self._judge = None
        return GraphView(
            inventory=inventory,
            units=tuple(judged_text(n.memory, n.statement) for n in nodes.values() if not n.memory.pinned),
            stored={memory.id: memory for memory in inventory.memories},
            nodes=nodes,
            document=self.store.document(),
            means=means,
            last=self.store.notes.last,
        )

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """Pairs are found by words and names; see `GraphJudge`."""
        nodes, reader = cast("GraphView", view).nodes, self.reader(means, on_stage)
        self._judge = GraphJudge(nodes, reader, self.graph, means)
        return self._judge

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What is forgotten, promoted, or stands twice; and observations that may say the same."""
        view = cast("GraphView", view)
        forgotten, notes = self._forgotten(view, means)
        # What may be a fact about a person, and is no learning, goes by a person's word alone.
        learned = [each for each in forgotten if _is_learning(each.category)]
        asked = [each for each in forgotten if each not in learned]
        if asked and means.unattended:
            notes += (f"{counted(len(asked), 'memory', 'memories')} may be forgotten; a person decides.",)
        questions = [
            (judging.question(each) if each.same else None) or _conflict(view.nodes, each)
            for each in self._said(forgotten)
            if each.same or not each.sure
        ]
        return Found(
            actions=(*learned, *self._rewrites(view, means)),
            doubts=(*questions, *(() if means.unattended else asked)),
            notes=notes,
        )

    def _said(self, actions: Iterable[Action]) -> list[Finding]:
        """What a person may be asked about observations of what these actions do not forget."""
        going = {name for action in actions if isinstance(action, Prune) for name in action.removes}
        return [each for each in (self._judge.said if self._judge else ()) if not going & each.places]

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """The most descriptive entity stays and says what all of them say."""
        assert self._judge is not None  # noqa: S101  (asked during a pass alone)
        nodes, now = self._judge.nodes, self._judge.means.now
        members = [nodes[unit.id] for unit in units]
        survivor, observations = judging.united(members, self._judge.reader, now=now)
        used = entities.usage(observations)
        recorded = graph_use.records_use(nodes.values())
        if recorded and graph_use.forget_reason(used, settings=self.graph, now=now):
            raise MergeRefused("the united memory would be forgotten at once")
        text = statement(survivor.id, entities.content(observations))
        self._judge.sources[text] = frozenset(unit.id for unit in units)
        if self._promotion(used, survivor.type, now) is not None:
            observations = (*observations, graph_use.promotion_mark(now))
        said = {*map(statement_key, survivor.content)}
        others = (node for node in members if node is not survivor)
        return United(
            text=text,
            survivor=survivor.id,
            whole=any(unit.id == survivor.id and unit.text == text for unit in among),
            stored=entity_text(survivor.id, observations),
            observations=observations,
            exact=tuple(each.id for each in others if said.issuperset(map(statement_key, each.content))),
        )

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """One for each two observations that cannot both hold."""
        nodes = cast("GraphView", view).nodes
        return [_conflict(nodes, each) for each in self._said(actions) if each.sure and not each.same]

    def present(self) -> Related:
        """The relations as they are, and what new ones may be made of if they were asked for."""
        judge = self._judge
        near: Sequence[Candidate] = ()
        if self._relate and judge is not None:
            said = [node for node in judge.nodes.values() if node.content]
            units = [replace(judged_text(node.memory, node.statement), category=None) for node in said]
            judge = replace(judge, reader=self.reader(judge.means))  # no stage is shown any more
            near = judge.near(units, floor=self.graph.related_above)
        attended = judge is not None and not judge.means.unattended
        return Related(
            document=self.store.document(),
            scope=self.store.scope,
            settings=self.graph,
            nodes=judge.nodes if judge else {},
            near=near,
            proposes=self._relate and judge is not None,
            repairs=self._repair,
            copies=attended and ActionKind.RELATE in self.wanted and self.store.medium.verbatim,
        )

    def follow(self, plan: Plan, present: Related) -> Plan:
        """What a settled contradiction changes is not merged in the same run, nor parts of what changes."""
        plan = replace(plan, actions=tuple(map(_as_edited, plan.actions)))
        lost = {owner_of(name) for conflict in plan.conflicts for name in conflict.removes}
        parts = [item for item in plan.merges if not item.observations]
        whole = {m.id for item in plan.actions for m in item.members if item not in parts}
        kept = []
        for action in plan.actions:
            ids = {member.id for member in action.members}
            stays = not whole & set(map(owner_of, ids)) if action in parts else not lost & ids
            if stays or not isinstance(action, Merge):
                kept.append(action)
        return followed(replace(plan, actions=tuple(kept)), present)

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool) -> Report:
        """What is forgotten is archived, so no texts are added."""
        limits, health = self.graph, self.health
        return GraphReport(self.store, journal, proposal, settings=limits, health=health, explain=explain)

    def health(
        self, inventory: Inventory, means: Means, view: GraphView | None = None, *, duplicates: bool = True
    ) -> Health:
        """How the graph is doing as it stands, or stood; an encoder alone counts duplicates, if wanted."""
        nodes, limits, now, alike = nodes_of(inventory.memories), self.graph, means.now, 0
        stood = (view.document, view.last) if view else (self.store.document(), self.store.notes.last)
        if duplicates:
            most = means.settings.neighbours
            alike = judging.look_alikes(nodes, _encoder(means), settings=limits, neighbours=most)
        return graph_state(nodes, stood[0], limits, now, alike, gaps=inventory.gaps, last=stood[1])

    def relations(self, journal: Journal, run: str) -> RelationChanges | None:
        """What a run did to them, as far as the state before it is known."""
        return changes_of_run(run, journal, self.store)

    def spoken(self, inventory: Inventory, today: date) -> Iterator[tuple[Memory, Sequence[str]]]:
        """Entities; an observation with the name of what it is about, unless that is a label."""
        for node in nodes_of(inventory.memories):
            said = [text if node.labelled else statement(node.id, [text]) for text in node.content]
            yield judged_text(node.memory, node.statement), said

    def remember(self, *, now: datetime, run: str) -> None:
        """Note the state of every memory, for the next `reflect` and `--if-due`."""
        nodes = nodes_of(self.store.read(ScopeFilter()).memories)
        rows = {node.id: (node.usage.uses, node.usage.effectiveness) for node in nodes}
        self.store.notes.remember(LastRun(now, rows, run))

    def due(self, now: datetime) -> tuple[bool, str]:
        """Whether a pass is due, and why; one that the core memory notes counts, whoever made it."""
        names, noted = self.store.document().names, self.store.notes.last
        last: LastPass | None = (noted.at, noted.memories) if noted else None
        with contextlib.suppress(RefusedChangeError):  # a damaged core memory is told before
            day = self.store.core.consolidated if self.store.core is not None else None
            if day is not None and (last is None or day.date() > last[0].date()):
                nodes = nodes_of(self.store.read(ScopeFilter()).memories)
                later = {node.id for node in nodes if node.usage.discovered and node.usage.discovered > day}
                last = (day, names - later)
        after, new, most = self.graph.due_after, self.graph.due_new, self.graph.max_memories
        return due_reason(names, last, after=after, new=new, now=now, most=most)

    def repair(self, now: datetime) -> Plan | None:
        """Move unreadable lines to the archive; None if there is no such line."""
        store = self.store
        count = len(store.document().broken)
        if not count:
            return None
        memory = store.parse(store.fetch([entities.BROKEN_LINES])[entities.BROKEN_LINES])
        move = Rewrite.of(memory, name="broken", text="", reason=f"move {count} broken lines to the archive")
        return Plan(store.fingerprint, store.kind, now, "none", totals=(), actions=(move,))

    def _forgotten(self, view: GraphView, means: Means) -> tuple[list[Prune], tuple[str, ...]]:
        """What may go by the record of its use, and what a person should know; never most of a graph."""
        notes, limits, now = self.store.notes, self.graph, means.now
        nodes, focus = list(view.nodes.values()), notes.noted(FOCUS)
        weights = graph_use.weights_of(nodes, now=now, settings=limits, focus=focus)
        weights |= dict.fromkeys(notes.brought_back(now, within=limits.forget_unused), 1.0)
        used = nodes if graph_use.records_use(nodes) else ()
        free = (n for n in used if not n.memory.pinned and prune_key(n.memory) not in means.rejected)
        found = [
            Prune.of(node.memory, reason="stale", age_days=node.usage.age_days(now), detail=why)
            for node in free
            if (why := graph_use.forget_reason(node.usage, settings=limits, now=now, weight=weights[node.id]))
            and not _is_kept(node)
        ]
        if 2 * len(found) > len(nodes):
            told = "may be forgotten, but are most of the graph; `mem0-dream forget` removes what you name."
            return [], (f"{len(found)} memories {told}",)
        return found, ()

    def _rewrites(self, view: GraphView, means: Means) -> list[Rewrite | Promote]:
        refused = rewritten(means.rejected)
        changes: list[Rewrite | Promote] = []
        for node in view.nodes.values():
            memory = node.memory
            if memory.pinned or memory.text_hash in refused:
                continue
            texts = judging.once(node)
            double = len(node.observations) - len(texts)
            reasons = (
                [counted(double, "observation stands", "observations stand") + " twice"] if double else []
            )
            why = self._promotion(entities.usage(texts), node.type, means.now)
            if why is not None:
                texts, reasons = [*texts, graph_use.promotion_mark(means.now)], [*reasons, why]
            if reasons:
                change = Rewrite if why is None else Promote
                told: dict[str, Any] = {"text": entity_text(node.id, texts), "observations": tuple(texts)}
                changes.append(change.of(memory, reason="; ".join(reasons), **told))
        return changes

    def _promotion(self, used: Usage, entity_type: str, now: datetime) -> str | None:
        if self.store.core is None:
            return None
        return graph_use.promotion_reason(used, entity_type, settings=self.graph, now=now)


def _is_kept(node: Node) -> bool:
    """Whether it is protected, so that disuse is no reason; of rules a learning that was used once may go."""
    learning = _is_learning(node.type) and bool(node.usage.uses or node.usage.last_used)
    said = (replace(node.memory, text=text) for text in (node.statement, *node.content))
    return any(is_protected(each, learning=learning) for each in said)


def _is_learning(kind: str | None) -> bool:
    return (kind or "").casefold() in entities.LEARNINGS


def _counts_words(means: Means) -> bool:
    """Whether words are counted, which is faster than reading a cache."""
    return means.settings.scorer == "keywords" and means.settings.encoder in (None, "words")


def _encoder(means: Means, on_stage: OnStage | None = None) -> Encoder:
    return means.models.encoder if _counts_words(means) else means.models.read(on_stage=on_stage)


def _as_edited(action: Action) -> Action:
    if isinstance(action, Merge) and action.observations and action.survivor is not None:
        with contextlib.suppress(ValueError):  # the store refuses it
            said = entities.edited_observations(action.survivor, action.text)
            return replace(action, observations=tuple(said))
    return action


def _conflict(nodes: Mapping[str, Node], found: Finding) -> Resolve:
    """The question which of two observations holds; of one entity the later one is the newer."""

    def stated(part: Memory) -> tuple[str, int, str]:
        """When an observation was learned, as far as its entity says; then its place among the others."""
        node = nodes[owner_of(part.id)]
        moment = node.usage.discovered.isoformat() if node.usage.discovered else ""
        return (moment, node.observations.index(part.text), part.id)

    older, newer = sorted((found.a.memory, found.b.memory), key=stated)
    one = owner_of(older.id) == owner_of(newer.id)
    dated = stated(older)[0] and stated(older)[0] < stated(newer)[0]
    sides: dict[str, Any] = {"a": (older.id,), "b": (newer.id,), "newer": "b" if one or dated else None}
    about = topic(older.text, newer.text) or owner_of(older.id)
    return Resolve.of(older, newer, topic=about, verdicts=(found.verdict,), **sides)
