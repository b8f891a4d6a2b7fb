"""Reuses the plan of the last pass for each scope in which nothing changed.

A plan is a function of what a scope holds, of the settings and models, of what a person answered, and of the
moment. All but the moment go into a digest; for the moment there is the next one at which anything becomes
stale, expires or begins to count, and until then nothing does. A plan that states ages is not kept.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import PlanFileError
from ...records import LAST_STATED_KEY, Inventory, Memory, Scope, as_utc, noted_moment
from ...settings import Settings
from ..judging.cache import Cache
from ..judging.inventory import Circumstances
from ..plan import Plan
from ..rules.unattended import summed
from .plan_file import dump_plan, parse_plan
from .planner import build_plan, numbered, scope_notes

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ...models.scorer import PairScorer

_FORMAT = "plan of a scope, 1"
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """All that a plan is made with, but for the memories; see `planner.build_plan`."""

    kind: str
    encoder: Encoder
    scorer: PairScorer
    settings: Settings
    circumstances: Circumstances
    in_place: bool
    amend: bool

    def build(self, inventory: Inventory, on_stage: Callable[[str, int, int], None]) -> Plan:
        """Plan an inventory from the beginning."""
        return build_plan(
            inventory,
            kind=self.kind,
            encoder=self.encoder,
            scorer=self.scorer,
            settings=self.settings,
            circumstances=self.circumstances,
            in_place=self.in_place,
            amend=self.amend,
            on_stage=on_stage,
        )


def planned(
    inventory: Inventory,
    planning: Planning,
    memo: Cache,
    on_stage: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> Plan:
    """The plan of an inventory: what changed is planned, the rest remembered.

    Args:
        inventory: Every memory of the scopes in question.
        planning: What the plan is made with.
        memo: Where the plans of earlier passes are.
        on_stage: Told how far the planning has come.
    """
    scopes: dict[Scope, list[Memory]] = defaultdict(list)
    for memory in inventory.memories:
        scopes[memory.scope].append(memory)
    common = _common(planning)
    keys = {scope: _digest(common, members, planning.circumstances) for scope, members in scopes.items()}
    known = _known(memo, keys, planning, inventory)
    fresh = tuple(memory for memory in inventory.memories if memory.scope not in known)
    plan = planning.build(replace(inventory, memories=fresh), on_stage)
    news = {scope: members for scope, members in scopes.items() if scope not in known}
    _remember(memo, keys, news, plan, planning)
    return _joined(plan, list(known.values())) if known else plan


def until(
    memories: Sequence[Memory], *, settings: Settings, now: datetime, accessed: Mapping[str, datetime]
) -> datetime:
    """The next moment at which the age of any of them may begin to matter.

    Args:
        memories: Of one scope.
        settings: The limits of ages.
        now: The present moment.
        accessed: Latest reads, by memory id.
    """
    return min(
        (at for memory in memories for at in _turns(memory, settings, accessed) if at > now), default=_NEVER
    )


def _turns(memory: Memory, settings: Settings, accessed: Mapping[str, datetime]) -> list[datetime]:
    """When its date is no longer in the future, when it becomes old and unread, and when it expires."""
    dates = (memory.created_at, memory.updated_at, noted_moment(memory.metadata.get(LAST_STATED_KEY)))
    stated = max((as_utc(at) for at in dates if at is not None), default=None)
    read = max((as_utc(at) for at in (memory.accessed_at, accessed.get(memory.id)) if at), default=None)
    turns: list[datetime] = []
    if stated is not None:
        turns += [stated, _later(stated, settings.retention.get(memory.category or "", settings.stale_after))]
    if read is not None:
        turns.append(_later(read, settings.access_window))
    if memory.expires_on is not None:
        turns.append(_later(datetime.combine(memory.expires_on, time(), UTC), timedelta(days=1)))
    return turns


def _later(moment: datetime, span: timedelta) -> datetime:
    return moment + span if span < _NEVER - moment else _NEVER


@functools.cache
def _code() -> str:
    """Hash of all rules and word tables: another version of this package may plan otherwise."""
    root, digest = Path(__file__).parents[2], hashlib.sha256()
    for path in sources(root):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def sources(root: Path) -> list[Path]:
    """The modules and word tables of the package in a folder; weights have a name of their own."""
    patterns = ("models/**/*.py", "models/tables/*.toml", "indexes/**/*.py", "pipeline/**/*.py")
    return [path for pattern in patterns for path in sorted(root.glob(pattern))]


def _common(planning: Planning) -> bytes:
    """What all scopes share."""
    told = planning.circumstances
    limits = told.thresholds or planning.scorer.thresholds
    whole = [
        _FORMAT, _code(), planning.kind, planning.encoder.name, planning.scorer.name, repr(limits),
        repr(getattr(planning.scorer, "thresholds_alone", None)), planning.settings.model_dump_json(),
        planning.in_place, planning.amend, told.unattended, sorted(told.hygiene), sorted(told.rejected),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(whole).encode()).digest()


def _digest(common: bytes, memories: Sequence[Memory], circumstances: Circumstances) -> bytes:
    """Everything the plan of a scope depends on but the moment."""
    digest = hashlib.sha256(common)
    for memory in sorted(memories, key=lambda each: each.id):
        read = circumstances.accessed.get(memory.id)
        row = [
            [str(value) for value in dataclasses.astuple(replace(memory, metadata={}))[:-1]],
            memory.metadata,
            str(read),
            memory.id in circumstances.tracked,
        ]
        digest.update(json.dumps(row, sort_keys=True, default=repr).encode() + b"\n")
    return digest.digest()


def _known(
    memo: Cache, keys: Mapping[Scope, bytes], planning: Planning, inventory: Inventory
) -> dict[Scope, Plan]:
    """The plans that still hold."""
    now = planning.circumstances.now
    entries = memo.load(list(keys.values()))
    plans: dict[Scope, Plan] = {}
    for scope, key in keys.items():
        if key in entries:
            plan = _unpacked(entries[key], now)
            if plan is not None and plan.store == inventory.store:
                plans[scope] = plan
    return plans


def _remember(
    memo: Cache,
    keys: Mapping[Scope, bytes],
    news: Mapping[Scope, Sequence[Memory]],
    plan: Plan,
    planning: Planning,
) -> None:
    """Keep the plan of each scope that was planned, unless it tells ages."""
    told, entries = planning.circumstances, dict[bytes, bytes]()
    for scope, part in _parts(plan, news).items():
        notes = scope_notes(news[scope], planning.settings, told) if plan.notes else ()
        ends = until(news[scope], settings=planning.settings, now=told.now, accessed=told.accessed)
        packed = _packed(replace(part, notes=notes), ends)
        if packed is not None and not part.prunes:
            entries[keys[scope]] = packed
    memo.store(entries)


def _parts(plan: Plan, scopes: Mapping[Scope, Sequence[Memory]]) -> dict[Scope, Plan]:
    """The plan of each scope for itself."""
    of_scope = {memory.id: scope for scope, members in scopes.items() for memory in members}
    empty = replace(plan, totals=(), actions=(), unsure=(), apart=(), gaps=(), fidelity=(), notes=())
    rows: dict[Scope, dict[str, list[object]]] = {scope: defaultdict(list) for scope in scopes}
    for action in plan.actions:
        rows[action.scope]["actions"].append(action)
    for doubt in plan.unsure:
        rows[doubt.scope]["unsure"].append(doubt)
    for total in plan.totals:
        rows[total.scope]["totals"].append(total)
    for pair in plan.apart:
        rows[of_scope[pair[0]]]["apart"].append(pair)
    return {
        scope: replace(empty, **{name: tuple(items) for name, items in row.items()})  # type: ignore[arg-type]
        for scope, row in rows.items()
    }


def _joined(plan: Plan, known: Sequence[Plan]) -> Plan:
    """One plan, in the order and with the names it would have had if all had been planned at once."""
    parts = [plan, *known]
    unsure = [doubt for part in parts for doubt in part.unsure]
    unsure.sort(key=lambda doubt: (doubt.scope, [member.id for member in doubt.members]))
    return replace(
        plan,
        totals=tuple(sorted((t for part in parts for t in part.totals), key=lambda total: total.scope)),
        actions=numbered([action for part in parts for action in part.actions]),
        unsure=tuple(replace(doubt, id=f"u{number}") for number, doubt in enumerate(unsure, 1)),
        apart=tuple(sorted(pair for part in parts for pair in part.apart)),
        notes=summed(part.notes for part in parts),
    )


def _packed(plan: Plan, ends: datetime) -> bytes | None:
    """A plan and until when it holds; None if it does not come back from paper as it was."""
    text = dump_plan(plan)
    try:
        same = parse_plan(text) == plan
    except PlanFileError:
        return None
    return json.dumps([plan.now.isoformat(), ends.isoformat(), text]).encode() if same else None


def _unpacked(value: bytes, now: datetime) -> Plan | None:
    """A plan that holds at this moment, as if it had been made now."""
    try:
        made, ends, text = json.loads(value)
        if not datetime.fromisoformat(made) <= now < datetime.fromisoformat(ends):
            return None
        return replace(parse_plan(text), now=now)
    except (ValueError, TypeError, PlanFileError):
        return None
