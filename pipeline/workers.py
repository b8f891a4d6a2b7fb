"""Scopes judged ahead of a pass, in other processes or on other machines.

A worker plans some scopes and throws the plan away; what the models said is left in the cache. The plan of
the pass is the one that it would make alone, whatever a worker did. Only the pass reads and writes the store.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ..errors import MissingExtraError, ModelError
from ..records import Inventory, Memory, Scope
from ..settings import Settings
from .judging.cache import Cache, Models
from .kinds import build_plan
from .planning.hooks import Means
from .stores.base import Capabilities, Store

SHARE = 256  # memories from which a share pays for its way to a worker; a scope is never split
RETRIES = 3  # how often a share that was lost with its machine is given to another one

REACH_S = 5.0
LOOK_S = 1.0  # how often the cache is asked what is done

_TOLD = ("now", "accessed", "rejected", "unattended", "tracked", "hygiene")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker is told: some whole scopes, and all that a plan of them depends on."""

    memories: tuple[Memory, ...]
    capabilities: Capabilities
    settings: Settings
    circumstances: Mapping[str, Any]  # of `planning.hooks.Means`, and the thresholds

    @property
    def key(self) -> bytes:
        """What was judged under this key need not be sent again."""
        said = [repr((m.id, m.text, m.scope, m.category, m.stated_at, m.metadata)) for m in self.memories]
        models = repr((self.settings.scorer, self.settings.encoder, self.settings.neighbours))
        return hashlib.sha256("\0".join(["share", models, *said]).encode("utf-8", "surrogatepass")).digest()


class _Kept(Cache):
    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.fresh: dict[bytes, bytes] = {}

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        self.fresh |= entries
        super().store(entries)


def shares_of(inventory: Inventory, store: Store, means: Means) -> list[Share]:
    """Whole scopes in shares, the largest first; retired memories may be among them."""
    scopes: dict[Scope, list[Memory]] = {}
    for memory in inventory.memories:
        scopes.setdefault(memory.scope, []).append(memory)
    told = {name: getattr(means, name) for name in _TOLD} | {"thresholds": means.models.calibrated}
    parts: list[list[Memory]] = [[]]
    for memories in sorted(scopes.values(), key=lambda each: (-len(each), each[0].id)):
        if len(parts[-1]) >= SHARE:
            parts.append([])
        parts[-1] += memories
    return [Share(tuple(part), store.capabilities, means.settings, told) for part in parts if part]


def judge_ahead(
    shares: Iterable[Share], cache: Cache, *, settings: Settings, advance: Callable[[int], None]
) -> None:
    """Fill the cache with what a plan of these shares will ask, but for those judged before, or for one."""
    every = list(shares)
    known = cache.load([share.key for share in every])
    new = [share for share in every if share.key not in known]
    if len(new) < 2:
        return
    run = _by_ray if settings.engine == "ray" else _by_processes
    for done, (share, entries) in enumerate(run(new, cache, settings), len(every) - len(new) + 1):
        cache.store({**entries, share.key: b"judged"})
        advance(done)


def judged(share: Share, directory: Path | None = None) -> dict[bytes, bytes]:
    """Plan one share; what the models said is in the cache of the state directory, else returned."""
    with tempfile.TemporaryDirectory() as folder:
        models = Models(share.settings, directory or Path(folder))
        models.cache = kept = _Kept(directory or Path(folder))
        build_plan(
            Inventory("a share", share.memories),
            store=cast("Store", SimpleNamespace(capabilities=share.capabilities, kind="mem0")),
            encoder=models.read(),
            scorer=models.asked(),
            settings=share.settings,
            **share.circumstances,
        )
    return {} if directory else kept.fresh


def _by_processes(
    shares: list[Share], cache: Cache, settings: Settings
) -> Iterator[tuple[Share, dict[bytes, bytes]]]:
    context = multiprocessing.get_context("spawn")
    count = min(settings.workers, len(shares))
    running = [
        context.Process(target=_work, args=(shares[at::count], cache.path.parent), daemon=True)
        for at in range(count)
    ]
    left = {share.key: share for share in shares}
    try:
        try:
            for process in running:
                process.start()
        except OSError as error:
            _log.warning("Not every worker process can be started (%s).", error)
        alive = [process for process in running if process.pid]
        while alive:
            connection.wait([process.sentinel for process in alive], LOOK_S)
            ended = [process for process in alive if process.exitcode is not None]
            alive = [process for process in alive if process not in ended]
            if any(process.exitcode for process in ended):
                _log.warning("A worker process ended before its time; the pass judges the rest by itself.")
            yield from ((left.pop(key), {}) for key in cache.load(list(left)))
    finally:
        for process in running:
            if process.pid and process.is_alive():
                process.terminate()


def _work(shares: list[Share], directory: Path) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for share in shares:
            judged(share, directory)
            Cache(directory).store({share.key: b"judged"})
    except Exception:  # noqa: BLE001  # the pass meets it again and says it; a traceback could hold texts
        sys.exit(1)


def _by_ray(
    shares: list[Share], _cache: Cache, settings: Settings
) -> Iterator[tuple[Share, dict[bytes, bytes]]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            "--engine ray needs the extra 'ray': pip install 'mem0-dream[ray]'."
        ) from None
    try:
        host, colon, port = (settings.address or "").rpartition("://")[2].rpartition(":")
        if colon and port.isdigit():
            socket.create_connection((host, int(port)), REACH_S).close()
        ray.init(address=settings.address, log_to_driver=False, include_dashboard=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"There is no Ray at {settings.address or 'this machine'} ({error}).") from error
    try:
        task = ray.remote(max_retries=RETRIES)(judged)
        running = {task.remote(share): share for share in shares}
        waiting = list(running)
        while waiting:
            (done,), waiting = ray.wait(waiting)
            try:
                yield running[done], ray.get(done)
            except ray.exceptions.RayError as error:
                _log.warning("A share was lost (%s); the pass judges it by itself.", type(error).__name__)
    finally:
        ray.shutdown()
