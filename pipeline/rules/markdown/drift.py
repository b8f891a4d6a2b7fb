"""Whether the files and symbols that a memory names still exist. Only their proven absence makes it stale.

A path is gone if the history of this very repository had it and the project has it no more. A path that
never existed may be planned, or another repository's; a symbol that is nowhere may be a library's: neither
is evidence. What a repository renamed is offered as a mend, unless the sentence speaks of the past.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path, PurePosixPath

from ....records import Memory
from ...stores.markdown.code_index import CodeIndex, build_index
from ...stores.markdown.history import git, ignored_paths, new_place, removed_paths
from .prose import statements
from .references import References, find_references

YOUNG = timedelta(days=30)
"""So long after it was written nothing condemns a memory: branches and refactorings are under way."""
_ADVISING = frozenset({"user", "feedback", "reference"})
"""Types that speak about people, rules and things elsewhere."""
_ADVICE = re.compile(
    r"\b(?:never|always|must|should|shall|(?:do|does|did|is|are|was|ca|wo)n['’]?t|not|avoid|careful|beware|warn\w*"
    r"|gotcha\w*|pitfall\w*|trap|lesson\w*|learn\w*|rules?|polic(?:y|ies)|conventions?|decid\w+|decisions?|chose\w*"
    r"|choose|agreed|prefer\w*|instead|because|since|why|reasons?|rationale|how|steps?|use[ds]?|using|run|call|set"
    r"|make sure|ensure|check|requires?d?|needs?|important|notes?|remember|causes?d?|fix(?:ed|es)?|bugs?|todo"
    r"|plan(?:ned|s)?|workaround|only|forbidden|trade-?offs?|before|after|until|unless|if|when|will|would|keep|leave"
    r"|removed?|deleted?|deprecated)\b"
    r"|^\s*\d+[.)]\s|^\s{0,3}(?:`{3,}|~{3,})|^\s*\|",
    re.IGNORECASE | re.MULTILINE,
)
"""What may be a rule, warning, decision or instruction, or the story of a change: it outlives its file."""
_PAST = re.compile(
    r"\b(?:was|were|moved?|renamed?|formerly|previous\w*|old|legacy|deleted?|removed?|replac\w+|migrat\w+"
    r"|split|extract\w+|before|from|used to|no longer|now|instead|retired|superseded|histor\w+|became"
    r"|merged|gone|dead|dropped)\b|→|->|=>",
    re.IGNORECASE,
)


class Freshness(StrEnum):
    """How a memory's references stand against the code base."""

    FRESH = "FRESH"
    PARTIALLY_STALE = "PARTIALLY_STALE"
    FULLY_STALE = "FULLY_STALE"
    EVERGREEN = "EVERGREEN"


@dataclass(frozen=True, slots=True)
class Drift:
    """The state of one memory's references.

    Attributes:
        memory: Its id.
        freshness: The outcome.
        missing: Paths that are gone; a moved file names its likely new place.
        terms: Narrow words to search transcripts for.
        moved: New place of each path that the repository renamed.
    """

    memory: str
    freshness: Freshness
    missing: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict, hash=False)


def check_drift(
    memories: Sequence[Memory], *, root: Path, directories: Mapping[str, Path]
) -> dict[str, Drift]:
    """Check all references of all memories against one index of the project and its history.

    Args:
        memories: Of any directory.
        root: The project.
        directories: Where each memory directory is, by its name.
    """
    root = root.resolve()
    named = {memory.id: find_references(memory) for memory in memories if _judged(memory)}
    if not any(refs.files for refs in named.values()):
        return {memory.id: Drift(memory.id, Freshness.EVERGREEN) for memory in memories}
    wanted = {symbol for refs in named.values() for symbol in (*refs.symbols, *refs.hints)}
    index = build_index(root, wanted, without=directories.values())
    beside = {
        memory.id: directories.get(memory.scope.get("directory") or "")
        for memory in memories
        if memory.id in named
    }
    absent = {
        path
        for memory_id, refs in named.items()
        for path in refs.files
        if not index.has_file(path, beside=beside[memory_id]) and index.checkable(path)
    }
    removed = removed_paths(root, absent) if absent else {}
    # What git leaves out by now was perhaps only taken out of the repository.
    hidden = ignored_paths(root, removed)
    removed = {path: commit for path, commit in removed.items() if path not in hidden}
    moved = {path: place for path, commit in removed.items() if (place := new_place(root, path, commit))}
    told = git(root, "rev-parse", "HEAD") is not None
    drifts: dict[str, Drift] = {}
    for memory in memories:
        refs = named.get(memory.id)
        if refs is None:
            drifts[memory.id] = Drift(memory.id, Freshness.EVERGREEN)
            continue
        gone = _gone(refs, absent, removed, told=told, index=index)
        drifts[memory.id] = assess(
            memory.id, refs, index, removed=gone, moved=moved, beside=beside[memory.id]
        )
    return drifts


def assess(
    memory: str,
    refs: References,
    index: CodeIndex,
    *,
    removed: Sequence[str],
    moved: Mapping[str, str],
    beside: Path | None = None,
) -> Drift:
    """Judge one memory by its references.

    Args:
        memory: Its id.
        refs: What it names.
        index: What the project has.
        removed: Those of its paths that are gone.
        moved: Where paths were renamed to.
        beside: The directory of the memory.
    """
    here = [path for path in (*refs.files, *refs.mentioned) if index.has_file(path, beside=beside)]
    known = index.symbols.intersection((*refs.symbols, *refs.hints))
    if not removed:
        names_any = any(path in refs.files for path in here) or bool(index.symbols.intersection(refs.symbols))
        return Drift(memory, Freshness.FRESH if names_any else Freshness.EVERGREEN)
    missing = tuple(f"{path} (now {moved[path]})" if path in moved else path for path in removed)
    elsewhere = any(path in moved or index.moved(path) for path in removed)
    unproven = set(refs.files) - set(removed) - set(here)
    alive = here or known or elsewhere or unproven or not any("/" in path for path in removed)
    freshness = Freshness.PARTIALLY_STALE if alive else Freshness.FULLY_STALE
    return Drift(
        memory, freshness, missing, tuple(removed), {path: moved[path] for path in removed if path in moved}
    )


def condemned(memory: Memory, drift: Drift, *, now: datetime) -> bool:
    """Whether a memory may go: it says nothing but where something was that is gone.

    Each of its sentences names what is gone, none may be a rule, warning, decision or instruction, and it
    was written more than 30 days ago.
    """
    if memory.pinned or drift.freshness is not Freshness.FULLY_STALE:
        return False
    if (memory.category or "").split(" / ")[0] in _ADVISING or _ADVICE.search(memory.text):
        return False
    written = _written(memory)
    if written is None or now - written < YOUNG:
        return False
    names = {PurePosixPath(path).stem for path in drift.terms} | set(drift.terms)
    said = statements(memory.text)
    return bool(said) and all(any(name in sentence for name in names) for sentence in said)


def mended(text: str, moved: Mapping[str, str]) -> str:
    """The text with moved paths as they are now; sentences about the past stay as they are.

    >>> mended("`a.py` runs it. It was `a.py`.", {"a.py": "b/a.py"})
    '`b/a.py` runs it. It was `a.py`.'
    """
    lines = []
    for line in text.split("\n"):
        pieces = re.split(r"(?<=[.!?])(?=\s)", line)
        lines.append("".join(_mended_sentence(piece, moved) for piece in pieces))
    return "\n".join(lines)


def _mended_sentence(sentence: str, moved: Mapping[str, str]) -> str:
    named = [path for path in moved if path in sentence]
    plain = re.sub("|".join(["`[^`]*`", *map(re.escape, named)]), "", sentence)
    if not named or _PAST.search(plain) or any(moved[path] in sentence for path in named):
        return sentence
    new = sentence
    for path in sorted(named, key=len, reverse=True):
        place = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)")
        if len(place.findall(sentence)) != sentence.count(path):
            return sentence  # a link leads there too, or a longer path: half of it would be wrong
        new = place.sub(moved[path], new)
    return new


def _gone(
    refs: References, absent: set[str], removed: Mapping[str, str], *, told: bool, index: CodeIndex
) -> list[str]:
    """A memory's paths that are gone: by the history, or without one, beside others that still stand."""
    missing = [path for path in refs.files if path in absent]
    if told:
        return [path for path in missing if path in removed]
    here = [path for path in refs.files if path not in absent]
    return [path for path in missing if here and "/" in path and index.has_folder(path.partition("/")[0])]


def _written(memory: Memory) -> datetime | None:
    """The latest moment at which this memory was written, by any of its dates."""
    said = memory.metadata.get("written")
    known = [memory.stated_at, datetime.fromisoformat(said) if isinstance(said, str) else None]
    return max((moment for moment in known if moment is not None), default=None)


def _judged(memory: Memory) -> bool:
    return bool(memory.metadata.get("frontmatter"))
