"""Questions to git that run no program but git, whatever the repository says.

A repository comes from elsewhere, and its configuration can name programs: filters, text conversions,
monitors, hooks, pagers, checkers of signatures, ways to fetch. So that configuration is never in force.
git is asked once where objects and latest commit are, which runs nothing; each question then goes to an empty
git directory of our own that borrows the objects. No question reads contents of the working tree: what is
compared is hashed here.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)

GIT_SECONDS = 20  # how long one question to the history may take
_OF_THE_MACHINE = frozenset(
    {"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
)
_ASKED = (
    "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "objects",
    "--git-path", "shallow", "--git-path", "info/exclude", "HEAD",
)  # fmt: skip
_LONG = 64  # letters in the name of a commit where names are SHA-256
_OWN = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = {}\n"


def git(folder: Path, *words: str, own_rules: bool = False) -> str:
    """What a reading git command prints in a folder, or nothing; paths are taken as they are.

    With `own_rules` the person's own settings hold, and paths are patterns, as what is ignored asks for.
    """
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return ""
    try:
        with _borrowed(folder) as env:
            if not own_rules:
                env |= {
                    "GIT_CONFIG_GLOBAL": os.devnull,
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_LITERAL_PATHSPECS": "1",
                }
            said = _ran(folder, env, *words)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.info("The history of %s cannot be read: %s", folder, type(error).__name__)
        return ""
    return said.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _borrowed(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which git finds objects and latest commit of a repository, and no more of it."""
    env = {name: os.environ[name] for name in os.environ if name[:4] != "GIT_" or name in _OF_THE_MACHINE}
    # A repository that lacks objects would have them fetched, by whatever program it names for that.
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
    said = _ran(folder, env, *_ASKED, check=False).decode("utf-8", "surrogateescape")
    top, objects, shallow, exclude, head, _ = said.split("\n")
    sha256 = len(head) == _LONG
    with tempfile.TemporaryDirectory(prefix="mem0-dream-git-") as made:
        own = Path(made)
        for name in ("objects", "refs", "info"):
            (own / name).mkdir()
        (own / "config").write_text(_OWN.format("sha256" if sha256 else "sha1"), encoding="utf-8")
        (own / "HEAD").write_text(
            "ref: refs/heads/none\n" if head == "HEAD" else f"{head}\n", encoding="utf-8"
        )
        for source, place in ((shallow, own / "shallow"), (exclude, own / "info" / "exclude")):
            if Path(source).is_file():
                shutil.copyfile(source, place)
        yield env | {"GIT_DIR": made, "GIT_WORK_TREE": top, "GIT_OBJECT_DIRECTORY": objects}


def _ran(folder: Path, env: dict[str, str], *words: str, check: bool = True) -> bytes:
    command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]
    ran = subprocess.run(  # noqa: S603  (a fixed command; folder and paths are single arguments)
        [*command, "-C", str(folder), *words],
        capture_output=True, check=check, timeout=GIT_SECONDS, env=env, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return ran.stdout


def committed(directory: Path) -> dict[Path, str]:
    """The files under a directory that the latest commit has, each with the name of its contents."""
    entries = (entry.partition("\t") for entry in git(directory, "ls-tree", "-r", "-z", "HEAD").split("\0"))
    return {directory / name: about.split()[-1] for about, _, name in entries if about.startswith("100")}


def is_committed(data: bytes, name: str | None) -> bool:
    """Whether the contents of a file are those of this name, but for the ends of lines."""
    make = hashlib.sha256 if name and len(name) == _LONG else hashlib.sha1
    forms = (data, data.replace(b"\r\n", b"\n"))
    return any(make(b"blob %d\0%b" % (len(form), form)).hexdigest() == name for form in forms)
