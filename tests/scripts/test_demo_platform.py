"""The demonstration on the platform's double runs, and its proof can fail."""

from __future__ import annotations

import json
import os

import forks
import pytest
from mem0_dream.scripts import demo_platform as demo
from mem0_dream.testing_http import LoopbackServer

CONTENT = json.loads(demo.MEMORIES.read_text(encoding="utf-8"))


def test_the_memories_are_those_of_the_other_demonstration() -> None:
    """Every one of them, under its date and with its category."""
    double = demo.filled(CONTENT)
    assert len(double.rows) == len(CONTENT["memories"])
    assert all(row["categories"] for row in double.rows.values())


def test_a_single_difference_is_seen() -> None:
    """A date, a key of the metadata, an expiry day; not an id."""
    before = demo.shown(demo.filled(CONTENT))
    for change in (
        {"created_at": "2026-01-01T00:00:00+00:00"},
        {"metadata": {"k": 1}},
        {"expiration_date": "2026-01-01"},
    ):
        double = demo.filled(CONTENT)
        next(iter(double.rows.values())).update(change)
        assert demo.shown(double) != before
    double = demo.filled(CONTENT)
    next(iter(double.rows.values()))["id"] = "another"
    assert demo.shown(double) == before


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is not 0."""
    with LoopbackServer(demo.filled(CONTENT)) as server:
        assert demo.told(server, ["not all came back"], gone=1) == 1
        assert demo.told(server, [], gone=1) == 0
    assert "FAILED: not all came back." in capsys.readouterr().out


@pytest.mark.e2e
def test_the_demonstration_succeeds() -> None:
    """As a process, with the scorer that needs no model."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    words, options = ("--scorer", "keywords"), {"module": demo.__name__}
    done = forks.run(
        forks.Call(words, environment, imports=forks.OF_MEM0, function="demonstrations:play", options=options)
    )
    assert done.code == 0, done
    assert "memories were deleted and came back" in done.out
