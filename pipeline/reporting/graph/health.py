"""The health of a memory: a table, indicators, and recommendations.

The figures are the graph's; another kind of store gets as many of them as it has data for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...rules.graph.nodes import TYPES, Node
from ...rules.graph.settings import GraphSettings
from ...stores.graph.usage import Usage
from ..report import visible

WARNING_EXIT_CODE = 9
"""Exit code of `--health` if an indicator warns."""


@dataclass(frozen=True, slots=True)
class Indicator:
    """One figure and whether it is all right.

    Attributes:
        name: What is counted; the same whatever the settings are.
        value: How many.
        limit: More than this warns.
        advice: What to do then.
        known: The store has the data for it.
        meaning: From which figure on a memory counts, for a person.
    """

    name: str
    value: int
    limit: int
    advice: str
    known: bool = True
    meaning: str = ""

    @property
    def warns(self) -> bool:
        """Whether it is above its limit."""
        return self.known and self.value > self.limit


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a memory.

    Attributes:
        total: All memories.
        by_type: How many of each type.
        age: Average age in days; None if no age is known.
        effectiveness: Average effectiveness; None if none is known.
        indicators: All figures with a limit.
        gaps: Why the figures may not be all of it, such as a broken line.
        at: The moment of the report.
        last: When the memory was consolidated last; None if never.
        keeps_runs: It is known when that was.
    """

    total: int
    by_type: Mapping[str, int]
    age: float | None
    effectiveness: float | None
    indicators: tuple[Indicator, ...]
    gaps: tuple[str, ...] = ()
    at: datetime | None = None
    last: datetime | None = None
    keeps_runs: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing warns, and all of the memory could be read."""
        return not self.gaps and not any(item.warns for item in self.indicators)

    @property
    def recommendations(self) -> tuple[str, ...]:
        """What follows from the findings."""
        return tuple(item.advice.format(item.value) for item in self.indicators if item.warns)

    def value(self, name: str) -> int:
        """One indicator's figure."""
        return next((item.value for item in self.indicators if item.name == name), 0)

    def to_json(self) -> dict[str, Any]:
        """The health as JSON."""
        return {
            "status": "OK" if self.ok else "WARN",
            "generated": self.at.isoformat() if self.at else None,
            "last_consolidation": self.last.isoformat() if self.last else None,
            "total": self.total,
            "by_type": dict(self.by_type),
            "average_age_days": None if self.age is None else round(self.age, 1),
            "average_effectiveness": None if self.effectiveness is None else round(self.effectiveness, 4),
            "indicators": {
                item.name: {
                    "value": item.value if item.known else None,
                    "limit": item.limit,
                    "status": "WARN" if item.warns else "OK" if item.known else "UNKNOWN",
                }
                for item in self.indicators
            },
            "recommendations": list(self.recommendations),
            "gaps": list(self.gaps),
        }


def graph_health(
    nodes: Sequence[Node],
    *,
    duplicates: int,
    orphans: int,
    settings: GraphSettings,
    now: datetime,
    gaps: Sequence[str] = (),
    last: datetime | None = None,
) -> Health:
    """The state of a graph."""
    health = health_of(
        [(counted_type(node.type), node.usage) for node in nodes],
        duplicates=duplicates,
        orphans=orphans,
        settings=settings,
        now=now,
        gaps=gaps,
    )
    by_type = dict.fromkeys(TYPES, 0) | dict(health.by_type)
    return replace(health, by_type=by_type, last=last, keeps_runs=True)


def counted_type(kind: str) -> str:
    """The type under which a memory is counted: "market-research" is research.

    >>> counted_type("market-research"), counted_type("Service")
    ('research', 'Service')
    """
    own = kind.casefold()
    return next((known for known in TYPES if own == known or own.endswith((f"-{known}", f"_{known}"))), kind)


def health_of(
    memories: Iterable[tuple[str, Usage]],
    *,
    duplicates: int | None,
    orphans: int | None,
    settings: GraphSettings,
    now: datetime,
    ages: bool = True,
    gaps: Sequence[str] = (),
) -> Health:
    """The state of any memory.

    Args:
        memories: Type and use of each.
        duplicates: Memories that another one may replace; None if they were not counted.
        orphans: Memories without a relation; None if there are no relations.
        settings: Limits.
        now: The present moment.
        ages: Age makes a memory of this store stale.
        gaps: Why not all of the memory could be read.
    """
    rows = list(memories)
    used = [use for _, use in rows]
    known = [age for use in used if (age := use.age_days(now)) is not None]
    shares = [share for use in used if (share := use.effectiveness) is not None]
    unused = [days for use in used if (days := use.unused_days(now)) is not None]
    stale = sum(days > settings.forget_unused.days for days in unused)
    low = sum(share < settings.low_effectiveness for share in shares)
    counts = (stale if unused and ages else None, low if shares else None, duplicates, orphans)
    return Health(
        total=len(rows),
        by_type=_by_type(kind for kind, _ in rows),
        age=sum(known) / len(known) if known else None,
        effectiveness=sum(shares) / len(shares) if shares else None,
        indicators=_indicators(len(rows), counts, settings),
        gaps=tuple(gaps),
        at=now,
    )


def health_lines(health: Health) -> list[str]:
    """The report for a person."""
    lines = ["## Memory health", "", *_moments(health), f"{'Total':<24}{health.total:>6}"]
    lines += [f"  {kind:<22}{count:>6}" for kind, count in health.by_type.items()]
    lines.append(f"{'Average age':<24}{_shown(health.age, '{:.0f} d'):>6}")
    lines.append(f"{'Average effectiveness':<24}{_shown(health.effectiveness, '{:.0%}'):>6}")
    lines += ["", "Indicators:"]
    for item in health.indicators:
        state = "WARN" if item.warns else "OK" if item.known else "?"
        value = str(item.value) if item.known else "unknown"
        meaning = f" ({item.meaning})" if item.known and item.meaning else ""
        lines.append(f"  {state:<5}{item.name}{meaning}: {value} (limit {item.limit})")
    if health.recommendations:
        lines += ["", "Recommendations:", *(f"  - {text}" for text in health.recommendations)]
    lines += ["", *(f"Read-only: {gap}" for gap in health.gaps)] if health.gaps else []
    return [visible(line) for line in lines]


def _moments(health: Health) -> list[str]:
    if health.at is None:
        return []
    last = f"{health.last:%Y-%m-%d %H:%M} UTC" if health.last else "Never"
    lines = [f"Generated: {health.at:%Y-%m-%d %H:%M} UTC"]
    return [*lines, *([f"Last Consolidation: {last}"] if health.keeps_runs else []), ""]


def _by_type(kinds: Iterable[str]) -> dict[str, int]:
    count = Counter(kind or "(no type)" for kind in kinds)
    first = {kind: count.pop(kind) for kind in TYPES if kind in count}
    return first | dict(sorted(count.items()))


def _indicators(total: int, counts: Sequence[int | None], settings: GraphSettings) -> tuple[Indicator, ...]:
    """All indicators; the counts are stale, ineffective, double and orphaned memories."""
    stale, low, duplicates, orphans = counts
    share = int(total * settings.warn_share)
    unused = settings.forget_unused.days
    low_share = f"< {settings.low_effectiveness:.0%}"
    rows = (
        ("count", total, settings.max_memories, "{} memories: consolidate, then forget selectively.", ""),
        (
            "stale",
            stale,
            share,
            "Not used for long: {}; --forget-only shows which of them may go.",
            f"unused > {unused} d",
        ),
        ("low effectiveness", low, share, "Seldom helped: {}; correct them, or let them go.", low_share),
        (
            "potential duplicates",
            duplicates,
            share,
            "Look like duplicates: {}; --merge-only shows the sure ones, --review asks about the others.",
            "",
        ),
        ("orphans", orphans, share, "Without a relation: {}; --relate proposes some.", ""),
    )
    return tuple(
        Indicator(name, value or 0, limit, advice, known=value is not None, meaning=meaning)
        for name, value, limit, advice, meaning in rows
    )


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
