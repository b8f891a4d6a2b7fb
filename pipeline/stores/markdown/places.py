"""Names of memories and of the files they stand in."""

from __future__ import annotations


def file_of(memory_id: str) -> str:
    """The file in which a memory stands.

    >>> file_of(".claude/memory/notes.md#0123456789")
    '.claude/memory/notes.md'
    """
    head, mark, _ = memory_id.rpartition("#")
    return head if mark and head.endswith(".md") else memory_id
