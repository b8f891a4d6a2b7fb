"""Daily logs: durable facts are found, the day's business is left where it is."""

from pathlib import Path

import pytest
from markdown_trees import MEMORY, NOW, write_tree
from mem0_dream.pipeline.rules.markdown_signal import RELEVANT, gather, relevance
from mem0_dream.pipeline.stores.markdown.directories import MemoryDirectory

DAY = f"{MEMORY}/logs/2026/11/2026-11-20.md"
SAID = "decided to always use `uv` because pip was slow"


def _facts(root: Path, text: str, *known: str, name: str = DAY) -> list[str]:
    write_tree(root, {name: text})
    directory = MemoryDirectory(MEMORY, root / MEMORY, "X")
    return [fact.text for fact in gather(directory, known, now=NOW)]


@pytest.mark.parametrize(
    ("line", "durable"),
    [
        (SAID, True),
        ("The user prefers squash merges and must never see a merge commit", True),
        ("root cause of the outage: credentials expire after 90 days", True),
        ("switched to Postgres 17 because replication was broken", True),
        ("looked at the flaky test", False), ("lunch with Bo", False), ("is the queue slow?", False),
        ("started on the `api/v2` routes", False), ("[ ] write docs", False), ("TODO: always lint", False),
    ],
)  # fmt: skip
def test_durable_lines_are_relevant_and_the_days_business_is_not(line: str, durable: bool) -> None:
    assert (relevance(line) >= RELEVANT) is durable


def test_times_bullets_headings_and_code_are_stripped(tmp_path: Path) -> None:
    text = (
        "# Decided to always use tabs\n\n* 9:05 am - decided to always use `uv` because pip was slow\n"
        "> decided to never use pip because slow\n| decided | always |\n```\ndecided to always use `x` because\n```\n"
    )
    assert _facts(tmp_path, text) == [SAID]


def test_old_logs_were_read_before_and_relative_dates_are_those_of_the_log(tmp_path: Path) -> None:
    for month in ("09", "12"):
        assert _facts(tmp_path, f"- {SAID}", name=f"{MEMORY}/logs/2026/{month}/2026-{month}-01.md") == []
    said = "- yesterday the team decided releases must pass `make check`\n"
    assert _facts(tmp_path, said) == ["on 2026-11-19 the team decided releases must pass `make check`"]


@pytest.mark.parametrize(
    "known",
    [
        "Decided to always use `uv`, because pip was slow.",
        "We decided to always use `uv` for installs because pip was slow last year",
        "- other\n- decided to always use `uv` because pip was slow",
    ],
)
def test_what_a_memory_says_already_is_no_news(tmp_path: Path, known: str) -> None:
    assert _facts(tmp_path, f"- {SAID}", known) == []


def test_the_same_fact_on_two_days_counts_once(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/sessions/2026-11-19-x.md": f"- {SAID}"})
    assert _facts(tmp_path, f"- {SAID}") == [SAID]
