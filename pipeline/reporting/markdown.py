"""What a pass over Markdown memories would do and did, in the words of the original; and `md --across`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from ...models.text.words import counted
from ...records import Memory, Scope
from ..judging.cache import Models
from ..judging.statements import Reader, Statement, findings
from ..plan import (
    Action,
    Append,
    Cause,
    Merge,
    NewText,
    Plan,
    Prune,
    Reindex,
    Resolve,
    Rewrite,
    RunResult,
    TextChange,
    acts,
)
from ..planning.hooks import Proposal
from ..planning.markdown_follow import follow
from ..planning.markdown_look import MarkdownView, removed_by
from ..rules.markdown_drift import Freshness
from ..rules.markdown_prose import said
from ..stores.markdown import directories as places
from ..stores.markdown.document import file_of
from ..stores.markdown.project import Quotation
from .report import Report, likely
from .text import Marked, changes, clip, day, one_line, visible

PREFIX = "[DRY RUN]"
UNTOUCHED = f"{PREFIX} No files were modified. Run without --dry-run to apply changes."
EMPTY = "Directory empty, nothing to consolidate"
TIGHT = "Nothing changed: your memories are already tight."
TITLE = "## Dream Consolidation Report"
ASKED = "Relative dates and moved paths are proposed to a person; --auto leaves them (dates: --auto --dates)."
_ENTRY_WIDTH = 60
_ALIKE = 3  # from so many equal changes on they are told once, with the files they concern
_VERBS = {Reindex: ("rebuild", "REBUILT"), Append: ("add to", "ADDED TO"), Rewrite: ("update", "UPDATED")}
"""What would be done to a text, and what was done."""


class PlanReport(Report):
    """Renders the changes of a plan, from nothing but the plan."""

    groups = False

    def __init__(self, plan: Plan, *, explain: bool = False) -> None:
        super().__init__(plan, explain=explain)
        self._texts = {member.id: member.text for action in plan.actions for member in action.members}

    def lines(self) -> list[str]:
        """Each change in one line, with its diff below; equal changes of several files are told once."""
        lines: list[str] = []
        removing = [action for action in self._plan.actions if not isinstance(action, TextChange)]
        for cause, gone in ((action, gone) for action in removing for gone in action.removes):
            why = self.reason(gone, cause)
            lines += [f"Would delete: {self.place(gone)} ({why})", *self._lost(gone, cause)]
        for action in removing:
            if isinstance(action, Resolve) and action.choice is None:
                lines += [f"Would ask: {self.question(action)}[A/B/skip]", *self.sides(action)]
            elif isinstance(action, Merge) and action.rewrites:
                place = self.place(action.rewrites)
                lines.append(f"Would update: {place} (takes in what only the others say)")
                lines += changes(self._texts[action.rewrites], action.text)
        for moves, same in self._alike(self._plan.rewrites):
            change, place = same[0], self.place(same[0].survivor)
            if moves:
                lines.append(f"Would update: {len(same)} memories ({change.reason}: {moves})")
                lines.append(self._places(same))
            else:
                lines.append(f"Would {_VERBS[type(change)][0]}: {place} ({change.reason})")
                lines += changes(self._texts[change.survivor], change.text)
        return lines

    def _alike(self, texts: Iterable[NewText]) -> list[tuple[str, list[NewText]]]:
        """New texts, indexes last; those in which the same folders moved are together, with what moved."""
        alike: dict[str, list[NewText]] = defaultdict(list)
        for change in texts:
            alike[_moves(change, self._texts[change.survivor])].append(change)
        many = {key: same for key, same in alike.items() if key and len(same) >= _ALIKE}
        few = [change for key, same in alike.items() if key not in many for change in same]
        return [*many.items(), *(("", [x]) for x in sorted(few, key=lambda each: isinstance(each, Reindex)))]

    def _places(self, same: Iterable[NewText]) -> str:
        return f"    {', '.join(self.place(change.survivor) for change in same)}"

    def _counts(self) -> list[tuple[Any, ...]]:
        plan = self._plan
        return [(len(plan.merges), "merge"), (len(plan.prunes), "prune"), (len(plan.rewrites), "update")]

    def question(self, conflict: Resolve) -> str:
        """What a person is asked about a conflict."""
        ids = (conflict.a[0], conflict.b[0])
        a, b = map(visible, conflict.places) if conflict.places else map(self.place, ids)
        return f'{self._place(conflict)}{a} vs {b} — "{one_line(conflict.topic)}" '

    def sides(self, conflict: Resolve) -> list[str]:
        """Both sentences of a conflict, in full, with the dates of their files."""
        ids = (conflict.a[0], conflict.b[0])
        days = {member.id: day(member.stated_at) for member in conflict.members}
        said = conflict.said or tuple(self._texts[name] for name in ids)
        return [
            f"  {side}: {days[name]}  {one_line(text)}{likely(conflict, side)}"
            for side, name, text in zip("AB", ids, said, strict=True)
        ]

    def place(self, memory_id: str) -> str:
        """The file of a memory; for an entry with the beginning of what it says."""
        file = file_of(memory_id)
        text = self._texts.get(memory_id) if memory_id != file else None
        if text is None or memory_id.endswith("#whole-file"):
            return visible(file)
        return f'{visible(file)}: "{clip(text, _ENTRY_WIDTH)}"'

    def reason(self, memory_id: str, action: Merge | Resolve | Prune) -> str:
        """Why a memory goes, as the original words it."""
        if isinstance(action, Prune):
            return one_line(action.detail) or str(Freshness.FULLY_STALE)
        return "{} {}".format(*self._lost_to(memory_id, action))

    def _lost_to(self, memory_id: str, action: Merge | Resolve) -> tuple[str, str]:
        survivor = file_of(action.survivor or "")
        same = "another entry of " if survivor == file_of(memory_id) else ""
        word = "DUPLICATE of" if isinstance(action, Merge) else "CONTRADICTED by"
        return word, same + visible(PurePosixPath(survivor).name)

    def _lost(self, memory_id: str, action: Action) -> list[str]:
        stays = isinstance(action, Merge) and memory_id in action.exact
        return ["    the same text stays"] if stays else changes(self._texts[memory_id], "")


class MarkdownReport(PlanReport):
    """Renders one settled pass."""

    tells = True

    def __init__(
        self, proposal: Proposal, *, evidence: Mapping[str, Sequence[Quotation]], explain: bool = False
    ) -> None:
        super().__init__(proposal.plan, explain=explain)
        view, present = proposal.findings, proposal.present  # as this kind gave them
        self._view: MarkdownView = view
        self._indexes = follow(proposal.plan, present)[1]
        self._texts = {memory.id: memory.text for memory in view.stored.values()} | self._texts
        self._directories = len(present.directories)
        self._files = sum(len(d.topics()) + d.is_index_alone() for d in present.directories)
        self._notes = [visible(note) for note in left_out(present.directories)]
        self._evidence = evidence

    def opening(self, *, asks: bool) -> list[str]:  # noqa: ARG002
        """What a person is shown before the questions."""
        return [*self.lines(), *self.remarks(), *self.doubtful(), *self._explained()]

    def changed(self, before: Report) -> list[str]:
        """The changes that follow from the answers and were not shown yet."""
        known, blocks = set(before.lines()), list[list[str]]()
        for line in self.lines():
            blocks += [] if line.startswith("  ") else [[]]
            blocks[-1].append(line)
        return [line for block in blocks if not set(block) <= known for line in block]

    def dry_run(self) -> list[str]:
        """The whole dry run: what would be done, and the report of it."""
        shown = [f"{PREFIX} {line}" if line.startswith("Would ") else line for line in self.lines()]
        causes = {cause for a in self._plan.rewrites if isinstance(a, Rewrite) for cause in a.causes}
        asked = [ASKED] if causes & {Cause.DATES, Cause.PATHS} else []
        lines = [UNTOUCHED, *shown, *asked, *self._table(self._plan.actions, applied=False)]
        lines += [*self.remarks(), *self._current(), *self.doubtful(), *self._explained()]
        return [*(line if isinstance(line, Marked) else line.rstrip() for line in lines), *self._gaps()]

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:  # noqa: ARG002
        """The report after a run."""
        moved = dict(result.moved)
        done = [action for action in self._plan.actions if action.id not in moved and acts(action)]
        lines = self._table(done, applied=True)
        skipped = [action for action in self._plan.actions if action.id in moved]
        notes = [f"Skipped {self.place(a.members[0].id)}: {visible(moved[a.id])}" for a in skipped]
        left = [c for c in self._plan.conflicts if c.choice is None]
        count = counted(len(left), "conflict is", "conflicts are")
        notes += [f"{count} open; run without --auto to choose:"] if left else []
        for conflict in left:
            notes += [self.question(conflict).rstrip(), *self.sides(conflict)]
        notes += [*self.remarks(), *self._current(), *self.doubtful()]
        lines += ["", *notes] if notes else []
        improved = counted(sum(not isinstance(action, Reindex) for action in done), "memory", "memories")
        return [*lines, "", f"Improved {improved}" if done else TIGHT]

    def remarks(self) -> list[str]:
        """What a person should look at: indexes, files left out, what transcripts say."""
        told = ((name, each) for name, draft in sorted(self._indexes.items()) for each in draft.warnings)
        warnings = [f"Warning: {visible(name)}/MEMORY.md {one_line(warning)}" for name, warning in told]
        found = ((name, each) for name, quoted in sorted(self._evidence.items()) for each in quoted)
        evidence = [f"Evidence for {self.place(n)}: {visible(q.file)}: {one_line(q.text)}" for n, q in found]
        return [*warnings, *self._notes, *evidence]

    def _explained(self) -> list[str]:
        actions = [a for a in self._plan.actions if self._explain and not isinstance(a, TextChange)]
        return [line for action in actions for line in (self.line(action), *self.explanation(action))]

    def _table(self, done: Iterable[Action], *, applied: bool) -> list[str]:
        done = [action for action in done if acts(action)]
        lines = [TITLE, "", "| Metric | Count |", "|--------|-------|"]
        lines += [f"| {name} | {count} |" for name, count in self._metrics(done).items()]
        alike = self._alike(action for action in done if isinstance(action, NewText))
        together = [(moves, same) for moves, same in alike if moves]
        told = {change.id for _, same in together for change in same}
        made = [row for action in done if action.id not in told for row in self._changes(action)]
        rows = [f"| {len(same)} memories | UPDATED | {same[0].reason}: {moves} |" for moves, same in together]
        rows += [_row(place, how, why) for place, how, why, _ in made]
        if rows:
            lines += ["", "### Changes Made" if applied else "### Changes", ""]
            lines += ["| File | Action | Reason |", "|------|--------|--------|", *rows]
        if applied:
            lines += [line for moves, same in together for line in ("", f"{moves}:", self._places(same))]
            lines += [line for place, _, _, shown in made for line in ("", f"{place}:", *shown)]
        flagged = self._view.flagged(self._plan)
        if flagged:
            lines += ["", "### Flagged for Review (PARTIALLY_STALE)", ""]
            lines += ["| File | Missing References |", "|------|-------------------|"]
        away = [_folders(drift.moved) if len(drift.moved) == len(drift.missing) else "" for drift in flagged]
        many = {moved: times for moved, times in Counter(away).items() if moved and times >= _ALIKE}
        lines += [f"| {times} memories | {moved} |" for moved, times in many.items()]
        for drift in (drift for drift, moved in zip(flagged, away, strict=True) if moved not in many):
            gone = (
                path if " (now " in path else "`{}`{}{} no longer exists".format(*path.partition(" ("))
                for path in drift.missing
            )
            lines.append(_row(self.place(drift.memory), visible(", ".join(gone))))
        return lines

    def _current(self) -> list[str]:
        count = len(self._view.stored)
        any_change = any(not isinstance(action, TextChange) for action in self._plan.actions)
        if any_change or self._view.flagged(self._plan) or not count:
            return []
        return [f"All {counted(count, 'memory is', 'memories are')} current, nothing to prune"]

    def _metrics(self, done: Sequence[Action]) -> dict[str, int]:
        causes = [cause for a in done if isinstance(a, Rewrite) for cause in a.causes]
        merged = sum(len(a.removes) for a in done if isinstance(a, Merge))
        resolved = sum(isinstance(a, Resolve) for a in done)
        states = [drift.freshness for drift in self._view.drift.values()]
        return {
            "Memory directories scanned": self._directories,
            "Total memory files scanned": self._files,
            "Stale entries pruned": sum(isinstance(action, Prune) for action in done),
            "Duplicates merged": merged + causes.count(Cause.DUPLICATE),
            "Contradictions resolved": resolved + causes.count(Cause.CONTRADICTION),
            "Partially stale (kept, flagged)": len(self._view.flagged(self._plan)),
            "Evergreen (no external refs)": states.count(Freshness.EVERGREEN),
            "Surviving memories": len(self._view.stored) - len(removed_by(done)),
            "MEMORY.md indexes rebuilt": sum(isinstance(action, Reindex) for action in done),
        }

    def _changes(self, action: Action) -> list[tuple[str, str, str, list[str]]]:
        """Of each memory: its place, what was done to it, why, and its lines that go and come."""
        if isinstance(action, TextChange):
            rows, how, why = [], _VERBS[type(action)][1], one_line(action.reason)
        else:
            reasons = [(name, self._full_reason(name, action)) for name in action.removes]
            rows = [(self.place(i), "DELETED", reason, self._lost(i, action)) for i, reason in reasons]
            how, why = "UPDATED", "took in what only the others said"
        if isinstance(action, Merge | TextChange) and action.rewrites:
            shown = changes(self._texts[action.rewrites], action.text)
            rows.append((self.place(action.rewrites), how, why, shown))
        return rows

    def _full_reason(self, memory_id: str, action: Merge | Resolve | Prune) -> str:
        if isinstance(action, Prune):
            drift = self._view.drift.get(memory_id)
            if drift is None or drift.freshness is not Freshness.FULLY_STALE:
                return one_line(action.detail)
            return f"Fully stale: all referenced files removed ({one_line(', '.join(drift.missing))})"
        word, survivor = self._lost_to(memory_id, action)
        return f"{word.capitalize()} `{survivor}`"


def left_out(directories: Iterable[places.MemoryDirectory]) -> list[str]:
    """Files that are not read, with the reason."""
    refused = ((each, path, reason) for each in directories for path, reason in each.refused())
    return [f"Skipped {each.name}/{each.relative(path)}: it {reason}" for each, path, reason in refused]


def _moves(change: TextChange, before: str) -> str:
    """Which folders the paths of a text moved between, if that is all that happens to it."""
    old, new = before.split(), change.text.split()
    if not isinstance(change, Rewrite) or change.causes != (Cause.PATHS,) or len(old) != len(new):
        return ""
    moved = [(a.strip("`*_(),.;:"), b.strip("`*_(),.;:")) for a, b in zip(old, new, strict=True) if a != b]
    return _folders(dict(moved))


def _folders(moved: Mapping[str, str]) -> str:
    folders = {(PurePosixPath(old).parent, PurePosixPath(new).parent) for old, new in moved.items()}
    return visible("; ".join(f"{old}/ -> {new}/" for old, new in sorted(folders)))


def _row(file: str, *cells: str) -> str:
    name, mark, rest = file.partition(": ")
    first = f"`{name}`{mark}{rest}"
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (first, *cells)) + " |"


_SCOPE = Scope.of(project="all")
_WHEN = {
    "always": "always loaded",
    "index": "its first lines are loaded",
    "described": "its description is loaded",
    "matching": "loaded beside files that it names",
    "asked": "loaded when the agent opens it",
}


def across(
    root: Path, models: Models, *, given: Sequence[Path] = (), home: Path | None = None
) -> tuple[dict[str, Any], list[str]]:
    """What of a project and the `given` folders is loaded, said twice, or contradicts: as JSON and lines."""
    files = {file.name: file for file in places.instruction_files(root, given=given, home=home)}
    unread = [x for x in places.other_places(root) if not any(name.startswith(f"{x}/") for name in files)]
    reader = Reader(models.read(), models.asked(), models.calibrated)
    pairs: dict[bool, list[dict[str, Any]]] = {True: [], False: []}

    def place(one: Statement) -> tuple[int, int, str]:
        """What is loaded most should say it; of two that are loaded alike, what says more."""
        return places.ORDER.index(files[one.memory.id].when), -len(one.text), one.memory.id

    for each in findings([one for file in files.values() for one in _statements(file)], reader):
        sides = stays, goes = sorted((each.a, each.b), key=place)
        if stays.memory.id != goes.memory.id:
            told = [{"file": s.memory.id, "line": s.line + 1, "text": s.text} for s in sides]
            left = set(files[goes.memory.id].agents) - set(files[stays.memory.id].agents)
            could = {"could_go": goes.memory.id if left <= places.EVERYBODY else None} if each.same else {}
            pairs[each.same].append({"statements": told, **could})
    loaded = [
        {"file": each.name, "agents": each.agents, "loaded": each.when}
        | {"tokens": each.tokens, "lines_cut_off": each.cut_off}
        for each in files.values()
    ]
    both = {"said_twice": pairs[True], "contradicting": pairs[False]}
    data = {"files": loaded, **both, "not_read": unread}
    return data, [visible(line) for line in _across_lines(files.values(), data)]


def _across_lines(files: Collection[places.Loaded], data: Mapping[str, Any]) -> list[str]:
    told = "Not looked at: {0}; if it holds memories, name it with --memory-dir {0}"
    unread = ["", *map(told.format, data["not_read"])] if data["not_read"] else []
    if not files:
        return ["No files of instructions or memories found.", *unread]
    costs = Counter[str]()
    for file in files:
        costs.update(dict.fromkeys(file.agents, file.tokens))
    each = ", ".join(f"{agent} about {count:,}" for agent, count in sorted(costs.items()) if count)
    lines = [f"{counted(len(files), 'file')}. Tokens loaded into every session: {each or 'none'}."]
    for file in files:
        cost = f", about {file.tokens:,} tokens" if file.tokens else ""
        lines.append(f"  {file.name} ({', '.join(file.agents)}): {_WHEN[file.when]}{cost}")
        if file.cut_off:
            cut = counted(file.cut_off, "line")
            lines.append(f"    cut off after line {file.lines}: the last {cut} are never loaded")
    for title, pairs in (("Said twice", data["said_twice"]), ("Contradicting", data["contradicting"])):
        lines += ["", f"{title} ({len(pairs)}):"] if pairs else []
        for pair in pairs:
            lines += [f"  {s['file']}:{s['line']}  {clip(s['text'])}" for s in pair["statements"]]
            if "could_go" in pair:
                both = "for two agents: keep both, or let one file import the other"
                lines.append(f"    could go from {pair['could_go']}" if pair["could_go"] else f"    {both}")
    nothing = (
        []
        if data["said_twice"] or data["contradicting"]
        else ["", "Nothing is said twice, and nothing contradicts."]
    )
    return [*lines, *nothing, *unread]


def _statements(file: places.Loaded) -> list[Statement]:
    memory = Memory(file.name, file.text, _SCOPE)
    return [
        Statement(
            memory,
            each.text,
            each.words,
            subject=each.heading[-1] if each.heading else "",
            line=each.line,
            row=each.kind == "table",
            block="\0".join((file.name, *each.heading)),
        )
        for each in said(file.text)
    ]
