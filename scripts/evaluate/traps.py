"""What merges by itself, of pairs that must not and of duplicates, before and after the rules of bindings.

    python scripts/evaluate/traps.py ../shared/data --scores .train/scores.json

A column for each set, duplicates ("same") and others apart; the rows of kinds of evidence say how many pairs
each keeps from merging, and in brackets how many it alone does. Scores are kept, since only they take time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from mem0_dream.models.doubts import DOUBTS
from mem0_dream.models.encoder import SentenceEncoder
from mem0_dream.models.registry import load_scorer
from mem0_dream.models.scorer import PairScorer, limits_for
from mem0_dream.pipeline.judging.judge import decide, differences
from mem0_dream.records import Label
from mem0_dream.scripts.evaluate.labelled import LabelledPair, block_pairs, exchange_pairs, read_files
from mem0_dream.scripts.evaluate.metrics import LABELS
from mem0_dream.scripts.evaluate.worlds import DUPLICATE, held_exchanges, read_exchanges, read_worlds

TRAPS = Path(__file__).parents[2] / "tests" / "models" / "traps.tsv"
OF_BINDINGS = DOUBTS | {"binding", "narrower", "stage", "hedge", "past", "extent"}
"""Kinds of evidence that are left out of the column "before"."""
OF_EACH_STYLE = 60  # pairs of the blocks of each file of worlds, drawn once
BATCH = 200
SOURCES = {
    "PAWS-X": "outside/pawsx_en_dev.jsonl", "real": "pairs/real_dev.jsonl", "hard": "pairs/dev.jsonl",
}  # fmt: skip
Scores = dict[str, list[float]]


def read_sets(data: Path) -> list[LabelledPair]:
    """All sets: the traps, those of the sources that the folder has, kept exchanges, and pairs of worlds."""
    rows = (line.split("\t") for line in TRAPS.read_text(encoding="utf-8").splitlines())
    pairs = [LabelledPair(a, b, LABELS.index(Label(label)), "traps") for label, a, b in rows]
    for source, file in SOURCES.items():
        found = read_files([data / file])[0] if (data / file).exists() else ()
        pairs += [replace(pair, source=source, category="") for pair in found]
    for one in held_exchanges(read_exchanges(data / "exchanges"))[1]:
        fact = one[0][0]
        pairs += [pair for pair in exchange_pairs(one) if pair.a == fact or pair.label != DUPLICATE]
    by_style: dict[tuple[str, int], list[LabelledPair]] = defaultdict(list)
    for world in read_worlds(data / "worlds"):
        for pair in block_pairs(world):
            by_style[pair.kind, pair.label].append(pair)
    rng = random.Random(17)  # noqa: S311  (a sample)
    for key in sorted(by_style):
        pairs += rng.sample(by_style[key], min(OF_EACH_STYLE, len(by_style[key])))
    return pairs


def _key(pair: LabelledPair) -> str:
    return f"{pair.a}\n{pair.b}"


def scored(pairs: Sequence[LabelledPair], scorer: PairScorer, kept: Path | None) -> Scores:
    """Cosine, three probabilities and two directions of entailment of each pair, by its texts."""
    known: Scores = {}
    if kept is not None and kept.exists():
        stored = json.loads(kept.read_text(encoding="utf-8"))
        known = stored["scores"] if stored["scorer"] == scorer.name else {}
    missing = list({_key(pair): pair for pair in pairs if _key(pair) not in known}.values())
    encoder = SentenceEncoder()
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        vectors = encoder.encode([text for pair in part for text in (pair.a, pair.b)])
        cosines = [float(cosine) for cosine in (vectors[::2] * vectors[1::2]).sum(axis=1)]
        scores = scorer.score([pair.scored(cosine) for pair, cosine in zip(part, cosines, strict=True)])
        rows = zip(part, cosines, scores.probabilities, scores.entailment, strict=True)
        known |= {_key(pair): [cosine, *map(float, row), *map(float, two)] for pair, cosine, row, two in rows}
        if kept is not None:
            kept.write_text(json.dumps({"scorer": scorer.name, "scores": known}), encoding="utf-8")
    return known


@dataclass(slots=True)
class Tally:
    """Pairs of one set, duplicates or others: how many merge by themselves, and what holds the rest."""

    pairs: int = 0
    before: int = 0
    after: int = 0
    holds: Counter[str] = field(default_factory=Counter)
    holds_alone: Counter[str] = field(default_factory=Counter)


def tallied(
    pairs: Sequence[LabelledPair], scores: Scores, scorer: PairScorer
) -> dict[tuple[str, bool], Tally]:
    """A tally for each set, of duplicates and of others."""
    tallies: dict[tuple[str, bool], Tally] = {}
    for pair in pairs:
        cosine, *rest = scores[_key(pair)]
        probabilities, entailment = rest[:3], rest[3:]
        texts = pair.scored(cosine)
        merges = partial(decide, probabilities, thresholds=limits_for(scorer, texts), entailment=entailment)
        tally = tallies.setdefault((pair.source, pair.label == DUPLICATE), Tally())
        tally.pairs += 1
        if not merges(())[1]:
            continue
        found = differences(texts, entailment=entailment)
        if merges([item for item in found if item.kind not in OF_BINDINGS])[1]:
            tally.before += 1
            tally.after += merges(found)[1]
            kinds = {item.kind for item in found if item.kind in OF_BINDINGS}
            tally.holds.update(kinds)
            tally.holds_alone.update(kinds if len(kinds) == 1 else ())
    return tallies


def table(tallies: dict[tuple[str, bool], Tally]) -> str:
    """The figures as a Markdown table; a kind that holds nothing in any set has no row."""
    columns = sorted(tallies)
    rows = [["", *(f"{source}, {'same' if same else 'other'}" for source, same in columns)]]
    rows.append(["---"] * len(rows[0]))
    rows.extend(
        [name, *(str(getattr(tallies[column], name)) for column in columns)]
        for name in ("pairs", "before", "after")
    )
    for kind in sorted(OF_BINDINGS):
        cells = [f"{tallies[column].holds[kind]} ({tallies[column].holds_alone[kind]})" for column in columns]
        if any(cell != "0 (0)" for cell in cells):
            rows.append([kind, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the sets, score them once, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with outside/, pairs/, exchanges/ and worlds/")
    parser.add_argument("--scores", type=Path, help="file that keeps the scores")
    parser.add_argument("--scorer", default="bundled")
    chosen = parser.parse_args(arguments)
    scorer = load_scorer(chosen.scorer)
    pairs = read_sets(chosen.data)
    sys.stdout.write(table(tallied(pairs, scored(pairs, scorer, chosen.scores), scorer)) + "\n")


if __name__ == "__main__":
    main()
