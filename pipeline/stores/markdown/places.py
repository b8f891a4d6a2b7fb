"""Names of memories and of the files they stand in."""

from __future__ import annotations


def file_of(memory_id: str) -> str:
    """The file in which a memory stands.

    >>> file_of(".claude/memory/notes.md#0123456789")
    '.claude/memory/notes.md'
    """
    head, mark, _ = memory_id.rpartition("#")
    return head if mark and head.endswith(".md") else memory_id


def has_entry(memory_id: str) -> bool:
    """Whether an id names an entry; a file may have `#` in its name too."""
    head, _, tail = memory_id.rpartition("#")
    return head.endswith(".md") and len(tail) >= 10 and "/" not in tail and "#" not in head
