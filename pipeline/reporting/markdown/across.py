"""All files of instructions and memories of a project, side by side: `md --across`; writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....records import Memory, Scope
from ...judging.statements import Finding, Reader, Statement, findings
from ...rules.markdown.prose import said
from ...stores.markdown.directories import other_places
from ...stores.markdown.layouts import ORDER, Loaded, instruction_files
from ..text import clip, counted, visible

if TYPE_CHECKING:
    from ...judging.models import Models

_SCOPE = Scope.of(project="all")
_WHEN = {
    "always": "always loaded",
    "index": "its first lines are loaded",
    "described": "its description is loaded",
    "matching": "loaded beside files that it names",
    "asked": "loaded when the agent opens it",
}


def across(root: Path, models: Models, *, home: Path | None = None) -> list[str]:
    """Lines about what is loaded, what is said twice, and what contradicts, each with file and line."""
    files = instruction_files(root, home=home)
    if not files:
        return ["No files of instructions or memories found."]
    found = findings(
        [one for file in files for one in _statements(file)],
        Reader(models.read(), models.asked(), models.calibrated),
    )
    apart = [each for each in found if each.a.memory.id != each.b.memory.id]
    loaded = {file.name: file for file in files}
    lines = [*_told(files), *_twice([each for each in apart if each.same], loaded)]
    against = [each for each in apart if not each.same]
    lines += ["", f"Contradicting ({len(against)}):"] if against else []
    for each in against:
        lines += [_placed(each.a), _placed(each.b)]
    lines.append("")
    seen = {file.name for file in files}
    for place in other_places(root):
        if not any(name.startswith(f"{place}/") for name in seen):
            lines.append(f"Not looked at: {place}; if it holds memories, name it with --memory-dir {place}")
    return [visible(line) for line in lines]


def _statements(file: Loaded) -> list[Statement]:
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


def _told(files: Sequence[Loaded]) -> list[str]:
    tokens = sum(file.tokens for file in files)
    lines = [f"{counted(len(files), 'file')}, about {tokens:,} tokens loaded into every session:"]
    for file in files:
        cost = f", about {file.tokens:,} tokens" if file.tokens else ""
        lines.append(f"  {file.name} ({file.agent}): {_WHEN[file.when]}{cost}")
        if file.cut_off:
            cut = counted(file.cut_off, "line")
            lines.append(f"    cut off after line {file.lines}: the last {cut} are never loaded")
    return lines


def _twice(found: Sequence[Finding], files: dict[str, Loaded]) -> list[str]:
    lines = ["", f"Said twice ({len(found)}):"] if found else []
    for each in found:
        # What is loaded most should say it; of two that are loaded alike, what says more.
        stays, goes = sorted(
            (each.a, each.b),
            key=lambda one: (ORDER.index(files[one.memory.id].when), -len(one.text), one.memory.id),
        )
        lines += [_placed(stays), _placed(goes), f"    could go from {goes.memory.id}"]
    return lines


def _placed(statement: Statement) -> str:
    return f"  {statement.memory.id}:{statement.line + 1}  {clip(statement.text)}"
