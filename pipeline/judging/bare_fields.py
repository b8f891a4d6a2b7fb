"""Bare fields: statements that are no more than an attribute and its value, in whatever form.

"Port: 8080" and "Listens on port 9090" give one attribute two values, however few words they share. Which
attributes have one value at a time, which kinds of things are alternatives, and of what there may be several
are rows of the table `fields`.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ...models.facts.names import same_name
from ...models.markdown_blocks import markdown_lines
from ...models.text.tables import pattern, spelled_out, table_lines, table_set
from ...models.text.vocabulary import synonyms
from ...models.text.words import CACHED_TEXTS, significant_words
from ...records import Memory

LONGEST = 9  # words of a bare field
_LIST = 3  # so many values of one attribute in one place are a list
_MOST_WORDS = 4  # of a value
_MOST_OF_VALUE = 20  # statements of one value that are set against those of another
_MOST_OF_KEY = 3  # words
_CHOSEN, _LIMITS, _SEVERAL = (table_set("fields", key) for key in ("chosen", "limits", "several_keys"))
_SINGLE = _CHOSEN | _LIMITS
_SAME = [frozenset(line.split()) for line in table_lines("fields", "same_values")]
_ALTERNATIVES = [line.split(" := ") for line in table_lines("fields", "alternatives")]
_ATTRIBUTES = [[*map(str.strip, line.split(":="))] for line in table_lines("fields", "one_valued")]
"""Each attribute: its name, what it is called, and its values where no sign parts them from it."""
_OPENING = spelled_out("field_verb")
_PLATFORM = rf"{_OPENING}?(?P<what>{spelled_out('one_version')})(?: version)? v?(?P<value>\d[\w.]*)"


class Field(NamedTuple):
    """One value of an attribute of what a place is about."""

    attribute: str
    of: frozenset[str]  # words that say of which part or kind: "minimum", "server"
    value: str


@lru_cache(maxsize=CACHED_TEXTS)
def bare(text: str) -> Field | None:
    """The attribute of one value that a text is, and nothing besides; None for anything else."""
    if len(text.split()) > LONGEST or "\n" in text:
        return None
    said = _plain(text)
    keyed = pattern("keyed_value").fullmatch(said)
    found = _with_key(keyed["key"], keyed["value"]) if keyed else _without_key(said)
    if found is None or pattern("open_value").search(found.value) or len(found.value.split()) > _MOST_WORDS:
        return None
    return found._replace(value=found.value.casefold())


def rival_values(a: str, b: str) -> str:
    """The attribute and the two values that two bare fields give it; empty if they give it none or one."""
    mine, theirs = bare(a), bare(b)
    if mine is None or theirs is None or mine[:2] != theirs[:2] or _alike(mine.value, theirs.value):
        return ""
    return f"{mine.attribute}: {mine.value} / {theirs.value}"


def rivals(members: Iterable[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """Pairs of texts of one place that give one attribute two values, as rows; no list of values.

    Args:
        members: Each place, which is empty for what is in none, and a text.
    """
    texts: list[str] = []
    held: dict[tuple[str, str, frozenset[str]], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, (place, text) in enumerate(members):
        texts.append(text)
        if place and (found := bare(text)):
            held[place, found.attribute, found.of][found.value].append(row)
    for values in held.values():
        if len(values) < _LIST:
            some = (row for rows in values.values() for row in rows[:_MOST_OF_VALUE])
            pairs = itertools.combinations(sorted(some), 2)
            yield from ((i, j) for i, j in pairs if rival_values(texts[i], texts[j]))


def several(a: str, b: str) -> bool:
    """Whether two texts name two of what a thing may have several of: two tags, two languages spoken."""
    texts = _plain(a), _plain(b)
    keys = [found for text in texts if (found := pattern("keyed_value").fullmatch(text)) and found["sign"]]
    if keys:
        named = [found["key"].casefold().split() for found in keys]
        counted = all(pattern("plain_count").fullmatch(found["value"]) for found in keys)  # "Components: 6"
        one = len(keys) == 2 and named[0] == named[1] and named[0][0] not in _SINGLE
        return one and named[0][-1] in _SEVERAL and not counted
    verbs = [found for text in texts if (found := pattern("of_several").match(text))]
    if len(verbs) < 2 or verbs[0][0].casefold() != verbs[1][0].casefold():
        return False
    objects = [text[verb.end() :].split() for text, verb in zip(texts, verbs, strict=True)]
    if not all(0 < len(words) <= _MOST_WORDS for words in objects) or objects[0][0] == objects[1][0]:
        return False
    # "Supports 5 users" and "Supports 6 users" differ in a number of one thing.
    return not all(len(words) > 1 and words[0].isdigit() for words in objects)


def list_of(memory: Memory, line: int, block: str) -> str:
    """The list of which a line of a Markdown memory is a bullet; empty if it is none.

    Bullets below two others, and those of two lists of one section, are not of one list.
    """
    if "#" in memory.id and line == 0:
        return block  # the memory is a bullet itself
    above = _lines_above(memory.text)
    if line not in above:
        return ""
    return memory.id if above[line] is None else f"{memory.id}\0{above[line]}"


@lru_cache(maxsize=256)
def _lines_above(text: str) -> dict[int, int | None]:
    """For each bullet of a text the nearest line above it that its list is not part of."""
    above: dict[int, int | None] = {}
    outer: list[tuple[int, int]] = []  # depths and numbers of the lines that something may stand below
    ends = -1  # the last line that is neither a bullet nor indented
    for number, each in enumerate(markdown_lines(text)):
        if each.kind == "blank":
            continue
        depth = len(each.text) - len(each.text.lstrip())
        while outer and outer[-1][0] >= depth:
            outer.pop()
        if each.kind == "item":
            nearest = max(outer[-1][1] if outer else -1, ends)
            above[number] = nearest if nearest >= 0 else None
        elif not depth:
            ends = number
        outer.append((depth, number))
    return above


def _plain(text: str) -> str:
    bare_words = " ".join(pattern("field_marks").sub(" ", text).split()).replace(" :", ":")
    return pattern("field_opening").sub("", pattern("field_ends").sub("", bare_words))


def _with_key(key: str, value: str) -> Field | None:
    words = key.casefold().split()
    for name, called, _ in _ATTRIBUTES:
        if found := _compiled(rf"(?P<of>.*\s)??(?:{called})").fullmatch(key):
            return Field(name, significant_words(found["of"] or ""), value)
    for kind, members in _ALTERNATIVES:
        if words[-1] in kind.split() and _compiled(rf"(?:{members})(?: v?\d[\w.]*)?").fullmatch(value):
            return Field(kind, significant_words(key) - significant_words(kind), value)
    if pattern("one_version").fullmatch(key) and re.fullmatch(r"v?\d[\w.]*", value):
        return Field("version", significant_words(key), value)
    plural = words[-1].endswith("s") and not words[-1].endswith(("ss", "us", "is"))
    if words[0] in _SINGLE and 1 < len(words) <= _MOST_OF_KEY and not (plural and words[0] in _CHOSEN):
        return Field(" ".join(words), frozenset(), value)
    return None


def _without_key(said: str) -> Field | None:
    if pattern("of_several").match(said):
        return None
    for name, called, values in _ATTRIBUTES:
        if values and (found := _compiled(rf"{_OPENING}?(?:{called}) (?P<value>{values})").fullmatch(said)):
            return Field(name, significant_words(found["of"]), found["value"])
    if found := _compiled(_PLATFORM).fullmatch(said):
        return Field("version", significant_words(f"{found['of']} {found['what']}"), found["value"])
    for kind, members in _ALTERNATIVES:
        if found := _compiled(rf"{_OPENING}(?P<value>(?:{members})(?: v?\d[\w.]*)?)").fullmatch(said):
            rest = found["of"].strip()
            named = (called for name, called, _ in _ATTRIBUTES if name == kind)
            itself = any(_compiled(called).fullmatch(rest) for called in named)
            return Field(kind, frozenset() if itself else significant_words(rest), found["value"])
    return None


def _alike(a: str, b: str) -> bool:
    """Whether two values name one thing, or one of them says less: "MIT" and "MIT licence", 18 and 18.2."""
    pairs = zip(*(_compiled(r"[\w.+#-]+").findall(value) for value in (a, b)), strict=False)
    return all(_one(*sorted(pair, key=len)) for pair in pairs)


def _one(short: str, long: str) -> bool:
    if short == long or long.startswith(f"{short}."):
        return True
    alike = any({short, long} <= words for words in _SAME)
    return same_name(short, long) or synonyms(short, long) or alike


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)
