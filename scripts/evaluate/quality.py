"""Measure a scorer on labelled pairs and stores: `python scripts/evaluate/quality.py FILE... --scorer NAME`.

Pairs (.jsonl), stores (.json) and worlds (.txt, many small stores) go through the very code that ships: the
same guards, thresholds, candidates and planner. Only `semhash` (PyPI), which is not ours, judges as it does
by itself. Each pair counts by its field `weight`. The figures themselves are in `metrics`.
"""

import itertools
import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from mem0_dream.errors import DreamError, MissingExtraError, UsageError
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.keywords import NEVER
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer
from mem0_dream.models.scorer import PairInput, PairScorer, PairScores, Thresholds, limits_for
from mem0_dream.models.text.words import exact_key
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.judge import decide, judge, pair_input
from mem0_dream.pipeline.kinds import build_plan
from mem0_dream.records import Candidate, Memory, Scope, Verdict
from mem0_dream.scripts.evaluate import metrics
from mem0_dream.scripts.evaluate.labelled import STORES, LabelledPair, LabelledStore, read_files
from mem0_dream.scripts.evaluate.metrics import DECISIONS, LABELS, Decisions, Figures
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from numpy.typing import NDArray

WORLDS = "worlds"
SEMHASH = "semhash"


def load_semhash() -> Any:  # noqa: ANN401  (a class of an optional package)
    """Its class, or a MissingExtraError."""
    try:
        from semhash import SemHash
    except ImportError as error:
        raise MissingExtraError(
            "SemHash is not installed; install it with: pip install 'mem0-dream[semhash]'"
        ) from error
    return SemHash


class SemHashScorer:
    """Duplicate, with probability 1, if SemHash would drop one of the texts at its own threshold (0.9)."""

    thresholds = Thresholds(auto=1.0, duplicate=1.0, contradiction=NEVER)

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._class = encoder, load_semhash()
        self.name = f"semhash-{metadata.version(SEMHASH)}"

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Run SemHash once for each pair; each text is encoded once."""
        vectors = _vectors(pairs, self._encoder)
        same = np.zeros(len(pairs), dtype=np.float32)
        for at, (a, b) in enumerate((pair.a, pair.b) for pair in pairs):
            both = self._class.from_embeddings(np.stack([vectors[a], vectors[b]]), [a, b], model=None)
            same[at] = bool(both.self_deduplicate().filtered)
        probabilities = np.stack([same, 0 * same, 1 - same], axis=1)  # columns of `LABELS`
        return PairScores(probabilities, np.repeat(same[:, None], 2, axis=1))


def judge_alone(
    candidates: Sequence[Candidate], memories: Mapping[str, Memory], scorer: PairScorer
) -> tuple[Verdict, ...]:
    """Verdicts by a scorer's probabilities and thresholds alone: no guards, no exact copies of ours."""
    scores = scorer.score([pair_input(pair, memories) for pair in candidates])
    said = zip(candidates, scores.probabilities.tolist(), scores.entailment.tolist(), strict=True)
    return tuple(
        Verdict(pair, *decide(row, (), scorer.thresholds), tuple(row), tuple(ways))
        for pair, row, ways in said
    )


def _vectors(pairs: Sequence[PairInput] | Sequence[LabelledPair], encoder: Encoder) -> dict[str, Any]:
    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    return dict(zip(texts, encoder.encode(texts), strict=True))


@dataclass(frozen=True, slots=True)
class Models:
    """What is measured; `alone` is a scorer that judges by itself, without our guards and exact copies."""

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
    """What was decided about labelled pairs, in their order."""

    pairs: tuple[LabelledPair, ...]
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    decisions: Decisions

    def rows(self, of_pair: Callable[[LabelledPair], str]) -> dict[str, NDArray[np.bool_]]:
        """The rows of each value that something of a pair has."""
        values = np.array([of_pair(pair) for pair in self.pairs])
        return {str(value): values == value for value in np.unique(values)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl|STORE.json|WORLDS.txt")
    parser.add_argument("--scorer", default="bundled", help=", ".join((*CHOICES, SEMHASH)))
    parser.add_argument("--encoder", help="another sentence-transformers model, folder or hub name")
    options = parser.parse_args(arguments)
    try:
        whole = json.dumps(evaluate(options.files, options.scorer, options.encoder))
        rounded = json.loads(whole, parse_float=lambda digits: round(float(digits), 4))  # more are noise
        print(json.dumps(rounded, indent=2))
    except DreamError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def evaluate(files: Sequence[Path], scorer: str, encoder: str | None = None) -> Figures:
    """Measure all files: the object that is printed, before rounding."""
    (pairs, stores), models = read_files(files), load_models(scorer, encoder)
    if stores and models.alone:
        raise UsageError(f"{scorer} judges pairs only; leave out {stores[0].name}.")
    report: Figures = {"scorer": scorer, "model": models.scorer.name, "encoder": models.encoder.name}
    report |= pairs_report(measure(pairs, models), models) if pairs else {"pairs": 0}
    return report | {"stores": {store.name: evaluate_store(store, models) for store in stores}}


def load_models(spec: str, encoder: str | None = None) -> Models:
    """The scorer that a name means and the encoder that goes with it; a DreamError if there is none."""
    model, alone = load_encoder(encoder, scorer=spec), spec == SEMHASH
    scorer = SemHashScorer(model) if alone else load_scorer(spec)
    return Models(scorer, model, Settings(scorer=spec), alone)


def measure(pairs: Sequence[LabelledPair], models: Models) -> Measured:
    """Judge labelled pairs as the program judges candidates."""
    vector = _vectors(pairs, models.encoder)
    memories, candidates = dict[str, Memory](), list[Candidate]()
    for number, pair in enumerate(pairs):
        scope = Scope.of(user_id=pair.group or pair.source)  # what it says of names counts
        ids = f"{number:07}a", f"{number:07}b"
        for name, text, day in zip(ids, (pair.a, pair.b), (pair.a_date, pair.b_date), strict=True):
            memories[name] = Memory(name, text, scope, category=pair.category or None, created_at=day)
        cosine = float(np.float32(np.dot(vector[pair.a].astype(np.float64), vector[pair.b])))
        exact = exact_key(pair.a) == exact_key(pair.b)
        candidates.append(Candidate(*ids, 1.0 if exact else cosine, exact=exact))
    by = judge_alone if models.alone else judge
    verdicts = by(candidates, memories, models.scorer)
    decisions = Decisions(
        gold=np.array([pair.label for pair in pairs]),
        decided=np.array([DECISIONS.index(verdict.label) for verdict in verdicts]),
        auto=np.array([verdict.auto for verdict in verdicts]),
        probabilities=np.array([verdict.probabilities for verdict in verdicts], dtype=np.float64),
        weight=np.array([pair.weight for pair in pairs]),
        group=np.unique([f"{pair.source}/{pair.group}" for pair in pairs], return_inverse=True)[1],
    )
    return Measured(tuple(pairs), tuple(candidates), verdicts, decisions)


def pairs_report(measured: Measured, models: Models) -> Figures:
    """All figures of labelled pairs; sets are files, and styles in a file, where there are several."""
    decisions, threshold, floor = measured.decisions, models.limits.auto, models.settings.floor
    figures = metrics.pair_figures(decisions, threshold=threshold)
    judged = zip(measured.pairs, measured.verdicts, strict=True)
    figures["auto"]["false_merge_ids"] = [pair.name for pair, v in judged if v.auto and pair.label != 0]
    near = np.array([pair.exact or pair.cosine >= floor for pair in measured.candidates])
    sets, figures["candidates"] = dict[str, NDArray[np.bool_]](), {"floor": floor}
    for row, label in enumerate(LABELS[:2]):
        rows = decisions.gold == row
        share = float(np.average(near[rows], weights=decisions.weight[rows])) if rows.any() else None
        figures["candidates"][label.value] = share
    sources = measured.rows(lambda pair: pair.source)
    styles = measured.rows(lambda pair: pair.name.partition("-")[0] if "-" in pair.name else "")
    for source, rows in sources.items():
        inside = {f"{source}/{style}": rows & some for style, some in styles.items() if (rows & some).any()}
        sets |= ({source: rows} if len(sources) > 1 else {}) | (inside if len(inside) > 1 else {})
    kinds: Figures = {}
    for kind, rows in measured.rows(lambda pair: f"{LABELS[pair.label]}/{pair.kind}").items():
        some = decisions.where(rows)
        right, auto = (float(np.average(x, weights=some.weight)) for x in (some.best == some.gold, some.auto))
        kinds[kind] = {"pairs": len(some), "right": right, "auto": auto}
    parts = {name: decisions.where(rows) for name, rows in sets.items()}
    of_sets = {name: metrics.pair_figures(part, threshold=threshold) for name, part in parts.items()}
    return figures | {"sets": of_sets, "kinds": kinds}


def evaluate_store(store: LabelledStore, models: Models) -> Figures:
    """All figures of one labelled store, from the plan that the program would make."""
    plan = build_plan(
        store.inventory, store=InMemoryStore(), encoder=models.encoder, scorer=models.scorer,
        settings=models.settings, now=store.now or datetime.now(UTC),
    )  # fmt: skip
    living = [memory for memory in store.inventory.memories if not memory.pinned]
    vectors = models.encoder.encode([memory.text for memory in living])
    floor, neighbours = models.settings.floor, models.settings.neighbours
    candidates = find_candidates(living, vectors, floor=floor, neighbours=neighbours)
    stands_for = {pair.b: pair.a for pair in candidates if pair.exact}
    near = {frozenset((pair.a, pair.b)) for pair in candidates}

    def share(facts: Iterable[tuple[Iterable[str], Iterable[str]]]) -> float | None:
        """Of pairs of sides: those of which one id of each, or what it is a copy of, is near the other."""
        ends = ([{stands_for.get(x, x) for x in ids} for ids in itertools.product(*sides)] for sides in facts)
        reached = [any(len(each) == 1 or frozenset(each) in near for each in some) for some in ends]
        return float(np.mean(reached)) if reached else None

    same = (pair for group in store.gold.groups for pair in itertools.combinations(sorted(group), 2))
    found: Figures = {"pairs": len(candidates), "floor": floor, "neighbours": neighbours}
    found["duplicate"] = share(([a], [b]) for a, b in same)
    found["contradiction"] = share(store.gold.contradictions)
    figures = {"memories": len(store.inventory.memories), **metrics.store_figures(plan, store.gold)}
    return figures | {"candidates": found}


def store_report(
    stores: Mapping[str, Sequence[LabelledStore]], scorers: Mapping[str, PairScorer], encoder: Encoder
) -> dict[str, dict[str, int]]:
    """Sums over the stores of each name, and of all worlds; `scorers` has, by name, one that never saw it."""
    table = {}
    for name, members in stores.items():
        judged = ((one, Models(scorers[one.name], encoder, Settings())) for one in members)
        table[name] = _summed([{"stores": 1, **evaluate_store(*one)} for one in judged])
    table[WORLDS] = _summed([row for name, row in table.items() if name != STORES])
    return table


def _summed(rows: Sequence[Figures]) -> dict[str, int]:
    counts = [{name: len(x) if isinstance(x, list) else x for name, x in row.items()} for row in rows]
    first = counts[0] if counts else {}
    return {name: sum(row[name] for row in counts) for name, x in first.items() if isinstance(x, int)}


if __name__ == "__main__":
    sys.exit(main())
