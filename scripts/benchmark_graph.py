"""How fast a pass over a knowledge graph is: `python -m mem0_dream.scripts.benchmark_graph --entities 100`.

A made-up graph of services, people and patterns, with a few of them written twice. Seconds are printed,
never asserted; what is asserted are results: every planted pair is merged or asked about, nothing else is
merged, and a second pass is empty.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.file import FileMedium
from mem0_dream.pipeline.stores.graph.store import GraphStore
from mem0_dream.settings import Settings

NOW = datetime(2026, 11, 21, tzinfo=UTC)
PLANTED = 25
"""One memory in so many is written twice."""

_KINDS = ("service", "person", "pattern", "file", "decision")
_VERBS = ("reads", "writes", "checks", "owns", "replaces", "imports", "renders", "signs", "caches", "retries")
_THINGS = (
    "invoices", "sessions", "invitations", "thumbnails", "shipments", "payrolls", "timetables", "passports",
    "telemetry", "subtitles", "contracts", "recipes", "voltages", "playlists", "reports", "seat plans",
)  # fmt: skip
_HOW = (
    "from a queue in Frankfurt", "with a nightly job", "behind the public gateway", "for the finance team",
    "under a strict quota", "in batches of forty", "without a lock", "through the audit log",
)  # fmt: skip


def made_up(count: int, observations: int, *, seed: int) -> tuple[list[str], list[frozenset[str]]]:
    """Lines of a graph, and the names that mean one thing."""
    chance = random.Random(seed)  # noqa: S311  (made-up data)
    lines: list[str] = []
    planted: list[frozenset[str]] = []
    names: list[str] = []
    while len(names) < count:
        number = len(names)
        name = f"{chance.choice(_THINGS).title().replace(' ', '')}{chance.choice(_VERBS).title()}{number}"
        said = [
            f"{chance.choice(_VERBS).title()} {chance.choice(_THINGS)} {chance.choice(_HOW)}"
            f" and {chance.choice(_VERBS)} {chance.choice(_THINGS)} of area {chance.randrange(900)}"
            for _ in range(chance.randint(1, 2 * observations - 1))
        ]
        kind = _KINDS[number % len(_KINDS)]
        lines.append(_entity(name, kind, said))
        names.append(name)
        if number % PLANTED == PLANTED - 1:
            twin = "_".join(part.lower() for part in _split(name))
            lines.append(_entity(twin, kind, [f"{text}." for text in said]))
            names.append(twin)
            planted.append(frozenset((name, twin)))
    pairs = itertools.pairwise(names)
    lines += [
        json.dumps({"type": "relation", "from": a, "to": b, "relationType": "precedes"}) for a, b in pairs
    ]
    return lines, planted


def _entity(name: str, kind: str, said: Sequence[str]) -> str:
    return json.dumps({"type": "entity", "name": name, "entityType": kind, "observations": list(said)})


def _split(name: str) -> list[str]:
    return "".join(f" {char}" if char.isupper() else char for char in name).split()


def run(lines: Sequence[str], planted: Sequence[frozenset[str]], *, scorer: str) -> dict[str, float]:
    """Time a first pass, what `--auto` applies of it, and a second pass; check what each gave."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.jsonl"
        file.write_text("\n".join(lines))
        before = file.read_bytes()
        store = GraphStore(FileMedium(file), state=Path(folder))
        limits = Settings(scorer=scorer, max_delete=1.0)
        with Session(store, settings=limits, state_dir=Path(folder)) as session:
            plan = _timed(figures, "first pass", session)
            merged = {
                frozenset(member.id for member in each.members) for each in (*plan.merges, *plan.unsure)
            }
            _require(merged >= set(planted), "every planted pair is merged or asked about")
            names = [member.id for each in plan.merges for member in each.members]
            _require({*names} <= {name for pair in planted for name in pair}, "nothing else is merged")
            result = session.apply(plan, now=NOW)
            again = _timed(figures, "second pass", session)
            _require(again.actions == (), "a second pass is empty")
            if result.run:
                session.undo(now=NOW)
            _require(file.read_bytes() == before, "an undo gives the same bytes")
    return figures | {"merges": len(plan.merges), "questions": len(plan.unsure)}


def _timed(figures: dict[str, float], what: str, session: Session) -> Plan:
    wall, cpu = time.perf_counter(), time.process_time()
    plan = session.propose(ScopeFilter(), now=NOW, unattended=True)
    figures[f"{what}, seconds"] = round(time.perf_counter() - wall, 2)
    figures[f"{what}, processor seconds"] = round(time.process_time() - cpu, 2)
    return plan


def _require(holds: bool, what: str) -> None:  # noqa: FBT001
    """Stop with a sentence if a result does not hold."""
    if not holds:
        sys.exit(f"benchmark_graph: it does not hold that {what}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a graph up, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entities", type=int, default=100)
    parser.add_argument("--observations", type=int, default=6, help="of an entity, on the average")
    parser.add_argument("--scorer", default=Settings().scorer)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args(arguments)
    lines, planted = made_up(given.entities, given.observations, seed=given.seed)
    for name, value in run(lines, planted, scorer=given.scorer).items():
        print(f"{name:<32}{value:>8}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
