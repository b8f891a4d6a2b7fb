"""The world of a test: one of each kind of store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kinds import KINDS, World


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    built = KINDS[request.param](tmp_path, monkeypatch)
    yield built
    built.close()
