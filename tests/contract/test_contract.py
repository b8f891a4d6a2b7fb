"""What holds for every kind of store, through the library and through the command line."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from killing import dies
from kinds import KINDS, NOW, SETTINGS, World, milvus_world
from mem0_dream.errors import UsageError
from mem0_dream.models.same_statement import statement_key
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.cli.options import ROWS
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.plan_file import parse_plan
from mem0_dream.pipeline.reporting.text import NAMED as OWN_WAYS
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_stores import MILVUS

pytestmark = pytest.mark.store
EVERYTHING = ScopeFilter()
Call = Callable[..., Result]


@pytest.fixture
def call(world: World) -> Call:
    return world.call


@pytest.fixture
def session(world: World, tmp_path: Path) -> Iterator[Session]:
    with world.session(tmp_path / "library-state") as opened:
        yield opened


def removed(world: World, before: dict[str, str]) -> set[str]:
    return before.keys() - world.texts().keys()


class TestCommandLine:
    def test_everything_that_is_applied_was_shown(self, world: World, call: Call, tmp_path: Path) -> None:
        file, before = tmp_path / "plan.jsonl", world.texts()
        call("plan", "-o", str(file))
        plan = parse_plan(file.read_text())
        assert plan.merges
        stored = world.content()
        shown = call("apply", str(file), answers="n\n").stdout
        assert world.content() == stored
        call("apply", str(file), answers="y\n")
        after = world.texts()
        changed = {name for name in before if after.get(name) != before[name]}
        assert changed
        for name in changed:
            labels = {"md": f": {name} (", "graph": f"[graph:{name}"}
            assert labels.get(world.kind, f"[{world.kind}:{name[:8]}") in shown, f"{name} was not shown"
        assert removed(world, before) == {name for action in plan.actions for name in action.removes}
        for name, text in after.items():
            new = set(text.splitlines()) - set(before.get(name, "").splitlines())
            assert all(line.strip() in shown for line in new), (name, new)

    def test_state_is_private_whatever_the_folder_allows(self, world, call, own_state):
        own_state.chmod(0o777)
        before = os.umask(0)
        try:
            call("--auto")
            call("--dry-run")
        finally:
            os.umask(before)
        for file in (path for path in own_state.rglob("*") if path.is_file()):
            inside = [file, *(folder for folder in file.parents if own_state in folder.parents)]
            assert not all(each.stat().st_mode & 0o077 for each in inside), file.name

    def test_a_part_is_taken_back_alone_and_the_rest_after_it(self, world: World, call: Call) -> None:
        before, texts = world.content(), world.texts()
        call("--auto")
        gone = min(removed(world, texts))
        told = call("undo", "--only", gone).stdout
        assert "restored: 0" not in told
        assert texts[gone] in world.texts().values()
        if world.content() != before:  # there was more to it
            assert "changed no memory" in call("undo", "--only", "nothing", code=2).stderr
            call("undo")
        assert world.content() == before

    def test_pinned_memories_stay_a_second_pass_has_nothing_to_do_and_an_undo_is_not_repeated(
        self, world, call
    ):
        before, pinned = world.content(), world.texts()[world.pinned]
        call("--auto")
        assert world.texts()[world.pinned] == pinned
        settled = world.content()
        call("--auto")
        assert world.content() == settled
        run = call("undo").stdout.split()[1]
        assert world.content() == before
        call("--auto")
        assert world.content() == before
        listed = call("reject", "--list").stdout
        assert f"(run {run})" in listed
        call("reject", "--forget", run)
        call("--auto")
        assert world.content() != before

    def test_a_skip_is_remembered(self, world: World, call: Call) -> None:
        first = call(answers="skip\ny\n").stdout
        assert first.count("[A/B/still/skip] ") >= 1
        assert "skipped: resolve" in call("reject", "--list").stdout
        again = call().stdout
        assert "[A/B/still/skip]" not in again
        listed = call("reject", "--list").stdout.splitlines()
        number = next(line for line in listed if "skipped" in line).split()[0]
        call("reject", "--forget", number)
        assert "[A/B/still/skip]" in call(answers="skip\ny\n").stdout

    def test_an_answer_that_was_undone_is_asked_for_again(self, world: World, call: Call) -> None:
        before = world.content()
        assert "[A/B/still/skip]" in call(answers="b\ny\n").stdout
        answered = world.content()
        call("undo")
        assert world.content() == before
        call("--auto")
        assert world.content() == before
        assert "[A/B/still/skip]" in call(answers="b\ny\n").stdout
        assert world.content() not in (before, answered)

    def test_a_run_is_taken_back_by_its_name_alone_as_is_printed(self, world: World, call: Call) -> None:
        """The journal knows how to open the store again; nothing is opened to list runs."""
        before, told = world.content(), call(answers="skip\ny\n")
        assert world.content() != before
        alone = CliRunner().invoke(main, ["runs"])
        assert (alone.exit_code, world.words[-1] in alone.stdout) == (0, True), alone.output
        run = alone.stdout.splitlines()[1].split()[0]
        line = next(line for line in told.stderr.splitlines() if line.startswith("Undo with: "))
        words = shlex.split(line.removeprefix("Undo with: "))
        assert words[:3] == ["mem0-dream", "undo", run]
        done = CliRunner().invoke(main, words[1:])
        assert done.exit_code == 0, done.output
        assert world.content() == before

    def test_the_budget_stops_an_unattended_pass(self, world: World, call: Call) -> None:
        before, said = world.content(), {statement_key(text) for text in world.texts().values()}
        # Of files only what newer statements overrule goes unattended, besides copies.
        more = ("--scorer", "keywords", "--supersede") if world.kind == "md" else ()
        assert "budget" in call("--auto", *more, "--max-delete", "0", code=3).stderr
        assert {statement_key(text) for text in world.texts().values()} == said
        assert world.kind not in OWN_WAYS or world.content() == before

    def test_over_the_budget_a_person_decides_and_a_cancelled_pass_remembers_nothing(self, world, call):
        before = world.content()
        answer = "b" if world.kind == "md" else "skip"  # of files only copies go without an answer
        warned = call("--max-delete", "0", answers=f"{answer}\n\n")
        assert "Careful: this removes" in warned.stdout
        assert "[y/N]" in warned.stdout
        assert world.content() == before
        assert call("reject", "--list").stdout == "No answers yet.\n"
        assert call("runs").stdout == "No runs yet.\n"
        call("--max-delete", "0", answers=f"{answer}\ny\n")
        assert world.content() != before

    def test_options_of_another_kind_are_refused(self, world: World, call: Call) -> None:
        before = world.content()
        for name in ("supersede", "repair", "retire", "assume_unread"):
            if world.kind not in ROWS[name].kinds:
                call("--auto", ROWS[name].spoken, code=2)
        if world.kind != "md":
            assert "--only index is for Markdown" in call("--auto", "--only", "index", code=2).stderr
        assert world.content() == before

    def test_explain_tells_whether_the_survivor_changes(self, world: World, call: Call) -> None:
        changes = any(merge.rewrites for merge in parse_plan(call("plan").stdout).merges)
        shown = call("--dry-run", "--explain").stdout
        assert ("stays as it is" in shown, "says it all and stays as it is" in shown) == (not changes,) * 2

    def test_a_text_is_checked_and_nothing_is_written(self, world: World, call: Call) -> None:
        before, said = world.content(), world.texts()[world.pair[0]].split("\n- ")[-1]
        subject = f"{world.pair[0]}: " if world.kind == "graph" else ""  # a name belongs to an observation
        known = call("check", f"{subject}{said}", code=10).stdout
        assert known.startswith(f"same as [{world.kind}:")
        assert said in known
        text = "Nobody has ever heard of marmalade"
        assert call("check", text).stdout == "new\n"
        found = json.loads(call("check", "--json", answers=f"{subject}{said}\n\n{text}\n").stdout)["texts"]
        assert [each["finding"] for each in found] == ["same as", "new"]
        assert found[0]["matches"][0]["id"] in world.pair
        against = {"md": "Never use tabs for indentation in Go files.",
                   "graph": "cache warm: Never warm the image cache before the sale"}  # fmt: skip
        told = call("check", against.get(world.kind, "Never deploys the shop to staging on Tuesdays."))
        assert "contradicts [" in told.stdout
        assert "no text to check" in call("check", answers="\n", code=2).stderr
        assert world.content() == before

    def test_an_incomplete_listing_is_read_only(self, world, call, monkeypatch):
        before = world.content()
        with monkeypatch.context() as patch:
            with closing(world.open()) as store:
                kind, read = type(store), type(store).read
            gaps = ("2 of 3 were listed",)
            patch.setattr(kind, "read", lambda self, scopes: replace(read(self, scopes), gaps=gaps))
            for words in (("--auto",), ()):
                assert "2 of 3 were listed" in call(*words, answers="skip\ny\n", code=4).stderr
        assert world.content() == before


class TestLibrary:
    @pytest.fixture(params=[*KINDS, pytest.param("milvus", marks=MILVUS)])
    def world(self, request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
        built = (KINDS | {"milvus": milvus_world})[request.param](tmp_path, monkeypatch)
        yield built
        built.close()

    def test_a_rejected_pair_is_not_proposed(self, world: World, session: Session) -> None:
        by_id = {memory.id: memory for memory in session.read(EVERYTHING).memories}
        assert set(world.pair) in [
            {m.id for m in merge.members} for merge in session.propose(EVERYTHING, now=NOW).merges
        ]
        session.reject(by_id[world.pair[0]], by_id[world.pair[1]], now=NOW)
        after = session.propose(EVERYTHING, now=NOW)
        assert not any(set(world.pair) <= {m.id for m in merge.members} for merge in after.merges)

    @pytest.mark.parametrize("after", [False, True])
    def test_a_killed_run_is_finished_once(self, world: World, tmp_path: Path, after: bool) -> None:
        before, state = world.content(), tmp_path / "library-state"
        with world.session(state) as session:
            plan = session.propose(EVERYTHING, now=NOW)
            assert dies(session.store, 2, lambda: session.apply(plan, now=NOW), after=after)
        with world.session(state) as session:
            session.resume(now=NOW)
            assert session.journal.interrupted(session.store.fingerprint) is None
        gone = {name for action in plan.actions for name in action.removes}
        assert not gone & world.texts().keys()
        with world.session(state) as session:
            session.undo(now=NOW)
        assert world.content() == before

    def test_open_store_opens_what_is_on_this_machine(self, world: World, tmp_path: Path) -> None:
        if world.kind in ("platform", "server"):
            pytest.skip("has no path")
        found = []
        for opened in (world.open, lambda: open_store(world.words[-1], state_dir=tmp_path)):
            with closing(opened()) as store:
                found.append((store.kind, store.fingerprint))
        assert found[0] == found[1]

    def test_consolidate_fits_the_kind(self, world: World, tmp_path: Path) -> None:
        settings, state = Settings(**SETTINGS), tmp_path / "library-state"
        store = world.open()
        if world.kind in OWN_WAYS:
            with pytest.raises(UsageError, match="has no users"):
                consolidate(store, user_id="alice", settings=settings, state_dir=state)
        done = consolidate(store, all_scopes=True, settings=settings, state_dir=state, now=NOW, apply=True)
        store.close()
        assert done.result is not None
        assert done.result.merged == 1
        assert len(set(world.pair) & world.texts().keys()) == 1
