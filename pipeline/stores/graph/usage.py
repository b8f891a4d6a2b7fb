"""How a memory was used, read from its own observations; nothing else records it.

Understood are "Researched: DATE", "Discovered: DATE", "Last used: DATE", "Applied in PROJECT - HELPFUL" and
"NOT HELPFUL" (with a date anywhere in the line), "Used N times", "Promoted to core memory: DATE",
"Merged from: ...", and "critical: true" in a field or line. A date in any other line, such as "Created: ..."
or "in use since 2021", is content and does not count as age.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from ....records import says_pinned

PROMOTED_MARK = "Promoted to core memory: "
MERGED_MARK = "Merged from: "


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_MOMENT = r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?"
_BORN = _line(rf"^(?:researched|discovered)\s*:\s*{_MOMENT}\s*(?:\([^()]*\))?\.?$")
_UNHELPFUL = _line(r"\b(?:not|un)[\s_-]*helpful\b|\bdid(?:n['’]t| not) help\b")
_HELPFUL = _line(r"\bhelpful\b")
# Without a verdict or a date, "Applied in" begins a sentence sooner than it counts a use.
_APPLIED = _line(
    rf"^applied in\b(?:(?=.*(?:\bhelpful\b|{_UNHELPFUL.pattern}))|(?=.*\d{{4}}-\d{{2}}-\d{{2}})"
    r"|(?=\s+(?:\S+\s+){0,3}\S+$))"
)
_LAST_USED = _line(rf"^last (?:used|applied|accessed)\s*:\s*{_MOMENT}")
_COUNT = _line(r"^(?:used|applied|use count|times used|uses)\s*:?\s*(\d{1,6})\b(?:\s*times?)?\s*$")
_ALSO = re.compile(r"^Also applied: (\d{1,6}) times, (\d{1,6}) helpful, (\d{1,6}) not helpful$")
_CRITICAL = _line(r"\bcritical\s*:\s*(?:true|yes)\b|^pinned\s*:\s*(?:true|yes)\b")
_EFFECTIVENESS = _line(r"^effectiveness\s*:\s*(\d{1,3}(?:\.\d+)?)\s*(%?)")
_PROMOTED = _line(r"^promoted to core memory\s*:")
_BOOKKEEPING = _line(
    r"^(?:use count|times used|uses|merged from|promoted to core memory|relevance score"
    r"|source|severity|critical|pinned|effectiveness|also applied)\s*:"
)
_ADVICE = (
    'No memory here says how it was used: with "Discovered: DATE" and "Applied in PROJECT - HELPFUL '
    '(DATE)" among its observations it could be ranked, promoted, and forgotten when it is stale.'
)


@dataclass(frozen=True, slots=True)
class Usage:
    """What is known about the use of one memory."""

    uses: int = 0  # how often it was applied
    helpful: int = 0  # how often that helped
    unhelpful: int = 0  # how often it did not
    discovered: datetime | None = None  # when it was learned; None if unknown
    last_used: datetime | None = None  # when it was applied last; None if unknown
    promoted: bool = False  # it is in the core memory already
    critical: bool = False  # it may never be forgotten
    # An effectiveness that is written down, for a memory whose uses carry no verdict.
    stated: float | None = None

    @property
    def effectiveness(self) -> float | None:
        """Share of judged uses that helped; None if no use was judged."""
        judged = self.helpful + self.unhelpful
        return self.helpful / judged if judged else self.stated

    def age_days(self, now: datetime) -> int | None:
        """Full days since it was learned; None if unknown or in the future."""
        return _days(self.discovered, now)

    def unused_days(self, now: datetime) -> int | None:
        """Full days since it was used, or learned if it never was; None if neither is known."""
        return _days(max((each for each in (self.last_used, self.discovered) if each), default=None), now)


def usage(observations: Iterable[str], fields: Mapping[str, Any] | None = None) -> Usage:
    """Read the use of a memory from its observations, and from fields of its line such as `critical`.

    >>> usage(["Applied in shop - HELPFUL", "Applied in blog - NOT HELPFUL"]).effectiveness
    0.5
    """
    lines = [text.strip() for text in observations]
    applied = [text for text in lines if _APPLIED.match(text)]
    also = [[int(figure) for figure in match.groups()] for text in lines if (match := _ALSO.match(text))]
    bad = sum(bool(_UNHELPFUL.search(text)) for text in applied)
    good = sum(bool(_HELPFUL.search(text)) and not _UNHELPFUL.search(text) for text in applied)
    counted = [int(match[1]) for text in lines if (match := _COUNT.match(text))]
    used = [day for text in lines if _APPLIED.match(text) or _LAST_USED.match(text) for day in dates(text)]
    flagged = any((fields or {}).get(name) in (True, "true", "yes") for name in ("critical", "pinned"))
    return Usage(
        uses=max([len(applied) + sum(row[0] for row in also), *counted]),
        helpful=good + sum(row[1] for row in also),
        unhelpful=bad + sum(row[2] for row in also),
        discovered=min((day for text in lines if _BORN.match(text) for day in dates(text)), default=None),
        last_used=max(used, default=None),
        promoted=any(_PROMOTED.match(text) for text in lines),
        critical=flagged or any(_CRITICAL.search(text) or says_pinned(text) for text in lines),
        stated=next((share for text in lines if (share := _stated(text)) is not None), None),
    )


def advice(memories: Iterable[Iterable[str]]) -> list[str]:
    """What a graph would gain by recording its use, in one line; nothing if it does, or is empty."""
    used = [usage(observations) for observations in memories]
    if not used or any(use.uses or use.discovered or use.last_used for use in used):
        return []
    return [_ADVICE]


def is_bookkeeping(observation: str) -> bool:
    """Whether an observation is about the memory itself, and no part of what it says."""
    text = observation.strip()
    forms = (_BOOKKEEPING, _BORN, _APPLIED, _LAST_USED, _COUNT)
    return any(form.match(text) for form in forms)


def content(observations: Iterable[str]) -> tuple[str, ...]:
    """The observations that say something."""
    return tuple(text for text in observations if not is_bookkeeping(text))


def combined(observations: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The lines about use of several memories; equal ones are counted instead of lost."""
    kept: dict[str, None] = {}
    also = [0, 0, 0]
    for text in (text for each in observations for text in each if is_bookkeeping(text)):
        earlier = _ALSO.match(text.strip())
        if earlier:
            also = [mine + int(theirs) for mine, theirs in zip(also, earlier.groups(), strict=True)]
        elif text in kept and _APPLIED.match(text.strip()):
            one = usage([text])
            also = [also[0] + 1, also[1] + one.helpful, also[2] + one.unhelpful]
        kept.setdefault(text)
    lines = [text for text in kept if not _ALSO.match(text.strip())]
    more = "Also applied: {} times, {} helpful, {} not helpful".format(*also)
    return (*lines, *([more] if any(also) else []))


def dates(text: str) -> list[datetime]:
    """All ISO dates in a text that exist, as the beginning of that day in UTC."""
    days = []
    for match in _DATE.finditer(text):
        try:
            day = date(*(int(part) for part in match.groups()))
        except ValueError:
            continue
        days.append(datetime(day.year, day.month, day.day, tzinfo=UTC))
    return days


def _stated(text: str) -> float | None:
    match = _EFFECTIVENESS.match(text)
    if not match:
        return None
    value = float(match[1]) / (100 if match[2] or float(match[1]) > 1 else 1)
    return value if 0 <= value <= 1 else None


def _days(moment: datetime | None, now: datetime) -> int | None:
    if moment is None or moment > now:
        return None
    return (now - moment).days
