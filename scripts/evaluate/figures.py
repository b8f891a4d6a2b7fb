"""Prints the quality tables of the README as Markdown: `make figures DATA=...`.

DATA holds `pairs/dev.jsonl` (hard pairs), `pairs/real_dev.jsonl` (real ones, counted by their weight),
`stores/*.json` and, if there are any, `worlds/w*.txt`, of which those count that the network never saw. The
calibrator of `bundled` is fitted on all of these, so its rows show the figures that were cross-validated
while fitting, as they stand beside the weights. With --held-out it is measured like the others, which is
honest on data that no fitting ever saw, and on no other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from mem0_dream.errors import DreamError, UsageError
from mem0_dream.models.bundled.scorer import FOLDER
from mem0_dream.models.cosine import DUPLICATE_COSINE
from mem0_dream.models.registry import CHOICES
from mem0_dream.records import Label
from mem0_dream.scripts.evaluate.labelled import LabelledPair, LabelledStore, read_files
from mem0_dream.scripts.evaluate.metrics import Figures
from mem0_dream.scripts.evaluate.quality import load_models, measure, pairs_report
from mem0_dream.scripts.evaluate.semhash_scorer import SEMHASH
from mem0_dream.scripts.train.stores import STORES, WORLDS, held_stores, store_report

BUNDLED = "bundled"
ROWS = ("keywords", "cosine", SEMHASH, BUNDLED)

_PAIR_FILES = {"hard": "dev.jsonl", "real": "real_dev.jsonl"}
_CONFIG = "config.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    options = _parser().parse_args(arguments)
    scorers = options.scorer or list(ROWS)
    try:
        pairs = {name: read_files([options.data / "pairs" / file])[0] for name, file in _PAIR_FILES.items()}
        stores = {} if options.no_stores else held_stores(options.data)
        for line in pair_table(pairs, scorers, held_out=options.held_out):
            print(line, flush=True)
        for line in store_tables(stores, scorers, held_out=options.held_out) if stores else ():
            print(line, flush=True)
    except DreamError as error:
        print(f"figures: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with pairs/, stores/ and worlds/")
    known = ", ".join((*CHOICES, SEMHASH))
    parser.add_argument(
        "--scorer", action="append", help=f"a row, repeatable: {known}; default: the README's"
    )
    parser.add_argument("--held-out", action="store_true", help="measure `bundled` on these pairs")
    parser.add_argument("--no-stores", action="store_true", help="print the table of pairs only")
    return parser


def pair_table(
    pairs: dict[str, list[LabelledPair]], scorers: Sequence[str], *, held_out: bool
) -> Iterator[str]:
    """A line for each scorer: how good its most probable label is, and what it would merge by itself."""
    titles = ("macro-F1", "merged by itself: precision, recall", "merged, though no duplicates")
    heads = [f"{name} pairs: {titles[0]} | {titles[1]} | {titles[2]}" for name in pairs]
    yield f"| | {' | '.join(heads)} |"
    yield "|---" * (1 + len(titles) * len(pairs)) + "|"
    for spec in scorers:
        kind, _, folder = spec.partition(":")
        if kind == BUNDLED and not held_out:
            parts = _cross_validated(pairs, Path(folder).expanduser() if folder else FOLDER)
        else:
            parts = _measured(pairs, spec)
        yield f"| {_name(spec)} | {' | '.join(parts)} |"


def _name(spec: str) -> str:
    if spec == SEMHASH:
        return f"SemHash {metadata.version(SEMHASH)}, its default threshold, MiniLM embeddings"
    return f"`{spec}` ({DUPLICATE_COSINE})" if spec == "cosine" else f"`{spec}`"


def _measured(pairs: dict[str, list[LabelledPair]], spec: str) -> list[str]:
    models = load_models(spec)
    reports = [
        pairs_report(measure(rows, models, weighted=True), models, by_kind=False) for rows in pairs.values()
    ]
    return [_cells(r["macro_f1"], r["auto"], whole=r["weight"] == r["pairs"]) for r in reports]


def _cross_validated(pairs: dict[str, list[LabelledPair]], folder: Path) -> list[str]:
    """The figures that stand beside the weights.

    Wrong merges are reckoned from precision and recall: of r duplicates merged at precision p, r (1 - p) / p
    other pairs were merged too; nothing follows from a precision of 0.
    """
    figures = _validated(folder / _CONFIG)
    try:
        return [_reckoned(figures[name], rows) for name, rows in pairs.items()]
    except KeyError as error:
        raise UsageError(f"{folder / _CONFIG} holds no cross-validated figures: {error!r}.") from error


def _validated(path: Path) -> dict[str, Any]:
    """The cross-validated figures of a configuration."""
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["cross_validated"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} holds no cross-validated figures: {error!r}.") from error
    return figures


def _reckoned(figures: dict[str, float], rows: Sequence[LabelledPair]) -> str:
    duplicates = sum(pair.weight for pair in rows if pair.label is Label.DUPLICATE)
    others = sum(pair.weight for pair in rows) - duplicates
    precision, recall = figures["auto_precision"], figures["auto_recall"]
    wrong = recall * duplicates * (1 - precision) / precision if precision else None
    auto = {"precision": precision, "recall": recall, "false_merges": wrong, "non_duplicates": others}
    return _cells(figures["macro_f1"], auto, whole=all(pair.weight == 1 for pair in rows))


def _cells(macro_f1: float, auto: Figures, *, whole: bool) -> str:
    wrong, others = auto["false_merges"], auto["non_duplicates"]
    if wrong is None:
        merged = "-"
    else:
        merged = f"{wrong:.0f} of {others:.0f}" if whole else f"{100 * wrong / others:.1f}%"
    return f"{macro_f1:.3f} | {auto['precision']:.3f}, {auto['recall']:.3f} | {merged}"


def store_tables(
    stores: Mapping[str, Sequence[LabelledStore]], scorers: Sequence[str], *, held_out: bool
) -> Iterator[str]:
    """Two tables: what --auto and a person would do to the labelled stores, and to whole worlds.

    A line for each scorer that judges inside stores, and for `bundled` one for each style of worlds.
    """
    rows = {spec: _inside(stores, spec, held_out=held_out) for spec in scorers if spec != SEMHASH}
    for title, name in (("labelled stores", STORES), ("worlds", WORLDS)):
        some = next((cells[name] for cells in rows.values() if cells.get(name)), None)
        if some is None:
            continue
        yield ""
        yield f"| {some['memories']} memories in {some['stores']} {title} | {' | '.join(_STORE_COLUMNS)} |"
        yield "|---" * (len(_STORE_COLUMNS) + 1) + "|"
        yield from (f"| {_name(spec)} | {_store_cells(cells[name])} |" for spec, cells in rows.items())
        if name == WORLDS and BUNDLED in rows:
            styles = [style for style in rows[BUNDLED] if style not in (STORES, WORLDS)]
            yield from (f"| - {style} | {_store_cells(rows[BUNDLED][style])} |" for style in styles)


_STORE_COLUMNS = (
    "duplicates removed", "with a person's yes", "wrongly removed", "contradictions found",
    "reports right", "questions right", "prunes right, wrong",
)  # fmt: skip


def _inside(
    stores: Mapping[str, Sequence[LabelledStore]], spec: str, *, held_out: bool
) -> dict[str, dict[str, int]]:
    kind, _, folder = spec.partition(":")
    if kind == BUNDLED and not held_out:
        path = (Path(folder).expanduser() if folder else FOLDER) / _CONFIG
        figures: dict[str, dict[str, int]] = _validated(path).get("in_stores", {})
        if figures:
            return figures
    models = load_models(spec)
    scorers = {one.name: models.scorer for members in stores.values() for one in members}
    return store_report(stores, scorers, models.encoder)


def _store_cells(row: Mapping[str, int]) -> str:
    cells = (
        f"{row['removed']} of {row['duplicates']}",
        f"{row['reviewed']} of {row['duplicates']}",
        str(row["wrongly_removed"]),
        f"{row['found']} of {row['contradictions']}",
        f"{row['right']} of {row['reported']}",
        f"{row['asked_right']} of {row['asked']}",
        f"{row['prunes_right']} of {row['prunes']}, {row['prunes_wrong']}",
    )
    return " | ".join(cells)


if __name__ == "__main__":
    sys.exit(main())
