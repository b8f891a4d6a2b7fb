"""Prose of a Markdown text: its sentences, one cut out, and several texts combined."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ...models.guards import missing
from ...models.markdown_blocks import PROSE, LineKind, markdown_lines
from ...models.same_statement import statement_key
from ...models.text.statements import sentences
from ...models.text.tables import pattern
from ...models.text.words import significant_words

_RULED = pattern("table_rule")
_WRAPPED = 50  # a shorter line of a paragraph was not wrapped: it is a statement of its own


class Said(NamedTuple):
    """A sentence, a bullet or a row of a Markdown text."""

    text: str  # as it stands, without bullet
    words: str  # as it is read: a row as "first cell: the others"
    line: int  # of the text, from 0
    heading: tuple[str, ...]  # the headings above it, below the title
    kind: LineKind  # what its line is
    behind: bool = False  # whether another sentence stands in front of it, which may name what it is about


def combined(survivor: str, others: Sequence[str]) -> str | None:
    r"""The survivor's text with what only the others say; None if a detail would be lost all the same.

    Lines are taken over whole and as they are, so that lists stay lists and code stays code.

    >>> combined("Deploys run from main.", ["Deploys run from main.\n- Ask Ines first."])
    'Deploys run from main.\n- Ask Ines first.'
    """
    text = survivor
    for other in others:
        lines = (line for line in markdown_lines(other) if line.kind != "heading")
        if new := [line for line in lines if says_more(line.text, text)]:
            after_item = new[0].kind == "item" and markdown_lines(text)[-1].kind == "item"
            text += "\n\n" if "\n" in text and not after_item else "\n"
            text += "\n".join(line.text.rstrip() for line in new)
    return None if missing(others, text) else text


def without(text: str, said: Sequence[str]) -> str | None:
    """The text without some of its sentences: empty if nothing is left, None if one cannot be cut out.

    >>> without("Uses tabs. Deploys on Fridays.", ["Uses tabs."])
    'Deploys on Fridays.'
    """
    for sentence in said:
        rows = _unwrapped(text)
        at = next((number for number, each in enumerate(rows) if sentence in each[1]), None)
        if at is None:
            return None
        first, (_, row, start, _) = sum(len(each[1]) + 1 for each in rows[:at]), rows[at]
        place = row.find(sentence)
        end = place + len(sentence)
        if not row[start:place].strip() and not row[end:].strip():  # nothing but its bullet is left
            last = first + len(row)
            text = text[: max(first - 1, 0)] + text[last:] if first else text[last + 1 :]
        else:
            text = text[: first + place] + text[first + end :].lstrip(" ")
    text = text.strip("\n").rstrip()
    return text if any(line.kind not in ("blank", "heading") for line in markdown_lines(text)) else ""


def settled(text: str, lost: str, *, held: str, beside: str) -> str | None:
    """A text without a sentence that lost; None if what it lost against is not said `beside` it any more."""
    if held not in statements(beside):
        return None  # it lost what it would win with
    return without(text, [lost]) if lost in statements(text) else text


def merely_joins(text: str, members: Sequence[str]) -> bool:
    """Whether a text says all that its sources say one after the other: then nothing stood there twice."""
    apart = Counter(statement_key(said) for member in members for said in statements(member))
    kept = not apart - Counter(map(statement_key, statements(text)))
    return kept or len(text.split()) >= sum(len(member.split()) for member in members)


@functools.lru_cache(maxsize=1024)
def said(text: str) -> tuple[Said, ...]:
    r"""All that a Markdown text states; no code, quotations, or headers of tables.

    A sentence that runs over wrapped lines is one, with a space for each line break.

    >>> [each.words for each in said("## Ports\n\n| for | port |\n|---|---|\n| web | 80 |\n\nBusy. Ask us.")]
    ['web: 80', 'Busy.', 'Ask us.']
    """
    found: list[Said] = []
    under: dict[int, str] = {}
    rows, lines = _unwrapped(text), markdown_lines(text)
    for place, (kind, row, start, line) in enumerate(rows):
        if kind == "heading" and row.lstrip().startswith("#"):
            level = len(row.lstrip()) - len(row.lstrip().lstrip("#"))
            under = {above: name for above, name in under.items() if above < level}
            under[level] = row.strip("# \t")
        heading = tuple(under[level] for level in sorted(under) if level > 1)
        if kind in PROSE:
            # A sentence may begin where a wrapped line does.
            inside = kind == "text" and lines[line].follows and len(lines[line - 1].text) >= _WRAPPED
            found += [
                Said(each, each, line, heading, kind, inside or at > 0)
                for at, each in enumerate(sentences(row[start:]))
            ]
        elif kind == "table" and not _RULED.match(row):
            header = place + 1 < len(rows) and _RULED.match(rows[place + 1][1])
            first, *others = (cell.strip() for cell in row.strip().strip("|").split("|"))
            if not header and others:
                found.append(Said(row.strip(), f"{first}: {', '.join(others)}", line, heading, kind))
    return tuple(each for each in found if significant_words(each.words))


def statements(text: str) -> list[str]:
    """The same as it stands there."""
    return [each.text for each in said(text)]


def says_more(line: str, text: str) -> bool:
    """Whether a line says something that no single sentence of the text says."""
    if not significant_words(line):
        return False
    held = [significant_words(sentence) for sentence in sentences(text)]
    parts = [significant_words(part) for part in sentences(line)]
    return not all(any(part <= one for one in held) for part in parts) or bool(missing([line], text))


@functools.lru_cache(maxsize=1024)
def _unwrapped(text: str) -> tuple[tuple[LineKind, str, int, int], ...]:
    """Lines with their numbers; a wrapped paragraph is joined by spaces, so that characters keep places."""
    rows: list[tuple[LineKind, str, int, int]] = []
    above = ""
    for number, line in enumerate(markdown_lines(text)):
        kind, row, start, first = rows[-1] if rows else ("blank", "", 0, 0)
        goes_on = kind in PROSE and line.kind == "text" and line.follows
        if goes_on and len(above) >= _WRAPPED and not pattern("closed_line").search(above):
            rows[-1] = (kind, f"{row} {line.text}", start, first)
        else:
            rows.append((line.kind, line.text, line.said, number))
        above = line.text
    return tuple(rows)
