"""The work of a pass grows with what there is, not with its square: calls are counted, no time is taken."""

import sys

import pytest
from graph_world import Graph, entity
from markdown_trees import MEMORY, look, open_session, write_tree
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.planning.engine import LONGEST_JUDGED
from mem0_dream.pipeline.stores.graph import store as graph_store

NAMES = [
    "otter",
    "falcon",
    "maple",
    "harbour",
    "lantern",
    "pepper",
    "violin",
    "meadow",
    "copper",
    "saddle",
    "bramble",
    "thunder",
    "walnut",
    "ribbon",
]


def fact(number):
    """One of ten that share a word, however many there are."""
    one, other = (NAMES[number // step % len(NAMES)] for step in (1, 14))
    return (
        f"The {one}{other}{number} service keeps {other}{number // 10}s in {one}{number % 7}{number // 70}."
    )


def equal_lines(number):
    return {f"{MEMORY}/a.md": "# Log\n\n" + "- The build was moved to Bern yesterday.\n" * number}


def index_lines(number):
    return {f"{MEMORY}/MEMORY.md": "# Memory\n\n" + "".join(f"- {fact(each)}\n" for each in range(number))}


def dead_pointers(number):
    lines = "".join(f"- [n{each}](n{each}.md): {fact(each)}\n" for each in range(number))
    return {f"{MEMORY}/MEMORY.md": f"# Memory\n\n{lines}", f"{MEMORY}/a.md": "The build runs in Bern.\n"}


def calls(work):
    """How many functions are called."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("files", [equal_lines, index_lines, dead_pointers])
def test_four_times_the_lines_are_little_more_than_four_times_the_work(tmp_path, files):
    def work(number, place):
        write_tree(tmp_path / place, files(number))
        session = open_session(tmp_path / place, tmp_path / f"{place}-state")
        return calls(lambda: look(session))

    work(5, "warm")  # tables and expressions
    few = work(80, "few")  # first: what is known of a text is kept for the next one
    assert work(320, "many") <= 6 * few


def test_four_times_the_observations_are_little_more_than_four_times_the_work(tmp_path):
    def work(number, place):
        (tmp_path / place).mkdir()
        opened = Graph(tmp_path / place, tmp_path / place)
        session = opened.open(
            entity("web", *(fact(each) for each in range(number)), *["Uses tea.", "Avoids tea."])
        )
        return calls(lambda: look(session))

    work(5, "warm")
    few = work(80, "few")  # first: what is known of a text is kept for the next one
    assert work(320, "many") <= 6 * few


def test_many_copies_become_one_line(tmp_path):
    write_tree(tmp_path, equal_lines(60))
    plan = look(open_session(tmp_path, tmp_path / "state")).plan
    (merge,) = plan.merges
    assert len(merge.members) == 60
    assert len(merge.removes) == 59


def test_what_is_too_long_to_be_judged_is_left_alone_in_words(tmp_path):
    tmp_path.joinpath("state").mkdir()
    opened = Graph(tmp_path, tmp_path / "state")
    long = "word " * (LONGEST_JUDGED // 5 + 1)
    plan = look(opened.open(entity("web", long, "Uses tea."), entity("Web", "Uses tea."))).plan
    assert plan.actions == ()
    assert plan.notes == (f"1 memory of more than {LONGEST_JUDGED:,} characters is left alone: web.",)


def test_a_line_that_is_far_too_long_is_refused_before_it_is_read(tmp_path, monkeypatch):
    tmp_path.joinpath("state").mkdir()
    opened = Graph(tmp_path, tmp_path / "state").open(entity("web", "Uses tea. " * 50))
    monkeypatch.setattr(graph_store, "LONGEST_LINE", 400)
    monkeypatch.setattr(graph_store.GraphDocument, "parse", None)
    with pytest.raises(StoreError, match="bytes, more than the 400 that are read"):
        look(opened)
