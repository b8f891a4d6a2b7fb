"""Whether what a memory refers to is still there. Only a proven absence of everything prunes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..records import Memory
from .code_index import CodeIndex, build_index
from .references import References, find_references


class Freshness(StrEnum):
    """How a memory's references stand against the code base."""

    FRESH = "FRESH"
    PARTIALLY_STALE = "PARTIALLY_STALE"
    FULLY_STALE = "FULLY_STALE"
    EVERGREEN = "EVERGREEN"


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of one memory's references.

    Attributes:
        memory: Its id.
        freshness: The outcome.
        missing: What was not found, files first; a moved file names its likely new place.
        terms: Narrow words to search transcripts for.
        located: A missing reference says where in the project it was: a path, not a bare name, which
            may as well belong to a library or another program.
    """

    memory: str
    freshness: Freshness
    missing: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    located: bool = False


def check_drift(
    memories: Sequence[Memory], *, root: Path, directories: Mapping[str, Path]
) -> dict[str, Drift]:
    """Check all references of all memories against one index of the project.

    Args:
        memories: Of any directory.
        root: The project.
        directories: Where each memory directory is, by its name.
    """
    named = {memory.id: find_references(memory) for memory in memories if _judged(memory)}
    wanted = {symbol for refs in named.values() for symbol in (*refs.symbols, *refs.hints)}
    if not any(refs.checkable for refs in named.values()):
        return {memory.id: Drift(memory.id, Freshness.EVERGREEN) for memory in memories}
    index = build_index(root.resolve(), wanted, without=directories.values())
    return {
        memory.id: assess(
            memory.id,
            named.get(memory.id, References()),
            index,
            beside=directories.get(memory.scope.get("directory") or ""),
        )
        for memory in memories
    }


def assess(memory: str, refs: References, index: CodeIndex, *, beside: Path | None = None) -> Drift:
    """Judge one memory by its references."""
    files = [path for path in refs.files if index.has_file(path, beside=beside) or index.checkable(path)]
    if not files and not refs.symbols:
        return Drift(memory, Freshness.EVERGREEN)
    gone = [path for path in files if not index.has_file(path, beside=beside)]
    moved = {path: place for path in gone if (place := index.moved(path))}
    unknown = [symbol for symbol in refs.symbols if symbol not in index.symbols]
    missing = tuple(
        [f"{path} (now {moved[path]}?)" if path in moved else path for path in gone]
        + [f"{symbol}()" if symbol[:1].islower() else symbol for symbol in unknown]
    )
    if not missing:
        return Drift(memory, Freshness.FRESH)
    found = len(files) + len(refs.symbols) - len(gone) - len(unknown)
    # A file that merely moved, or a known class named in passing, is no proof that the fact is gone.
    near = any(index.has_file(path, beside=beside) for path in refs.mentioned)
    stands = bool(found or moved or near or index.symbols.intersection(refs.hints))
    freshness = Freshness.PARTIALLY_STALE if stands else Freshness.FULLY_STALE
    located = any("/" in path for path in gone)
    return Drift(memory, freshness, missing, tuple(dict.fromkeys([*gone, *unknown])), located)


def _judged(memory: Memory) -> bool:
    return bool(memory.metadata.get("frontmatter"))
