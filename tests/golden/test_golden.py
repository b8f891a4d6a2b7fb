"""What a person sees of each kind of store, equal to the byte; whole plans are held in `reference`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kept_stores import WORLDS, transcript
from kinds import World

pytestmark = pytest.mark.store
Golden = Callable[[str, str], None]


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(tmp_path / "state"))
    return WORLDS[request.param](tmp_path, monkeypatch)


def test_what_is_shown(world: World, golden: Golden) -> None:
    golden(f"{world.kind}_shown.txt", transcript(world, (("--dry-run", "--explain"), ""), (("status",), "")))


def test_an_attended_run(world: World, golden: Golden) -> None:
    before = world.content()
    lines = (((), "a\na\ny\n"), (("runs",), ""), (("undo",), "y\n"), (("reject", "--list"), ""))
    golden(f"{world.kind}_attended.txt", transcript(world, *lines))
    assert world.content() == before


def test_an_unattended_run(world: World, golden: Golden) -> None:
    golden(f"{world.kind}_auto.txt", transcript(world, (("--auto",), "")))
