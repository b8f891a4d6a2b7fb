"""The commands that fit the decisions to a person's own memories: label and calibrate."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .options import Options, open_session, plan_options, scope_options, store_options

if TYPE_CHECKING:
    from ..judging.calibration import Calibration
    from ..judging.labelling import LabelledPair


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@store_options
@scope_options
@plan_options
@click.option("--limit", default=50, show_default=True, help="Ask about at most so many pairs.")
@click.pass_context
def label(ctx: click.Context, /, file: Path, *, limit: int, **given: Any) -> None:
    """Label your own most informative pairs one by one, appending them to FILE.

    Answers: d duplicate, c contradiction, n distinct, u unsure, q quit.

    \b
    Example:
      mem0-dream label my-pairs.jsonl --config mem0.yaml --user-id alice
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..judging.labelling import LABELS, labelled_keys, most_informative, pair_line
    from ..reporting.report import one_line

    with open_session(options) as session:
        memories, verdicts = session.judged(options.scopes(), now=options.moment)
        pairs = most_informative(
            verdicts, thresholds=session.thresholds, done=labelled_keys(file), memories=memories
        )
    asked = 0
    for verdict in pairs[:limit]:
        a, b = memories[verdict.pair.a], memories[verdict.pair.b]
        click.echo(f"\n  A: {one_line(a.text)}\n  B: {one_line(b.text)}")
        answer = _answer()
        if answer is None:
            break
        with file.open("a", encoding="utf-8") as stream:
            stream.write(pair_line(a, b, LABELS[answer]))
        asked += 1
    click.echo(f"{asked} pairs labelled in {file}." if pairs else "There is no pair to ask about.")


def _answer() -> str | None:
    while True:
        click.echo("d duplicate, c contradiction, n distinct, u unsure, q quit: ", nl=False)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1]
        if not line or answer == "q":
            return None
        if answer in ("d", "c", "n", "u"):
            return answer


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--scorer", help="Whose thresholds to fit. [default: the configured one]")
@click.option("--encoder", help="Embedding model, a path or a name.")
@click.option("--precision", default=0.98, show_default=True, type=click.FloatRange(0.5, 1))
@click.option("--reset", is_flag=True, help="Forget fitted thresholds and use the scorer's own again.")
@click.option("--state-dir", type=click.Path(path_type=Path), help="Where fitted thresholds are kept.")
@click.pass_context
def calibrate(
    ctx: click.Context, /, file: Path | None, *, precision: float, reset: bool, **given: Any
) -> None:
    """Fit the thresholds to the labelled pairs in FILE, for a stated precision of automatic merges.

    Without FILE the answers that --review kept are used.

    \b
    Example:
      mem0-dream calibrate my-pairs.jsonl --precision 0.99
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ...models.registry import load_scorer
    from ...settings import Settings
    from ..judging import calibration
    from ..planning.doubts import answered_pairs
    from ..writing.state import state_directory

    spec, directory = options.scorer or Settings().scorer, state_directory(options.state_dir)
    if reset:
        calibration.save_thresholds(directory, load_scorer(spec).name, None)
        click.echo(f"{spec} decides by its own thresholds again.")
        return
    file = file or answered_pairs(directory)
    if file is None:
        raise UsageError(
            "Name the file of labelled pairs, or give --reset; answers to --review will do, too."
        )
    click.echo(fitted(file, directory, scorer=spec, encoder=options.encoder, precision=precision))


def fitted(file: Path, directory: Path, *, scorer: str, encoder: str | None, precision: float) -> str:
    """Fit and keep the thresholds of a scorer, and say what they reach.

    Raises:
        UsageError: If the file cannot be read, or holds too few pairs.
    """
    from ...models.registry import load_encoder, load_scorer
    from ..judging import calibration
    from ..judging.labelling import read_pairs

    judge = load_scorer(scorer)
    pairs = _with_cosines(read_pairs(file), load_encoder(encoder, scorer=scorer))
    fit = calibration.calibrate(
        judge.score([item.pair for item in pairs]).probabilities,
        _vetoes(pairs),
        [item.label for item in pairs],
        base=judge.thresholds,
        auto_precision=precision,
    )
    calibration.save_thresholds(directory, judge.name, fit.thresholds)
    return _table(fit, len(pairs))


def _with_cosines(pairs: tuple[LabelledPair, ...], encoder: Any) -> list[LabelledPair]:
    first = encoder.encode([item.pair.a for item in pairs])
    second = encoder.encode([item.pair.b for item in pairs])
    cosines = (first * second).sum(axis=1)
    return [
        replace(item, pair=replace(item.pair, cosine=float(cosine)))
        for item, cosine in zip(pairs, cosines, strict=True)
    ]


def _vetoes(pairs: list[LabelledPair]) -> list[bool]:
    from ...models.guards import compare

    return [
        any(
            evidence.veto
            for evidence in compare(
                item.pair.a, item.pair.b, a_date=item.pair.a_date, b_date=item.pair.b_date
            )
        )
        for item in pairs
    ]


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
