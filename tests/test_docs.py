"""What the documents say is what the program does: pages, examples, settings, exit codes."""

import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import click
import pytest
import yaml
from mem0_dream.pipeline.cli.main import main as command_line
from mem0_dream.scripts.cli_reference import errors, reference
from mem0_dream.settings import Settings
from typed import PROGRAM, parse

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
FOLDERS = ("models", "pipeline", "indexes", "scripts", "tests")
NAMING = [page for page in PAGES if page.name not in ("CHANGELOG.md", "0001-the-package-and-its-layers.md")]
"""Pages about the present; the others also say what was where."""
MARK = "<!-- checked -->"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = {
    part.partition("\n")[0]: re.findall(r"^\| .+ \| `([\w/]+)\.py` \| `([\w.]+)` \|$", part, re.MULTILINE)
    for part in ARCHITECTURE.split("\n## ")[1:]
}
LAYERS = re.findall(r"^\| (`[\w/]+(?:/|\.py)`.*?) \|", ARCHITECTURE.partition("\n## ")[0], re.MULTILINE)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands() -> Iterator[tuple[str, click.Command]]:
    yield PROGRAM, command_line
    yield from command_line.commands.items()


def console_lines(text: str) -> list[str]:
    blocks = re.findall(r"```(console|cron)\n(.*?)```", text, re.DOTALL)
    typed = [
        line.removeprefix("$ ") if kind == "console" else re.sub(r"^(?:\S+\s+){5}|\s*>>.*", "", line)
        for kind, block in blocks
        for line in block.splitlines()
        if kind == "cron" or line.startswith("$ ")
    ]
    return [line for line in typed if line.startswith(PROGRAM)]


def test_the_command_line_page_equals_what_is_generated() -> None:
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "docs/cli.md is out of date; run `make docs`"


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_explains_itself_with_an_example_that_parses(name: str, command: click.Command) -> None:
    text = command.help or ""
    assert len(text.split("Example:")[0].strip()) > 20
    examples = [line.strip() for line in text.partition("Example:")[2].splitlines() if line.strip()]
    assert examples, f"{name} has no example"
    for line in examples:
        parse(line)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_line_configuration_and_link_in_a_page_is_right(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in console_lines(text):
        parse(line)
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        Settings(**(yaml.safe_load(block).get("mem0_dream") or {}))
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


def test_the_checked_blocks_of_the_readme_hold_command_lines() -> None:
    parts = (ROOT / "README.md").read_text(encoding="utf-8").split(MARK)[1:]
    assert parts
    for part in parts:
        assert part.lstrip().startswith("```console")
        assert console_lines(part.split("```")[1].join(("```", "```")))


def test_a_line_the_program_rejects_does_not_parse() -> None:
    with pytest.raises(click.UsageError):
        parse("mem0-dream status --no-such-option")
    with pytest.raises(click.UsageError):
        parse("mem0-dream --max-delete 2 runs")


def test_every_setting_is_documented_with_its_default() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    table = text.partition("## Settings")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", table, re.MULTILINE))
    assert set(rows) == set(Settings.model_fields)
    defaults = Settings()
    assert rows["stale_after"].strip() == f"`{defaults.stale_after.days}d`"
    assert rows["access_window"].strip() == f"`{defaults.access_window.days}d`"
    for name in ("min_words", "min_delete", "neighbours", "max_delete", "floor"):
        assert float(rows[name].strip(" `")) == getattr(defaults, name)


def test_the_settings_in_the_readme_are_the_defaults() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Configuration")[2]
    shown = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[0])["mem0_dream"]
    del shown["retention"]
    assert Settings(**shown) == Settings()


def test_every_exit_code_is_documented() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = readme.partition("### Exit codes")[2].partition("\n## ")[0]
    for error in errors():
        assert f"| {error.exit_code} | `{error.__name__}` |" in page
        assert re.search(rf"(?:^|· |\n){error.exit_code} \w", listed), error.__name__


@pytest.mark.parametrize("page", NAMING, ids=page_id)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:models|pipeline|indexes|scripts|tests|integrations)/[\w/-]+\.\w+)`", text):
        assert (ROOT / name).is_file(), name
    modules = {file.name for top in FOLDERS for file in (ROOT / top).rglob("*.py")}
    modules |= {file.name for file in ROOT.glob("*.py")}
    bare = re.findall(r"`(?:[\w/]+/)?(\w+\.py)`", text) if page.parent.name == "decisions" else ()
    assert modules.issuperset(bare)


def test_decisions_are_few_and_each_of_their_parts_is_short() -> None:
    files = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    assert len(files) <= 40
    parts = [part for file in files for part in file.read_text(encoding="utf-8").split("\n## ")]
    assert max(len(part.splitlines()) for part in parts) <= 40


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    aside = {"tests", "scripts", "build"}
    folders = {
        ".".join(("mem0_dream", *file.parent.relative_to(ROOT).parts))
        for file in ROOT.rglob("__init__.py")
        if not any(part in aside or part.startswith(".") for part in file.relative_to(ROOT).parts)
    }
    assert folders == set(listed["packages"])


def test_the_library_example_of_the_readme_names_what_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = ",".join(re.findall(r"from mem0_dream import (.+)", text)).split(",")
    code = "import mem0_dream\n" + "".join(f"mem0_dream.{name.strip()}\n" for name in names)
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("title", WALKS)
def test_each_walk_fits_a_screen_and_all_of_it_is_checked(title: str) -> None:
    part = ARCHITECTURE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("|")]
    assert len(rows) - 2 == len(WALKS[title])
    assert 15 <= len(WALKS[title]) <= 25
    assert [each.split()[1] for each in WALKS] == ["mem0", "Markdown", "observation"]


@pytest.mark.parametrize(("file", "name"), [step for steps in WALKS.values() for step in steps])
def test_each_step_of_a_walk_exists(file: str, name: str) -> None:
    module = importlib.import_module(f"mem0_dream.{file.replace('/', '.')}")
    assert callable(reduce(getattr, name.split("."), module))


def test_the_table_of_layers_stands_in_the_order_that_is_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    whole, pipeline = (contract["layers"] for contract in contracts["contracts"][:2])
    assert whole[:2] == ["mem0_dream.__main__", "mem0_dream.pipeline"]
    wanted = [{f"pipeline/{each.strip()}" for each in layer.split("|")} for layer in pipeline]
    wanted += [{each.strip().removeprefix("mem0_dream.") for each in layer.split("|")} for layer in whole[2:]]
    told = []
    for cell in LAYERS:
        named = [each.removesuffix(".py").rstrip("/") for each in re.findall(r"`([^`]+)`", cell)]
        assert all((ROOT / each).is_dir() or (ROOT / f"{each}.py").is_file() for each in _whole(named))
        told.append(set(_whole(named)))
    assert told == wanted


def _whole(named: list[str]) -> list[str]:
    """Modules behind the first of a row stand in the same folder."""
    folder = named[0].rpartition("/")[0]
    return [each if "/" in each or not folder else f"{folder}/{each}" for each in named]
