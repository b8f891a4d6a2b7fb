"""What a plan does to relations: proposed from evidence, repaired on request, listed one by one.

A relation to a name without a line is a fact, too: the memory server keeps it and finds it again. Only a
plan that was asked to repair removes such ones. `followed` works all of it out anew from the other actions
and the answers, with the functions by which the store itself changes a graph.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...models.text.tables import pattern
from ...records import Candidate, Scope
from ..plan import Action, Member, Merge, Plan, Prune, Relate
from ..rules.graph_names import siblings
from ..rules.graph_use import GraphSettings
from ..stores.graph.entities import MERGED_MARK, RELATIONS, Node, owner_of, part_id, relations_text, words_of
from ..stores.graph.lines import Edge, GraphDocument, handed_over

RELATED_TO, SUPERSEDES, APPLIES_TO, DERIVED_FROM = "related_to", "supersedes", "applies_to", "derived_from"
STANDARD = (RELATED_TO, SUPERSEDES, APPLIES_TO, DERIVED_FROM, "competes_in", "part_of")
"""The types that are proposed or understood; others are left as they are."""

_APPLYING = ("pattern",)
_APPLIED_TO = ("stack", "tech-insight")
_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True)
class RelationChanges:
    """Every relation that comes, goes, or gets another end (before, after) since its memory was merged."""

    added: tuple[Edge, ...] = ()
    moved: tuple[tuple[Edge, Edge], ...] = ()
    removed: tuple[Edge, ...] = ()

    def __bool__(self) -> bool:
        return self.total > 0

    @property
    def total(self) -> int:
        """All of them."""
        return len(self.added) + len(self.moved) + len(self.removed)

    @property
    def lines(self) -> list[str]:
        """One line for each."""
        return [
            *(f"+ {shown(edge)}" for edge in self.added),
            *(f"~ {shown(before)}  ->  {shown(after)}" for before, after in self.moved),
            *(f"- {shown(edge)}" for edge in self.removed),
        ]

    @property
    def counts(self) -> str:
        """How many of each, in a few words."""
        told = f"{len(self.added)} relations added, {len(self.moved)} moved, {len(self.removed)} removed"
        return told if self else "no change of relations"

    def to_json(self) -> dict[str, list[list[str]]]:
        """The changes as JSON."""
        moved = [[*before, *after] for before, after in self.moved]
        return {"added": [*map(list, self.added)], "moved": moved, "removed": [*map(list, self.removed)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What is needed to work out relations, beside the plan."""

    document: GraphDocument
    scope: Scope
    settings: GraphSettings
    nodes: Mapping[str, Node]
    near: Sequence[Candidate]  # pairs of entities that are alike, if new relations were asked for
    proposes: bool  # new relations were asked for
    repairs: bool  # so was the removal of those that lead nowhere or stand twice
    copies: bool  # the second of two equal relations may go by itself, since a person looks on


def shown(edge: Edge) -> str:
    """A relation for a person.

    >>> shown(("provision.sh", "kubectl", "uses"))
    'provision.sh --uses--> kubectl'
    """
    return f"{edge[0]} --{edge[2]}--> {edge[1]}"


def dangling(names: Iterable[str], edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Relations of which an end does not exist."""
    known = set(names)
    return tuple(edge for edge in edges if not known.issuperset(edge[:2]))


def orphans(names: Iterable[str], edges: Iterable[Edge]) -> tuple[str, ...]:
    """Entities that no relation touches, sorted; one to a name without a line counts as well."""
    return tuple(sorted(set(names) - {end for edge in edges for end in edge[:2]}))


def relation_changes(document: GraphDocument, actions: Sequence[Action]) -> RelationChanges:
    """Every relation that the actions add, move or remove."""
    rows = [(edge, edge) for edge in document.relations]  # before, and as it leads by now
    removed: list[Edge] = []
    for name, survivor in _leaving(actions):
        led = handed_over([edge for _, edge in rows], name, survivor)
        removed += [before for (before, _), edge in zip(rows, led, strict=True) if edge is None]
        rows = [(before, edge) for (before, _), edge in zip(rows, led, strict=True) if edge is not None]
    added: list[Edge] = []
    for action in actions:
        if isinstance(action, Relate):
            wanted = Counter((action.source, target, kind) for kind, target in action.relations)
            kept: list[tuple[Edge, Edge]] = []
            for before, edge in rows:
                if edge[0] != action.source or wanted[edge] > 0:
                    wanted[edge] -= 1
                    kept.append((before, edge))
                else:
                    removed.append(before)
            rows = kept
            added += sorted(wanted.elements())
    moved = [(before, after) for before, after in rows if before != after]
    return RelationChanges(tuple(added), tuple(moved), tuple(removed))


def followed(plan: Plan, related: Related) -> Plan:
    """The plan with the relations that follow from its other actions, its answers, and what was asked for.

    Where nothing new was asked for, what an earlier call added stays, led on to what merges leave.
    """
    others = tuple(action for action in plan.actions if not isinstance(action, Relate))
    earlier = [action for action in plan.actions if isinstance(action, Relate)]
    after, stays = related.document, dict[str, str]()
    for name, survivor in _leaving(others):
        after = after.without_entity(name, survivor)
        stays |= {name: survivor} if survivor else {}
    held = Counter(after.relations)
    faulty = set(dangling(after.names, held))
    twice = {edge for edge, count in held.items() if count > 1}
    kept = [(action.source, target, kind) for action in earlier for kind, target in action.relations]
    if related.proposes:
        new = proposed(_foreseen(related.nodes, after, others), after.relations, related)
    else:
        new = [(stays.get(a, a), stays.get(b, b), kind) for a, b, kind in kept if kind != SUPERSEDES]
    # A second pass over `earlier` must know what the first one repaired.
    repairs = related.repairs or any(
        edge[0] == a.source and edge not in kept for a in earlier for edge in faulty
    )
    copies = (
        repairs
        or related.copies
        or any(len(set(a.relations)) == len(a.relations) and len(set(a.held)) < len(a.held) for a in earlier)
    )
    wanted: dict[str, list[Edge]] = defaultdict(list)
    for edge in dict.fromkeys((*new, *_superseding(plan, after, others))):
        if edge not in held and after.names.issuperset(edge[:2]) and edge[0] != edge[1]:
            wanted[edge[0]].append(edge)
    mended = (faulty if repairs else set()) | (twice if copies else set())
    sources = sorted({*wanted, *(edge[0] for edge in mended)})
    flags = {"repairs": repairs, "copies": copies}
    relates = (_relate(related.scope, after, source, wanted[source], **flags) for source in sources)
    before = related.document
    said = sum(len(line.item["observations"]) for lines in before.entities.values() for line in lines)
    totals = tuple(replace(t, relations=len(before.relations), observations=said) for t in plan.totals)
    return replace(plan, actions=(*others, *relates), totals=totals)


def proposed(nodes: Mapping[str, Node], edges: Sequence[Edge], related: Related) -> list[Edge]:
    """New relations, each with evidence for it, the strongest first; two that have any relation get none."""
    most = related.settings.max_relations
    joined = {frozenset(edge[:2]) for edge in edges}
    count = Counter(end for edge in edges if edge[2] in STANDARD for end in edge[:2])
    kept: list[Edge] = []
    for edge in (*_derived(nodes), *_applied(nodes), *_named(nodes), *_alike(nodes, edges, related)):
        ends = frozenset(edge[:2])
        if ends not in joined and len(ends) > 1 and all(count[end] < most for end in ends):
            joined.add(ends)
            count.update(ends)
            kept.append(edge)
    return kept


def _leaving(actions: Iterable[Action]) -> list[tuple[str, str | None]]:
    """Entities that go, in order, each with the one that takes its relations."""
    return [
        (name, action.survivor if isinstance(action, Merge) else None)
        for action in actions
        if isinstance(action, Merge | Prune)
        for name in action.removes
    ]


def _superseding(plan: Plan, after: GraphDocument, others: Iterable[Action]) -> list[Edge]:
    """A relation from winner to loser of each settled contradiction between two entities that stay."""
    busy = {m.id for action in others if isinstance(action, Merge | Prune) for m in action.members}
    settled = [(each.choice, owner_of(each.a[0]), owner_of(each.b[0])) for each in plan.conflicts]
    return [
        (a, b, SUPERSEDES) if choice == "a" else (b, a, SUPERSEDES)
        for choice, a, b in settled
        if choice is not None and not busy & {a, b} and after.names.issuperset((a, b))
    ]


def _foreseen(
    nodes: Mapping[str, Node], after: GraphDocument, actions: Iterable[Action]
) -> Mapping[str, Node]:
    foreseen = {name: node for name, node in nodes.items() if name in after.names}
    for action in actions:
        if isinstance(action, Merge) and action.observations and action.survivor in foreseen:
            memory = foreseen[action.survivor].memory
            said = {**memory.metadata, "observations": list(action.observations)}
            foreseen[action.survivor] = Node.of(replace(memory, metadata=said))
    return foreseen


def _relate(
    scope: Scope, after: GraphDocument, source: str, new: Sequence[Edge], *, repairs: bool, copies: bool
) -> Relate:
    held = [edge for edge in after.relations if edge[0] == source]
    lost = dict.fromkeys(dangling(after.names, held)) if repairs else {}
    kept = [edge for edge in (dict.fromkeys(held) if copies else held) if edge not in lost]
    reasons = [f"add {edge[2]} {edge[1]}" for edge in new]
    reasons += [f"remove {edge[2]} {edge[1]}, which leads nowhere" for edge in lost]
    reasons += ["remove what stands twice"] if copies and len(set(held)) < len(held) else []
    held_before, relations = (tuple((edge[2], edge[1]) for edge in edges) for edges in (held, (*kept, *new)))
    return Relate(
        id=f"r:{source}",
        scope=scope,
        category=None,
        members=(Member(part_id(source, RELATIONS), relations_text(held_before)),),
        text=relations_text(relations),
        reason="; ".join(reasons),
        source=source,
        relations=relations,
        held=held_before,
    )


def _alike(nodes: Mapping[str, Node], edges: Sequence[Edge], related: Related) -> list[Edge]:
    """Pairs that are each other's nearest neighbour below the line of duplicates, nearest first.

    Only for what no relation touches yet, and never between two that were written from one template.
    """
    alone = set(orphans(nodes, edges))
    pairs = [pair for pair in related.near if pair.a in nodes and pair.b in nodes]
    pairs.sort(key=lambda pair: (-pair.cosine, pair.a, pair.b))
    nearest: dict[str, Candidate] = {}
    for pair in pairs:
        for end in (pair.a, pair.b):
            nearest.setdefault(end, pair)
    return [
        (pair.a, pair.b, RELATED_TO)
        for pair in pairs
        if nearest[pair.a] is nearest[pair.b] is pair
        and pair.cosine <= related.settings.merge_above
        and alone & {pair.a, pair.b}
        and not siblings(nodes[pair.a], nodes[pair.b])
    ]


def _applied(nodes: Mapping[str, Node]) -> list[Edge]:
    """Patterns whose text names a stack or a technical insight; a type before its name may be left out."""
    targets: list[tuple[str, re.Pattern[str]]] = []
    for name, node in sorted(nodes.items()):
        bare = node.bare_name
        if node.type.casefold() in _APPLIED_TO and len(words_of(bare)) >= _SHORTEST_NAME:
            forms = "|".join(re.escape(form) for form in dict.fromkeys((name, bare, words_of(bare))))
            targets.append((name, re.compile(rf"(?<!\w)(?:{forms})(?!\w)", re.IGNORECASE)))
    return [
        (name, target, APPLIES_TO)
        for name, node in sorted(nodes.items())
        if node.type.casefold() in _APPLYING
        for target, pattern in targets
        if pattern.search(" ".join(node.content))
    ]


def _named(nodes: Mapping[str, Node]) -> list[Edge]:
    """Memories that name another one in so many letters, where its name is no mere word."""
    names = [
        name for name in sorted(nodes) if len(name) > _SHORTEST_NAME and pattern("no_mere_word").search(name)
    ]
    if not names:
        return []
    found = re.compile(
        rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?![\w-])"
    )
    return [
        (name, target, RELATED_TO)
        for name, node in sorted(nodes.items())
        for target in sorted(set(found.findall("\n".join(node.content))) - {name})
    ]


def _derived(nodes: Mapping[str, Node]) -> list[Edge]:
    """Entities that were merged from another one that exists again."""
    return [
        (name, source, DERIVED_FROM)
        for name, node in sorted(nodes.items())
        for text in node.observations
        if text.startswith(MERGED_MARK)
        for source in text.removeprefix(MERGED_MARK).rpartition(" on ")[0].split(", ")
        if source in nodes
    ]
