"""Whether the files and symbols that a memory names still exist. Only their proven absence makes it stale.

A path is proven gone if the history of this repository had it and the project has it no more. A path that
never existed may be planned, and is only flagged; one under a folder that the project has not is another
repository's, a symbol that is nowhere may be a library's: neither is evidence. What a repository renamed is
offered as a mend, unless the sentence speaks of the past.
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
from ...stores.markdown.history import hidden_paths, ignored_paths, new_place, removed_paths
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
    r"|removed?|deleted?|deprecated|own(?:s|ed|er)?|maintain\w*|responsible|wrote|asks?|asked|likes?|wants?|users?"
    r"|customers?|team)\b"
    r"|^\s*\d+[.)]\s|^\s{0,3}(?:`{3,}|~{3,})|^\s*\|",
    re.IGNORECASE | re.MULTILINE,
)
"""What may be a rule, warning, decision or instruction, or the story of a change: it outlives its file."""
_NAMED = re.compile(r"(?<=[a-z,;:] )(?!I\b)[A-Z][a-zà-ÿ]+\b(?![\w./])")
"""A capital inside a sentence: a person, perhaps, of whom a fact outlives the file, too."""
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
    """The state of one memory's references."""

    memory: str  # its id
    freshness: Freshness  # the outcome
    missing: tuple[str, ...] = ()  # paths that are gone; a moved file names its likely new place
    terms: tuple[str, ...] = ()  # narrow words to search transcripts for
    # new place of each path that the repository renamed
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
    # A text without frontmatter is nobody's memory of something: its references are not judged.
    named = {memory.id: find_references(memory) for memory in memories if memory.metadata.get("frontmatter")}
    drifts = {memory.id: Drift(memory.id, Freshness.EVERGREEN) for memory in memories}
    if not any(refs.files for refs in named.values()):
        return drifts
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
        if not index.has_file(path, beside=beside[memory_id])
    }
    removed = removed_paths(root, absent)
    moved = {path: place for path, commit in removed.items() if (place := new_place(root, path, commit))}
    left_out = ignored_paths(root, absent) - set(moved)
    hidden = hidden_paths(root, removed)
    gone = {
        path
        for path in absent - left_out
        if path in moved
        or (index.checkable(path) and (path in removed or index.has_folder(path.partition("/")[0])))
    }
    for memory_id, refs in named.items():
        drifts[memory_id] = _assessed(
            memory_id,
            refs,
            index,
            gone=[path for path in refs.files if path in gone],
            proven={path for path in removed if path not in hidden},
            moved=moved,
            beside=beside[memory_id],
        )
    return drifts


def _assessed(
    memory: str,
    refs: References,
    index: CodeIndex,
    *,
    gone: Sequence[str],
    proven: set[str],
    moved: Mapping[str, str],
    beside: Path | None,
) -> Drift:
    """Judge one memory: it is fully stale only if all that it names is proven to have been taken away."""
    here = [path for path in (*refs.files, *refs.mentioned) if index.has_file(path, beside=beside)]
    if not gone:
        names_any = any(path in refs.files for path in here) or bool(index.symbols.intersection(refs.symbols))
        return Drift(memory, Freshness.FRESH if names_any else Freshness.EVERGREEN)

    def shown(path: str) -> str:
        """A missing path, with its new place or what may be that."""
        folder = path.removesuffix(PurePosixPath(path).suffix)
        hint = f" (perhaps now {folder}/)" if index.has_folder(folder) else ""
        return f"{path} (now {moved[path]})" if path in moved else path + hint

    known = index.symbols.intersection((*refs.symbols, *refs.hints))
    elsewhere = any(path in moved or index.moved(path) for path in gone)
    unproven = set(refs.files) - proven - set(here)
    alive = here or known or elsewhere or unproven or not any("/" in path for path in gone)
    return Drift(
        memory,
        Freshness.PARTIALLY_STALE if alive else Freshness.FULLY_STALE,
        tuple(map(shown, gone)),
        tuple(gone),
        {path: moved[path] for path in gone if path in moved},
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
    written = memory.metadata.get("written")
    dates = [memory.stated_at, datetime.fromisoformat(written) if isinstance(written, str) else None]
    known = [date for date in dates if date is not None]
    if not known or now - max(known) < YOUNG or _NAMED.search(re.sub(r"`[^`]*`", "", memory.text)):
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
