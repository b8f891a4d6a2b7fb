"""Measure a scorer on labelled pairs and labelled stores: `python scripts/evaluate.py FILE... --scorer NAME`.

Pairs (.jsonl) and stores (.json) go through the very code that ships: the same guards, thresholds,
candidates and planner. The figures themselves are in `metrics`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mem0_dream.errors import DreamError, UsageError
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer
from mem0_dream.pipeline.candidates import find_candidates
from mem0_dream.pipeline.judge import judge
from mem0_dream.pipeline.planner import Circumstances, build_plan
from mem0_dream.pipeline.records import (
    PIN_PREFIX,
    Candidate,
    Inventory,
    Label,
    Memory,
    Scope,
    as_utc,
)
from mem0_dream.pipeline.words import exact_key
from mem0_dream.scripts.evaluate_report import render
from mem0_dream.scripts.metrics import (
    DECISIONS,
    LABELS,
    Decisions,
    Figures,
    Gold,
    kind_figures,
    pair_figures,
    store_figures,
)
from mem0_dream.settings import Settings

if TYPE_CHECKING:
    from mem0_dream.models.encoder import Encoder
    from mem0_dream.models.scorer import PairScorer

_PINNING = ("pinned", "immutable", "critical")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One line of a pairs file: two memories of one scope and category, and what they are to each other."""

    name: str
    source: str
    a: Memory
    b: Memory
    label: Label
    kind: str
    weight: float
    group: str


@dataclass(frozen=True, slots=True)
class LabelledStore:
    """A store file: its memories, the day it is looked at, and what should be done."""

    name: str
    inventory: Inventory
    now: datetime | None
    gold: Gold


@dataclass(frozen=True, slots=True)
class Models:
    """What is measured."""

    spec: str
    scorer: PairScorer
    encoder: Encoder
    settings: Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        report = evaluate(options)
    except DreamError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(report, indent=2) if options.json else render(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl|STORE.json")
    parser.add_argument("--scorer", default="bundled", help=", ".join(CHOICES))
    parser.add_argument("--encoder", help="another sentence-transformers model, folder or hub name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--weighted", action="store_true", help="count each pair by its field `weight`")
    parser.add_argument("--by-kind", action="store_true", help="add figures for each kind of pair")
    parser.add_argument("--now", type=_moment, help="reckon ages from this date, not from the store's own")
    return parser


def evaluate(options: argparse.Namespace) -> Figures:
    """Measure all files: the object that --json prints."""
    pairs, stores = read_files(options.files)
    models = Models(
        options.scorer,
        load_scorer(options.scorer),
        load_encoder(options.encoder, scorer=options.scorer),
        Settings(scorer=options.scorer),
    )
    report: Figures = {"scorer": models.spec, "model": models.scorer.name, "encoder": models.encoder.name}
    report |= {"pairs": len(pairs), "weighted": options.weighted, "macro_f1": None, "labels": {}, "auto": {}}
    if pairs:
        report |= evaluate_pairs(pairs, models, weighted=options.weighted, by_kind=options.by_kind)
    report["stores"] = {store.name: evaluate_store(store, models, now=options.now) for store in stores}
    rounded: Figures = _rounded(report)
    return rounded


def read_files(paths: Sequence[Path]) -> tuple[list[LabelledPair], list[LabelledStore]]:
    """Read labelled pairs and stores.

    Raises:
        UsageError: If a file cannot be read as what its name says.
    """
    pairs: list[LabelledPair] = []
    stores: list[LabelledStore] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}.") from error
        if path.suffix == ".jsonl":
            lines = enumerate(text.splitlines(), 1)
            pairs += [_pair(line, path, number) for number, line in lines if line.strip()]
        else:
            stores.append(_store(text, path))
    return pairs, stores


def _pair(line: str, path: Path, number: int) -> LabelledPair:
    try:
        row = json.loads(line)
        label = Label(row["label"])
        scope = Scope.of(user_id=path.stem)
        a, b = (
            Memory(
                id=f"{path.stem}-{number:07}{side}",
                text=row[side],
                scope=scope,
                category=row.get("category"),
                created_at=_moment(row.get(f"{side}_date")),
            )
            for side in ("a", "b")
        )
        weight = float(row.get("weight", 1.0))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"Line {number} of {path} is no labelled pair: {error!r}.") from error
    if label not in LABELS:
        raise UsageError(f"Line {number} of {path} has the label {label}, which no pair is given.")
    name = str(row.get("id", number))
    return LabelledPair(name, path.stem, a, b, label, str(row.get("kind")), weight, row.get("store", name))


def _store(text: str, path: Path) -> LabelledStore:
    try:
        data = json.loads(text)
        scope = Scope.of(**{name: data.get(name) for name in ("user_id", "agent_id", "run_id", "app_id")})
        memories = sorted((_memory(row, scope) for row in data["memories"]), key=lambda memory: memory.id)
        gold = Gold.of(data["gold"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no labelled store: {error!r}.") from error
    name = str(data.get("name", path.stem))
    return LabelledStore(
        name, Inventory(store=name, memories=tuple(memories)), _moment(data.get("now")), gold
    )


def _memory(row: dict[str, Any], scope: Scope) -> Memory:
    metadata = row.get("metadata") or {}
    text = row["memory"]
    return Memory(
        id=row["id"],
        text=text,
        scope=scope,
        category=row.get("category"),
        created_at=_moment(row.get("created_at")),
        updated_at=_moment(row.get("updated_at")),
        accessed_at=_moment(row.get("last_accessed_at")),
        pinned=text.lstrip().startswith(PIN_PREFIX) or any(metadata.get(key) for key in _PINNING),
        metadata=metadata,
    )


def _moment(text: str | None) -> datetime | None:
    return as_utc(datetime.fromisoformat(text)) if text else None


def evaluate_pairs(
    pairs: Sequence[LabelledPair], models: Models, *, weighted: bool, by_kind: bool
) -> Figures:
    """All figures of labelled pairs, judged as the program judges candidates."""
    memories = {memory.id: memory for pair in pairs for memory in (pair.a, pair.b)}
    candidates = _as_candidates(pairs, models.encoder)
    judge(candidates[:1], memories, models.scorer)  # loads the model before the clock starts
    start = time.perf_counter()
    verdicts = judge(candidates, memories, models.scorer)
    seconds = time.perf_counter() - start
    decisions = Decisions(
        gold=np.array([LABELS.index(pair.label) for pair in pairs]),
        decided=np.array([DECISIONS.index(verdict.label) for verdict in verdicts]),
        auto=np.array([verdict.auto for verdict in verdicts]),
        probabilities=np.array([verdict.probabilities for verdict in verdicts], dtype=np.float64),
        weight=np.array([pair.weight if weighted else 1.0 for pair in pairs]),
        group=np.unique([f"{pair.source}/{pair.group}" for pair in pairs], return_inverse=True)[1],
    )
    threshold = models.scorer.thresholds.auto
    figures = pair_figures(decisions, threshold=threshold)
    false = [pair.name for pair, v in zip(pairs, verdicts, strict=True) if v.auto and pair.label != v.label]
    figures["auto"]["false_merge_ids"] = false
    figures["candidates"] = _reachable(candidates, decisions, floor=models.settings.floor)
    figures["latency"] = {"seconds": seconds, "pairs_per_second": len(pairs) / seconds}
    sources = np.array([pair.source for pair in pairs])
    names: list[str] = np.unique(sources).tolist()
    figures["sets"] = {
        name: pair_figures(decisions.where(sources == name), threshold=threshold)
        for name in names
        if len(names) > 1
    }
    if by_kind:
        figures["kinds"] = kind_figures(decisions, [pair.kind for pair in pairs])
    return figures


def _as_candidates(pairs: Sequence[LabelledPair], encoder: Encoder) -> list[Candidate]:
    texts = sorted({memory.text for pair in pairs for memory in (pair.a, pair.b)})
    row = {text: number for number, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    found = []
    for pair in pairs:
        cosine = np.dot(vectors[row[pair.a.text]].astype(np.float64), vectors[row[pair.b.text]])
        exact = exact_key(pair.a.text) == exact_key(pair.b.text)
        found.append(
            Candidate(pair.a.id, pair.b.id, 1.0 if exact else float(np.float32(cosine)), exact=exact)
        )
    return found


def _reachable(candidates: Sequence[Candidate], decisions: Decisions, *, floor: float) -> Figures:
    """Share of duplicates and contradictions that lie above the floor at all."""
    near = np.array([pair.exact or pair.cosine >= floor for pair in candidates])
    shares: Figures = {"floor": floor}
    for row, label in enumerate(LABELS[:2]):
        rows = decisions.gold == row
        shares[label.value] = (
            float(np.average(near[rows], weights=decisions.weight[rows])) if rows.any() else None
        )
    return shares


def evaluate_store(store: LabelledStore, models: Models, *, now: datetime | None) -> Figures:
    """All figures of one labelled store, from the plan that the program would make."""
    start = time.perf_counter()
    plan = build_plan(
        store.inventory,
        kind="evaluation",
        encoder=models.encoder,
        scorer=models.scorer,
        settings=models.settings,
        circumstances=Circumstances(now=now or store.now or datetime.now(UTC)),
    )
    seconds = time.perf_counter() - start
    figures = {"memories": len(store.inventory.memories), **store_figures(plan, store.gold)}
    figures["candidates"] = _candidate_recall(store, models)
    figures["latency"] = {"seconds": seconds}
    return figures


def _candidate_recall(store: LabelledStore, models: Models) -> Figures:
    """Share of gold pairs that become candidates; a copy is reached through the one that stands for it."""
    living = [memory for memory in store.inventory.memories if not memory.pinned]
    vectors = models.encoder.encode([memory.text for memory in living])
    floor, neighbours = models.settings.floor, models.settings.neighbours
    candidates = find_candidates(living, vectors, floor=floor, neighbours=neighbours)
    stands_for = {pair.b: pair.a for pair in candidates if pair.exact}
    near = {frozenset((pair.a, pair.b)) for pair in candidates}

    def _reached(a: str, b: str) -> bool:
        ends = frozenset((stands_for.get(a, a), stands_for.get(b, b)))
        return len(ends) == 1 or ends in near

    duplicates = [pair for group in store.gold.groups for pair in itertools.combinations(sorted(group), 2)]
    return {
        "pairs": len(candidates),
        "floor": floor,
        "neighbours": neighbours,
        "duplicate": float(np.mean([_reached(*pair) for pair in duplicates])) if duplicates else None,
        "contradiction": (
            float(np.mean([_reached(*pair) for pair in store.gold.contradictions]))
            if store.gold.contradictions
            else None
        ),
    }


def _rounded(value: Any) -> Any:  # noqa: ANN401  (any part of a JSON object)
    """The same object with four decimals: more are noise."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
