"""Word tables and expressions: data, a TOML file for each subject in the folder `tables`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "tables"
_INSERTED = re.compile(r"\(\?&(?:(\w+)([.:]))?(\w+)\)")


def table_words(name: str, key: str) -> tuple[str, ...]:
    """The words of one list, in order: the name is the file in `tables` without its ending."""
    return tuple(_table(name)[key].split())


def table_lines(name: str, key: str) -> tuple[str, ...]:
    """The lines of one list, in order."""
    return tuple(_table(name)[key].strip().splitlines())


def table_set(name: str, *keys: str) -> frozenset[str]:
    """The words of some lists of one file."""
    return frozenset(word for key in keys for word in table_words(name, key))


def table_pairs(name: str, key: str) -> dict[str, str]:
    """What stands before and behind the colon of each line of one list."""
    return dict(line.split(": ", 1) for line in table_lines(name, key))


def expression(name: str, key: str) -> re.Pattern[str]:
    """What the lines of one list match, in whatever case: each is an alternative."""
    return re.compile("|".join(table_lines(name, key)), re.IGNORECASE)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """An expression of `tables/patterns.toml`, compiled when first used: all at once would take time."""
    return re.compile(spelled_out(name))


def found(name: str, text: str) -> str:
    """What a pattern first matches in a text, or nothing."""
    match = pattern(name).search(text)
    return match[0] if match is not None else ""


def spelled_out(name: str) -> str:
    """The source of a pattern, with the patterns and words of other tables that it names in their place."""

    def inserted(match: re.Match[str]) -> str:
        table, sign, key = match.groups()
        if not table:
            return f"(?:{spelled_out(key)})"
        return f"(?:{marked(table_words(table, key) if sign == '.' else table_lines(table, key))})"

    return _INSERTED.sub(inserted, "".join(line.strip() for line in table_lines("patterns", name)))


@cache
def _table(name: str) -> dict[str, str]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a short list written as running text."""
    return tuple(text.split())


def marked(lines: Iterable[str]) -> str:
    """The alternatives of an expression for markers parted by commas; a star is any ending."""
    found = sorted((marker.strip() for line in lines for marker in line.split(",")), key=len, reverse=True)
    parts = (marker.partition("(?") for marker in found)
    return "|".join(
        re.escape(words).replace(r"\*", r"\w{0,40}").replace(r"\ ", r"\s{1,8}") + ahead + rest
        for words, ahead, rest in parts
    )
