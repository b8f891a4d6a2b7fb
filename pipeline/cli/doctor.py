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
        found = diagnose(store)
        if as_json:
            click.echo(json_text(_to_json(found), sort_keys=False))
        else:
            click.echo("\n".join(_lines(found)))
        if found.ok:
            return
        if dry_run or as_json:
            ctx.exit(TROUBLE)
        if found.gaps:
            raise IncompleteListingError(f"Read-only: {'; '.join(found.gaps)}. Nothing can be repaired.")
        if not yes and not confirmed(_proposal(found)):
            click.echo("Cancelled. No changes made.")
            return
        _repair(session, store, found, options)


def _repair(session: Session, store: Mem0Store, found: Condition, options: Options) -> None:
    from ..writing.doctor import repair

    run = session.journal.new_name(options.clock)
    done = repair(store, session.journal, found, run=run, at=options.clock)
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


def _lines(found: Condition) -> list[str]:
    if found.entities is None:
        lines = [f"Memories: {found.memories}. Entities: none are linked in this store; nothing to repair."]
    else:
        gone = sum(1 for _ in found.dead)
        lines = [
            f"Memories: {found.memories}. Entities: {found.entities}, naming memories {found.links} times.",
            f"Links to memories that are gone: {found.orphans}, in {gone} entities.",
            f"Merged memories that no entity names: {len(found.bare)}.",
        ]
    if found.unread:
        lines.append(
            "Merged memories that could not be looked at, since mem0 finds entities with spaCy: "
            f"{found.unread}."
        )
    return [*lines, *(f"Read-only: {gap}" for gap in found.gaps)]


def _proposal(found: Condition) -> str:
    parts = []
    if found.dead:
        parts.append(f"drop {found.orphans} links of {len(found.dead)} entities (an empty one goes)")
    if found.bare:
        parts.append(f"link {len(found.bare)} merged memories (embeds their entities)")
    return f"Proposed: {', '.join(parts)}."


def _to_json(found: Condition) -> dict[str, Any]:
    return {
        "memories": found.memories,
        "entities": found.entities,
        "links": found.links,
        "orphan_links": found.orphans,
        "orphaned_entities": sorted(found.dead),
        "merged_without_links": list(found.bare),
        "merged_unread": found.unread,
        "complete": not found.gaps,
        "gaps": list(found.gaps),
        "ok": found.ok,
    }
