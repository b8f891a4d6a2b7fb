"""Reviews for tests: a store in memory with as many proposals as wanted, on a desk or behind a real server."""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders import ALICE, BOB, NOW, memory
from mem0_dream.pipeline.cli.asking import looked
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.fronts import StoreAccess, plan_page, report_lines
from mem0_dream.pipeline.mcp.tools import Tools
from mem0_dream.pipeline.plan import Member, Plan, Prune, ScopeTotal
from mem0_dream.pipeline.planning.stages import Observer, Silent
from mem0_dream.pipeline.reporting.html import page_data, render
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.web.app import serve
from mem0_dream.pipeline.web.desk import ReviewDesk, ReviewObserver
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

QUIET = Silent()
HOSTILE = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\"> \x1b[31mred\x1b[0m \u202egnp.\nlast"
LIMITS = Settings(floor=-1.0, scorer="keywords", max_delete=1.0, assume_unread=True)
SURE, MAYBE, AGAINST = (0.97, 0.0, 0.03), (0.8, 0.0, 0.2), (0.05, 0.9, 0.05)
PLACES = (
    "Oslo", "Bergen", "Turku", "Vilnius", "Tartu", "Riga", "Gdansk", "Malmo", "Aarhus", "Kiel", "Rostock", "Lund",
    "Narva", "Pori", "Vaasa", "Oulu",
)  # fmt: skip


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


def small_store() -> InMemoryStore:
    """A merge, a drafted merge, a conflict, two prunes, a doubt, a hostile text, bystanders, of two users."""
    return InMemoryStore(
        [
            memory("dog1", "Has a whippet named Pickle.", days=30),
            memory("dog2", "Has a brindle whippet named Pickle.", days=20),
            memory("run1", "Trains on hills. Runs the Leeds marathon every spring."),
            memory("run2", "Runs the Leeds marathon every spring. Wears carbon shoes."),
            memory("tabs1", "Uses tabs for indentation in Go code.", days=90),
            memory("tabs2", "Never uses tabs for indentation in Go code.", days=3),
            memory("bug", "Fixed bug", category="task"),
            memory(
                "tap", "Is looking for a plumber in Leeds for the kitchen tap.", days=400, category="todo"
            ),
            memory("sea1", "Reads long novels about the sea.", scope=BOB),
            memory("sea2", "Reads novels about sea voyages.", scope=BOB),
            memory("evil", HOSTILE, days=300, category="todo"),
            memory("pin", "[PINNED] Keep the lamp lit.", pinned=True, days=900),
            memory("tea", "Drinks Assam tea without sugar before noon."),
            memory("choir", "Sings alto in the cathedral choir every Thursday."),
        ]
    )


def crowded() -> dict[str, Any]:
    import numpy as np

    texts = {"bug": "Fixed bug", "more": "Fixed the bug in the parser", "tea": "Likes tea"}
    memories = [memory(name, text) for name, text in texts.items()]
    prune = Prune(id="p1", scope=ALICE, category=None, members=(Member("bug", "Fixed bug"),), reason="vague")
    return page_data(
        Plan("s", "memory", NOW, "fake", (ScopeTotal(ALICE, 3),), (prune,)),
        memories=memories,
        vectors=np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32),
    )


def small_scorer() -> FakeScorer:
    texts = {name: row["text"] for name, row in small_store().rows.items()}
    answers = {"dog": SURE, "run": SURE, "tabs": AGAINST, "sea": MAYBE}
    return FakeScorer({(texts[f"{of}1"], texts[f"{of}2"]): answer for of, answer in answers.items()})


def many(count: int) -> tuple[InMemoryStore, FakeScorer]:
    """A store of as many scopes as pairs, each with one merge, conflict or doubt about a text of its own."""
    from mem0_dream.records import Scope

    kinds = (SURE, MAYBE, AGAINST, SURE)
    memories, pairs = [], {}
    for n in range(count):
        scope = Scope.of(user_id=f"user{n % 40}", run_id=str(n))
        place = PLACES[n % len(PLACES)]
        a = f"Keeps the spare key number {n} with the neighbour on the second floor in {place}."
        b = f"The spare key number {n} is kept with a neighbour on the second floor in {place}."
        if kinds[n % 4] is AGAINST:
            b = a.replace("Keeps", "Never keeps")
        for name, text, days in (("a", a, 40), ("b", b, 20)):
            memories.append(memory(f"{n:05}-{name}", text, days=days, scope=scope))
        pairs[a, b] = kinds[n % 4]
    return InMemoryStore(memories), FakeScorer(pairs)


@dataclass
class World:
    store: InMemoryStore
    scorer: FakeScorer
    state: Path
    limits: Settings = LIMITS

    def session(self) -> Session:
        return Session(
            self.store, settings=self.limits, state_dir=self.state, encoder=FakeEncoder(), scorer=self.scorer
        )

    def access(self, *, calibrate: Callable[[], str] = lambda: "Fitted.") -> StoreAccess:
        return access_to(lambda _state: self.session(), self.state, calibrate=calibrate)

    def page(self) -> tuple[str, dict[str, Any]]:
        with self.session() as session:
            plan = session.propose(ScopeFilter(), now=NOW)
            data = plan_page(session, plan)
            return render(data, lines=report_lines(session, plan)), data


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def small_world(state: Path) -> World:
    return World(small_store(), small_scorer(), state)


def many_world(count: int, state: Path) -> World:
    return World(*many(count), state)


@contextlib.contextmanager
def served(access: StoreAccess, watched: ReviewObserver) -> Iterator[str]:
    """A real server in a thread of its own; gives the address that the terminal would print."""
    told: list[tuple[str, Callable[[], None]]] = []
    failed: list[BaseException] = []
    ready = threading.Event()

    def opened(address: str, end: Callable[[], None]) -> None:
        told.append((address, end))
        ready.set()

    def run() -> None:
        try:
            serve(access, watched, port=0, opened=opened)
        except BaseException as error:  # noqa: BLE001  (raised below, where the test waits)
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(60)
    if failed:
        raise failed[0]
    try:
        yield told[0][0]
    finally:
        told[0][1]()
        thread.join(30)


__all__ = ["ALICE", "BOB", "HOSTILE", "NOW", "World", "many_world", "served", "small_world"]
