"""What is kept between passes: decisions fitted to a person's own memories (calibrate), and the cache."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .options import Options, command

MEGABYTE = 1 << 20
PRECISION = 0.98
"""Share of automatic merges that must be right on the labelled pairs."""

if TYPE_CHECKING:
    from ..judging.calibration import Calibration, LabelledPair


@command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--scorer", help="Whose thresholds to fit. [default: the configured one]")
@click.option("--encoder", help="Embedding model, a path or a name.")
@click.option("--precision", default=PRECISION, show_default=True, type=click.FloatRange(0.5, 1))
@click.option("--reset", is_flag=True, help="Forget fitted thresholds and use the scorer's own again.")
@click.option("--state-dir", type=click.Path(path_type=Path), help="Where fitted thresholds are kept.")
def calibrate(options: Options, file: Path | None, *, precision: float, reset: bool) -> None:
    """Fit the thresholds to the labelled pairs in FILE, for a stated precision of automatic merges.

    Without FILE they are the answers that were given in the terminal, in the browser and through agents.

    Example:
      mem0-dream calibrate my-pairs.jsonl --precision 0.99
    """
    from ...models.registry import load_scorer
    from ...settings import Settings
    from ..judging import calibration
    from ..judging.calibration import read_pairs

    spec, directory = options.scorer or Settings().scorer, options.state
    if reset:
        calibration.save_thresholds(directory, load_scorer(spec).name, None)
        click.echo(f"{spec} decides by its own thresholds again.")
        return
    pairs = read_pairs(file) if file else answered_pairs(directory)
    click.echo(fitted(pairs, directory, scorer=spec, encoder=options.encoder, precision=precision))


def answered_pairs(directory: Path) -> tuple[LabelledPair, ...]:
    """What the answers in the journal teach."""
    from ..judging.calibration import parse_pairs
    from ..writing.journal import Journal

    with contextlib.closing(Journal(directory)) as journal:
        pairs = parse_pairs(journal.pairs(), source="the journal")
    if not pairs:
        raise UsageError(
            "There are no answers to learn from yet; answer some proposals, or name a file of labelled pairs."
        )
    return pairs


def fitted(
    labelled: Sequence[LabelledPair], directory: Path, *, scorer: str, encoder: str | None, precision: float
) -> str:
    """Fit and keep the thresholds of a scorer, and say what they reach."""
    from ...models.registry import load_encoder, load_scorer
    from ..judging import calibration

    judge = load_scorer(scorer)
    pairs = _with_cosines(labelled, load_encoder(encoder, scorer=scorer))
    fit = calibration.calibrate(
        judge.score([item.pair for item in pairs]).probabilities,
        _vetoes(pairs),
        [item.label for item in pairs],
        base=judge.thresholds,
        auto_precision=precision,
    )
    calibration.save_thresholds(directory, judge.name, fit.thresholds)
    return _table(fit, len(pairs))


def _with_cosines(pairs: Sequence[LabelledPair], encoder: Any) -> list[LabelledPair]:
    first = encoder.encode([item.pair.a for item in pairs])
    second = encoder.encode([item.pair.b for item in pairs])
    cosines = (first * second).sum(axis=1)
    return [
        replace(item, pair=replace(item.pair, cosine=float(cosine)))
        for item, cosine in zip(pairs, cosines, strict=True)
    ]


def _vetoes(pairs: list[LabelledPair]) -> list[bool]:
    from ...models.guards import compare

    asked = (each.pair for each in pairs)
    found = (compare(pair.a, pair.b, a_date=pair.a_date, b_date=pair.b_date) for pair in asked)
    return [any(evidence.veto for evidence in each) for each in found]


def _table(fitted: Calibration, count: int) -> str:
    lines = [f"Fitted on {count} pairs:"]
    for name, reached in (("auto merge", fitted.auto), ("contradiction", fitted.contradiction)):
        lines.append(
            f"  {name:<14} from {reached.threshold:.3f}: precision {reached.precision:.3f}, "
            f"recall {reached.recall:.3f}, {reached.predicted} pairs"
            if reached.predicted
            else f"  {name:<14} cannot reach its precision on these pairs; practically switched off"
        )
    return "\n".join(lines)


@command()
@click.option("--prune", type=click.IntRange(0), metavar="MB", help="Drop the oldest until so much is left.")
@click.option("--state-dir", type=click.Path(path_type=Path), help="Where the cache lives.")
def cache(options: Options, *, prune: int | None) -> None:
    """Say how large the cache of vectors and readings is, or make it smaller.

    It holds hashes and numbers, no texts. What is not in it is computed again; it may be deleted at any time.

    Example:
      mem0-dream cache --prune 500
    """
    from ..judging.cache import MAX_BYTES, Cache

    kept = Cache(options.state)
    entries, size = kept.prune(MAX_BYTES if prune is None else prune * MEGABYTE)
    click.echo(
        f"{kept.path}: {entries:,} entries, {size / MEGABYTE:.1f} MB of at most {MAX_BYTES // MEGABYTE:,}."
    )


COMMANDS = (calibrate, cache)
