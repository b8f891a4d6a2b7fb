"""What is in the two distributions: the source one can be tested, the wheel holds the package and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools", minversion="77", reason="the build needs setuptools")
pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parent.parent
SOURCE = ("docs", "indexes", "models", "pipeline", "scripts", "tests")
PACKAGE = ("indexes", "models", "pipeline")
BUILD = "import sys; from setuptools import build_meta as b; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"


def files(*folders: str) -> set[str]:
    """The project's own files in folders, and those beside them."""
    named = {path for folder in folders for path in (ROOT / folder).rglob("*")} | set(ROOT.glob("*.py"))
    return {
        path.relative_to(ROOT).as_posix()
        for path in named
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions, built from a copy, since a build leaves files behind."""
    folder = tmp_path_factory.mktemp("build")
    for name in sorted(files(*SOURCE) | {entry.name for entry in ROOT.iterdir() if entry.is_file()}):
        if not name.startswith("."):
            (folder / "mem0_dream" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "mem0_dream" / name)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, str(folder)],
        cwd=folder / "mem0_dream",
        env=os.environ | {"PYTHONPATH": ""},
        check=True,
        capture_output=True,
        timeout=300,
    )
    return folder


def test_the_source_distribution_can_be_tested(built: Path) -> None:
    """Tests with their helpers and golden files, scripts with their data, documents."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files(*SOURCE) <= names
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "constraints.txt"} <= names
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_holds_the_package_alone(built: Path) -> None:
    """Every module and the weights; neither tests nor scripts."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {f"mem0_dream/{name}" for name in files(*PACKAGE)} | {"mem0_dream/py.typed"} == names
