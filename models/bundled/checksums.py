"""Checksums of a folder of shipped weights, in the format of `sha256sum`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...errors import ModelError

SUMS_FILE = "SHA256SUMS"
_UNLISTED = frozenset({SUMS_FILE, "README.md"})


def write_sums(folder: Path) -> str:
    """Write the sums of every file that decides something and return the digest of that list.

    The model card is left out: its wording may change without changing the model.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in _UNLISTED)
    lines = "".join(f"{_digest(folder / name)}  {name}\n" for name in names)
    (folder / SUMS_FILE).write_text(lines, encoding="utf-8")
    return hashlib.sha256(lines.encode()).hexdigest()


def check_sums(folder: Path) -> str:
    """Check every listed file and return the digest of the list.

    Raises:
        ModelError: the list or a file is missing, or a file differs from its sum.
    """
    try:
        text = (folder / SUMS_FILE).read_text(encoding="utf-8")
        wrong = [
            name for digest, name in map(str.split, text.splitlines()) if _digest(folder / name) != digest
        ]
    except (OSError, ValueError) as error:
        raise ModelError(f"the weights in {folder} are incomplete: {error}; reinstall mem0-dream") from error
    if wrong:
        raise ModelError(f"damaged weights in {folder}: {', '.join(wrong)}; reinstall mem0-dream")
    return sums_digest(folder)


def sums_digest(folder: Path) -> str:
    """Digest of the list of sums: the identity of the weights, without reading them.

    Raises:
        ModelError: there is no such list.
    """
    try:
        return hashlib.sha256((folder / SUMS_FILE).read_bytes()).hexdigest()
    except OSError as error:
        raise ModelError(f"no {SUMS_FILE} in {folder}: {error}; reinstall mem0-dream") from error


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
