"""Files of any store, and our own state.

`undo` notes and takes back every write of ours and keeps what goes, `exchange` replaces a file without losing
another program's write, `database` is the one file of our own state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*place: str) -> str:
    """Sixteen hexadecimal digits: equal for equal places."""
    return digest(json.dumps(place).encode())[:16]


def json_text(value: object, *, indent: int | None = None, dense: bool = False) -> str:
    """JSON with signs as they are; escaped where they would be no UTF-8."""
    separators = (",", ":") if dense else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return text if is_utf8(text) else json.dumps(value, indent=indent, separators=separators)


def is_utf8(text: str) -> bool:
    """Whether a text can be written and kept; a lone surrogate, a text of JavaScript, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What differs when a file is another, or was written; None if it cannot be looked at."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, at any depth; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(inner)
