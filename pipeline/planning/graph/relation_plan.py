"""What a plan does to relations: computed with the functions that the store uses, and listed one by one.

Nothing here removes a relation for leading to a name without a line: the memory server keeps such facts
and finds them again. Only a plan that was asked to repair them does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....records import Scope
from ...actions import Action, Member, Merge, Prune, Relate
from ...plan import Plan
from ...stores.graph.edit import handed_over
from ...stores.graph.lines import GraphDocument
from ...stores.graph.text import RELATIONS, parse_relations_text, part_id, relations_text, split_part
from .relations import SUPERSEDES, Edge


@dataclass(frozen=True, slots=True)
class RelationChanges:
    """Every relation that comes, goes, or gets another end.

    Attributes:
        added: New ones.
        moved: Before and after, where a merged memory hands a relation to the one that stays.
        removed: Those that go, also because the memory that stays has the same one already.
    """

    added: tuple[Edge, ...] = ()
    moved: tuple[tuple[Edge, Edge], ...] = ()
    removed: tuple[Edge, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.moved or self.removed)

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
        return (
            f"{len(self.added)} relations added, {len(self.moved)} moved, {len(self.removed)} removed"
            if self
            else "no change of relations"
        )

    def to_json(self) -> dict[str, list[list[str]]]:
        """The changes as JSON."""
        return {
            "added": [list(edge) for edge in self.added],
            "moved": [[*before, *after] for before, after in self.moved],
            "removed": [list(edge) for edge in self.removed],
        }


def shown(edge: Edge) -> str:
    """A relation for a person.

    >>> shown(("provision.sh", "kubectl", "uses"))
    'provision.sh --uses--> kubectl'
    """
    return f"{edge[0]} --{edge[2]}--> {edge[1]}"


def foreseen(document: GraphDocument, actions: Iterable[Action]) -> GraphDocument:
    """The relations of the graph once the merges and prunes are done; texts are left as they are."""
    for action in actions:
        if isinstance(action, Merge | Prune):
            for name in action.removes:
                survivor = action.survivor if isinstance(action, Merge) else None
                document = document.with_lines(handed_over(document, name, survivor)[0])
    return document


def relation_changes(document: GraphDocument, actions: Sequence[Action]) -> RelationChanges:
    """Every relation that the actions add, move or remove."""
    edges = [(edge, edge) for edge in document.relations]
    removed: list[Edge] = []
    for action in actions:
        if isinstance(action, Merge | Prune):
            survivor = action.survivor if isinstance(action, Merge) else None
            for name in action.removes:
                edges = _handed(edges, name, survivor, removed)
    added: list[Edge] = []
    for action in actions:
        if isinstance(action, Relate):
            edges = _related(edges, action, added, removed)
    moved = [(before, after) for before, after in edges if before != after]
    return RelationChanges(tuple(added), tuple(moved), tuple(removed))


def _handed(
    edges: list[tuple[Edge, Edge]], name: str, survivor: str | None, removed: list[Edge]
) -> list[tuple[Edge, Edge]]:
    """The relations without an entity; `removed` gains those that go with it."""
    held = {edge for _, edge in edges if name not in edge[:2]}
    kept: list[tuple[Edge, Edge]] = []
    for before, edge in edges:
        if name not in edge[:2]:
            kept.append((before, edge))
            continue
        new = _with_end(edge, name, survivor) if survivor is not None else None
        if new is None or new[0] == new[1] or new in held:
            removed.append(before)
        else:
            held.add(new)
            kept.append((before, new))
    return kept


def _with_end(edge: Edge, old: str, new: str) -> Edge:
    source, target = (new if end == old else end for end in edge[:2])
    return source, target, edge[2]


def _related(
    edges: list[tuple[Edge, Edge]], action: Relate, added: list[Edge], removed: list[Edge]
) -> list[tuple[Edge, Edge]]:
    source = _source(action)
    wanted = Counter((source, target, kind) for kind, target in parse_relations_text(action.text))
    kept: list[tuple[Edge, Edge]] = []
    for before, edge in edges:
        if edge[0] != source:
            kept.append((before, edge))
        elif wanted[edge] > 0:
            wanted[edge] -= 1
            kept.append((before, edge))
        else:
            removed.append(before)
    added += sorted(wanted.elements())
    return kept


def with_supersedes(plan: Plan, document: GraphDocument) -> Plan:
    """The plan with a relation from the winner to the loser of each settled contradiction.

    Only between two entities that nothing else in the plan merges or prunes; repeating it changes nothing.
    """
    busy = {m.id for action in plan.actions if isinstance(action, Merge | Prune) for m in action.members}
    after = foreseen(document, plan.actions)
    wanted: dict[str, list[str]] = defaultdict(list)
    for conflict in plan.conflicts:
        ends = [split_part(side[0]) for side in (conflict.a, conflict.b)]
        if conflict.choice is None or None in ends:
            continue
        a, b = (end[0] for end in ends if end is not None)
        winner, loser = (a, b) if conflict.choice == "a" else (b, a)
        known = {*after.relations, *_written(plan.actions)}
        if winner != loser and not busy & {winner, loser} and (winner, loser, SUPERSEDES) not in known:
            wanted[winner].append(loser)
    changed = {part_id(name, RELATIONS): targets for name, targets in wanted.items()}
    actions = [
        _extended(action, changed.pop(action.members[0].id))
        if isinstance(action, Relate) and action.members[0].id in changed
        else action
        for action in plan.actions
    ]
    for memory_id, targets in changed.items():
        name = memory_id.removesuffix(part_id("", RELATIONS))
        new = [(name, target, SUPERSEDES) for target in dict.fromkeys(targets)]
        actions.append(relation_rewrite(f"s{name}", plan.conflicts[0].scope, after, source=name, new=new))
    return replace(plan, actions=tuple(actions))


def _written(actions: Iterable[Action]) -> list[Edge]:
    """The relations that actions write."""
    return [
        (_source(action), target, kind)
        for action in actions
        if isinstance(action, Relate)
        for kind, target in parse_relations_text(action.text)
    ]


def _source(action: Relate) -> str:
    """The node whose relations change."""
    return action.members[0].id.removesuffix(part_id("", RELATIONS))


def relation_rewrites(
    scope: Scope,
    after: GraphDocument,
    *,
    new: Mapping[str, Sequence[Edge]],
    gone: Iterable[Edge],
    doubles: bool,
) -> list[Relate]:
    """One action for all relations that leave a node.

    Args:
        scope: Of the graph.
        after: The graph with its merges and prunes done.
        new: What is added, by where it begins.
        gone: What is removed.
        doubles: Of equal relations only one stays.
    """
    lost, count = set(gone), Counter(after.relations)
    faulty = {edge[0] for edge, number in count.items() if edge in lost or (doubles and number > 1)}
    return [
        relation_rewrite(
            f"r{number}", scope, after, source=name, gone=lost, new=new.get(name, ()), doubles=doubles
        )
        for number, name in enumerate(sorted({*new, *faulty}), 1)
    ]


def relation_rewrite(
    name: str,
    scope: Scope,
    after: GraphDocument,
    *,
    source: str,
    gone: Iterable[Edge] = (),
    new: Sequence[Edge] = (),
    doubles: bool = False,
) -> Relate:
    """The action that gives a node its relations as they shall be; see `relation_rewrites`."""
    held = [edge for edge in after.relations if edge[0] == source]
    lost = set(gone)
    kept = [edge for edge in (dict.fromkeys(held) if doubles else held) if edge not in lost]
    reasons = [f"add {edge[2]} {edge[1]}" for edge in new]
    reasons += [
        f"remove {edge[2]} {edge[1]}, which leads nowhere" for edge in dict.fromkeys(held) if edge in lost
    ]
    reasons += ["remove what stands twice"] if doubles and len(set(held)) < len(held) else []
    before = Member(part_id(source, RELATIONS), relations_text((edge[2], edge[1]) for edge in held))
    return Relate(
        id=name,
        scope=scope,
        category=None,
        members=(before,),
        text=relations_text((edge[2], edge[1]) for edge in (*kept, *new)),
        reason="; ".join(reasons),
    )


def _extended(action: Relate, targets: Sequence[str]) -> Relate:
    new = [(SUPERSEDES, target) for target in dict.fromkeys(targets)]
    text = relations_text([*parse_relations_text(action.text), *new])
    reasons = [action.reason, *(f"add {SUPERSEDES} {target}" for target in dict.fromkeys(targets))]
    return replace(action, text=text, reason="; ".join(reasons))
