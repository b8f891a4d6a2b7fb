"""Measure a scorer on labelled pairs and stores: `python scripts/evaluate/quality.py FILE... --scorer NAME`.

Pairs (.jsonl), stores (.json) and worlds (.txt, many small stores) go through the very code that ships: the
same guards, thresholds, candidates and planner. Only `semhash`, which is not ours, judges as it does by
itself. The figures themselves are in `metrics`.
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
from mem0_dream.models.scorer import PairInput, limits_for
from mem0_dream.models.words import exact_key
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.inventory import Circumstances
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.planning.planner import build_plan
from mem0_dream.records import Candidate, Memory, Verdict
from mem0_dream.scripts.evaluate import plots
from mem0_dream.scripts.evaluate.labelled import LabelledPair, LabelledStore, moment, read_files
from mem0_dream.scripts.evaluate.metrics import (
    DECISIONS,
    LABELS,
    Decisions,
    Figures,
    kind_figures,
    pair_figures,
    store_figures,
)
from mem0_dream.scripts.evaluate.report import render
from mem0_dream.scripts.evaluate.semhash_scorer import SEMHASH, RememberingEncoder, SemHashScorer, judge_alone
from mem0_dream.settings import Settings

if TYPE_CHECKING:
    from mem0_dream.models.encoder import Encoder
    from mem0_dream.models.scorer import PairScorer, Thresholds
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Models:
    """What is measured.

    Attributes:
        alone: The scorer judges by itself, without our guards and exact copies.
    """

    spec: str
    scorer: PairScorer
    encoder: Encoder
    settings: Settings
    alone: bool = False

    def judge(self, candidates: Sequence[Candidate], memories: dict[str, Memory]) -> tuple[Verdict, ...]:
        """A verdict for each candidate, in the same order."""
        by = judge_alone if self.alone else judge
        return by(candidates, memories, self.scorer)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was decided about labelled pairs, in their order, and how long that took."""

    pairs: tuple[LabelledPair, ...]
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    decisions: Decisions
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        report = evaluate(options)
    except DreamError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(_rounded(report), indent=2) if options.json else render(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl|STORE.json|WORLDS.txt")
    parser.add_argument("--scorer", default="bundled", help=", ".join((*CHOICES, SEMHASH)))
    parser.add_argument("--encoder", help="another sentence-transformers model, folder or hub name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--weighted", action="store_true", help="count each pair by its field `weight`")
    parser.add_argument(
        "--by-kind",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="figures for each kind of pair",
    )
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="write PNG curves of each pairs file")
    parser.add_argument("--now", type=moment, help="reckon ages from this date, not from the store's own")
    return parser


def evaluate(options: argparse.Namespace) -> Figures:
    """Measure all files: the object that --json prints, before rounding."""
    if options.plots:
        plots.prepare(options.plots)
    pairs, stores = read_files(options.files)
    models = load_models(options.scorer, options.encoder)
    if stores and models.alone:
        raise UsageError(f"{models.spec} judges pairs only; leave out {stores[0].name}.")
    report: Figures = {"scorer": models.spec, "model": models.scorer.name, "encoder": models.encoder.name}
    report |= {"pairs": len(pairs), "weighted": options.weighted, "macro_f1": None, "labels": {}, "auto": {}}
    if pairs:
        measured = measure(pairs, models, weighted=options.weighted)
        report |= pairs_report(measured, models, by_kind=options.by_kind)
        if options.plots:
            report["plots"] = _plot(options.plots, measured, models)
    report["stores"] = {store.name: evaluate_store(store, models, now=options.now) for store in stores}
    return report


def load_models(spec: str, encoder: str | None = None) -> Models:
    """The scorer that a name means and the encoder that goes with it.

    Raises:
        UsageError: If no scorer has this name.
        MissingExtraError: If it needs a package that is not installed.
    """
    model = load_encoder(encoder, scorer=spec)
    if spec == SEMHASH:
        remembering = RememberingEncoder(model)
        return Models(spec, SemHashScorer(remembering), remembering, Settings(scorer=spec), alone=True)
    return Models(spec, load_scorer(spec), model, Settings(scorer=spec))


def measure(pairs: Sequence[LabelledPair], models: Models, *, weighted: bool) -> Measured:
    """Judge labelled pairs as the program judges candidates."""
    memories = {memory.id: memory for pair in pairs for memory in (pair.a, pair.b)}
    candidates = _as_candidates(pairs, models.encoder)
    models.judge(candidates[:1], memories)  # loads the model before the clock starts
    start = time.perf_counter()
    verdicts = models.judge(candidates, memories)
    seconds = time.perf_counter() - start
    decisions = Decisions(
        gold=np.array([LABELS.index(pair.label) for pair in pairs]),
        decided=np.array([DECISIONS.index(verdict.label) for verdict in verdicts]),
        auto=np.array([verdict.auto for verdict in verdicts]),
        probabilities=np.array([verdict.probabilities for verdict in verdicts], dtype=np.float64),
        weight=np.array([pair.weight if weighted else 1.0 for pair in pairs]),
        group=np.unique([f"{pair.source}/{pair.group}" for pair in pairs], return_inverse=True)[1],
    )
    return Measured(tuple(pairs), tuple(candidates), verdicts, decisions, seconds)


def pairs_report(measured: Measured, models: Models, *, by_kind: bool) -> Figures:
    """All figures of labelled pairs."""
    decisions, threshold = measured.decisions, _limits(models).auto
    figures = pair_figures(decisions, threshold=threshold)
    judged = zip(measured.pairs, measured.verdicts, strict=True)
    figures["auto"]["false_merge_ids"] = [pair.name for pair, v in judged if v.auto and pair.label != v.label]
    figures["candidates"] = _reachable(measured.candidates, decisions, floor=models.settings.floor)
    figures["latency"] = {
        "seconds": measured.seconds,
        "pairs_per_second": len(decisions) / measured.seconds,
    }
    figures["sets"] = {
        name: pair_figures(decisions.where(rows), threshold=threshold)
        for name, rows in _sets(measured.pairs).items()
    }
    if by_kind:
        figures["kinds"] = kind_figures(decisions, [pair.kind for pair in measured.pairs])
    return figures


def _limits(models: Models) -> Thresholds:
    """The thresholds of pairs of which no store is known."""
    return limits_for(models.scorer, PairInput("", "", 0.0))


def _sets(pairs: Sequence[LabelledPair]) -> dict[str, NDArray[np.bool_]]:
    """Rows of each file, and of each style in a file, wherever there is more than one."""
    sets = {}
    sources = np.array([pair.source for pair in pairs])
    styles = np.array([pair.style for pair in pairs])
    for source in (names := np.unique(sources).tolist()):
        of_source = sources == source
        if len(names) > 1:
            sets[source] = of_source
        inside = np.unique(styles[of_source]).tolist()
        if len(inside) > 1:
            sets |= {f"{source}/{style}": of_source & (styles == style) for style in inside}
    return sets


def _plot(folder: Path, measured: Measured, models: Models) -> list[str]:
    """Curves of each file; the paths that were written."""
    sources = np.array([pair.source for pair in measured.pairs])
    return [
        str(path)
        for source in np.unique(sources).tolist()
        for path in plots.write(
            folder,
            measured.decisions.where(sources == source),
            scorer=models.spec,
            name=source,
            thresholds=_limits(models),
        )
    ]


def _as_candidates(pairs: Sequence[LabelledPair], encoder: Encoder) -> list[Candidate]:
    texts = sorted({memory.text for pair in pairs for memory in (pair.a, pair.b)})
    row = {text: number for number, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    candidates = []
    for pair in pairs:
        cosine = np.dot(vectors[row[pair.a.text]].astype(np.float64), vectors[row[pair.b.text]])
        exact = exact_key(pair.a.text) == exact_key(pair.b.text)
        candidates.append(
            Candidate(pair.a.id, pair.b.id, 1.0 if exact else float(np.float32(cosine)), exact=exact)
        )
    return candidates


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

    def _any_reached(older: frozenset[str], newer: frozenset[str]) -> bool:
        return any(_reached(a, b) for a in older for b in newer)

    duplicates = [pair for group in store.gold.groups for pair in itertools.combinations(sorted(group), 2)]
    return {
        "pairs": len(candidates),
        "floor": floor,
        "neighbours": neighbours,
        "duplicate": float(np.mean([_reached(*pair) for pair in duplicates])) if duplicates else None,
        "contradiction": (
            float(np.mean([_any_reached(*sides) for sides in store.gold.contradictions]))
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
