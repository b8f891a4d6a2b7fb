"""Which files and symbols a memory names, and whether they still exist. Only proven absence makes it stale.

A path is proven gone if the history of this repository had it and the project has it no more. One that never
existed may be planned, and is only flagged; one under a folder that the project has not is another
repository's, a symbol that is nowhere may be a library's: neither is evidence.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path, PurePosixPath

from ...models.markdown_blocks import markdown_lines
from ...models.text.tables import expression, pattern, table_words
from ...records import Memory, noted_moment
from ..stores.markdown.project import build_index, hidden_paths, ignored_paths, new_place, removed_paths
from .markdown_prose import statements

_LOCATION = pattern("line_of_file")
_CODE_SPAN = pattern("ticked")
_LINK_TARGET = pattern("link_target")
YOUNG = timedelta(days=30)
"""So long after it was written nothing condemns a memory: branches and refactorings are under way."""
_ADVISING = frozenset({"user", "feedback", "reference"})
"""Types that speak about people, rules and things elsewhere."""
_ADVICE, _PAST = expression("markdown", "advice"), expression("markdown", "past")
_EXTENSIONS = table_words("code", "extensions")
_NAME = r"[\w.@+-]"
_EXTENSION = rf"\.(?:{'|'.join(sorted(_EXTENSIONS, key=len, reverse=True))})"
_PATH = re.compile(
    rf"(?<![\w./~@:$*{{}}<>%-])(?:\.{{0,2}}/)?(?:{_NAME}{{1,100}}/){{1,20}}{_NAME}{{0,100}}{_EXTENSION}(?![\w/*-])"
)
_FILE_NAME = re.compile(rf"^{_NAME}+{_EXTENSION}$")
_PRODUCTS = frozenset(table_words("code", "products"))


@dataclass(frozen=True, slots=True)
class References:
    """What a memory names."""

    files: tuple[str, ...] = ()  # paths and file names, sorted
    symbols: tuple[str, ...] = ()  # functions and classes, last part of a dotted name, sorted
    # words in CamelCase that may be classes, or products: they only ever protect
    hints: tuple[str, ...] = ()
    # paths inside code blocks, where a command may well create them; they only protect too
    mentioned: tuple[str, ...] = ()


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
    freshness: Freshness
    missing: tuple[str, ...] = ()  # paths that are gone; a moved file names its likely new place
    terms: tuple[str, ...] = ()  # narrow words to search transcripts for
    # new place of each path that the repository renamed
    moved: Mapping[str, str] = field(default_factory=dict, hash=False)


def references_of(text: str, *, quoted: Iterable[str] = ()) -> References:
    """Collect the references of a text, and of what its description has in quotation marks.

    >>> references_of("`Session` lives in src/auth/session.py, see `open_session()`").files
    ('src/auth/session.py',)
    """
    plain = pattern("wiki_link").sub(" ", pattern("address").sub(" ", text))
    targets = {match[1] for match in _LINK_TARGET.finditer(plain)}
    plain = _LINK_TARGET.sub("]", plain)
    prose = "\n".join(line.text for line in markdown_lines(plain) if line.kind != "fence")
    spans = [match[2].strip() for match in _CODE_SPAN.finditer(prose)]
    paths = [match[0] for match in _PATH.finditer(prose)] + [t for t in targets if _PATH.fullmatch(t)]
    named = [_LOCATION.sub("", item) for item in [*spans, *quoted]]
    paths += [item for item in named if _FILE_NAME.match(item) or _PATH.fullmatch(item)]
    files = {path for path in map(_normal, paths) if path}
    fenced = {path for match in _PATH.finditer(plain) if (path := _normal(match[0]))} - files
    symbols = _symbols(prose, spans)
    words = {match[0] for match in pattern("camel_word").finditer(_CODE_SPAN.sub(" ", prose))}
    hints = {word for word in words if word.casefold() not in _PRODUCTS} - symbols
    return References(*(tuple(sorted(each)) for each in (files, symbols, hints, fenced)))


def _symbols(prose: str, spans: Iterable[str]) -> set[str]:
    symbols = {match[1] for match in pattern("call").finditer(prose)}
    symbols |= {next(filter(None, match.groups())) for match in pattern("class_word").finditer(prose)}
    for span in spans:
        call = pattern("whole_call").match(span)
        symbols |= {call[1]} if call else {span} if pattern("camel_name").match(span) else set()
        symbols |= {match[1] for match in pattern("definition").finditer(span)}
    last = {re.split(r"\.|::|#", name)[-1] for name in symbols}
    products = {name for name in last if name.casefold() in _PRODUCTS or hasattr(builtins, name)}
    return {name for name in last - products if len(name) > 1}


def _normal(path: str) -> str | None:
    """The path as the index writes it; None if it cannot be checked."""
    cleaned = _LOCATION.sub("", path).removeprefix("./")
    if pattern("placeholder").search(cleaned) or cleaned.startswith(("~", "../")) or "//" in cleaned:
        return None
    if PurePosixPath(cleaned).suffix == ".md" and "/" not in cleaned:
        return None  # a link between memories, not to code
    *folders, name = cleaned.split("/")
    if any(_FILE_NAME.match(folder) for folder in folders if folder) or (not folders and name[0] in "._-"):
        return None  # "A.md/B.md" are two names, "_test.go" is the end of many
    return cleaned


def check_drift(
    memories: Sequence[Memory], *, root: Path, directories: Mapping[str, Path]
) -> dict[str, Drift]:
    """Check all references against one index of the project and its history; directories by name."""
    root = root.resolve()
    drifts = {memory.id: Drift(memory.id, Freshness.EVERGREEN) for memory in memories}
    named: dict[str, tuple[References, Path | None]] = {}
    for memory in memories:
        # A text without frontmatter is nobody's memory of something: its references are not judged.
        if memory.metadata.get("frontmatter"):
            said = str(memory.metadata.get("description") or "")
            refs = references_of(f"{memory.text}\n\n{said}", quoted=pattern("in_quotes").findall(said))
            named[memory.id] = refs, directories.get(memory.scope.get("directory") or "")
    if not any(refs.files for refs, _ in named.values()):
        return drifts
    wanted = {symbol for refs, _ in named.values() for symbol in (*refs.symbols, *refs.hints)}
    index = build_index(root, wanted, without=directories.values())
    stated = ((path, beside) for refs, beside in named.values() for path in refs.files)
    absent = {path for path, beside in stated if not index.has_file(path, beside=beside)}
    removed = removed_paths(root, absent)
    moved = {path: place for path, commit in removed.items() if (place := new_place(root, path, commit))}
    left_out = ignored_paths(root, absent) - set(moved)
    proven = set(removed) - hidden_paths(root, removed)
    gone = {
        path
        for path in absent - left_out
        if path in moved
        or (index.checkable(path) and (path in removed or index.has_folder(path.partition("/")[0])))
    }
    for name, (refs, beside) in named.items():
        here = {path for path in (*refs.files, *refs.mentioned) if index.has_file(path, beside=beside)}
        lost = [path for path in refs.files if path in gone]
        if not lost:
            if here.intersection(refs.files) or index.symbols.intersection(refs.symbols):
                drifts[name] = Drift(name, Freshness.FRESH)
            continue
        missing = []
        for path in lost:
            folder = path.removesuffix(PurePosixPath(path).suffix)
            place = moved.get(path) or (f"perhaps now {folder}/" if index.has_folder(folder) else "")
            missing.append(f"{path} ({'now ' * (path in moved)}{place})" if place else path)
        # It is fully stale only if all that it names is proven to have been taken away.
        known = index.symbols.intersection((*refs.symbols, *refs.hints))
        elsewhere = any(path in moved or index.moved(path) for path in lost)
        unproven = set(refs.files) - proven - here
        alive = here or known or elsewhere or unproven or not any("/" in path for path in lost)
        state = Freshness.PARTIALLY_STALE if alive else Freshness.FULLY_STALE
        mend = {path: moved[path] for path in lost if path in moved}
        drifts[name] = Drift(name, state, tuple(missing), tuple(lost), mend)
    return drifts


def condemned(memory: Memory, drift: Drift, *, now: datetime) -> bool:
    """Whether a memory may go: it says nothing but where something was that is gone.

    Each of its sentences names what is gone, none may be a rule, warning, decision or instruction, and it
    was written more than 30 days ago.
    """
    if memory.pinned or drift.freshness is not Freshness.FULLY_STALE:
        return False
    if (memory.category or "").split(" / ")[0] in _ADVISING or _ADVICE.search(memory.text):
        return False
    dates = [memory.stated_at, noted_moment(memory.metadata.get("written"))]
    known = [date for date in dates if date is not None]
    plain = re.sub(r"`[^`]*`", "", memory.text)
    if not known or now - max(known) < YOUNG or pattern("capital_inside").search(plain):
        return False
    names = {PurePosixPath(path).stem for path in drift.terms} | set(drift.terms)
    said = statements(memory.text)
    return bool(said) and all(any(name in sentence for name in names) for sentence in said)


def mended(text: str, moved: Mapping[str, str]) -> str:
    """The text with moved paths as they are now; sentences about the past stay as they are.

    >>> mended("`a.py` runs it. It was `a.py`.", {"a.py": "b/a.py"})
    '`b/a.py` runs it. It was `a.py`.'
    """
    pieces = re.split(r"(?<=[.!?])(?=\s)|(?<=\n)", text)
    return "".join(_mended_sentence(piece, moved) for piece in pieces)


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
