"""A review on a port of this machine, from the first look to the end of the program."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ...errors import MissingExtraError, StoreLockedError, UsageError
from ..fronts import StoreAccess
from ..writing.lock import store_lock
from .desk import ReviewDesk, ReviewObserver

LOOPBACK = "127.0.0.1"


def require_web() -> None:
    """Make sure that the server's parts are there."""
    import importlib.util

    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"A review in the browser needs {', '.join(missing)}; install with: pip install 'mem0-dream[web]'"
        )


def serve(
    access: StoreAccess,
    watched: ReviewObserver,
    *,
    port: int,
    opened: Callable[[str, Callable[[], None]], None],
) -> None:
    """Answer the browser until the program is told to end.

    Port 0 takes a free one. `opened` is told the address, and how to end the review.
    """
    import uvicorn

    from .app import Gate, review_app

    listening = _listen(port)
    # SQLite's connections and most clients belong to the thread that opened them: all work is done in one.
    with listening, ThreadPoolExecutor(max_workers=1, thread_name_prefix="review") as executor:
        desk = executor.submit(ReviewDesk, access, watched).result()
        gate = Gate(int(listening.getsockname()[1]))
        with contextlib.ExitStack() as alone:  # passes and agents may go on
            try:
                alone.enter_context(store_lock(desk.directory, f"{desk.fingerprint}-review"))
            except StoreLockedError as error:
                raise StoreLockedError(
                    "A review of this store is open already; go on there, or end it with Ctrl-C first."
                ) from error
            app = review_app(desk, gate, watched, executor)
            config = uvicorn.Config(
                app, log_level="error", access_log=False, server_header=False, lifespan="off"
            )
            server = uvicorn.Server(config)
            opened(gate.address, lambda: setattr(server, "should_exit", True))
            server.run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise UsageError(f"Port {port} cannot be used ({error.strerror}); leave --port out.") from error
    listening.listen()
    return listening
