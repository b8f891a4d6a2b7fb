"""The diff report, as text: what would change, and on request why.

One form for every reader: the interactive run, the dry run and a saved plan print the same lines.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from ...records import Scope, Verdict
from ..actions import Action, Member, Merge, Prune, Resolve, TextChange
from ..plan import Plan
from ..results import RunResult, UndoResult
from .marks import Marked, Tone, marked
from .spoken_evidence import spoken

TITLE = "## dream — consolidation report"
NOTHING_STORED = "No memories found. Nothing to consolidate."
NOTHING_FOUND = "Dream complete. No duplicate, contradictory, or stale memories found."
NOTHING_CERTAIN = "Dream complete. Nothing is certain enough to propose."
NOTHING_NEW = "Dream complete. Nothing new to propose."
CANCELLED = "Cancelled. No changes made."
TEXT_WIDTH = 100
"""Characters of a merged text in the report."""
EXPLAINED_WIDTH = 1_000
"""Characters of a text with --explain: longer ones are documents, too long for a terminal."""
_ID_WIDTH = 8
_NAMED = ("md", "graph")
"""Kinds of stores whose ids are names."""


class Report:
    """Renders one plan; ids are shortened as far as they stay unique within it."""

    def __init__(self, plan: Plan, *, explain: bool = False, texts: bool = False) -> None:
        """Prepare the short ids.

        Args:
            plan: What to show.
            explain: Add texts, scores and evidence under each line.
            texts: Add the texts of what is to go for good, even without `explain`.
        """
        self._with_texts = texts
        self._plan = plan
        self._explain = explain
        self._members: dict[str, Member] = {m.id: m for action in plan.actions for m in action.members}
        doubtful = (member.id for action in plan.unsure for member in action.members)
        apart = (memory_id for a, b, _ in plan.apart for memory_id in (a, b)) if explain else ()
        ids = [*self._members, *doubtful, *apart]
        self._short = spoken_ids(ids, plan.kind)

    def lines(self) -> list[str]:
        """The whole report but for its last line, which asks or states."""
        lines = [TITLE, ""]
        many = len({action.scope for action in self._plan.actions}) > 1
        for scope in dict.fromkeys(action.scope for action in sorted(self._plan.actions, key=_scope)):
            sections = self._sections(scope)
            lines += [f"Scope {scope}", *sections, ""] if many else sections
        if self._explain and self._plan.apart:
            lines.append(f"Equal words that stay apart ({len(self._plan.apart)}):")
            lines += [f"{self.label(a)} / {self.label(b)} — {why}" for a, b, why in self._plan.apart]
        return [_safe(line) for line in lines]

    def proposal(self) -> str:
        """The line with the totals."""
        merges, prunes, conflicts = self._plan.merges, self._plan.prunes, self._plan.conflicts
        changes = f", {len(self._plan.rewrites)} changes" if self._plan.rewrites else ""
        return f"Proposed: {len(merges)} merges, {len(prunes)} prunes, {len(conflicts)} conflicts{changes}."

    def label(self, memory_id: str) -> str:
        """A memory's short name, such as `[mem0:1f2e3d4c]`."""
        return f"[{self._plan.kind}:{self._short.get(memory_id, memory_id)}]"

    def line(self, action: Action) -> str:
        """The one line that stands for an action."""
        return visible(self._line(action))

    def _line(self, action: Action) -> str:
        if isinstance(action, Merge):
            joined = " + ".join(self.label(member.id) for member in _survivor_first(action))
            return f'{joined} -> "{clip(action.text)}"'
        if isinstance(action, Resolve):
            answer = f"[{action.choice.upper()} stays]" if action.choice else "[A/B/skip]"
            return f'{self.label(action.a[0])} vs {self.label(action.b[0])} — "{action.topic}" {answer}'
        if isinstance(action, TextChange):
            return f"{self.label(action.survivor)} — {action.reason}"
        if action.junk:
            text = clip(action.members[0].text)
            return f'{self.label(action.members[0].id)} — {action.reason}: {action.detail}: "{text}"'
        age = f"{action.age_days}d old" if action.age_days is not None else "age unknown"
        return f"{self.label(action.members[0].id)} — {action.category or 'uncategorised'}, {age}"

    def explanation(self, action: Action) -> list[str]:
        """What is under an action's line with --explain."""
        return [_safe(line) for line in (*self._texts_of(action), *self._behind(action))]

    def _behind(self, action: Action) -> list[str]:
        """What is said about the texts of an action."""
        if isinstance(action, Prune):
            return ["    because: " + ", ".join(filter(None, (action.reason, action.detail)))]
        if isinstance(action, TextChange):
            return []
        lines = [line for verdict in action.verdicts for line in self._why(verdict)]
        if isinstance(action, Merge):
            return [f"    {_what_stays(action, self.label)}", *lines]
        if action.newer:
            return [f"    {action.newer.upper()} was stated later and is the likely winner", *lines]
        return lines

    def _texts_of(self, action: Action) -> list[str]:
        """A line for each memory, the words marked that differ from what it is held against."""
        texts = {member.id: explained(member.text) for member in action.members}
        lines: list[str] = []
        for member in _in_order(action):
            head = visible(
                f"    {_side(action, member.id)}{self.label(member.id)} {_day(member.stated_at)}  "
            )
            tone: Tone = "stays" if _stays(action, member.id) else "goes"
            held = [texts[name] for name in _held_against(action, member.id)]
            lines.append(marked(texts[member.id], held, tone=tone).behind(head))
        return lines

    def unsure_lines(self) -> list[str]:
        """What only a person can decide; --auto never touches it."""
        lines = [f"Unsure ({len(self._plan.unsure)}):"] if self._plan.unsure else []
        for action in self._plan.unsure:
            lines += [self.line(action), *self.explanation(action)]
        return [_safe(line) for line in lines]

    def _sections(self, scope: Scope) -> list[str]:
        lines: list[str] = []
        for name, actions in self._parts():
            here = [action for action in actions if action.scope == scope]
            if here:
                lines.append(f"{name} ({len(here)}):")
            for action in here:
                lines.append(self.line(action))
                lines += [*self._difference(action), *_disagreements(action)]
                if self._with_texts and not self._explain and isinstance(action, Prune) and not action.junk:
                    lines.append(f"    {one_line(action.members[0].text)}")
                lines += self.explanation(action) if self._explain else []
        return lines

    def _parts(self) -> list[tuple[str, Sequence[Action]]]:
        """The sections of a scope."""
        return [
            ("Merges", self._plan.merges),
            ("Conflicts", self._plan.conflicts),
            ("Prune", self._plan.prunes),
            ("Changes", self._plan.rewrites),
        ]

    def _difference(self, action: Action) -> list[str]:
        """What a memory that stays loses and gains, line by line; a person sees it before it happens."""
        if not isinstance(action, Merge | TextChange) or not action.rewrites:
            return []
        before = next(member.text for member in action.members if member.id == action.survivor)
        compared = difflib.ndiff(before.splitlines(), action.text.splitlines())
        return [f"    {line}" for line in compared if line[:1] in "-+"]

    def _why(self, verdict: Verdict) -> list[str]:
        duplicate, contradiction, distinct = verdict.probabilities
        forward, backward = verdict.entailment
        pair = f"{self._name(verdict.pair.a)} ~ {self._name(verdict.pair.b)}"
        scores = (
            f"    {pair}: {verdict.label}; duplicate {duplicate:.2f}, contradiction {contradiction:.2f}, "
            f"distinct {distinct:.2f}; entails {forward:.2f} -> / {backward:.2f} <-; "
            f"cosine {verdict.pair.cosine:.2f}"
        )
        evidence = spoken(verdict.evidence)
        return [scores] + ([f"    evidence: {evidence}"] if evidence else [])

    def _name(self, memory_id: str) -> str:
        return self.label(memory_id) if memory_id in self._short else "[merged]"


def spoken_ids(ids: Iterable[str], kind: str) -> dict[str, str]:
    """Ids as a person reads them; a path or a name stays whole, for cut off it would name another one."""
    return {memory_id: memory_id for memory_id in ids} if kind in _NAMED else short_ids(ids)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Shorten ids to the fewest leading characters, at least eight, that tell all of them apart.

    >>> short_ids(["aaaaaaaaaa1", "aaaaaaaaaa2"])
    {'aaaaaaaaaa1': 'aaaaaaaaaa1', 'aaaaaaaaaa2': 'aaaaaaaaaa2'}
    """
    unique = sorted(set(ids))
    longest = max(map(len, unique), default=0)
    for width in range(_ID_WIDTH, longest):
        if len({memory_id[:width] for memory_id in unique}) == len(unique):
            return {memory_id: memory_id[:width] for memory_id in unique}
    return {memory_id: memory_id for memory_id in unique}


def one_line(text: str) -> str:
    """The text with white space collapsed and every other control character as its escape."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""The text with an escape for each character that could forge, colour or turn round a line.

    Everything foreign that is shown to a person goes through here, whatever shows it.

    >>> visible("red \x1b[31m alert, \u202e turned")
    'red \\x1b[31m alert, \\u202e turned'
    """
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def clip(text: str, width: int = TEXT_WIDTH) -> str:
    """One line of at most `width` characters, with an ellipsis where it was cut."""
    flat = one_line(text)
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def explained(text: str) -> str:
    """A text in full, or its beginning with its length if it is a document."""
    whole = one_line(text)
    if len(whole) <= EXPLAINED_WIDTH:
        return whole
    return f"{clip(whole, EXPLAINED_WIDTH)} ({len(text):,} characters)"


def summary(result: RunResult) -> str:
    """The line after an interactive run."""
    return (
        f"Dream complete — merged: {result.merged}, pruned: {result.pruned}, "
        f"conflicts resolved: {result.resolved}, skipped: {result.skipped}"
    )


def auto_summary(result: RunResult, *, conflicts: int) -> str:
    """The one line of an unattended run."""
    return f"[mem0-dream --auto] merged={result.merged} pruned={result.pruned} conflicts_skipped={conflicts}"


def moved_lines(result: RunResult, plan: Plan, report: Report) -> list[str]:
    """Actions that were not applied because the store had moved on."""
    actions: Mapping[str, Action] = {action.id: action for action in plan.actions}
    return [
        visible(f"Skipped {report.line(actions[name])}: {reason}")
        for name, reason in result.moved
        if name in actions
    ]


def undo_summary(result: UndoResult) -> str:
    """The line after an undo."""
    return f"Run {result.run} taken back — restored: {result.restored}, withdrawn: {result.withdrawn}"


def _safe(line: str) -> str:
    """A line without foreign controls; one with marks is made of such text, and keeps them."""
    return line if isinstance(line, Marked) else visible(line)


def _scope(action: Action) -> Scope:
    return action.scope


def _stays(action: Action, memory_id: str) -> bool:
    """Whether a text is what stays of a merge, or what was said later in a conflict."""
    if isinstance(action, Resolve):
        return memory_id in action.b
    return memory_id == action.survivor


def _held_against(action: Action, memory_id: str) -> list[str]:
    """The memories that a memory's words are compared with."""
    if isinstance(action, Resolve):
        return [action.b[0] if memory_id in action.a else action.a[0]]
    if not isinstance(action, Merge):
        return []
    others = [member.id for member in action.members if member.id != memory_id]
    return [action.survivor] if action.survivor in others else others


def _in_order(action: Action) -> list[Member]:
    """Members as they are shown: A before B in a conflict."""
    if not isinstance(action, Resolve):
        return list(action.members)
    place = {memory_id: number for number, memory_id in enumerate((*action.a, *action.b))}
    return sorted(action.members, key=lambda member: place[member.id])


def _side(action: Action, memory_id: str) -> str:
    if not isinstance(action, Resolve):
        return ""
    return "A: " if memory_id in action.a else "B: "


def _survivor_first(action: Merge) -> list[Member]:
    return sorted(action.members, key=lambda member: (member.id != action.survivor, member.id))


def _what_stays(action: Merge, label: Callable[[str], str]) -> str:
    if action.survivor is None:
        return f"all are replaced by: {explained(action.text)}"
    if action.rewrites:
        return f"{label(action.survivor)} stays, and then says: {explained(action.text)}"
    return f"{label(action.survivor)} says it all and stays as it is"


def _disagreements(action: Action) -> list[str]:
    """Metadata on which the members of a merge do not agree."""
    if not isinstance(action, Merge):
        return []
    expiry = []
    if action.expires is not None:
        expiry = [f"    expires: {action.expires or 'no longer'}"]
    return expiry + [
        f"    {one_line(key)}: {' / '.join(clip(str(value)) for value in values)} (all kept, the last counts)"
        for key, values in sorted(action.disagreements.items())
    ]


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else "no date"
