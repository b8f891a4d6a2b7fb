"""Plans kept between two calls of an agent: what was proposed, what was answered, what became of it.

A kept plan is a file of the state directory, named by what it holds. It is only ever applied as it was
shown; what its answers mean is worked out when it is applied (see `decisions`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import PlanFileError
from ..plan import Plan
from ..planning.plan_file import dump_plan, parse_plan

FORMAT = "mem0-dream kept plan"
VERSION = 1
KEPT = 20
"""Plans that are kept of each store; older ones are forgotten."""
_ID = re.compile(r"[0-9a-f]{12}\Z")
CONSOLIDATE, FORGET = "consolidate", "forget"


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan that was shown.

    Attributes:
        id: By which it is named; equal plans have equal ids.
        store: Fingerprint of its store.
        text: The plan as JSON Lines.
        report: Its report, as it was shown last.
        made_at: When it was made, in ISO form.
        purpose: A pass, or a search for what is to be forgotten.
        answers: What was answered, by the id of the action.
        begun: When applying it began, in ISO form; empty if it never did. Its run began at that moment.
        run: The run that applied it; empty if none did, or nothing had to be done.
        done: Whether it was applied.
    """

    id: str
    store: str
    text: str
    report: str
    made_at: str
    purpose: str = CONSOLIDATE
    answers: Mapping[str, str] = field(default_factory=dict)
    begun: str = ""
    run: str = ""
    done: bool = False

    @property
    def plan(self) -> Plan:
        """The plan as it was proposed."""
        return parse_plan(self.text)


def name_of(plan: Plan) -> str:
    """The id of a plan: the beginning of the hash of all it holds."""
    return hashlib.sha256(dump_plan(plan).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Shelf:
    """The kept plans of a state directory, in a folder for each store."""

    def __init__(self, directory: Path) -> None:
        """Name the folder; it is made when the first plan is kept."""
        self._folder = directory / "plans"

    def put(self, kept: KeptPlan) -> KeptPlan:
        """Keep a plan, or what was added to it; only its owner may read the file."""
        folder = self._folder / kept.store
        for each in (self._folder, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{kept.id}.json"
        draft = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"format": FORMAT, "version": VERSION, **asdict(kept)}, stream)
        draft.replace(path)
        for old in _newest_first(folder)[KEPT:]:
            old.unlink(missing_ok=True)
        return kept

    def get(self, plan_id: str, *, store: str) -> KeptPlan:
        """The plan of this name.

        Raises:
            PlanFileError: If there is none, it is damaged, or it was made for another store.
        """
        path = self._folder / store / f"{plan_id}.json"
        if not _ID.match(plan_id) or not path.is_file():
            other = _ID.match(plan_id) and any(self._folder.glob(f"*/{plan_id}.json"))
            told = "was made for another store" if other else "is not known"
            raise PlanFileError(f"The plan {plan_id[:40]!r} {told}; make one with dream_plan.")
        kept = _read(path)
        if kept is None:
            raise PlanFileError(f"The plan {plan_id} is damaged; make a new one with dream_plan.")
        return kept

    def last(self, *, store: str) -> KeptPlan | None:
        """The plan of a pass over this store that was made or answered last; None if there is none."""
        plans = map(_read, _newest_first(self._folder / store))
        return next((kept for kept in plans if kept is not None and kept.purpose == CONSOLIDATE), None)


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def _read(path: Path) -> KeptPlan | None:
    """A kept plan; None if the file holds none that can be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, LookupError, PlanFileError):
        whole: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
        if (whole.get("format"), whole.get("version")) == (FORMAT, VERSION):
            kept = KeptPlan(**{item.name: whole[item.name] for item in fields(KeptPlan)})
            parse_plan(kept.text)
            return kept
    return None
