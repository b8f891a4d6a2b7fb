"""Upkeep between passes: links beside the memories, decisions fitted to a person's own, and the cache."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .asking import confirmed
from .opening import again, open_session, refuse_gaps
from .options import TROUBLE, Options, command
from .terminal import answer, tell

if TYPE_CHECKING:
    from ..judging.calibration import Calibration, LabelledPair
    from ..stores.mem0.doctor import Condition

MEGABYTE = 1 << 20
PRECISION = 0.98  # share of automatic merges that must be right on the labelled pairs


@command("store", "json")
@click.option("--dry-run", is_flag=True, help="Count and change nothing; exit code 9 if something is wrong.")
@click.option("--yes", is_flag=True, help="Repair without asking.")
def doctor(options: Options, *, yes: bool) -> None:
    """Count the links of a mem0 store that lead to no memory, and the merged memories that have none.

    Nothing is repaired before you agree; `undo` with the name of the run takes a repair back.

    Example:
      mem0-dream doctor --config mem0.yaml --dry-run
    """
    from ..writing.writer import Writer

    with open_session(options) as session, session.locked():
        links: Any = session.store.links
        if links is None:
            told = "doctor looks at the links beside a mem0 collection; this store has none."
            raise UsageError(f"{told} For a graph there is --repair and --repair-relations.")
        state = links.diagnose()
        answer(_to_json(state), _lines(state), as_json=options.as_json)
        if state.ok:
            return
        if options.dry_run or options.as_json:
            raise click.exceptions.Exit(TROUBLE)
        refuse_gaps(state.gaps, "Nothing can be repaired.")
        dead = f"drop {state.orphans} links of {len(state.dead)} entities (an empty one goes)"
        bare = f"link {len(state.bare)} merged memories (embeds their entities)"
        parts = [*([dead] if state.dead else []), *([bare] if state.bare else [])]
        if not yes and not confirmed(f"Proposed: {', '.join(parts)}."):
            return
        name = session.journal.new_name(options.clock)
        plan = links.repairs(state, at=options.clock)
        done = Writer(links, session.journal).apply(plan, run=name, at=options.clock)
    click.echo(f"Repaired: {len(plan.actions) - len(done.moved)} of {len(plan.actions)}.")
    for action, why in done.moved:
        click.echo(f"Left alone: {action}: {why}")
    if done.run:
        tell(f"Undo with: {again(options, 'undo', done.run)}", begin="")


def _lines(state: Condition) -> list[str]:
    if state.entities is None:
        lines = [f"Memories: {state.memories}. Entities: none are linked in this store; nothing to repair."]
    else:
        lines = [
            f"Memories: {state.memories}. Entities: {state.entities}, naming memories {state.links} times.",
            f"Links to memories that are gone: {state.orphans}, in {len(state.dead)} entities.",
            f"Merged memories that no entity names: {len(state.bare)}.",
        ]
    if state.unread:
        told = "Merged memories that could not be looked at, since mem0 finds entities with spaCy"
        lines.append(f"{told}: {state.unread}.")
    return [*lines, *(f"Read-only: {gap}" for gap in state.gaps)]


def _to_json(state: Condition) -> dict[str, Any]:
    return {
        "memories": state.memories,
        "entities": state.entities,
        "links": state.links,
        "orphan_links": state.orphans,
        "orphaned_entities": sorted(state.dead),
        "merged_without_links": list(state.bare),
        "merged_unread": state.unread,
        "complete": not state.gaps,
        "gaps": list(state.gaps),
        "ok": state.ok,
    }


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

    spec, directory = options.scorer or Settings().scorer, options.state
    if reset:
        calibration.save_thresholds(directory, load_scorer(spec).name, None)
        click.echo(f"{spec} decides by its own thresholds again.")
        return
    pairs = calibration.read_pairs(file) if file else answered_pairs(directory)
    click.echo(fitted(pairs, directory, scorer=spec, encoder=options.encoder, precision=precision))


def answered_pairs(directory: Path) -> tuple[LabelledPair, ...]:
    """What the answers in the journal teach."""
    from ..judging.calibration import parse_pairs
    from ..writing.journal import Journal

    with contextlib.closing(Journal(directory)) as journal:
        pairs = parse_pairs(journal.pairs(), source="the journal")
    if not pairs:
        told = "answer some proposals, or name a file of labelled pairs"
        raise UsageError(f"There are no answers to learn from yet; {told}.")
    return pairs


def fitted(
    labelled: Sequence[LabelledPair], directory: Path, *, scorer: str, encoder: str | None, precision: float
) -> str:
    """Fit and keep the thresholds of a scorer, and say what they reach."""
    from ...models.guards import compare
    from ...models.registry import load_encoder, load_scorer
    from ..judging import calibration

    judge, vectors = load_scorer(scorer), load_encoder(encoder, scorer=scorer).encode
    sides = vectors([item.pair.a for item in labelled]), vectors([item.pair.b for item in labelled])
    cosines = (sides[0] * sides[1]).sum(axis=1)
    pairs = [replace(item.pair, cosine=float(each)) for item, each in zip(labelled, cosines, strict=True)]
    found = (compare(pair.a, pair.b, a_date=pair.a_date, b_date=pair.b_date) for pair in pairs)
    vetoed, labels = [any(item.veto for item in each) for each in found], [each.label for each in labelled]
    scores, own = judge.score(pairs).probabilities, judge.thresholds
    fit = calibration.calibrate(scores, vetoed, labels, base=own, auto_precision=precision)
    calibration.save_thresholds(directory, judge.name, fit.thresholds)
    return _table(fit, len(pairs))


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
    held, most = f"{entries:,} entries, {size / MEGABYTE:.1f} MB", MAX_BYTES // MEGABYTE
    click.echo(f"{kept.path}: {held} of at most {most:,}.")
