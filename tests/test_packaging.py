"""The two distributions: the source one can be tested, the wheel holds the package alone and works as installed."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from environments import OFFLINE, fresh_environment

pytest.importorskip("setuptools", minversion="77", reason="the build needs setuptools")
pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parent.parent
SOURCE = ("docs", "indexes", "models", "pipeline", "scripts", "tests")
PACKAGE = ("indexes", "models", "pipeline")
INSTALLED = (
    "tests/test_imports.py",
    "tests/e2e/test_mem0.py::test_report_apply_and_undo[qdrant]",
    "tests/e2e/test_mem0.py::test_unattended_runs_settle[qdrant]",
    "tests/e2e/test_markdown.py::test_a_dry_run_says_everything_and_changes_nothing",
    "tests/e2e/test_markdown.py::test_auto_applies_reports_and_undo_takes_everything_back",
    "tests/e2e/test_graph.py::test_a_pass_with_answers_then_undo",
    "tests/e2e/test_graph.py::test_after_an_unattended_night_nothing_is_left_to_do",
    "tests/pipeline/reporting/test_html_page.py",
    "tests/models/bundled/test_scorer.py",
)
"""What runs against the installed wheel: each kind of store as a process, the page's files, the weights."""
BUILD = "import sys; from setuptools import build_meta as b; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"


def files(*folders: str) -> set[str]:
    named = {path for folder in folders for path in (ROOT / folder).rglob("*")} | set(ROOT.glob("*.py"))
    return {
        path.relative_to(ROOT).as_posix()
        for path in named
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build")
    for name in sorted(files(*SOURCE) | {entry.name for entry in ROOT.iterdir() if entry.is_file()}):
        if not name.startswith("."):
            (folder / "mem0_dream" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "mem0_dream" / name)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, str(folder)],
        cwd=folder / "mem0_dream",
        env=os.environ | OFFLINE,
        check=True,
        capture_output=True,
        timeout=300,
    )
    return folder


def test_what_runs_against_the_wheel_exists() -> None:
    for name in INSTALLED:
        file, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8"), name


def test_the_source_distribution_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files(*SOURCE) <= names
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "constraints.txt"} <= names
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_holds_the_package_alone(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {f"mem0_dream/{name}" for name in files(*PACKAGE)} | {"mem0_dream/py.typed"} == names


@pytest.mark.timeout(900)
def test_the_installed_wheel_passes_the_tests_of_the_source_distribution(built: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "venv")
    environment = os.environ | OFFLINE | {"PATH": f"{python.parent}:{os.environ['PATH']}"}

    def run(*words: str) -> str:
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=800, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    run(str(python), "-m", "pip", "install", "-q", "--no-deps", str(next(built.glob("*.whl"))))
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        # Python before 3.11.4 knows no filters; the archive is our own.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in archive.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name == "pyproject.toml" or member.name.startswith("tests/"):
                archive.extract(member, tmp_path)
    where = run(str(python), "-c", "import mem0_dream; print(mem0_dream.__file__)")
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")
    assert run("mem0-dream", "--version").startswith("mem0-dream")
    told = run(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *INSTALLED)
    assert re.search(r"^\d+ passed in ", told, re.MULTILINE), told  # and none skipped
