"""Bytes of a Markdown file as text that goes back to the same bytes, and edits line by line.

Nothing is ever re-serialised: an edit keeps every line it does not change, line ending included.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

BOM = codecs.BOM_UTF8
_STRAY = 0xF700
"""A byte that is no UTF-8 becomes the private character U+F700 + byte: unlike a surrogate it can be
kept in JSON and SQLite."""
_ERRORS = "mem0-dream-stray-bytes"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r)|([^\r\n]+)")
_ENDING = re.compile(r"\r\n|\r")


def _keep_stray(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        stray = error.object[error.start : error.end]
        return "".join(chr(_STRAY + byte) for byte in stray), error.end
    raise error


codecs.register_error(_ERRORS, _keep_stray)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        content: What it says, as texts are compared.
        raw: What stands in the file, without its ending; differs from `content` inside a list entry.
        ending: Its line ending; empty for a last line without one.
    """

    content: str
    raw: str
    ending: str


def decode(data: bytes) -> str:
    """Text of a file, without its byte order mark."""
    return data.removeprefix(BOM).decode("utf-8", _ERRORS)


def encode(text: str, *, bom: bool) -> bytes:
    """Bytes of a text, stray bytes put back."""
    if not any(_STRAY + 0x80 <= ord(char) <= _STRAY + 0xFF for char in text):
        body = text.encode("utf-8")
    else:
        body = b"".join(_byte(char) for char in text)
    return (BOM if bom else b"") + body


def is_faithful(data: bytes) -> bool:
    """Whether the text of these bytes leads back to them; only such a file is ever edited."""
    return encode(decode(data), bom=data.startswith(BOM)) == data


def split_lines(text: str) -> list[Line]:
    """Lines as Markdown counts them: ended by LF, CRLF or CR, and by nothing else."""
    return [
        Line(match[1] or match[3] or "", match[1] or match[3] or "", match[2] or "")
        for match in _LINE.finditer(text)
    ]


def plain(text: str) -> str:
    """The text with every line ending as LF."""
    return _ENDING.sub("\n", text)


def newline_of(text: str) -> str:
    """The most frequent line ending; LF if there is none."""
    endings = Counter(line.ending for line in split_lines(text) if line.ending)
    return max(endings, key=lambda ending: (endings[ending], ending)) if endings else "\n"


def edit_lines(
    old: Sequence[Line], new: str, *, newline: str, render: Callable[[int, str], str] = lambda _, line: line
) -> str:
    r"""Write a new text over some lines, and keep the bytes of each line that stays.

    Args:
        old: The lines as they stand.
        new: The new contents, LF between the lines, none at the end.
        newline: Ending of lines that are new.
        render: Turns the content of a new line, with its number, into what stands in the file.

    >>> edit_lines(split_lines("a\r\nb"), "a\nc", newline="\n")
    'a\r\nc'
    """
    contents = new.split("\n")
    kept: dict[int, Line] = {}
    matcher = difflib.SequenceMatcher(None, [line.content for line in old], contents, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            # A first line carries the bullet, so it may stay only where it was.
            if (block.a + step == 0) == (block.b + step == 0):
                kept[block.b + step] = old[block.a + step]
    pieces: list[str] = []
    for number, content in enumerate(contents):
        line = kept.get(number)
        pieces.append(line.raw if line else render(number, content))
        if number < len(contents) - 1:
            pieces.append((line.ending if line else "") or newline)
    return "".join(pieces)


def _byte(char: str) -> bytes:
    code = ord(char) - _STRAY
    return bytes([code]) if 0x80 <= code <= 0xFF else char.encode("utf-8")
