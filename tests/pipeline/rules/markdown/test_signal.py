"""Daily logs: durable facts are found, the day's business is left where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_trees import MEMORY, NOW, write_tree
from mem0_dream.pipeline.rules.markdown.signal import RELEVANT, gather, relevance
from mem0_dream.pipeline.stores.markdown.directories import MemoryDirectory
from mem0_dream.records import Memory, Scope

DAY = f"{MEMORY}/logs/2026/11/2026-11-20.md"


def _facts(root: Path, text: str, *known: str, name: str = DAY) -> list[str]:
    write_tree(root, {name: text})
    directory = MemoryDirectory(MEMORY, root / MEMORY, "X")
    memories = [Memory(str(n), said, Scope.of(directory=MEMORY)) for n, said in enumerate(known)]
    return [fact.text for fact in gather(directory, memories, now=NOW)]


@pytest.mark.parametrize(
    "line",
    [
        "decided to always use `uv` because pip was slow",
        "The user prefers squash merges and must never see a merge commit",
        "root cause of the outage: credentials expire after 90 days",
        "switched to Postgres 17 because replication was broken",
    ],
)
def test_durable_lines_are_relevant(line: str) -> None:
    assert relevance(line) >= RELEVANT


@pytest.mark.parametrize(
    "line",
    [
        "looked at the flaky test",
        "lunch with Bo",
        "is the queue slow?",
        "started on the `api/v2` routes",
        "[ ] write docs",
        "TODO: always lint",
    ],
)
def test_the_days_business_is_not(line: str) -> None:
    assert relevance(line) < RELEVANT


def test_times_bullets_headings_and_code_are_stripped(tmp_path: Path) -> None:
    text = (
        "# Decided to always use tabs\n\n* 9:05 am - decided to always use `uv` because pip was slow\n"
        "> decided to never use pip because slow\n| decided | always |\n```\ndecided to always use `x` because\n```\n"
    )
    assert _facts(tmp_path, text) == ["decided to always use `uv` because pip was slow"]


def test_relative_dates_are_those_of_the_log(tmp_path: Path) -> None:
    said = "- yesterday the team decided releases must pass `make check`\n"
    assert _facts(tmp_path, said) == ["on 2026-11-19 the team decided releases must pass `make check`"]


def test_old_logs_were_read_before(tmp_path: Path) -> None:
    said = "- decided to always use `uv` because pip was slow\n"
    assert _facts(tmp_path, said, name=f"{MEMORY}/logs/2026/09/2026-09-01.md") == []
    assert _facts(tmp_path, said, name=f"{MEMORY}/logs/2026/12/2026-12-01.md") == []


@pytest.mark.parametrize(
    "known",
    [
        "Decided to always use `uv`, because pip was slow.",
        "We decided to always use `uv` for installs because pip was slow last year",
        "- other\n- decided to always use `uv` because pip was slow",
    ],
)
def test_what_a_memory_says_already_is_no_news(tmp_path: Path, known: str) -> None:
    assert _facts(tmp_path, "- decided to always use `uv` because pip was slow\n", known) == []


def test_the_same_fact_on_two_days_counts_once(tmp_path: Path) -> None:
    said = "- decided to always use `uv` because pip was slow\n"
    write_tree(tmp_path, {f"{MEMORY}/sessions/2026-11-19-x.md": said})
    assert len(_facts(tmp_path, said)) == 1
