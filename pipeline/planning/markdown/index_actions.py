"""What happens to each directory's MEMORY.md once it is known which memories stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from ....models.markdown_blocks import markdown_lines
from ....records import Memory, Scope
from ...actions import Action, Append, Cause, Member, Merge, Reindex
from ...answers import line_key
from ...rules.markdown.index_file import (
    LONG_LINE,
    MAX_BYTES,
    MAX_LINES,
    VERBOSE_LINE,
    IndexDraft,
    TopicFile,
    counted,
    draft_index,
)
from ...stores.markdown.directories import GATHERED, INDEX, MemoryDirectory
from ...stores.markdown.document import parse
from ...stores.markdown.history import hidden_paths, removed_paths
from ...stores.markdown.rows import file_of, whole_id
from .look import Present, Texts, is_over


def index_drafts(
    actions: Sequence[Action], texts: Texts, present: Present, *, additions: Sequence[Append], certain: bool
) -> dict[str, IndexDraft]:
    """The new index of each directory; what moves from it into files goes into the texts.

    Args:
        actions: What will be done.
        texts: The texts as they will read.
        present: The directories as they are.
        additions: Files that take in new facts.
        certain: Only what needs no person: a pointer goes if its file is known to have been removed, and a
            long one is shortened only where the index is above what an agent loads.
    """
    drafts: dict[str, IndexDraft] = {}
    for directory in present.directories:
        current = present.indexes.get(directory.name)
        if certain and not current and not directory.is_loaded:
            current = None
        own = [item for item in additions if item.survivor.startswith(f"{directory.name}/")]
        cut = any(item.survivor == whole_id(f"{directory.name}/{INDEX}") for item in own)
        if current is None or cut or _is_memory(directory, actions, texts, own):
            drafts[directory.name] = IndexDraft([], text=current or "")
            continue
        draft = _draft(directory, current, actions, texts, additions=own, present=present, certain=certain)
        drafts[directory.name] = draft
        for file, detail in draft.demoted.items():
            memory_id = f"{directory.name}/{file}"
            texts.put(memory_id, f"{texts.get(memory_id)}\n\n{detail}", Cause.INDEX)
    return drafts


def index_actions(drafts: Mapping[str, IndexDraft], indexes: Mapping[str, str]) -> list[Reindex]:
    """The change of each index that is not as it should be."""
    return [
        Reindex(
            id=f"i:{name}",
            scope=Scope.of(directory=name),
            category=None,
            members=(Member(whole_id(f"{name}/{INDEX}"), indexes.get(name, "")),),
            text=draft.text,
            reason=f"{counted(len(draft.removed), 'entry', 'entries')} removed, {draft.remaining} remaining",
        )
        for name, draft in sorted(drafts.items())
        if draft.text != indexes.get(name, "")
    ]


def _is_memory(
    directory: MemoryDirectory, actions: Sequence[Action], texts: Texts, additions: Sequence[Append]
) -> bool:
    """Whether the index holds the memories itself: it points to nothing, or they are what changes it."""
    own = [name for name in texts.memories if name.startswith(f"{directory.name}/{INDEX}#")]
    touched = {member.id for action in actions for member in action.members}
    changed = any(name in touched or texts.get(name) != texts.memories[name].text for name in own)
    gathered = (directory.path / GATHERED).exists() or additions
    return changed or (directory.is_index_alone() and not gathered)


def _draft(
    directory: MemoryDirectory,
    current: str,
    actions: Sequence[Action],
    texts: Texts,
    *,
    additions: Sequence[Append],
    present: Present,
    certain: bool,
) -> IndexDraft:
    prefix = f"{directory.name}/"
    by_file: dict[str, list[Memory]] = defaultdict(list)
    for memory in texts.memories.values():
        by_file[file_of(memory.id)].append(memory)
    files = {prefix + directory.relative(path) for path in directory.topics()}
    gone = {name for action in actions for name in action.removes if name in files}
    heirs = {
        loser: file_of(str(action.survivor)).removeprefix(prefix)
        for action in actions
        if isinstance(action, Merge)
        for loser in action.removes
    }
    added = {file_of(item.survivor): item for item in additions}
    topics = [
        _added(file.removeprefix(prefix), added[file])
        if file in added
        else _topic(file.removeprefix(prefix), by_file.get(file, ()), texts)
        for file in sorted((files | set(added)) - gone)
    ]
    index = whole_id(f"{prefix}{INDEX}")

    def stands(file: str) -> bool:
        """Whether a file exists beside the memories, or from the project's root, in whatever case."""
        return any(_exists(place / file) for place in (directory.path, directory.project) if place)

    def dropped(file: str) -> bool:
        # what git leaves out may exist elsewhere
        hidden = hidden_paths(directory.path, [file])
        return not hidden and (not certain or file in removed_paths(directory.path, [file]))

    def drafted(longest: int | None) -> IndexDraft:
        """The index, with pointers above so many characters shortened."""
        return draft_index(
            current,
            topics,
            title=directory.title,
            gone={file.removeprefix(prefix): heirs.get(file) for file in gone},
            stands=stands,
            dropped=dropped,
            longest=longest,
            adopt=not certain,
            refused=lambda line: line_key(index, line) in present.refused,
        )

    too_large = _is_too_large(current)
    if present.shorten or too_large:
        draft = drafted(LONG_LINE)
        if present.shorten or not _is_too_large(draft.text):
            return draft  # shortening was asked for, or reaches the limit
    return drafted(None if certain or too_large else VERBOSE_LINE)


def _is_too_large(index: str) -> bool:
    return index.count("\n") > MAX_LINES or len(index.encode("utf-8")) > MAX_BYTES


def _exists(path: Path) -> bool:
    """Where an index was written names may not differ by case, as on most desktops."""
    if path.exists():
        return True
    try:
        return any(other.name.casefold() == path.name.casefold() for other in path.parent.iterdir())
    except OSError:
        return False


def _topic(file: str, memories: Sequence[Memory], texts: Texts) -> TopicFile:
    about = memories[0].metadata if memories else {}
    whole = len(memories) == 1 and "#" not in memories[0].id
    text = "\n".join(texts.get(memory.id) for memory in memories)
    title = next((line.text[line.said :] for line in markdown_lines(text) if line.level == 1), "")
    return TopicFile(
        file=file,
        name=str(about.get("name") or title.strip("# ")),
        description=str(about.get("description") or ""),
        text=text,
        open=whole and not memories[0].pinned,
        retired=any(map(is_over, memories)),
    )


def _added(file: str, addition: Append) -> TopicFile:
    """A file that new facts go into, as it will be."""
    document = parse(addition.text.encode())
    name, description = (str(document.value(key) or "") for key in ("name", "description"))
    return TopicFile(file, name, description, document.body, open=False)
