"""`mem0-dream doctor`: what is wrong beside the memories of a mem0 store, and its repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import IncompleteListingError, UsageError
from .asking import confirmed
from .kinds import again
from .logs import tell
from .options import Options, open_session, store_options

if TYPE_CHECKING:
    from ..engine import Session
    from ..stores.mem0.doctor import Condition
    from ..stores.mem0.store import Mem0Store
    from ..writing.journal import Run

TROUBLE = 9
"""Exit code if something is wrong and was not repaired: the same as of a health that warns."""


@click.command()
@click.option("--dry-run", is_flag=True, help="Count and change nothing; exit code 9 if something is wrong.")
@click.option("--yes", is_flag=True, help="Repair without asking.")
@click.option("--json", "as_json", is_flag=True, help="Count as JSON; changes nothing.")
@store_options
@click.pass_context
def doctor(ctx: click.Context, /, *, dry_run: bool, yes: bool, as_json: bool, **given: Any) -> None:
    """Count the links of a mem0 store that lead to no memory, and the merged memories that have none.

    Nothing is repaired before you agree; `undo` with the name of the run takes a repair back.

    \b
    Example:
      mem0-dream doctor --config mem0.yaml --dry-run
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..planning.plan_file import json_text
    from ..stores.mem0.doctor import diagnose

    with open_session(options) as session, session.locked():
        store = links_of(session)
        state = diagnose(store)
        if as_json:
            click.echo(json_text(_to_json(state), sort_keys=False))
        else:
            click.echo("\n".join(_lines(state)))
        if state.ok:
            return
        if dry_run or as_json:
            ctx.exit(TROUBLE)
        if state.gaps:
            raise IncompleteListingError(f"Read-only: {'; '.join(state.gaps)}. Nothing can be repaired.")
        if not yes and not confirmed(_proposal(state)):
            click.echo("Cancelled. No changes made.")
            return
        _repair(session, store, state, options)


def _repair(session: Session, store: Mem0Store, state: Condition, options: Options) -> None:
    from ..writing.doctor import repair

    run = session.journal.new_name(options.clock)
    done = repair(store, session.journal, state, run=run, at=options.clock)
    click.echo(f"Repaired: {done.dropped} entities without dead links, {done.linked} memories linked.")
    tell(f"Undo with: {again(options, 'undo', done.run)}", begin="")


def undo_links(session: Session, run: Run, options: Options) -> None:
    """Take a repair back."""
    from ..writing.doctor import undo_repair

    done = undo_repair(links_of(session), session.journal, run, at=options.clock)
    click.echo(
        f"Run {run.id} taken back: {done.dropped} entities as before, {done.linked} memories unlinked."
    )


def links_of(session: Session) -> Mem0Store:
    """The store of a session, if it has links.

    Raises:
        UsageError: If it is of a kind that has none.
    """
    from ..stores.mem0.store import Mem0Store

    if not isinstance(session.store, Mem0Store):
        raise UsageError(
            "doctor looks at the links beside a mem0 collection; this store has none. For a graph there is "
            "--repair and --repair-relations."
        )
    return session.store


def _lines(state: Condition) -> list[str]:
    if state.entities is None:
        lines = [f"Memories: {state.memories}. Entities: none are linked in this store; nothing to repair."]
    else:
        gone = sum(1 for _ in state.dead)
        lines = [
            f"Memories: {state.memories}. Entities: {state.entities}, naming memories {state.links} times.",
            f"Links to memories that are gone: {state.orphans}, in {gone} entities.",
            f"Merged memories that no entity names: {len(state.bare)}.",
        ]
    if state.unread:
        lines.append(
            "Merged memories that could not be looked at, since mem0 finds entities with spaCy: "
            f"{state.unread}."
        )
    return [*lines, *(f"Read-only: {gap}" for gap in state.gaps)]


def _proposal(state: Condition) -> str:
    parts = []
    if state.dead:
        parts.append(f"drop {state.orphans} links of {len(state.dead)} entities (an empty one goes)")
    if state.bare:
        parts.append(f"link {len(state.bare)} merged memories (embeds their entities)")
    return f"Proposed: {', '.join(parts)}."


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
