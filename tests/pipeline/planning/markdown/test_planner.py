"""A whole pass over Markdown memories: plan, apply, be killed, resume, undo, pass again."""

import itertools
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders import skipped
from hypothesis import HealthCheck, example, given, settings, strategies as st
from killing import dies
from markdown_trees import MEMORY, NOW, Project, fingerprint, git, look, memory_file, open_store
from markdown_world import RULES
from mem0_dream.models.scorer import PairInput, PairScores, distinct
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Cause, Merge, Reindex, Resolve, Rewrite, TextChange, acts
from mem0_dream.records import ActionKind
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

TABS = "Use tabs for indentation in all Go files of the backend."
ALWAYS = "Always deploy on Fridays from the main branch."
NEVER = ALWAYS.replace("Always", "Never")
MOVED = "Ines moved the gateway to Bern yesterday."
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


def tree_in(folder: Path) -> Project:
    project = Project(folder).write(FILES)
    return project.past("src/old.py", "src/was.py", moved={"src/gate.py": "src/net/gate.py"})


@pytest.fixture
def tree(tmp_path: Path) -> Project:
    return tree_in(tmp_path)


def test_the_pass_does_what_it_should_once_and_is_taken_back(tree):
    assert tree.apply(supersede=True).moved == ()
    assert tree.names() == [
        "MEMORY", "deploy_new", "deploy_old", "fresh", "from_daily_logs", "list", "moved", "partly", "tabs_two"
    ]  # fmt: skip
    assert "moved there 2026-09-30. See [tabs](tabs_two.md)." in tree.text("fresh")
    assert tree.text("deploy_old").endswith("---\n\nInes owns the runbook.\n")
    assert tree.text("list").count("5432") == 1
    assert "- decided to always use `uv`" in tree.text("from_daily_logs")
    assert "The gateway is in `src/net/gate.py` for good." in tree.text("moved")
    index = tree.text("MEMORY")
    assert index.startswith("# Memory\r\n\r\nRead first.\r\n\r\n- [")
    assert "\r\n- [Tabs](tabs_two.md) - tabs\r\n" in index
    assert (index.count("]("), "gone.md" in index) == (8, False)
    assert tree.plan(supersede=True).actions == ()
    assert not tree.same()
    with tree.open() as session:
        assert session.undo(now=NOW).kept == ()
    assert tree.same()


def _killed_after(project: Project, steps: int) -> bool:
    with project.open(supersede=True) as session:
        plan = look(session).plan
        return dies(session.store, steps + 1, lambda: session.apply(plan, now=NOW))


def test_killed_anywhere_a_run_is_resumed_as_if_unkilled_or_taken_back(tmp_path):
    def contents(made):
        return {name: row[0] for name, row in fingerprint(made.root).items()}

    whole = tree_in(tmp_path / "whole")
    whole.apply(supersede=True)
    steps = 0
    while _killed_after(made := tree_in(tmp_path / f"k{steps}"), steps):
        with made.open() as session:
            session.resume(now=NOW)
        assert contents(made) == contents(whole)
        steps += 1
    assert steps >= 7
    for steps in (1, 4, 6):  # an undo takes back a killed run, too
        made = tree_in(tmp_path / f"u{steps}")
        assert _killed_after(made, steps)
        assert made.undone()


def test_a_file_that_moved_is_skipped_and_all_were_copied_before(tree):
    with tree.open() as session:
        plan = look(session).plan
        (tree.root / MEMORY / "stale.md").write_text("The agent wrote this.")
        assert [reason for _, reason in session.apply(plan, now=NOW).moved]
        (copy,) = (session.store.archive / "snapshots").glob("*.tar")
    assert tree.text("stale") == "The agent wrote this."
    assert "tabs" not in tree.names()
    with tarfile.open(copy) as archive:
        assert f"{MEMORY}/tabs.md" in archive.getnames()


def test_a_memory_may_lose_several_sentences_and_none_twice(project):
    tabs = "Use tabs for indentation in Go files."
    project.write(
        a=memory_file(f"{ALWAYS} {tabs} Ines helps.", date="2026-01-01"),
        b=memory_file(f"{NEVER} Bo agrees.", date="2026-02-01"),
        c=memory_file(f"{tabs.replace('Use', 'Never use')} Cy agrees.", date="2026-03-01"),
        d=memory_file(NEVER.replace("Never", "Do not"), date="2026-04-01"),
    )
    assert project.apply(supersede=True).moved == ()
    assert project.text("a").endswith("---\n\nInes helps.\n")
    assert project.plan(supersede=True).actions == ()


def test_a_wrapped_sentence_goes_as_a_whole_and_code_stays(project):
    said, code = "Ines helps with it when she is in the office on Mondays.", "\n\n```\nmake deploy\n```"
    wrapped = ALWAYS.replace("Always ", "Always\n")
    project.write(
        a=memory_file(f"{said} {wrapped} Bo too.{code}", date="2026-01-01"),
        b=memory_file(f"{NEVER} Cy agrees.", date="2026-02-01"),
        c=memory_file(f"{ALWAYS}{code}", kind="user", date="2026-01-01"),
        d=memory_file(NEVER, kind="user", date="2026-02-01"),
    )
    project.apply(supersede=True)
    assert project.text("a").endswith(f"---\n\n{said} Bo too.{code}\n")
    assert project.text("c").endswith("---\n\n```\nmake deploy\n```\n")


def test_what_supersedes_nothing(project):
    """A negation that two sentences share, and what has no ages."""
    tests, backup = (
        "Always run the tests before a merge. Bo helps.",
        "Never run migrations before a backup. Cy helps.",
    )
    for a, b, later, choices in ((tests, backup, "2026-02-01", []), (ALWAYS, NEVER, "2026-01-01", [None])):
        project.write(a=memory_file(a, name="a", date="2026-01-01"), b=memory_file(b, name="b", date=later))
        assert [conflict.choice for conflict in project.plan(supersede=True).conflicts] == choices


def test_types_and_directories_are_never_crossed(project):
    agent = {".claude/agent-memory/x/c.md": memory_file(TABS, name="c", kind="user")}
    listed = "# L\n\n## Staging\n- runs on port 5432 here\n\n## Production\n- runs on port 5432 here\n"
    files = {kind: memory_file(TABS, name=kind, kind=kind) for kind in ("user", "feedback")}
    project.write(agent, l=listed, **files)
    assert all(isinstance(action, TextChange) for action in project.plan().actions)


def test_pinned_memories_stay(project):
    said = "`gone()` in `src/gone.py` yesterday."
    project.write(a=memory_file(said, name="a", more="pinned: true\n"), b=f"[PINNED] {said}").past(
        "src/gone.py"
    )
    with project.open() as session:
        proposal = look(session)
        session.apply(proposal.plan, now=NOW)
        flagged = proposal.findings.flagged(proposal.plan)
    assert {k: v for k, v in fingerprint(project.root).items() if "MEMORY.md" not in k} == project.before
    assert [drift.memory for drift in flagged] == [f"{MEMORY}/a.md"]


def test_only_what_says_nothing_but_where_it_was_goes(project):
    drawn = "The page is drawn in `src/gone.py`."
    project.write(
        a=memory_file("Never call `to_html()` on a large graph.", name="a"),
        b=memory_file("Never touch `src/gone.py` by hand.", name="b"),
        c=memory_file("The page is drawn by `to_page()` in `other/repo.py`.", name="c"),
        d=memory_file(drawn, name="d", kind="feedback"),
        e=memory_file(drawn, name="e", date="2026-11-01"),
        f=memory_file(f"{drawn} The sky is blue.", name="f"),
        g=memory_file("Pages come from `src/gone.py` and `other/repo.py`.", name="g"),
        z=memory_file("Pictures come out of `Pictures` in `src/gone.py`.", name="z"),
    ).past("src/gone.py")
    proposal = project.look()
    assert [prune.members[0].id for prune in proposal.findings.prunes] == [f"{MEMORY}/z.md"]
    assert [drift.memory[-4:-3] for drift in proposal.findings.flagged(proposal.plan)] == [*"bdefg"]


def test_what_only_the_older_file_says_is_kept(project):
    said = "The billing service retries failed card payments three times before the customer is told by mail."
    project.write(
        {"docs/pay.md": "x"},
        a=memory_file(f"{said}\n- Runbook: `docs/pay.md`", name="a", date="2026-01-01"),
        b=memory_file(said, name="b", date="2026-02-01"),
    ).apply()
    assert "a" not in project.names()
    assert project.text("b").endswith(f"{said}\n- Runbook: `docs/pay.md`\n")


@pytest.mark.parametrize("kinds", [{ActionKind.MERGE}, {ActionKind.PRUNE}, set()])
def test_only_what_is_wished_for(tree, kinds):
    actions = tree.plan(only=frozenset(kinds)).actions
    assert {a.kind for a in actions if not isinstance(a, TextChange)} == kinds
    assert not any(isinstance(a, Resolve) for a in actions)
    assert [a.survivor for a in actions if isinstance(a, Reindex)] == [f"{MEMORY}/MEMORY.md#whole-file"]


def test_a_new_text_tells_what_it_comes_from(tree):
    rewrites = [a for a in tree.plan(supersede=True).actions if isinstance(a, Rewrite)]
    assert {a.survivor: set(a.causes) for a in rewrites} == {
        f"{MEMORY}/deploy_old.md": {Cause.CONTRADICTION},
        f"{MEMORY}/fresh.md": {Cause.DATES, Cause.LINKS},
        f"{MEMORY}/moved.md": {Cause.PATHS},
    }


def test_transcripts_give_evidence_for_doubts(tree, tmp_path):
    said = [f"touching src/was.py number {n}" for n in range(60)]
    (tmp_path / "sessions").mkdir()
    lines = "".join(json.dumps({"message": {"content": text}}) + "\n" for text in said)
    (tmp_path / "sessions" / "one.jsonl").write_text(lines)
    with tree.open(transcripts=tmp_path / "sessions") as session:
        proposal = look(session)
        found = session.kind.evidence(proposal.findings, proposal.plan)
    assert [q.text for q in found[f"{MEMORY}/partly.md"]] == said[:56:-1]


LIMITS = {
    "a": memory_file("The upload limit is 20 MB there. Ines helps with it.", date="2026-01-01"),
    "b": memory_file("The upload limit is 50 MB there. Bo knows.", date="2026-02-01"),
}


def test_an_answer_applies_without_judging_anything_again(project):
    project.write(**LIMITS, c=memory_file("Ines helps with it.", date="2026-03-01"))
    scorer = FakeScorer(default=lambda _a, _b: (0.0, 0.9, 0.1))
    store = open_store(project.root, project.state)
    with Session(store, scorer=scorer, encoder=FakeEncoder(), state_dir=project.state) as session:
        found = look(session)
        asked = len(scorer.asked)
        choices = {found.asked.conflicts[0].id: "b"}
        plan = session.kind.follow(found.asked.with_choices(choices), found.present)
        assert len(scorer.asked) == asked
        look(session)
        assert len(scorer.asked) == asked
        session.apply(plan, now=NOW, within_budget=False)
        assert "a" not in project.names()
        assert [action.kind for action in look(session).asked.actions] == []


def test_unattended_only_equal_statements_are_merged(project):
    said = "Deploy from the release branch with Ines on duty there"
    project.write(
        a=memory_file(f"{said}.", name="a"),
        b=memory_file(f"{said} daily.", name="b"),
        c=memory_file(said.replace(" with", ", with"), name="c"),
    )
    merges = project.look(unattended=True).asked.merges
    assert [merge.removes for merge in merges] == [(f"{MEMORY}/c.md",)]
    assert f"{MEMORY}/b.md" not in {m.id for merge in merges for m in merge.members}


def test_a_day_is_reckoned_from_the_authors_commit(project):
    said = "We moved the gateway to Bern yesterday."
    project.past("src/x.py").write(a=said, b=memory_file(said, date="2026-01-05"))
    git(project.root, "add", ".")
    git(project.root, "commit", "-qm", "third", day="2026-03-10T23:30:00-08:00")
    edits = project.look().findings.edits
    assert {name: edit.text for name, edit in edits.items()} == {
        f"{MEMORY}/a.md": said.replace("yesterday", "2026-03-09")
    }


def test_the_library_prunes_no_file_by_its_age(project):
    store = project.write(a=memory_file(MOVED, date="2020-01-01")).store()
    given = {"settings": Settings(scorer="keywords"), "state_dir": project.state, "now": NOW}
    done = consolidate(store, all_scopes=True, apply=True, **given)
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


@pytest.mark.parametrize(("names", "merges"), [("abc", 0), ("ab", 1)])
def test_a_merge_that_a_second_pass_would_merge_again_is_left_out(project, names, merges):
    short = "Deploys of the shop are started by hand."
    long = short.replace(".", ", slowly.")
    other = long.replace("started", "begun")
    dates = {long: "2026-01-01", short: "2026-03-01", other: "2026-03-01"}
    files = dict(zip("abc", (memory_file(text, date=day) for text, day in dates.items()), strict=True))
    project.write(**{name: files[name] for name in names})
    with project.judged(_SameDay((long, short), that_day=(long, other))) as session:
        plan = look(session).plan
        assert len(plan.merges) == merges
        session.apply(plan, now=NOW, within_budget=False)
        assert look(session).plan.actions == ()


def test_files_that_tell_the_same_are_asked_about_whatever_the_scorer_thinks(project):
    whole = f"{RULES}Ines signs them. Old letters stay in the archive."
    files = {
        "letter_quality": memory_file(f"{RULES}Bo reads them.", name="letter quality", date="2026-01-01"),
        "letter_quality_all": memory_file(whole, name="letter quality, all rules", date="2026-03-01"),
        "archive": memory_file(whole.replace("signs", "binds"), name="the archive", kind="user"),
    }
    with project.write(**files).judged(FakeScorer()) as session:
        plan = look(session).asked
        assert plan.merges == ()
        names = {frozenset(Path(member.id).stem for member in doubt.members) for doubt in plan.unsure}
        assert names == {frozenset(pair) for pair in itertools.combinations(files, 2)}
        doubt = next(each for each in plan.unsure if not any("archive" in m.id for m in each.members))
        assert isinstance(doubt, Merge)
        assert (doubt.survivor, "Bo reads them." in doubt.text) == (f"{MEMORY}/letter_quality_all.md", True)
        skipped(session, plan.unsure)
        assert look(session).asked.unsure == ()


class _NeitherSaysAll(FakeScorer):
    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        return PairScores(super().score(pairs).probabilities, np.zeros((len(pairs), 2), dtype=np.float32))


def test_two_entries_are_not_put_into_one_line(project):
    loops = "Read the ref in loops of the canvas, and sync it in `useLayer`"
    moves = "writes to the ref go into `useLayer`: `useLayer(() => { ref.now = 1 })`"
    project.write(list=f"# React\n\n- {loops}\n- {moves}\n- The cat is called Miso\n")
    scorer = _NeitherSaysAll(default=lambda a, b: (0.0, 0.0, 1.0) if "Miso" in a + b else (0.99, 0.0, 0.01))
    with project.judged(scorer) as session:
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
@example(files=[_USERS, _TABS, _TABS, f"{_TABS}\nDeployed the gateway yesterday."], supersede=False)
def test_in_any_directory_a_second_pass_proposes_nothing_and_undo_is_identity(
    tmp_path_factory, files, supersede
):
    memories = {str(number): text for number, text in enumerate(files)}
    project = Project(tmp_path_factory.mktemp("tree")).write({"src/app.py": "def run(): ..."}, **memories)
    result = project.apply(supersede=supersede)
    assert result.moved == ()
    assert [a for a in project.plan(supersede=supersede).actions if acts(a)] == []
    assert project.undone() if result.run else project.same()


@pytest.mark.parametrize(
    ("name", "more", "goes"),
    [
        ("Plan 1 DONE, plan 2 is next", "", 0), ("Part 1 MERGED to main (#4)", "", 0),
        ("Plan 15 (DONE)", "", 1), ("Plan 15 (DONE)", " Ines runs it. It drains at 3. Bo reads it.", 0),
    ],
)  # fmt: skip
def test_of_what_is_done_a_task_goes_and_what_is_over_in_part_or_tells_how_things_are_stays(
    project, name, more, goes
):
    plan = project.write(old=memory_file(f"The queue is blue.{more}", name=name)).plan()
    assert (len(plan.prunes), len(plan.unsure)) == (0, goes)


CLEAN_BREAK = "Prefer a clean break - delete the old stub, no deprecated wrappers."


@pytest.mark.parametrize(
    ("file", "over"),
    [
        *((memory_file("The queue is blue.", name=name), True) for name in (
            "Old queue (SUPERSEDED by new.md)", "DEPRECATED: the queue", "The queue - obsolete",
            "The queue (deprecated since 2024)", "[RETIRED] queue", "Queue notes, moved to ops.md", "Superseded by new.md",
        )),
        ("# The queue (deprecated)\n\nIt is blue.\n", True), ("> Superseded by [new](new.md)\n\nIt is blue.\n", True),
        ("**Status:** superseded\n\nThe queue is blue.\n", True), ("This note is no longer valid.\n\nIt is blue.\n", True),
        ("---\nname: queue\nstatus: deprecated\n---\n\nThe queue is blue.\n", True),
        *((memory_file("The queue is blue.", name=name), False) for name in (
            CLEAN_BREAK, "Deprecated wrappers are forbidden", "The v1 API is deprecated", "How we handle obsolete flags",
            "Team moved to Slack in May", "Ines retired from the queue rota", "no-deprecated-calls", "Never use DEPRECATED calls",
        )),
        (f"{CLEAN_BREAK}\n", False), ("Deprecated calls are replaced at once.\n", False), ("Moved to Kubernetes in May.\n", False),
        ("# Deprecated API wrappers\n\nNever add one.\n", False), ("The old client is deprecated; use `fetch`.\n", False),
        ("---\nname: queue\nstatus: active, replaces the deprecated one\n---\n\nThe queue is blue.\n", False),
    ],
)  # fmt: skip
def test_a_file_is_asked_about_only_where_its_own_status_says_that_it_is_over(project, file, over):
    """And only asked: nobody agrees to it along with the rest."""
    plan = project.write(note=file, kept="The cat is called Miso.\n").plan()
    assert (plan.prunes, [doubt.removes for doubt in plan.unsure]) == (
        (),
        [(f"{MEMORY}/note.md",)] if over else [],
    )
