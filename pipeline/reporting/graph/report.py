"""What a pass proposes and what it did, in the form of the original skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ...actions import Action, Merge, Promote, Prune, Relate, Rewrite, TextChange
from ...plan import Plan
from ...planning.graph.relation_plan import RelationChanges, shown
from ...planning.graph.relations import Edge
from ...results import RunResult
from ...rules.graph.nodes import Node
from ...rules.graph.settings import GraphSettings
from ...stores.graph.core_memory import core_place
from ...stores.graph.text import RELATIONS, of_observations, owner_of, parse_entity_text, split_part
from ...stores.graph.usage import PROMOTED_MARK, usage
from ..passing import PassReport
from ..report import one_line, visible
from .health import Health, _shown

_MANY = 20
"""Orphans that are listed by name."""

_FEW = 5
"""Relations to names without a line that are listed unasked."""


class GraphReport(PassReport):
    """The diff of a graph: names in full, and the rewrites too."""

    def __init__(
        self,
        plan: Plan,
        *,
        explain: bool = False,
        relations: RelationChanges | None = None,
        open_relations: Sequence[Edge] = (),
    ) -> None:
        """Show a plan; see `Report`.

        Args:
            plan: What to show.
            explain: Add texts, scores and evidence under each line.
            relations: What the plan does to relations.
            open_relations: Relations to names without a line, which stay.
        """
        super().__init__(plan, explain=explain)
        self._short = {name: name for name in self._short}
        self._relations = relations or RelationChanges()
        self._open = open_relations

    def lines(self) -> list[str]:
        """The report, with sections for promotions and relations."""
        return [*super().lines(), *self._rewrites(), *self.relation_lines()]

    def relation_lines(self) -> list[str]:
        """Every relation that the plan adds, moves or removes."""
        lines = [f"Relations ({self._relations.counts}):"] if self._relations else []
        return [visible(line) for line in (*lines, *self._relations.lines)]

    def open_lines(self) -> list[str]:
        """Relations to names without a line: listed, and left as they are."""
        if not self._open:
            return []
        listed = self._open if self._explain else self._open[:_FEW]
        more = len(self._open) - len(listed)
        return [
            f"Relations to names without a line ({len(self._open)}): kept; --repair-relations removes them.",
            *(visible(f"  {shown(edge)}") for edge in listed),
            *([f"  and {more} more; --explain lists all"] if more else []),
        ]

    def proposal(self) -> str:
        """The line with the totals."""
        repairs = _repairs(self._plan.actions)
        counts = (
            (len(self._plan.merges), "merges"),
            (len(self._plan.prunes), "prunes"),
            (len(self._plan.conflicts), "conflicts"),
            (len(promotions(self._plan.actions)), "promotions"),
            (self._relations.total, "changes of relations"),
            (len(repairs), "repairs"),
        )
        return f"Proposed: {', '.join(f'{count} {name}' for count, name in counts if count)}."

    def _parts(self) -> list[tuple[str, Sequence[Action]]]:
        """Rewrites have sections of their own."""
        return super()._parts()[:-1]

    def _difference(self, action: Action) -> list[str]:  # noqa: ARG002  (an entity is no text of lines)
        return []

    def explanation(self, action: Action) -> list[str]:
        """What is under an action's line with --explain; the survivor of a merge gains observations."""
        lines = super().explanation(action)
        if not isinstance(action, Merge) or action.survivor is None or of_observations(action):
            return lines
        before = next(member.text for member in action.members if member.id == action.survivor)
        new = [text for text in _observations(action.text) if text not in _observations(before)]
        stays = f"    {self.label(action.survivor)} stays" + (", with these added:" if new else "")
        place = len(action.members)
        return [*lines[:place], stays, *(f"      + {one_line(text)}" for text in new), *lines[place + 1 :]]

    def _line(self, action: Action) -> str:
        line = super()._line(action)
        # What is forgotten is agreed to on these figures.
        return f"{line}; {action.detail}" if isinstance(action, Prune) and action.detail else line

    def _rewrites(self) -> list[str]:
        actions = [item for item in self._plan.rewrites if not isinstance(item, Relate)]
        lines = [f"Changed ({len(actions)}):"] if actions else []
        for item in actions:
            lines.append(visible(f"[{self._plan.kind}:{_owner(item)}] — {item.reason}"))
            lines += [visible(f"    {line}") for line in _difference(item)]
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """One pass that was applied.

    Attributes:
        plan: What was proposed.
        result: What was done.
        before: Health before.
        after: Health afterwards.
        nodes: Entities before, by name.
        orphans: Entities without a relation afterwards.
        previous: When the run before this one was; None if there was none.
        at: When this one began.
        took: How long it took.
        archive: Where forgotten memories went.
        relations: What became of relations.
    """

    plan: Plan
    result: RunResult
    before: Health
    after: Health
    nodes: Mapping[str, Node]
    orphans: Sequence[str]
    previous: datetime | None
    at: datetime
    took: timedelta
    archive: str
    relations: RelationChanges = field(default_factory=RelationChanges)

    @property
    def done(self) -> tuple[Action, ...]:
        """Actions that were applied."""
        moved = {name for name, _ in self.result.moved}
        return tuple(action for action in self.plan.actions if action.id not in moved)


def passed_lines(passed: Passed, settings: GraphSettings) -> list[str]:
    """The report of a pass."""
    merges = [item for item in passed.done if isinstance(item, Merge) and not of_observations(item)]
    prunes = [item for item in passed.done if isinstance(item, Prune)]
    lines = ["# Memory Consolidation Report", "", *_head(passed), "", "## Summary"]
    lines += _summary(passed, merges, prunes)
    lines += _section("Merges Performed", [_merge_line(item) for item in merges])
    lines += _section(
        "Promoted to Core Memory",
        [
            f"- {_owner(item)} ({_why_promoted(item)}), promoted as {_promoted_as(item)}"
            for item in promotions(passed.done)
        ],
    )
    changed = [f"- {_owner(item)}: {item.reason}" for item in _repairs(passed.done)]
    lines += _section("Changed", [*changed, *_said_once(passed)])
    lines += _section("Relationships", passed.relations.lines)
    lines += _section("Forgotten", [line for item in prunes for line in _forgotten(item, passed)])
    lines += _section("Orphaned", [f"- {name}" for name in passed.orphans[:_MANY]] + _more(passed.orphans))
    lines += _after(passed)
    again = f"- Run it again in {settings.due_after.days} days"
    lines += _section("Recommendations", [again, *(f"- {text}" for text in passed.after.recommendations)])
    lines += ["", "## Next triggers", *_triggers(passed, settings)]
    return [visible(line) for line in lines]


def promotions(actions: Sequence[Action]) -> list[Promote | Merge]:
    """Actions that put a memory into the core memory."""
    return [
        action
        for action in actions
        if isinstance(action, Promote) or (isinstance(action, Merge) and _promotes(action))
    ]


def _head(passed: Passed) -> list[str]:
    previous = f"{passed.previous:%Y-%m-%d %H:%M} UTC" if passed.previous else "never"
    return [
        f"Date: {passed.at:%Y-%m-%d %H:%M} UTC",
        f"Previous Consolidation: {previous}",
        f"Duration: {passed.took.total_seconds():.1f} s",
        *([f"Run: {passed.result.run}"] if passed.result.run else []),
    ]


def _summary(passed: Passed, merges: Sequence[Merge], prunes: Sequence[Prune]) -> list[str]:
    merged = sum(len(item.removes) for item in merges)
    return [
        f"- Memories analysed: {passed.before.total}",
        f"- Memories merged: {merged} into {len(merges)}",
        f"- Promoted to core: {len(promotions(passed.done))}",
        f"- Forgotten (archived): {len(prunes)}",
        f"- Relationships created: {len(passed.relations.added)}",
        f"- Relationships moved: {len(passed.relations.moved)}",
        f"- Relationships removed: {len(passed.relations.removed)}",
        f"- Conflicts resolved: {passed.result.resolved}",
        f"- Orphans: {len(passed.orphans)}",
    ]


def _merge_line(action: Merge) -> str:
    similarity = max((verdict.pair.cosine for verdict in action.verdicts), default=0.0)
    return f"- {' + '.join(action.removes)} -> {action.survivor} (similarity {similarity:.2f})"


def _said_once(passed: Passed) -> list[str]:
    """Observations that went because another one of their memory says the same."""
    merges = [item for item in passed.done if isinstance(item, Merge) and of_observations(item)]
    return [
        f'- {owner_of(item)}: "{one_line(member.text)}" is said by "{one_line(item.text)}"'
        for item in merges
        for member in item.members
        if member.id in item.removes
    ]


def _forgotten(action: Prune, passed: Passed) -> list[str]:
    node = passed.nodes[action.members[0].id]
    last = node.usage.last_used.date().isoformat() if node.usage.last_used else "never"
    return [
        f"- {node.id}: age {action.age_days} d, last used {last}, {node.usage.uses} uses; {action.detail}",
        f"  archived in {passed.archive}; back with: mem0-dream restore",
    ]


def _after(passed: Passed) -> list[str]:
    before, after = passed.before, passed.after
    rows = [("Total", before.total, after.total)]
    rows += [
        (name, before.value(key), after.value(key))
        for name, key in (
            ("Orphaned", "orphans"),
            ("Stale", "stale"),
        )
    ]
    lines = ["", "## Health After Consolidation", f"{'':<16}{'before':>8}{'after':>8}{'change':>8}"]
    lines += [f"{name:<16}{old:>8}{new:>8}{new - old:>+8}" for name, old, new in rows]
    old, new = before.effectiveness, after.effectiveness
    change = f"{new - old:+.0%}" if old is not None and new is not None else "-"
    lines.append(f"{'Effectiveness':<16}{_shown(old, '{:.0%}'):>8}{_shown(new, '{:.0%}'):>8}{change:>8}")
    return lines


def _triggers(passed: Passed, settings: GraphSettings) -> list[str]:
    return [
        f"- more than {settings.max_memories} memories (now {passed.after.total})",
        f"- {settings.due_after.days} days from now ({passed.at + settings.due_after:%Y-%m-%d})",
        f"- {settings.due_new} new memories",
    ]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", *(lines or ["none"])]


def _more(names: Sequence[str]) -> list[str]:
    return [f"- and {len(names) - _MANY} more"] if len(names) > _MANY else []


def _promotes(action: Merge) -> bool:
    """Whether what a merge unites is promoted with it."""
    if of_observations(action):
        return False
    before = {text for member in action.members for text in _observations(member.text)}
    return any(text.startswith(PROMOTED_MARK) and text not in before for text in _observations(action.text))


def _why_promoted(action: Promote | Merge) -> str:
    if isinstance(action, Promote):
        return action.reason
    used = usage(_observations(action.text))
    share = _shown(used.effectiveness, "{:.0%}")
    return f"promote: {used.uses} uses, effectiveness {share}, united from {len(action.members)} memories"


def _repairs(actions: Sequence[Action]) -> list[Rewrite]:
    """Texts that are mended."""
    return [item for item in actions if isinstance(item, Rewrite)]


def _difference(action: TextChange) -> list[str]:
    """The observations that a rewrite adds and removes; a memory may have said one of them twice."""
    try:
        before, after = _observations(action.members[0].text), _observations(action.text)
    except ValueError:  # unreadable lines have no observations
        return []
    gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return [
        f"{sign} {one_line(text)}" for sign, rows in (("-", gone), ("+", new)) for text in rows.elements()
    ]


def _promoted_as(action: Promote | Merge) -> str:
    return core_place(_owner(action), action.category or "")


def _observations(text: str) -> tuple[str, ...]:
    return parse_entity_text(text)[1]


def _owner(action: Action) -> str:
    if isinstance(action, Merge) and action.survivor is not None:
        return action.survivor
    memory_id = action.members[0].id
    part = split_part(memory_id)
    return part[0] if part is not None and part[1] == RELATIONS else memory_id
