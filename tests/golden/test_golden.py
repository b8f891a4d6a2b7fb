"""Plans, reports and journals of every kind of store, equal to the byte from version to version.

A difference is either a mistake or something to be said in the changelog.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kept_stores import PLACES, SMALL, Place, keep, set_up

pytestmark = pytest.mark.store
Golden = Callable[[str, str], None]
VERSIONS = Path(__file__).parent / "versions"
HEALTH = {"mem0": ("status",), "md": ("--health",), "graph": ("--health",)}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A fixed store of each kind, with our own state in the same folder."""
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(tmp_path / "state"))
    return PLACES[request.param](tmp_path, monkeypatch)


def test_what_is_shown(place: Place, golden: Golden) -> None:
    """The report, plain, explained and as JSON."""
    shown = place.transcript(
        (("--dry-run",), ""), (("--dry-run", "--explain"), ""), (("--dry-run", "--json"), "")
    )
    golden(f"{place.kind}_shown.txt", shown)


def test_how_it_is_doing(place: Place, golden: Golden) -> None:
    """Status or health, for people and as JSON."""
    codes = (0, 9)
    lines = []
    for words in (HEALTH[place.kind], (*HEALTH[place.kind], "--json")):
        done = next(
            done for code in codes if (done := _allowed(place, words, code)) is not None
        )  # a warning is an exit code
        lines.append(f"$ mem0-dream {' '.join(words)} -> {done.exit_code}\n{done.stdout}")
    golden(f"{place.kind}_health.txt", place.plain("".join(lines)))


def _allowed(place: Place, words: tuple[str, ...], code: int) -> Any:
    try:
        return place.call(*words, code=code)
    except AssertionError:
        return None


def test_the_plan(place: Place, golden: Golden) -> None:
    """The plan file, which is also what the journal keeps."""
    golden(f"{place.kind}_plan.jsonl", place.plain(place.call("plan").stdout))


def test_an_attended_run(place: Place, golden: Golden) -> None:
    """Every question answered with A, everything applied, listed and taken back."""
    before = place.content()
    golden(f"{place.kind}_attended.txt", place.transcript(((), "a\na\ny\n"), (("runs",), "")))
    golden(f"{place.kind}_attended_journal.jsonl", place.journal())
    again = place.transcript(
        (("--dry-run",), ""), (("undo",), "y\n"), (("runs",), ""), (("reject", "--list"), "")
    )
    golden(f"{place.kind}_undone.txt", again)
    golden(f"{place.kind}_undone_journal.jsonl", place.journal())
    assert place.content() == before


def test_an_unattended_run(place: Place, golden: Golden) -> None:
    """What happens while nobody looks on."""
    golden(f"{place.kind}_auto.txt", place.transcript((("--auto",), "")))
    golden(f"{place.kind}_auto_journal.jsonl", place.journal())


@pytest.mark.model
def test_the_bundled_scorer(place: Place, golden: Golden) -> None:
    """The same proposals from the network; its scores may differ in the last digits and are left out."""
    shown = place.transcript((("--dry-run", "--scorer", "bundled"), ""))
    plan = place.plain(place.call("plan", "--scorer", "bundled").stdout)
    plan = re.sub(r"bundled@[\w.]+", "bundled@<WEIGHTS>", plan)
    golden(f"{place.kind}_bundled.txt", shown + re.sub(r"-?\d+\.\d+(e-\d+)?", "<SCORE>", plan))


@pytest.fixture(params=[(version, kind) for version in ("1", "2") for kind in SMALL], ids="-".join)
def kept(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What an earlier version left: the store before and after a run, its plan, and our state.

    `--golden-update` writes only what is missing: a version is kept as it was.
    """
    version, kind = request.param
    file = VERSIONS / f"plan_{version}_{kind}.json"
    if not file.exists() and request.config.getoption("--golden-update", default=False):
        folder = tmp_path / "made"
        folder.mkdir()
        monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(folder / "state"))
        place = SMALL[kind](folder, monkeypatch)
        store = place.store()
        plan = place.call("plan").stdout.replace(str(folder), "{FOLDER}").replace(store, "{STORE}")
        before = keep(place)
        place.call(answers="a\na\ny\n")
        file.parent.mkdir(exist_ok=True)
        whole = {"plan": plan, "before": before, "after": keep(place)}
        file.write_text(json.dumps(whole, ensure_ascii=False, indent=0) + "\n")
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(tmp_path / "store" / "state"))
    (tmp_path / "store").mkdir()
    whole = json.loads(file.read_text())

    def made(when: str) -> Place:
        return set_up(kind, whole[when], tmp_path / "store", monkeypatch)

    return whole, made


def test_a_run_of_an_earlier_version_can_be_listed_and_taken_back(kept: Any, tmp_path: Path) -> None:
    """Its journal is read, and the store is as it was before."""
    whole, made = kept
    place = made("after")
    assert "applied" in place.call("runs").stdout
    place.call("undo", answers="y\n")
    before = set_back(whole["before"], place)
    assert _content(place) == before


def test_a_run_of_an_earlier_version_that_was_cut_off_is_finished(kept: Any) -> None:
    """Killed after its last change and before its end: its plan is read out of the journal, and it ends."""
    _, made = kept
    place = made("after")
    after = _content(place)
    with closing(sqlite3.connect(place.folder / "state" / "journal.db")) as journal, journal:
        journal.execute("UPDATE runs SET state = 'applying', finished_at = NULL")
        journal.execute("DELETE FROM outcomes")
    place.call("resume")
    assert "applied" in place.call("runs").stdout
    assert _content(place) == after


def test_a_plan_of_an_earlier_version_can_be_applied(kept: Any) -> None:
    """The plan file is read, found to fit the store, and applied; undo takes it back."""
    whole, made = kept
    place = made("before")
    file = place.folder / "plan.jsonl"
    store = place.store()
    file.write_text(whole["plan"].replace("{FOLDER}", str(place.folder)).replace("{STORE}", store))
    before = _content(place)
    done = place.call("apply", str(file), answers="y\n")
    assert "merged: 0" not in done.stdout
    assert _content(place) != before
    place.call("undo", answers="y\n")
    assert _content(place) == before


def _content(place: Place) -> Any:
    """What is stored, without the moment at which the bytes were written."""
    content = place.content()
    return {name: entry[0] for name, entry in content.items()} if isinstance(content, dict) else content


def set_back(kept: dict[str, Any], place: Place) -> Any:
    """The content that was kept, in the shape of `_content`."""
    if place.kind == "mem0":
        return kept["rows"]
    if place.kind == "graph":
        return kept["files"]["memory.jsonl"]["text"].encode()
    return {
        name.removeprefix("shop/"): entry["text"].encode()
        for name, entry in kept["files"].items()
        if name.startswith("shop/")
    }
