"""Lines that change, as they are shown."""

from __future__ import annotations

from mem0_dream.pipeline.reporting.markdown.differences import AROUND, LONG, changes


def test_of_a_long_line_the_change_is_shown_with_some_words_around_it() -> None:
    """What both versions say alike is left out at whole words; all that differs is shown."""
    words = " ".join(f"word{number}" for number in range(60))
    old, new = (f"{words} see `{path}` {words}" for path in (".claude/plans/fog.md", "docs/plans/fog.md"))
    gone, come = changes(old, new)
    assert ("see `.claude/plans/fog.md` word0" in gone, "see `docs/plans/fog.md` word0" in come) == (
        True,
        True,
    )
    assert (gone.startswith("    - … word"), gone.endswith(" …")) == (True, True)
    assert max(len(gone), len(come)) < LONG + 2 * AROUND
    assert set(gone.split()) - {"-", "…"} <= set(old.split())
    assert changes(words, f"{words} end")[1].endswith("word59 end")
    assert changes(words, "") == [f"    - {words}"]
    assert changes("short a", "short b") == ["    - short a", "    + short b"]
