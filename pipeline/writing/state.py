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

STATE_DIR_VARIABLE = "MEM0_DREAM_STATE_DIR"


def state_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the state directory, creating it if needed.

    Args:
        given: A directory that overrides the environment and the platform's default.

    Raises:
        ConfigError: If the directory cannot be created.
    """
    chosen = given or os.environ.get(STATE_DIR_VARIABLE)
    if chosen is None:
        import platformdirs

        chosen = platformdirs.user_state_dir("mem0-dream")
    path = Path(chosen).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(
            f"The state directory {path} cannot be created ({error.strerror}); "
            f"set {STATE_DIR_VARIABLE} to a directory you may write to."
        ) from error
    return path


@contextlib.contextmanager
def store_lock(directory: Path, fingerprint: str) -> Iterator[None]:
    """Hold the lock of one store; the operating system frees it when its holder dies.

    Args:
        directory: The state directory.
        fingerprint: Which store.

    Raises:
        ConfigError: If there is no place for a lock.
        StoreLockedError: If another run holds it.
    """
    from filelock import FileLock, Timeout

    folder = directory / "locks"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The folder of locks {folder} cannot be created ({error.strerror}).") from error
    holder = folder / f"{fingerprint}.pid"
    lock = FileLock(folder / f"{fingerprint}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        with contextlib.suppress(OSError):
            raise StoreLockedError(
                f"Another mem0-dream run (process {holder.read_text().strip()}) is working on this store; "
                "wait for it to end, then start again."
            ) from None
        raise StoreLockedError(
            "Another mem0-dream run is working on this store; wait for it to end."
        ) from None
    try:
        holder.write_text(str(os.getpid()))
        yield
    finally:
        lock.release()
