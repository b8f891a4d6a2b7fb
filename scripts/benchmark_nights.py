"""What a second night costs after 1% changed: `python -m mem0_dream.scripts.benchmark_nights --scopes 100`.

Two stores of the same size: one of many scopes, of which one in a hundred changed, and one of a single
scope, of which one memory in a hundred did. Times are printed, never asserted; what is asserted are results:
a night over what is remembered gives the plan of a night that remembers nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mem0_dream.models.registry import CHOICES, load_encoder
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.records import Inventory, Memory, Scope
from mem0_dream.scripts.benchmark import NOW, SCOPE, made_up, require, use_threads
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore

if TYPE_CHECKING:
    import numpy as np
    from mem0_dream.models.encoder import Encoder
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Cost:
    """What one night cost."""

    seconds: float
    texts: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Time the nights and print them."""
    options = _parser().parse_args(arguments)
    use_threads(options.threads)
    settings = Settings(scorer=options.scorer, encoder=options.encoder)
    whole = made_up(options.memories, seed=1).memories
    for name, scopes in (("many scopes", options.scopes), ("one scope", 1)):
        memories = tuple(
            replace(memory, scope=Scope.of(user_id=f"user{number % scopes:05}") if scopes > 1 else SCOPE)
            for number, memory in enumerate(whole)
        )
        _report(f"{name}, {len(memories)} memories in {scopes}", _nights(memories, settings))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--scopes", type=int, default=100)
    parser.add_argument("--scorer", default="bundled", help=", ".join(CHOICES))
    parser.add_argument("--encoder", default=None, help="'words' needs no model")
    parser.add_argument("--threads", type=int, default=1)
    return parser


def _nights(memories: tuple[Memory, ...], settings: Settings) -> dict[str, Cost]:
    """A first night, one without a change, and one after 1% changed."""
    last = max({memory.scope for memory in memories})
    of_last = [memory.id for memory in memories if memory.scope == last]
    changed = set(of_last[: max(1, len(memories) // 100)])
    later = tuple(
        replace(memory, text=f"{memory.text[:-1]}, as of this week.") if memory.id in changed else memory
        for memory in memories
    )
    costs: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, held in (("first night", memories), ("nothing changed", memories), ("1% changed", later)):
            plan, costs[name] = _night(held, settings, Path(folder) / "state")
        fresh, costs["the same, afresh"] = _night(later, settings, Path(folder) / "fresh")
    require(_rounded(plan) == _rounded(fresh), "a night over what is remembered plans what a fresh one does")
    return costs


def _rounded(plan: Plan) -> str:
    """A plan with its scores to four places: the last digits depend on what a network reads together."""
    return re.sub(r"\d+\.\d{5,}(?:e-\d+)?|\d+e-\d+", lambda match: f"{float(match[0]):.4f}", dump_plan(plan))


def _night(memories: tuple[Memory, ...], settings: Settings, state: Path) -> tuple[Plan, Cost]:
    """One plan, models warm, and what it cost."""
    counted = _Counted(load_encoder(settings.encoder, scorer=settings.scorer))
    with Session(InMemoryStore(), settings=settings, state_dir=state, encoder=counted) as session:
        _ = session.scorer
        started = time.perf_counter()
        plan = session.plan(Inventory("benchmark", tuple(sorted(memories, key=lambda m: m.id))), now=NOW)
        return plan, Cost(time.perf_counter() - started, counted.texts)


@dataclass(slots=True)
class _Counted:
    """An encoder that counts the texts which no cache knew."""

    inside: Encoder
    texts: int = 0

    @property
    def name(self) -> str:
        """Of the encoder inside."""
        return self.inside.name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode and count."""
        self.texts += len(texts)
        return self.inside.encode(texts)


def _report(title: str, costs: dict[str, Cost]) -> None:
    first = costs["first night"].seconds
    print(f"\n{title}")
    for name, cost in costs.items():
        share = f"{cost.seconds:>9.2f} s {cost.seconds / first:>8.1%}"
        print(f"  {name:<18}{share}   {cost.texts:>7} texts embedded")


if __name__ == "__main__":
    sys.exit(main())
