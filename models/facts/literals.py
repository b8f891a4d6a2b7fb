"""Details that count letter for letter, case aside: URLs, paths, identifiers, versions, code, quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from ..text.tables import pattern
from ..text.vocabulary import common
from ..text.words import fold
from .details import Detail, Page, Row
from .numbers import unit_at

_TRAILING = ".,;:!?)]}'\"`"
_SHORTEST_TAIL = 6


@dataclass(frozen=True, slots=True)
class Literal(Detail):
    """A detail that is the same only when it is spelled the same, case aside."""

    key: str  # the spelling that counts

    def _same(self, other: Self, /) -> bool:
        return self.key == other.key


@dataclass(frozen=True, slots=True)
class Link(Literal):
    """A URL or an e-mail address; scheme, "www." and a final slash do not count."""

    kind: ClassVar[str] = "url"


@dataclass(frozen=True, slots=True)
class Path(Literal):
    """A file or folder; a shorter path agrees with a longer one that ends in it."""

    kind: ClassVar[str] = "path"

    def _same(self, other: Path, /) -> bool:
        return self._holds(other) or other.key.endswith("/" + self.key)

    def _holds(self, other: Path, /) -> bool:
        return self.key == other.key or self.key.endswith("/" + other.key)


@dataclass(frozen=True, slots=True)
class Identifier(Literal):
    """A ticket, host, flag, variable, model, hash, address or long number."""

    kind: ClassVar[str] = "identifier"

    def _same(self, other: Identifier, /) -> bool:
        """Whether both are spelled alike, hyphens and a plural s aside, or one ends in the other."""
        short, long = sorted((each.key.replace("-", "") for each in (self, other)), key=len)
        short = short.lstrip("#") if "#" not in long else short
        return short == long or (len(short) >= _SHORTEST_TAIL and long.endswith(short)) or long == short + "s"

    def _holds(self, other: Identifier, /) -> bool:
        mine, theirs = (each.key.replace("-", "").rstrip("s") for each in (self, other))
        return mine == theirs


@dataclass(frozen=True, slots=True)
class Quote(Literal):
    """A code span or quoted string."""

    kind: ClassVar[str] = "quote"


@dataclass(frozen=True, slots=True)
class Version(Literal):
    """A version of something; "18" agrees with "18.17", but "3.1" is not "3.10"."""

    kind: ClassVar[str] = "version"

    def _same(self, other: Version, /) -> bool:
        mine, theirs = self.key.split("."), other.key.split(".")
        return all(left == right or "x" in (left, right) for left, right in zip(mine, theirs, strict=False))

    def _holds(self, other: Version, /) -> bool:
        return self._same(other) and len(self.key) >= len(other.key)


def _link(match: re.Match[str]) -> tuple[Link, ...]:
    text = match.group().rstrip(_TRAILING)
    key = re.sub(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?", "", text.lower())
    return (Link(text, key.rstrip("/")),)


def quotes(page: Page) -> tuple[Quote, ...]:
    """Read code spans and quoted strings, and leave their words to the other readers."""
    quoted = []
    for name in ("code_span", "quoted"):
        for match in page.find(name):
            inner = next(group for group in match.groups() if group is not None).strip()
            if inner.strip(_TRAILING):
                quoted.append(Quote(inner, fold(inner).strip(_TRAILING)))
    return tuple(quoted)


def _path(match: re.Match[str]) -> tuple[Path, ...]:
    text = match.group().rstrip(".,;:")
    if pattern("no_path").match(text) or not any(char.isalnum() for char in text):
        return ()
    key = text.lower().replace("\\", "/").rstrip("/")
    return (Path(text, re.sub(r"^(?:\.{1,2}/|~/|/)+", "", key)),)


def _identifier(match: re.Match[str]) -> tuple[Identifier, ...]:
    text = match.group()
    if pattern("no_identifier").match(text):
        return ()
    numbered = "#" in text or text.startswith(("PR", "MR"))
    number = re.fullmatch(r"\D*?#?([0-9]+(?:-[0-9]+)*)", text) if numbered else None
    return (Identifier(text, f"#{number[1]}" if number else fold(text)),)


LINKS_READ: tuple[Row[Link], ...] = (("url", _link), ("email", _link))
PATHS_READ: tuple[Row[Path], ...] = (("path", _path),)
IDENTIFIERS_READ: tuple[Row[Identifier], ...] = (("identifier", _identifier), ("flag", _identifier))


def versions(page: Page) -> tuple[Version, ...]:
    """Take versions: with a v, with three parts, or two parts behind a capitalised or well-known tool."""
    releases = []
    for match in page.find("version"):
        page.mark(*match.span())
        releases.append(Version(match.group(), (match[1] or match[2]).lower()))
    for match in page.find("tool_version"):
        if not common(fold(match[1].strip())) and unit_at(page.rest, match.end(2)) is None:
            page.mark(*match.span(2))
            releases.append(Version(match[2], match[2]))
    return tuple(releases)
