"""Verdicts of 600 pairs and twelve whole plans, frozen: what a change must leave alone, or explain.

    python scripts/evaluate/reference.py write FOLDER
    python scripts/evaluate/reference.py compare FOLDER

A plan is kept as who merges into whom, who conflicts with whom and who goes, all in texts of `scripts/data`.
"""

import itertools
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mem0_dream.models.registry import load_scorer
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import Store
from mem0_dream.records import Candidate, Memory, Scope
from mem0_dream.scripts.evaluate.labelled import World, as_memories, read_world_file
from mem0_dream.testing import InMemoryStore

DATA = Path(__file__).parent.parent / "data"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
COUNT = 600


def _lines(file: str) -> list[str]:
    return (DATA / file).read_text(encoding="utf-8").splitlines()


def verdicts() -> Iterator[dict[str, Any]]:
    """What the default scorer and the guards say of drawn pairs, no store being known."""
    sets = {
        "contrast_short.jsonl": ("anchor", "dup", "dup2", "contra", "distinct"),
        "contrast_compound.jsonl": ("base", "sub", "para", "contra", "partial", "near"),
    }
    rows = [[row[x] for x in names] for file, names in sets.items() for row in map(json.loads, _lines(file))]
    rows += [[part.strip() for part in line.split("|")] for line in _lines("minimal.txt")]
    found = [(fact, text) for fact, *texts in rows for text in texts]
    chosen = random.Random(18).sample(found, COUNT)  # noqa: S311
    names = [(f"{at:03d}a", f"{at:03d}b") for at in range(COUNT)]
    every = zip(itertools.chain(*names), itertools.chain(*chosen), strict=True)
    memories = {name: Memory(name, text, Scope(())) for name, text in every}
    candidates = [Candidate(*ids, 0.7) for ids in names]
    for verdict, (a, b) in zip(judge(candidates, memories, load_scorer("bundled")), chosen, strict=True):
        kinds = sorted(f"{item.kind}{'!' if item.veto else ''}" for item in verdict.evidence)
        said = [round(float(value), 3) for value in verdict.probabilities]
        label = verdict.label.value
        yield {"a": a, "b": b, "label": label, "auto": verdict.auto, "said": said, "kinds": kinds}


def plans() -> Iterator[dict[str, Any]]:
    """A plan of each kind of store for each of four worlds."""
    for path in sorted((DATA / "worlds_sample").glob("w*.txt")):
        world = read_world_file(path)[0]
        for kind, write in (("mem0", _mem0), ("md", _markdown), ("graph", _graph)):
            with tempfile.TemporaryDirectory() as folder:
                store = write(world, Path(folder))
                plan = consolidate(store, all_scopes=kind == "mem0", state_dir=folder, now=NOW).plan
                acts, asked = (sorted(map(_told, some)) for some in (plan.actions, plan.unsure))
                yield {"world": world.name, "kind": kind, "actions": acts, "unsure": asked}


def _told(action: Any) -> str:  # noqa: ANN401 - any action
    members = sorted(member.id for member in action.members)
    survivor = getattr(action, "survivor", None) or ""
    return f"{action.kind} {' + '.join(members)}{f' -> {survivor}' if survivor else ''}"


def _mem0(world: World, _folder: Path) -> Store:
    return InMemoryStore(as_memories(world.lines, Scope.of(user_id=world.name), digits=3))


def _by_category(world: World) -> dict[str, list[str]]:
    texts = defaultdict[str, list[str]](list)
    for line in world.lines:
        texts[line.category or "notes"].append(line.judged)
    return dict(sorted(texts.items()))


def _markdown(world: World, folder: Path) -> Store:
    memory = folder / "project" / "memory"
    memory.mkdir(parents=True)
    index = "# Memory\n\n"
    for name, texts in _by_category(world).items():
        file = f"{name.replace(' ', '_')}.md"
        head = f"---\nname: {name}\ndescription: what is known of {name}\ntype: project\n---\n\n"
        (memory / file).write_text(head + "".join(f"- {text}\n" for text in texts), encoding="utf-8")
        index += f"- [{name}]({file}): what is known of {name}\n"
    (memory / "MEMORY.md").write_text(index, encoding="utf-8")
    return open_store(memory, state_dir=folder)


def _graph(world: World, folder: Path) -> Store:
    head = {"type": "entity", "entityType": "topic"}
    rows = [head | {"name": name, "observations": texts} for name, texts in _by_category(world).items()]
    file = folder / "memory.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return open_store(file, state_dir=folder)


def main(arguments: list[str]) -> int:
    """Write the reference, or list what differs from it; returns 1 where something does."""
    command, folder = arguments[0], Path(arguments[1])
    found = {"pairs.jsonl": list(verdicts()), "plans.jsonl": list(plans())}
    folder.mkdir(parents=True, exist_ok=True)
    differing = 0
    for name, rows in found.items():
        if command == "write":
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / name).write_text(text, encoding="utf-8")
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        for before, after in zip(map(json.loads, lines), rows, strict=True):
            changed = [key for key in before if before[key] != after[key]]
            differing += bool(changed)
            for key in changed:
                print(f"{before.get('a') or before['world'] + ' ' + before['kind']} | {before.get('b', '')}")
                print(f"  {key}: {before[key]}\n  now: {after[key]}")
    print(f"{differing} of {sum(map(len, found.values()))} differ")
    return int(differing > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
