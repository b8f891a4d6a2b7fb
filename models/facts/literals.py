"""Details that count letter for letter: URLs, paths, identifiers, versions, code spans and quotations.

They are read before numbers and dates, because their digits mean nothing on their own. Case is ignored
except where two spellings differ only by it and nothing else is known; no file or address is ever looked
up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ..text.vocabulary import common
from ..text.words import fold
from .amounts import unit_at
from .details import Detail, Expression, Page

_URL = Expression(r"\b(?:[a-z][a-z0-9+.-]{1,9}://|www\.)[^\s<>\"'\x00]+", re.IGNORECASE)
_EMAIL = Expression(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,60})+")
_TRAILING = ".,;:!?)]}'\"`"
_CODE = Expression(r"`([^`\n\x00]+)`")
_QUOTED = Expression(r'"([^"\n\x00]{2,120})"|(?<!\w)\'([^\'\n\x00]{2,80})\'(?!\w)')
_EXTENSIONS = (
    "py|pyi|ipynb|rs|go|js|mjs|jsx|tsx?|java|kt|rb|php|cs|cpp|cc|hpp|swift|sh|bash|zsh|sql|md|rst|txt|json|jsonl|ya?ml|"
    "toml|ini|cfg|conf|lock|env|csv|tsv|parquet|xlsx?|docx?|pptx?|pdf|png|jpe?g|svg|gif|html?|css|scss|xml|log|tf|proto|"
    "gradle|lua|vim|service|zip|gz|tar|exe|dll|so|bak|db|sqlite|pem|key|crt"
)
_PATH = Expression(
    r"(?<![\w/.])(?:"
    r"(?:~|\.{1,2})?/[\w.@+~-]+(?:/[\w.@+~*-]+)*/?"
    r"|[A-Za-z]:\\[\w.\\ -]+\w"
    r"|(?:[\w.@+-]+/){2,}[\w.@+*-]*"
    r"|[\w.@+-]+/[\w@+-]*\.(?:" + _EXTENSIONS + r")\b"
    r"|(?<![@+-])(?=[\w@+-]{0,40}[A-Za-z_])[\w@+-][\w@+.-]{0,80}\.(?:" + _EXTENSIONS + r")\b"
    r"|\.env\b|(?:Makefile|Dockerfile|Jenkinsfile)\b"
    r")"
)
_NOT_PATHS = Expression(
    r"[0-9/.]+$|/(?:s|sec|min|h|hr|hour|d|day|w|wk|week|mo|month|y|yr|year|user|seat|head|each)s?$|"
    r"[A-Z][a-z]+\.js$|[A-Z][a-z]+(?:/[A-Z][a-z]+)+$"
)
_UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
_IP = r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:/[0-9]{1,2}|:[0-9]{2,5})?\b"
_HASH = r"\b(?=[0-9a-f]{0,40}[a-f])(?=[0-9a-f]{0,40}[0-9])[0-9a-f]{7,40}\b"
_REFERENCE = (
    r"(?:\b(?:PR|MR|issue|ticket|bug|pull request)\s*)?#[0-9]+(?:-[0-9]+)*\b|\b(?:PR|MR|PRs)\s+[0-9]+\b"
)
_SNAKE = r"\b[A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b"
_TICKET = r"\b[A-Z][A-Z0-9]{1,9}-[0-9]+\b"
_PIECES = r"[A-Za-z0-9]{1,60}(?:[-.][A-Za-z0-9]{1,60}){0,8}"
_MIXED = rf"\b(?=[A-Za-z0-9.-]{{0,60}}[A-Za-z])(?=[A-Za-z0-9.-]{{0,60}}[0-9]){_PIECES}-{_PIECES}\b"
_MODEL = (
    r"\b(?![vV][0-9])[A-Z]{1,5}[0-9]+[A-Za-z0-9]*\b|\b[a-z]+[0-9]+[a-z]+\b"
    r"|(?<![0-9] )\b(?![vx][0-9]|c?m2\b|km2\b|m3\b|co2\b)[a-z]{1,3}[0-9]{1,4}\b"
)
_LONG = (
    r"\b[0-9]{12,}\b|\b(?:19|20)[0-9]{2}-(?!(?:19|20)[0-9]{2}\b)[0-9]{3,}\b|\b[0-9]{2,}(?:-[0-9]{2,}){2,}\b"
)
_KINDS_OF_IDENTIFIER = (_UUID, _IP, _HASH, _REFERENCE, _SNAKE, _TICKET, _MIXED, _MODEL, _LONG)
_IDENTIFIER = Expression("|".join(_KINDS_OF_IDENTIFIER))
_NOT_IDENTIFIERS = Expression(
    r"[0-9]+(?:\.[0-9]+)+[-+](?:rc|beta|alpha|dev|b|a)\.?[0-9]*$|(?:[0-9]+(?:\.[0-9]+)?-)+[A-Za-z]+(?:-[A-Za-z]+)*$|(?:under|over|mid|top|pre|post|sub|aged?)-[0-9]+\w?$|"
    r"[0-9]{1,2}-[0-9]{1,2}(?:st|nd|rd|th)$|H[12]$|Q[1-4]$|[0-9]{4}-Q[1-4]$|"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2})?$|"
    r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$|[0-9.]+[a-zA-Z]{0,4}-[0-9.]+[a-zA-Z]{1,4}$|[0-9.]+[a-zA-Z]{1,4}-[0-9.]+$",
    re.IGNORECASE,
)
_FLAG = Expression(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z])(?![\w-])")
_PRERELEASE = r"(?:[-+]?(?:rc|beta|alpha|dev|b|a)\.?[0-9]*)?"
_THOUSANDS = r"(?![0-9]{1,3}(?:\.[0-9]{3}){2,}(?![.0-9]))"
_DOTTED = Expression(
    rf"\bv\.?\s?([0-9]+(?:\.[0-9x]+)*{_PRERELEASE})\b|{_THOUSANDS}\b([0-9]+(?:\.[0-9]+){{2,}}{_PRERELEASE})\b",
    re.IGNORECASE,
    digits=True,
)
_TOOL_VERSION = Expression(
    r"\b((?:[A-Z][\w+#]*|version|release|python|node|postgres|postgresql|mysql|redis|django|rust|ruby|php|java|kubernetes|k8s|"
    r"torch|pytorch|cuda|ubuntu|debian|golang|go|swift|terraform|react|vue|angular|npm|gcc|clang|spark|airflow|numpy|pandas)"
    r"\s+)([0-9]{1,3}\.[0-9]{1,3}|[0-9]{1,2}\.x)\+?(?![0-9:.]*[0-9%])(?!\s*(?:%|percent|million|billion|[kK]?[mMgG]?[bB]\b|F1\b))"
)


_SHORTEST_TAIL = 6


def _squeezed(key: str) -> str:
    return key.replace("-", "")


@dataclass(frozen=True, slots=True)
class Literal(Detail):
    """A detail that is the same only when it is spelled the same, case aside."""

    key: str  # the spelling that counts

    def agrees(self, other: Detail) -> bool:
        """Whether both are spelled alike."""
        return type(other) is type(self) and other.key == self.key


@dataclass(frozen=True, slots=True)
class Link(Literal):
    """A URL or an e-mail address; scheme, "www." and a final slash do not count."""

    kind: ClassVar[str] = "url"


@dataclass(frozen=True, slots=True)
class Path(Literal):
    """A file or folder; a shorter path agrees with a longer one that ends in it."""

    kind: ClassVar[str] = "path"

    def agrees(self, other: Detail) -> bool:
        """Whether one path is the other, seen from further up."""
        if not isinstance(other, Path):
            return False
        longer, shorter = sorted((self.key, other.key), key=len, reverse=True)
        return longer == shorter or longer.endswith("/" + shorter)

    def covers(self, other: Detail) -> bool:
        """Whether the other is this path or its end."""
        return isinstance(other, Path) and (self.key == other.key or self.key.endswith("/" + other.key))


@dataclass(frozen=True, slots=True)
class Identifier(Literal):
    """A ticket, host, flag, variable, model, hash, address or long number."""

    kind: ClassVar[str] = "identifier"

    def agrees(self, other: Detail) -> bool:
        """Whether both are spelled alike, hyphens and a plural s aside, or one ends in the other.

        >>> Identifier("SHA-256", "sha-256").agrees(Identifier("HMAC-SHA256", "hmac-sha256"))
        True
        """
        if not isinstance(other, Identifier):
            return False
        short, long = sorted((_squeezed(self.key), _squeezed(other.key)), key=len)
        short = short.lstrip("#") if "#" not in long else short
        return short == long or (len(short) >= _SHORTEST_TAIL and long.endswith(short)) or long == short + "s"

    def covers(self, other: Detail) -> bool:
        """Whether both are spelled alike, hyphens and a plural s aside."""
        return isinstance(other, Identifier) and _squeezed(self.key).rstrip("s") == _squeezed(
            other.key
        ).rstrip("s")


@dataclass(frozen=True, slots=True)
class Quote(Literal):
    """A code span or quoted string."""

    kind: ClassVar[str] = "quote"


@dataclass(frozen=True, slots=True)
class Version(Literal):
    """A version of something; "18" agrees with "18.17", but "3.1" is not "3.10".

    >>> Version("v1.2", "1.2").agrees(Version("1.2.0", "1.2.0"))
    True
    """

    kind: ClassVar[str] = "version"

    def agrees(self, other: Detail) -> bool:
        """Whether one is the other or a less precise form of it."""
        if not isinstance(other, Version):
            return False
        mine, theirs = self.key.split("."), other.key.split(".")
        return all(left == right or "x" in (left, right) for left, right in zip(mine, theirs, strict=False))

    def covers(self, other: Detail) -> bool:
        """Whether this one is at least as precise."""
        return isinstance(other, Version) and self.agrees(other) and len(self.key) >= len(other.key)


def links(page: Page) -> tuple[Link, ...]:
    """Take URLs and e-mail addresses.

    >>> links(Page("see https://www.Example.com/a/."))
    (Link(text='https://www.Example.com/a/', key='example.com/a'),)
    """
    addresses = []
    for pattern in (_URL, _EMAIL):
        for match in page.find(pattern):
            text = match.group().rstrip(_TRAILING)
            page.mark(match.start(), match.start() + len(text))
            key = re.sub(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?", "", text.lower())
            addresses.append(Link(text, key.rstrip("/")))
    return tuple(addresses)


def quotes(page: Page) -> tuple[Quote, ...]:
    """Read code spans and quoted strings, and leave their words to the other readers.

    >>> quotes(Page('call `make test` or "go"'))
    (Quote(text='make test', key='make test'), Quote(text='go', key='go'))
    """
    quoted = []
    for pattern in (_CODE, _QUOTED):
        for match in page.find(pattern):
            inner = next(group for group in match.groups() if group is not None).strip()
            if inner.strip(_TRAILING):
                quoted.append(Quote(inner, fold(inner).strip(_TRAILING)))
    return tuple(quoted)


def paths(page: Page) -> tuple[Path, ...]:
    """Take files and folders.

    >>> [path.key for path in paths(Page("edit src/app.py, not /etc/hosts"))]
    ['src/app.py', 'etc/hosts']
    """
    locations = []
    for match in page.find(_PATH):
        text = match.group().rstrip(".,;:")
        if any(char.isalnum() for char in text) and not _NOT_PATHS.match(text):
            page.mark(match.start(), match.start() + len(text))
            key = text.lower().replace("\\", "/").rstrip("/")
            locations.append(Path(text, re.sub(r"^(?:\.{1,2}/|~/|/)+", "", key)))
    return tuple(locations)


def identifiers(page: Page) -> tuple[Identifier, ...]:
    """Take tickets, hosts, flags, variables, models, hashes, addresses and long numbers.

    >>> [each.key for each in identifiers(Page("PR #260 on log-01b sets MAX_RETRIES with --fast"))]
    ['#260', 'log-01b', 'max_retries', '--fast']
    """
    names = []
    for pattern in (_IDENTIFIER, _FLAG):
        for match in page.find(pattern):
            text = match.group()
            if _NOT_IDENTIFIERS.match(text):
                continue
            page.mark(match.start(), match.end())
            number = (
                re.fullmatch(r"\D*?#?([0-9]+(?:-[0-9]+)*)", text)
                if "#" in text or text.startswith(("PR", "MR"))
                else None
            )
            names.append(Identifier(text, f"#{number.group(1)}" if number else fold(text)))
    return tuple(names)


def versions(page: Page) -> tuple[Version, ...]:
    """Take versions: with a v, with three parts, or two parts behind a capitalised or well-known tool.

    >>> [each.key for each in versions(Page("Python 3.11, v2, 1.4.0-rc1"))]
    ['2', '1.4.0-rc1', '3.11']
    """
    releases = [
        Version(match.group(), (match.group(1) or match.group(2)).lower()) for match in page.take(_DOTTED)
    ]
    for match in page.find(_TOOL_VERSION):
        if common(fold(match.group(1).strip())) or unit_at(page.rest, match.end(2)) is not None:
            continue
        page.mark(match.start(2), match.end(2))
        releases.append(Version(match.group(2), match.group(2)))
    return tuple(releases)
