"""`--health`: how a memory is doing, whatever keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from .cli_graph import KIND, graph_health

if TYPE_CHECKING:
    from .cli_options import Options
    from .graph.health import Health


def show_health(ctx: click.Context, options: Options, given: dict[str, Any]) -> None:
    """How a memory is doing, for every kind of store; exit code 9 if an indicator warns."""
    from .graph.health import WARNING_EXIT_CODE, health_lines
    from .plan_file import json_text

    if given["repair"]:
        raise UsageError("--repair changes the graph, and --health changes nothing; choose one.")
    health = graph_health(options) if options.store_kind == KIND else _other_health(options)
    if given["as_json"]:
        click.echo(json_text(health.to_json(), sort_keys=False))
    else:
        click.echo("\n".join(health_lines(health)))
    if not health.ok:
        ctx.exit(WARNING_EXIT_CODE)


def _other_health(options: Options) -> Health:
    """Of a store without usage statistics: its dates, accesses and exact copies."""
    from collections import Counter

    from .cli_options import open_session
    from .graph.health import health_of
    from .graph.settings import GraphSettings
    from .graph.usage import Usage
    from .markdown.session import NEVER
    from .words import exact_key

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
