"""The words that differ: marked beside the line, where no text can forge a mark, and nothing raw gets out."""

import click
import pytest
from builders import memory
from click.testing import CliRunner
from e2e_cli import ALICE, Invoke
from hypothesis import given, strategies as st
from mem0_dream.pipeline.cli import main as cli_module
from mem0_dream.pipeline.cli.options import command, parameters
from mem0_dream.pipeline.cli.terminal import colours
from mem0_dream.pipeline.reporting.text import (
    CUT_FROM,
    MAX_WORD,
    MAX_WORDS,
    Marked,
    changes,
    excerpts,
    marked,
    one_line,
)
from mem0_dream.testing import InMemoryStore

RED, GREEN, OFF = "\x1b[1;4;31m", "\x1b[1;4;32m", "\x1b[0m"
NASTY = st.text(
    alphabet=st.sampled_from("ab. \n\t\x1b\x07\x9b\u2028\u202e\u2066\ue000\ud800漢é[]"), max_size=10
)


def said(line: str) -> list[str]:
    assert isinstance(line, Marked)
    return [line[start:end] for start, end, _ in line.spans]


@pytest.mark.parametrize(
    ("a", "b", "marks"),
    [
        ("Has a whippet named Pickle.", "has a brindle whippet named Pickle", ([], ["brindle"])),
        ("Lives in Oslo now.", "Lives in New York City now.", (["Oslo"], ["New York City"])),
        ("Likes\n tea.", "likes tea", ([], [])),
        ("早上喝茶,不加糖。", "早上喝热茶,不加糖。", ([], ["热"])),
        ("早上喝茶。" * 80, "早上喝热茶。" + "早上喝茶。" * 79, ([], ["热"])),
    ],
)
def test_what_only_one_text_says_is_marked(a: str, b: str, marks: tuple[list[str], list[str]]) -> None:
    assert tuple(map(said, excerpts(a, b))) == marks
    assert said(marked(one_line(a), [one_line(b)], tone="goes")) == marks[0]


def test_a_long_text_is_cut_around_its_differences() -> None:
    head, tail = "alpha beta " * 60, " gamma delta" * 60
    first, second = excerpts(f"{head}uses tabs{tail}", f"{head}uses spaces{tail}")
    assert (said(first), said(second)) == (["tabs"], ["spaces"])
    assert (first[0], first[-1]) == ("…", "…")
    assert len(first) < CUT_FROM


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x" * 100_000 + "1", "x" * 100_000 + "2"),
        ("word " * 20_000, "other " * 20_000),
        (" ".join(map(str, range(20_000))), " ".join(map(str, range(20_000, 0, -1)))),
    ],
)
def test_a_hundred_kilobytes_stay_a_few_lines(a: str, b: str) -> None:
    for line in excerpts(a, b):
        assert len(line.split(" ")) <= 2 * MAX_WORDS
        assert max(map(len, line.split(" "))) <= MAX_WORD + 2
        assert said(line)
    assert a[-1] != "1" or excerpts(a, b)[0].endswith("1")


def test_of_a_long_line_that_changed_the_change_is_shown_with_some_words_around_it() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    old, new = (f"{words} see `{path}` {words}" for path in (".claude/plans/fog.md", "docs/plans/fog.md"))
    gone, come = changes(old, new)
    assert "see `.claude/plans/fog.md` word0" in gone
    assert "see `docs/plans/fog.md` word0" in come
    assert (gone.startswith("    - … word"), gone.endswith(" …")) == (True, True)
    assert set(gone.split()) - {"-", "…"} <= set(old.split())
    assert changes(words, f"{words} end")[1].endswith("word59 end")
    assert changes(words, "") == [f"    - {words}"]
    assert changes("short a", "short b") == ["    - short a", "    + short b"]


@given(st.text(), st.lists(st.text(), max_size=3))
def test_a_marked_line_is_the_line(text: str, others: list[str]) -> None:
    line = marked(one_line(text), [one_line(other) for other in others], tone="goes").behind("  ")
    assert line == "  " + one_line(text)
    edges = [edge for start, end, _ in line.spans for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(line) for edge in edges)


@given(NASTY, NASTY)
def test_nothing_reaches_the_terminal_raw_and_no_word_is_lost(a: str, b: str) -> None:
    assert excerpts(a, b) == (one_line(a), one_line(b))
    assert all(line.isprintable() for line in (*excerpts(a, b), *changes(a, b)))


def test_explain_marks_the_differing_words(dream: Invoke) -> None:
    plain = dream(*ALICE, "--dry-run", "--explain").stdout
    coloured = dream(*ALICE, "--dry-run", "--explain", "--color").stdout
    assert "\x1b" not in plain
    assert f"Has a {GREEN}brindle{OFF} whippet named Pickle." in coloured
    assert f"  {GREEN}Never{OFF} uses tabs for indentation in Go code." in coloured
    assert "  [Never] uses tabs for indentation in Go code." in plain
    assert "  Uses tabs for indentation in Go code." in coloured
    assert len(click.unstyle(coloured).splitlines()) == len(plain.splitlines())


def test_a_text_cannot_forge_a_mark(store: InMemoryStore, dream: Invoke) -> None:
    text = f"Looked {RED}for{OFF} a plumber."
    store.rows |= InMemoryStore([memory("tap", text, days=400, category="todo")]).rows
    shown = dream(*ALICE, "--dry-run", "--explain", "--color").stdout
    assert f"{RED}for{OFF}" not in shown
    assert r"\x1b[1;4;31m" in shown


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
def test_who_wants_colour_says_so_anywhere(arguments, environment, wanted, place, monkeypatch):
    seen: list[bool] = []

    @command("store")
    def probe(_: object) -> None:
        seen.append(colours())

    group = cli_module.DreamGroup(
        "main", params=parameters("store"), commands={"probe": probe}, callback=lambda **_: None
    )
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    line = [*arguments, "probe"] if place == "before" else ["probe", *arguments]
    CliRunner().invoke(group, line, catch_exceptions=False)
    assert seen == [wanted]
