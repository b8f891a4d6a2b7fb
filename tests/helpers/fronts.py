"""The fronts that review a plan, each on the same store and the same state."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from builders import NOW
from mem0_dream.pipeline.cli.asking import looked
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.fronts import StoreAccess
from mem0_dream.pipeline.mcp.tools import Tools
from mem0_dream.pipeline.planning.stages import Observer, Silent
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.web.desk import ReviewDesk, ReviewObserver

QUIET = Silent()


def access_to(session: Callable[[Path], Session], state: Path, **more: Any) -> StoreAccess:
    options = Options(now=NOW, all_scopes=True)

    @contextlib.contextmanager
    def opened(observer: Observer) -> Iterator[Session]:
        with session(state) as open_session:
            open_session._observer = observer
            yield open_session

    given: dict[str, Any] = {
        "open": opened,
        "look": lambda session: looked(session, options),
        "scopes": ScopeFilter,
        "moment": lambda: NOW,
        "clock": lambda: NOW,
        "command": lambda *words: f"mem0-dream {' '.join(words)}",
    }
    return StoreAccess(**given | more)


def desk_of(world: Any, state: Path) -> ReviewDesk:
    return ReviewDesk(access_to(world.session, state), ReviewObserver())


def tools_of(world: Any, state: Path) -> Tools:
    return Tools(access_to(world.session, state), may_write=True)
