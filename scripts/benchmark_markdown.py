"""How fast a pass over Markdown memories is: `scripts/benchmark_markdown.py --files 2000 --code 50000`.

A made-up project with planted duplicates and references to files that are gone. Times are printed, never
asserted; what is asserted are results: exactly the planted memories go, and a second pass is empty.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.markdown.code_index import build_index
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.pipeline.stores.markdown.store import MarkdownStore
from mem0_dream.settings import Settings

NOW = datetime(2026, 11, 21, tzinfo=UTC)
MEMORY = Path(".claude/memory")
PLANTED = 20
"""One memory in so many copies the one before it, and one in so many names only what is gone."""
_LONG_AGO = datetime(2026, 9, 30, tzinfo=UTC).timestamp()
_PER_FOLDER = 100
_COMMIT = ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm"]
_TYPES = ("user", "feedback", "project", "reference")


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured, in seconds, and what came out."""

    files: int
    code_files: int
    code_megabytes: float
    index_seconds: float
    plan_seconds: float
    apply_seconds: float
    second_pass_seconds: float
    duplicates: int
    stale: int


def write_code(root: Path, count: int) -> int:
    """Write a code base; return its size in bytes."""
    size = 0
    for number in range(count):
        path = root / f"src/area_{number // _PER_FOLDER}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"def handler_{number}_{part}(request, context):\n    return request.body_{part}\n"
            for part in range(12)
        ]
        text = "".join(lines)
        path.write_text(text)
        size += len(text)
    (root / ".gitignore").write_text("build/\n*.log\n.cache\n/dist\nnode_modules\n")
    return size


def write_memories(root: Path, count: int, code: int, seed: int) -> tuple[int, int]:
    """Write a directory of memories; return how many copies and how many stale ones were planted."""
    random_words = random.Random(seed)  # noqa: S311  (made-up data)
    words = [f"term{number}" for number in range(4000)]
    folder = root / MEMORY
    folder.mkdir(parents=True)
    copies = stale = 0
    body = ""
    for number in range(count):
        kind = _TYPES[number // 2 % len(_TYPES)]
        if number % PLANTED == 1:
            copies += 1
        elif number % PLANTED == 2:
            stale += 1
            kind = "project"
            body = f"`gone_{number}()` lives in `src/gone/old_{number}.py`."
        else:
            said = " ".join(random_words.sample(words, 14))
            module = random_words.randrange(code)
            place = f"src/area_{module // _PER_FOLDER}/module_{module}.py"
            body = f"Case {number}: {said}. See `{place}` and `handler_{module}_3()`."
        about = f"name: memory {number}\ndescription: case {number}\ntype: {kind}\n"
        about += f"date: 2026-0{1 + number % 9}-02\n"
        path = folder / f"memory_{number:05}.md"
        path.write_text(f"---\n{about}---\n\n{body}\n")
        os.utime(path, (_LONG_AGO, _LONG_AGO))
    return copies, stale


def write_past(root: Path, count: int) -> None:
    """Give the project a history in which the files that stale memories name existed."""
    (root / "src/gone").mkdir(parents=True)
    for number in range(2, count, PLANTED):
        (root / f"src/gone/old_{number}.py").write_text(f"old = {number}\n")
    steps = (
        ["init", "-q"],
        ["add", "src/gone"],
        [*_COMMIT, "first"],
        ["rm", "-rqf", "src/gone"],
        [*_COMMIT, "second"],
    )
    for words in steps:
        subprocess.run(["git", "-C", str(root), *words], check=True)  # noqa: S607


def measure(
    root: Path, state: Path, *, code: int, megabytes: float, planted: tuple[int, int], files: int
) -> Figures:
    """Time every stage, and check what it gave."""
    began = time.perf_counter()
    index = build_index(root, [f"absent_{number}" for number in range(200)], without=[root / MEMORY])
    index_seconds = time.perf_counter() - began
    check(len(index.files) == code + 1, f"{len(index.files)} files indexed of {code + 1}")
    state.mkdir()
    store = MarkdownStore(discover(root, home=root / "nobody"), root=root, state=state)
    settings = Settings(scorer="keywords", max_delete=1.0)
    with Session(store, settings=settings, state_dir=state) as session:
        began = time.perf_counter()
        plan = session.propose(ScopeFilter(), now=NOW)
        plan_seconds = time.perf_counter() - began
        gone = sum(len(merge.removes) for merge in plan.merges)
        check((gone, len(plan.prunes)) == planted, f"{(gone, len(plan.prunes))} found, planted {planted}")
        began = time.perf_counter()
        result = session.apply(plan, now=NOW)
        apply_seconds = time.perf_counter() - began
        check(result.moved == (), f"{len(result.moved)} changes were skipped")
        began = time.perf_counter()
        again = session.propose(ScopeFilter(), now=NOW)
        second_seconds = time.perf_counter() - began
        check(again.actions == (), f"a second pass proposes {len(again.actions)} changes")
    return Figures(
        files=files,
        code_files=code,
        code_megabytes=round(megabytes, 1),
        index_seconds=round(index_seconds, 2),
        plan_seconds=round(plan_seconds, 2),
        apply_seconds=round(apply_seconds, 2),
        second_pass_seconds=round(second_seconds, 2),
        duplicates=gone,
        stale=len(plan.prunes),
    )


def check(holds: bool, otherwise: str) -> None:  # noqa: FBT001
    """Stop with a sentence if a result is not what was planted."""
    if not holds:
        sys.exit(f"benchmark_markdown: {otherwise}")


def main() -> None:
    """Write the project, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=2000, help="files of memories")
    parser.add_argument("--code", type=int, default=50_000, help="files of the code base")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        size = write_code(root, given.code)
        write_past(root, given.files)
        planted = write_memories(root, given.files, given.code, given.seed)
        figures = measure(
            root,
            Path(folder) / "state",
            code=given.code,
            megabytes=size / 1e6,
            planted=planted,
            files=given.files,
        )
    if given.json:
        print(json.dumps(asdict(figures)))
        return
    for name, value in asdict(figures).items():
        print(f"{name.replace('_', ' '):22} {value}")


if __name__ == "__main__":
    main()
