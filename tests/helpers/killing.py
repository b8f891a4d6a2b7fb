"""How a process ends itself for real, with SIGKILL, in the middle of its work."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

KILLED = -signal.SIGKILL


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(real: Callable[..., Any], step: int, *, after: bool) -> Callable[..., Any]:
    """The same function, but the process dies just before or just after its n-th call."""
    count = 0

    def called(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == step and not after:
            die()
        answer = real(*arguments)
        if count == step:
            die()
        return answer

    return called
