"""Prints the quality tables of the README as Markdown: `make figures DATA=...`.

DATA holds `pairs/dev.jsonl` (hard pairs), `pairs/real_dev.jsonl` (real ones, counted by their weight),
`stores/*.json` and, if there are any, `worlds/w*.txt`, of which those count that the network never saw, and
`outside/`: sets of others, of which no part was fitted on. The
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
from mem0_dream.models.bundled.weights import CONFIG_FILE
from mem0_dream.models.cosine import DUPLICATE_COSINE
from mem0_dream.models.registry import CHOICES
from mem0_dream.scripts.evaluate.labelled import STORES, LabelledPair, LabelledStore, held_stores, read_files
from mem0_dream.scripts.evaluate.metrics import Figures
from mem0_dream.scripts.evaluate.quality import (
    WORLDS,
    evaluate_store,
    load_models,
    measure,
    pairs_report,
    store_report,
)
from mem0_dream.scripts.evaluate.semhash_scorer import SEMHASH

BUNDLED = "bundled"
ROWS = ("keywords", "cosine", SEMHASH, BUNDLED)
_PAIR_FILES = {"hard": "dev.jsonl", "real": "real_dev.jsonl"}
_PAIR_COLUMNS = ("macro-F1", "merged by itself: precision, recall", "merged, though no duplicates")
_STORE_COLUMNS = (
    "duplicates removed", "with a person's yes", "wrongly removed", "contradictions found",
    "reports right", "questions right", "prunes right, wrong",
)  # fmt: skip
_OUTSIDE_COLUMNS = (
    "PAWS-X, no paraphrases: merged by itself", "paraphrases merged", "BEAM: contradictions reported",
    "FactConsolidation: conflicts found", "reports right", "wrongly removed",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
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
    options = parser.parse_args(arguments)
    scorers, held_out = options.scorer or list(ROWS), options.held_out
    try:
        pairs = {name: read_files([options.data / "pairs" / file])[0] for name, file in _PAIR_FILES.items()}
        tables = [pair_table(pairs, scorers, held_out=held_out)]
        if not options.no_stores:
            tables.append(store_tables(held_stores(options.data), scorers, held_out=held_out))
        for table in (*tables, outside_table(options.data / "outside", scorers)):
            for line in table:
                print(line, flush=True)
    except DreamError as error:
        print(f"figures: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield "|---" * len(cells) + "|"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |" if cells[0] else "| | " + " | ".join(cells[1:]) + " |"


def _name(spec: str) -> str:
    if spec == SEMHASH:
        return f"SemHash {metadata.version(SEMHASH)}, its default threshold, MiniLM embeddings"
    return f"`{spec}` ({DUPLICATE_COSINE})" if spec == "cosine" else f"`{spec}`"


def _validated(spec: str, *names: str) -> dict[str, Any] | None:
    """The cross-validated figures beside the weights that a name means; None where it means other scorers.

    Raises:
        UsageError: If there are none, or one of the given names is not among them.
    """
    kind, _, folder = spec.partition(":")
    if kind != BUNDLED:
        return None
    path = (Path(folder).expanduser() if folder else FOLDER) / CONFIG_FILE
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["cross_validated"]
        return figures | {name: figures[name] for name in names}
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} holds no cross-validated figures: {error!r}.") from error


def pair_table(
    pairs: dict[str, list[LabelledPair]], scorers: Sequence[str], *, held_out: bool
) -> Iterator[str]:
    """A line for each scorer: how good its most probable label is, and what it would merge by itself."""
    yield from _head("", *(f"{name} pairs: {_PAIR_COLUMNS[0]}" if not at else column
                           for name in pairs for at, column in enumerate(_PAIR_COLUMNS)))  # fmt: skip
    for spec in scorers:
        figures = None if held_out else _validated(spec, *pairs)
        if figures is not None:
            cells = [cell for name, rows in pairs.items() for cell in _reckoned(figures[name], rows)]
        else:
            models = load_models(spec)
            measured = (measure(rows, models, weighted=True) for rows in pairs.values())
            found = (pairs_report(one, models, by_kind=False) for one in measured)
            cells = [
                cell
                for one in found
                for cell in _cells(one["macro_f1"], one["auto"], whole=one["weight"] == one["pairs"])
            ]
        yield _row(_name(spec), *cells)


def _reckoned(figures: dict[str, float], rows: Sequence[LabelledPair]) -> Sequence[str]:
    """Wrong merges follow from precision and recall.

    Of r duplicates merged at precision p, r (1 - p) / p other pairs were merged too; nothing follows from 0.
    """
    duplicates = sum(pair.weight for pair in rows if pair.label == 0)
    others = sum(pair.weight for pair in rows) - duplicates
    precision, recall = figures["auto_precision"], figures["auto_recall"]
    wrong = recall * duplicates * (1 - precision) / precision if precision else None
    auto = {"precision": precision, "recall": recall, "false_merges": wrong, "non_duplicates": others}
    return _cells(figures["macro_f1"], auto, whole=all(pair.weight == 1 for pair in rows))


def _cells(macro_f1: float, auto: Figures, *, whole: bool) -> Sequence[str]:
    wrong, others, merged = auto["false_merges"], auto["non_duplicates"], "-"
    if wrong is not None:
        merged = f"{wrong:.0f} of {others:.0f}" if whole else f"{100 * wrong / others:.1f}%"
    return f"{macro_f1:.3f}", f"{auto['precision']:.3f}, {auto['recall']:.3f}", merged


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
        yield from _head(f"{some['memories']} memories in {some['stores']} {title}", *_STORE_COLUMNS)
        yield from (_row(_name(spec), *_store_cells(cells[name])) for spec, cells in rows.items())
        if name == WORLDS and BUNDLED in rows:
            styles = [style for style in rows[BUNDLED] if style not in (STORES, WORLDS)]
            yield from (_row(f"- {style}", *_store_cells(rows[BUNDLED][style])) for style in styles)


def _inside(
    stores: Mapping[str, Sequence[LabelledStore]], spec: str, *, held_out: bool
) -> dict[str, dict[str, int]]:
    figures: dict[str, dict[str, int]] = ({} if held_out else _validated(spec) or {}).get("in_stores", {})
    if figures:
        return figures
    models = load_models(spec)
    scorers = {one.name: models.scorer for members in stores.values() for one in members}
    return store_report(stores, scorers, models.encoder)


def _store_cells(row: Mapping[str, int]) -> Sequence[str]:
    return (
        f"{row['removed']} of {row['duplicates']}",
        f"{row['reviewed']} of {row['duplicates']}",
        str(row["wrongly_removed"]),
        f"{row['found']} of {row['contradictions']}",
        f"{row['right']} of {row['reported']}",
        f"{row['asked_right']} of {row['asked']}",
        f"{row['prunes_right']} of {row['prunes']}, {row['prunes_wrong']}",
    )


def outside_table(folder: Path, scorers: Sequence[str]) -> Iterator[str]:
    """What a scorer makes of PAWS-X, BEAM and FactConsolidation; nothing where they are not there."""
    files = [folder / name for name in ("pawsx_en_dev.jsonl", "beam_dev.jsonl", "factcon_6k.json")]
    if not all(file.is_file() for file in files):
        return
    swapped, opposed, stores = (read_files([file]) for file in files)
    yield ""
    yield from _head("", *_OUTSIDE_COLUMNS)
    for spec in scorers:
        models = load_models(spec)
        if models.alone:
            continue
        pairs, conflicts = (measure(one[0], models, weighted=False).decisions for one in (swapped, opposed))
        same = pairs.gold == 0
        facts = evaluate_store(stores[1][0], models, now=None)
        told = facts["contradictions"]
        yield _row(
            _name(spec),
            f"{(pairs.auto & ~same).sum()} of {(~same).sum()}",
            f"{(pairs.auto & same).sum()} of {same.sum()}",
            f"{(conflicts.decided == 1).sum()} of {len(conflicts)}",
            f"{told['found']} of {told['gold']}",
            f"{told['right']} of {told['reported']}",
            str(len(facts["wrongly_removed"])),
        )


if __name__ == "__main__":
    sys.exit(main())
