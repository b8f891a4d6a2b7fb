"""What happens to each directory's MEMORY.md once it is known which memories stay."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ....records import Memory, Scope
from ...actions import Action, Append, Cause, Member, Merge, Reindex
from ...rules.markdown.index_file import (
    LONG_LINE,
    MAX_BYTES,
    MAX_LINES,
    VERBOSE_LINE,
    IndexDraft,
    TopicFile,
    draft_index,
)
from ...stores.markdown.directories import GATHERED, INDEX, MemoryDirectory
from ...stores.markdown.history import hidden_paths, removed_paths
from ...stores.markdown.parsing import parse
from ...stores.markdown.places import file_of
from .survey import Survey

_TITLE = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRules:
    """How much may happen to an index.

    Attributes:
        certain: Only what needs no person: a pointer goes if its file is known to have been removed, and a
            long one is shortened only where the index is above what an agent loads.
        shorten: Shorten all long pointers, and not only the verbose, because that was asked for.
    """

    certain: bool = False
    shorten: bool = False


class _Texts(Protocol):
    """New texts, as the settlement gathers them."""

    @property
    def survey(self) -> Survey:
        """What was found."""
        ...

    def get(self, memory_id: str) -> str:
        """The text as it will read."""
        ...

    def put(self, memory_id: str, text: str, *causes: Cause, reason: str = "") -> None:
        """Change a text."""
        ...


def index_drafts(
    actions: Sequence[Action],
    texts: _Texts,
    *,
    directories: Sequence[MemoryDirectory],
    indexes: Mapping[str, str],
    additions: Sequence[Append],
    rules: IndexRules,
) -> dict[str, IndexDraft]:
    """The new index of each directory; what moves from it into files goes into the texts."""
    by_file: dict[str, list[Memory]] = defaultdict(list)
    for memory in texts.survey.memories.values():
        by_file[file_of(memory.id)].append(memory)
    drafts: dict[str, IndexDraft] = {}
    for directory in directories:
        current = indexes.get(directory.name)
        if rules.certain and not current and not directory.is_loaded:
            current = None
        if current is None or _is_memory(directory, actions, texts, additions):
            drafts[directory.name] = IndexDraft(current or "")
            continue
        draft = _draft(directory, current, actions, texts, by_file=by_file, additions=additions, rules=rules)
        drafts[directory.name] = draft
        for file, detail in draft.demoted.items():
            memory_id = f"{directory.name}/{file}"
            texts.put(memory_id, f"{texts.get(memory_id)}\n\n{detail}", Cause.INDEX)
    return drafts


def index_actions(drafts: Mapping[str, IndexDraft], indexes: Mapping[str, str]) -> list[Reindex]:
    """The change of each index that is not as it should be."""
    changed = [name for name in sorted(drafts) if drafts[name].text != indexes.get(name, "")]
    return [
        Reindex(
            id=f"i{number}",
            scope=Scope.of(directory=name),
            category=None,
            members=(Member(f"{name}/{INDEX}", indexes.get(name, "")),),
            text=drafts[name].text,
            reason=f"{len(drafts[name].removed)} entries removed, {drafts[name].remaining} remaining",
        )
        for number, name in enumerate(changed, 1)
    ]


def _is_memory(
    directory: MemoryDirectory, actions: Sequence[Action], texts: _Texts, additions: Sequence[Append]
) -> bool:
    """Whether the index holds the memories itself: it points to nothing, or they are what changes it."""
    prefix = f"{directory.name}/{INDEX}#"
    own = [memory_id for memory_id in texts.survey.memories if memory_id.startswith(prefix)]
    touched = {member.id for action in actions for member in action.members}
    changed = any(name in touched or texts.get(name) != texts.survey.memories[name].text for name in own)
    gathered = (directory.path / GATHERED).exists() or any(
        item.survivor.startswith(f"{directory.name}/") for item in additions
    )
    return changed or (directory.is_index_alone() and not gathered)


def _draft(
    directory: MemoryDirectory,
    current: str,
    actions: Sequence[Action],
    texts: _Texts,
    *,
    by_file: Mapping[str, Sequence[Memory]],
    additions: Sequence[Append],
    rules: IndexRules,
) -> IndexDraft:
    prefix = f"{directory.name}/"
    files = {prefix + directory.relative(path) for path in directory.topics()}
    removed = {memory_id for action in actions for memory_id in action.removes}
    gone = {memory_id for memory_id in removed if "#" not in memory_id and memory_id in files}
    heirs = {
        loser: file_of(str(action.survivor)).removeprefix(prefix)
        for action in actions
        if isinstance(action, Merge)
        for loser in action.removes
    }
    added = {file_of(item.survivor): item for item in additions if item.survivor.startswith(prefix)}
    topics = [
        _added(file.removeprefix(prefix), added[file])
        if file in added
        else _topic(file.removeprefix(prefix), by_file.get(file, ()), texts)
        for file in sorted((files | set(added)) - gone)
    ]
    full = current.count("\n") > MAX_LINES or len(current.encode("utf-8")) > MAX_BYTES
    longest = LONG_LINE if full or rules.shorten else None if rules.certain else VERBOSE_LINE
    return draft_index(
        current,
        topics,
        title=directory.title,
        gone={file.removeprefix(prefix): heirs.get(file) for file in gone},
        stands=_stands(directory),
        dropped=_gone_for_good(directory.path, certain=rules.certain),
        longest=longest,
        adopt=not rules.certain,
    )


def _stands(directory: MemoryDirectory) -> Callable[[str], bool]:
    """Whether a file exists beside the memories, or from the project's root, in whatever case of the letters.

    Where the index was written names may not differ by case, as on most desktops.
    """
    places = [directory.path, *([directory.project] if directory.project else [])]
    return lambda file: any(_exists(place / file) for place in places)


def _exists(path: Path) -> bool:
    if path.exists():
        return True
    try:
        return any(other.name.casefold() == path.name.casefold() for other in path.parent.iterdir())
    except OSError:
        return False


def _gone_for_good(folder: Path, *, certain: bool) -> Callable[[str], bool]:
    """Whether a file that is not there is gone, and not merely left out of the repository.

    What git ignores may well exist where the index was written; unattended, a commit must have taken the
    file away.
    """

    def gone(file: str) -> bool:
        """Whether one file is gone."""
        return not hidden_paths(folder, [file]) and (not certain or file in removed_paths(folder, [file]))

    return gone


def _topic(file: str, memories: Sequence[Memory], texts: _Texts) -> TopicFile:
    about = memories[0].metadata if memories else {}
    whole = len(memories) == 1 and "#" not in memories[0].id
    text = "\n".join(texts.get(memory.id) for memory in memories)
    heading = _TITLE.search(text)
    return TopicFile(
        file=file,
        name=str(about.get("name") or (heading[1] if heading else "")),
        description=str(about.get("description") or ""),
        text=text,
        open=whole and not memories[0].pinned,
    )


def _added(file: str, addition: Append) -> TopicFile:
    """A file that new facts go into, as it will be."""
    document = parse(addition.text.encode())
    name, description = (str(document.value(key) or "") for key in ("name", "description"))
    return TopicFile(file, name, description, document.body, open=False)
