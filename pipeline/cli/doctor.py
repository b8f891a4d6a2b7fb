"""`mem0-dream doctor`: what is wrong beside the memories of a mem0 store, and its repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .asking import confirmed
from .opening import again, open_session, refuse_gaps
from .options import TROUBLE, Options, command
from .terminal import answer, tell

if TYPE_CHECKING:
    from ..stores.mem0.doctor import Condition


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
            raise UsageError(
                "doctor looks at the links beside a mem0 collection; this store has none. "
                "For a graph there is --repair and --repair-relations."
            )
        state = links.diagnose()
        answer(_to_json(state), _lines(state), as_json=options.as_json)
        if state.ok:
            return
        if options.dry_run or options.as_json:
            raise click.exceptions.Exit(TROUBLE)
        refuse_gaps(state.gaps, "Nothing can be repaired.")
        if not yes and not confirmed(_proposal(state)):
            click.echo("Cancelled. No changes made.")
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
