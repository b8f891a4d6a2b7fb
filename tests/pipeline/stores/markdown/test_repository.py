"""A repository that names programs: none of them runs, and its history is read all the same."""

import os
import re
import shutil
import subprocess
from datetime import date

import pytest
from markdown_trees import MEMORY, git, look, open_session, with_past, write_tree
from mem0_dream.pipeline.stores.markdown import project as history
from mem0_dream.pipeline.stores.markdown.repository import committed, is_committed
from shipped import shipped_modules

NOTE = "- The build was moved from `src/gone.py` to Bern yesterday, as everybody wanted it.\n"
SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n"
PARTIAL = "promisor = true\npartialclonefilter = blob:none\n[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin"
# What is configured, with {0} for a program; the attributes; and a command of git that then runs the program.
PLANTS = {
    "fsmonitor": ("[core]\nfsmonitor = {0}", "", "status"),
    "hook": ("[core]\nhooksPath = {0}.hooks", "", "status"),
    "pager": ("[core]\npager = {0}", "", "--paginate log"),
    "gpg": ("[log]\nshowSignature = true\n[gpg]\nprogram = {0}", "", "log"),
    "external": ("[diff]\nexternal = {0}", "", "diff HEAD~1"),
    "command": ('[diff "planted"]\ncommand = {0}', "* diff=planted", "diff HEAD~1"),
    "textconv": ('[diff "planted"]\ntextconv = {0}', "* diff=planted", "blame note.md"),
    "clean": ('[filter "planted"]\nclean = {0}\nrequired = true', "* filter=planted", "diff"),
    "process": ('[filter "planted"]\nprocess = {0}\nrequired = true', "* filter=planted", "diff"),
    "included": ("[include]\npath = {0}.included", "* filter=planted", "diff"),
    "ssh": (f'[remote "origin"]\nurl = ssh://nobody@127.0.0.1/x\n{PARTIAL}\n[core]\nsshCommand = {{0}}', "", "show"),
    "upload": (f'[remote "origin"]\nurl = /\nuploadpack = {{0}}\n{PARTIAL}', "", "show"),
    "external transport": (f'[remote "origin"]\nurl = ext::{{0}}\n{PARTIAL}\n[protocol "ext"]\nallow = always', "", "show"),
}  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A history of three commits, the last of them signed; the removed file's contents are missing in it."""
    root = with_past(tmp_path_factory.mktemp("base"), "src/gone.py", moved={"src/old.py": "lib/old.py"})
    write_tree(root, {".gitignore": "local/\n", "note.md": "x\n", f"{MEMORY}/a.md": NOTE})
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "third", day="2026-03-10T12:00:00+00:00")
    commit = git(root, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNATURE}\n", 1)
    (root / ".git/signed").write_text(commit)
    made = git(root, "hash-object", "-t", "commit", "-w", str(root / ".git/signed"))
    git(root, "update-ref", "HEAD", made.strip())
    return root


class Hostile:
    def __init__(self, repository, folder):
        self.root, self.programs, self.ran = folder / "project", folder / "programs", folder / "ran"
        shutil.copytree(repository, self.root)
        self.programs.mkdir()
        self.ran.mkdir()

    def plant(self, *names):
        for name in names:
            config, attributes, _ = PLANTS[name]
            program = self.program(name.partition(" ")[0])
            self.program(f"{program.name}.hooks/post-index-change", says=program.name)
            (self.programs / f"{program.name}.included").write_text(
                f'[filter "planted"]\nclean = {program}\n'
            )
            with (self.root / ".git/config").open("a") as file:
                file.write(f"{config.format(program)}\n")
            if attributes:
                with (self.root / ".gitattributes").open("a") as file:
                    file.write(f"{attributes}\n")
        for path in (self.root / "note.md", self.root / MEMORY / "a.md"):
            os.utime(path)  # so that git compares what it holds
        return self

    def program(self, name, *, says=""):
        path = self.programs / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch '{self.ran}/{says or name}'\nexit 1\n")
        path.chmod(0o755)
        return path

    def without_contents(self):
        """Take an object away that a difference needs, as a clone that left it out would."""
        name = git(self.root, "rev-parse", "HEAD~2:src/gone.py").strip()
        (self.root / ".git/objects" / name[:2] / name[2:]).unlink()
        return self

    def read(self):
        """Ask everything that the package asks git."""
        root, memories = self.root, self.root / MEMORY
        removed = history.removed_paths(root, ["src/gone.py", "src/old.py"])
        for commit in removed.values():
            history.new_place(root, "src/old.py", commit)
        return {
            "removed": set(removed),
            "hidden": history.hidden_paths(root, ["local/x.py", "src/gone.py"]),
            "days": history.line_days(memories / "a.md"),
            "moments": {path.name for path in history.latest_commits(memories)},
            "same": is_committed((memories / "a.md").read_bytes(), committed(memories).get(memories / "a.md")),
        }  # fmt: skip


READ = {
    "removed": {"src/gone.py", "src/old.py"},
    "hidden": {"local/x.py"},
    "days": {NOTE.strip(): date(2026, 3, 10)},
    "moments": {"a.md"},
    "same": True,
}


@pytest.fixture
def hostile(repository, tmp_path):
    history._renames.cache_clear()
    history._hides.cache_clear()
    return Hostile(repository, tmp_path)


@pytest.mark.parametrize("name", PLANTS)
def test_a_program_that_git_would_run_does_not_run(hostile, name):
    partial = "partialClone" in PLANTS[name][0]
    hostile.plant(name)
    if partial:
        hostile.without_contents()
    assert hostile.read() == READ
    assert not list(hostile.ran.iterdir())
    words = ["log", "-p"] if partial else PLANTS[name][2].split()
    _, terminal = os.openpty()  # a pager runs on no other output
    output = terminal if name == "pager" else subprocess.DEVNULL
    command = ["git", "-C", hostile.root, *words]
    subprocess.run(command, check=False, timeout=60, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    assert list(hostile.ran.iterdir()), "git itself runs no such program: the test proves nothing"


def test_a_whole_dry_run_runs_no_program_and_uses_the_history(hostile, tmp_path):
    hostile.plant(*(name for name in PLANTS if name not in {"upload", "external transport"}))
    plan = look(open_session(hostile.root, tmp_path / "state")).plan
    assert not list(hostile.ran.iterdir())
    assert NOTE.strip().replace("yesterday", "2026-03-09") in [action.text.strip() for action in plan.actions]


def test_only_one_module_starts_programs():
    starts = re.compile(
        r"^\s*(?:import|from) (?:subprocess|pty|asyncio\.subprocess)\b|os\.(?:system|popen|exec|spawn)"
    )
    lines = ((path.name, line) for path in shipped_modules() for line in path.read_text().splitlines())
    found = [name for name, line in lines if starts.search(line)]
    assert found == ["repository.py"]
