"""The health of a memory; a store that is no graph gets as many of the figures as it has data for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ...models.same_statement import statement_key
from ...records import Inventory
from ..planning.graph_relations import orphans
from ..planning.hooks import Means
from ..rules.graph_use import GraphSettings
from ..rules.stale import age_of
from ..stores.graph.entities import TYPES, Node, Usage
from .text import visible

if TYPE_CHECKING:
    from ..stores.graph.lines import GraphDocument
    from ..stores.graph.store import LastRun


class Indicator(NamedTuple):
    """One figure and whether it is all right."""

    name: str  # what is counted; the same whatever the settings are
    value: int | None  # how many; None if the store has no data for it
    limit: int  # more than this warns
    advice: str  # what to do then
    meaning: str  # from which figure on a memory counts, for a person
    status: str  # OK, WARN or UNKNOWN


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a memory; an average is None if nothing is known to make it of."""

    total: int
    by_type: Mapping[str, int]
    age: float | None  # average, in days
    effectiveness: float | None  # average
    indicators: tuple[Indicator, ...]
    gaps: tuple[str, ...]  # why the figures may not be all of it, such as a broken line
    at: datetime
    last: datetime | None = None  # when the memory was consolidated last; None if never
    keeps_runs: bool = False  # it is known when that was

    @property
    def ok(self) -> bool:
        """Whether nothing warns, and all of the memory could be read."""
        return not self.gaps and not self.recommendations

    @property
    def recommendations(self) -> tuple[str, ...]:
        """What follows from the findings."""
        return tuple(item.advice.format(item.value) for item in self.indicators if item.status == "WARN")

    def value(self, name: str) -> int:
        """One indicator's figure."""
        return next((item.value or 0 for item in self.indicators if item.name == name), 0)

    def to_json(self) -> dict[str, Any]:
        """The health as JSON."""
        return {
            "status": "OK" if self.ok else "WARN",
            "generated": self.at.isoformat(),
            "last_consolidation": self.last.isoformat() if self.last else None,
            "total": self.total,
            "by_type": dict(self.by_type),
            "average_age_days": None if self.age is None else round(self.age, 1),
            "average_effectiveness": None if self.effectiveness is None else round(self.effectiveness, 4),
            "indicators": {
                item.name: {"value": item.value, "limit": item.limit, "status": item.status}
                for item in self.indicators
            },
            "recommendations": list(self.recommendations),
            "gaps": list(self.gaps),
        }


def graph_state(
    nodes: Sequence[Node],
    document: GraphDocument,
    settings: GraphSettings,
    now: datetime,
    duplicates: int,
    *,
    gaps: Sequence[str] = (),
    last: LastRun | None = None,
) -> Health:
    """The state of a graph; `duplicates` are entities that another one may replace."""
    rows = []
    for node in nodes:  # "market-research" is counted as research
        own = node.type.casefold()
        known = (each for each in TYPES if own == each or own.endswith((f"-{each}", f"_{each}")))
        rows.append((next(known, node.type), node.usage))
    alone, ran = len(orphans(document.names, document.relations)), last.at if last else None
    return _health_of(rows, duplicates, alone, settings=settings, now=now, gaps=gaps, last=ran)


def health_of_store(inventory: Inventory, means: Means, *, ages: bool) -> Health:
    """The state of a store without usage statistics: its dates, accesses and exact copies."""
    living = [memory for memory in inventory.memories if not memory.is_retired(means.now.date())]
    copies = Counter((memory.scope, memory.category, statement_key(memory.text)) for memory in living)
    rows = []
    for memory in living:
        age = age_of(memory, now=means.now)  # since it was said, or confirmed
        said = None if age is None else means.now - age
        used = Usage(discovered=said, last_used=memory.accessed_at or means.accessed.get(memory.id))
        rows.append((memory.category or "", used))
    double = sum(copies.values()) - len(copies)
    limits = GraphSettings(forget_unused=means.settings.stale_after)
    return _health_of(rows, double, None, settings=limits, now=means.now, ages=ages, gaps=inventory.gaps)


def _health_of(
    rows: Sequence[tuple[str, Usage]],
    duplicates: int,
    orphans: int | None,
    *,
    settings: GraphSettings,
    now: datetime,
    ages: bool = True,
    gaps: Sequence[str],
    last: datetime | None = None,
) -> Health:
    """The state of any memory, from type and use of each; None stands for what was not counted."""
    known = [age for _, use in rows if (age := use.age_days(now)) is not None]
    shares = [share for _, use in rows if (share := use.effectiveness) is not None]
    unused = [days for _, use in rows if (days := use.unused_days(now)) is not None]
    stale = sum(days > settings.forget_unused.days for days in unused) if unused and ages else None
    low = sum(share < settings.low_effectiveness for share in shares) if shares else None
    total, some = len(rows), int(len(rows) * settings.warn_share)
    unused_for, seldom = f"unused > {settings.forget_unused.days} d", f"< {settings.low_effectiveness:.0%}"
    may_go = "Not used for long: {}; --only prunes shows which of them may go."
    alike = "Look like duplicates: {}; a pass shows them."
    figures = (
        ("count", total, settings.max_memories, "{} memories: consolidate, then forget selectively.", ""),
        ("stale", stale, some, may_go, unused_for),
        ("low effectiveness", low, some, "Seldom helped: {}; correct them, or let them go.", seldom),
        ("potential duplicates", duplicates, some, alike, ""),
        ("orphans", orphans, some, "Without a relation: {}; --relate proposes some.", ""),
    )
    count = Counter(kind or "(no type)" for kind, _ in rows)
    # All types that a graph is made of, and of another store those that it has.
    first = {kind: count.pop(kind, 0) for kind in TYPES if kind in count or orphans is not None}
    return Health(
        total=total,
        by_type=first | dict(sorted(count.items())),
        age=sum(known) / len(known) if known else None,
        effectiveness=sum(shares) / len(shares) if shares else None,
        indicators=tuple(
            Indicator(*row, "UNKNOWN" if row[1] is None else "WARN" if row[1] > row[2] else "OK")
            for row in figures
        ),
        gaps=tuple(gaps),
        at=now,
        last=last,
        keeps_runs=orphans is not None,
    )


def health_lines(health: Health) -> list[str]:
    """The report for a person."""
    last = f"{health.last:%Y-%m-%d %H:%M} UTC" if health.last else "Never"
    age = "-" if health.age is None else f"{health.age:.0f} d"
    lines = [
        "## Memory health",
        "",
        f"Generated: {health.at:%Y-%m-%d %H:%M} UTC",
        *([f"Last Consolidation: {last}"] if health.keeps_runs else []),
        "",
        f"{'Total':<24}{health.total:>6}",
        *(f"  {kind:<22}{count:>6}" for kind, count in health.by_type.items()),
        f"{'Average age':<24}{age:>6}",
        f"{'Average effectiveness':<24}{spoken_share(health.effectiveness):>6}",
        "",
        "Indicators:",
    ]
    for item in health.indicators:
        state, value = ("?", "unknown") if item.value is None else (item.status, str(item.value))
        meaning = f" ({item.meaning})" if item.value is not None and item.meaning else ""
        lines.append(f"  {state:<5}{item.name}{meaning}: {value} (limit {item.limit})")
    if health.recommendations:
        lines += ["", "Recommendations:", *(f"  - {text}" for text in health.recommendations)]
    lines += ["", *(f"Read-only: {gap}" for gap in health.gaps)] if health.gaps else []
    return [visible(line) for line in lines]


def spoken_share(value: float | None) -> str:
    """A share for a person.

    >>> spoken_share(0.25), spoken_share(None)
    ('25%', '-')
    """
    return "-" if value is None else f"{value:.0%}"
