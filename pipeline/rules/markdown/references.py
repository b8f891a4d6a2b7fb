"""Which files and symbols of the code base a memory names.

Only what can be checked counts: no addresses, no places outside the project, no patterns and
placeholders. A plain word in CamelCase may be a product's name, so it can protect a memory and
never condemn it.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from ....models.markdown_blocks import markdown_lines
from ....models.text.tables import table_words
from ....records import Memory

_EXTENSIONS = table_words("code", "extensions")
_NAME = r"[\w.@+-]"
_EXTENSION = rf"\.(?:{'|'.join(sorted(_EXTENSIONS, key=len, reverse=True))})"
_PATH = re.compile(rf"(?<![\w./~@:$*{{}}<>%-])(?:\.{{0,2}}/)?(?:{_NAME}+/)+{_NAME}*{_EXTENSION}(?![\w/*-])")
_FILE_NAME = re.compile(rf"^{_NAME}+{_EXTENSION}$")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE)
_LINK_TARGET = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)")
_WIKI_LINK = re.compile(r"\[\[[^\]\n]*\]\]")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")
_QUOTED = re.compile(r"[\"'“‘]([^\"'“”‘’\n]+)[\"'”’]")
_LOCATION = re.compile(r"(?::\d+(?:[-:]\d+)*|#L?\d+(?:-L?\d+)?|::[\w:.\[\]-]+)$")
_PLACEHOLDER = re.compile(r"[<>{}*$%?\s]|\.\.\.|YYYY|XXX")
_CALL = re.compile(r"(?<![\w/$])((?:[A-Za-z_$][\w$]*(?:\.|::|#))*[A-Za-z_$][\w$]*)\(\)")
_SPAN_CALL = re.compile(r"^((?:[A-Za-z_$][\w$]*(?:\.|::|#))*[A-Za-z_$][\w$]*)\(.*\)$")
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type)\s+([A-Za-z_$][\w$]*)"
)
_CAMEL = re.compile(r"^(?:[\w$]+(?:\.|::))*[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$")
_CAMEL_WORD = re.compile(r"(?<![\w./`@-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b")
_CLASS_WORD = re.compile(
    r"(?:\bclass\s+([A-Z]\w+)\b|\b([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)\s+class\b|\bdef\s+([a-z_]\w+))"
)
_PRODUCTS = frozenset(table_words("code", "products"))


@dataclass(frozen=True, slots=True)
class References:
    """What a memory names."""

    files: tuple[str, ...] = ()  # paths and file names, sorted
    symbols: tuple[str, ...] = ()  # functions and classes, last part of a dotted name, sorted
    hints: tuple[str, ...] = ()  # words in CamelCase that may be classes; they only ever protect
    # paths inside code blocks, where a command may well create them; they only protect too
    mentioned: tuple[str, ...] = ()


def find_references(memory: Memory) -> References:
    """Collect the references of a memory, from its text and its description."""
    described = str(memory.metadata.get("description") or "")
    quoted = [match[1] for match in _QUOTED.finditer(described)]
    return references_of(f"{memory.text}\n\n{described}", quoted=quoted)


def references_of(text: str, *, quoted: Iterable[str] = ()) -> References:
    """Collect the references of a text.

    >>> references_of("`Session` lives in src/auth/session.py, see `open_session()`").files
    ('src/auth/session.py',)
    """
    plain = _WIKI_LINK.sub(" ", _URL.sub(" ", text))
    targets = {match[1] for match in _LINK_TARGET.finditer(plain)}
    plain = _LINK_TARGET.sub("]", plain)
    prose = "\n".join(line.text for line in markdown_lines(plain) if line.kind != "fence")
    spans = [match[2].strip() for match in _CODE_SPAN.finditer(prose)]
    paths = [match[0] for match in _PATH.finditer(prose)] + [t for t in targets if _PATH.fullmatch(t)]
    named = [_LOCATION.sub("", item) for item in [*spans, *quoted]]
    paths += [item for item in named if _FILE_NAME.match(item) or _PATH.fullmatch(item)]
    files = {path for path in map(_normal, paths) if path is not None}
    fenced = {_normal(match[0]) for match in _PATH.finditer(plain)} - {None} - files
    symbols = _symbols(prose, spans)
    words = {match[0] for match in _CAMEL_WORD.finditer(_CODE_SPAN.sub(" ", prose))}
    hints = {word for word in words if word.casefold() not in _PRODUCTS} - symbols
    return References(
        files=tuple(sorted(files)),
        symbols=tuple(sorted(symbols)),
        hints=tuple(sorted(hints)),
        mentioned=tuple(sorted(path for path in fenced if path is not None)),
    )


def _symbols(prose: str, spans: Iterable[str]) -> set[str]:
    symbols = {match[1] for match in _CALL.finditer(prose)}
    symbols |= {next(filter(None, match.groups())) for match in _CLASS_WORD.finditer(prose)}
    for span in spans:
        call = _SPAN_CALL.match(span)
        if call:
            symbols.add(call[1])
        elif _CAMEL.match(span):
            symbols.add(span)
        symbols |= {match[1] for match in _DEFINED.finditer(span)}
    last = {re.split(r"\.|::|#", name)[-1] for name in symbols}
    return {
        name
        for name in last
        if len(name) > 1 and name.casefold() not in _PRODUCTS and not hasattr(builtins, name)
    }


def _normal(path: str) -> str | None:
    """The path as the index writes it; None if it cannot be checked."""
    cleaned = _LOCATION.sub("", path).removeprefix("./")
    if _PLACEHOLDER.search(cleaned) or cleaned.startswith(("~", "../")) or "//" in cleaned:
        return None
    if PurePosixPath(cleaned).suffix == ".md" and "/" not in cleaned:
        return None  # a link between memories, not to code
    *folders, name = cleaned.split("/")
    if any(_FILE_NAME.match(folder) for folder in folders if folder) or (not folders and name[0] in "._-"):
        return None  # "A.md/B.md" are two names, "_test.go" is the end of many
    return cleaned
