"""The index after a pass: which lines come, go and are cut, and where nothing is begun."""

import pytest
from markdown_trees import MEMORY, NOW, look, memory_file
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.markdown import MarkdownKind
from mem0_dream.pipeline.plan import Reindex
from mem0_dream.pipeline.planning.markdown_follow import follow
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.pipeline.stores.markdown.store import MarkdownStore
from mem0_dream.records import ActionKind
from mem0_dream.settings import Settings

MOVED = "Ines moved the gateway to Bern yesterday."
MISO = "The cat is called Miso."


def _draft(project, **wanted):
    proposal = project.look(**wanted)
    return follow(proposal.asked, proposal.present)[1][MEMORY]


def test_a_plan_gives_the_index_no_line_for_a_file_that_is_gone_by_now(project):
    """Nor is a memory of a type named index one."""
    project.write(a=memory_file(MOVED, name="a", kind="index"), b=memory_file(MISO, name="b"))
    with project.open() as session:
        plan = look(session).plan
        kinds = [(action.kind, action.category) for action in plan.actions]
        assert kinds == [(ActionKind.REWRITE, "index"), (ActionKind.REINDEX, None)]
        (project.root / MEMORY / "a.md").unlink()
        (index,) = (a for a in session.completed(plan).actions if isinstance(a, Reindex))
    assert ("b.md" in index.text, "a.md" in index.text) == (True, False)


@pytest.mark.parametrize(("unattended", "lost"), [(True, ["gone.md"]), (False, ["gone.md", "never.md"])])
def test_unattended_an_index_loses_only_what_a_commit_took_away(project, unattended, lost):
    index = "- [A](a.md)\n- [G](gone.md)\n- [N](never.md)\n- [H](hidden.md)\n"
    project.past(f"{MEMORY}/gone.md").write({".gitignore": "hidden.md\n"}, a=MISO, MEMORY=index)
    removed = _draft(project, unattended=unattended).removed
    assert [line.partition("(")[2].rstrip(")") for line in removed] == lost


@pytest.mark.parametrize(
    ("lines", "wish", "shortened"),
    [
        (0, {}, ["b.md"]), (0, {"unattended": True}, []), (0, {"only": ()}, ["a.md", "b.md"]),
        (134, {"unattended": True}, ["a.md", "b.md"]), (200, {"unattended": True}, []),  # shortening would reach no limit
    ],
)  # fmt: skip
def test_a_pointer_is_shortened_where_it_is_verbose_or_the_index_too_large(project, lines, wish, shortened):
    said = {"a": "the blue queue is for refunds; " * 7, "b": "the red queue is for returns; " * 10}
    index = "".join(f"- [{name.upper()}]({name}.md) — {hook}\n" for name, hook in said.items())
    files = {name: f"The cat {name} is called Miso." for name in said}
    project.write(**files, MEMORY=index + f"- {'own words ' * 18}\n" * lines)
    assert sorted(_draft(project, **wish).demoted) == shortened


def test_a_pointer_to_a_file_in_other_letters_stays(project):
    index = "- [A](a.md)\n- [Design](design.md) - read it first\n- [Gone](gone.md)\n"
    project.write({"DESIGN.md": "# How it looks\n"}, a=MISO, MEMORY=index)
    assert _draft(project).removed == ["- [Gone](gone.md)"]


@pytest.mark.parametrize(
    ("folder", "unattended", "begun"),
    [("memory-bank", True, False), ("memory-bank", False, True), (MEMORY, True, True)],
)
def test_unattended_an_index_is_begun_only_where_an_agent_loads_it(project, folder, unattended, begun):
    root, state = project.write({"memory-bank/a.md": MISO}, b="Ines helps.").root, project.state
    state.mkdir()
    store = MarkdownStore(discover(root, [root / folder]), root=root, state=state)
    kind, limits = MarkdownKind(store), Settings(scorer="keywords")
    with Session(store, kind=kind, settings=limits, state_dir=state) as session:
        assert bool(look(session, unattended=unattended).plan.rewrites) is begun


def test_what_was_taken_back_in_an_index_stays_so_by_its_lines(project):
    index = "- [A](a.md)\n- [Gone](gone.md)\n"
    project.write(**{name: f"The cat {name} is called Miso." for name in "ab"}, MEMORY=index).apply()
    with project.open() as session:
        session.undo(now=NOW)
        assert (look(session).plan.actions, project.text("MEMORY")) == ((), index)
        project.write(c="The dog is called Otto.")
        session.apply(look(session).plan, now=NOW)
    assert project.text("MEMORY") == index.replace("- [G", "- [c](c.md)\n- [G")


@pytest.mark.parametrize(("unattended", "goes"), [(False, ["old", "queue_DEPRECATED"]), (True, [])])
def test_a_file_that_says_it_is_over_gets_no_pointer(project, unattended, goes):
    project.write(
        old=memory_file("The queue is blue.", name="Old queue (SUPERSEDED by new.md)"),
        queue_DEPRECATED=memory_file("The web server is Caddy.", name="Web server"),
        kept=memory_file("Packages are looked up first.", name="tests-never-deprecated-packages"),
        new=memory_file("The queue is red and long.", name="Queue"),
    )
    plan = project.plan(unattended=unattended)
    assert plan.prunes == ()
    gone = [name for doubt in plan.unsure for name in doubt.removes]
    assert gone == [f"{MEMORY}/{name}.md" for name in goes]
    assert not any(gone in action.text for action in plan.rewrites for gone in ("old.md", "queue_DEPRECATED"))
