"""What the logs of a project say that its memories do not: where each new fact goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ....errors import RefusedChangeError
from ....records import Scope
from ...actions import Append, Member
from ...rules.markdown.signal import Fact, additions, gather, homes, reason, with_entries
from ...stores.markdown.directories import GATHERED, INDEX
from ...stores.markdown.store import WHOLE, MarkdownStore
from .survey import Survey


def present_indexes(store: MarkdownStore) -> dict[str, str]:
    """Present text of each index that may be written."""
    texts: dict[str, str] = {}
    for directory in store.directories:
        path = directory.path / INDEX
        if path.is_symlink() or directory.refusal(path) is not None:
            continue
        try:
            row = store.fetch([f"{directory.name}/{INDEX}"])[f"{directory.name}/{INDEX}"].payload
        except RefusedChangeError:
            continue
        if row["bytes"] is None or row["mode"] & 0o222:
            texts[directory.name] = row["text"]
    return texts


def news_of(
    store: MarkdownStore, survey: Survey, *, now: datetime
) -> tuple[dict[str, Sequence[Fact]], list[Append]]:
    """New facts of each directory's logs: by the memory they belong to, and in a file of their own."""
    placed: dict[str, Sequence[Fact]] = {}
    result = []
    busy = {m.id for action in survey.plan.actions for m in action.members} | set(survey.edits)
    for directory in store.directories:
        mine = [m for m in survey.memories.values() if m.scope.get("directory") == directory.name]
        texts = [replace(memory, text=survey.text(memory.id)) for memory in mine]
        facts = gather(directory, texts, now=now)
        placed_at = homes(facts, [memory for memory in texts if memory.id not in busy])
        placed |= placed_at.memories
        result += _entries(store, directory.name, placed_at.lists, busy)
        addition = _addition(store, directory.name, placed_at.rest, busy)
        result += [addition] if addition else []
    return placed, result


def _entries(
    store: MarkdownStore, name: str, lists: Mapping[str, Mapping[str, Sequence[Fact]]], busy: set[str]
) -> list[Append]:
    """New entries of files of entries; not now where another entry of the file changes, too."""
    result = []
    for file, facts in sorted(lists.items()):
        if any(item.startswith(f"{file}#") for item in busy):
            continue
        whole = f"{file}#{WHOLE}"
        text = store.fetch([whole])[whole].payload["text"]
        result.append(
            Append(
                id=f"n:{file}",
                scope=Scope.of(directory=name),
                category=None,
                members=(Member(whole, text),),
                text=with_entries(text, facts),
                reason=reason(fact for section in facts.values() for fact in section),
            )
        )
    return result


def _addition(store: MarkdownStore, name: str, facts: Sequence[Fact], busy: set[str]) -> Append | None:
    """New facts that belong to no memory; not now if their file, or an index of memories, changes too."""
    file = f"{name}/{GATHERED}"
    directory = next(item for item in store.directories if item.name == name)
    if not facts or any(item.startswith((file, f"{name}/{INDEX}#")) for item in busy):
        return None
    whole = f"{file}#{WHOLE}"
    row = store.fetch([whole])[whole].payload
    current = row["text"] if row["bytes"] is not None else None
    return additions(directory, facts, current=current, whole=whole)
