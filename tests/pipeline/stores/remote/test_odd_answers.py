"""A service that answers any one request with something else: nothing goes that could not be brought back."""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loopback import Reply, Request
from mem0_dream.errors import DreamError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import RunResult
from mem0_dream.pipeline.writing.journal import RunState
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder
from services import EVERYTHING, Service

pytestmark = pytest.mark.store
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SETTINGS = Settings(scorer="keywords", max_delete=1.0, min_delete=0, assume_unread=True)
TEXTS = (
    ("Deploys the shop to staging on Tuesdays", 40),
    ("Deploys the shop to staging on Tuesdays", 10),
    ("Fixed bug", 10),
    ("The billing service is written in Rust.", 15),
)
OTHER = {"id": "someone-elses", "memory": "Owns a red bicycle.", "user_id": "alice", "metadata": None}
ODD: dict[str, Any] = {
    "null": None, "nothing in it": {}, "another record": OTHER, "a text": "gone", "a list": [OTHER]
}  # fmt: skip


class Odd:
    """A service of which one answer, counted from 0, is another; the request itself is carried out."""

    def __init__(self, service: Callable[[Request], Reply]) -> None:
        self.service, self.left, self.answer = service, -1, object()

    def __call__(self, request: Request) -> Reply:
        reply = self.service(request)
        self.left -= 1
        return reply if self.left != -1 else Reply(200, self.answer)

    def at(self, position: int, answer: object) -> None:
        self.left, self.answer = position, answer


class Nights:
    """Passes over one service and their undos, of which one request is answered oddly."""

    def __init__(self, service: Service, state: Path, answers: Sequence[object]) -> None:
        for text, days in TEXTS:
            moment = NOW - timedelta(days=days)
            service.put(text, user_id="alice", created_at=moment, metadata={"days": days})
        self.service, self.state, self.before = service, state, service.content()
        self._odd, self._answers = Odd(service.double), answers
        service.server._service = self._odd

    def step(self, work: Callable[[Session], object], odd: int | None = None) -> tuple[Any, bool]:
        """What a step comes to, None where it ends with a sentence; and whether the odd answer came."""
        store = self.service.open()
        with Session(store, settings=SETTINGS, state_dir=self.state, encoder=FakeEncoder()) as opened:
            opened.withdraw(opened.answered)
            self._odd.at(-1 if odd is None else odd, self._answers[(odd or 0) % len(self._answers)])
            told = None
            with contextlib.suppress(DreamError) if odd is not None else contextlib.nullcontext():
                told = work(opened)
            reached = odd is not None and self._odd.left < 0
            self._odd.at(-1, None)
            return told, reached

    def finished(self) -> None:
        """Resume and undo whatever is left, on a sound line."""

        def work(opened: Session) -> None:
            if opened.journal.interrupted(opened.store.fingerprint):
                opened.resume(now=NOW)
            for run in opened.journal.runs(opened.store.fingerprint):
                if run.state is not RunState.UNDONE:
                    assert (undone := opened.undo(run.id, now=NOW)).lost == undone.kept == ()

        self.step(work)


def a_pass(opened: Session) -> RunResult:
    return opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)


KINDS = pytest.mark.parametrize("kind", ["platform", "hosted"])


@pytest.mark.parametrize("odd", ["null", "another record", "the others in turn"])
@KINDS
def test_one_odd_answer_in_a_pass_or_its_undo_loses_nothing(
    kind: str, odd: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    answers = [ODD[odd]] if odd in ODD else [ODD[name] for name in ("nothing in it", "a text", "a list")]
    nights = Nights(request.getfixturevalue(kind), tmp_path, answers)
    whole = 0
    for position in itertools.count():
        done, reached = nights.step(a_pass, odd=position)
        whole += bool(done and done.removed == 2)
        texts = [each for each, _ in nights.service.content()]
        assert any("Deploys" in each for each in texts)
        nights.finished()
        assert nights.service.content() == nights.before, f"a pass, request {position}"
        if not reached:
            break
    assert whole > position // 2  # a second look was enough
    for position in itertools.count():
        nights.step(a_pass)
        _, reached = nights.step(lambda opened: opened.undo(now=NOW), odd=position)
        nights.finished()
        assert nights.service.content() == nights.before, f"an undo, request {position}"
        if not reached:
            break


@pytest.mark.parametrize("odd", ODD)
@KINDS
def test_a_record_that_is_never_told_right_is_left_alone_and_the_others_go_on(
    kind: str, odd: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    service: Service = request.getfixturevalue(kind)
    nights = Nights(service, tmp_path, [ODD[odd]])
    bug = next(each.id for each in service.open().read(EVERYTHING).memories if each.text == "Fixed bug")
    sound = service.server._service

    def service_of(asked: Request) -> Reply:
        reply = sound(asked)
        one = asked.method == "GET" and asked.path.rstrip("/").endswith(bug)
        return Reply(200, ODD[odd]) if one else reply

    service.server._service = service_of
    done, _ = nights.step(a_pass)
    assert (done.merged, done.pruned) == (1, 0)
    ((_, why),) = done.moved
    # A server says null of what is not there, the platform 404.
    assert "is gone" in why if (kind, odd) == ("hosted", "null") else "has another form" in why
    service.server._service = sound
    nights.finished()
    assert service.content() == nights.before
