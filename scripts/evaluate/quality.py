"""Measure a scorer on labelled pairs and stores: `python scripts/evaluate/quality.py FILE... --scorer NAME`.

Pairs (.jsonl), stores (.json) and worlds (.txt, many small stores) go through the very code that ships: the
same guards, thresholds, candidates and planner. Only `semhash`, which is not ours, judges as it does by
itself. Each pair counts by its field `weight`. The figures themselves are in `metrics`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from mem0_dream.errors import DreamError, UsageError
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer
from mem0_dream.models.scorer import PairInput, PairScorer, Thresholds, limits_for
from mem0_dream.models.text.words import exact_key
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.kinds.mem0 import build_plan
from mem0_dream.records import Candidate, Memory, Scope, Verdict
from mem0_dream.scripts.evaluate import plots
from mem0_dream.scripts.evaluate.labelled import STORES, LabelledPair, LabelledStore, read_files
from mem0_dream.scripts.evaluate.metrics import (
    DECISIONS,
    LABELS,
    Decisions,
    Figures,
    kind_figures,
    pair_figures,
    store_figures,
)
from mem0_dream.scripts.evaluate.semhash_scorer import SEMHASH, SemHashScorer, judge_alone
from mem0_dream.scripts.evaluate.tables import outline
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from numpy.typing import NDArray

WORLDS = "worlds"


@dataclass(frozen=True, slots=True)
class Models:
    """What is measured; `alone` is a scorer that judges by itself, without our guards and exact copies."""

    spec: str
    scorer: PairScorer
    encoder: Encoder
    settings: Settings
    alone: bool = False

    @property
    def limits(self) -> Thresholds:
        """The thresholds of pairs of which no store is known."""
        return limits_for(self.scorer, PairInput("", "", 0.0))


@dataclass(frozen=True, slots=True)
class Measured:
    """What was decided about labelled pairs, in their order, and how long that took."""

    pairs: tuple[LabelledPair, ...]
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    decisions: Decisions
    seconds: float

    def rows(self, of_pair: Callable[[LabelledPair], str]) -> dict[str, NDArray[np.bool_]]:
        """The rows of each value that something of a pair has."""
        values = np.array([of_pair(pair) for pair in self.pairs])
        return {str(value): values == value for value in np.unique(values)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl|STORE.json|WORLDS.txt")
    parser.add_argument("--scorer", default="bundled", help=", ".join((*CHOICES, SEMHASH)))
    parser.add_argument("--encoder", help="another sentence-transformers model, folder or hub name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="write PNG curves of each pairs file")
    options = parser.parse_args(arguments)
    try:
        report = evaluate(options)
    except DreamError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return error.exit_code
    if options.json:
        print(json.dumps(_rounded(report), indent=2))
    else:
        brief = {name: _brief(part) for name, part in report.pop("sets", {}).items()}
        print(*outline(report | {"sets": brief}), sep="\n")
    return 0


def _brief(figures: Figures) -> Figures:
    """A row for one of several sets; everything else about it is in the JSON output."""
    auto, conflict = figures["auto"], figures["decided"]["labels"]["contradiction"]
    names = ("precision", "recall", "false_merges")
    return {
        **{name: figures[name] for name in ("pairs", "macro_f1")},
        **{f"auto {name}": auto[name] for name in names},
        **{f"conflict {name}": conflict[name] for name in names[:2]},
        "ece": figures["ece"]["label"],
    }


def evaluate(options: argparse.Namespace) -> Figures:
    """Measure all files: the object that --json prints, before rounding."""
    if options.plots:
        plots.prepare(options.plots)
    pairs, stores = read_files(options.files)
    models = load_models(options.scorer, options.encoder)
    if stores and models.alone:
        raise UsageError(f"{models.spec} judges pairs only; leave out {stores[0].name}.")
    report: Figures = {"scorer": models.spec, "model": models.scorer.name, "encoder": models.encoder.name}
    report |= {"pairs": len(pairs), "macro_f1": None, "labels": {}, "auto": {}}
    if pairs:
        measured = measure(pairs, models)
        report |= pairs_report(measured, models)
        for name, rows in measured.rows(lambda pair: pair.source).items() if options.plots else ():
            of, limits = measured.decisions.where(rows), models.limits
            files = plots.write(options.plots, of, scorer=models.spec, name=name, thresholds=limits)
            report["plots"] = [*report.get("plots", ()), *map(str, files)]
    report["stores"] = {store.name: evaluate_store(store, models) for store in stores}
    return report


def load_models(spec: str, encoder: str | None = None) -> Models:
    """The scorer that a name means and the encoder that goes with it.

    Raises:
        UsageError: If no scorer has this name.
        MissingExtraError: If it needs a package that is not installed.
    """
    model = load_encoder(encoder, scorer=spec)
    alone = spec == SEMHASH
    scorer = SemHashScorer(model) if alone else load_scorer(spec)
    return Models(spec, scorer, model, Settings(scorer=spec), alone)


def measure(pairs: Sequence[LabelledPair], models: Models) -> Measured:
    """Judge labelled pairs as the program judges candidates."""
    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    vector = dict(zip(texts, models.encoder.encode(texts), strict=True))
    memories, candidates = dict[str, Memory](), list[Candidate]()
    for number, pair in enumerate(pairs):
        scope, ids = Scope.of(user_id=pair.source), (f"{number:07}a", f"{number:07}b")
        sides = zip(ids, (pair.a, pair.b), (pair.a_date, pair.b_date), strict=True)
        for name, text, stated in sides:
            memories[name] = Memory(name, text, scope, category=pair.category or None, created_at=stated)
        cosine = float(np.float32(np.dot(vector[pair.a].astype(np.float64), vector[pair.b])))
        exact = exact_key(pair.a) == exact_key(pair.b)
        candidates.append(Candidate(*ids, 1.0 if exact else cosine, exact=exact))
    by = judge_alone if models.alone else judge
    by(candidates[:1], memories, models.scorer)  # loads the model before the clock starts
    start = time.perf_counter()
    verdicts = by(candidates, memories, models.scorer)
    seconds = time.perf_counter() - start
    decisions = Decisions(
        gold=np.array([pair.label for pair in pairs]),
        decided=np.array([DECISIONS.index(verdict.label) for verdict in verdicts]),
        auto=np.array([verdict.auto for verdict in verdicts]),
        probabilities=np.array([verdict.probabilities for verdict in verdicts], dtype=np.float64),
        weight=np.array([pair.weight for pair in pairs]),
        group=np.unique([f"{pair.source}/{pair.group}" for pair in pairs], return_inverse=True)[1],
    )
    return Measured(tuple(pairs), tuple(candidates), verdicts, decisions, seconds)


def pairs_report(measured: Measured, models: Models) -> Figures:
    """All figures of labelled pairs; sets are files, and styles in a file, where there are several."""
    decisions, threshold, floor = measured.decisions, models.limits.auto, models.settings.floor
    figures = pair_figures(decisions, threshold=threshold)
    judged = zip(measured.pairs, measured.verdicts, strict=True)
    figures["auto"]["false_merge_ids"] = [pair.name for pair, v in judged if v.auto and pair.label != 0]
    near = np.array([pair.exact or pair.cosine >= floor for pair in measured.candidates])
    figures["candidates"] = {"floor": floor}
    for row, label in enumerate(LABELS[:2]):
        rows = decisions.gold == row
        share = float(np.average(near[rows], weights=decisions.weight[rows])) if rows.any() else None
        figures["candidates"][label.value] = share
    rate = len(decisions) / measured.seconds
    figures["latency"] = {"seconds": measured.seconds, "pairs_per_second": rate}
    sets: dict[str, NDArray[np.bool_]] = {}
    sources, styles = measured.rows(lambda pair: pair.source), measured.rows(lambda pair: pair.style)
    for source, of_source in sources.items():
        inside = {f"{source}/{style}": of_source & rows for style, rows in styles.items()}
        inside = {name: rows for name, rows in inside.items() if rows.any()}
        sets |= ({source: of_source} if len(sources) > 1 else {}) | (inside if len(inside) > 1 else {})
    of_sets = {name: pair_figures(decisions.where(rows), threshold=threshold) for name, rows in sets.items()}
    kinds = kind_figures(decisions, [pair.kind for pair in measured.pairs])
    return figures | {"sets": of_sets, "kinds": kinds}


def evaluate_store(store: LabelledStore, models: Models) -> Figures:
    """All figures of one labelled store, from the plan that the program would make."""
    start = time.perf_counter()
    plan = build_plan(
        store.inventory, store=InMemoryStore(), encoder=models.encoder, scorer=models.scorer,
        settings=models.settings, now=store.now or datetime.now(UTC),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    figures = {"memories": len(store.inventory.memories), **store_figures(plan, store.gold)}
    return figures | {"candidates": _candidate_recall(store, models), "latency": {"seconds": seconds}}


def _candidate_recall(store: LabelledStore, models: Models) -> Figures:
    """Share of gold pairs that become candidates; a copy is reached through the one that stands for it."""
    living = [memory for memory in store.inventory.memories if not memory.pinned]
    vectors = models.encoder.encode([memory.text for memory in living])
    floor, neighbours = models.settings.floor, models.settings.neighbours
    candidates = find_candidates(living, vectors, floor=floor, neighbours=neighbours)
    stands_for = {pair.b: pair.a for pair in candidates if pair.exact}
    near = {frozenset((pair.a, pair.b)) for pair in candidates}

    def near_by(a: str, b: str) -> bool:
        ends = frozenset((stands_for.get(a, a), stands_for.get(b, b)))
        return len(ends) == 1 or ends in near

    def share(facts: Sequence[tuple[frozenset[str], frozenset[str]]]) -> float | None:
        """Of pairs of sides: those of which one id of each is near the other."""
        reached = [any(itertools.starmap(near_by, itertools.product(*sides))) for sides in facts]
        return float(np.mean(reached)) if reached else None

    same = [pair for group in store.gold.groups for pair in itertools.combinations(sorted(group), 2)]
    duplicate = share([(frozenset([a]), frozenset([b])) for a, b in same])
    found = {"pairs": len(candidates), "floor": floor, "neighbours": neighbours}
    return found | {"duplicate": duplicate, "contradiction": share(store.gold.contradictions)}


def store_report(
    stores: Mapping[str, Sequence[LabelledStore]], scorers: Mapping[str, PairScorer], encoder: Encoder
) -> dict[str, dict[str, int]]:
    """Sums over the stores of each name, and over all worlds under `WORLDS`.

    Args:
        stores: By name, as `held_stores` gives them.
        scorers: By the name of a store, one that never saw it.
        encoder: Finds the candidates.
    """
    table = {}
    for name, members in stores.items():
        models = (Models("bundled", scorers[one.name], encoder, Settings()) for one in members)
        reports = map(evaluate_store, members, models)
        table[name] = _summed([_counts(report) for report in reports])
    table[WORLDS] = _summed([row for name, row in table.items() if name != STORES])
    return table


def _counts(report: Figures) -> dict[str, int]:
    """The counts of one store that the tables show."""
    same, against, pruned, asked = (
        report[part] for part in ("duplicates", "contradictions", "pruned", "shown_unsure")
    )
    return {
        "stores": 1,
        "memories": report["memories"],
        "duplicates": same["gold"],
        "removed": same["removed"],
        "reviewed": same["reviewed"],
        "wrongly_removed": len(report["wrongly_removed"]),
        "contradictions": against["gold"],
        "found": against["found"],
        "reported": against["reported"],
        "right": against["right"],
        "prunes": pruned["gold"],
        "prunes_right": pruned["right"],
        "prunes_wrong": len(pruned["wrong"]),
        "asked": asked["merges"] + asked["conflicts"],
        "asked_right": asked["duplicates"] + asked["contradictions"],
    }


def _summed(rows: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(row[key] for row in rows) for key in (rows[0] if rows else {})}


def _rounded(value: Any) -> Any:  # noqa: ANN401  (any part of a JSON object)
    """The same object with four decimals: more are noise."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
