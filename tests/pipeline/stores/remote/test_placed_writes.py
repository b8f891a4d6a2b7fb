"""An agent that writes at any request of a pass: what it wrote is lost at the very deletion of that memory alone."""

import itertools
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from loopback import Request
from mem0_dream.pipeline.engine import Session
from mem0_dream.testing import FakeEncoder
from placed import NOW, SETTINGS, TEXTS, WRITTEN
from platform_double import PlatformDouble
from services import EVERYTHING, Service

pytestmark = pytest.mark.store


def texts(service: Service) -> Counter[str]:
    return Counter(each.text for each in service.open().read(EVERYTHING).memories)


def agent_writes(service: Service, memory_id: str) -> bool:
    """Another text for a memory, past us; whether it was still there."""
    if isinstance(service.double, PlatformDouble):
        row = service.double.rows.get(memory_id)
        if row is not None:
            row |= {"memory": WRITTEN, "updated_at": NOW.isoformat()}
        return row is not None
    if service.double.memory.get(memory_id) is None:
        return False
    service.double.memory.update(memory_id, text=WRITTEN)
    return True


class Placed:
    """A pass over a new set of memories, at one request of which an agent writes one of them."""

    def __init__(self, service: Service, state: Path, target: str, position: int, *, retire: bool) -> None:
        self.service, self.target, self.position = service, target, position
        for memory in service.open().read(EVERYTHING).memories:
            service.double.rows.pop(memory.id) if hasattr(service.double, "rows") else _forget(
                service, memory.id
            )
        self.ids = {
            name: service.put(
                text, user_id="alice", created_at=NOW - timedelta(days=days), metadata={"k": days}
            )
            for name, (text, days) in TEXTS.items()
        }
        self.wrote: Request | None = None
        store = service.open()
        with Session(store, settings=SETTINGS, state_dir=state, encoder=FakeEncoder()) as opened:
            plan = opened.propose(EVERYTHING, now=NOW)
            self._first = len(service.server.requests)
            service.server.before = self._before
            opened.apply(plan, now=NOW, retire=retire)
            service.server.before = lambda _: None
            self.requests = service.server.requests[self._first :]
            self.left = texts(service)
            if opened.journal.runs():
                opened.undo(now=NOW)
        assert texts(service)[WRITTEN] == self.left[WRITTEN], "an undo keeps what was written since"

    def _before(self, asked: Request) -> None:
        here = len(self.service.server.requests) - self._first == self.position + 1
        if here and agent_writes(self.service, self.ids[self.target]):
            self.wrote = asked

    def is_own_deletion(self, asked: Request, name: str) -> bool:
        return asked.method == "DELETE" and asked.path.rstrip("/").endswith(self.ids[name])


def _forget(service: Service, memory_id: str) -> None:
    service.double.memory.delete(memory_id)


CASES = [
    *(("platform", name, retire) for name in ("one", "other", "bug") for retire in (False, True)),
    ("hosted", "one", False),
    ("hosted", "other", True),
]


@pytest.mark.parametrize(("kind", "target", "retire"), CASES)
def test_what_an_agent_writes_at_any_request_is_kept(
    kind: str, target: str, request: pytest.FixtureRequest, tmp_path: Path, *, retire: bool
) -> None:
    service: Service = request.getfixturevalue(kind)
    placed = lost = 0
    for position in itertools.count():
        night = Placed(service, tmp_path / str(position), target, position, retire=retire)
        if night.wrote is not None:
            placed += 1
            if not night.left[WRITTEN]:
                lost += 1
                assert night.is_own_deletion(night.wrote, target), night.wrote
        gone = [n for n, asked in enumerate(night.requests) if night.is_own_deletion(asked, "one")]
        if target == "other" and gone and night.wrote is not None and position < gone[0] - 1:
            # Nothing goes for the sake of a text that does not stay.
            raise AssertionError(f"written at request {position}, and one was removed at {gone[0]}")
        if len(night.requests) <= position:
            break
    assert placed > 10
    assert lost == (0 if retire or target == "other" else 1)
