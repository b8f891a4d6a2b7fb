"""A whole pass over Markdown memories: plan, apply, be killed, resume, undo, pass again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import skipped
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_trees import (
    MEMORY,
    NOW,
    fingerprint,
    git,
    look,
    memory_file,
    open_session,
    open_store,
    with_past,
    write_tree,
)  # fmt: skip
from mem0_dream.errors import BudgetExceededError
from mem0_dream.models.scorer import PairInput, PairScores, distinct
from mem0_dream.pipeline.actions import Append, Cause, Merge, Reindex, Resolve, Rewrite, TextChange, acts
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.markdown import MarkdownKind
from mem0_dream.pipeline.planning.markdown.follow import follow
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.pipeline.stores.markdown.store import MarkdownStore
from mem0_dream.records import ActionKind
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

TABS = "Use tabs for indentation in all Go files of the backend."
FILES = {
    "src/app.py": "def run(): ...\n",
    f"{MEMORY}/MEMORY.md": "# Memory\r\n\r\nRead first.\r\n\r\n- [Gone](gone.md) - x\r\n- [Tabs](tabs.md) - tabs\r\n",
    f"{MEMORY}/tabs.md": memory_file(TABS, name="tabs", kind="feedback", date="2026-01-01"),
    f"{MEMORY}/tabs_two.md": memory_file(TABS + "\nSee [other](fresh.md).", name="two", kind="feedback", date="2026-02-01"),
    f"{MEMORY}/fresh.md": memory_file("`run()` in `src/app.py`, moved there yesterday. See [tabs](tabs.md).", name="fresh"),
    f"{MEMORY}/moved.md": memory_file("The gateway is in `src/gate.py` for good.", name="moved"),
    f"{MEMORY}/stale.md": memory_file("`old()` is in `src/old.py`.", name="stale"),
    f"{MEMORY}/partly.md": memory_file("`run()` in `src/app.py`, before in `src/was.py`.", name="partly"),
    f"{MEMORY}/list.md": "# L\n\n- Staging runs on port 5432 at night\n- The cat is called Miso\n- staging runs on port 5432 at night.\n",
    f"{MEMORY}/deploy_old.md": memory_file(
        "Always deploy on Fridays from the main branch. Ines owns the runbook.", name="old", kind="user", date="2026-01-01"
    ),
    f"{MEMORY}/deploy_new.md": memory_file(
        "Never deploy on Fridays from the main branch. Smoke tests take 20 minutes.", name="new", kind="user", date="2026-05-01"
    ),
    f"{MEMORY}/logs/2026/11/2026-11-20.md": "# Day\n\n- 10:05 decided to always use `uv` for installs because pip was slow\n- lunch\n",
}  # fmt: skip


class _KilledError(BaseException):
    """The process died here."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project in which every kind of change is due."""
    return _project(tmp_path / "project")


def _project(root: Path) -> Path:
    return with_past(
        write_tree(root, FILES), "src/old.py", "src/was.py", moved={"src/gate.py": "src/net/gate.py"}
    )


def _open(root: Path, state: Path, *, supersede: bool = False):
    return open_session(root, state, wanted={"supersede": supersede})


def _plan(session):
    return look(session).plan


def _draft(session):
    proposal = look(session)
    return follow(proposal.asked, proposal.present)[1][MEMORY]


def _apply(root: Path, state: Path, *, supersede: bool = False):
    with _open(root, state, supersede=supersede) as session:
        return session.apply(_plan(session), now=NOW)


def _text(root: Path, name: str) -> str:
    return (root / MEMORY / name).read_text()


def test_the_pass_does_what_it_should(tree: Path, tmp_path: Path) -> None:
    result = _apply(tree, tmp_path / "state", supersede=True)
    assert result.moved == ()
    names = sorted(path.name for path in (tree / MEMORY).glob("*.md"))
    assert names == [
        "MEMORY.md", "deploy_new.md", "deploy_old.md", "fresh.md", "from_daily_logs.md", "list.md", "moved.md", "partly.md",
        "tabs_two.md",
    ]  # fmt: skip
    assert "moved there 2026-09-30. See [tabs](tabs_two.md)." in _text(tree, "fresh.md")
    assert _text(tree, "deploy_old.md").endswith("---\n\nInes owns the runbook.\n")
    assert _text(tree, "list.md").count("5432") == 1
    assert "- decided to always use `uv`" in _text(tree, "from_daily_logs.md")
    assert "The gateway is in `src/net/gate.py` for good." in _text(tree, "moved.md")
    index = (tree / MEMORY / "MEMORY.md").read_bytes()
    assert index.startswith(b"# Memory\r\n\r\nRead first.\r\n\r\n- [")
    assert b"\r\n- [Tabs](tabs_two.md) - tabs\r\n" in index
    assert (index.count(b"]("), b"gone.md" in index) == (8, False)


def test_undo_gives_every_byte_and_time_back(tree: Path, tmp_path: Path) -> None:
    before = fingerprint(tree)
    _apply(tree, tmp_path / "state", supersede=True)
    assert fingerprint(tree) != before
    with open_session(tree, tmp_path / "state") as session:
        assert session.undo(now=NOW).kept == ()
    assert fingerprint(tree) == before


def test_a_second_pass_proposes_nothing(tree: Path, tmp_path: Path) -> None:
    _apply(tree, tmp_path / "state", supersede=True)
    with _open(tree, tmp_path / "state", supersede=True) as session:
        assert _plan(session).actions == ()


def _killed_after(root: Path, state: Path, steps: int) -> bool:
    """Apply until the process dies after so many changes; say whether it died."""
    with _open(root, state, supersede=True) as session:
        plan = _plan(session)
        write, left = session.store.write, [steps]

        def dying(change):
            if left[0] == 0:
                raise _KilledError
            left[0] -= 1
            return write(change)

        session.store.write = dying
        try:
            session.apply(plan, now=NOW)
        except _KilledError:
            return True
    return False


def test_killed_anywhere_resume_ends_where_an_unkilled_run_does(tmp_path: Path) -> None:
    _apply(_project(tmp_path / "whole" / "project"), tmp_path / "whole-state", supersede=True)
    expected = {name: row[0] for name, row in fingerprint(tmp_path / "whole" / "project").items()}
    steps = 0
    while _killed_after(root := _project(tmp_path / f"k{steps}" / "project"), tmp_path / f"s{steps}", steps):
        with open_session(root, tmp_path / f"s{steps}") as session:
            session.resume(now=NOW)
        assert {name: row[0] for name, row in fingerprint(root).items()} == expected
        steps += 1
    assert steps >= 7


def test_killed_anywhere_undo_gives_everything_back(tmp_path: Path) -> None:
    for steps in (1, 4, 6):
        root = _project(tmp_path / f"k{steps}" / "project")
        before = fingerprint(root)
        assert _killed_after(root, tmp_path / f"s{steps}", steps)
        with open_session(root, tmp_path / f"s{steps}") as session:
            session.undo(now=NOW)
        assert fingerprint(root) == before


def test_a_file_that_moved_is_skipped_and_the_rest_goes_on(tree: Path, tmp_path: Path) -> None:
    with open_session(tree, tmp_path / "state") as session:
        plan = _plan(session)
        (tree / MEMORY / "stale.md").write_text("The agent wrote this.")
        result = session.apply(plan, now=NOW)
    assert [reason for _, reason in result.moved]
    assert _text(tree, "stale.md") == "The agent wrote this."
    assert not (tree / MEMORY / "tabs.md").exists()


def test_the_whole_directory_is_copied_before_anything_changes(tree: Path, tmp_path: Path) -> None:
    import tarfile

    with open_session(tree, tmp_path / "state") as session:
        session.apply(_plan(session), now=NOW)
        copies = list((session.store.archive / "snapshots").glob("*.tar"))
    with tarfile.open(copies[0]) as archive:
        names = archive.getnames()
    assert (len(copies), f"{MEMORY}/stale.md" in names) == (1, True)


def test_conflicts_stay_open_without_an_answer(tree: Path, tmp_path: Path) -> None:
    with open_session(tree, tmp_path / "state") as session:
        conflicts = _plan(session).conflicts
    assert [(c.a, c.b, c.newer, c.choice) for c in conflicts] == [
        ((f"{MEMORY}/deploy_old.md",), (f"{MEMORY}/deploy_new.md",), "b", None)
    ]


def test_a_whole_file_that_lost_goes(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(
            "Always deploy on Fridays from the main branch.", name="a", date="2026-01-01"
        ),
        f"{MEMORY}/b.md": memory_file(
            "Never deploy on Fridays from the main branch.", name="b", date="2026-05-01"
        ),
    }
    _apply(write_tree(tmp_path / "project", files), tmp_path / "state", supersede=True)
    assert sorted(p.name for p in (tmp_path / "project" / MEMORY).iterdir()) == ["MEMORY.md", "b.md"]


def test_a_memory_may_lose_several_sentences_and_none_twice(tmp_path: Path) -> None:
    old = "Always deploy on Fridays from the main branch. Use tabs for indentation in Go files. Ines helps."
    files = {
        f"{MEMORY}/a.md": memory_file(old, name="a", date="2026-01-01"),
        f"{MEMORY}/b.md": memory_file(
            "Never deploy on Fridays from the main branch. Bo agrees.", name="b", date="2026-02-01"
        ),
        f"{MEMORY}/c.md": memory_file(
            "Never use tabs for indentation in Go files. Cy agrees.", name="c", date="2026-03-01"
        ),
        f"{MEMORY}/d.md": memory_file(
            "Do not deploy on Fridays from the main branch.", name="d", date="2026-04-01"
        ),
    }
    root = write_tree(tmp_path / "project", files)
    assert _apply(root, tmp_path / "state", supersede=True).moved == ()
    assert _text(root, "a.md").endswith("---\n\nInes helps.\n")
    with _open(root, tmp_path / "state", supersede=True) as session:
        assert _plan(session).actions == ()


def test_a_wrapped_sentence_goes_as_a_whole_and_code_stays(tmp_path: Path) -> None:
    body = (
        "Ines helps with it when she is in the office on Mondays. Always\ndeploy on Fridays from the main branch. Bo too.\n\n"
        "```\nmake deploy\n```"
    )
    alone = "Always deploy on Fridays from the main branch.\n\n```\nmake deploy\n```"
    files = {
        f"{MEMORY}/a.md": memory_file(body, name="a", date="2026-01-01"),
        f"{MEMORY}/b.md": memory_file(
            "Never deploy on Fridays from the main branch. Cy agrees.", name="b", date="2026-02-01"
        ),
        f"{MEMORY}/c.md": memory_file(alone, name="c", kind="user", date="2026-01-01"),
        f"{MEMORY}/d.md": memory_file(
            "Never deploy on Fridays from the main branch.", name="d", kind="user", date="2026-02-01"
        ),
    }
    root = write_tree(tmp_path / "project", files)
    _apply(root, tmp_path / "state", supersede=True)
    expected = (
        "---\n\nInes helps with it when she is in the office on Mondays. Bo too.\n\n```\nmake deploy\n```\n"
    )
    assert _text(root, "a.md").endswith(expected)
    assert _text(root, "c.md").endswith("---\n\n```\nmake deploy\n```\n")


def test_a_shared_negation_is_no_contradiction(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(
            "Always run the tests before a merge. Bo helps.", name="a", date="2026-01-01"
        ),
        f"{MEMORY}/b.md": memory_file(
            "Never run migrations before a backup. Cy helps.", name="b", date="2026-02-01"
        ),
    }
    write_tree(tmp_path / "project", files)
    with _open(tmp_path / "project", tmp_path / "state", supersede=True) as session:
        assert _plan(session).conflicts == ()


def test_without_ages_nothing_supersedes(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file("Always deploy on Fridays from the main branch.", name="a"),
        f"{MEMORY}/b.md": memory_file("Never deploy on Fridays from the main branch.", name="b"),
    }
    write_tree(tmp_path / "project", files)
    with _open(tmp_path / "project", tmp_path / "state", supersede=True) as session:
        assert _plan(session).conflicts[0].choice is None


def test_a_skip_is_remembered(tree: Path, tmp_path: Path) -> None:
    with open_session(tree, tmp_path / "state") as session:
        skipped(session, look(session).plan.conflicts)
        assert look(session).asked.conflicts == ()


def test_types_and_directories_are_never_crossed(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(TABS, name="a", kind="user"),
        f"{MEMORY}/b.md": memory_file(TABS, name="b", kind="feedback"),
        ".claude/agent-memory/x/c.md": memory_file(TABS, name="c", kind="user"),
        f"{MEMORY}/l.md": "# L\n\n## Staging\n- runs on port 5432 here\n\n## Production\n- runs on port 5432 here\n",
    }
    write_tree(tmp_path / "project", files)
    with open_session(tmp_path / "project", tmp_path / "state") as session:
        assert all(isinstance(action, TextChange) for action in _plan(session).actions)


def test_pinned_memories_stay(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(
            "`gone()` in `src/gone.py` yesterday.", name="a", more="pinned: true\n"
        ),
        f"{MEMORY}/b.md": "[PINNED] `gone()` in `src/gone.py` yesterday.",
    }
    root = with_past(write_tree(tmp_path / "project", files), "src/gone.py")
    before = fingerprint(root)
    with open_session(root, tmp_path / "state") as session:
        proposal = look(session)
        session.apply(proposal.plan, now=NOW)
        flagged = proposal.findings.flagged(proposal.plan)
    assert {k: v for k, v in fingerprint(root).items() if "MEMORY.md" not in k} == before
    assert [drift.memory for drift in flagged] == [f"{MEMORY}/a.md"]


def test_only_what_says_nothing_but_where_it_was_goes(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file("Never call `to_html()` on a large graph.", name="a"),
        f"{MEMORY}/b.md": memory_file("Never touch `src/gone.py` by hand.", name="b"),
        f"{MEMORY}/c.md": memory_file("The page is drawn by `to_page()` in `other/repo.py`.", name="c"),
        f"{MEMORY}/d.md": memory_file("The page is drawn in `src/gone.py`.", name="d", kind="feedback"),
        f"{MEMORY}/e.md": memory_file("The page is drawn in `src/gone.py`.", name="e", date="2026-11-01"),
        f"{MEMORY}/f.md": memory_file("The page is drawn in `src/gone.py`. The sky is blue.", name="f"),
        f"{MEMORY}/g.md": memory_file("Pages come from `src/gone.py` and `other/repo.py`.", name="g"),
        f"{MEMORY}/z.md": memory_file("Pictures come out of `Pictures` in `src/gone.py`.", name="z"),
    }
    with_past(write_tree(tmp_path / "project", files), "src/gone.py")
    with open_session(tmp_path / "project", tmp_path / "state") as session:
        proposal = look(session)
        found, plan = proposal.findings, proposal.plan
    assert [prune.members[0].id for prune in found.prunes] == [f"{MEMORY}/z.md"]
    assert [drift.memory[-4:-3] for drift in found.flagged(plan)] == ["b", "d", "e", "f", "g"]


def test_what_only_the_older_file_says_is_kept(tmp_path: Path) -> None:
    shared = (
        "The billing service retries failed card payments three times before the customer is told by mail."
    )
    files = {
        f"{MEMORY}/a.md": memory_file(shared + "\n- Runbook: `docs/pay.md`", name="a", date="2026-01-01"),
        f"{MEMORY}/b.md": memory_file(shared, name="b", date="2026-02-01"),
        "docs/pay.md": "x",
    }
    root = write_tree(tmp_path / "project", files)
    _apply(root, tmp_path / "state")
    assert not (root / MEMORY / "a.md").exists()
    assert _text(root, "b.md").endswith(f"{shared}\n- Runbook: `docs/pay.md`\n")


def test_too_many_removals_are_refused(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/f{n}.md": memory_file(f"`src/gone{n}.py` holds the {n}th part.", name=f"f{n}")
        for n in range(8)
    }
    with_past(write_tree(tmp_path / "project", files), *(f"src/gone{n}.py" for n in range(8)))
    with (
        open_session(tmp_path / "project", tmp_path / "state", max_delete=0.3) as session,
        pytest.raises(BudgetExceededError),
    ):
        session.apply(_plan(session), now=NOW)


@pytest.mark.parametrize("kinds", [{ActionKind.MERGE}, {ActionKind.PRUNE}, set()])
def test_only_what_is_wished_for(tree: Path, tmp_path: Path, kinds: set[ActionKind]) -> None:
    wanted = {"only": frozenset(kinds)}
    with open_session(tree, tmp_path / "state", wanted=wanted) as session:
        actions = _plan(session).actions
    assert {a.kind for a in actions if not isinstance(a, TextChange)} == kinds
    assert not any(isinstance(a, Resolve) for a in actions)
    assert [a.survivor for a in actions if isinstance(a, Reindex)] == [f"{MEMORY}/MEMORY.md#whole-file"]


def test_a_memory_of_a_type_named_index_is_no_index(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file("Ines moved the gateway to Bern yesterday.", name="a", kind="index")
    }
    write_tree(tmp_path / "project", files)
    with open_session(tmp_path / "project", tmp_path / "state") as session:
        found = [(action.kind, action.category) for action in _plan(session).actions]
    assert found == [(ActionKind.REWRITE, "index"), (ActionKind.REINDEX, None)]


def test_a_plan_gives_the_index_no_line_for_a_file_that_is_gone_by_now(tmp_path: Path) -> None:
    said = {"a": "Ines moved the gateway to Bern yesterday.", "b": "The cat is called Miso."}
    files = {f"{MEMORY}/{name}.md": memory_file(text, name=name) for name, text in said.items()}
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state") as session:
        plan = _plan(session)
        (root / MEMORY / "a.md").unlink()
        (index,) = (a for a in session.completed(plan).actions if isinstance(a, Reindex))
    assert "b.md" in index.text
    assert "a.md" not in index.text


def test_a_new_text_tells_what_it_comes_from(tree: Path, tmp_path: Path) -> None:
    with _open(tree, tmp_path / "state", supersede=True) as session:
        causes = {a.survivor: set(a.causes) for a in _plan(session).actions if isinstance(a, Rewrite)}
    assert causes == {
        f"{MEMORY}/deploy_old.md": {Cause.CONTRADICTION},
        f"{MEMORY}/fresh.md": {Cause.DATES, Cause.LINKS},
        f"{MEMORY}/moved.md": {Cause.PATHS},
    }


def test_facts_that_are_known_are_not_gathered_again(tree: Path, tmp_path: Path) -> None:
    known = {
        f"{MEMORY}/uv.md": memory_file(
            "Decided to always use `uv` for installs because pip was slow.", name="uv"
        )
    }
    write_tree(tree, known)
    with open_session(tree, tmp_path / "state") as session:
        assert not any("from_daily_logs" in action.members[0].id for action in _plan(session).actions)


def test_new_facts_join_the_file_of_earlier_ones(tree: Path, tmp_path: Path) -> None:
    _apply(tree, tmp_path / "state")
    log = f"{MEMORY}/logs/2026/11/2026-11-21.md"
    write_tree(tree, {log: "- The team agreed that releases must pass `make check` first\n"})
    _apply(tree, tmp_path / "state")
    assert _text(tree, "from_daily_logs.md").count("\n- ") == 2


def test_transcripts_give_evidence_for_doubts(tree: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"message": {"content": f"touching src/was.py number {n}"}}) for n in range(60)]
    write_tree(tmp_path, {"sessions/one.jsonl": "\n".join(lines) + "\n"})
    wanted = {"transcripts": tmp_path / "sessions"}
    with open_session(tree, tmp_path / "state", wanted=wanted) as session:
        found = session.kind.evidence(look(session).findings, _plan(session))
    assert [q.text for q in found[f"{MEMORY}/partly.md"]] == [
        f"touching src/was.py number {n}" for n in (59, 58, 57)
    ]


def test_an_answer_applies_without_judging_anything_again(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(
            "The upload limit is 20 MB there. Ines helps with it.", date="2026-01-01"
        ),
        f"{MEMORY}/b.md": memory_file("The upload limit is 50 MB there. Bo knows.", date="2026-02-01"),
        f"{MEMORY}/c.md": memory_file("Ines helps with it.", date="2026-03-01"),
    }
    root = write_tree(tmp_path / "project", files)
    scorer = FakeScorer(default=lambda _a, _b: (0.0, 0.9, 0.1))
    with Session(
        open_store(root, tmp_path / "state"),
        scorer=scorer,
        encoder=FakeEncoder(),
        state_dir=tmp_path / "state",
    ) as session:
        found = look(session)
        asked = len(scorer.asked)
        choices = {found.asked.conflicts[0].id: "b"}
        plan = session.kind.follow(found.asked.with_choices(choices), found.present)
        assert len(scorer.asked) == asked
        look(session)
        assert len(scorer.asked) == asked
        session.apply(plan, now=NOW, within_budget=False)
        assert not (root / MEMORY / "a.md").exists()
        assert [action.kind for action in look(session).asked.actions] == []


def test_unattended_only_equal_statements_are_merged(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file("Deploy from the release branch with Ines on duty there.", name="a"),
        f"{MEMORY}/b.md": memory_file(
            "Deploy from the release branch with Ines on duty there daily.", name="b"
        ),
        f"{MEMORY}/c.md": memory_file("Deploy from the release branch, with Ines on duty there", name="c"),
    }
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state", wanted={"certain": True}) as session:
        assert [m.removes for m in look(session).asked.merges] == [(f"{MEMORY}/c.md",)]
        assert f"{MEMORY}/b.md" not in {m.id for merge in look(session).asked.merges for m in merge.members}


def test_unattended_an_index_loses_only_what_a_commit_took_away(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": "The cat is called Miso.",
        f"{MEMORY}/MEMORY.md": "- [A](a.md)\n- [G](gone.md)\n- [N](never.md)\n- [H](hidden.md)\n",
    }
    root = tmp_path / "project"
    root.mkdir()
    with_past(root, f"{MEMORY}/gone.md")
    write_tree(root, {**files, ".gitignore": "hidden.md\n"})
    for certain, expected in ((True, ["gone.md"]), (False, ["gone.md", "never.md"])):
        with open_session(root, tmp_path / "state", wanted={"certain": certain}) as session:
            draft = _draft(session)
        assert [line.partition("(")[2].rstrip(")") for line in draft.removed] == expected


def test_a_pointer_is_shortened_where_it_is_verbose_or_the_index_too_large(tmp_path: Path) -> None:
    said = {"a": "the blue queue is for refunds; " * 7, "b": "the red queue is for returns; " * 10}
    index = "".join(f"- [{name.upper()}]({name}.md) — {hook}\n" for name, hook in said.items())
    files = {f"{MEMORY}/{name}.md": f"The cat {name} is called Miso." for name in said}
    root = write_tree(tmp_path / "project", {**files, f"{MEMORY}/MEMORY.md": index})
    for lines, wish, shortened in (
        (0, {}, ["b.md"]), (0, {"certain": True}, []), (0, {"only": ()}, ["a.md", "b.md"]),
        (134, {"certain": True}, ["a.md", "b.md"]), (200, {"certain": True}, []),  # shortening would reach no limit
    ):  # fmt: skip
        (root / MEMORY / "MEMORY.md").write_text(index + f"- {'own words ' * 18}\n" * lines)
        with open_session(root, tmp_path / "state", wanted=wish) as session:
            assert sorted(_draft(session).demoted) == shortened


def test_a_pointer_to_a_file_in_other_letters_stays(tmp_path: Path) -> None:
    files = {
        "DESIGN.md": "# How it looks\n",
        f"{MEMORY}/a.md": "The cat is called Miso.",
        f"{MEMORY}/MEMORY.md": "- [A](a.md)\n- [Design](design.md) - read it first\n- [Gone](gone.md)\n",
    }
    with open_session(write_tree(tmp_path / "project", files), tmp_path / "state") as session:
        draft = _draft(session)
    assert draft.removed == ["- [Gone](gone.md)"]


def test_unattended_an_index_is_begun_only_where_an_agent_loads_it(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "project", {"memory-bank/a.md": "The cat is called Miso.", f"{MEMORY}/b.md": "Ines helps."}
    )
    for folder, certain, begun in (
        ("memory-bank", True, False), ("memory-bank", False, True), (MEMORY, True, True)
    ):  # fmt: skip
        state = tmp_path / f"state-{folder.strip('.').replace('/', '-')}-{certain}"
        state.mkdir()
        store = MarkdownStore(discover(root, [root / folder]), root=root, state=state)
        limits = Settings(scorer="keywords")
        with Session(
            store, kind=MarkdownKind(store, certain=certain), settings=limits, state_dir=state
        ) as session:
            assert bool(_plan(session).rewrites) is begun


def test_a_day_is_reckoned_from_the_authors_commit(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    with_past(root, "src/x.py")
    said = "We moved the gateway to Bern yesterday."
    write_tree(root, {f"{MEMORY}/a.md": said, f"{MEMORY}/b.md": memory_file(said, date="2026-01-05")})
    git(root, "add", ".")
    git(root, "commit", "-qm", "third", day="2026-03-10T23:30:00-08:00")
    with open_session(root, tmp_path / "state") as session:
        edits = look(session).findings.edits
    assert {name: edit.text for name, edit in edits.items()} == {
        f"{MEMORY}/a.md": "We moved the gateway to Bern 2026-03-09."
    }


def test_new_facts_go_into_the_file_they_belong_to(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/uv.md": memory_file(
            "Installs of Python packages run with `uv` in this project.", name="installs with uv"
        ),
        f"{MEMORY}/other.md": memory_file("The cat is called Miso.", name="cat"),
        f"{MEMORY}/logs/2026/11/2026-11-20.md": "- decided to always use `uv` for package installs because pip was slow\n- The team agreed that releases must pass `make check` first\n",
    }
    root = write_tree(tmp_path / "project", files)
    _apply(root, tmp_path / "state")
    assert _text(root, "uv.md").endswith(
        "\n- decided to always use `uv` for package installs because pip was slow\n"
    )
    assert _text(root, "from_daily_logs.md").count("\n- ") == 1
    with open_session(root, tmp_path / "state") as session:
        assert _plan(session).actions == ()


def test_new_facts_go_into_the_section_of_a_list_they_belong_to(tmp_path: Path) -> None:
    listed = (
        "# Tools\r\n\r\n## Python installs\r\n\r\n* Installs of Python packages run with `uv`\r\n* CI caches them\r\n\r\n"
        "## Reviews\r\n\r\n* Two people read every change\r\n* Nobody merges alone\r\n"
    )
    files = {
        f"{MEMORY}/tools.md": listed,
        f"{MEMORY}/logs/2026/11/2026-11-20.md": "- decided to always use `uv` for Python package installs because pip was slow\n",
    }
    root = write_tree(tmp_path / "project", files)
    before = fingerprint(root)
    _apply(root, tmp_path / "state")
    told = "* decided to always use `uv` for Python package installs because pip was slow\r\n"
    assert (root / MEMORY / "tools.md").read_bytes().decode() == listed.replace("them\r\n", f"them\r\n{told}")
    assert not (root / MEMORY / "from_daily_logs.md").exists()
    with open_session(root, tmp_path / "state") as session:
        assert _plan(session).actions == ()
        session.undo(now=NOW)
    assert fingerprint(root) == before


def test_an_answer_in_a_plan_file_cuts_the_sentence_and_not_the_file(tree: Path, tmp_path: Path) -> None:
    with open_session(tree, tmp_path / "state") as session:
        plan = _plan(session)
        plan = replace(
            plan, actions=tuple(a.choose("b") if isinstance(a, Resolve) else a for a in plan.actions)
        )
        session.apply(plan, now=NOW)
    assert _text(tree, "deploy_old.md").endswith("---\n\nInes owns the runbook.\n")


def test_the_library_prunes_no_file_by_its_age(tmp_path: Path) -> None:
    files = {f"{MEMORY}/a.md": memory_file("Ines moved the gateway to Bern yesterday.", date="2020-01-01")}
    root = write_tree(tmp_path / "project", files)
    store = open_store(root, tmp_path / "state")
    done = consolidate(
        store,
        all_scopes=True,
        apply=True,
        settings=Settings(scorer="keywords"),
        state_dir=tmp_path / "state",
        now=NOW,
    )
    assert [action.kind for action in done.plan.actions] == [ActionKind.REINDEX]


class _SameDay(FakeScorer):
    """Takes some pairs for one fact if they were stated on one day, as scorers that read dates may."""

    def __init__(self, always: tuple[str, str], *, that_day: tuple[str, str]) -> None:
        super().__init__()
        self._always, self._that_day = set(always), set(that_day)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        found = distinct(len(pairs))
        for row, pair in enumerate(pairs):
            texts = {pair.a, pair.b}
            if texts == self._always or (texts == self._that_day and pair.a_date == pair.b_date):
                found.probabilities[row] = (1.0, 0.0, 0.0)
                found.entailment[row] = 1.0
        return found


def test_a_merge_that_a_second_pass_would_merge_again_is_left_out(tmp_path: Path) -> None:
    short, long = (
        "Deploys of the shop are started by hand.",
        "Deploys of the shop are started by hand, slowly.",
    )
    other = "Deploys of the shop are begun by hand, slowly."
    files = {
        f"{MEMORY}/a.md": memory_file(long, date="2026-01-01"),
        f"{MEMORY}/b.md": memory_file(short, date="2026-03-01"),
        f"{MEMORY}/c.md": memory_file(other, date="2026-03-01"),
    }
    scorer = _SameDay((long, short), that_day=(long, other))
    for names, merges in ((("a", "b", "c"), 0), (("a", "b"), 1)):
        root = tmp_path / "-".join(names)
        write_tree(root, {name: text for name, text in files.items() if Path(name).stem in names})
        with Session(
            open_store(root, tmp_path / "state" / root.name),
            scorer=scorer,
            encoder=FakeEncoder(),
            settings=Settings(floor=-1.0),
            state_dir=tmp_path / "state" / root.name,
        ) as session:
            plan = _plan(session)
            assert len(plan.merges) == merges
            session.apply(plan, now=NOW, within_budget=False)
            assert _plan(session).actions == ()


RULES = """Letters are one page long.
They name the city first.
They never apologise for gaps.
They are built from the base template by the letter script.
The title of a role has no comma.
Numbers come from the canonical table.
Bo reads them."""


def test_files_that_tell_the_same_are_asked_about_whatever_the_scorer_thinks(tmp_path: Path) -> None:
    whole = RULES.replace("Bo reads them.", "Ines signs them. Old letters stay in the archive.")
    files = {
        f"{MEMORY}/letter_quality.md": memory_file(RULES, name="letter quality", date="2026-01-01"),
        f"{MEMORY}/letter_quality_all.md": memory_file(
            whole, name="letter quality, all rules", date="2026-03-01"
        ),
        f"{MEMORY}/archive.md": memory_file(whole.replace("signs", "binds"), name="the archive", kind="user"),
    }
    root = write_tree(tmp_path / "project", files)
    with Session(
        open_store(root, tmp_path / "state"),
        scorer=FakeScorer(),
        encoder=FakeEncoder(),
        settings=Settings(floor=-1.0),
        state_dir=tmp_path / "state",
    ) as session:
        plan = look(session).asked
        assert plan.merges == ()
        names = {frozenset(Path(member.id).stem for member in doubt.members) for doubt in plan.unsure}
        assert names == {
            frozenset(pair) for pair in itertools.combinations((Path(name).stem for name in files), 2)
        }
        doubt = next(each for each in plan.unsure if not any("archive" in m.id for m in each.members))
        assert isinstance(doubt, Merge)
        assert (doubt.survivor, "Bo reads them." in doubt.text) == (f"{MEMORY}/letter_quality_all.md", True)
        skipped(session, plan.unsure)
        assert look(session).asked.unsure == ()


class _NeitherSaysAll(FakeScorer):
    """Takes texts for duplicates of which neither follows from the other."""

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        return PairScores(super().score(pairs).probabilities, np.zeros((len(pairs), 2), dtype=np.float32))


def test_two_entries_are_not_put_into_one_line(tmp_path: Path) -> None:
    loops = "Read the ref in loops of the canvas, and sync it in `useLayer`"
    moves = "writes to the ref go into `useLayer`: `useLayer(() => { ref.now = 1 })`"
    files = {f"{MEMORY}/list.md": f"# React\n\n- {loops}\n- {moves}\n- The cat is called Miso\n"}
    root = write_tree(tmp_path / "project", files)
    scorer = _NeitherSaysAll(default=lambda a, b: (0.0, 0.0, 1.0) if "Miso" in a + b else (0.99, 0.0, 0.01))
    with Session(
        open_store(root, tmp_path / "state"),
        scorer=scorer,
        encoder=FakeEncoder(),
        settings=Settings(floor=-1.0),
        state_dir=tmp_path / "state",
    ) as session:
        found = look(session)
        assert (found.plan.merges, found.plan.unsure) == ((), ())


_SENTENCES = st.sampled_from(
    ["Use tabs for indentation in Go files.", "Use tabs for indentation in all Go files.", "Never use tabs in Go files.",
     "Deployed the gateway yesterday.", "`gone()` in `src/gone.py`.", "`run()` in `src/app.py`.", "[PINNED] Keep this rule.",
     "Staging runs on port 5432.", "Staging runs on port 5433.", "See [x](0.md).", "- a bullet that says little", "# Heading"]
)  # fmt: skip
_TABS = "Use tabs for indentation in Go files."
_USERS = memory_file(_TABS, name="n", kind="user", date="2026-01-01")
_BODIES = st.lists(_SENTENCES, min_size=1, max_size=4).map("\n".join)
_FILE = st.builds(
    lambda body, kind, month: memory_file(body, name="n", kind=kind, date=f"2026-0{month}-01"),
    _BODIES, st.sampled_from(["user", "project"]), st.integers(1, 3),
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(st.one_of(_FILE, _BODIES), min_size=1, max_size=6), supersede=st.booleans())
def test_in_any_directory_undo_is_identity(tmp_path_factory, files, supersede) -> None:
    root, state = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("state")
    write_tree(
        root, {"src/app.py": "def run(): ..."} | {f"{MEMORY}/{n}.md": text for n, text in enumerate(files)}
    )
    before = fingerprint(root)
    result = _apply(root, state, supersede=supersede)
    assert result.moved == ()
    if result.run:
        with open_session(root, state) as session:
            session.undo(now=NOW)
    assert fingerprint(root) == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(st.one_of(_FILE, _BODIES), min_size=1, max_size=6), supersede=st.booleans())
@example(files=[_USERS, _TABS, _TABS, f"{_TABS}\nDeployed the gateway yesterday."], supersede=False)
def test_in_any_directory_a_second_pass_proposes_nothing(tmp_path_factory, files, supersede) -> None:
    root, state = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("state")
    write_tree(
        root, {"src/app.py": "def run(): ..."} | {f"{MEMORY}/{n}.md": text for n, text in enumerate(files)}
    )
    _apply(root, state, supersede=supersede)
    with _open(root, state, supersede=supersede) as session:
        left = [a for a in _plan(session).actions if acts(a)]
    assert left == []


def test_an_answer_to_the_library_cuts_the_sentence_and_keeps_the_rest(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/a.md": memory_file(
            "The upload limit is 20 MB there. Ines helps with it.", date="2026-01-01"
        ),
        f"{MEMORY}/b.md": memory_file("The upload limit is 50 MB there. Bo knows.", date="2026-02-01"),
    }
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state") as session:
        plan = session.propose(ScopeFilter(), now=NOW)
        (conflict,) = plan.conflicts
        loser = conflict.b[0] if conflict.newer == "a" else conflict.a[0]
        side = "a" if loser == conflict.b[0] else "b"
        session.apply(plan, now=NOW, choices={conflict.id: side}, within_budget=False)
    left = (root / loser).read_text()
    assert loser == f"{MEMORY}/a.md"
    assert "20 MB there" not in left
    assert "Ines helps with it." in left


def test_what_was_taken_back_in_an_index_stays_so_by_its_lines(tmp_path: Path) -> None:
    files = {f"{MEMORY}/{name}.md": f"The cat {name} is called Miso." for name in "ab"}
    root = write_tree(
        tmp_path / "project", {**files, f"{MEMORY}/MEMORY.md": "- [A](a.md)\n- [Gone](gone.md)\n"}
    )
    before = _text(root, "MEMORY.md")
    _apply(root, tmp_path / "state")
    with open_session(root, tmp_path / "state") as session:
        session.undo(now=NOW)
        assert (_plan(session).actions, _text(root, "MEMORY.md")) == ((), before)
        write_tree(root, {f"{MEMORY}/c.md": "The dog is called Otto."})
        session.apply(_plan(session), now=NOW)
    assert _text(root, "MEMORY.md") == "- [A](a.md)\n- [c](c.md)\n- [Gone](gone.md)\n"


@pytest.mark.parametrize("name", ["Plan 1 DONE, plan 2 is next", "Part 1 MERGED to main (#4)"])
def test_a_file_of_which_a_part_is_over_stays(tmp_path: Path, name: str) -> None:
    text = memory_file("The queue is blue.", name=name)
    root = write_tree(tmp_path / "project", {f"{MEMORY}/old.md": text})
    with open_session(root, tmp_path / "state") as session:
        assert not _plan(session).prunes


@pytest.mark.parametrize(("certain", "goes"), [(False, [f"{MEMORY}/old.md"]), (True, [])])
def test_a_file_that_says_it_is_over_gets_no_pointer(tmp_path: Path, certain: bool, goes: list[str]) -> None:
    files = {
        f"{MEMORY}/old.md": memory_file("The queue is blue.", name="Old queue (SUPERSEDED by new.md)"),
        f"{MEMORY}/new.md": memory_file("The queue is red and long.", name="Queue"),
    }
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state", wanted={"certain": certain}) as session:
        plan = _plan(session)
    assert [name for prune in plan.prunes for name in prune.removes] == goes
    assert all("old.md" not in action.text for action in plan.rewrites)


def test_a_fact_of_a_log_that_a_memory_denies_is_asked_and_not_filed(tmp_path: Path) -> None:
    said = "Always deploy on Fridays from the main branch of `shop`."
    files = {
        f"{MEMORY}/a.md": memory_file(f"{said} Ines helps."),
        f"{MEMORY}/logs/2026/11/2026-11-20.md": f"- {said.replace('Always', 'Never')}\n",
    }
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state") as session:
        found = look(session)
        (conflict,) = found.plan.conflicts
        assert not any("daily_logs" in action.survivor for action in found.plan.rewrites)
        log = (root / MEMORY / "logs/2026/11/2026-11-20.md").read_bytes()
        session.apply(found.plan, now=NOW, choices={conflict.id: "b"}, within_budget=False)
    assert _text(root, "a.md").endswith(
        "---\n\nNever deploy on Fridays from the main branch of `shop`. Ines helps.\n"
    )
    assert (root / MEMORY / "logs/2026/11/2026-11-20.md").read_bytes() == log


def test_unattended_a_rule_goes_into_no_file_of_another_subject(tmp_path: Path) -> None:
    files = {
        f"{MEMORY}/uv.md": memory_file("Installs of Python packages run with `uv` in this project.", name="installs with uv"),
        f"{MEMORY}/logs/2026/11/2026-11-20.md": "- decided to always use `uv` for package installs because pip was slow\n",
    }  # fmt: skip
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state", wanted={"certain": True}) as session:
        assert [a.survivor for a in _plan(session).rewrites if isinstance(a, Append)] == [
            f"{MEMORY}/from_daily_logs.md#whole-file"
        ]
