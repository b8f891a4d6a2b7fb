"""What a pass over Markdown memories would do, and what it did, in the words of the original.

Every change is shown in full, as a diff, before it is made: to a person, or in the log of an unattended run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath

from ...actions import Action, Append, Cause, Merge, Prune, Reindex, Resolve, Rewrite, TextChange, acts
from ...plan import Plan
from ...planning.doubts import open_question
from ...planning.markdown.settlement import Settled, removals
from ...planning.markdown.survey import Survey
from ...planning.proposal import Proposal
from ...results import RunResult
from ...rules.markdown.drift import Freshness
from ...stores.markdown.directories import MemoryDirectory
from ...stores.markdown.places import file_of
from ...stores.markdown.transcripts import Quotation
from ..marks import Marked
from ..passing import PassReport, likely
from ..report import clip, one_line, visible
from .differences import changes

PREFIX = "[DRY RUN]"
UNTOUCHED = f"{PREFIX} No files were modified. Run without --dry-run to apply changes."
EMPTY = "Directory empty, nothing to consolidate"
TIGHT = "Nothing changed: your memories are already tight."
TITLE = "## Dream Consolidation Report"
ASKED = "Relative dates and moved paths are proposed to a person; --auto leaves them (dates: --auto --dates)."
_ENTRY_WIDTH = 60


class PlanReport(PassReport):
    """Renders the changes of a plan, from nothing but the plan."""

    def __init__(self, plan: Plan, *, explain: bool = False) -> None:
        """Bind what is shown; see `Report`."""
        super().__init__(plan, explain=explain)
        self._texts = {member.id: member.text for action in plan.actions for member in action.members}

    def lines(self) -> list[str]:
        """Each change in one line, with its diff below."""
        lines = [
            line
            for memory_id, action in removals(self._plan)
            for line in (
                f"Would delete: {self.place(memory_id)} ({self.reason(memory_id, action)})",
                *self._lost(memory_id, action),
            )
        ]
        for action in self._plan.actions:
            if isinstance(action, Resolve) and action.choice is None:
                lines += [f"Would ask: {self.conflict(action)}", *self.sides(action)]
            elif isinstance(action, Merge) and action.rewrites:
                lines.append(
                    f"Would update: {self.place(action.rewrites)} (takes in what only the others say)"
                )
                lines += changes(self._texts[action.rewrites], action.text)
        for change in sorted(self._plan.rewrites, key=lambda action: isinstance(action, Reindex)):
            lines.append(f"Would {_verb(change)[0]}: {self.place(change.survivor)} ({change.reason})")
            lines += changes(self._texts[change.survivor], change.text)
        return lines

    def proposal(self) -> str:
        """The line with the totals."""
        plan = self._plan
        counts = f"{len(plan.merges)} merges, {len(plan.prunes)} prunes, {len(plan.rewrites)} updates"
        return f"Proposed: {counts}."

    def question(self, conflict: Resolve) -> str:
        """What a person is asked about a conflict."""
        return self.conflict(conflict).removesuffix("[A/B/skip]")

    def conflict(self, action: Resolve) -> str:
        """The one line of a conflict."""
        return (
            f'{self.place(action.a[0])} vs {self.place(action.b[0])} — "{one_line(action.topic)}" [A/B/skip]'
        )

    def sides(self, conflict: Resolve) -> list[str]:
        """Both sentences of a conflict, in full."""
        said = conflict.said or (self._texts[conflict.a[0]], self._texts[conflict.b[0]])
        return [
            f"  {side}: {one_line(text)}{likely(conflict, side)}"
            for side, text in zip("AB", said, strict=True)
        ]

    def place(self, memory_id: str) -> str:
        """The file of a memory; for an entry with the beginning of what it says."""
        file = shown(file_of(memory_id))
        text = self._texts.get(memory_id) if memory_id != file_of(memory_id) else None
        return (
            file
            if text is None or memory_id.endswith("#whole-file")
            else f'{file}: "{clip(text, _ENTRY_WIDTH)}"'
        )

    def reason(self, memory_id: str, action: Merge | Resolve | Prune) -> str:
        """Why a memory goes, as the original words it."""
        if isinstance(action, Prune):
            return one_line(action.detail) or str(Freshness.FULLY_STALE)
        word = "DUPLICATE of" if isinstance(action, Merge) else "CONTRADICTED by"
        return f"{word} {self._winner(memory_id, action)}"

    def _winner(self, memory_id: str, action: Merge | Resolve) -> str:
        survivor = file_of(action.survivor or "")
        same = "another entry of " if survivor == file_of(memory_id) else ""
        return same + shown(PurePosixPath(survivor).name)

    def _lost(self, memory_id: str, action: Action) -> list[str]:
        """What a removed memory says, unless the very same text stays."""
        if isinstance(action, Merge) and memory_id in action.exact:
            return ["    the same text stays"]
        return changes(self._texts[memory_id], "")


class MarkdownReport(PlanReport):
    """Renders one settled pass."""

    def __init__(
        self,
        proposal: Proposal,
        *,
        directories: Sequence[MemoryDirectory],
        evidence: Mapping[str, Sequence[Quotation]],
        explain: bool = False,
    ) -> None:
        """Bind what is shown.

        Args:
            proposal: What is to be done, and what was found.
            directories: Where the memories are.
            evidence: What transcripts say, by memory.
            explain: Add texts, scores and evidence.
        """
        super().__init__(proposal.plan, explain=explain)
        self._survey: Survey = proposal.findings.survey
        self._settled: Settled = proposal.findings.settled
        self._texts = {memory.id: memory.text for memory in self._survey.memories.values()} | self._texts
        self._files = sum(len(directory.topics()) + directory.is_index_alone() for directory in directories)
        self._directories = len(directories)
        self._notes = [visible(note) for note in left_out(directories)]
        self._evidence = evidence

    @property
    def idle(self) -> bool:
        """Never: findings are reported even where nothing changes."""
        return False

    @property
    def confirms(self) -> bool:
        """Whether anything changes."""
        return any(map(acts, self._plan.actions))

    def opening(self, *, asks: bool) -> list[str]:  # noqa: ARG002
        """What a person is shown before the questions."""
        return [*self.lines(), *self.remarks(), *(self.explanations() if self._explain else [])]

    def changed(self, before: PassReport) -> list[str]:
        """The changes that follow from the answers and were not shown yet."""
        known, blocks = set(before.lines()), list[list[str]]()
        for line in self.lines():
            if not line.startswith("  "):
                blocks.append([])
            blocks[-1].append(line)
        return [line for block in blocks if not set(block) <= known for line in block]

    def explanations(self) -> list[str]:
        """Texts, scores and evidence behind each merge, conflict and prune."""
        lines = [
            line
            for action in self._plan.actions
            if not isinstance(action, TextChange)
            for line in (self.line(action), *self.explanation(action))
        ]
        return [*lines, *self.unsure_lines()]

    def dry_run(self) -> list[str]:
        """The whole dry run, every line prefixed: what would be done, and the report of it."""
        lines = [*self.lines(), *self.asked()]
        lines += [*self.table(self._plan.actions, applied=False), *self.remarks(), *self.current()]
        lines += self.doubts()
        lines += self.explanations() if self._explain else []
        return [UNTOUCHED, *map(_prefixed, lines), *self._gaps()]

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:  # noqa: ARG002
        """The report after a run."""
        moved = dict(result.moved)
        done = [action for action in self._plan.actions if action.id not in moved and acts(action)]
        lines = self.table(done, applied=True)
        notes = [*self._skipped(moved), *self.open(), *self.remarks(), *self.current()]
        notes += self.doubts()
        lines += ["", *notes] if notes else []
        improved = sum(not isinstance(action, Reindex) for action in done)
        return [*lines, "", f"Improved {improved} memories" if done else TIGHT]

    def skipped(self, result: RunResult) -> list[str]:  # noqa: ARG002
        """Nothing more: the report says so."""
        return []

    def table(self, done: Iterable[Action], *, applied: bool) -> list[str]:
        """The summary of the original: counts, changes, and what is flagged."""
        done = [action for action in done if acts(action)]
        lines = [TITLE, "", "| Metric | Count |", "|--------|-------|"]
        lines += [f"| {name} | {count} |" for name, count in self._metrics(done)]
        rows = self._changes(done)
        if rows:
            lines += ["", "### Changes Made" if applied else "### Changes", ""]
            lines += ["| File | Action | Reason |", "|------|--------|--------|", *rows]
        if applied:
            lines += [line for action in done for line in self._diff(action)]
        flagged = self._survey.flagged
        if flagged:
            lines += ["", "### Flagged for Review (PARTIALLY_STALE)", ""]
            lines += ["| File | Missing References |", "|------|-------------------|"]
            lines += [_row(self.place(drift.memory), _missing(drift.missing)) for drift in flagged]
        return lines

    def asked(self) -> list[str]:
        """How many questions only a person is asked."""
        causes = {
            cause for action in self._plan.rewrites if isinstance(action, Rewrite) for cause in action.causes
        }
        return [ASKED] if causes & {Cause.DATES, Cause.PATHS} else []

    def open(self) -> list[str]:
        """Conflicts that are left to a person, both sides shown."""
        left = [c for c in self._plan.conflicts if c.choice is None]
        if not left:
            return []
        lines = [f"{len(left)} conflicts are open; run without --auto to choose:"]
        for conflict in left:
            lines += [self.conflict(conflict).removesuffix(" [A/B/skip]"), *self.sides(conflict)]
        return lines

    def remarks(self) -> list[str]:
        """What a person should look at: indexes, files left out, what transcripts say."""
        warnings = [
            f"Warning: {shown(name)}/MEMORY.md {one_line(warning)}"
            for name, draft in sorted(self._settled.indexes.items())
            for warning in draft.warnings
        ]
        return [*warnings, *self._notes, *self.quoted()]

    def doubts(self) -> list[str]:
        """How many pairs are left to a person, and how to see them."""
        left = open_question(self._plan.unsure)
        return [f"{left}: --review"] if left else []

    def current(self) -> list[str]:
        """The sentence for a pass that finds nothing to change."""
        any_change = self._survey.plan.actions or self._survey.flagged or self._survey.cuts.texts
        count = len(self._survey.memories)
        return [] if any_change or not count else [f"All {count} memories are current, nothing to prune"]

    def quoted(self) -> list[str]:
        """What the transcripts say about memories in doubt."""
        return [
            f"Evidence for {self.place(memory_id)}: {shown(quotation.file)}: {one_line(quotation.text)}"
            for memory_id, quotations in sorted(self._evidence.items())
            for quotation in quotations
        ]

    def _metrics(self, done: Sequence[Action]) -> list[tuple[str, int]]:
        survey = self._survey
        removed = [memory_id for action in done for memory_id in action.removes]
        contradicted = {action.survivor for action in done if isinstance(action, Merge | TextChange)} & set(
            self._settled.contradicted
        )
        return [
            ("Memory directories scanned", self._directories),
            ("Total memory files scanned", self._files),
            ("Stale entries pruned", sum(isinstance(action, Prune) for action in done)),
            ("Duplicates merged", sum(len(a.removes) for a in done if isinstance(a, Merge))),
            ("Contradictions resolved", sum(isinstance(a, Resolve) for a in done) + len(contradicted)),
            ("Partially stale (kept, flagged)", survey.count(Freshness.PARTIALLY_STALE)),
            ("Evergreen (no external refs)", survey.count(Freshness.EVERGREEN)),
            ("Surviving memories", len(survey.memories) - len(set(removed))),
            ("MEMORY.md indexes rebuilt", sum(isinstance(action, Reindex) for action in done)),
        ]

    def _changes(self, done: Iterable[Action]) -> list[str]:
        rows = []
        for action in done:
            if isinstance(action, TextChange):
                rows.append(_row(self.place(action.survivor), _verb(action)[1], one_line(action.reason)))
                continue
            rows += [_row(self.place(i), "DELETED", self._full_reason(i, action)) for i in action.removes]
            if isinstance(action, Merge) and action.rewrites:
                rows.append(_row(self.place(action.rewrites), "UPDATED", "took in what only the others said"))
        return rows

    def _full_reason(self, memory_id: str, action: Merge | Resolve | Prune) -> str:
        """The reason as it stands in the table of changes."""
        if isinstance(action, Prune):
            missing = one_line(", ".join(self._survey.drift[memory_id].missing))
            return f"Fully stale: all referenced files removed ({missing})"
        word = "Duplicate of" if isinstance(action, Merge) else "Contradicted by"
        return f"{word} `{self._winner(memory_id, action)}`"

    def _diff(self, action: Action) -> list[str]:
        """What a change did to each text, for the log of an unattended run."""
        lines: list[str] = []
        for memory_id in action.removes:
            lines += ["", f"{self.place(memory_id)}:", *self._lost(memory_id, action)]
        if isinstance(action, Merge | TextChange) and action.rewrites:
            place = self.place(action.rewrites)
            lines += ["", f"{place}:", *changes(self._texts[action.rewrites], action.text)]
        return lines

    def _skipped(self, moved: Mapping[str, str]) -> list[str]:
        return [
            f"Skipped {self.place(action.members[0].id)}: {visible(moved[action.id])}"
            for action in self._plan.actions
            if action.id in moved
        ]


def left_out(directories: Iterable[MemoryDirectory]) -> list[str]:
    """Files that are not read, with the reason."""
    return [
        f"Skipped {directory.name}/{directory.relative(path)}: it {reason}"
        for directory in directories
        for path, reason in directory.refused()
    ]


def shown(name: str) -> str:
    """A name with its line breaks and control characters written out."""
    return visible(name)


def _prefixed(line: str) -> str:
    if isinstance(line, Marked):
        return line.behind(f"{PREFIX} ")
    return f"{PREFIX} {line}".rstrip()


def _verb(action: TextChange) -> tuple[str, str]:
    """What would be done to a text, and what was done."""
    if isinstance(action, Reindex):
        return "rebuild", "REBUILT"
    return ("add to", "ADDED TO") if isinstance(action, Append) else ("update", "UPDATED")


def _missing(missing: Iterable[str]) -> str:
    return ", ".join(
        f"`{shown(path)}` no longer exists" if " (now " not in path else shown(path) for path in missing
    )


def _row(file: str, *cells: str) -> str:
    name, mark, rest = file.partition(": ")
    first = f"`{name}`{mark}{rest}"
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (first, *cells)) + " |"
