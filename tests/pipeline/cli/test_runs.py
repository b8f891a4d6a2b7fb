"""The commands around a pass, and what bad input is told."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from builders import NOW, memory
from click.testing import CliRunner
from e2e_cli import ALICE, REPORT, Invoke, run_named_in, went_away, whole
from markdown_trees import MEMORY, fingerprint, write_tree
from mem0_dream.errors import StoreError
from mem0_dream.models.registry import CHOICES
from mem0_dream.pipeline.cli import main as cli_module
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.testing import InMemoryStore


class TestCommands:
    def test_undo_runs_and_what_cannot_be_undone(self, store: InMemoryStore, dream: Invoke) -> None:
        before = whole(store)
        assert dream("undo", code=6).stderr == "mem0-dream: This store has no run that could be taken back.\n"
        dream(*ALICE, "--auto")
        (run,) = dream("runs").stdout.splitlines()
        name, state = run.split()[:2]
        assert (state, run.split("UTC  ")[1]) == ("applied", "removed 5, added 1")
        assert dream("undo").stdout == f"Run {name} taken back — restored: 5, withdrawn: 1\n"
        assert whole(store) == before
        for words, told in (
            (("undo", name), f"Run {name} was undone already; there is nothing to take back.\n"),
            (("undo", "nonsense"), "There is no run 'nonsense'"),
            (("resume", name), f"Run {name} is undone; there is nothing to resume.\n"),
        ):
            assert dream(*words, code=6).stderr.startswith(f"mem0-dream: {told}")

    def test_runs_and_status_for_programs(self, dream: Invoke) -> None:
        assert json.loads(dream("runs", "--json").stdout) == []
        dream(*ALICE, "--auto")
        (run,) = json.loads(dream("runs", "--json").stdout)
        assert (run["kind"], run["scopes"], run["removed"]) == ("memory", [{"user_id": "alice"}], 5)
        told = json.loads(dream("status", "--all", "--json").stdout)
        assert told["kind"] == "memory"
        assert told["scopes"][1] == {"scope": {"user_id": "bob"}, "memories": 1}
        assert dream("--user-id", "bob", "status").stdout == dream("status", "--user-id", "bob").stdout

    def test_json_is_safe_for_a_terminal(self, store: InMemoryStore, dream: Invoke) -> None:
        text = "Likes \ue000 tea\u202e and \U0010fffd cake\ud800 a lot."
        store.rows |= InMemoryStore([memory("odd", text), memory("odd2", text)]).rows
        shown = dream(*ALICE, "--json").stdout
        assert all(char.isprintable() or char == "\n" for char in shown)
        plan = json.loads(shown)["plan"]
        assert text in [member["text"] for action in plan["actions"] for member in action["members"]]
        pairs = [verdict["pair"] for action in plan["actions"] for verdict in action.get("verdicts", ())]
        assert {"merged:run1+run2"} <= {pair["b"] for pair in pairs}

    def test_undo_names_what_it_left_alone(self, store: InMemoryStore, dream: Invoke) -> None:
        dream(*ALICE, "--auto", "--only", "prunes")
        store.rows["bug"] = {**store.rows["blood"], "text": "Fixed the login bug of June."}
        left = dream("undo").stdout.splitlines()[1]
        assert left == "Left alone: memory bug: it was written anew since the run"
        assert store.rows["bug"]["text"] == "Fixed the login bug of June."

    def test_undo_goes_on_after_what_cannot_be_brought_back_and_says_so(
        self, store: InMemoryStore, dream: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = whole(store)
        dream(*ALICE, "--auto", "--only", "prunes")
        write = store.write

        def failing(change: Any) -> str:
            if change.snapshot.id == "bug":
                raise StoreError("The store did not keep memory bug.", ids=("bug",))
            return write(change)

        with monkeypatch.context() as patch:
            patch.setattr(store, "write", failing)
            told = dream("undo", code=4)
        name = told.stdout.split()[1]
        assert told.stdout.splitlines() == [
            f"Run {name} taken back — restored: 1, withdrawn: 0",
            "Not brought back: memory bug: The store did not keep memory bug.",
        ]
        last = told.stderr.splitlines()[-1]
        again = f"mem0-dream undo {name}"
        assert last.startswith(f"mem0-dream: Of run {name} 1 could not be brought back; `{again}")
        assert whole(store) != before
        dream("undo", name)
        assert whole(store) == before

    def test_a_plan_on_the_output_can_be_applied_from_the_input(self, store, dream):
        before = whole(store)
        plan = dream("plan", *ALICE).stdout
        assert whole(store) == before
        assert dream("apply", "-", answers=plan, code=2).stderr.count("\n") == 1
        done = dream("apply", "-", "--yes", answers=plan)
        assert done.stdout == "Dream complete — merged: 2, pruned: 2, conflicts resolved: 0, skipped: 1\n"

    def test_an_edited_plan_file(self, store: InMemoryStore, dream: Invoke, tmp_path: Path) -> None:
        file = tmp_path / "plan.jsonl"
        assert dream("plan", *ALICE, "-o", str(file)).stderr == f"5 actions written to {file}.\n"
        lines = [line for line in file.read_text().splitlines() if '"kind": "prune"' not in line]
        file.write_text("\n".join(lines).replace('"choice": null', '"choice": "A"') + "\n")
        cancelled = dream("apply", str(file), answers="n\n")
        assert '"tabs for indentation in Go code" [A stays]\n' in cancelled.stdout
        assert cancelled.stdout.startswith(REPORT[: REPORT.index(" [A/B/skip]")])
        assert "Cancelled. No changes made." in cancelled.output
        done = dream("apply", str(file), answers="y\n")
        assert done.stdout.endswith("merged: 2, pruned: 0, conflicts resolved: 1, skipped: 0\n")
        assert store.rows["tabs2"]["expires_on"] is not None  # it was held true, and stays readable
        assert {"bug", "tap"} < store.rows.keys()

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda text: text.replace('"version": 2', '"version": 3'), "version 3"),
            (
                lambda text: text.replace('"store": "in-memory"', '"store": "elsewhere"'),
                "made for another store; make a new one",
            ),
            (lambda text: "hello", "no JSON"),
            (lambda text: "", "no plan header"),
        ],
    )
    def test_a_plan_file_that_does_not_fit(self, store, dream, tmp_path, change, sentence):
        before, file = whole(store), tmp_path / "plan.jsonl"
        dream("plan", *ALICE, "-o", str(file))
        dream("apply", str(file), "--yes", "--max-delete", "0.1", code=3)
        file.write_text(change(file.read_text()))
        refused = dream("apply", str(file), "--yes", code=2)
        assert sentence in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert whole(store) == before

    def test_plan_files_that_cannot_be_read_or_written(self, dream: Invoke, tmp_path: Path) -> None:
        binary = tmp_path / "binary"
        binary.write_bytes(b"\xff\xfe\x00")
        for file in (tmp_path / "missing", tmp_path, binary):
            assert dream("apply", str(file), "--yes", code=2).stderr.count("\n") == 1
        assert dream("plan", *ALICE, "-o", str(tmp_path / "no" / "where"), code=2).stderr.count("\n") == 1

    def test_forget(self, store: InMemoryStore, dream: Invoke) -> None:
        before = whole(store)
        asked = "Forget which? Numbers such as 1 3, all, or empty for none: "
        none = dream("forget", "bug", *ALICE, answers="\n").stdout
        assert none == (
            "  1. [memory:bug] Fixed bug\n  2. [memory:pin] [PINNED] Fixed bug (pinned, never touched)\n"
            f"{asked}Cancelled. No changes made.\n"
        )
        for answers, code in (("2\n", 0), ("9\n", 2), ("the first\n", 2), ("", 2)):
            dream("forget", "bug", *ALICE, answers=answers, code=code)
        dream("forget", "bug", *ALICE, "--limit", "0", code=2)
        assert dream("forget", "zebra", *ALICE).stdout == "No memory matches.\n"
        declined = dream("forget", "bug", *ALICE, answers="1\nn\n").stdout
        assert "To forget: [memory:bug]. Apply? [y/N] Cancelled. No changes made.\n" in declined
        for answers in ("", "1\n"):
            told = dream("forget", "bug", *ALICE, answers=answers, code=2).stderr
            assert "Nobody answered" in told
            assert "printf 'all" in told
        assert whole(store) == before
        done = dream("forget", "bug", *ALICE, answers="all\ny\n").stdout
        assert "Forgotten: 1. Undo with: mem0-dream undo " in done
        assert ("bug" in store.rows, "pin" in store.rows) == (False, True)
        dream("undo")
        assert whole(store) == before

    def test_reject(self, dream: Invoke) -> None:
        told = dream("reject", "tabs", "bug", code=2).stderr
        assert "2 memories have an id that begins with 'tabs'" in told
        assert "0 memories" in dream("reject", "nope", "bug", code=2).stderr
        dream("reject", "memory:tabs1", "tabs2")
        dream("reject", "dog1", "dog2")
        shown = dream(*ALICE, "--dry-run").stdout
        assert "Conflicts" not in shown
        assert "Merges (1):" in shown


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ((), "Say whose memories: --user-id, --agent-id, --run-id or --app-id, or --all for every scope."),
            (("--user-id", ""), "user_id is empty; give an id, or leave the option out and use --all."),
            (("--agent-id", "  "), "agent_id is empty; give an id, or leave the option out and use --all."),
            (("--all", "--user-id", "alice"), "--all means every scope; leave it out, or leave the ids out."),
            (("status",), "Say whose memories: --user-id, --agent-id, --run-id or --app-id, or --all for every scope."),
            (
                ("--all", "--scorer", "crystal-ball"),
                f"There is no scorer 'crystal-ball'; choose one of {', '.join(CHOICES)}.",
            ),
        ],
    )  # fmt: skip
    def test_one_sentence_and_exit_code_2(self, store, dream, arguments, sentence):
        before = whole(store)
        told = dream(*arguments, code=2)
        assert (told.stdout, told.stderr) == ("", f"mem0-dream: {sentence}\n")
        assert whole(store) == before

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ("{stale_aftr: 90d}", "There is no setting mem0_dream.stale_aftr; did you mean stale_after?"),
            ("{stale_after: soon}", "The setting mem0_dream.stale_after is wrong: 'soon' is no duration"),
            (
                "{max_delete: 3}",
                "The setting mem0_dream.max_delete is wrong: input should be less than or equal",
            ),
            ("{retention: {session_state: -1}}", "The setting mem0_dream.retention.session_state is wrong: "),
        ],
    )
    def test_a_wrong_setting_is_named(self, dream: Invoke, settings: str, sentence: str) -> None:
        told = dream("--all", "--dry-run", settings=settings, code=2)
        assert told.stderr.startswith(f"mem0-dream: {sentence}")
        assert told.stderr.count("\n") == 1

    def test_a_store_that_fails_halfway(self, store: InMemoryStore, dream: Invoke, tmp_path: Path) -> None:
        store.before_write, before = went_away, whole(store)
        told = dream(*ALICE, "--auto", code=4)
        run, where = run_named_in(told.stderr), f"--config {tmp_path / 'mem0.yaml'}"
        assert told.stderr == (
            f"mem0-dream: The store went away. Run {run} stopped half-way: finish it with "
            f"`mem0-dream resume {run} {where}` or take it back with `mem0-dream undo {run} {where}`.\n"
        )
        assert whole(store) == before
        store.before_write = lambda _: None
        assert dream("resume").stdout.startswith("Dream complete — merged: 2, pruned: 2")

    @pytest.mark.parametrize(("file", "code"), [("journal.db", 6), ("locks", 2)])
    def test_damaged_state_is_one_sentence(self, store, dream, own_state, file, code):
        closed: list[bool] = []
        store.close = lambda: closed.append(True)  # type: ignore[method-assign]
        (own_state / file).write_bytes(b"no database" * 200)
        before = whole(store)
        told = dream(*ALICE, "--auto", code=code)
        assert file in told.stderr
        assert told.stderr.count("\n") == 1
        assert (own_state / file).read_bytes() == b"no database" * 200
        assert whole(store) == before
        assert closed == [True]

    def test_a_damaged_cache_costs_time_and_nothing_else(self, dream: Invoke, own_state: Path) -> None:
        first = dream(*ALICE, "--dry-run").stdout
        for file in own_state.iterdir():
            if "journal" not in file.name and file.is_file():
                file.write_bytes(b"no database" * 200)
        assert dream(*ALICE, "--dry-run").stdout == first

    @pytest.mark.parametrize("at", ["read", "write"])
    def test_an_interrupt_says_what_is_true(self, store: InMemoryStore, dream: Invoke, at: str) -> None:
        setattr(store, at, Mock(side_effect=KeyboardInterrupt))
        told = dream("--all", "--auto", code=130).stderr
        if at == "read":
            assert told == "mem0-dream: interrupted; nothing was changed.\n"
        else:
            assert "is half done: `mem0-dream resume " in told
            assert "`mem0-dream undo " in told


def test_the_clock_is_read_only_here() -> None:
    """--now sets the moment of ages, never the time a run is recorded under."""
    assert Options(now=NOW).moment == NOW
    assert Options(now=NOW).clock != NOW


def test_of_two_known_stores_one_has_to_be_named(tmp_path: Path, own_state: Path) -> None:
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        write_tree(root, {f"{MEMORY}/{file}.md": "Use tabs in Go files." for file in ("a", "b")})
        line = ["md", str(root), "--scorer", "keywords", "--auto"]
        assert CliRunner().invoke(cli_module.main, line).exit_code == 0
    before = [fingerprint(root) for root in roots]
    refused = CliRunner().invoke(cli_module.main, ["undo"])
    assert refused.exit_code == 2
    assert all(f"mem0-dream md {root}" in refused.stderr for root in roots)
    assert [fingerprint(root) for root in roots] == before
    words = ["undo", "--store", "md", "--root", str(roots[0])]
    assert CliRunner().invoke(cli_module.main, words).exit_code == 0
    assert (roots[0] / MEMORY / "b.md").exists()


def test_no_secret_is_noted(tmp_path: Path, own_state: Path) -> None:
    """A server's command and an address with a password are not kept; such a store is named again."""
    from mem0_dream.pipeline.cli.opening import note_place
    from mem0_dream.pipeline.writing.journal import Journal

    journal = Journal(own_state)
    for options in (
        Options(store_kind="graph", mcp="TOKEN=1 npx server"),
        Options(store_kind="server", url="http://me:secret@host"),
    ):
        note_place(journal, "f", options)
    assert journal.places() == {}
    note_place(journal, "f", Options(store_kind="server", url="http://host"))
    assert journal.places() == {"f": {"store_kind": "server", "url": "http://host"}}
    journal.close()
