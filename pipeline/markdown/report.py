"""What a pass over Markdown memories would do, and what it did, in the words of the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from ..plan import Action, Merge, Prune, Resolve, Rewrite
from ..report import Report, clip, one_line
from ..results import RunResult
from ..transcripts import Quotation
from .drift import Freshness
from .settlement import INDEX_REASON, Settled, file_of, removals
from .survey import Survey

PREFIX = "[DRY RUN]"
UNTOUCHED = f"{PREFIX} No files were modified. Run without --dry-run to apply changes."
EMPTY = "Directory empty, nothing to consolidate"
TIGHT = "Nothing changed: your memories are already tight."
TITLE = "## Dream Consolidation Report"
_ENTRY_WIDTH = 60


class MarkdownReport:
    """Renders one settled pass."""

    def __init__(self, survey: Survey, settled: Settled, *, files: int, directories: int) -> None:
        """Bind what is shown.

        Args:
            survey: What was found.
            settled: What is to be done.
            files: Files of memories that were read.
            directories: Directories that were read.
        """
        self._survey = survey
        self._settled = settled
        self._files = files
        self._directories = directories

    def proposals(self) -> list[str]:
        """One line for each change, without prefix."""
        plan = self._settled.plan
        lines = [
            f"Would delete: {self.place(memory_id)} ({self.reason(memory_id, action)})"
            for memory_id, action in removals(plan)
        ]
        for action in plan.actions:
            if isinstance(action, Resolve) and action.choice is None:
                lines.append(f"Would ask: {self.conflict(action)}")
            elif isinstance(action, Merge) and action.rewrites:
                lines.append(
                    f"Would update: {self.place(action.rewrites)} (takes in what only the others say)"
                )
            elif isinstance(action, Rewrite) and action.category != INDEX_REASON:
                verb = "Would add to" if action.id.startswith("n:") else "Would update"
                lines.append(f"{verb}: {self.place(action.survivor)} ({action.reason})")
        for action in plan.rewrites:
            if action.category == INDEX_REASON:
                draft = self._settled.indexes[_directory(action)]
                counts = f"{draft.removed} entries removed, {draft.remaining} remaining"
                lines.append(f"Would rebuild: {action.survivor} ({counts})")
        return lines + [f"Flagged: {self.place(d.memory)} ({d.freshness}: {', '.join(d.missing)})"
                        for d in self._survey.flagged]  # fmt: skip

    def explanations(self) -> list[str]:
        """Texts, scores and evidence behind each merge, conflict and prune."""
        core = Report(self._settled.plan, explain=True)
        return [
            line
            for action in self._settled.plan.actions
            if not isinstance(action, Rewrite)
            for line in (core.line(action), *core.explanation(action))
        ]

    def dry_run(self, quotations: Mapping[str, Sequence[Quotation]], *, explain: bool = False) -> list[str]:
        """The whole dry run, every line prefixed."""
        lines = [*self.proposals(), *self.warnings(), *self.quoted(quotations), *self.current()]
        lines += self.explanations() if explain else []
        return [f"{PREFIX} {line}" for line in lines] + [UNTOUCHED]

    def live(self, result: RunResult, quotations: Mapping[str, Sequence[Quotation]]) -> list[str]:
        """The report after a run."""
        moved = dict(result.moved)
        done = [action for action in self._settled.plan.actions if action.id not in moved and _acted(action)]
        lines = [TITLE, "", "| Metric | Count |", "|---|---|"]
        lines += [f"| {name} | {count} |" for name, count in self._metrics(done)]
        changes = self._changes(done)
        if changes:
            lines += ["", "### Changes Made", "", "| File | Action | Reason |", "|---|---|---|", *changes]
        flagged = self._survey.flagged
        if flagged:
            lines += ["", "### Flagged for Review (PARTIALLY_STALE)", ""]
            lines += ["| File | Missing References |", "|---|---|"]
            lines += [_row(self.place(drift.memory), ", ".join(drift.missing)) for drift in flagged]
        notes = [*self._skipped(moved), *self.warnings(), *self.quoted(quotations), *self.current()]
        lines += ["", *notes] if notes else []
        improved = sum(not _is_index(action) for action in done)
        return [*lines, "", f"Improved {improved} memories" if done else TIGHT]

    def warnings(self) -> list[str]:
        """What a person should look at about the indexes."""
        return [
            f"Warning: {name}/MEMORY.md {warning}; no memory was cut."
            for name, draft in sorted(self._settled.indexes.items())
            for warning in draft.warnings
        ]

    def current(self) -> list[str]:
        """The sentence for memories that are all as they should be."""
        found = self._survey.plan.actions or self._survey.flagged
        count = len(self._survey.memories)
        return [] if found or not count else [f"All {count} memories are current, nothing to prune"]

    def quoted(self, quotations: Mapping[str, Sequence[Quotation]]) -> list[str]:
        """What the transcripts say about memories in doubt."""
        return [
            f"Evidence for {self.place(memory_id)}: {quotation.file}: {one_line(quotation.text)}"
            for memory_id, found in sorted(quotations.items())
            for quotation in found
        ]

    def conflict(self, action: Resolve) -> str:
        """The one line of a conflict."""
        return f'{self.place(action.a[0])} vs {self.place(action.b[0])} — "{action.topic}" [A/B/skip]'

    def place(self, memory_id: str) -> str:
        """The file of a memory; for an entry with the beginning of what it says."""
        memory = self._survey.memories.get(memory_id)
        file = file_of(memory_id)
        if memory is None or file == memory_id:
            return file
        return f'{file}: "{clip(memory.text, _ENTRY_WIDTH)}"'

    def reason(self, memory_id: str, action: Merge | Resolve | Prune) -> str:
        """Why a memory goes, as the original words it."""
        if isinstance(action, Prune):
            return str(Freshness.FULLY_STALE)
        word = "DUPLICATE of" if isinstance(action, Merge) else "CONTRADICTED by"
        survivor = action.survivor or ""
        same = file_of(survivor) == file_of(memory_id)
        return f"{word} {'another entry of ' if same else ''}{PurePosixPath(file_of(survivor)).name}"

    def _metrics(self, done: Sequence[Action]) -> list[tuple[str, int]]:
        survey = self._survey
        removed = [memory_id for action in done for memory_id in action.removes]
        contradicted = {action.survivor for action in done if isinstance(action, Rewrite)} & set(
            self._settled.contradicted
        )
        return [
            ("Directories scanned", self._directories),
            ("Files scanned", self._files),
            ("Stale pruned", sum(isinstance(action, Prune) for action in done)),
            ("Duplicates merged", sum(len(a.removes) for a in done if isinstance(a, Merge))),
            ("Contradictions resolved", sum(isinstance(a, Resolve) for a in done) + len(contradicted)),
            ("Partially stale (kept, flagged)", survey.count(Freshness.PARTIALLY_STALE)),
            ("Evergreen", survey.count(Freshness.EVERGREEN)),
            ("Surviving", len(survey.memories) - len(set(removed))),
            ("Indexes rebuilt", sum(map(_is_index, done))),
        ]

    def _changes(self, done: Iterable[Action]) -> list[str]:
        rows = []
        for action in done:
            if isinstance(action, Rewrite):
                verb = "rebuilt" if action.category == INDEX_REASON else "updated"
                verb = "added to" if action.id.startswith("n:") else verb
                rows.append(_row(self.place(action.survivor), verb, self._why(action)))
                continue
            rows += [_row(self.place(i), "deleted", self.reason(i, action)) for i in action.removes]
            if isinstance(action, Merge) and action.rewrites:
                rows.append(_row(self.place(action.rewrites), "updated", "took in what only the others said"))
        return rows

    def _why(self, action: Rewrite) -> str:
        if action.category != INDEX_REASON:
            return action.reason
        draft = self._settled.indexes[_directory(action)]
        return f"{draft.removed} entries removed, {draft.remaining} remaining"

    def _skipped(self, moved: Mapping[str, str]) -> list[str]:
        return [
            f"Skipped {self.place(action.members[0].id)}: {moved[action.id]}"
            for action in self._settled.plan.actions
            if action.id in moved
        ]


def _is_index(action: Action) -> bool:
    return isinstance(action, Rewrite) and action.category == INDEX_REASON


def _directory(action: Rewrite) -> str:
    return action.scope.get("directory") or ""


def _acted(action: Action) -> bool:
    return bool(action.removes) or isinstance(action, Rewrite)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
