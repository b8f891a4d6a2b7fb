"""Notes about a graph that outlive a run: its last state, the focus, what was brought back."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...rules.graph.history import Remembered, remembered
from ...stores.graph.sidecar import Sidecar

_LAST, _FOCUS, _BROUGHT_BACK = "last run", "focus", "brought back"


class GraphNotes:
    """Reads and writes the notes of one graph."""

    def __init__(self, sidecar: Sidecar) -> None:
        """Bind where they are kept."""
        self._sidecar = sidecar

    @property
    def last(self) -> Remembered | None:
        """The state of every memory after the last run; None if there was none."""
        return remembered(self._sidecar.noted(_LAST))

    def remember(self, state: Remembered) -> None:
        """Note the present state of every memory."""
        self._sidecar.note(_LAST, state.to_json())

    @property
    def focus(self) -> str | None:
        """The topic that a person set."""
        noted = self._sidecar.noted(_FOCUS)
        return noted if isinstance(noted, str) else None

    @focus.setter
    def focus(self, topic: str | None) -> None:
        """Set it, or take it back with None."""
        self._sidecar.note(_FOCUS, topic)

    def bring_back(self, name: str, *, now: datetime) -> None:
        """Note that a person brought a forgotten memory back."""
        held = self._sidecar.noted(_BROUGHT_BACK)
        known = held if isinstance(held, dict) else {}
        self._sidecar.note(_BROUGHT_BACK, known | {name: now.isoformat()})

    def brought_back(self, now: datetime, *, within: timedelta) -> list[str]:
        """What was brought back lately; it is kept as long as if it had been used on that day."""
        held = self._sidecar.noted(_BROUGHT_BACK)
        rows = held.items() if isinstance(held, dict) else ()
        return [name for name, at in rows if now - datetime.fromisoformat(at) <= within]
