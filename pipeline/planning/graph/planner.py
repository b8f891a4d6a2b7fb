"""From a graph to a plan: conflicts, merges, prunes, and then what is written into what stays.

Relations are proposed for the graph as it will be once merges and prunes are done, worked out with
the same functions that the store uses, so that a second pass over the result finds nothing to add.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ....models.merger import MergeRefused
from ....models.words import exact_key, topic
from ....records import Inventory, Label, Memory, Scope, Verdict, rejection_key
from ...actions import Action, Member, Merge, Promote, Prune, Relate, Resolve, Rewrite, Side
from ...answers import prune_key, rewritten
from ...plan import Plan, ScopeTotal
from ...rules.graph.conflicts import observation_verdicts, observations_of
from ...rules.graph.forgetting import forget_reason, forgettable, records_use
from ...rules.graph.nodes import Node, nodes_of
from ...rules.graph.promotion import promotion_mark, promotion_reason
from ...stores.graph.lines import GraphDocument
from ...stores.graph.text import entity_text, split_part
from ...stores.graph.usage import usage
from ..merges import Consolidated
from .echoes import echoes
from .merging import GraphJudging, entity_verdicts, merges, named_verdicts, united
from .relation_plan import foreseen, relation_rewrites
from .relations import Edge, dangling, proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What a plan is made from.

    Attributes:
        inventory: All entities.
        document: The same with their relations, as lines.
        kind: Name printed before ids.
        scope: Of all memories.
        weights: What each memory weighs in the present attention.
        promotes: There is a core memory to promote to.
        relates: New relations were asked for.
        repairs: The removal of relations that lead nowhere or stand twice was asked for.
    """

    inventory: Inventory
    document: GraphDocument
    kind: str
    scope: Scope
    weights: Mapping[str, float] = field(default_factory=dict)
    promotes: bool = False
    relates: bool = False
    repairs: bool = False


def graph_plan(graph: Graph, judging: GraphJudging) -> Plan:
    """Propose everything worth doing about a graph."""
    nodes = {node.id: node for node in nodes_of(graph.inventory.memories)}
    planner = _Planner(graph, judging, nodes)
    verdicts, against = planner.judge()
    merged = planner.merges(verdicts)
    actions: list[Action] = [*_numbered("m", merged), *planner.prunes(merged)]
    after = foreseen(graph.document, actions)
    conflicts = planner.conflicts(
        against, {action.members[0].id for action in actions if isinstance(action, Prune)}
    )
    actions += [*conflicts, *planner.rewrites(actions), *planner.relations(after, actions)]
    return Plan(
        store=graph.inventory.store,
        kind=graph.kind,
        now=judging.now,
        scorer=judging.scorer.name,
        totals=_totals(graph.inventory),
        actions=tuple(actions),
        unsure=(*planner.unsure(verdicts, actions), *planner.echoes(against, actions)),
        gaps=graph.inventory.gaps,
        fidelity=graph.inventory.fidelity,
    )


def with_relations(plan: Plan, graph: Graph, judging: GraphJudging) -> Plan:
    """The plan with its changes of relations worked out anew, for what a person added to it."""
    nodes = {node.id: node for node in nodes_of(graph.inventory.memories)}
    others = [action for action in plan.actions if not isinstance(action, Relate)]
    relations = _Planner(graph, judging, nodes).relations(foreseen(graph.document, others), others)
    return replace(plan, actions=(*others, *relations))


@dataclass(frozen=True, slots=True)
class _Planner:
    """The parts of one plan."""

    graph: Graph
    judging: GraphJudging
    nodes: Mapping[str, Node]

    @property
    def forgettable(self) -> dict[str, str]:
        """What may go, and why; nothing that a person brought back."""
        reasons = forgettable(
            self.nodes,
            settings=self.judging.settings,
            now=self.judging.now,
            weights=self.graph.weights,
        )
        refused = self.judging.rejected
        return {
            name: why for name, why in reasons.items() if prune_key(self.nodes[name].memory) not in refused
        }

    def _rejected(self, verdict: Verdict) -> bool:
        """Whether a person was asked about these two observations already."""
        parts = self._parts
        return rejection_key(parts[verdict.pair.a], parts[verdict.pair.b]) in self.judging.rejected

    @property
    def _parts(self) -> dict[str, Memory]:
        """All observations by id."""
        return {part.id: part for node in self.nodes.values() for part in observations_of(node)}

    def judge(self) -> tuple[tuple[Verdict, ...], tuple[Verdict, ...]]:
        """The verdicts on entities, and which observations contradict each other."""
        free = [node for node in self.nodes.values() if not node.memory.pinned]
        verdicts = named_verdicts(free, entity_verdicts(free, self.judging), self.judging)
        against = tuple(
            item for item in observation_verdicts(self.nodes, verdicts) if not self._rejected(item)
        )
        quarrel = {frozenset(_owner(end) for end in (item.pair.a, item.pair.b)) for item in against}
        marked = tuple(
            replace(item, label=Label.CONTRADICTION, auto=False)
            if frozenset((item.pair.a, item.pair.b)) in quarrel
            else item
            for item in verdicts
        )
        return marked, against

    def merges(self, verdicts: Sequence[Verdict]) -> list[Merge]:
        """Merges among what stays; a forgettable memory that joins no other one is left out and goes."""
        going = set(self.forgettable)
        leaving: set[str] = set()
        while True:
            free = [n for n in self.nodes.values() if not n.memory.pinned and n.id not in leaving]
            left = [item for item in verdicts if not leaving & {item.pair.a, item.pair.b}]
            drafts = merges(free, left, self.judging, acceptable=self._stays)
            kept = {name for merge in drafts if not merge.ids <= going for name in merge.ids}
            more = {node.id for node in free if node.id in going} - kept
            if not more:
                return [self._merge(merge) for merge in drafts]
            leaving |= more

    def prunes(self, merging: Iterable[Merge]) -> list[Prune]:
        """What is forgotten, unless a merge keeps it."""
        merged = {member.id for merge in merging for member in merge.members}
        rows = [(self.nodes[name], why) for name, why in self.forgettable.items() if name not in merged]
        return [
            Prune(
                id=f"p{number}",
                scope=node.memory.scope,
                category=node.memory.category,
                members=(Member.of(node.memory),),
                reason="stale",
                age_days=node.usage.age_days(self.judging.now),
                detail=why,
            )
            for number, (node, why) in enumerate(rows, 1)
        ]

    def conflicts(self, against: Sequence[Verdict], pruned: set[str]) -> list[Resolve]:
        """One conflict for each two observations that cannot both hold."""
        parts = self._parts
        conflicts: list[Resolve] = []
        for verdict in against:
            pair = [parts[verdict.pair.a], parts[verdict.pair.b]]
            if not pruned & {_owner(part.id) for part in pair}:
                conflicts.append(self._conflict(f"c{len(conflicts) + 1}", pair, verdict))
        return conflicts

    def rewrites(self, actions: Iterable[Action]) -> list[Rewrite | Promote]:
        """Promotions, and observations that stand twice in one memory."""
        busy = {member.id for action in actions for member in action.members}
        refused = rewritten(self.judging.rejected)
        changes: list[Rewrite | Promote] = []
        for name, node in self.nodes.items():
            texts, reasons = list(node.observations), list[str]()
            once = _once(node)
            if name in busy or node.memory.pinned or node.memory.text_hash in refused:
                continue
            if len(once) < len(texts):
                texts, reasons = once, [f"{len(texts) - len(once)} observations stand twice"]
            why = self._promotion(texts, node.type)
            if why is not None:
                texts, reasons = [*texts, promotion_mark(self.judging.now)], [*reasons, why]
            if reasons:
                kind = Rewrite if why is None else Promote
                changes.append(
                    kind(
                        id=f"w{len(changes) + 1}",
                        scope=node.memory.scope,
                        category=node.memory.category,
                        members=(Member.of(node.memory),),
                        text=entity_text(name, texts),
                        reason="; ".join(reasons),
                    )
                )
        return changes

    def relations(self, after: GraphDocument, actions: Sequence[Action]) -> list[Relate]:
        """New relations and repairs, as far as they were asked for."""
        new: dict[str, list[Edge]] = defaultdict(list)
        if self.graph.relates:
            for edge in proposed(self._foreseen_nodes(after, actions), after.relations, self.judging):
                new[edge[0]].append(edge)
        repairs = self.graph.repairs
        gone = dangling(after.names, after.relations) if repairs else ()
        return relation_rewrites(self.graph.scope, after, new=new, gone=gone, doubles=repairs)

    def unsure(self, verdicts: Iterable[Verdict], actions: Iterable[Action]) -> tuple[Merge | Resolve, ...]:
        """Pairs between `review_above` and `merge_above`, or held back by a guard."""
        # A relation proposed for a pair is no answer to whether the two are one.
        taken = {
            _owner(member.id)
            for action in actions
            if not isinstance(action, Relate)
            for member in action.members
        }
        doubts: list[Merge | Resolve] = []
        for item in sorted(verdicts, key=lambda item: (item.pair.a, item.pair.b)):
            doubtful = item.label is Label.UNSURE or (item.label is Label.DUPLICATE and not item.auto)
            if not doubtful or taken & {item.pair.a, item.pair.b}:
                continue
            members = tuple(self.nodes[name].memory for name in (item.pair.a, item.pair.b))
            try:
                merge = self._merge(Consolidated(members, None, "", (item,)))
            except MergeRefused:
                continue
            doubts.append(replace(merge, id=f"u{len(doubts) + 1}"))
        return tuple(doubts)

    def echoes(self, against: Iterable[Verdict], actions: Sequence[Action]) -> list[Merge]:
        """Observations that may say the same, of memories that nothing else is proposed for."""
        taken = {
            member.id for action in actions if not isinstance(action, Relate) for member in action.members
        }
        apart = {frozenset((item.pair.a, item.pair.b)) for item in against}
        free = [node for name, node in self.nodes.items() if name not in taken]
        repeated = echoes(free, self.judging, apart=apart)
        left = [merge for merge in repeated if not taken & {member.id for member in merge.members}]
        return _numbered("o", left)

    def _stays(self, observations: Sequence[str]) -> bool:
        used = usage(observations)
        why = forget_reason(used, settings=self.judging.settings, now=self.judging.now)
        return why is None or not records_use(self.nodes.values())

    def _promotion(self, observations: Sequence[str], kind: str) -> str | None:
        if not self.graph.promotes:
            return None
        return promotion_reason(
            usage(observations), kind, settings=self.judging.settings, now=self.judging.now
        )

    def _merge(self, merge: Consolidated) -> Merge:
        members = [self.nodes[memory.id] for memory in merge.members]
        survivor, observations = united(members, self.judging)
        if self._promotion(observations, survivor.type) is not None:
            observations = (*observations, promotion_mark(self.judging.now))
        said = {exact_key(text) for text in survivor.content}
        return Merge(
            id="",
            scope=survivor.memory.scope,
            category=survivor.memory.category,
            members=tuple(Member.of(node.memory) for node in members),
            survivor=survivor.id,
            text=entity_text(survivor.id, observations),
            created_at=min((n.usage.discovered for n in members if n.usage.discovered), default=None),
            exact=tuple(
                node.id
                for node in members
                if node is not survivor and said.issuperset(exact_key(text) for text in node.content)
            ),
            verdicts=merge.verdicts,
        )

    def _conflict(self, name: str, pair: Sequence[Memory], verdict: Verdict) -> Resolve:
        older, newer = sorted(pair, key=self._stated)
        one = _owner(older.id) == _owner(newer.id)
        dated = self._stated(older)[0] and self._stated(older)[0] < self._stated(newer)[0]
        decided: Side | None = "b" if one or dated else None
        return Resolve(
            id=name,
            scope=older.scope,
            category=older.category,
            members=tuple(Member.of(memory) for memory in sorted(pair, key=lambda memory: memory.id)),
            a=(older.id,),
            b=(newer.id,),
            topic=topic(older.text, newer.text) or _owner(older.id),
            newer=decided,
            verdicts=(verdict,),
        )

    def _stated(self, part: Memory) -> tuple[str, int, str]:
        """When an observation was learned, as far as its entity says; then its place among the others."""
        node = self.nodes[_owner(part.id)]
        moment = node.usage.discovered.isoformat() if node.usage.discovered else ""
        return (moment, node.observations.index(part.text), part.id)

    def _foreseen_nodes(self, after: GraphDocument, actions: Sequence[Action]) -> dict[str, Node]:
        """The entities as they will be."""
        nodes = {name: node for name, node in self.nodes.items() if name in after.names}
        for action in actions:
            if isinstance(action, Merge) and action.survivor in nodes:
                members = [self.nodes[member.id] for member in action.members]
                survivor, observations = united(members, self.judging)
                memory = replace(
                    survivor.memory, metadata={**survivor.memory.metadata, "observations": list(observations)}
                )
                nodes[survivor.id] = Node.of(memory)
        return nodes


def _owner(memory_id: str) -> str:
    part = split_part(memory_id)
    return part[0] if part else memory_id


_BULLET = re.compile(r"^\s*[-*•·]\s+(?=[^\W\d])")
_ARTICLE = re.compile(r"\b[Tt]he (?=[^\W\d])")


def _plain(text: str) -> str:
    """A text without a bullet in front and without articles, neither of which changes what it says."""
    return _ARTICLE.sub("", _BULLET.sub("", text))


def _once(node: Node) -> list[str]:
    """All observations, but what an entity says twice only the first time."""
    seen: set[str] = set()
    kept: list[str] = []
    for text in node.observations:
        key = exact_key(_plain(text)) if text in node.content else ""
        if not key or key not in seen:
            kept.append(text)
        seen.add(key)
    return kept


def _numbered(prefix: str, merged: Sequence[Merge]) -> list[Merge]:
    ordered = sorted(merged, key=lambda merge: [member.id for member in merge.members])
    return [replace(merge, id=f"{prefix}{number}") for number, merge in enumerate(ordered, 1)]


def _totals(inventory: Inventory) -> tuple[ScopeTotal, ...]:
    if not inventory.memories:
        return ()
    return (ScopeTotal(inventory.memories[0].scope, len(inventory.memories)),)
