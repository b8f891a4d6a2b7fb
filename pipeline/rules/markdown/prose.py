"""Prose of a Markdown text: its sentences, one cut out, and several texts combined."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ....models.guards import missing
from ....models.merger import sentences
from ....models.words import significant_words

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})")
_NO_PROSE = re.compile(r"^\s{0,3}(?:#{1,6}\s|>|\||`{3,}|~{3,})|^(?: {4,}|\t)(?![-*+] )")
_PLAIN = re.compile(r"^ {0,3}(?![-*+] |\d+[.)] )[^\s#>|`~]")
_CLOSED = re.compile(r"(?:[.!?:;]|  )$")
_WRAPPED = 50
"""A shorter line of a paragraph was not wrapped: it is a statement of its own."""
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")


def combined(survivor: str, others: Sequence[str]) -> str | None:
    r"""The survivor's text with what only the others say; None if a detail would be lost all the same.

    Lines are taken over whole and as they are, so that lists stay lists and code stays code.

    >>> combined("Deploys run from main.", ["Deploys run from main.\n- Ask Ines first."])
    'Deploys run from main.\n- Ask Ines first.'
    """
    text = survivor
    for other in others:
        new = [line for line in other.split("\n") if _adds(line, text)]
        if new:
            text += _joint(text, new[0]) + "\n".join(line.rstrip() for line in new)
    return None if missing(others, text) else text


def without(text: str, said: Sequence[str]) -> str | None:
    """The text without some of its sentences: empty if nothing is left, None if one cannot be cut out.

    >>> without("Uses tabs. Deploys on Fridays.", ["Uses tabs."])
    'Deploys on Fridays.'
    """
    for sentence in said:
        at = _unwrapped(text).find(sentence)
        if at < 0:
            return None
        end = at + len(sentence)
        start = text.rfind("\n", 0, at) + 1
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        head, tail = text[start:at], text[end:stop]
        if not _BULLET.sub("", head).strip() and not tail.strip():
            text = text[: max(start - 1, 0)] + text[stop:] if start else text[stop + 1 :]
        else:
            text = text[:at] + text[end:].lstrip(" ")
    text = text.strip("\n").rstrip()
    rest = [line for line in text.split("\n") if line.strip() and not _HEADING.match(line)]
    return text if rest else ""


def statements(text: str) -> list[str]:
    """Sentences of a Markdown text without bullets; no headings, code, tables or quotations.

    A sentence that runs over wrapped lines is one, with a space for each line break.
    """
    sentences_of: list[str] = []
    fenced = False
    for line in _unwrapped(text).split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _NO_PROSE.match(line):
            sentences_of += sentences(_BULLET.sub("", line))
    return [sentence for sentence in sentences_of if significant_words(sentence)]


def _unwrapped(text: str) -> str:
    """The text with each line break inside a paragraph as a space; every character keeps its place."""
    lines = text.split("\n")
    pieces = [lines[0]]
    for line, following in itertools.pairwise(lines):
        wrapped = len(line) >= _WRAPPED and not _CLOSED.search(line) and _PLAIN.match(following)
        pieces.append((" " if wrapped and not _NO_PROSE.match(line) else "\n") + following)
    return "".join(pieces)


def _adds(line: str, text: str) -> bool:
    """Whether a line says something that no single sentence of the text says."""
    words = significant_words(line)
    if not words or _HEADING.match(line):
        return False
    held = [significant_words(sentence) for sentence in sentences(text)]
    parts = [significant_words(part) for part in sentences(line)]
    return not all(any(part <= one for one in held) for part in parts) or bool(missing([line], text))


def _joint(text: str, line: str) -> str:
    """A bullet goes under a bullet, anything else becomes a paragraph."""
    return (
        "\n"
        if _BULLET.match(line) and _BULLET.match(text.rsplit("\n", 1)[-1])
        else "\n\n"
        if "\n" in text
        else "\n"
    )
