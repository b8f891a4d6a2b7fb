"""Which options a kind of store takes, and commands that can be copied as they are printed."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner
from e2e_cli import ALICE, Invoke, dream, store  # type: ignore[import-not-found]  # it lies beside this file
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_trees import MEMORY, write_tree
from mem0_dream.pipeline.cli.grouped import GROUPS, name_of
from mem0_dream.pipeline.cli.kinds import OPTIONS_OF, STORES, again, completed, quoted
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.cli.options import Options

__all__ = ["dream", "store"]

PARAMETERS = {
    param.name: param
    for command in (main, *main.commands.values())  # type: ignore[attr-defined]
    for param in command.params
    if isinstance(param, click.Option)
}
FOREIGN = [(name, kind) for name, kinds in OPTIONS_OF.items() for kind in STORES if kind not in kinds]


def written(name: str) -> list[str]:
    """The option as a person would write it."""
    param = PARAMETERS[name]
    return [param.opts[0]] if param.is_flag else [param.opts[0], "1"]


def test_the_table_names_options_that_exist() -> None:
    """A renamed option must not slip out of the table."""
    assert OPTIONS_OF.keys() <= PARAMETERS.keys()
    assert all(set(kinds) < set(STORES) for kinds in OPTIONS_OF.values())


@pytest.mark.parametrize(("name", "kind"), FOREIGN)
def test_an_option_of_another_kind_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    """In one sentence, before anything is opened: the configuration does not even exist."""
    words = ["--store", kind, "--config", str(tmp_path / "none.yaml"), "--auto", *written(name)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mem0-dream: {PARAMETERS[name].opts[0]} is an option of --store ")
    assert f"not of --store {kind};" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_mem0_store_takes_no_option_of_files(tmp_path: Path) -> None:
    """What used to run a whole pass over mem0 instead."""
    words = ["--config", str(tmp_path / "c.yaml"), "--all", "--auto", "--index-only", "--supersede"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr == (
        "mem0-dream: --index-only is an option of --store md, not of --store mem0; leave it out, or name "
        "the other store.\n"
    )


@pytest.mark.parametrize("words", [["status", "--root", "x"], ["--root", "x", "status"]])
def test_commands_refuse_them_too(words: list[str]) -> None:
    """Before or after the command's name."""
    done = CliRunner().invoke(main, [*words, "--config", "none.yaml", "--all"])
    assert done.exit_code == 2
    assert "--root is an option of --store md" in done.stderr


def test_a_command_of_graphs_needs_no_kind(tmp_path: Path) -> None:
    """It can only mean a graph; another kind is refused."""
    words = ["schedule", "--print", "cron", "--file", str(tmp_path / "g.jsonl")]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert "--store graph" in CliRunner().invoke(main, [*words, "--store", "md"]).stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(config=Path("/a b/c.yaml")), "--config '/a b/c.yaml'"),
        (
            Options(store_kind="md", root=Path("/p"), memory_dirs=(Path("/p/m"), Path("/p/n"))),
            "--store md --root /p --memory-dir /p/m --memory-dir /p/n",
        ),
        (
            Options(store_kind="graph", graph_file=Path("/g"), core=Path("/c"), state_dir=Path("/s")),
            "--store graph --file /g --core /c --state-dir /s",
        ),
        (Options(store_kind="graph", mcp="npx server"), "--store graph --mcp 'npx server'"),
    ],
)
def test_a_printed_command_reaches_the_same_store(options: Options, words: str) -> None:
    """With everything that says where it is, quoted for a shell."""
    assert again(options, "undo", "r1") == f"mem0-dream undo r1 {words}"
    assert completed("Finish it with `mem0-dream resume r1`.", options) == (
        f"Finish it with `mem0-dream resume r1 {words}`."
    )


def test_relative_places_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command may be copied in another folder."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(again(Options(store_kind="md"), "undo"))
    assert words[words.index("--root") + 1] == str(tmp_path)


def test_a_key_of_the_hosted_platform_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with nothing but a key is told the command for it."""
    monkeypatch.setenv("MEM0_API_KEY", "m0-secret")
    told = CliRunner().invoke(main, ["--all"])
    assert told.exit_code == 2
    assert "`mem0-dream platform`" in told.stderr
    assert "--config mem0.yaml" in told.stderr
    assert "m0-secret" not in told.stderr


def test_the_undo_line_can_be_copied(dream: Invoke) -> None:
    """After an attended pass: every word of it works."""
    done = dream(*ALICE, answers="b\ny\n")
    words = shlex.split(done.stderr.strip().removeprefix("Undo with: "))
    assert words[:2] == ["mem0-dream", "undo"]
    assert CliRunner().invoke(main, words[1:]).exit_code == 0


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_word_of_a_command_can_be_shown_and_copied(word: str) -> None:
    """A shell reads it back as it was, and a terminal acts on nothing of it."""
    assert quoted(word).isprintable()
    line = f"printf %s {quoted(word)}"
    told = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    assert told.stdout.decode() == word


def test_each_option_stands_in_one_group_of_the_help() -> None:
    """A new option has to be put somewhere."""
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    context = click.Context(main)
    options = {name_of(param) for param in main.get_params(context) if isinstance(param, click.Option)}
    assert options == set(grouped)
    assert "Other options" not in main.get_help(context)


@pytest.mark.parametrize("kind", ["md", "graph", "platform", "server"])
def test_a_kind_has_a_command_with_its_own_options_alone(kind: str) -> None:
    """None of another kind, none missing, and no word about `--store`."""
    command = main.commands[kind]
    names = {param.name for param in command.params}
    assert not {name for name in names if kind not in OPTIONS_OF.get(str(name), (kind,))}
    own = {name for name, kinds in OPTIONS_OF.items() if kind in kinds}
    assert own <= names
    assert "store_kind" not in names
    with click.Context(command, info_name=f"mem0-dream {kind}") as context:
        assert "--store" not in command.get_help(context)


def test_the_command_of_a_kind_means_the_same_as_its_option(tmp_path: Path, own_state: Path) -> None:
    """Also where the group was given options."""
    root = write_tree(tmp_path / "shop", {f"{MEMORY}/{name}.md": "Use tabs in Go files." for name in "ab"})
    words = ("--scorer", "keywords", "--dry-run")
    long = CliRunner().invoke(main, ["--store", "md", "--root", str(root), *words])
    assert (long.exit_code, "Would delete" in long.stdout) == (0, True)
    assert CliRunner().invoke(main, ["md", str(root), *words]).stdout == long.stdout
    mixed = CliRunner().invoke(main, ["--scorer", "keywords", "md", "--dry-run", str(root)])
    assert mixed.stdout == long.stdout
    refused = CliRunner().invoke(main, ["md", str(root), "--user-id", "alice"])
    assert (refused.exit_code, "--user-id" in refused.stderr) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    """As the documentation says: the source is printed, and words are found."""
    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(main, {}, "mem0-dream", "_MEM0_DREAM_COMPLETE")
    assert "_MEM0_DREAM_COMPLETE" in completion.source()
    assert [item.value for item in completion.get_completions([], "und")] == ["undo"]
    assert [item.value for item in completion.get_completions(["md"], "--index")] == ["--index-only"]
