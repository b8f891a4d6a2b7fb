"""Small memory directories for tests, their bytes and times for comparison, and any Markdown file, drawn."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builders import NOW
from hypothesis import strategies as st
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.markdown import MarkdownKind
from mem0_dream.pipeline.plan import Plan, RunResult
from mem0_dream.pipeline.planning.hooks import Proposal
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.pipeline.stores.markdown.store import MarkdownStore
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

MEMORY = ".claude/memory"
FLOOR = Settings().floor
_OLD_NS = 1_760_000_000_123_456_789
MARKDOWN_LINES = st.sampled_from(
    [
        b"- entry one", b"- entry two", b"  more of it", b"  - nested", b"* star", b"+ plus", b"1. first", b"# Title",
        b"## Part", b"```", b"    code", b"> quoted", b"", b"   ", b"---", b"name: x", b"type: user", b"plain text",
        b"\xff\xfe odd", "- ümlaut \u2028 x".encode(), b"<!-- c -->", b"\tx", b"-", b"- ", b"-\tx", b"[PINNED] a",
    ]
)  # fmt: skip
MARKDOWN = st.builds(
    lambda bom, lines, last: (b"\xef\xbb\xbf" if bom else b"") + b"".join(a + b for a, b in lines) + last,
    st.booleans(),
    st.lists(st.tuples(MARKDOWN_LINES, st.sampled_from([b"\n", b"\r\n", b"\n", b"\r"])), max_size=14),
    st.one_of(st.just(b""), MARKDOWN_LINES),
)


def memory_file(
    body: str, *, name: str = "", kind: str = "project", date: str = "2026-10-01", more: str = ""
) -> str:
    return f"---\nname: {name or body[:20]!r}\ndescription: about {name or 'it'}\ntype: {kind}\ndate: {date}\n{more}---\n\n{body}\n"


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for number, (name, content) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, ns=(_OLD_NS + number, _OLD_NS + number))
    return root


def fingerprint(root: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def git(root: Path, *words: str, day: str = "2025-02-03T04:05:06+00:00") -> str:
    env = {**os.environ, "GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e", *words]
    return subprocess.run(command, check=True, env=env, capture_output=True, text=True).stdout


def with_past(root: Path, *gone: str, moved: Mapping[str, str] | None = None) -> Path:
    """Give a project a history in which some files existed and others had another name."""
    git(root, "init", "-q")
    new = (moved or {}).items()
    write_tree(root, {name: f"was {name}\n" * 9 for name in (*gone, *(old for old, _ in new))})
    git(root, "add", "-f", "--", *gone, *(old for old, _ in new))
    git(root, "commit", "-qm", "first")
    for name in gone:
        git(root, "rm", "-q", "--", name)
    for old, place in new:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        git(root, "mv", old, place)
    git(root, "commit", "-qm", "second")
    return root


def open_store(root: Path, state: Path) -> MarkdownStore:
    state.mkdir(parents=True, exist_ok=True)
    return MarkdownStore(discover(root, home=root / "nobody"), root=root, state=state)


def look(session: Session, *, unattended: bool = False) -> Proposal:
    return session.look(ScopeFilter(), now=NOW, unattended=unattended)


def open_session(
    root: Path, state: Path, *, wanted: Mapping[str, Any] | None = None, **settings: Any
) -> Session:
    """A session that needs no model; `wanted` are the arguments of the kind."""
    limits = Settings(scorer="keywords", **{"max_delete": 1.0, **settings})
    store = open_store(root, state)
    return Session(store, settings=limits, state_dir=state, kind=MarkdownKind(store, **(wanted or {})))


class Project:
    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "project", folder / "state"
        self.root.mkdir(parents=True)
        self.before: dict[str, tuple[bytes, int, int]] = {}

    def write(self, files: Mapping[str, str | bytes] | None = None, **memories: str) -> Project:
        write_tree(
            self.root, {**(files or {}), **{f"{MEMORY}/{name}.md": memories[name] for name in memories}}
        )
        self.before = fingerprint(self.root)
        return self

    def past(self, *gone: str, moved: Mapping[str, str] | None = None) -> Project:
        with_past(self.root, *gone, moved=moved)
        self.before = fingerprint(self.root)
        return self

    def store(self) -> MarkdownStore:
        return open_store(self.root, self.state)

    def open(self, *, max_delete: float = 1.0, floor: float = FLOOR, **wanted: Any) -> Session:
        return open_session(self.root, self.state, wanted=wanted, max_delete=max_delete, floor=floor)

    def judged(self, scorer: FakeScorer) -> Session:
        store, limits = open_store(self.root, self.state), Settings(floor=-1.0)
        return Session(store, scorer=scorer, encoder=FakeEncoder(), settings=limits, state_dir=self.state)

    def look(self, *, unattended: bool = False, **wanted: Any) -> Proposal:
        with self.open(**wanted) as session:
            return look(session, unattended=unattended)

    def plan(self, **wanted: Any) -> Plan:
        return self.look(**wanted).plan

    def apply(self, **wanted: Any) -> RunResult:
        with self.open(**wanted) as session:
            return session.apply(look(session).plan, now=NOW)

    def text(self, name: str) -> str:
        """What a memory says, with the ends of its lines."""
        return (self.root / MEMORY / f"{name}.md").read_bytes().decode()

    def names(self) -> list[str]:
        return sorted(path.stem for path in (self.root / MEMORY).glob("*.md"))

    def same(self) -> bool:
        return fingerprint(self.root) == self.before

    def undone(self) -> bool:
        with self.open() as session:
            session.undo(now=NOW)
        return self.same()
