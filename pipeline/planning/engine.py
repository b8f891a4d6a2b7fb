"""The one engine: from what a store holds to a plan, and from answers to the plan that is applied.

A memory is merged, pruned, rewritten or left alone, never two of these; a conflict names all that is removed
with the side that loses. A plan is a pure function of its arguments: no clock, no order of the input.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...indexes import FLAT_LIMIT
from ...models.text.words import counted
from ...records import Inventory, Label, Memory, Scope, Verdict
from ..answers import unanswered
from ..judging.cache import Cache, OnStage, rules_digest
from ..judging.judge import are_rivals
from ..judging.subjects import NO_KEYS
from ..plan import Action, Merge, Plan, Prune, Resolve, ScopeTotal, TextChange
from .drafts import conflict_of_pair, merge_action, merge_of, with_rests
from .hooks import Found, Hooks, Judge, Means, Proposal, United, View
from .merges import Apart, Collapsed, Consolidated, CopyIds, collapse, draft_merges, expand
from .stages import DRAFT, SCOPES, in_stages

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Doubt = Merge | Resolve | Prune
LONGEST_JUDGED = 1_000_000  # characters of a memory; as many as a Markdown file may have bytes
MEMORIES_AT_ONCE = 4_096  # in scopes that are judged together, unless one has more
_PREFIX = {"merge": "m", "resolve": "c", "prune": "p"}

_JUDGED = tuple[tuple[Verdict, ...], CopyIds, Apart]
_MERGES = list[tuple[tuple[str, ...], str | None, str, tuple[Verdict, ...], United | None]]
_log = logging.getLogger(__name__)


def propose(kind: Hooks, inventory: Inventory, means: Means) -> Proposal:
    """Everything worth doing about an inventory, without questions; changes nothing."""
    inventory, told = _within_bounds(inventory)
    view = kind.view(inventory, means)
    with in_stages(means.observer) as on_stage:
        plan = planned(kind, view, means, on_stage)
    plan = replace(plan, notes=(*told, *plan.notes))
    asked = unanswered(plan, means.rejected).only(*kind.wanted)
    if means.say is not None and means.settings.second_opinion and asked.unsure and not asked.gaps:
        from .doubts import advise

        asked = advise(asked, kind, view, means, means.say).only(*kind.wanted)
    present = kind.present()
    followed = unanswered(kind.follow(asked, present), means.rejected)
    return Proposal(followed, asked, view, present)


def planned(kind: Hooks, view: View, means: Means, on_stage: OnStage = lambda *_: None) -> Plan:
    """What the engine and the rules of a kind propose, before answers and consequences."""
    known = _Scopes(kind, view, means, on_stage)
    units = tuple(unit for each in known.collapsed.values() for unit in each.standing)
    copies = {name: some for each in known.collapsed.values() for name, some in each.copies.items()}
    found, merges = kind.rules(view, means, ()), []
    while True:
        going = {memory_id for prune in _prunes(found) for memory_id in prune.removes}
        gone = {m.id for m in units if going.issuperset({m.id, *(c.id for c in copies.get(m.id, ()))})}
        whole = expand(known.merges(gone), units, copies)
        merges = [merge_action(kind, view.stored, merge) for merge in whole if not merge.ids <= going]
        more = kind.rules(view, means, merges)
        if going.issuperset(name for prune in _prunes(more) for name in prune.removes):
            break
        found = more
    verdicts = known.verdicts
    actions = _actions(kind, view, verdicts, merges, found)
    present = [memory.scope for memory in view.inventory.memories if not memory.is_retired(means.now.date())]
    plan = Plan(
        store=view.inventory.store,
        kind=kind.store.kind,
        now=means.now,
        scorer=means.models.scorer.name,
        totals=tuple(ScopeTotal(scope, count) for scope, count in sorted(Counter(present).items())),
        actions=actions,
        gaps=view.inventory.gaps,
        fidelity=view.inventory.fidelity,
        apart=tuple(sorted(pair for each in known.collapsed.values() for pair in each.apart)),
        notes=(*found.notes, *dict.fromkeys(known.notes)),
    )
    # What a person answered already is not in the way of a question.
    open_ = unanswered(plan, means.rejected).actions
    unsure = _doubts(kind, view, open_, found, known)

    def shortening(action: Any) -> Any:  # noqa: ANN401  (the same sort of action)
        return with_rests(action, kind, known.judge_alone) if isinstance(action, Resolve) else action

    return replace(plan, actions=tuple(map(shortening, actions)), unsure=tuple(map(shortening, unsure)))


def _within_bounds(inventory: Inventory) -> tuple[Inventory, tuple[str, ...]]:
    """The inventory in which what is too long to be judged is left alone, like what is pinned; and a note."""
    long = {memory.id for memory in inventory.memories if len(memory.text) > LONGEST_JUDGED}
    if not long:
        return inventory, ()
    memories = tuple(replace(m, pinned=True) if m.id in long else m for m in inventory.memories)
    what = f"{counted(len(long), 'memory', 'memories')} of more than {LONGEST_JUDGED:,} characters"
    return replace(inventory, memories=memories), (
        f"{what} {'is' if len(long) == 1 else 'are'} left alone: {', '.join(sorted(long)[:3])}.",
    )


def _prunes(found: Found) -> list[Prune]:
    return [action for action in found.actions if isinstance(action, Prune)]


def _actions(
    kind: Hooks, view: View, verdicts: Sequence[Verdict], merges: Sequence[Merge], found: Found
) -> tuple[Action, ...]:
    merged = {member.id for merge in merges for member in merge.members}
    prunes = [prune for prune in _prunes(found) if not merged.intersection(prune.removes)]
    conflicts = kind.conflicts(view, verdicts, [*merges, *prunes])
    actions: list[Action] = [*merges, *conflicts, *prunes]
    taken = {member.id for action in actions for member in action.members}
    texts = [
        action
        for action in found.actions
        if isinstance(action, TextChange) and not taken.intersection(m.id for m in action.members)
    ]
    numbered: list[Action] = []
    for kind_of, prefix in _PREFIX.items():
        same = sorted((each for each in actions if each.kind == kind_of), key=_place)
        numbered += [replace(action, id=f"{prefix}{number}") for number, action in enumerate(same, 1)]
    return (*numbered, *(replace(text, id=text.id or f"w{number}") for number, text in enumerate(texts, 1)))


def _place(action: Action) -> tuple[Scope, list[str]]:
    return action.scope, [member.id for member in action.members]


def _doubts(
    kind: Hooks, view: View, actions: Iterable[Action], found: Found, known: _Scopes
) -> tuple[Doubt, ...]:
    """What a person may decide: pairs near a threshold, held back by a guard, or doubted by the kind itself.

    Of a pair of which one memory is touched by an action anyway the next pass decides.
    """
    actions = tuple(actions)
    taken = {member.id for action in actions for member in action.members}
    units = {unit.id: unit for unit in view.units}
    doubts: list[Doubt] = []
    for verdict in known.verdicts:
        doubtful = verdict.label in (Label.UNSURE, Label.DUPLICATE)
        if not doubtful or taken & {verdict.pair.a, verdict.pair.b}:
            continue
        if verdict.probabilities[0] < verdict.probabilities[1] or are_rivals(verdict):
            doubts.append(conflict_of_pair(verdict, view.stored))
        elif merge := merge_of(kind, units, view.stored, [verdict], judge_new=known.judge_alone):
            doubts.append(merge)
    doubts.sort(key=_place)
    asked = {frozenset(member.id for member in doubt.members) for doubt in doubts}
    going = {name for action in actions for name in action.removes}
    merged = {member.id for action in actions if isinstance(action, Merge) for member in action.members}
    for doubt in found.doubts:
        ids = frozenset(member.id for member in doubt.members)
        # Of a memory that stays any number of sentences may be asked about.
        said = getattr(doubt, "said", ())
        settled = ids & (going | merged) if said else taken & ids or ids in asked
        doubts += [] if settled else [doubt]
    return tuple(replace(doubt, id=f"u{number}") for number, doubt in enumerate(doubts, 1))


def judged(kind: Hooks, inventory: Inventory, means: Means) -> tuple[View, tuple[Verdict, ...]]:
    """How a kind looks at an inventory, and the verdicts on its units; plans nothing."""
    view = kind.view(_within_bounds(inventory)[0], means)
    return view, kind.judge(view, means, lambda *_: None).all_pairs(view.units)


class _Scopes:
    """The scopes of one plan: what is known of those that did not change, and what is found of the rest.

    The verdicts of a scope that lead to anything, and its merges, follow from its memories, the limits, the
    models and the rules. They are kept in the cache under a digest of all of these, so that a scope that is
    as it was is neither searched nor judged again; ages, budgets and answers are looked at anew each time.
    The others are judged and drafted some at a time, and what they needed is let go.
    """

    def __init__(self, kind: Hooks, view: View, means: Means, on_stage: OnStage) -> None:
        self._kind, self._view, self._means, self._on_stage = kind, view, means, on_stage
        self._cache: Cache | None = means.models.cache if kind.keeps else None
        scopes: dict[Scope, list[Memory]] = defaultdict(list)
        for unit in sorted(view.units, key=lambda unit: unit.id):
            scopes[unit.scope].append(unit)
        self._keys = _digests(kind, view, means, scopes) if self._cache else {}
        known = self._load(_JUDGED, self._keys)
        self._said: dict[Scope, tuple[Verdict, ...]] = {scope: said for scope, (said, *_) in known.items()}
        self.collapsed = {
            scope: Collapsed.again(units, *known[scope][1:]) if scope in known else self._collapse(units)
            for scope, units in scopes.items()
        }
        self.notes: list[str] = []
        self._alone: Judge | None = None
        self._merges: dict[Scope, tuple[list[str], list[Consolidated]]] = {}  # and what went besides
        # What a kind found while it judged, its rules may ask for: it keeps nothing, and is judged first.
        self._judged = None if kind.keeps else self._judge(list(scopes))
        if known:
            told = (
                "%d of %d memories are in scopes that did not change since they were judged: %d of %d scopes"
            )
            same = sum(len(scopes[scope]) for scope in known)
            _log.info(told, same, len(view.units), len(known), len(scopes))

    def _collapse(self, units: Sequence[Memory]) -> Collapsed:
        if self._kind.collapses is None:
            return Collapsed(tuple(units), {}, ())
        fewest = self._kind.collapses
        return collapse(units, rejected=self._means.rejected, keys=self._view.keys, fewest=fewest)

    @property
    def verdicts(self) -> list[Verdict]:
        """What was judged about pairs and leads to anything, once merges were asked for."""
        return [verdict for scope in self.collapsed for verdict in self._said[scope]]

    def judge_alone(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdict on texts that stand in no store, as a draft against its sources is judged."""
        self._alone = self._alone or self._kind.judge(self._view, self._means, lambda *_: None)
        return self._alone.drafted(new, others)

    def merges(self, gone: set[str]) -> list[Consolidated]:
        """The merges of all scopes, drafted anew where a scope changed or something else of it goes."""
        going = {
            scope: [unit.id for unit in each.standing if unit.id in gone]
            for scope, each in self.collapsed.items()
        }
        asked = [
            scope for scope in going if scope not in self._merges or self._merges[scope][0] != going[scope]
        ]
        keys = {
            scope: hashlib.sha256(repr(("merges", self._keys[scope], going[scope])).encode()).digest()
            for scope in asked
            if scope in self._keys
        }
        known = self._load(_MERGES, keys)
        for scope, rows in known.items():
            by_id = {unit.id: unit for unit in self.collapsed[scope].standing}
            merges = [Consolidated(tuple(by_id[name] for name in members), *rest) for members, *rest in rows]
            self._merges[scope] = going[scope], merges
        new = [s for s in asked if s not in known and (s not in self._said or _merging(self._said[s]))]
        for number, part in enumerate(parts := self._parts(new)):
            if len(parts) > 1:
                self._on_stage(SCOPES, number, len(parts))
            judge, said = self._judged or self._judge(part)
            self._merges |= {scope: (going[scope], []) for scope in part}
            for merge in self._drafts(part, judge, said, gone):
                self._merges[merge.members[0].scope][1].append(merge)
            fresh = {keys[s]: [merge.kept for merge in self._merges[s][1]] for s in part if s in keys}
            self._store(_MERGES, fresh)
        return [
            merge for scope in self.collapsed if scope in self._merges for merge in self._merges[scope][1]
        ]

    def _parts(self, scopes: Sequence[Scope]) -> list[list[Scope]]:
        """Whole scopes, so many that their pairs fit into memory and fill the batches of a network."""
        if self._judged is not None:
            return [list(scopes)]
        parts: list[list[Scope]] = []
        size = MEMORIES_AT_ONCE
        for scope in scopes:
            if size >= MEMORIES_AT_ONCE:
                parts.append([])
                size = 0
            parts[-1].append(scope)
            size += len(self.collapsed[scope].standing)
        return parts

    def _load(self, kept: Any, keys: Mapping[Scope, bytes]) -> dict[Scope, Any]:  # noqa: ANN401  (a type)
        stored = self._cache.load(list(keys.values())) if self._cache else {}
        adapter = _adapter(kept)
        return {scope: adapter.validate_json(stored[key]) for scope, key in keys.items() if key in stored}

    def _store(self, kept: Any, values: Mapping[bytes, Any]) -> None:  # noqa: ANN401
        from pydantic_core import PydanticSerializationError

        rows: dict[bytes, bytes] = {}
        for key, value in values.items() if self._cache else ():
            with contextlib.suppress(PydanticSerializationError):  # half a sign is judged anew
                rows[key] = _adapter(kept).dump_json(value)
        if self._cache:
            self._cache.store(rows)

    def _drafts(
        self, scopes: Iterable[Scope], judge: Judge, said: Mapping[Scope, Sequence[Verdict]], gone: set[str]
    ) -> list[Consolidated]:
        """The merges of these scopes, of each category for itself."""
        groups: dict[tuple[Scope, str | None], list[Memory]] = defaultdict(list)
        of_group: dict[tuple[Scope, str | None], list[Verdict]] = defaultdict(list)
        for scope in filter(lambda scope: _merging(said[scope]), scopes):
            category_of = {unit.id: unit.category for unit in self.collapsed[scope].standing}
            for unit in self.collapsed[scope].standing:
                groups[scope, unit.category].append(unit)
            for verdict in said[scope]:
                of_group[scope, category_of[verdict.pair.a]].append(verdict)
        mergeable = [group for group in groups if _merging(of_group[group])]
        drafts: list[Consolidated] = []
        for number, group in enumerate(mergeable):
            self._on_stage(DRAFT, number, len(mergeable))
            left, leaving = of_group[group], set[str]()
            while True:
                staying = [unit for unit in groups[group] if unit.id not in leaving]
                merges = draft_merges(
                    staying, left, judge_new=judge.drafted, unite=self._kind.unite, keys=self._view.keys
                )
                kept = {name for merge in merges if not merge.ids <= gone for name in merge.ids}
                more = {unit.id for unit in staying if unit.id in gone} - kept
                if not more:
                    break
                # What is pruned may have stood in the way of other merges, so without it they are drafted
                # again; else the next pass would find them.
                leaving |= more
                left = judge.staying([unit for unit in staying if unit.id not in more], of_group[group])
            drafts += [merge for merge in merges if not merge.ids <= gone]
        self._on_stage(DRAFT, len(mergeable), len(mergeable))
        return drafts

    def _judge(self, scopes: Sequence[Scope]) -> tuple[Judge, dict[Scope, list[Verdict]]]:
        """All verdicts on these scopes; those that lead to anything are kept."""
        judge = self._kind.judge(self._view, self._means, self._on_stage)
        scope_of = {unit.id: scope for scope in scopes for unit in self.collapsed[scope].standing}
        said: dict[Scope, list[Verdict]] = {scope: [] for scope in scopes}
        units = [unit for scope in scopes for unit in self.collapsed[scope].standing]
        for verdict in judge.all_pairs(units) if units else ():
            said[scope_of[verdict.pair.a]].append(verdict)
        told = {scope: tuple(v for v in said[scope] if v.label is not Label.DISTINCT) for scope in scopes}
        self._said |= told
        rows = {self._keys[s]: (told[s], *self.collapsed[s].kept) for s in scopes if s in self._keys}
        self._store(_JUDGED, rows)
        self.notes += judge.notes
        return judge, said


def _merging(verdicts: Iterable[Verdict]) -> bool:
    return any(verdict.auto for verdict in verdicts)


@functools.cache
def _adapter(kept: Any) -> TypeAdapter[Any]:  # noqa: ANN401  (a type)
    from pydantic import TypeAdapter

    return TypeAdapter(kept)


def _digests(
    kind: Hooks, view: View, means: Means, scopes: Mapping[Scope, Sequence[Memory]]
) -> dict[Scope, bytes]:
    models, settings = means.models, means.settings
    scopes_of: dict[str, set[Scope]] = defaultdict(set)
    for memory in view.inventory.memories if means.rejected else ():
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
    digests = {}
    for scope, units in scopes.items():
        if len(units) > FLAT_LIMIT:
            continue
        subjects = view.keys.get(scope, NO_KEYS).told
        told = [
            (m.id, m.text, m.scope.ids, m.category, m.created_at, m.updated_at, m.metadata) for m in units
        ]
        said = repr(("verdicts", common, refused[scope], subjects, told))
        digests[scope] = hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()
    return digests
