"""Upkeep between passes, and what the command line does for one kind of store alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ...errors import RefusedChangeError, UsageError
from ..reporting.text import clip, visible
from ..stores.base import ScopeFilter
from .asking import confirmed
from .opening import again, open_session, refuse_gaps
from .options import GRAPH, MARKDOWN, TROUBLE, Options, command
from .terminal import answer, tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..judging.calibration import Calibration, LabelledPair
    from ..kinds.graph import GraphKind
    from ..stores.graph.entities import Node
    from ..stores.markdown.store import MarkdownStore
    from ..stores.mem0.store import Condition


MEGABYTE = 1 << 20
PRECISION = 0.98  # share of automatic merges that must be right on the labelled pairs


@command("store", "json")
@click.option("--dry-run", is_flag=True)
@click.option("--yes", is_flag=True)
def doctor(options: Options, *, yes: bool) -> None:
    """Count the links of a mem0 store that lead to no memory, and the merged memories that have none."""
    from ..writing.writer import Writer

    with open_session(options) as session, session.locked():
        links: Any = session.store.links
        if links is None:
            told = "doctor looks at the links beside a mem0 collection; this store has none."
            raise UsageError(f"{told} For a graph there is --repair and --repair-relations.")
        state = links.diagnose()
        found = {
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
        answer(found, _lines(state), as_json=options.as_json)
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


@command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--scorer")
@click.option("--encoder")
@click.option("--precision", default=PRECISION, show_default=True, type=click.FloatRange(0.5, 1))
@click.option("--reset", is_flag=True)
@click.option("--state-dir", type=click.Path(path_type=Path))
def calibrate(options: Options, file: Path | None, *, precision: float, reset: bool) -> None:
    """Fit the thresholds to the labelled pairs in FILE, for a stated precision of automatic merges."""
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
@click.option("--prune", type=click.IntRange(0), metavar="MB")
@click.option("--state-dir", type=click.Path(path_type=Path))
def cache(options: Options, *, prune: int | None) -> None:
    """Say how large the cache of vectors and readings is, or make it smaller."""
    from ..judging.cache import MAX_BYTES, Cache

    kept = Cache(options.state)
    entries, size = kept.prune(MAX_BYTES if prune is None else prune * MEGABYTE)
    held, most = f"{entries:,} entries, {size / MEGABYTE:.1f} MB", MAX_BYTES // MEGABYTE
    click.echo(f"{kept.path}: {held} of at most {most:,}.")


def ready(session: Session, options: Options) -> bool:
    """Before a pass: refuse what cannot be, and say what the kind calls for; False ends it."""
    if session.store.kind == MARKDOWN:
        return _announced(session, options)
    if session.store.kind == GRAPH:
        if options.repair and (options.dry_run or (options.as_json and not options.auto)):
            raise UsageError("--repair changes the graph, and a dry run does not; choose one.")
        try:
            _kind(session).core  # noqa: B018  (read to see whether it can be)
        except RefusedChangeError as error:
            tell(f"{error}; nothing can be promoted.")
    return True


def repaired(session: Session, options: Options) -> bool:
    """Move broken lines away, shown and asked about first; False if the person did not want it."""
    if not options.repair:
        return True
    kind = _kind(session)
    broken, archive = kind.store.document().broken, kind.store.archive
    plan = kind.repair(options.clock)
    if plan is None:
        tell("there are no broken lines.")
        return True
    click.echo(f"Broken lines ({len(broken)}):", err=options.auto)
    for number, line in broken:
        click.echo(f"  line {number}, {line.reason}: {clip(line.raw)}", err=options.auto)
    if not options.auto and not confirmed(f"Proposed: move them to {archive}."):
        return False
    result = session.apply(plan, now=options.clock)
    for _, reason in result.moved:
        raise RefusedChangeError(f"The broken lines stay: {reason}.")
    tell(f"{len(broken)} broken lines moved to {archive}.")
    tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")
    return True


@command("store", kind=GRAPH)
@click.argument("name")
def restore(options: Options, name: str) -> None:
    """Bring a forgotten memory back from the archive, with its relations."""
    with _opened(options) as (session, kind, _), session.locked():
        relations, left = kind.store.bring_back(name, now=options.clock)
        click.echo(f"Restored: {visible(name)}, with {relations} relations.")
        if left:
            click.echo(f"Left out: {left} relations to memories that are gone.")


@command("store", "plan", "json", kind=GRAPH)
@click.option("--quick", is_flag=True)
@click.option("--beliefs", "about_beliefs", is_flag=True)
@click.option("--memories", "about_memories", is_flag=True)
def reflect(options: Options, *, quick: bool, about_beliefs: bool, about_memories: bool) -> None:
    """Look back: what worked and what did not since the last run; changes nothing."""
    if quick + about_beliefs + about_memories > 1:
        raise UsageError("--quick, --beliefs and --memories exclude each other; choose one.")
    from ..reporting import graph
    from ..writing.journal import RunState

    with _opened(options) as (session, kind, nodes):
        if about_beliefs:
            data, lines = graph.beliefs(kind.core, nodes, kind.reader(session.means(options.moment)))
        elif about_memories:
            data, lines = graph.ranking(nodes)
        elif quick:
            data, lines = graph.this_week(nodes, options.moment)
        else:
            last, journal = kind.store.notes.last, session.journal
            # What the last run did counts only while it stands.
            stands = last and last.run and journal.run(last.run).state is RunState.APPLIED
            done = graph.carried_out(last.run, journal) if last and stands else ()
            data, lines = graph.look_back(nodes, last, done)
    answer(data, map(visible, lines), as_json=options.as_json)


@command("store", "plan", "json", kind=GRAPH)
@click.option("--focus")
@click.option("--reset", is_flag=True)
def attention(options: Options, *, focus: str | None, reset: bool) -> None:
    """Show what the memory is about at present; set or reset a focus by hand."""
    from ...models.text.words import significant_words
    from ..rules.graph_use import attention_lines, focused, topics
    from ..stores.graph.store import FOCUS

    if focus is not None and reset:
        raise UsageError("--focus and --reset exclude each other; choose one.")
    if focus is not None and not focus.strip():
        raise UsageError("The focus is empty; give a topic, or take it back with --reset.")
    if focus is not None and not significant_words(focus):
        raise UsageError(f"The focus {focus!r} holds no word that tells memories apart; give a topic.")
    with _opened(options) as (_, kind, nodes):
        notes = kind.store.notes
        if focus is not None or reset:
            notes.note(FOCUS, focus)
        topic: str | None = notes.noted(FOCUS)
        shown = topics(nodes, now=options.moment, settings=kind.graph, focus=topic)
        matched = focused(nodes, topic)
        whole = {"focus": topic, "in_focus": list(matched), "topics": [item.to_json() for item in shown]}
        lines = attention_lines(shown, topic, len(matched))
        answer(whole, map(visible, lines), as_json=options.as_json)


@contextlib.contextmanager
def _opened(options: Options) -> Iterator[tuple[Session, GraphKind, tuple[Node, ...]]]:
    from ..stores.graph.entities import nodes_of

    with open_session(options) as session:
        yield session, _kind(session), nodes_of(session.read(ScopeFilter()).memories)


def _kind(session: Session) -> GraphKind:
    return cast("GraphKind", session.kind)  # opened by `open_graph`


def _announced(session: Session, options: Options) -> bool:
    """Say where there is no memory at all; whether any directory has one, or an index, or JSON is wanted."""
    from ..reporting.markdown import EMPTY, across
    from ..stores.markdown.directories import INDEX, NONE_FOUND, other_places

    store = cast("MarkdownStore", session.store)
    if options.across:
        answer(*across(store.root, session.models, given=options.memory_dirs or ()), as_json=options.as_json)
        return False
    if not store.directories:
        click.echo(NONE_FOUND, err=options.as_json)
        for place in other_places(store.root):
            told = f"{place} holds Markdown files; if they are memories, add --memory-dir {place}"
            click.echo(visible(told), err=options.as_json)
    empty = [each for each in store.directories if not (each.topics() or each.is_index_alone())]
    if len(empty) == len(store.directories):  # else the report says what there is
        for directory in empty:
            click.echo(visible(f"{directory.name}: {EMPTY}"), err=options.as_json)
    indexed = any((each.path / INDEX).is_file() for each in empty)
    return options.as_json or indexed or len(empty) < len(store.directories)


@command()
@click.option("--memory-root", required=True)
@click.option("--transcripts", "sessions", required=True)
@click.option("--extra")
def prompt(_options: Options, *, memory_root: str, sessions: str, extra: str | None) -> None:
    """Print the four-phase prompt, for an agent that consolidates its own memory."""
    from ..rules.markdown_index import LINE_LENGTH, LONG_LINE, MAX_BYTES
    from ..stores.markdown.directories import MAX_LINES

    limits = {"line_length": LINE_LENGTH, "long_line": LONG_LINE, "max_lines": MAX_LINES}
    text = (files(__package__) / "prompt.md").read_text(encoding="utf-8").format(
        memory_root=memory_root, transcripts=sessions, max_kilobytes=MAX_BYTES // 1000, **limits
    )  # fmt: skip
    click.echo(text if not extra else f"{text}\n## Additional context\n\n{extra.strip()}\n", nl=False)
