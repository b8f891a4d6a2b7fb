"""All files of instructions and memories of a project, side by side: `md --across`; writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....models.text.words import counted
from ....records import Memory, Scope
from ...judging.statements import Finding, Reader, Statement, findings
from ...rules.markdown.prose import said
from ...stores.markdown.directories import EVERYBODY, ORDER, Loaded, instruction_files, other_places
from ..text import clip, visible

if TYPE_CHECKING:
    from ...judging.cache import Models

_SCOPE = Scope.of(project="all")
_WHEN = {
    "always": "always loaded",
    "index": "its first lines are loaded",
    "described": "its description is loaded",
    "matching": "loaded beside files that it names",
    "asked": "loaded when the agent opens it",
}


@dataclass(frozen=True, slots=True)
class Across:
    """What lies side by side."""

    files: Sequence[Loaded]  # that agents take instructions or memories from, what is loaded most first
    found: Sequence[Finding]  # statements of two files that say the same, or cannot both hold
    unread: Sequence[str]  # folders of the project that may hold memories

    def lines(self) -> list[str]:
        """The report for a person."""
        if not self.files:
            return ["No files of instructions or memories found.", *self._not_read()]
        lines = [*self._loaded()]
        for title, same in (("Said twice", True), ("Contradicting", False)):
            pairs = [each for each in self.found if each.same is same]
            lines += ["", f"{title} ({len(pairs)}):"] if pairs else []
            for each in pairs:
                stays, goes = self._sides(each)
                lines += [f"  {s.memory.id}:{s.line + 1}  {clip(s.text)}" for s in (stays, goes)]
                if same:
                    both = "for two agents: keep both, or let one file import the other"
                    could = f"could go from {goes.memory.id}"
                    lines.append(f"    {could if self._shared(stays, goes) else both}")
        lines += [] if self.found else ["", "Nothing is said twice, and nothing contradicts."]
        return [visible(line) for line in (*lines, *self._not_read())]

    def to_json(self) -> dict[str, Any]:
        """The same for a program."""
        keys = {
            "file": "name",
            "agents": "agents",
            "loaded": "when",
            "tokens": "tokens",
            "lines_cut_off": "cut_off",
        }
        files = [{key: getattr(each, name) for key, name in keys.items()} for each in self.files]
        pairs: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        for each in self.found:
            sides = self._sides(each)
            places = [{"file": s.memory.id, "line": s.line + 1, "text": s.text} for s in sides]
            could = {"could_go": sides[1].memory.id if self._shared(*sides) else None} if each.same else {}
            pairs[each.same].append({"statements": places, **could})
        told = {"said_twice": pairs[True], "contradicting": pairs[False]}
        return {"files": files, **told, "not_read": self.unread}

    def _loaded(self) -> Iterator[str]:
        costs = Counter[str]()
        for file in self.files:
            costs.update(dict.fromkeys(file.agents, file.tokens))
        told = ", ".join(f"{agent} about {count:,}" for agent, count in sorted(costs.items()) if count)
        yield f"{counted(len(self.files), 'file')}. Tokens loaded into every session: {told or 'none'}."
        for file in self.files:
            cost = f", about {file.tokens:,} tokens" if file.tokens else ""
            yield f"  {file.name} ({', '.join(file.agents)}): {_WHEN[file.when]}{cost}"
            if file.cut_off:
                cut = counted(file.cut_off, "line")
                yield f"    cut off after line {file.lines}: the last {cut} are never loaded"

    def _sides(self, found: Finding) -> list[Statement]:
        """What is loaded most should say it; of two that are loaded alike, what says more."""
        loaded = {file.name: ORDER.index(file.when) for file in self.files}
        return sorted(
            (found.a, found.b), key=lambda one: (loaded[one.memory.id], -len(one.text), one.memory.id)
        )

    def _shared(self, stays: Statement, goes: Statement) -> bool:
        agents = {file.name: set(file.agents) for file in self.files}
        left = agents[goes.memory.id] - agents[stays.memory.id]
        return left <= EVERYBODY

    def _not_read(self) -> list[str]:
        told = "Not looked at: {0}; if it holds memories, name it with --memory-dir {0}"
        return ["", *(told.format(place) for place in self.unread)] if self.unread else []


def across(root: Path, models: Models, *, given: Sequence[Path] = (), home: Path | None = None) -> Across:
    """What is loaded of a project and the `given` folders, what is said twice, and what contradicts."""
    files = instruction_files(root, given=given, home=home)
    found = findings(
        [one for file in files for one in _statements(file)],
        Reader(models.read(), models.asked(), models.calibrated),
    )
    seen = {file.name for file in files}
    unread = [place for place in other_places(root) if not any(name.startswith(f"{place}/") for name in seen)]
    return Across(files, [each for each in found if each.a.memory.id != each.b.memory.id], unread)


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
