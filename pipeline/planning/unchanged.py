"""What was decided about a scope, kept until something about it changes: a night costs what is new.

The verdicts of a scope that lead to anything, and its merges, follow from its memories, the limits, the
models and the rules. They are kept in the cache under a digest of all of these, so that a scope that is as it
was is neither searched nor judged again; ages, budgets and answers are looked at anew each time.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...indexes import FLAT_LIMIT
from ...records import Label, Memory, Scope, Verdict
from ..judging.subjects import NO_KEYS, MetadataKeys
from .hooks import Hooks, United, View
from .merges import Consolidated
from .proposal import Means

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from ..judging.cache import Cache

_RULES = ("models", "indexes", "pipeline/judging", "pipeline/planning", "records.py", "settings.py")
_TABLES = (".py", ".toml")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Merge:
    """A merge without its memories, which the scope holds."""

    members: tuple[str, ...]
    survivor: str | None
    text: str
    verdicts: tuple[Verdict, ...]
    united: United | None


Draft = Callable[[Sequence[Memory], Sequence[Verdict]], list[Consolidated]]
"""Drafts the merges of some scopes from all that was judged about them."""


class Unchanged:
    """The scopes of one plan: what is known of those that did not change, and what is found of the rest."""

    def __init__(self, kind: Hooks, view: View, means: Means, units: Sequence[Memory]) -> None:
        """Look up what is known; nothing, where the kind or the models keep nothing."""
        self._cache: Cache | None = means.models.cache if kind.keeps else None
        self._scopes: dict[Scope, list[Memory]] = defaultdict(list)
        for unit in units:
            self._scopes[unit.scope].append(unit)
        self._keys = _digests(kind, view, means, self._scopes) if self._cache else {}
        stored = self._cache.load(list(self._keys.values())) if self._cache else {}
        self._known = {
            scope: _said().validate_json(stored[key]) for scope, key in self._keys.items() if key in stored
        }
        self._all: dict[Scope, list[Verdict]] = {}
        if self._known:
            same = sum(len(self._scopes[scope]) for scope in self._known)
            _log.info(
                "%d of %d memories are in scopes that did not change since they were judged: %d of %d scopes",
                same,
                len(units),
                len(self._known),
                len(self._scopes),
            )

    def verdicts(self, judge: Callable[[Sequence[Memory]], Sequence[Verdict]]) -> list[Verdict]:
        """What was judged about pairs; where a scope is as it was, only what leads to anything."""
        new = [scope for scope in self._scopes if scope not in self._known]
        self._judge(new, judge)
        said = {**self._known, **{scope: self._all[scope] for scope in new}}
        return [verdict for scope in self._scopes for verdict in said[scope]]

    def merges(
        self, judge: Callable[[Sequence[Memory]], Sequence[Verdict]], draft: Draft, *, gone: set[str]
    ) -> list[Consolidated]:
        """The merges of all scopes, drafted anew where a scope changed or something else of it goes.

        Args:
            judge: Judges all pairs of some scopes.
            draft: Drafts their merges.
            gone: Ids of memories that are pruned.
        """
        said = {**self._known, **self._all}
        scopes = [scope for scope in self._scopes if any(verdict.auto for verdict in said[scope])]
        keys = {scope: self._merge_key(scope, gone) for scope in scopes if scope in self._keys}
        stored = self._cache.load(list(keys.values())) if self._cache else {}
        new = [scope for scope in scopes if scope not in keys or keys[scope] not in stored]
        self._judge([scope for scope in new if scope not in self._all], judge)
        units = [unit for scope in new for unit in self._scopes[scope]]
        drafted = draft(units, [verdict for scope in new for verdict in self._all[scope]])
        of_scope: dict[Scope, list[Consolidated]] = defaultdict(list)
        for merge in drafted:
            of_scope[merge.members[0].scope].append(merge)
        if self._cache:
            self._cache.store({keys[scope]: _dumped(of_scope[scope]) for scope in new if scope in keys})
        for scope, key in keys.items():
            if key in stored:
                of_scope[scope] = _merges_of(stored[key], self._scopes[scope])
        return [merge for scope in scopes for merge in of_scope[scope]]

    def _judge(self, scopes: Sequence[Scope], judge: Callable[[Sequence[Memory]], Sequence[Verdict]]) -> None:
        """Judge all pairs of these scopes, and keep what leads to anything."""
        if not scopes:
            return
        scope_of = {unit.id: scope for scope in scopes for unit in self._scopes[scope]}
        self._all |= {scope: [] for scope in scopes}
        for verdict in judge([unit for scope in scopes for unit in self._scopes[scope]]):
            self._all[scope_of[verdict.pair.a]].append(verdict)
        if self._cache:
            told = {
                scope: tuple(verdict for verdict in self._all[scope] if verdict.label is not Label.DISTINCT)
                for scope in scopes
            }
            self._cache.store(
                {self._keys[scope]: _said().dump_json(told[scope]) for scope in scopes if scope in self._keys}
            )

    def _merge_key(self, scope: Scope, gone: set[str]) -> bytes:
        going = sorted(unit.id for unit in self._scopes[scope] if unit.id in gone)
        return hashlib.sha256(repr(("merges", self._keys[scope], going)).encode()).digest()


@functools.cache
def _said() -> TypeAdapter[tuple[Verdict, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Verdict, ...])


@functools.cache
def _drafted() -> TypeAdapter[tuple[_Merge, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[_Merge, ...])


def _dumped(merges: Iterable[Consolidated]) -> bytes:
    return _drafted().dump_json(
        tuple(
            _Merge(tuple(m.id for m in each.members), each.survivor, each.text, each.verdicts, each.united)
            for each in merges
        )
    )


def _merges_of(stored: bytes, units: Iterable[Memory]) -> list[Consolidated]:
    by_id = {unit.id: unit for unit in units}
    return [
        Consolidated(
            tuple(by_id[name] for name in each.members), each.survivor, each.text, each.verdicts, each.united
        )
        for each in _drafted().validate_json(stored)
    ]


def _digests(
    kind: Hooks, view: View, means: Means, scopes: Mapping[Scope, Sequence[Memory]]
) -> dict[Scope, bytes]:
    """For each scope a digest of all that its verdicts and merges depend on.

    A scope that is searched approximately has none: the recall of each search is told.
    """
    models, settings = means.models, means.settings
    scopes_of: dict[str, set[Scope]] = defaultdict(set)
    for memory in view.inventory.memories:
        scopes_of[memory.text_hash].add(memory.scope)
    refused: dict[Scope | None, list[str]] = defaultdict(list)
    for name in sorted(means.rejected):
        for scope in {scope for part in name.split(":") for scope in scopes_of.get(part, (None,))}:
            refused[scope].append(name)
    common = (
        rules_digest(),
        kind.keeps,
        models.encoder.name,
        models.scorer.name,
        models.calibrated,
        (settings.floor, settings.neighbours, settings.single),
        refused[None],
    )
    return {
        scope: _digest(common, refused[scope], view.keys.get(scope, NO_KEYS), units)
        for scope, units in scopes.items()
        if len(units) <= FLAT_LIMIT
    }


def _digest(common: object, refused: Sequence[str], keys: MetadataKeys, units: Iterable[Memory]) -> bytes:
    subjects = (sorted(keys.subjects), sorted(keys.unclear))
    told = [
        (unit.id, unit.text, unit.scope.ids, unit.category, unit.created_at, unit.updated_at, unit.metadata)
        for unit in units
    ]
    said = repr(("verdicts", common, refused, subjects, told))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


@functools.cache
def rules_digest() -> str:
    """A digest of the code and the tables that decide: other rules decide everything anew."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for name in _RULES:
        place = root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in _TABLES:
                digest.update(path.read_bytes())
    return digest.hexdigest()
