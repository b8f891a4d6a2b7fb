"""The index: one short pointer for each file, nobody's words lost, stable under a second pass."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.markdown.index_file import BEGIN, END, Topic, draft_index


def _topic(file: str, *, name: str = "", description: str = "", text: str = "text") -> Topic:
    return Topic(file, name, description, text)


def test_a_new_index_has_title_and_sorted_pointers() -> None:
    """Title line, then one pointer for each file, sorted by file name."""
    draft = draft_index(
        "", [_topic("b.md", name="B", description="second"), _topic("a.md")], title="My Agent"
    )
    assert draft.text == (f"# My Agent Memory\n\n{BEGIN}\n- [a](a.md)\n- [B](b.md) -- second\n{END}\n")


def test_dead_pointers_go_missing_ones_come_and_own_words_stay() -> None:
    """What a person wrote around the list stays where it was."""
    current = "# Memory Index\n\nRead me.\n\n## User\n- [A](a.md) — about a\n- [Dead](dead.md) — x\n\n## Rules\n- no pointer\n"
    draft = draft_index(current, [_topic("a.md", name="A", description="about a"), _topic("b.md")], title="X")
    assert draft.text == (
        f"# X Memory\n\nRead me.\n\n{BEGIN}\n- [A](a.md) -- about a\n- [b](b.md)\n{END}\n\n## Rules\n- no pointer\n"
    )
    assert (draft.removed, draft.remaining) == (1, 2)


def test_a_title_with_words_of_its_own_stays_below() -> None:
    """Only a title that names an index is replaced."""
    draft = draft_index("# Rules for all agents\n\n- [A](a.md)\n", [_topic("a.md")], title="X")
    assert draft.text.startswith("# X Memory\n\n# Rules for all agents\n")


def test_a_pointer_out_of_the_directory_is_not_ours() -> None:
    """Links to documents elsewhere are somebody's own words."""
    current = "# X Memory\n\n- [Guide](docs/guide.md) read it\n- [Web](https://x.org/a.md)\n"
    draft = draft_index(current, [_topic("a.md")], title="X")
    assert "- [Guide](docs/guide.md) read it\n- [Web](https://x.org/a.md)\n" in draft.text


def test_every_pointer_is_short() -> None:
    """Below 150 characters, cut at a word, whatever the description."""
    draft = draft_index("", [_topic("a.md", name="A", description="word " * 90)], title="X")
    line = next(line for line in draft.text.splitlines() if line.startswith("- "))
    assert len(line) < 150
    assert line.endswith("word…")


def test_a_long_pointer_moves_into_its_file() -> None:
    """What the index alone says is handed down before the line is cut."""
    said = "uses the blue queue for refunds " * 8
    draft = draft_index(f"- [A](a.md) — {said}\n", [_topic("a.md", description="queues")], title="X")
    assert draft.demoted == {"a.md": said.strip()}
    assert "- [A](a.md) -- queues\n" in draft.text


def test_a_short_pointer_that_says_more_than_the_file_stays() -> None:
    """A line that fits and is not covered by the file is somebody's own words."""
    draft = draft_index("- [A](a.md) — ask Ines\n", [_topic("a.md", description="queues")], title="X")
    assert "- [A](a.md) -- ask Ines\n" in draft.text


def test_a_name_that_repeats_the_file_gives_way() -> None:
    """`my_rule` for my-rule.md tells less than what a person called it."""
    draft = draft_index("- [The rule](my-rule.md)\n", [_topic("my-rule.md", name="my_rule")], title="X")
    assert "- [The rule](my-rule.md)\n" in draft.text


def test_a_file_that_takes_nothing_in_keeps_its_long_pointer() -> None:
    """A pinned file's pointer is not cut; a warning says so."""
    said = "uses the blue queue for refunds " * 8
    topic = Topic("a.md", "A", "queues", "text", open=False)
    draft = draft_index(f"- [A](a.md) — {said}\n", [topic], title="X")
    assert said.strip() in draft.text
    assert any("150" in warning for warning in draft.warnings)


def test_too_many_lines_are_a_warning_and_nothing_is_cut() -> None:
    """Over 200 lines: warned about, and every pointer is there."""
    draft = draft_index("", [_topic(f"f{number:03}.md") for number in range(220)], title="X")
    assert draft.remaining == draft.text.count("](f") == 220
    assert any("200" in warning for warning in draft.warnings)


def test_too_many_bytes_are_a_warning() -> None:
    """Over 25 KB: warned about."""
    topics = [_topic(f"f{number:03}.md", description="word " * 25) for number in range(190)]
    assert any("bytes" in warning for warning in draft_index("", topics, title="X").warnings)


def test_without_files_and_pointers_nothing_is_written() -> None:
    """An index that is all somebody's own words stays as it is."""
    assert draft_index("# Mine\n\nwords\n", [], title="X").text == "# Mine\n\nwords\n"


_LINES = st.sampled_from(
    ["# Memory", "# Own", "## A", "### B", "- [A](a.md) - x", "- [B](sub/b.md)", "- [D](dead.md) — y", "own words", "",
     "- bullet", "```", "* [[a]] w", "- `a.md` code", "  continued", BEGIN, END, "1. [A](a.md)", "x " * 120]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(_LINES, max_size=14))
def test_a_second_rebuild_changes_nothing(lines: list[str]) -> None:
    """Rebuilding what was rebuilt gives the same bytes and hands nothing down again."""
    topics = [_topic("a.md", name="A", description="about a"), _topic("sub/b.md")]
    once = draft_index("\n".join(lines), topics, title="X")
    taken = [
        _topic(
            t.file, name=t.name, description=t.description, text=f"{t.text}\n\n{once.demoted.get(t.file, '')}"
        )
        for t in topics
    ]
    twice = draft_index(once.text, taken, title="X")
    assert (twice.text, twice.demoted) == (once.text, {})


@settings(deadline=None)
@given(st.lists(_LINES, max_size=14))
def test_own_words_survive(lines: list[str]) -> None:
    """Every line that is neither pointer nor title nor an emptied heading is still there."""
    text = draft_index("\n".join(lines), [_topic("a.md")], title="X").text
    for own in ("own words", "- bullet"):
        assert text.split("\n").count(own) == lines.count(own)
