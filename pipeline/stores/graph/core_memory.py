"""The core memory: a small file of proven memories, validated before and after every change.

Its original form keeps an object in each section (`"stablePatterns": {"earlyReturns": "..."}`), with
`memoryConfig`, `lastUpdated` and `lastConsolidation` beside them. A file that keeps lists there stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ....errors import RefusedChangeError
from ....models.text.reading import from_json
from ....records import noted_moment
from ..files import json_text
from ..files.undo import FileHistory, Image, read_image
from .entities import content, parts_of, usage

SECTIONS = {"pattern": "stablePatterns", "preference": "preferences"}  # which types may be promoted where
_UPDATED, _CONSOLIDATED, _CONFIG = "lastUpdated", "lastConsolidation", "memoryConfig"


class _Entry(BaseModel, extra="allow"):  # what we do not know is kept
    name: str
    content: list[str] = Field(default_factory=list)
    uses: int | None = Field(default=None, ge=0)
    effectiveness: float | None = Field(default=None, ge=0, le=1)
    promotedAt: str | None = None  # noqa: N815  (the file's own spelling)


class _Config(BaseModel, extra="allow"):
    relevanceThreshold: int | None = None  # noqa: N815
    decayThresholdDays: int | None = Field(default=None, ge=0)  # noqa: N815
    minUsesToRetain: int | None = Field(default=None, ge=0)  # noqa: N815


class _Core(BaseModel, extra="allow"):
    stablePatterns: list[_Entry | str] | dict[str, Any] = Field(default_factory=list)  # noqa: N815
    preferences: list[_Entry | str] | dict[str, Any] = Field(default_factory=list)
    memoryConfig: _Config = _Config()  # noqa: N815


class CoreFile:
    """A core memory on disk; every method raises `RefusedChangeError` if the file is damaged."""

    def __init__(self, path: Path, history: FileHistory) -> None:
        """Bind the file; it need not exist. Every change is noted in the history, to be taken back."""
        self.path = path.expanduser().resolve()
        self._history = history

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Name and content of everything in it, for reading."""
        sections = (self._now()[1].get(section, []) for section in SECTIONS.values())
        return tuple((name, _said(item) or name) for held in sections for name, item in _entries(held))

    def limits(self) -> dict[str, Any]:
        """The settings of a graph that the core memory's own `memoryConfig` gives."""
        config = _Config.model_validate(self._now()[1].get(_CONFIG, {}))
        days = config.decayThresholdDays
        limits: dict[str, Any] = {"forget_unused": None if days is None else timedelta(days=days)}
        limits |= {"keep_above": config.relevanceThreshold, "forget_uses": config.minUsesToRetain}
        return {name: value for name, value in limits.items() if value is not None}

    @property
    def consolidated(self) -> datetime | None:
        """The day of the last consolidation that it notes, by whatever program; None if it notes none."""
        return noted_moment(self._now()[1].get(_CONSOLIDATED))

    def promote(
        self, name: str, entity_type: str, observations: Sequence[str], *, at: datetime, key: str
    ) -> None:
        """Add what is not there yet, taken back by `key`; refused if it has no place, or the file moved."""
        section = SECTIONS.get(entity_type.casefold())
        if section is None:
            raise RefusedChangeError(f"a memory of type {entity_type} has no place in the core memory")
        before, whole = self._now()
        lists = any(isinstance(whole.get(each), list) for each in SECTIONS.values())
        held = whole.get(section, [] if lists else {})
        place = core_key(name) if isinstance(held, dict) else name
        if place in dict(_entries(held)):
            return
        used, said, day = usage(observations), list(content(observations)), at.date().isoformat()
        figures = {"uses": used.uses, "effectiveness": used.effectiveness, "promotedAt": day}
        entry = {"name": name, "content": said, **figures}
        if isinstance(held, dict):
            detailed = any(isinstance(item, dict) for item in held.values())
            whole[section] = {**held, place: entry if detailed else " ".join(said)}
            whole[_UPDATED] = day
        else:
            whole[section] = [*held, entry]
        self._write(whole, before, key=key, name=name)

    def note_consolidation(self, *, at: datetime, key: str) -> None:
        """Note the day of a consolidation, in a file of the original form alone; taken back by `key`."""
        before, whole = self._now()
        original = {_CONSOLIDATED, _UPDATED, _CONFIG} & whole.keys()
        if original or any(isinstance(whole.get(section), dict) for section in SECTIONS.values()):
            self._write({**whole, _CONSOLIDATED: at.date().isoformat()}, before, key=key, name="")

    def take_back(self, keys: Sequence[str]) -> None:
        """Take changes back, the newest first: to the letter, or else what was promoted alone."""
        for key in reversed(keys):
            step = self._history.last(str(self.path), key)
            if step is None:
                continue
            try:
                self._history.take_back(self.path, key)
            except RefusedChangeError:
                if name := str(step.note["name"]):
                    self._demote(name)

    def _demote(self, name: str) -> None:
        before, whole = self._now()
        for section in SECTIONS.values():
            held = whole.get(section)
            if isinstance(held, dict):
                held.pop(core_key(name), None)
            elif held is not None:
                whole[section] = [item for key, item in _entries(held) if key != name]
        self._write(whole, before, key="", name="")

    def _write(self, whole: dict[str, Any], before: Image | None, *, key: str, name: str) -> None:
        _Core.model_validate(whole)
        data = (json_text(whole, indent=2) + "\n").encode()
        self._history.write(self.path, data, before=before, key=key, note={"name": name})
        if self._now()[1] != whole:
            raise RefusedChangeError(f"the core memory {self.path.name} does not read back")

    def _now(self) -> tuple[Image | None, dict[str, Any]]:
        """The file, and what it holds, validated; an empty or missing file is an empty core memory."""
        image = read_image(self.path)
        if image is None or not image.data.strip():
            return image, {}
        try:
            whole: dict[str, Any] = from_json(image.data)
            _Core.model_validate(whole)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "its whole"
            told = f"the core memory {self.path.name} is damaged at {place} ({first['msg']})"
            raise RefusedChangeError(told) from None
        except ValueError:
            raise RefusedChangeError(f"the core memory {self.path.name} is no JSON") from None
        return image, whole


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


def _entries(held: dict[str, Any] | list[Any]) -> Sequence[tuple[str, Any]]:
    """The entries of a section by their keys, or by their names where it is a list."""
    if isinstance(held, dict):
        return tuple(held.items())
    return [(str(item.get("name") if isinstance(item, dict) else item), item) for item in held]


def _said(item: object) -> str:
    if not isinstance(item, dict):
        return " ".join(map(str, item)) if isinstance(item, list) else str(item)
    told = item.get("content") or item.get("summary") or item.get("value")
    return _said(told) if told else " ".join(str(value) for value in item.values())
