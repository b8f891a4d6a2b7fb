"""Files of any store: durable writes, and exchanges that never overwrite another program's change."""

from __future__ import annotations

import hashlib


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
