"""The words that differ: marked beside the line, where no text can forge a mark."""

from __future__ import annotations

import click
import pytest
from builders import memory
from click.testing import CliRunner
from e2e_cli import ALICE, Invoke, dream, store
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.pipeline.cli import main as cli_module
from mem0_dream.pipeline.cli.colour import colours, styled
from mem0_dream.pipeline.cli.options import store_options
from mem0_dream.pipeline.reporting.marks import Marked, marked
from mem0_dream.pipeline.reporting.report import one_line
from mem0_dream.testing import InMemoryStore

__all__ = ["dream", "store"]

RED, GREEN, OFF = "\x1b[31m\x1b[1m\x1b[4m", "\x1b[32m\x1b[1m\x1b[4m", "\x1b[0m"


def said(line: Marked) -> list[str]:
    return [line[start:end] for start, end, _ in line.spans]


def test_what_only_one_text_says_is_marked() -> None:
    """Neighbouring words share a mark; case and punctuation are no difference."""
    line = marked("Lives in New York City, since May.", ["lives in Oslo since may"], tone="goes")
    assert said(line) == ["New York City,"]
    assert said(marked("Likes tea.", ["likes tea"], tone="stays")) == []


def test_marks_move_with_what_is_put_before_the_line() -> None:
    """The same words are marked."""
    assert said(marked("a b", ["a c"], tone="goes").behind("[DRY RUN] ")) == ["b"]


@given(st.text(), st.lists(st.text(), max_size=3))
def test_a_marked_line_is_the_line(text: str, others: list[str]) -> None:
    """Nothing is added to it or lost, and the marks lie inside, in order, one after the other."""
    line = marked(one_line(text), [one_line(other) for other in others], tone="goes")
    assert line == one_line(text)
    edges = [edge for start, end, _ in line.spans for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(line) for edge in edges)
    assert click.unstyle(styled(line)) == one_line(text)


def test_explain_colours_the_differing_words(dream: Invoke) -> None:
    """On request even into a pipe; the removed words red, the words that stay green."""
    plain = dream(*ALICE, "--dry-run", "--explain").stdout
    coloured = dream(*ALICE, "--dry-run", "--explain", "--color").stdout
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain
    assert f"Has a {GREEN}brindle{OFF} whippet named Pickle." in coloured
    assert f"  {GREEN}Never{OFF} uses tabs for indentation in Go code." in coloured
    assert "  Uses tabs for indentation in Go code." in coloured


def test_a_text_cannot_forge_a_mark(store: InMemoryStore, dream: Invoke) -> None:
    """An escape sequence in a memory stays text, in colour and without."""
    text = f"Looked {RED}for{OFF} a plumber."
    store.rows |= InMemoryStore([memory("tap", text, days=400, category="todo")]).rows
    shown = dream(*ALICE, "--dry-run", "--explain", "--color").stdout
    assert f"{RED}for{OFF}" not in shown
    assert r"\x1b[31m" in shown


@pytest.mark.parametrize(
    ("arguments", "environment", "wanted"),
    [
        ([], {}, False),
        (["--color"], {}, True),
        (["--color"], {"NO_COLOR": "1"}, True),
        (["--color"], {"TERM": "dumb"}, True),
        (["--no-color"], {}, False),
    ],
)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_who_wants_colour_says_so_before_or_behind_the_command(
    arguments: list[str],
    environment: dict[str, str],
    wanted: bool,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe is not coloured unless asked for; the option wins over the environment."""
    seen: list[bool] = []

    @click.command()
    @store_options
    def probe(**_: object) -> None:
        seen.append(colours())

    group = store_options(cli_module.DreamGroup("main", commands={"probe": probe}, callback=lambda **_: None))
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    line = [*arguments, "probe"] if place == "before" else ["probe", *arguments]
    CliRunner().invoke(group, line, catch_exceptions=False)
    assert seen == [wanted]
