"""What hygiene proposes of facts that are to be kept: `python -m mem0_dream.scripts.evaluate.hygiene DATA`.

DATA holds `worlds/w*.txt`, of which every line is a fact, and `stores/*.json` with their `gold.keep`. Every
proposal is printed, since each is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mem0_dream.pipeline.rules.hygiene import find_junk
from mem0_dream.records import Memory, Scope
from mem0_dream.scripts.evaluate.worlds import read_worlds
from mem0_dream.settings import HYGIENE


def main(data: Path) -> int:
    """Print each proposal and their number; 1 if there is any."""
    of_worlds = [
        Memory(f"w{number}-{row}", line.text, Scope.of(run_id=f"{number}"), category=line.category)
        for number, world in enumerate(read_worlds(data / "worlds"))
        for row, line in enumerate(world.lines)
    ]
    of_stores = []
    for path in sorted((data / "stores").glob("*.json")):
        store = json.loads(path.read_text(encoding="utf-8"))
        kept = {row if isinstance(row, str) else row["id"] for row in store["gold"]["keep"]}
        rows = [row for row in store["memories"] if row["id"] in kept]
        of_stores += [Memory(row["id"], row["memory"], Scope.of(run_id=path.stem)) for row in rows]
    findings = find_junk([*of_worlds, *of_stores], HYGIENE)
    for item in findings:
        print(f"{item.junk}: {item.detail}: {item.shown or item.memory.text}")
    counted = f"{len(of_stores)} of stores, {len(of_worlds)} of worlds"
    print(f"{len(of_worlds) + len(of_stores)} facts ({counted}): {len(findings)} proposed")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) if len(sys.argv) == 2 else __doc__)
