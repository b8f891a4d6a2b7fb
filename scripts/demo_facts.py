"""How often an outdated fact is found before and after one pass: `make demo-facts DATA=...`.

Fills a real mem0 store with the facts of FactConsolidation, settles every reported conflict for the newer
side, and asks mem0's own search before and after for each of the known conflicts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from mem0_dream.scripts.demo import ROOT, Place, fill, prepare

FACTS = Path("outside") / "factcon_6k.json"
FIRST = 5
"""Results of a search that an agent reads."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both figures; 0 only if fewer outdated facts are found afterwards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help=f"folder with {FACTS}")
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo-facts", help="where to make the store")
    options = parser.parse_args(arguments)
    facts = json.loads((options.data / FACTS).read_text(encoding="utf-8"))
    place = Place(options.folder.resolve())
    prepare(place)
    os.environ.update(place.environment)
    rows = [
        {"text": one["memory"], "category": one["category"], "created": one["created_at"][:10], "owner": "u"}
        for one in facts["memories"]
    ]
    fill(place, {"memories": rows, "owners": {"u": {"user_id": facts["user_id"]}}})
    texts = {one["id"]: one["memory"] for one in facts["memories"]}
    conflicts = [(texts[older], texts[newer]) for older, newer in facts["gold"]["contradictions"]]
    before, after = passed(place, conflicts, now=datetime.fromisoformat(f"{facts['now']}T12:00:00+00:00"))
    print(
        f"{len(texts)} facts, {len(conflicts)} known conflicts. An outdated fact among the first {FIRST} of "
        f"mem0's own search: {before} before the pass, {after} after it."
    )
    return 0 if after < before else 1


def passed(place: Place, conflicts: Sequence[tuple[str, str]], *, now: datetime) -> tuple[int, int]:
    """Outdated facts found before and after one pass in which the newer side of each conflict was chosen."""
    from mem0 import Memory
    from mem0_dream.pipeline.engine import Session
    from mem0_dream.pipeline.stores.base import ScopeFilter
    from mem0_dream.pipeline.stores.mem0.store import Mem0Store

    memory = Memory.from_config(place.config())
    before = outdated(memory, conflicts)
    with Session(Mem0Store(memory), state_dir=place.folder / "state") as session, session.locked():
        plan = session.propose(ScopeFilter(), now=now)
        newer = {conflict.id: conflict.newer for conflict in plan.conflicts}
        # What expires does so on the real calendar, whatever day the facts are judged on.
        session.apply(plan, now=datetime.now(UTC), choices=newer, within_budget=False)
    return before, outdated(memory, conflicts)


def outdated(memory: Any, conflicts: Sequence[tuple[str, str]]) -> int:  # noqa: ANN401  (mem0's own client)
    """In how many conflicts a search for what both say finds the older fact among the first results."""
    found = 0
    for older, newer in conflicts:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(older.split(), newer.split(), strict=False))
        asked = " ".join(word for word, _ in same) or newer
        hits = memory.search(asked, filters={"user_id": "u"}, top_k=FIRST)["results"]
        found += older in {hit["memory"] for hit in hits}
    return found


if __name__ == "__main__":
    sys.exit(main())
