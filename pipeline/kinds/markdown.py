"""Markdown memory directories as a kind of store: files and list entries, with an index that follows them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...indexes import exact_groups
from ...models.merger import MergeRefused
from ...models.same_statement import same_statement, statement_key
from ...models.text.words import significant_words
from ...records import ActionKind, Candidate, Evidence, Inventory, Label, Memory, Scope, Verdict, text_hash
from ...settings import Settings
from ..answers import Say, keys_of, standing
from ..judging.cache import OnStage
from ..judging.candidates import SAME_TEXT, Block, Kept
from ..judging.inventory import Judging
from ..judging.judge import RULE
from ..judging.statements import Finding, Reader, Statement, findings, sharing
from ..plan import Action, Cause, Merge, Plan, Prune, Resolve
from ..planning import markdown_look as look
from ..planning.drafts import merge_action
from ..planning.hooks import Entails, Found, Judge, Means, Proposal, United, View
from ..planning.markdown_follow import follow
from ..planning.merges import LONG_AGO, Consolidated
from ..reporting.markdown import MarkdownReport, PlanReport, left_out
from ..reporting.report import Report
from ..rules.markdown_dates import absolute, day_of
from ..rules.markdown_drift import YOUNG, check_drift, condemned, mended
from ..rules.markdown_prose import combined, merely_joins, statements
from ..rules.markdown_signal import Fact, gather
from ..stores.base import ScopeFilter
from ..stores.markdown.directories import GATHERED, sessions
from ..stores.markdown.document import file_of, whole_id
from ..stores.markdown.project import Quotation, evidence, used_lately
from ..stores.markdown.store import MarkdownStore
from ..writing.journal import Journal
from . import Kind

NEVER = timedelta(days=36_500)
"""Age alone prunes no Markdown memory: only references that are provably gone do."""
KEYWORD_FLOOR = 0.39
"""Just under the overlap from which the keyword rule says anything; the cosine of words is never below it."""
_KINDS = frozenset({ActionKind.MERGE, ActionKind.RESOLVE, ActionKind.PRUNE})
_JUDGED = frozenset({ActionKind.MERGE, ActionKind.RESOLVE})


class MarkdownKind(Kind):
    """The memory directories of one project."""

    store: MarkdownStore
    collapses = 20  # fewer copies are compared each with each, and `unite` chooses

    def __init__(
        self,
        store: MarkdownStore,
        *,
        only: Collection[ActionKind] | None = None,
        supersede: bool = False,
        transcripts: Path | None = None,
        dates: bool | None = None,
    ) -> None:
        """Bind a store; with `only` propose some kinds of actions, and the index, else texts, too.

        With `supersede` newer contradicting statements win without a person. Evidence is searched in
        `transcripts`, where agents keep them if omitted; `dates` writes relative ones out, if omitted where a
        person looks on.
        """
        self.store = store
        self.wanted = _KINDS if only is None else frozenset(only)
        self._texts = only is None
        self._supersede, self._dates = supersede, dates
        self._strict = False  # no person looks on
        self._means: Means | None = None
        self._transcripts = transcripts or sessions(store.root)
        self._looked: look.MarkdownView | None = None
        self._told: list[str] = []
        self._judged: tuple[tuple[Memory, ...], list[Statement], list[Finding]] | None = None

    def limits(self, settings: Settings) -> Settings:
        """The same limits, but neither age nor brevity prunes, nor what a rule for extractors calls junk."""
        update: dict[str, Any] = {"stale_after": NEVER, "retention": {}, "min_words": 0}
        update |= {"hygiene": (), "hygiene_auto": ()}
        if settings.scorer == "keywords" and settings.encoder is None:
            update["floor"] = max(settings.floor, KEYWORD_FLOOR)
        return settings.model_copy(update=update)

    def view(self, inventory: Inventory, means: Means) -> look.MarkdownView:
        """The memories as they will read: dates written out, moved paths mended, overruled sentences gone."""
        self._means = means
        view = self._look(inventory, means)
        if self._supersede and ActionKind.RESOLVE in self.wanted:
            # what an undo gave back, no rule changes unasked
            back = standing(means.answers, inventory.memories, Say.TAKEN_BACK)
            kept = frozenset(about.id for answer in back for about in answer.about)
            view = look.superseded(view, lambda memories: self._questions(view, memories)[0], kept)
        self._looked = view
        return replace(view, units=tuple(view.staying) if ActionKind.MERGE in self.wanted else ())

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What the project says is gone goes; sentences and files that may say the same are asked about."""
        view = cast("look.MarkdownView", view)
        if view.inventory.gaps or _JUDGED.isdisjoint(self.wanted):
            return Found(actions=view.prunes, doubts=view.over)
        doubts = self._questions(view, view.staying, merges)[1]
        wanted = tuple(doubt for doubt in doubts if doubt.kind in self.wanted)
        return Found(actions=view.prunes, doubts=(*wanted, *view.over), notes=tuple(self._told))

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """The session's models; whole memories are judged where they share most of their words."""
        models, limits = means.models, means.settings
        judging = _Judging.by(models, limits, view.keys, rejected=means.rejected, on_stage=on_stage)
        judging.strict = self._strict
        return judging

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """The newest stays, and takes over the lines that only the others say.

        A file takes in files only and an entry entries only, so that each keeps its form.
        """
        drafted = super().unite(units, among, entails)
        newest = max(units, key=lambda m: (m.stated_at or LONG_AGO, m.id == drafted.survivor, m.id))
        complete = next((unit for unit in units if unit.id == drafted.survivor), newest)
        survivor = newest if ("#" in newest.id) == ("#" in complete.id) else complete
        others = [unit for unit in units if unit is not survivor]
        said = [survivor.text, *(unit.text for unit in others)]
        text: str | None = drafted.text
        if text not in said and any("\n" in each for each in said):
            text = combined(survivor.text, said[1:])
        if text is None or (text not in said and merely_joins(text, said)):
            raise MergeRefused("a text that says one after the other takes nothing away")
        key = statement_key(text)
        return United(
            text=text,
            survivor=survivor.id,
            whole=text == survivor.text and survivor.id in {unit.id for unit in among},
            exact=tuple(unit.id for unit in others if statement_key(unit.text) == key),
        )

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """Sentences of what stays that cannot both hold, and what a rule answered."""
        if ActionKind.RESOLVE not in self.wanted:
            return ()
        view = cast("look.MarkdownView", view)
        merges = [action for action in actions if isinstance(action, Merge)]
        away = {name for merge in merges for name in merge.removes}
        texts = {str(merge.survivor): merge.text for merge in merges}
        left = [replace(m, text=texts.get(m.id, m.text)) for m in view.staying if m.id not in away]
        return [*view.overruled, *self._questions(view, left, merges)[0]]

    def present(self) -> look.Present:
        """The directories as they are; after a look, with what it found besides, once."""
        view, self._looked = self._looked, None
        memories = view.stored if view else {m.id: m for m in self.store.read(ScopeFilter()).memories}
        facts, against = self._facts(view) if view else ({}, {})
        files = {f"{name}/{GATHERED}" for name, found in facts.items() if found}
        files |= {file_of(name) for name in memories if files and "#" in name}
        whole = {file: self.store.fetch([whole_id(file)])[whole_id(file)] for file in files}
        return look.Present(
            directories=self.store.directories,
            memories=memories,
            indexes=self.store.indexes(),
            edits=view.edits if view else {},
            facts=facts,
            against=against,
            files={file: str(snapshot.payload["text"]) for file, snapshot in whole.items()},
            refused=self._means.rejected if self._means else frozenset(),
            certain=self._strict,
            shorten=not self.wanted and not self._texts,
        )

    def follow(self, plan: Plan, present: look.Present) -> Plan:
        """All new texts in one for each memory, links, and the indexes."""
        return follow(plan, present)[0]

    def spoken(self, inventory: Inventory, today: date) -> Iterator[tuple[Memory, Sequence[str]]]:
        """All memories, by all of their sentences."""
        for memory in inventory.memories:
            yield memory, statements(memory.text)

    def condemned(self, inventory: Inventory, means: Means) -> int:
        """How many memories a pass would prune; needs no model."""
        view = self._look(inventory, means)
        return sum(not {f"prune:{m.text_hash}" for m in p.members} & means.rejected for p in view.prunes)

    def evidence(self, view: look.MarkdownView, plan: Plan) -> dict[str, tuple[Quotation, ...]]:
        """What the transcripts say about memories in doubt; nothing without transcripts."""
        if self._transcripts is None:
            return {}
        terms = {drift.memory: drift.terms for drift in view.flagged(plan)}
        for conflict in plan.conflicts:
            for memory_id in (*conflict.a, *conflict.b):
                own = sorted(significant_words(conflict.topic), key=lambda word: (-len(word), word))
                terms.setdefault(memory_id, tuple(own[:2]))
        return evidence(self._transcripts, terms)

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool) -> Report:
        """See `Kind.report`; texts are always shown."""
        if proposal.findings is None:
            return PlanReport(proposal.plan, explain=explain)
        found = self.evidence(proposal.findings, proposal.plan)
        return MarkdownReport(proposal, evidence=found, explain=explain)

    def left_out(self) -> list[str]:
        """Files that are not read."""
        return left_out(self.store.directories)

    def _look(self, inventory: Inventory, means: Means) -> look.MarkdownView:
        """All memories as they will read; what goes, where a person looks on also what says it is over."""
        self._strict, now = means.unattended, means.now
        attended, dates = not means.unattended, not means.unattended if self._dates is None else self._dates
        directories = {directory.name: directory.path for directory in self.store.directories}
        drift = check_drift(inventory.memories, root=self.store.root, directories=directories)
        suspects = [memory for memory in inventory.memories if condemned(memory, drift[memory.id], now=now)]
        terms = {memory.id: drift[memory.id].terms for memory in suspects}
        if terms and self._transcripts:  # what a session used lately is not condemned
            for name in used_lately(self._transcripts, terms, since=(now - YOUNG).timestamp()):
                del terms[name]
        gone = {name: f"{drift[name].freshness}: {', '.join(drift[name].missing)}" for name in terms}
        ages = {m.id: max((now - m.stated_at).days, 0) if m.stated_at else None for m in inventory.memories}
        asked = [
            Prune.of(memory, reason="outdated", age_days=ages[memory.id], detail=said)
            for memory in (inventory.memories if attended else ())
            if not (memory.pinned or memory.id in gone) and (said := look.is_over(memory, most=look.TASK))
        ]
        asked = [each for each in asked if not keys_of(each) <= means.rejected]
        away = gone.keys() | look.removed_by(asked)
        days: dict[Path, dict[str, date | None]] = {}
        stored = {memory.id: memory for memory in inventory.memories}
        edits = look.Texts(stored)
        for memory in inventory.memories if self._texts else ():
            if memory.id in away or memory.pinned:
                continue
            dated = memory.text
            if dates:
                name = memory.scope.get("directory") or ""
                file = file_of(memory.id).removeprefix(f"{name}/")
                path = directories[name] / file if name in directories else None
                dated = absolute(memory.text, day_of(memory, path, days))
            new = mended(dated, drift[memory.id].moved) if attended else dated
            if f"rewrite:{memory.text_hash}:{text_hash(new)}" not in means.rejected:
                edits.put(memory.id, dated, Cause.DATES)
                edits.put(memory.id, new, Cause.PATHS)
        view = look.MarkdownView(
            inventory=inventory,
            units=(),
            stored=stored,
            drift=drift,
            edits={edit.survivor: edit for edit in edits.rewrites()},
            prunes=tuple(
                Prune.of(memory, reason="stale", age_days=ages[memory.id], detail=gone[memory.id])
                for memory in inventory.memories
                if memory.id in gone
            ),
            over=tuple(asked),
        )
        facts = {}
        for directory in self.store.directories if self._texts else ():
            inside = (m.id for m in inventory.memories if m.scope.get("directory") == directory.name)
            facts[directory.name] = gather(directory, map(view.text, inside), now=now)
        return replace(view, facts=facts)

    def _reader(self) -> Reader:
        models = cast("Means", self._means).models
        return Reader(models.read(), models.asked(), models.calibrated)

    def _facts(self, view: look.MarkdownView) -> tuple[dict[str, list[Fact]], dict[str, tuple[str, str]]]:
        new = {f"\0{n}": fact for n, fact in enumerate(itertools.chain.from_iterable(view.facts.values()))}
        known, against = set[str](), dict[str, tuple[str, str]]()
        statements = look.statements_of(view.staying, {}) if new else []
        for name, fact in new.items():
            memory = Memory(name, fact.text, Scope(()), updated_at=fact.day)
            statements.append(Statement(memory, fact.text, fact.text))
        for each in findings(statements, self._reader(), of=new) if new else ():
            log, other = (each.a, each.b) if each.a.memory.id in new else (each.b, each.a)
            if other.memory.id not in new and each.same:
                known.add(log.text)
            elif other.memory.id not in new and each.sure:
                against[log.text] = (other.memory.id, other.text)
        left = view.facts.items()
        return {name: [fact for fact in found if fact.text not in known] for name, found in left}, against

    def _questions(
        self, view: look.MarkdownView, memories: Sequence[Memory], merges: Sequence[Merge] = ()
    ) -> look.Questions:
        if self._judged is None or self._judged[0] != tuple(memories):
            statements = look.statements_of(memories, self.store.indexes())
            found = findings([*statements, *look.described(memories)], self._reader())
            found, self._told = look.of_descriptions(found)
            self._judged = tuple(memories), statements, found
        _, statements, found = self._judged
        groups = [frozenset(member.id for member in merge.members) for merge in merges]
        files: list[Merge | Resolve] = []
        for a, b, repeats in look.repeating_files(found, statements):
            try:
                united = self.unite((a, b), (), lambda _a, _b: 0.0)
            except MergeRefused:
                united = United(text=f"{a.text}\n\n{b.text}", survivor=b.id)
            why = f"{len(repeats)} statements of one stand in the other, which is most of it"
            verdict = replace(repeats[0].verdict, evidence=(Evidence(RULE, why),))
            files.append(merge_action(self, view.stored, Consolidated.of((a, b), united, (verdict,))))
            groups.append(frozenset((a.id, b.id)))
        rejected = cast("Means", self._means).rejected
        conflicts, doubts = look.questions(found, view.stored, rejected=rejected, merged=groups)
        return conflicts, [*files, *doubts]


class _Judging(Judging):
    """Judges whole memories that share most of their words; what is no merge is left to their statements."""

    strict = False  # no person looks on: only what is the same statement may be merged

    def _judge(
        self, memories: Sequence[Memory], *, contexts: bool, kept: Kept | None = None
    ) -> tuple[Verdict, ...]:
        texts = {memory.id: memory.text for memory in memories}

        def left(verdict: Verdict) -> Verdict:
            if not verdict.auto and verdict.label in (Label.UNSURE, Label.DUPLICATE):
                return replace(verdict, label=Label.DISTINCT)
            same = not self.strict or same_statement(texts[verdict.pair.a], texts[verdict.pair.b])
            return verdict if same else replace(verdict, auto=False)

        return tuple(map(left, super()._judge(memories, contexts=contexts, kept=kept)))

    def _blocks(
        self, memories: Sequence[Memory], *, contexts: bool, kept: Kept | None = None
    ) -> tuple[Block]:
        del contexts  # no pair is read with what stands beside it
        groups: dict[tuple[Scope, str | None], list[Memory]] = defaultdict(list)
        for memory in sorted(memories, key=lambda each: each.id):
            groups[memory.scope, memory.category].append(memory)
        same: list[Candidate] = []
        near: list[tuple[Memory, Memory]] = []
        for group in groups.values():
            chosen = []
            for first, *copies in exact_groups([each.text for each in group]):
                chosen.append(group[first])
                same += [Candidate(group[first].id, group[copy].id, SAME_TEXT, exact=True) for copy in copies]
            rows = np.array(list(sharing([each.text for each in chosen])), dtype=np.int64).reshape(-1, 2)
            rows = rows if kept is None else rows[kept(chosen, rows)]
            near += [(chosen[i], chosen[j]) for i, j in rows.tolist()]
        texts = list(dict.fromkeys(memory.text for pair in near for memory in pair))
        vectors = dict(zip(texts, self.encoder.encode(texts), strict=True)) if texts else {}
        pairs = [Candidate(a.id, b.id, float(vectors[a.text] @ vectors[b.text])) for a, b in near]
        return (Block((), named=tuple(sorted((*same, *pairs), key=lambda pair: (pair.a, pair.b)))),)
