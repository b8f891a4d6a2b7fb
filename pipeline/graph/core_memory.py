"""The core memory: the small file of what proved itself, validated before and after every change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import RefusedChangeError
from ..stores.exchange import replace_file
from .usage import content, usage

PATTERNS, PREFERENCES = "stablePatterns", "preferences"
SECTIONS = {"pattern": PATTERNS, "preference": PREFERENCES}
"""Which types of memories may be promoted, and where to."""


class Entry(BaseModel):
    """One promoted memory.

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


class CoreMemory(BaseModel):
    """The whole file; what we do not know in it is kept."""

    model_config = ConfigDict(extra="allow")

    stablePatterns: list[Entry | str] = Field(default_factory=list)  # noqa: N815
    preferences: list[Entry | str] = Field(default_factory=list)


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
        found: list[tuple[str, str]] = []
        whole = _load(self.read(), self.path.name)
        for section in (PATTERNS, PREFERENCES):
            for item in whole.get(section, []):
                entry = Entry(name=item, content=[item]) if isinstance(item, str) else Entry(**item)
                found.append((entry.name, " ".join(entry.content) or entry.name))
        return tuple(found)

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
        if any(_name(item) == name for item in whole.get(section, [])):
            return
        used = usage(observations)
        entry = Entry(
            name=name,
            content=list(content(observations)),
            uses=used.uses,
            effectiveness=used.effectiveness,
            promotedAt=at.date().isoformat(),
        )
        whole[section] = [*whole.get(section, []), entry.model_dump(mode="json")]
        self._write(whole, before)

    def demote(self, name: str, *, original: bytes | None) -> None:
        """Take a promotion back.

        Args:
            name: The memory.
            original: Bytes of the file before the promotions; they come back if nothing else changed.
        """
        before = self.read()
        if before is None:
            return
        whole = _load(before, self.path.name)
        for section in (PATTERNS, PREFERENCES):
            if section in whole:
                whole[section] = [item for item in whole[section] if _name(item) != name]
        if original is not None and _filled(_load(original, self.path.name)) == _filled(whole):
            replace_file(self.path, original, before=before)
        elif original is None and not any(whole.values()):
            self.path.unlink()
        else:
            self._write(whole, before)

    def _write(self, whole: dict[str, Any], before: bytes | None) -> None:
        CoreMemory.model_validate(whole)
        data = (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")
        replace_file(self.path, data, before=before)
        if _load(self.read(), self.path.name) != whole:
            raise RefusedChangeError(f"the core memory {self.path.name} does not read back")


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


def _filled(whole: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in whole.items() if value != []}


def _name(item: object) -> str:
    return str(item.get("name")) if isinstance(item, dict) else str(item)
