"""Where our own state lives: never in the user's store."""

from __future__ import annotations

import os
from pathlib import Path

from ....errors import ConfigError

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
