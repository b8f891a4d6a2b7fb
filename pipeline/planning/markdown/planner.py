"""A pass over Markdown memories: the core's merges, with drift, dates, links, logs and the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....models.words import significant_words
from ....records import ActionKind, Inventory, rejection_key
from ....settings import Settings
from ...actions import Merge, Resolve, Side
from ...answers import held, unanswered
from ...plan import Plan
from ...rules.markdown.contradictions import after, sentence_conflicts
from ...rules.markdown.drift import YOUNG
from ...rules.markdown.screen import Screened, same_statement
from ...stores.base import ScopeFilter
from ...stores.markdown.directories import sessions
from ...stores.markdown.store import MarkdownStore
from ...stores.markdown.transcripts import Quotation, evidence, used_lately
from ..plain import core_plan
from ..proposal import Means, Proposal
from .answers import completed, with_answers
from .news import news_of, present_indexes
from .settlement import IndexRules, Settled, Wishes, settle, superseded
from .survey import Cuts, Looks, Planned, Survey, as_stored, remaining, survey

if TYPE_CHECKING:
    from ...rules.markdown.drift import Drift

NEVER = timedelta(days=36_500)
"""Age alone prunes no Markdown memory: only references that are provably gone do."""
KEYWORD_FLOOR = 0.39
"""Just under the overlap from which the keyword rule says anything; the cosine of words is never below it."""


@dataclass(frozen=True, slots=True)
class MarkdownFindings:
    """What the planner of Markdown memories found out for its proposal.

    Attributes:
        survey: What was found, with what a person agreed to so far.
        settled: What follows from it.
    """

    survey: Survey
    settled: Settled


class MarkdownPlanner:
    """Plans changes of the memory directories of one project."""

    def __init__(
        self,
        store: MarkdownStore,
        *,
        wishes: Wishes | None = None,
        supersede: bool = False,
        transcripts: Path | None = None,
        dates: bool | None = None,
        certain: bool = False,
    ) -> None:
        """Bind a store.

        Args:
            store: Whose memories.
            wishes: Which kinds of changes are wanted; all if omitted.
            supersede: Newer contradicting statements win without a person.
            transcripts: Folder of session transcripts to search for evidence; where agents keep them if
                omitted.
            dates: Write relative dates out; where a person looks on, if omitted.
            certain: Only what needs no person, although one looks on: merges of equal statements, no mended
                paths, and an index loses only what is known to be gone.
        """
        self._store = store
        self.wishes = wishes or Wishes()
        self._supersede = supersede
        self._transcripts = transcripts
        self._dates = dates
        self._certain = certain

    def limits(self, settings: Settings) -> Settings:
        """The same limits, but neither age nor brevity prunes, nor what a rule for extractors calls junk."""
        update: dict[str, Any] = {"stale_after": NEVER, "retention": {}, "min_words": 0}
        update |= {"hygiene": (), "hygiene_auto": ()}
        if settings.scorer == "keywords" and settings.encoder is None:
            update["floor"] = max(settings.floor, KEYWORD_FLOOR)
        return settings.model_copy(update=update)

    def propose(self, inventory: Inventory, means: Means) -> Proposal:
        """See `Planner.propose`; what a rule answers is answered."""
        return self._settled(self._survey(inventory, means), {}, means)

    def complete(self, proposal: Proposal, choices: Mapping[str, Side | None], means: Means) -> Proposal:
        """The plan that follows from the answers, index included; nothing is judged."""
        return self._settled(replace(proposal.findings.survey, plan=proposal.asked), choices, means)

    def answered(self, plan: Plan, choices: Mapping[str, Side | None]) -> Plan:
        """The losing side goes; of a memory that says more than the losing sentence only that one."""
        chosen = {item.id: choices[item.id] for item in plan.conflicts if choices.get(item.id) is not None}
        actions = (
            action.choose(chosen[action.id])
            if isinstance(action, Resolve) and action.id in chosen
            else action
            for action in plan.actions
        )
        return with_answers(replace(plan, actions=tuple(actions)), only=frozenset(chosen)).with_choices({})

    def completed(self, plan: Plan) -> Plan:
        """With its answers carried out, and the indexes that follow from it."""
        memories = {memory.id: memory for memory in self._store.read(ScopeFilter()).memories}
        directories, indexes = self._store.directories, present_indexes(self._store)
        return completed(with_answers(plan), memories, directories=directories, indexes=indexes)

    def remember(self, *, now: datetime, run: str) -> None:
        """Nothing to remember: no later run compares with this one."""

    def condemned(self, inventory: Inventory, means: Means) -> int:
        """How many memories a pass would prune; needs no model."""
        surveyed = self._surveyed(inventory, Cuts(), means, planned=lambda view: self._nothing(view, means))
        return len(surveyed.plan.prunes)

    def evidence(self, surveyed: Survey) -> dict[str, tuple[Quotation, ...]]:
        """What the transcripts say about memories in doubt; nothing without transcripts."""
        folder = self._sessions
        if folder is None:
            return {}
        terms = {drift.memory: drift.terms for drift in surveyed.flagged}
        for conflict in surveyed.plan.conflicts:
            for memory_id in (*conflict.a, *conflict.b):
                own = sorted(significant_words(conflict.topic), key=lambda word: (-len(word), word))
                terms.setdefault(memory_id, tuple(own[:2]))
        return evidence(folder, terms)

    def _is_certain(self, means: Means) -> bool:
        return self._certain or means.unattended

    def _survey(self, inventory: Inventory, means: Means) -> Survey:
        cuts = Cuts()
        surveyed = self._surveyed(inventory, cuts, means)
        while self._supersede:
            more = self._superseded(surveyed, means)
            if more is None:
                break
            cuts = more
            surveyed = self._surveyed(inventory, cuts, means, drift=surveyed.drift)
        surveyed = replace(surveyed, plan=_advised(surveyed.plan, means))
        return self._with_conflicts(surveyed, means, merged=True)

    def _settled(self, surveyed: Survey, choices: Mapping[str, Side | None], means: Means) -> Proposal:
        news, added = news_of(self._store, surveyed, now=means.now) if self.wishes.texts else ({}, [])
        alone = not self.wishes.kinds and not self.wishes.texts
        settled = settle(
            surveyed,
            choices,
            directories=self._store.directories,
            indexes=present_indexes(self._store),
            news=news,
            additions=added,
            wishes=self.wishes,
            rules=IndexRules(certain=self._is_certain(means), shorten=alone),
        )
        # What a survey proposes was held against the answers before; what settling adds is held now.
        plan = unanswered(settled.plan, means.rejected, asked=settled.contradicted)
        return Proposal(plan, surveyed.plan, MarkdownFindings(surveyed, replace(settled, plan=plan)))

    def _surveyed(
        self,
        inventory: Inventory,
        cuts: Cuts,
        means: Means,
        *,
        drift: Mapping[str, Drift] | None = None,
        planned: Planned | None = None,
    ) -> Survey:
        texts, certain = self.wishes.texts, self._is_certain(means)
        dates = not means.unattended if self._dates is None else self._dates
        looks = Looks(
            dates=texts and dates,
            mends=texts and not certain,
            asks=ActionKind.MERGE in self.wishes.kinds,
            merges=same_statement if certain else lambda _a, _b: True,
            used=lambda terms: self._used(terms, now=means.now),
        )
        surveyed = survey(
            inventory,
            planned or (lambda view: self._merges(view, means)),
            root=self._store.root,
            directories={directory.name: directory.path for directory in self._store.directories},
            now=means.now,
            looks=looks,
            cuts=cuts,
            drift=drift,
        )
        return replace(surveyed, plan=unanswered(surveyed.plan, means.rejected))

    def _merges(self, inventory: Inventory, means: Means) -> Plan:
        """The core's plan; the scorer is asked only about pairs that can be duplicates."""
        if ActionKind.MERGE not in self.wishes.kinds:
            return self._nothing(inventory, means)
        attended = replace(means, unattended=False)
        return core_plan(inventory, self._store, attended, screen=Screened)

    def _nothing(self, inventory: Inventory, means: Means) -> Plan:
        scorer = means.settings.scorer
        return Plan(inventory.store, self._store.kind, means.now, scorer, (), (), gaps=inventory.gaps)

    def _used(self, terms: Mapping[str, Sequence[str]], *, now: datetime) -> frozenset[str]:
        """Memories whose subject a recent session mentioned."""
        folder = self._sessions
        return used_lately(folder, terms, since=(now - YOUNG).timestamp()) if folder else frozenset()

    @property
    def _sessions(self) -> Path | None:
        return self._transcripts or sessions(self._store.root)

    def _with_conflicts(self, surveyed: Survey, means: Means, *, merged: bool) -> Survey:
        if ActionKind.RESOLVE not in self.wishes.kinds:
            return surveyed
        conflicts = sentence_conflicts(
            remaining(surveyed, merged=merged),
            means.models.asked(),
            thresholds=means.models.calibrated,
            rejected=means.rejected,
        )
        stored = [as_stored(conflict, surveyed.memories) for conflict in conflicts]
        # Texts are judged as they will read; a refusal is known by the texts as they stand.
        left = [item for item in stored if rejection_key(*item.members) not in means.rejected]
        return replace(surveyed, plan=replace(surveyed.plan, actions=(*surveyed.plan.actions, *left)))

    def _superseded(self, surveyed: Survey, means: Means) -> Cuts | None:
        """What the rule that newer supersedes takes away besides; None if that is nothing more."""
        surveyed = self._with_conflicts(surveyed, means, merged=False)
        texts, winners = dict(surveyed.cuts.texts), dict(surveyed.cuts.winners)
        conflicts = dict(surveyed.cuts.conflicts)
        sides = superseded(surveyed)
        kept = held(means.answers, surveyed.memories.values())
        for conflict in surveyed.plan.conflicts:
            side = sides[conflict.id]
            winner, loser = (conflict.b[0], conflict.a[0]) if side == "b" else (conflict.a[0], conflict.b[0])
            standing = {name: texts.get(name, surveyed.text(name)) for name in (winner, loser)}
            if side is None or loser in kept or None in standing.values():
                continue
            rest = after(conflict, side, {name: str(text) for name, text in standing.items()})
            if rest is None or rest == standing[loser]:
                continue
            texts[loser] = rest or None
            winners[loser] = winner
            if not rest:
                conflicts[loser] = replace(conflict, id=f"s{len(conflicts) + 1}").choose(side)
        return Cuts(texts, winners, conflicts) if texts != surveyed.cuts.texts else None


def _advised(plan: Plan, means: Means) -> Plan:
    """The plan after a second opinion; it may propose merges, and no conflict of whole files."""
    advised = means.advise(plan)
    known = {action.id for action in plan.actions}
    odd = {a.id for a in advised.actions if a.id not in known and not isinstance(a, Merge)}
    left = [doubt for doubt in plan.unsure if doubt.id in odd]
    actions = tuple(action for action in advised.actions if action.id not in odd)
    return replace(advised, actions=actions, unsure=(*advised.unsure, *left))
