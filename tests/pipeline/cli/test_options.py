"""The table of options: what a kind of store takes, the help, and commands that can be copied as printed."""

import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from markdown_trees import MEMORY, write_tree
from mem0_dream.pipeline.cli.main import COMMAND_GROUPS, WHOLE, main
from mem0_dream.pipeline.cli.opening import again, full_commands, quoted
from mem0_dream.pipeline.cli.options import GROUPS, PASS, ROWS, STORES, Options

KINDS = tuple(kind for kind in STORES if kind != "mem0")


def written(name: str) -> list[str]:
    row = ROWS[name]
    value = "merges" if name == "only" else "1"
    return [row.spoken] if row.how.get("is_flag") or row.how.get("count") else [row.spoken, value]


FOREIGN = [
    (name, kind) for name, row in ROWS.items() if row.place for kind in STORES if kind not in row.kinds
]


@pytest.mark.parametrize(("name", "kind"), FOREIGN)
def test_an_option_of_another_kind_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    words = ["status", "--store", kind, "--config", str(tmp_path / "none.yaml"), *written(name)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mem0-dream: {ROWS[name].spoken} is an option of --store ")
    assert f"not of --store {kind};" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", STORES)
def test_a_pass_has_the_options_of_its_kind_alone(kind: str) -> None:
    """None of another kind, none missing, each under one heading, and no word about `--store`."""
    command = main if kind == "mem0" else main.commands[kind]  # type: ignore[attr-defined]
    names = {param.name for param in command.params}
    assert names >= {name for name, row in ROWS.items() if kind in row.kinds and row.on in PASS}
    assert not names & {name for name, row in ROWS.items() if kind not in row.kinds or row.on == "other"}
    assert all(row.group in GROUPS for row in ROWS.values())
    with click.Context(command, info_name=f"mem0-dream {kind}", terminal_width=80) as context:
        context.meta[WHOLE] = True
        shown = command.get_help(context)
    assert "--store" not in shown
    assert "Options:" not in shown


def test_the_first_help_fits_a_screen_and_names_every_command() -> None:
    with click.Context(main, info_name="mem0-dream", terminal_width=80) as context:
        first = main.get_help(context)
    assert len(first.splitlines()) <= 40
    assert "--help-all" in first
    whole = CliRunner().invoke(main, ["--help-all"]).stdout
    assert all(param.opts[0] in whole for param in main.params)
    listed = [name for names, _ in COMMAND_GROUPS for name in names.split(", ")]
    assert sorted(listed) == sorted(main.commands)  # type: ignore[attr-defined]
    assert all(told.endswith((".", "?")) for _, told in COMMAND_GROUPS)


def test_the_kind_follows_from_a_place_and_relative_places_become_absolute(tmp_path, monkeypatch):
    words = ["schedule", "--print", "cron", "--file", str(tmp_path / "g.jsonl")]
    assert f" graph {tmp_path}" in CliRunner().invoke(main, words).stdout
    assert "--store graph" in CliRunner().invoke(main, [*words, "--store", "md"]).stderr
    monkeypatch.chdir(tmp_path)
    words = shlex.split(again(Options(store_kind="md"), "undo"))
    assert words[words.index("--root") + 1] == str(tmp_path)


@pytest.mark.parametrize(
    ("options", "words", "a_pass"),
    [
        (Options(config=Path("/a b/c.yaml")), "--config '/a b/c.yaml'", "--config '/a b/c.yaml'"),
        (Options(store_kind="md", root=Path("/p"), memory_dirs=(Path("/p/m"), Path("/p/n"))),
         "--store md --root /p --memory-dir /p/m --memory-dir /p/n", "md /p --memory-dir /p/m --memory-dir /p/n"),
        (Options(store_kind="graph", graph_file=Path("/g"), core=Path("/c"), state_dir=Path("/s")),
         "--store graph --file /g --core /c --state-dir /s", "graph /g --core /c --state-dir /s"),
        (Options(store_kind="graph", mcp="npx server"),
         "--store graph --mcp 'npx server'", "graph --mcp 'npx server'"),
    ],
)  # fmt: skip
def test_a_printed_command_reaches_the_same_store(options: Options, words: str, a_pass: str) -> None:
    assert again(options, "undo", "r1") == f"mem0-dream undo r1 {words}"
    assert again(options) == f"mem0-dream {a_pass}"
    told = full_commands("Finish it with `mem0-dream resume r1`.", options)
    assert told == f"Finish it with `mem0-dream resume r1 {words}`."


def test_a_key_of_the_hosted_platform_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    told = CliRunner().invoke(main, ["--all"])
    nowhere = "mem0-dream: No configuration: give mem0's own with --config mem0.yaml.\n"
    assert (told.exit_code, told.stderr) == (2, nowhere)
    monkeypatch.setenv("MEM0_API_KEY", "m0-secret")
    told = CliRunner().invoke(main, ["--all"])
    assert told.exit_code == 2
    assert "`mem0-dream platform`" in told.stderr
    assert "--config mem0.yaml" in told.stderr
    assert "m0-secret" not in told.stderr


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_word_of_a_command_can_be_shown_and_copied(word: str) -> None:
    assert quoted(word).isprintable()
    line, where = f"printf %s {quoted(word)}", {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    assert subprocess.check_output(["bash", "-c", line], env=where).decode() == word


def test_a_place_is_named_by_an_option_or_as_it_is(tmp_path: Path, own_state: Path) -> None:
    root = write_tree(tmp_path / "shop", {f"{MEMORY}/{name}.md": "Use tabs in Go files." for name in "ab"})
    words = ("--scorer", "keywords", "--dry-run")
    long = CliRunner().invoke(main, ["md", "--root", str(root), *words])
    assert (long.exit_code, "Would delete" in long.stdout) == (0, True)
    assert CliRunner().invoke(main, ["md", str(root), *words]).stdout == long.stdout
    mixed = CliRunner().invoke(main, ["--scorer", "keywords", "md", "--dry-run", str(root)])
    assert mixed.stdout == long.stdout
    refused = CliRunner().invoke(main, ["md", str(root), "--user-id", "alice"])
    assert (refused.exit_code, "--user-id" in refused.stderr) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(main, {}, "mem0-dream", "_MEM0_DREAM_COMPLETE")
    assert "_MEM0_DREAM_COMPLETE" in completion.source()
    assert [item.value for item in completion.get_completions([], "und")] == ["undo"]
    assert [item.value for item in completion.get_completions(["md"], "--super")] == ["--supersede"]
