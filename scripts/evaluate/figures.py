"""Prints the quality tables of the README as Markdown: `make figures DATA=...`.

DATA holds `pairs/dev.jsonl` (hard pairs), `pairs/real_dev.jsonl` (real ones, counted by their weight),
`stores/*.json` and, if there are any, `worlds/w*.txt`, of which those count that the network never saw, and
`outside/`: sets of others. The calibrator of `bundled` is fitted on all but the last, so its rows show what
was cross-validated; --held-out measures it, too, which is honest on data that no fitting ever saw. --bindings
tells of the traps beside the tests, and of DATA's sets, what merges by itself before and after the rules of
bindings: how many pairs each kind of evidence keeps from merging, and in brackets how many alone.
"""

import json
import random
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from mem0_dream.errors import DreamError, UsageError
from mem0_dream.models.bundled.scorer import FOLDER
from mem0_dream.models.bundled.weights import CONFIG_FILE
from mem0_dream.models.doubts import DOUBTS
from mem0_dream.models.keywords import DUPLICATE_COSINE
from mem0_dream.models.registry import CHOICES
from mem0_dream.models.scorer import DUPLICATE
from mem0_dream.pipeline.judging.judge import decide
from mem0_dream.records import Label
from mem0_dream.scripts.evaluate import labelled, quality
from mem0_dream.scripts.evaluate.labelled import STORES, LabelledPair, LabelledStore, held_stores, read_files
from mem0_dream.scripts.evaluate.metrics import LABELS, markdown
from mem0_dream.scripts.evaluate.quality import SEMHASH, WORLDS

BUNDLED = "bundled"
ROWS = ("keywords", "cosine", SEMHASH, BUNDLED)
Rows = list[Sequence[object]]
_PAIR_FILES = {"hard": "dev.jsonl", "real": "real_dev.jsonl"}
_PAIR_COLUMNS = ("merged by itself: precision, recall", "merged, though no duplicates")
_STORE_COLUMNS = {
    "duplicates removed": "{removed} of {duplicates}",
    "with a person's yes": "{reviewed} of {duplicates}",
    "wrongly removed": "{wrongly_removed}",
    "contradictions found": "{found} of {contradictions}",
    "reports right": "{right} of {reported}",
    "questions right": "{asked_right} of {asked}",
    "prunes right, wrong": "{prunes_right} of {prunes}, {prunes_wrong}",
}
_OUTSIDE_COLUMNS = (
    "PAWS-X, no paraphrases: merged by itself", "paraphrases merged", "BEAM: contradictions reported",
    "FactConsolidation: conflicts found", "reports right", "wrongly removed",
)  # fmt: skip
TRAPS = Path(__file__).parents[2] / "tests" / "models" / "traps.tsv"
_OF_BINDINGS = DOUBTS | {"binding", "narrower", "stage", "hedge", "past", "extent"}  # left out "before"
_OF_EACH_STYLE = 60  # pairs of the blocks of each file of worlds, drawn once


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with pairs/, stores/ and worlds/")
    known = ", ".join((*CHOICES, SEMHASH))
    parser.add_argument("--scorer", action="append", help=f"rows: {known}; default: the README's")
    parser.add_argument("--held-out", action="store_true", help="measure `bundled` on these pairs")
    parser.add_argument("--no-stores", action="store_true", help="print the table of pairs only")
    parser.add_argument("--bindings", action="store_true", help="what the rules of bindings hold back")
    options = parser.parse_args(arguments)
    try:
        for number, table in enumerate(tables(options)):
            print("\n" * bool(number) + markdown(table), flush=True)
    except DreamError as error:
        print(f"figures: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def tables(options: Namespace) -> Iterator[Rows]:
    """All tables, each with its head, as they become known."""
    if options.bindings:
        for spec in options.scorer or [BUNDLED]:
            models = quality.load_models(spec)
            yield bindings_table(quality.measure(_trapping(options.data), models), models)
        return
    scorers, held_out = options.scorer or list(ROWS), options.held_out
    pairs = {name: read_files([options.data / "pairs" / file])[0] for name, file in _PAIR_FILES.items()}
    yield pair_table(pairs, scorers, held_out=held_out)
    if not options.no_stores:
        yield from store_tables(held_stores(options.data), scorers, held_out=held_out)
    names = ("pawsx_en_dev.jsonl", "beam_dev.jsonl", "factcon_6k.json")
    files = [options.data / "outside" / name for name in names]
    if all(file.is_file() for file in files):
        yield outside_table(files, scorers)


def _name(spec: str) -> str:
    if spec == SEMHASH:
        return f"SemHash {metadata.version(SEMHASH)}, its default threshold, MiniLM embeddings"
    return f"`{spec}` ({DUPLICATE_COSINE})" if spec == "cosine" else f"`{spec}`"


def _validated(spec: str, *names: str) -> dict[str, Any] | None:
    """The cross-validated figures beside the weights that a name means; None where it means other scorers."""
    kind, _, folder = spec.partition(":")
    if kind != BUNDLED:
        return None
    path = (Path(folder).expanduser() if folder else FOLDER) / CONFIG_FILE
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["cross_validated"]
        return figures | {name: figures[name] for name in names}
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} holds no cross-validated figures: {error!r}.") from error


def pair_table(pairs: Mapping[str, list[LabelledPair]], scorers: Sequence[str], *, held_out: bool) -> Rows:
    """A row for each scorer: how good its most probable label is, and what it would merge by itself."""
    head = [column for name in pairs for column in (f"{name} pairs: macro-F1", *_PAIR_COLUMNS)]
    table: Rows = [["", *head]]
    for spec in scorers:
        validated = None if held_out else _validated(spec, *pairs)
        models = None if validated else quality.load_models(spec)
        row: list[object] = [_name(spec)]
        for name, rows in pairs.items():
            duplicates = sum(pair.weight for pair in rows if pair.label == 0)
            others = sum(pair.weight for pair in rows) - duplicates
            if models is None:
                found = (validated or {})[name]
                precision, recall = shares = found["auto_precision"], found["auto_recall"]
                # Of r duplicates merged at precision p, r (1 - p) / p others were merged; 0 says nothing.
                wrong = recall * duplicates * (1 - precision) / precision if precision else None
            else:
                found = quality.pairs_report(quality.measure(rows, models), models)
                auto = found["auto"]
                shares, wrong = (auto["precision"], auto["recall"]), auto["false_merges"]
            whole = all(pair.weight == 1 for pair in rows)
            merged = f"{wrong or 0:.0f} of {others:.0f}" if whole else f"{100 * (wrong or 0) / others:.1f}%"
            row += [found["macro_f1"], shares, None if wrong is None else merged]
        table.append(row)
    return table


def store_tables(
    stores: Mapping[str, Sequence[LabelledStore]], scorers: Sequence[str], *, held_out: bool
) -> Iterator[Rows]:
    """Two tables: what --auto and a person would do to the labelled stores, and to worlds, by style too."""
    rows = {}
    for spec in (spec for spec in scorers if spec != SEMHASH):
        rows[spec] = ({} if held_out else _validated(spec) or {}).get("in_stores", {})
        if not rows[spec]:
            models = quality.load_models(spec)
            judges = {one.name: models.scorer for members in stores.values() for one in members}
            rows[spec] = quality.store_report(stores, judges, models.encoder)

    def row(name: str, cells: Mapping[str, int]) -> list[str]:
        return [name, *(column.format(**cells) for column in _STORE_COLUMNS.values())]

    for title, name in (("labelled stores", STORES), ("worlds", WORLDS)):
        some = next((cells[name] for cells in rows.values() if cells.get(name)), None)
        if some is not None:
            table: Rows = [(f"{some['memories']} memories in {some['stores']} {title}", *_STORE_COLUMNS)]
            table += [row(_name(spec), cells[name]) for spec, cells in rows.items()]
            styles = rows.get(BUNDLED, {}) if name == WORLDS else {}
            own = (style for style in styles if style not in (STORES, WORLDS))
            yield table + [row(f"- {style}", styles[style]) for style in own]


def outside_table(files: Sequence[Path], scorers: Sequence[str]) -> Rows:
    """What a scorer makes of PAWS-X, BEAM and FactConsolidation."""
    (swapped, _), (opposed, _), (_, (facts,)) = (read_files([file]) for file in files)
    table: Rows = [("", *_OUTSIDE_COLUMNS)]
    for spec in scorers:
        models = quality.load_models(spec)
        if models.alone:
            continue
        pairs, conflicts = (quality.measure(rows, models).decisions for rows in (swapped, opposed))
        same, found = pairs.gold == 0, quality.evaluate_store(facts, models)
        counts = (
            ((pairs.auto & ~same).sum(), (~same).sum()), ((pairs.auto & same).sum(), same.sum()),
            ((conflicts.decided == 1).sum(), len(conflicts)), (found["found"], found["contradictions"]),
            (found["right"], found["reported"]),
        )  # fmt: skip
        shares = (f"{part} of {whole}" for part, whole in counts)
        table.append([_name(spec), *shares, len(found["wrongly_removed"])])
    return table


def _trapping(data: Path) -> list[LabelledPair]:
    """The traps, sets that the folder has, exchanges that are kept from training, and pairs of worlds."""
    rows = (line.split("\t") for line in TRAPS.read_text(encoding="utf-8").splitlines())
    pairs = [LabelledPair(a, b, LABELS.index(Label(label)), "traps") for label, a, b in rows]
    sets = {"PAWS-X": Path("outside", "pawsx_en_dev.jsonl")}
    sets |= {name: Path("pairs", _PAIR_FILES[name]) for name in ("real", "hard")}
    for source, file in sets.items():
        found = read_files([data / file])[0] if (data / file).exists() else ()
        pairs += [replace(pair, source=source, category="") for pair in found]
    for one in labelled.read_exchanges(data / "exchanges")[1]:
        each = labelled.exchange_pairs(one)
        pairs += [pair for pair in each if pair.a == one[0][0] or pair.label != DUPLICATE]
    worlds = labelled.read_worlds(data / "worlds")
    of_style = attrgetter("kind", "label")
    inside = sorted((pair for world in worlds for pair in labelled.block_pairs(world)), key=of_style)
    rng = random.Random(17)  # noqa: S311  (a sample)
    for _, each in groupby(inside, of_style):
        pairs += rng.sample(some := list(each), min(_OF_EACH_STYLE, len(some)))
    return pairs


def bindings_table(measured: quality.Measured, models: quality.Models) -> Rows:
    """For each set, of duplicates and of others: pairs, merges before and after, and what holds the rest."""
    tallies: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for pair, verdict in zip(measured.pairs, measured.verdicts, strict=True):
        tally = tallies[pair.source, pair.label == DUPLICATE]
        tally["pairs"] += 1
        kinds = {item.kind for item in verdict.evidence if item.kind in _OF_BINDINGS}
        others = [item for item in verdict.evidence if item.kind not in _OF_BINDINGS]
        if verdict.auto:
            tally.update(("before", "after"))
        elif decide(verdict.probabilities, others, models.limits, entailment=verdict.entailment)[1]:
            tally.update(("before", *kinds))
            tally.update(f"{kind} alone" for kind in kinds if len(kinds) == 1)
    columns, some = zip(*sorted(tallies.items()), strict=True)
    table: Rows = [["", *(f"{name}, {'same' if same else 'other'}" for name, same in columns)]]
    table += ([name, *(tally[name] for tally in some)] for name in ("pairs", "before", "after"))
    for kind in (kind for kind in sorted(_OF_BINDINGS) if any(tally[kind] for tally in some)):
        table.append([kind, *(f"{tally[kind]} ({tally[f'{kind} alone']})" for tally in some)])
    return table


if __name__ == "__main__":
    sys.exit(main())
