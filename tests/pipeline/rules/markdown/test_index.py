"""The index: lines come for unlisted files, go for gone ones, and nobody's words are lost."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings, strategies as st
from mem0_dream.pipeline.rules.markdown_index import GOAL_LINES, MAX_BYTES, TopicFile, draft_index


def _topic(file: str, *, name: str = "", description: str = "", text: str = "text") -> TopicFile:
    return TopicFile(file, name, description, text)


def _drafted(current: str, *files: str, **more) -> str:
    topics = [_topic(file) for file in files]
    return draft_index(current, topics, title="X", **more).text


def test_a_new_index_has_title_and_sorted_pointers_and_a_text_of_its_own_may_become_one() -> None:
    topics = [_topic("b.md", name="B", description="second"), _topic("a.md")]
    draft = draft_index("", topics, title="My Agent")
    assert draft.text == "# My Agent Memory\n\n- [a](a.md)\n- [B](b.md) -- second\n"
    assert _drafted(OWN, "a.md") == f"{OWN}\n- [a](a.md)\n"


LONG = "the queue for refunds is blue, " * 7
DONE = f"call Ines and wait {'for her ' * 9} before you do anything more about any of it"
HALF = f"- [A](a.md) — when the queue of refunds is full of yesterday's orders, {DONE}; {'and more ' * 12}\n"
SAID = "one `fast, small` thing (and, besides, another one, too, which is slower than the first, as Bo says, "
RETIRED = "# MEMORY.md — Retired\n\nThis file is no longer loaded; see context/MEMORY.md.\n"
OWN = "# Notes\n\nThe port is 5432.\n"
HOOKS = (
    "# Notes\n\n## Done\n- [Zed](z.md) — plan 011 (DONE), SUPERSEDED by 012\n\n## Rules\n"
    "- ⚠️ **[RULE: never /tmp](a.md)** - NEVER work there\n* [[b]] see Ines\n"
)


@pytest.mark.parametrize(
    ("current", "files", "more"),
    [
        (HOOKS, ["a.md", "b.md", "z.md"], {}),
        *((f"{line}\n", ["a.md"], {}) for line in (
            "See [a](a.md) first.", "| [a](a.md) | words |", "- x, see `a.md`", "- [[a]]", "- [a](a.md) · [b](b.md)", "    - [a](./a.md#top)"
        )),
        ("- [Dead](dead.md) — x\n  - port 5432\n", [], {}),
        ("- [Guide](README.md) read it\n- [Web](https://x.org/a.md)\n- [Up](../b.md)\n", [], {"stands": "README.md".__eq__}),
        *((f"- [A](a.md) — {LONG}{status}\n", ["a.md"], {}) for status in ("SUPERSEDED by b", "NEVER on Fridays", "✅")),
        (f"- [A](a.md) — tells of refunds, {SAID}and so on) {'and more ' * 12}\n", ["a.md"], {}),
        (f"- [A](a.md) — {'x ' * 93}"[:200] + "\n", ["a.md"], {}),
        (f"- [A](a.md) — {LONG}\n", ["a.md"], {"longest": None}),
        (HALF, ["a.md"], {}),
        (RETIRED, ["a.md"], {}),
        (OWN, ["a.md"], {"adopt": False}),
        ("# Mine\n\nwords", [], {}),
    ],
)  # fmt: skip
def test_an_index_stays_as_it_is(current: str, files: list[str], more: dict[str, object]) -> None:
    """Hooks, order and status words; files named in any way; what is near, retired, or cannot be cut well."""
    assert _drafted(current, *files, **more) == current


def test_a_missing_pointer_joins_its_like_in_the_authors_style() -> None:
    current = "## Feedback\n- [A](feedback_a.md) — x\n- [C](feedback_c.md) — y\n\n## Projects\n- [P](project_p.md) — z\n- [O](project_o.md) — z\n"
    topics = [_topic(f"{name}.md", description="d") for name in ("feedback_a", "feedback_c", "project_p", "project_o", "feedback_b", "project_a")]  # fmt: skip
    assert draft_index(current, topics, title="X").text == (
        "## Feedback\n- [A](feedback_a.md) — x\n- [feedback_b](feedback_b.md) — d\n- [C](feedback_c.md) — y\n\n"
        "## Projects\n- [P](project_p.md) — z\n- [O](project_o.md) — z\n- [project_a](project_a.md) — d\n"
    )


DEAD = "- [Dead](dead.md) — x"
SEVERAL = "- [A](a.md) x · [B](b.md) y · [C](c.md)\n- [D](d.md) — one · two · three\n"
LOST = "- [A](a.md)\n" + "".join(f"- [D](d{number}.md) — x\n" for number in range(4))
REFUSED = {"+- [b](b.md)", f"-{DEAD}"}.__contains__
MOST = "has 4 pointers to files that are not here, left as they are (d0.md, d1.md, d2.md …)"


@pytest.mark.parametrize(
    ("current", "files", "more", "expected"),
    [
        (f"- [A](a.md)\n{DEAD}\n- y\n", "a", {}, ("- [A](a.md)\n- y\n", [DEAD], "")),
        (f"{DEAD}\n", "", {"dropped": lambda _: False}, (f"{DEAD}\n", [], "dead.md")),
        (LOST, "a", {}, (LOST, [], MOST)),
        ("- [A](a.md) — hook\n", "b", {"gone": {"a.md": "b.md"}}, ("- [A](b.md) — hook\n", [], "")),
        ("- [A](a.md) — hook\n- [B](b.md)\n", "b", {"gone": {"a.md": "b.md"}}, ("- [B](b.md)\n", ["- [A](a.md) — hook"], "")),
        (SEVERAL, "acd", {"gone": {"b.md": None}}, (SEVERAL.replace("· [B](b.md) y ", ""), ["[B](b.md) y"], "")),
        (f"- [A](a.md)\n{DEAD}\n", "abc", {"refused": REFUSED}, (f"- [A](a.md)\n- [c](c.md)\n{DEAD}\n", [], "")),
    ],
    ids=["to nothing", "may not go", "most lead nowhere", "into another file", "into a listed one", "several in a line", "taken back"],
)  # fmt: skip
def test_which_pointers_go_and_are_named_in_full(current, files, more, expected):
    draft = draft_index(current, [_topic(f"{name}.md") for name in files], title="X", **more)
    *changed, warned = expected
    assert [draft.text, draft.removed] == changed
    assert (warned in " ".join(draft.warnings), bool(draft.warnings)) == (True, bool(warned))


def test_every_pointer_that_is_added_is_short() -> None:
    topics = [_topic("a.md", name="A", description="word " * 90), _topic("b.md", name="n" * 300)]
    lines = draft_index("", topics, title="X").text.split("\n")
    assert [len(line) < 150 for line in lines] == [True] * len(lines)
    assert lines[2].endswith("word…")


def test_a_long_pointer_is_cut_at_a_clause_and_moves_into_its_file() -> None:
    said = "the queue for refunds is blue, and " * 7
    draft = draft_index(f"- [A](a.md) — {said}\n", [_topic("a.md")], title="X")
    assert draft.demoted == {"a.md": said.strip()}
    line = draft.text.rstrip("\n")
    assert line.startswith("- [A](a.md) — the queue for refunds is blue, and the queue")
    assert (line.endswith("is blue…"), 150 < len(line) <= 200) == (True, True)


def test_only_sentences_that_the_file_does_not_say_move_into_it() -> None:
    known = "The gate is red at night."
    new = "The queue is drained by hand, because Bo wants it so. Ask Ines before you restart it, since counters are lost."
    topic = TopicFile("a.md", "A", "gates", f"{known} It stands in Bern.")
    draft = draft_index(f"- [A](a.md) — {known} {new} {known}\n", [topic], title="X", longest=100)
    assert draft.demoted == {"a.md": new}


def test_a_file_that_takes_nothing_in_keeps_its_long_pointer() -> None:
    current = f"- [A](a.md) — {'uses the blue queue for refunds ' * 8}\n"
    draft = draft_index(current, [TopicFile("a.md", "A", "queues", "text", open=False)], title="X")
    assert (draft.text, "200" in draft.warnings[0]) == (current, True)


def test_a_line_is_cut_only_between_clauses() -> None:
    current = f"- [A](a.md) — tells of refunds at length, {SAID}and so on) {'and more ' * 12}\n"
    assert _drafted(current, "a.md") == "- [A](a.md) — tells of refunds at length…\n"
    assert _drafted(HALF.replace(", call Ines", "; call Ines"), "a.md").endswith("orders…\n")


def test_a_rebuild_stops_below_what_is_loaded_and_cuts_nothing() -> None:
    draft = draft_index("", [_topic(f"f{number:03}.md") for number in range(220)], title="X")
    assert draft.text.count("\n") == GOAL_LINES
    assert any("32 files have no pointer" in warning for warning in draft.warnings)
    wide = [_topic(f"f{number:03}.md", description="wörd " * 25) for number in range(300)]
    assert len(draft_index("", wide, title="X").text.encode()) <= MAX_BYTES
    current = "".join(f"- own {number}\n" for number in range(220))
    draft = draft_index(current, [_topic("a.md")], title="X")
    assert draft.text == current
    assert any("220 lines" in warning for warning in draft.warnings)


@pytest.mark.parametrize(
    "named", ["`a` holds the rules", "see [[a]]", "Feedback: `feedback_*`, plans: `pl*.md`", "- [Sub](sub/INDEX.md): feedback_*, a.md"]
)  # fmt: skip
def test_a_file_named_by_stem_link_or_pattern_gets_no_pointer(named: str) -> None:
    topics = [_topic("feedback_x.md"), _topic("plan.md")] if "_*" in named else [_topic("a.md")]
    pointer = "- [Z](z.md)\n"
    drafted = draft_index(f"{named}\n{pointer}", [*topics, _topic("z.md")], title="X").text
    assert drafted.count("](") - named.count("](") == (2 if "plan" not in named and "_*" in named else 1)


def test_what_a_file_says_of_itself_or_a_line_of_its_file_is_heeded() -> None:
    retired = TopicFile("old.md", "Old", "superseded by new.md", "text", retired=True)
    current = "- [A](a.md)\n- [Gone](gone.md) — do not remove\n"
    draft = draft_index(current, [_topic("a.md"), retired], title="X")
    assert (draft.text, "gone.md" in draft.warnings[0]) == (current, True)


_LINES = st.sampled_from(
    ["# Memory", "# Own", "## A", "### B", "- [A](a.md) - x", "- [B](sub/b.md)", "- [D](dead.md) — y", "own words", "",
     "- bullet", "```", "* [[a]] w", "- `a.md` code", "  continued", "1. [A](a.md)", "x " * 120, "- [A](a.md) · [D](dead.md)",
     "- [A](a.md) — " + "tells a lot, " * 20, "- **[B](sub/b.md)** — DONE " + "and more " * 30, "| [A](a.md) | x |"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(_LINES, max_size=14))
@example([*(f"- [{name}]({name}.md)" for name in ("d1", "d2", "d3", "d4")), *["- [A](a.md)"] * 3])
def test_a_second_rebuild_changes_nothing(lines: list[str]) -> None:
    topics = [_topic("a.md", name="A", description="about a"), _topic("sub/b.md")]
    once = draft_index("\n".join(lines), topics, title="X")
    taken = [replace(t, text=f"{t.text}\n\n{once.demoted.get(t.file, '')}") for t in topics]
    twice = draft_index(once.text, taken, title="X")
    assert (twice.text, twice.demoted) == (once.text, {})


@settings(deadline=None)
@given(st.lists(_LINES, max_size=14))
def test_every_line_is_still_there_or_accounted_for(lines: list[str]) -> None:
    current = "\n".join(lines)
    draft = draft_index(current, [_topic("a.md"), _topic("sub/b.md")], title="X")
    rest = iter(draft.text.split("\n"))
    gone = [line for line in current.split("\n") if line.strip() and line not in rest]
    told = [*draft.removed, *(line for line in current.split("\n") if line in draft.text.split("\n"))]
    assert [line for line in gone if line not in told and len(line) <= 200] == []
