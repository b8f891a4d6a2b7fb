"""Where our own state lives, and the lock that keeps two runs of one store apart.

State is never written into the user's store: journal, caches, access log and rejected pairs are
SQLite files in one directory, `MEM0_DREAM_STATE_DIR` or the platform's own state directory.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ...errors import ConfigError, StoreLockedError
from ..stores.files.state import STATE_DIR_VARIABLE, state_directory
from .owner import Owner, owned, silence

__all__ = ["STATE_DIR_VARIABLE", "state_directory", "store_lock"]


@contextlib.contextmanager
def store_lock(directory: Path, fingerprint: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of one store; the operating system frees it when its holder dies.

    Args:
        directory: The state directory.
        fingerprint: Which store.
        wait_s: Seconds to wait for another run to end.

    Raises:
        ConfigError: If there is no place for a lock.
        StoreLockedError: If another run holds it, or its owner may still be at work.
    """
    from filelock import FileLock, Timeout

    folder = directory / "locks"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The folder of locks {folder} cannot be created ({error.strerror}).") from error
    holder, name = folder / f"{fingerprint}.pid", folder / f"{fingerprint}.owner.json"
    lock = FileLock(folder / f"{fingerprint}.lock", timeout=wait_s)
    try:
        lock.acquire()
    except Timeout:
        raise StoreLockedError(_held(holder, name)) from None
    try:
        _refuse_owner(name)
        holder.write_text(str(os.getpid()))
        with owned(name):
            yield
    finally:
        lock.release()


def _held(holder: Path, name: Path) -> str:
    """The sentence for a lock that is held, with its owner as far as known."""
    owner = Owner.read(name)
    told = str(owner) if owner is not None else ""
    with contextlib.suppress(OSError):
        told = told or f"process {holder.read_text().strip()}"
    if not told:
        return "Another mem0-dream run is working on this store; wait for it to end."
    return f"Another mem0-dream run ({told}) is working on this store; wait for it to end, then start again."


def _refuse_owner(name: Path) -> None:
    """The lock was free; its last owner must be gone, too."""
    owner = Owner.read(name)
    if owner is None or owner == Owner.present() or owner.is_gone(silent_s=silence(name)):
        return
    raise StoreLockedError(
        f"The lock of this store is free, but {owner} took it and may still be at work, last seen "
        f"{silence(name) / 60:.0f} minutes ago. If it is gone for good, remove {name}."
    )
