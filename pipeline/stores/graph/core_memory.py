"""The core memory: a small file of proven memories, validated before and after every change.

Its original form keeps an object in each section (`"stablePatterns": {"earlyReturns": "..."}`), with
`memoryConfig`, `lastUpdated` and `lastConsolidation` beside them; earlier versions of ours kept lists. Both
are read, and each keeps its form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ....errors import RefusedChangeError
from ..files.exchange import replace_file
from .text import parts_of
from .usage import content, usage

PATTERNS, PREFERENCES = "stablePatterns", "preferences"
SECTIONS = {"pattern": PATTERNS, "preference": PREFERENCES}
"""Which types of memories may be promoted, and where to."""

_UPDATED, _CONSOLIDATED, _CONFIG = "lastUpdated", "lastConsolidation", "memoryConfig"


class CoreEntry(BaseModel):
    """One promoted memory, as the core memory file holds it.

    Attributes:
        name: Its name in the graph.
        content: What it says.
        uses: How often it was applied.
        effectiveness: Share of judged uses that helped.
        promotedAt: The day.
    """

    model_config = ConfigDict(extra="allow")

    name: str
    content: list[str] = Field(default_factory=list)
    uses: int | None = Field(default=None, ge=0)
    effectiveness: float | None = Field(default=None, ge=0, le=1)
    promotedAt: str | None = None  # noqa: N815  (the file's own spelling)


class MemoryConfig(BaseModel):
    """The limits that the original keeps in the core memory; other keys are kept."""

    model_config = ConfigDict(extra="allow")

    relevanceThreshold: int | None = None  # noqa: N815
    decayThresholdDays: int | None = Field(default=None, ge=0)  # noqa: N815
    minUsesToRetain: int | None = Field(default=None, ge=0)  # noqa: N815


class CoreMemory(BaseModel):
    """The whole file; what we do not know in it is kept."""

    model_config = ConfigDict(extra="allow")

    stablePatterns: list[CoreEntry | str] | dict[str, Any] = Field(default_factory=list)  # noqa: N815
    preferences: list[CoreEntry | str] | dict[str, Any] = Field(default_factory=list)
    memoryConfig: MemoryConfig = MemoryConfig()  # noqa: N815


class CoreFile:
    """A core memory on disk."""

    def __init__(self, path: Path) -> None:
        """Bind the file; it need not exist."""
        self.path = path.expanduser().resolve()

    def read(self) -> bytes | None:
        """Its bytes, or None if there is no file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RefusedChangeError(
                f"the core memory {self.path.name} cannot be read ({error.strerror})"
            ) from error

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Name and content of everything in it, for reading."""
        statements: list[tuple[str, str]] = []
        whole = _load(self.read(), self.path.name)
        for section in (PATTERNS, PREFERENCES):
            held = whole.get(section, [])
            items = held.items() if isinstance(held, dict) else ((_name(item), item) for item in held)
            statements += [(name, _said(item) or name) for name, item in items]
        return tuple(statements)

    def limits(self) -> dict[str, Any]:
        """The settings of a graph that the core memory's own `memoryConfig` gives."""
        config = MemoryConfig.model_validate(_load(self.read(), self.path.name).get(_CONFIG, {}))
        days = config.decayThresholdDays
        limits = {
            "keep_above": config.relevanceThreshold,
            "forget_unused": None if days is None else timedelta(days=days),
            "forget_uses": config.minUsesToRetain,
        }
        return {name: value for name, value in limits.items() if value is not None}

    def promote(self, name: str, entity_type: str, observations: Sequence[str], *, at: datetime) -> None:
        """Add a memory; one that is in it already is left as it is.

        Raises:
            RefusedChangeError: If the file is damaged, was changed meanwhile, or the type has no place.
        """
        section = SECTIONS.get(entity_type.casefold())
        if section is None:
            raise RefusedChangeError(f"a memory of type {entity_type} has no place in the core memory")
        before = self.read()
        whole = _load(before, self.path.name)
        held = whole.get(section, [] if _keeps_lists(whole) else {})
        key = core_key(name)
        if key in held if isinstance(held, dict) else any(_name(item) == name for item in held):
            return
        used = usage(observations)
        said = list(content(observations))
        entry = CoreEntry(
            name=name,
            content=said,
            uses=used.uses,
            effectiveness=used.effectiveness,
            promotedAt=at.date().isoformat(),
        ).model_dump(mode="json")
        if isinstance(held, dict):
            detailed = any(isinstance(item, dict) for item in held.values())
            whole[section] = {**held, key: entry if detailed else " ".join(said)}
            whole[_UPDATED] = at.date().isoformat()
        else:
            whole[section] = [*held, entry]
        self._write(whole, before)

    def consolidated(self, *, at: datetime) -> None:
        """Note the day of a consolidation, in a file of the original form alone."""
        before = self.read()
        whole = _load(before, self.path.name)
        original = {_CONSOLIDATED, _UPDATED, _CONFIG} & whole.keys()
        if original or any(isinstance(whole.get(section), dict) for section in (PATTERNS, PREFERENCES)):
            self._write({**whole, _CONSOLIDATED: at.date().isoformat()}, before)

    def put_back(self, data: bytes | None) -> None:
        """Give the file the bytes it had, or remove it if there was none."""
        if data is not None:
            replace_file(self.path, data, before=self.read())
        elif self.read() is not None:
            self.path.unlink()

    def demote(self, name: str, *, original: bytes | None) -> None:
        """Take a promotion back.

        Args:
            name: The memory.
            original: Bytes of the file before the promotions; they come back if nothing else changed.
        """
        before = self.read()
        if before is None:
            return
        whole, earlier = _load(before, self.path.name), _load(original, self.path.name)
        for section in (PATTERNS, PREFERENCES):
            held = whole.get(section)
            if isinstance(held, list):
                whole[section] = [item for item in held if _name(item) != name]
            elif isinstance(held, dict) and core_key(name) not in earlier.get(section, {}):
                whole[section] = {key: item for key, item in held.items() if key != core_key(name)}
        if original is not None and _filled(earlier) == _filled(whole):
            replace_file(self.path, original, before=before)
        elif original is None and not _filled(whole):
            self.path.unlink()
        else:
            self._write(whole, before)

    def _write(self, whole: dict[str, Any], before: bytes | None) -> None:
        CoreMemory.model_validate(whole)
        data = (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")
        replace_file(self.path, data, before=before)
        if _load(self.read(), self.path.name) != whole:
            raise RefusedChangeError(f"the core memory {self.path.name} does not read back")


def core_key(name: str) -> str:
    """The key of a memory in the original form.

    >>> core_key("pattern:early-returns")
    'earlyReturns'
    """
    kind, separator, bare = name.partition(":")
    words = parts_of(bare if separator and kind.casefold() in SECTIONS else name)
    return (words[0] + "".join(word.capitalize() for word in words[1:])) if words else name


def core_place(name: str, entity_type: str) -> str:
    """Where a promoted memory stands, for a report.

    >>> core_place("pattern:early-returns", "pattern")
    'stablePatterns.earlyReturns'
    """
    return f"{SECTIONS.get(entity_type.casefold(), '?')}.{core_key(name)}"


def _load(data: bytes | None, name: str) -> dict[str, Any]:
    """Read and validate; an empty or missing file is an empty core memory."""
    if data is None or not data.strip():
        return {}
    try:
        whole = json.loads(data)
        CoreMemory.model_validate(whole)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "its whole"
        raise RefusedChangeError(f"the core memory {name} is damaged at {place} ({first['msg']})") from None
    except ValueError:
        raise RefusedChangeError(f"the core memory {name} is no JSON") from None
    assert isinstance(whole, dict)  # noqa: S101  (the model accepts nothing else)
    return whole


def _keeps_lists(whole: Mapping[str, Any]) -> bool:
    return any(isinstance(whole.get(section), list) for section in (PATTERNS, PREFERENCES))


def _filled(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Its content without empty sections and without the days that we note."""
    days = (_UPDATED, _CONSOLIDATED)
    return {key: value for key, value in whole.items() if value not in ([], {}) and key not in days}


def _name(item: object) -> str:
    return str(item.get("name")) if isinstance(item, dict) else str(item)


def _said(item: object) -> str:
    """What an entry says, whatever its form."""
    if not isinstance(item, dict):
        return " ".join(map(str, item)) if isinstance(item, list) else str(item)
    told = item.get("content") or item.get("summary") or item.get("value")
    return _said(told) if told else " ".join(str(value) for value in item.values())
