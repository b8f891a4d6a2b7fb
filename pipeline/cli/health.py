"""`--health`: how a memory is doing, whatever keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .graph.opening import graph_health
from .kinds import GRAPH

if TYPE_CHECKING:
    from ..reporting.graph.health import Health
    from .options import Options


def show_health(ctx: click.Context, options: Options, given: dict[str, Any]) -> None:
    """How a memory is doing, for every kind of store; exit code 9 if an indicator warns."""
    from ..planning.plan_file import json_text
    from ..reporting.graph.health import WARNING_EXIT_CODE, health_lines

    if given["repair"]:
        raise UsageError("--repair changes the graph, and --health changes nothing; choose one.")
    health = graph_health(options) if options.store_kind == GRAPH else _other_health(options)
    if given["as_json"]:
        click.echo(json_text(health.to_json(), sort_keys=False))
    else:
        click.echo("\n".join(health_lines(health)))
    if not health.ok:
        ctx.exit(WARNING_EXIT_CODE)


def _other_health(options: Options) -> Health:
    """Of a store without usage statistics: its dates, accesses and exact copies."""
    from collections import Counter

    from ...models.words import exact_key
    from ..planning.markdown.planner import NEVER
    from ..reporting.graph.health import health_of
    from ..rules.graph.settings import GraphSettings
    from ..stores.graph.usage import Usage
    from .options import open_session

    with open_session(options) as session:
        inventory = session.read(options.scopes())
        seen = session.access.last(session.store.fingerprint)
        living = [memory for memory in inventory.memories if not memory.is_retired(options.moment.date())]
        settings = GraphSettings(forget_unused=session.settings.stale_after)
    copies = Counter((memory.scope, memory.category, exact_key(memory.text)) for memory in living)
    rows = [
        (
            memory.category or "",
            Usage(discovered=memory.stated_at, last_used=memory.accessed_at or seen.get(memory.id)),
        )
        for memory in living
    ]
    doubles = sum(count - 1 for count in copies.values())
    return health_of(
        rows,
        duplicates=doubles,
        orphans=None,
        settings=settings,
        now=options.moment,
        ages=settings.forget_unused < NEVER,
        gaps=inventory.gaps,
    )
