"""What hygiene proposes of facts that are to be kept: `python -m mem0_dream.scripts.evaluate.hygiene DATA`.

DATA holds `worlds/w*.txt`, of which every line is a fact, and `stores/*.json` with their `gold.keep`. Every
proposal is printed, since each is wrong.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mem0_dream.pipeline.rules.hygiene import find_junk
from mem0_dream.records import Memory, Scope
from mem0_dream.scripts.evaluate.worlds import read_worlds
from mem0_dream.settings import HYGIENE


def main(data: Path) -> int:
    """Print each proposal and their number; 1 if there is any."""
    memories = [*_lines(data / "worlds"), *_kept(data / "stores")]
    findings = find_junk(memories, HYGIENE)
    for item in findings:
        print(f"{item.junk}: {item.detail}: {item.shown or item.memory.text}")
    counted = Counter(memory.scope.get("agent_id") for memory in memories)
    print(
        f"{len(memories)} facts ({', '.join(f'{n} {name}' for name, n in sorted(counted.items()))}): ", end=""
    )
    print(f"{len(findings)} proposed")
    return bool(findings)


def _lines(folder: Path) -> Iterator[Memory]:
    for number, world in enumerate(read_worlds(folder)):
        scope = Scope.of(agent_id="of worlds", run_id=f"{number}")
        for row, line in enumerate(world.lines):
            yield Memory(f"w{number}-{row}", line.text, scope, category=line.category)


def _kept(folder: Path) -> Iterator[Memory]:
    for path in sorted(folder.glob("*.json")):
        store = json.loads(path.read_text(encoding="utf-8"))
        kept = {row if isinstance(row, str) else row["id"] for row in store["gold"]["keep"]}
        for row in store["memories"]:
            if row["id"] in kept:
                yield Memory(row["id"], row["memory"], Scope.of(agent_id="of stores", run_id=path.stem))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
