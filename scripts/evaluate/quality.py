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
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from mem0_dream.scripts.evaluate.labelled import STORES, LabelledPair, LabelledStore, moment, read_files
from mem0_dream.scripts.evaluate.metrics import (
    DECISIONS,
    LABELS,
    Decisions,
    Figures,
    kind_figures,
    pair_figures,
    store_figures,
)
from mem0_dream.scripts.evaluate.semhash_scorer import SEMHASH, RememberingEncoder, SemHashScorer, judge_alone
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
    parser.add_argument("--weighted", action="store_true", help="count each pair by its field `weight`")
    either_way = argparse.BooleanOptionalAction
    parser.add_argument("--by-kind", action=either_way, default=True, help="figures for each kind of pair")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="write PNG curves of each pairs file")
    parser.add_argument("--now", type=moment, help="reckon ages from this date, not from the store's own")
    options = parser.parse_args(arguments)
    try:
        report = evaluate(options)
    except DreamError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(_rounded(report), indent=2) if options.json else render(report))
    return 0


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
            report["plots"] = [
                str(path)
                for name, rows in measured.rows(lambda pair: pair.source).items()
                for path in plots.write(
                    options.plots, measured.decisions.where(rows), scorer=models.spec, name=name,
                    thresholds=models.limits,
                )
            ]  # fmt: skip
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
        weight=np.array([pair.weight if weighted else 1.0 for pair in pairs]),
        group=np.unique([f"{pair.source}/{pair.group}" for pair in pairs], return_inverse=True)[1],
    )
    return Measured(tuple(pairs), tuple(candidates), verdicts, decisions, seconds)


def pairs_report(measured: Measured, models: Models, *, by_kind: bool) -> Figures:
    """All figures of labelled pairs; sets are files, and styles in a file, where there are several."""
    decisions, threshold, floor = measured.decisions, models.limits.auto, models.settings.floor
    figures = pair_figures(decisions, threshold=threshold)
    judged = zip(measured.pairs, measured.verdicts, strict=True)
    figures["auto"]["false_merge_ids"] = [pair.name for pair, v in judged if v.auto and pair.label != 0]
    near = np.array([pair.exact or pair.cosine >= floor for pair in measured.candidates])
    figures["candidates"] = {"floor": floor}
    for row, label in enumerate(LABELS[:2]):
        rows = decisions.gold == row
        share = np.average(near[rows], weights=decisions.weight[rows]) if rows.any() else None
        figures["candidates"][label.value] = None if share is None else float(share)
    rate = len(decisions) / measured.seconds
    figures["latency"] = {"seconds": measured.seconds, "pairs_per_second": rate}
    figures["sets"] = {}
    sources, styles = measured.rows(lambda pair: pair.source), measured.rows(lambda pair: pair.style)
    for source, of_source in sources.items():
        inside = {f"{source}/{style}": of_source & rows for style, rows in styles.items()}
        inside = {name: rows for name, rows in inside.items() if rows.any()}
        sets = ({source: of_source} if len(sources) > 1 else {}) | (inside if len(inside) > 1 else {})
        for name, rows in sets.items():
            figures["sets"][name] = pair_figures(decisions.where(rows), threshold=threshold)
    if by_kind:
        figures["kinds"] = kind_figures(decisions, [pair.kind for pair in measured.pairs])
    return figures


def evaluate_store(store: LabelledStore, models: Models, *, now: datetime | None) -> Figures:
    """All figures of one labelled store, from the plan that the program would make."""
    start = time.perf_counter()
    plan = build_plan(
        store.inventory, store=InMemoryStore(), encoder=models.encoder, scorer=models.scorer,
        settings=models.settings, now=now or store.now or datetime.now(UTC),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    figures = {"memories": len(store.inventory.memories), **store_figures(plan, store.gold)}
    figures["candidates"] = _candidate_recall(store, models)
    figures["latency"] = {"seconds": seconds}
    return figures


def _candidate_recall(store: LabelledStore, models: Models) -> Figures:
    """Share of gold pairs that become candidates; a copy is reached through the one that stands for it."""
    living = [memory for memory in store.inventory.memories if not memory.pinned]
    vectors = models.encoder.encode([memory.text for memory in living])
    limits = {"floor": models.settings.floor, "neighbours": models.settings.neighbours}
    candidates = find_candidates(living, vectors, **limits)  # type: ignore[arg-type]
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
    contradiction = share(store.gold.contradictions)
    return {"pairs": len(candidates), **limits, "duplicate": duplicate, "contradiction": contradiction}


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
        reports = (evaluate_store(one, each, now=None) for one, each in zip(members, models, strict=True))
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


def render(report: Figures) -> str:
    """The whole report as text."""
    lines = [f"scorer {report['model']}, encoder {report['encoder']}"]
    if report["pairs"]:
        lines += ["", *_of_pairs(report), *_of_sets(report["sets"]), *_of_kinds(report.get("kinds", {}))]
        lines += ["", *(f"written: {path}" for path in report["plots"])] if "plots" in report else []
    for name, figures in report["stores"].items():
        lines += ["", *_of_store(name, figures)]
    return "\n".join(lines)


def _row(name: str, cells: Sequence[object], first: int = 15, width: int = 15) -> str:
    return f"{name:<{first}}" + "".join(f"{cell:>{width}}" for cell in cells)


def _of_labels(figures: Figures) -> Iterator[str]:
    yield _row("label", ("precision", "recall", "F1", "support"))
    for label, row in figures["labels"].items():
        shares = (_share(row[name]) for name in ("precision", "recall", "f1"))
        yield _row(label, (*shares, f"{row['support']:.0f}"))


def _of_pairs(figures: Figures) -> Iterator[str]:
    def near(name: str) -> str:
        return "[{:.3f}, {:.3f}]".format(*figures["intervals"][name])

    weight = "" if figures["weight"] == figures["pairs"] else f", standing for {figures['weight']:.0f}"
    f1 = f"{_share(figures['macro_f1'])} {near('macro_f1')}"
    yield f"{figures['pairs']} pairs{weight}: macro-F1 of the most probable label {f1}"
    yield from _of_labels(figures)
    decided, auto, ece = figures["decided"], figures["auto"], figures["ece"]
    yield f"as decided, with unsure as distinct: macro-F1 {_share(decided['macro_f1'])}"
    yield from _of_labels(decided)
    yield _row("gold / decided", DECISIONS)
    for label, row in decided["confusion"].items():
        yield _row(label, [f"{row[name]:.0f}" for name in DECISIONS])
    precision = f"precision {_share(auto['precision'])} {near('auto_precision')}"
    recall = f"recall {_share(auto['recall'])} {near('auto_recall')}"
    wrong = f"{auto['false_merges']:.0f} of {auto['non_duplicates']:.0f} pairs that are no duplicates"
    yield f"auto-merge at {_share(auto['threshold'])}: {precision}, {recall}, merges {wrong}"
    conflict, opposed = decided["labels"]["contradiction"], "none of the contradictions"
    if conflict["precision"] or conflict["recall"]:
        opposed = f"precision {_share(conflict['precision'])} {near('contradiction_precision')}"
        opposed += f", recall {_share(conflict['recall'])} {near('contradiction_recall')}"
    yield f"conflicts reported: {opposed}"
    yield f"calibration error {_share(ece['label'])}, of duplicates {_share(ece['duplicate'])}"
    rate, floor = figures["latency"]["pairs_per_second"], figures["candidates"]["floor"]
    yield f"{rate:.0f} pairs judged per second; above the floor of {floor}: {_above(figures)}"


def _of_sets(sets: Figures) -> Iterator[str]:
    """One line for each set; everything else about it is in the JSON output."""
    if sets:
        columns = ("pairs", "macro-F1", "auto prec.", "recall", "false", "confl. prec.", "recall", "ECE")
        yield from ("", _row("set", columns, 24, 13))
    for name, part in sets.items():
        auto, conflict = part["auto"], part["decided"]["labels"]["contradiction"]
        shares = [part["macro_f1"], auto["precision"], auto["recall"]]
        shares += [conflict["precision"], conflict["recall"], part["ece"]["label"]]
        cells = [_share(value) for value in shares]
        yield _row(name, [part["pairs"], *cells[:3], f"{auto['false_merges']:.0f}", *cells[3:]], 24, 13)


def _of_kinds(kinds: Figures) -> Iterator[str]:
    if kinds:
        yield from ("", _row("kind", ("pairs", "right", "auto"), 36, 8))
    for name, row in kinds.items():
        yield _row(name, (row["pairs"], _share(row["right"]), _share(row["auto"])), 36, 8)


def _of_store(name: str, figures: Figures) -> Iterator[str]:
    same, against, pruned = figures["duplicates"], figures["contradictions"], figures["pruned"]
    near, unsure, wrong = figures["candidates"], figures["shown_unsure"], figures["wrongly_removed"]
    parts = f"{figures['merges']} merges, {figures['conflicts']} conflicts, {figures['prunes']} prunes"
    yield f"-- store {name}: {figures['memories']} memories, {parts}, {figures['latency']['seconds']:.1f} s"
    yield f"duplicates removed: {same['removed']} of {same['gold']} ({_share(same['share'])})"
    yield f"wrongly removed: {len(wrong)}, of those to keep {len(figures['kept_violated'])}{_listed(wrong)}"
    found = f"{against['found']} of {against['gold']} ({_share(against['share'])})"
    precision = f"{against['reported']} reported, precision {_share(against['precision'])}"
    yield f"contradictions found: {found}; {precision}"
    missed = f"missed {len(pruned['missed'])}{_listed(pruned['missed'])}"
    yield f"prunes right: {pruned['right']} of {pruned['gold']}, {missed}"
    yield f"prunes wrong: {len(pruned['wrong'])}{_listed(pruned['wrong'])}"
    merges = f"{unsure['merges']} merges ({unsure['duplicates']} right)"
    yield f"left to a person: {merges}, {unsure['conflicts']} conflicts ({unsure['contradictions']} right)"
    limits = f"floor {near['floor']}, {near['neighbours']} neighbours"
    yield f"candidates: {near['pairs']} at {limits}; among them {_above(figures)}"


def _above(figures: Figures) -> str:
    near = figures["candidates"]
    return f"duplicates {_share(near['duplicate'])}, contradictions {_share(near['contradiction'])}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _listed(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if ids else ""


if __name__ == "__main__":
    sys.exit(main())
