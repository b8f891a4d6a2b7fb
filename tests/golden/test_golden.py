"""What a person sees of each kind of store, equal to the byte; whole plans are held in `reference`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kept_stores import PLACES, Place

pytestmark = pytest.mark.store
Golden = Callable[[str, str], None]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(tmp_path / "state"))
    return PLACES[request.param](tmp_path, monkeypatch)


def test_what_is_shown(place: Place, golden: Golden) -> None:
    golden(f"{place.kind}_shown.txt", place.transcript((("--dry-run", "--explain"), ""), (("status",), "")))


def test_an_attended_run(place: Place, golden: Golden) -> None:
    before = place.content()
    lines = (((), "a\na\ny\n"), (("runs",), ""), (("undo",), "y\n"), (("reject", "--list"), ""))
    golden(f"{place.kind}_attended.txt", place.transcript(*lines))
    assert place.content() == before


def test_an_unattended_run(place: Place, golden: Golden) -> None:
    golden(f"{place.kind}_auto.txt", place.transcript((("--auto",), "")))
