"""Files of any store, and our own state.

`undo` notes and takes back every write of ours, `exchange` replaces a file and never loses another program's
write, `archive` keeps what goes, `database` is the one file of our own state.
"""

from __future__ import annotations

import hashlib
import json


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*place: str) -> str:
    """Sixteen hexadecimal digits: equal for equal places."""
    return digest(json.dumps(place).encode())[:16]
