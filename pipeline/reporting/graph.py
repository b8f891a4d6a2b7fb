"""The report of a pass over a graph, in the form of the original skill; and looking back at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ...models.text.words import counted
from ...records import Candidate, Label, Memory
from ..answers import as_answered
from ..judging.statements import Reader
from ..plan import Action, Merge, Promote, Prune, Relate, Rewrite, RunResult, TextChange
from ..planning.doubts import open_question
from ..planning.graph_judging import GraphView
from ..planning.graph_relations import RelationChanges, dangling, orphans, relation_changes, shown
from ..planning.hooks import Means, Proposal
from ..planning.plan_file import parse_plan
from ..rules.graph_use import GraphSettings
from ..stores.base import ScopeFilter
from ..stores.graph.core_memory import core_place
from ..stores.graph.entities import PROMOTED_MARK, Node, owner_of, split_part, usage
from ..stores.graph.store import GraphStore, LastRun
from ..writing.journal import Journal, Outcome
from .health import Health, spoken_share
from .report import Report, auto_summary, summary
from .text import one_line, visible

_ADVICE = (
    'No memory here says how it was used: with "Discovered: DATE" and "Applied in PROJECT - HELPFUL '
    '(DATE)" among its observations it could be ranked, promoted, and forgotten when it is stale.'
)
_MOST_ORPHANS = 20  # orphans that are listed by name
_MOST_DANGLING = 5  # relations to names without a line that are listed unasked


class GraphReport(Report):
    """Renders one pass over a graph; relations are shown as they stand in it now."""

    groups = False

    def __init__(
        self,
        store: GraphStore,
        journal: Journal,
        proposal: Proposal,
        *,
        settings: GraphSettings,
        health: Callable[..., Health],
        explain: bool = False,
    ) -> None:
        """Bind what is shown, and `GraphKind.health`; a mere plan has no findings."""
        super().__init__(proposal.plan, explain=explain)
        document = store.document()
        self._store, self._journal, self._settings, self._health = store, journal, settings, health
        self._view: GraphView | None = proposal.findings
        self._relations = relation_changes(document, self._plan.actions)
        left = dangling(document.names, document.relations)
        self._dangling = sorted(set(left) - set(self._relations.removed))

    def lines(self) -> list[str]:
        """The report, and every relation that changes."""
        return [*super().lines(), *self.relation_lines()]

    def relation_lines(self) -> list[str]:
        """Every relation that the plan adds, moves or removes."""
        lines = [f"Relations ({self._relations.counts}):"] if self._relations else []
        return [visible(line) for line in (*lines, *self._relations.lines)]

    def remarks(self) -> list[str]:
        """Relations that change, and those that are left as they are."""
        return [*self.relation_lines(), *self.open_lines()]

    def open_lines(self) -> list[str]:
        """Relations to names without a line: listed, and left as they are."""
        if not self._dangling:
            return []
        listed = self._dangling if self._explain else self._dangling[:_MOST_DANGLING]
        count, more = len(self._dangling), len(self._dangling) - len(listed)
        return [
            f"Relations to names without a line ({count}): kept; --repair-relations removes them.",
            *(visible(f"  {shown(edge)}") for edge in listed),
            *([f"  and {more} more; --explain lists all"] if more else []),
        ]

    def _counts(self) -> list[tuple[Any, ...]]:
        plan = self._plan
        counts = (
            (len(plan.merges), "merge"),
            (len(plan.prunes), "prune"),
            (len(plan.conflicts), "conflict"),
            (len(_promotions(plan.actions)), "promotion"),
            (self._relations.total, "change of relations", "changes of relations"),
            (sum(isinstance(item, Rewrite) for item in plan.actions), "repair"),
        )
        return [row for row in counts if row[0]]

    def changed(self, before: Report) -> list[str]:
        """The relations, where the answers change them."""
        lines = self.relation_lines()
        return [] if isinstance(before, GraphReport) and lines == before.relation_lines() else lines

    def explanation(self, action: Action) -> list[str]:
        """What is under an action's line; the survivor of a merge gains observations."""
        lines = super().explanation(action)
        if not isinstance(action, Merge) or not action.observations:
            return lines
        before = set(map(one_line, _said(action)))
        new = [text for text in map(one_line, action.observations) if text not in before]
        stays = f"    {self.label(action.survivor or '')} stays" + (", with these added:" if new else "")
        place = len(action.members)
        return [*lines[:place], stays, *(f"      + {text}" for text in new), *lines[place + 1 :]]

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:
        """The report of the original; see `Report.done`. After a night without changes one line."""
        if self._view is None:
            return super().done(result, auto=auto, took=took)
        changes = self._made(result)
        moved = {name for name, _ in result.moved}
        done = [action for action in self._plan.actions if action.id not in moved]
        lines = self._passed(result, done, changes, self._view, took) if result.run or not auto else []
        if not auto:
            asked = open_question(self._plan.unsure)
            told = [f"{summary(result)}, {changes.counts}", *([f"{asked}."] if asked else [])]
            return [*lines, *self.moved(result), "", *told, *self.left_open()]
        line = auto_summary(result, conflicts=len(self._plan.conflicts) + self._plan.left_open)
        line += "".join(f" relations_{name}={len(edges)}" for name, edges in changes.to_json().items())
        folded, promoted = sum(isinstance(item, Rewrite) for item in done), len(_promotions(done))
        line += f" folded={folded} promoted={promoted} skipped={len(result.moved)}"
        return [*lines, *([""] if lines else []), line]

    def to_json(self, result: RunResult | None) -> dict[str, Any]:
        """The report as JSON, with the relations, and after a run with the health before and afterwards."""
        view = self._view if result is not None else None
        changes = self._relations if result is None else self._made(result)
        return super().to_json(result) | {
            "health": self._after(view.means).to_json() if view else None,
            "health_before": self._health(view.inventory, view.means, view).to_json() if view else None,
            "relations": changes.to_json(),
        }

    def _parts(self) -> list[tuple[str, Sequence[Action]]]:
        texts = [item for item in self._plan.rewrites if not isinstance(item, Relate)]
        return [*super()._parts()[:-1], ("Changed", texts)]

    def _difference(self, action: Action) -> list[str]:
        """The observations that a memory loses and gains; it may have said one of them twice."""
        if not isinstance(action, TextChange) or not action.observations:
            return []
        before, after = (Counter(map(one_line, said)) for said in (_said(action), action.observations))
        gone, new = (before - after).elements(), (after - before).elements()
        return [*(f"    - {text}" for text in gone), *(f"    + {text}" for text in new)]

    def _line(self, action: Action) -> str:
        line = super()._line(action)
        # What is forgotten is agreed to on these figures.
        return f"{line}; {action.detail}" if isinstance(action, Prune) and action.detail else line

    def _asides(self) -> list[str]:
        used = [node.usage for node in self._view.nodes.values()] if self._view else []
        recorded = any(use.uses or use.discovered or use.last_used for use in used)
        return [*self.open_lines(), *([_ADVICE] if used and not recorded else [])]

    def _made(self, result: RunResult) -> RelationChanges:
        return changes_of_run(result.run, self._journal, self._store) or RelationChanges()

    def _after(self, means: Means) -> Health:
        return self._health(as_answered(self._store.read(ScopeFilter()), means.answers), means)

    def _passed(
        self,
        result: RunResult,
        done: Sequence[Action],
        changes: RelationChanges,
        view: GraphView,
        took: timedelta,
    ) -> list[str]:
        document, settings, now = self._store.document(), self._settings, view.means.now
        merges = [item for item in done if isinstance(item, Merge) and item.observations]
        prunes = [item for item in done if isinstance(item, Prune)]
        before = self._health(view.inventory, view.means, view, duplicates=False)
        after = self._after(view.means)
        alone = orphans(document.names, document.relations)
        more = [f"- and {len(alone) - _MOST_ORPHANS} more"] if len(alone) > _MOST_ORPHANS else []
        counts = (
            ("Memories analysed", before.total),
            ("Memories merged", f"{sum(len(item.removes) for item in merges)} into {len(merges)}"),
            ("Promoted to core", len(_promotions(done))),
            ("Forgotten (archived)", len(prunes)),
            ("Relationships created", len(changes.added)),
            ("Relationships moved", len(changes.moved)),
            ("Relationships removed", len(changes.removed)),
            ("Conflicts resolved", result.resolved),
            ("Orphans", len(alone)),
        )
        sections = {
            "Merges Performed": [
                f"- {' + '.join(each.removes)} -> {each.survivor} (similarity "
                f"{max((verdict.pair.cosine for verdict in each.verdicts), default=0.0):.2f})"
                for each in merges
            ],
            "Promoted to Core Memory": list(map(_promotion_line, _promotions(done))),
            "Changed": [
                *(f"- {item.survivor}: {item.reason}" for item in done if isinstance(item, Rewrite)),
                *_folded(done),
            ],
            "Relationships": changes.lines,
            "Forgotten": [line for item in prunes for line in self._forgotten(item, view)],
            "Orphaned": [f"- {name}" for name in alone[:_MOST_ORPHANS]] + more,
            "Health After Consolidation": _table(before, after),
            "Recommendations": [
                f"- Run it again in {settings.due_after.days} days",
                *(f"- {text}" for text in after.recommendations),
            ],
            "Next triggers": [
                f"- more than {settings.max_memories} memories (now {after.total})",
                f"- {settings.due_after.days} days from now ({now + settings.due_after:%Y-%m-%d})",
                f"- {settings.due_new} new memories",
            ],
        }
        last = f"{view.last.at:%Y-%m-%d %H:%M} UTC" if view.last else "never"
        lines = ["# Memory Consolidation Report", "", f"Date: {now:%Y-%m-%d %H:%M} UTC"]
        lines += [f"Previous Consolidation: {last}", f"Duration: {took.total_seconds():.1f} s"]
        lines += [f"Run: {result.run}"] if result.run else []
        lines += ["", "## Summary", *(f"- {name}: {count}" for name, count in counts)]
        for title, told in sections.items():
            lines += ["", f"## {title}", *(told or ["none"])]
        return [visible(line) for line in lines]

    def _forgotten(self, action: Prune, view: GraphView) -> list[str]:
        used = view.nodes[action.members[0].id].usage
        last = used.last_used.date().isoformat() if used.last_used else "never"
        told = f"age {action.age_days} d, last used {last}, {counted(used.uses, 'use')}; {action.detail}"
        archived = f"  archived in {self._store.archive}; back with: mem0-dream restore"
        return [f"- {action.members[0].id}: {told}", archived]


def changes_of_run(run: str, journal: Journal, store: GraphStore) -> RelationChanges | None:
    """What a run did to relations; None if the state before it is not known any more."""
    if not run or not any(change.memory for change in journal.changes(run)):
        return RelationChanges()
    before = store.before(run)
    return None if before is None else relation_changes(before, carried_out(run, journal))


def carried_out(run: str, journal: Journal) -> list[Action]:
    """The actions of a run that were not skipped."""
    done = {name for name, (outcome, _) in journal.outcomes(run).items() if outcome is Outcome.APPLIED}
    return [action for action in parse_plan(journal.run(run).plan).actions if action.id in done]


def _promotions(actions: Sequence[Action]) -> list[Promote | Merge]:
    def promotes(merge: Merge) -> bool:
        marks = [text for text in merge.observations if text.startswith(PROMOTED_MARK)]
        return any(not any(mark in member.text for member in merge.members) for mark in marks)

    return [a for a in actions if isinstance(a, Promote) or (isinstance(a, Merge) and promotes(a))]


def _promotion_line(action: Promote | Merge) -> str:
    name, why = action.survivor or "", action.reason if isinstance(action, Promote) else ""
    if isinstance(action, Merge):
        used, sources = usage(action.observations), len(action.members)
        share = spoken_share(used.effectiveness)
        why = f"promote: {used.uses} uses, effectiveness {share}, united from {sources} memories"
    return f"- {name} ({why}), promoted as {core_place(name, action.category or '')}"


def _folded(actions: Sequence[Action]) -> list[str]:
    """Observations that went because another one of their memory says the same."""
    return [
        f'- {owner_of(member.id)}: "{one_line(member.text)}" is said by "{one_line(item.text)}"'
        for item in actions
        if isinstance(item, Merge) and split_part(item.survivor or "")
        for member in item.members
        if member.id in item.removes
    ]


def _said(action: Action) -> list[str]:
    return next((m.text.split("\n- ")[1:] for m in action.members if m.id == action.survivor), [])


def _table(before: Health, after: Health) -> list[str]:
    rows = [
        ("Total", before.total, after.total),
        ("Orphaned", before.value("orphans"), after.value("orphans")),
        ("Stale", before.value("stale"), after.value("stale")),
    ]
    old, new = before.effectiveness, after.effectiveness
    change = "-" if old is None or new is None else f"{new - old:+.0%}"
    return [
        f"{'':<16}{'before':>8}{'after':>8}{'change':>8}",
        *(f"{name:<16}{was:>8}{now:>8}{now - was:>+8}" for name, was, now in rows),
        f"{'Effectiveness':<16}{spoken_share(old):>8}{spoken_share(new):>8}{change:>8}",
    ]


WEEK = timedelta(days=7)
Data = dict[str, Any]
Look = tuple[Data, list[str]]
_EVIDENCE_ABOVE = 0.25  # similarity from which a memory says something about a belief at all
_SIDES: Mapping[Label, str] = {Label.DUPLICATE: "for", Label.CONTRADICTION: "against"}
_SHOWN = 10
_WORKS = 0.5  # effectiveness from which a memory helps more often than not


def look_back(nodes: Sequence[Node], last: LastRun | None, done: Sequence[Action] = ()) -> Look:
    """What changed since the last run, the greatest first, and what that run united and forgot (`done`)."""
    if last is None:
        return {"since": None}, ["No run to look back to; consolidate first."]
    moves: list[Data] = []
    for node in nodes:
        share, (uses, was) = node.usage.effectiveness, last.memories.get(node.id, (0, None))
        if share is not None and node.id in last.memories and (share != was or node.usage.uses > uses):
            moves.append({"name": node.id, "was": was, "now": share, "uses": node.usage.uses - uses})
    moves.sort(key=lambda move: (-abs(move["now"] - (move["was"] or 0.0)), move["name"]))
    worked = [  # what helps more than before, or as much as before and mostly
        move
        for move in moves
        if (move["now"] >= _WORKS if move["was"] in (None, move["now"]) else move["now"] > move["was"])
    ]
    did_not = [move for move in moves if move not in worked]
    new = sorted({node.id for node in nodes} - set(last.memories))
    merged = [f"{' + '.join(item.removes)} -> {item.survivor}" for item in done if isinstance(item, Merge)]
    forgotten = [name for item in done if isinstance(item, Prune) for name in item.removes]
    lines = [f"Since {last.at:%Y-%m-%d}:"]
    for title, sign, names in (
        ("new", "+", new),
        ("merged by that run", "~", merged),
        ("forgotten by that run", "-", forgotten),
    ):
        lines += [f"  {title}: {len(names)}", *(f"  {sign} {name}" for name in names[:_SHOWN])]
    for title, changed in (("What worked:", worked), ("What did not:", did_not)):
        told = [
            f"  {move['name']}: {'not judged' if move['was'] is None else spoken_share(move['was'])} -> "
            f"{spoken_share(move['now'])}, {move['uses']:+d} uses"
            for move in changed[:_SHOWN]
        ]
        lines += [title, *(told or ["  nothing"])]
    data = {"since": last.at.isoformat(), "new": new, "merged": merged, "forgotten": forgotten}
    return data | {"worked": worked, "did_not": did_not}, lines


def this_week(nodes: Sequence[Node], now: datetime) -> Look:
    """What was learned and what was used this week."""
    since = now - WEEK
    learned = [_use_of(n) for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    used = [_use_of(n) for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]
    lines = [
        f"This week (since {since:%Y-%m-%d}):",
        f"  learned: {len(learned)}",
        *(f"  + {each['name']}" for each in learned[:_SHOWN]),
        f"  used: {len(used)}",
        *(f"  * {_ranked(each)}" for each in used[:_SHOWN]),
    ]
    return {"since": since.isoformat(), "learned": learned, "used": used}, lines


def ranking(nodes: Sequence[Node]) -> Look:
    """Memories with a known effectiveness, best first, then by how often they were used."""
    rows = [_use_of(node) for node in nodes if node.usage.effectiveness is not None]
    rows.sort(key=lambda row: (-row["effectiveness"], -row["uses"], row["name"]))
    head = f"Effectiveness ({len(rows)} of {len(nodes)} memories were judged):"
    return {"memories": rows}, [head, *(f"  {_ranked(each)}" for each in rows)]


def beliefs(core: Sequence[tuple[str, str]], nodes: Sequence[Node], reader: Reader) -> Look:
    """What long-term memory says for and against each core memory, given by name and text."""
    if not core:
        return {"beliefs": []}, ["The core memory is empty, or none was given with --core."]
    parts, texts = [part for node in nodes for part in node.parts], [text for _, text in core]
    vectors = reader.encoder.encode([*texts, *(part.text for part in parts)])
    cosines = vectors[: len(core)] @ vectors[len(core) :].T
    held, lines = list[Data](), [f"Beliefs ({len(core)}):"]
    for row, (name, text) in enumerate(core):
        said: dict[str, list[Data]] = {side: [] for side in _SIDES.values()}
        near = (parts[int(place)] for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE))
        about = {part.id: part for part in near if owner_of(part.id) != name}
        belief = [Memory("0", text, part.scope) for part in parts[:1]]
        pairs = [Candidate("0", part, 0.0) for part in about]
        for verdict in reader.verdicts([*belief, *about.values()], pairs):
            if verdict.label in _SIDES:
                part = about[verdict.pair.b]
                told = {"memory": owner_of(part.id), "observation": part.text}
                said[_SIDES[verdict.label]].append(told)
        held.append({"name": name, **said, "contradicted": bool(said["against"])})
        flag = "  CONTRADICTED" if said["against"] else ""
        lines.append(f"- {name}: {len(said['for'])} for, {len(said['against'])} against{flag}")
        for side, evidence in said.items():
            lines += [f"    {side}: {e['memory']} - {one_line(e['observation'])}" for e in evidence[:_SHOWN]]
    return {"beliefs": held}, lines


def _use_of(node: Node) -> Data:
    return {"name": node.id, "effectiveness": node.usage.effectiveness, "uses": node.usage.uses}


def _ranked(row: Data) -> str:
    return f"{spoken_share(row['effectiveness']):>5}  {row['uses']:>3} uses  {row['name']}"
