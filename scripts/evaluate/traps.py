"""What merges by itself, of pairs that must not and of duplicates, before and after the rules of bindings.

    python scripts/evaluate/traps.py ../shared/data

The rows of kinds of evidence say how many pairs each keeps from merging, and in brackets how many alone.
"""

import random
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mem0_dream.models.doubts import DOUBTS
from mem0_dream.pipeline.judging.judge import decide
from mem0_dream.records import Label
from mem0_dream.scripts.evaluate import labelled
from mem0_dream.scripts.evaluate.labelled import DUPLICATE, LabelledPair
from mem0_dream.scripts.evaluate.metrics import LABELS, markdown
from mem0_dream.scripts.evaluate.quality import Measured, Models, load_models, measure

TRAPS = Path(__file__).parents[2] / "tests" / "models" / "traps.tsv"
OF_BINDINGS = DOUBTS | {"binding", "narrower", "stage", "hedge", "past", "extent"}
"""Kinds of evidence that are left out of the column "before"."""
OF_EACH_STYLE = 60  # pairs of the blocks of each file of worlds, drawn once
SOURCES = {
    "PAWS-X": "outside/pawsx_en_dev.jsonl", "real": "pairs/real_dev.jsonl", "hard": "pairs/dev.jsonl",
}  # fmt: skip


def read_sets(data: Path) -> list[LabelledPair]:
    """All sets: the traps, those of the sources that the folder has, kept exchanges, and pairs of worlds."""
    rows = (line.split("\t") for line in TRAPS.read_text(encoding="utf-8").splitlines())
    pairs = [LabelledPair(a, b, LABELS.index(Label(label)), "traps") for label, a, b in rows]
    for source, file in SOURCES.items():
        found = labelled.read_files([data / file])[0] if (data / file).exists() else ()
        pairs += [replace(pair, source=source, category="") for pair in found]
    for one in labelled.read_exchanges(data / "exchanges")[1]:
        fact = one[0][0]
        pairs += [pair for pair in labelled.exchange_pairs(one) if pair.a == fact or pair.label != DUPLICATE]
    by_style: dict[tuple[str, int], list[LabelledPair]] = defaultdict(list)
    for world in labelled.read_worlds(data / "worlds"):
        for pair in labelled.block_pairs(world):
            by_style[pair.kind, pair.label].append(pair)
    rng = random.Random(17)  # noqa: S311  (a sample)
    for _, some in sorted(by_style.items()):
        pairs += rng.sample(some, min(OF_EACH_STYLE, len(some)))
    return pairs


def tallied(measured: Measured, models: Models) -> dict[tuple[str, bool], Counter[str]]:
    """For each set, of duplicates and of others: pairs, merges before and after, and what holds the rest."""
    tallies: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for pair, verdict in zip(measured.pairs, measured.verdicts, strict=True):
        tally = tallies[pair.source, pair.label == DUPLICATE]
        tally["pairs"] += 1
        kinds = {item.kind for item in verdict.evidence if item.kind in OF_BINDINGS}
        others = [item for item in verdict.evidence if item.kind not in OF_BINDINGS]
        if verdict.auto:
            tally.update(("before", "after"))
        elif decide(verdict.probabilities, others, models.limits, entailment=verdict.entailment)[1]:
            tally.update(("before", *kinds))
            tally.update(f"{kind} alone" for kind in kinds if len(kinds) == 1)
    return tallies


def table(tallies: dict[tuple[str, bool], Counter[str]]) -> str:
    """The figures as a Markdown table; a kind that holds nothing in any set has no row."""
    columns = sorted(tallies)
    some = [tallies[column] for column in columns]
    rows: list[list[object]] = [["", *(f"{name}, {'same' if same else 'other'}" for name, same in columns)]]
    rows += ([name, *(tally[name] for tally in some)] for name in ("pairs", "before", "after"))
    for kind in sorted(OF_BINDINGS):
        if any(tally[kind] for tally in some):
            rows.append([kind, *(f"{tally[kind]} ({tally[f'{kind} alone']})" for tally in some)])
    return markdown(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the sets, judge them, and print the table."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with outside/, pairs/, exchanges/ and worlds/")
    parser.add_argument("--scorer", default="bundled")
    chosen = parser.parse_args(arguments)
    models = load_models(chosen.scorer)
    sys.stdout.write(table(tallied(measure(read_sets(chosen.data), models), models)) + "\n")


if __name__ == "__main__":
    main()
