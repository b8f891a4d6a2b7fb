"""What the drivers share that end processes for real, with SIGKILL, and how a test runs one of them."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

KILLED = -signal.SIGKILL

Case = dict[str, Any]


def drive(driver: str, cases: Sequence[Case]) -> list[Case]:
    """Let a driver beside this file carry out cases, each in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(driver))],
        input=json.dumps(list(cases)),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MEM0_TELEMETRY": "False", "PYTHONWARNINGS": "ignore", "PYTHONUTF8": "1"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def serve(carry_out: Callable[[Case], None], *, imports: Sequence[str]) -> None:
    """Be a driver: read cases from the input, fork a child for each, print one line of JSON per case.

    The imports are paid once, before the first fork.
    """
    os.environ |= {"MEM0_TELEMETRY": "False", "OMP_NUM_THREADS": "1"}
    for name in imports:
        importlib.import_module(name)
    for case in json.load(sys.stdin):
        print(json.dumps(_in_child(carry_out, case)), flush=True)


def die(*_: object, **__: object) -> None:
    """End as `kill -9` ends a process: at once, without a word."""
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


def _in_child(carry_out: Callable[[Case], None], case: Case) -> Case:
    """Fork, let the child do the case, and tell how it ended and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            os._exit(_ended(carry_out, case))
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        return {"code": os.waitstatus_to_exitcode(status), "out": printed.read().decode()}


def _ended(carry_out: Callable[[Case], None], case: Case) -> int:
    """What a child does; the exit code."""
    os.environ["MEM0_DREAM_STATE_DIR"] = case["state"]
    sys.stdout = sys.stderr = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    try:
        carry_out(case)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    except BaseException:  # noqa: BLE001  (a child must never return to the loop)
        import traceback

        traceback.print_exc()
        return 99
    finally:
        with contextlib.suppress(ValueError):
            sys.stdout.flush()
    return 0
