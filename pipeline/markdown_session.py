"""A pass over Markdown memories: the core's session, with drift, dates, links, logs and the index."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RefusedChangeError, StoreError
from ..models.words import significant_words
from ..records import ActionKind, Inventory, Scope, rejection_key
from ..settings import Settings
from .answers import held, unanswered
from .engine import Session
from .plan import Member, Merge, Plan, Rewrite, Side
from .planning.markdown.answers import completed, with_answers
from .planning.markdown.settlement import IndexRules, Settled, Wishes, settle, superseded
from .planning.markdown.survey import Cuts, Looks, Planned, Survey, as_stored, remaining, survey
from .results import RunResult
from .rules.markdown.contradictions import after, sentence_conflicts
from .rules.markdown.drift import YOUNG
from .rules.markdown.screen import Screened, same_statement
from .rules.markdown.signal import Fact, additions, gather, homes, listed, reason
from .stores.base import ScopeFilter
from .stores.markdown.directories import GATHERED, INDEX, sessions
from .stores.markdown.store import WHOLE, MarkdownStore
from .stores.markdown.transcripts import Quotation, evidence, used_lately

if TYPE_CHECKING:
    from ..models.scorer import PairScorer
    from .judging.cache import OnStage
    from .planning.opinions import Say
    from .rules.markdown.drift import Drift

NEVER = timedelta(days=36_500)
"""Age alone prunes no Markdown memory: only references that are provably gone do."""
KEYWORD_FLOOR = 0.39
"""Just under the overlap from which the keyword rule says anything; the cosine of words is never below it."""


@dataclass(frozen=True, slots=True)
class MarkdownChoices:
    """How a pass over Markdown memories works.

    Attributes:
        wishes: Which kinds of changes are wanted.
        supersede: Newer contradicting statements win without a person.
        transcripts: Folder of session transcripts to search for evidence; where agents keep them if omitted.
        dates: Write relative dates out.
        certain: Only what needs no person: merges of equal statements, no mended paths, and an index loses
            only what is known to be gone.
    """

    wishes: Wishes = field(default_factory=Wishes)
    supersede: bool = False
    transcripts: Path | None = None
    dates: bool = True
    certain: bool = False

    @property
    def index_rules(self) -> IndexRules:
        """How much may happen to an index."""
        alone = not self.wishes.kinds and not self.wishes.texts
        return IndexRules(certain=self.certain, shorten=alone)


class MarkdownSession(Session):
    """Works on the memory directories of one project."""

    def __init__(
        self,
        store: MarkdownStore,
        *,
        choices: MarkdownChoices | None = None,
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Open a session; see `Session` for the other arguments."""
        settings = more.pop("settings", None) or Settings()
        super().__init__(store, settings=for_markdown(settings), **more)
        self.markdown = store
        self.choices = choices or MarkdownChoices()

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:
        """Plan everything worth doing, without asking anybody; unattended as `--auto` does."""
        chosen = self.choices
        self.choices = replace(chosen, dates=False, certain=True) if unattended else chosen
        try:
            return self.settle(self.survey(inventory, now=now), {}, now=now).plan
        finally:
            self.choices = chosen

    def look(self, *, now: datetime, say: Say | None = None) -> Survey:
        """Read all directories and propose; see `survey`."""
        return self.survey(self.read(ScopeFilter()), now=now, say=say)

    def survey(self, inventory: Inventory, *, now: datetime, say: Say | None = None) -> Survey:
        """Look at an inventory that was read already; what a rule answers is answered.

        Args:
            inventory: All memories.
            now: The moment ages are reckoned from.
            say: Told what comes of a second opinion; without it nobody is asked for one.
        """
        cuts = Cuts()
        found = self._surveyed(inventory, cuts, now=now)
        while self.choices.supersede:
            more = self._superseded(found)
            if more is None:
                break
            cuts = more
            found = self._surveyed(inventory, cuts, now=now, drift=found.drift)
        if say is not None:
            plan = self.second_opinion(found.plan, unattended=self.choices.certain, say=say)
            found = replace(found, plan=plan)
        return self._with_conflicts(found, merged=True)

    def second_opinion(self, plan: Plan, *, unattended: bool, say: Say) -> Plan:
        """The plan after a language model was asked; it proposes merges alone."""
        advised = super().second_opinion(plan, unattended=unattended, say=say)
        known = {action.id for action in plan.actions}
        odd = {a.id for a in advised.actions if a.id not in known and not isinstance(a, Merge)}
        left = [doubt for doubt in plan.unsure if doubt.id in odd]
        actions = tuple(action for action in advised.actions if action.id not in odd)
        return replace(advised, actions=actions, unsure=(*advised.unsure, *left))

    def settle(self, found: Survey, choices: Mapping[str, Side | None], *, now: datetime) -> Settled:
        """The plan that follows from the answers, index included; nothing is judged."""
        news, added = self._news(found, now=now) if self.choices.wishes.texts else ({}, [])
        settled = settle(
            found,
            choices,
            directories=self.markdown.directories,
            indexes=self._indexes(),
            news=news,
            additions=added,
            wishes=self.choices.wishes,
            rules=self.choices.index_rules,
        )
        # What a survey proposes was held against the answers before; what settling adds is held now.
        plan = unanswered(settled.plan, self._rejected, asked=settled.contradicted)
        return replace(settled, plan=plan)

    def completed(self, plan: Plan) -> Plan:
        """A plan that was read from a file, as it will be applied: answers and indexes included."""
        memories = {memory.id: memory for memory in self.read(ScopeFilter()).memories}
        return completed(
            with_answers(plan), memories, directories=self.markdown.directories, indexes=self._indexes()
        )

    def evidence(self, found: Survey) -> dict[str, tuple[Quotation, ...]]:
        """What the transcripts say about memories in doubt; nothing without transcripts."""
        folder = self._transcripts()
        if folder is None:
            return {}
        terms = {drift.memory: drift.terms for drift in found.flagged}
        for conflict in found.plan.conflicts:
            for memory_id in (*conflict.a, *conflict.b):
                own = sorted(significant_words(conflict.topic), key=lambda word: (-len(word), word))
                terms.setdefault(memory_id, tuple(own[:2]))
        return evidence(folder, terms)

    def apply(self, plan: Plan, *, now: datetime, **more: Any) -> RunResult:  # noqa: ANN401
        """Apply a plan, after a copy of all directories was put into the archive."""
        if plan.actions and not plan.gaps:
            self._keep_copy(now)
        return super().apply(plan, now=now, **more)

    def asked(self, *, on_stage: OnStage | None = None) -> PairScorer:
        """The cached scorer, asked only about pairs that can be duplicates."""
        return Screened(super().asked(on_stage=on_stage))

    def condemned(self, inventory: Inventory, *, now: datetime) -> int:
        """How many memories a pass would prune; needs no model."""
        nothing = Plan(inventory.store, self.store.kind, now, self.settings.scorer, (), ())
        return len(self._surveyed(inventory, Cuts(), now=now, planned=lambda _: nothing).plan.prunes)

    def notes(self) -> list[str]:
        """Files that are left out, with the reason."""
        return [
            f"Skipped {directory.name}/{directory.relative(path)}: it {reason}"
            for directory in self.markdown.directories
            for path, reason in directory.refused()
        ]

    def _surveyed(
        self,
        inventory: Inventory,
        cuts: Cuts,
        *,
        now: datetime,
        drift: Mapping[str, Drift] | None = None,
        planned: Planned | None = None,
    ) -> Survey:
        texts = self.choices.wishes.texts
        looks = Looks(
            dates=texts and self.choices.dates,
            mends=texts and not self.choices.certain,
            merges=same_statement if self.choices.certain else lambda _a, _b: True,
            used=lambda terms: self._used(terms, now=now),
        )
        found = survey(
            inventory,
            planned or (lambda view: self._merges(view, now=now)),
            root=self.markdown.root,
            directories={directory.name: directory.path for directory in self.markdown.directories},
            now=now,
            looks=looks,
            cuts=cuts,
            drift=drift,
        )
        return replace(found, plan=unanswered(found.plan, self._rejected))

    @property
    def _rejected(self) -> frozenset[str]:
        return self.journal.rejected(self.store.fingerprint)

    def _merges(self, inventory: Inventory, *, now: datetime) -> Plan:
        if ActionKind.MERGE in self.choices.wishes.kinds:
            return super().plan(inventory, now=now)
        return Plan(inventory.store, self.store.kind, now, self.settings.scorer, (), (), gaps=inventory.gaps)

    def _used(self, terms: Mapping[str, Sequence[str]], *, now: datetime) -> frozenset[str]:
        """Memories whose subject a session spoke of lately."""
        folder = self._transcripts()
        return used_lately(folder, terms, since=(now - YOUNG).timestamp()) if folder else frozenset()

    def _transcripts(self) -> Path | None:
        return self.choices.transcripts or sessions(self.markdown.root)

    def _with_conflicts(self, found: Survey, *, merged: bool) -> Survey:
        if ActionKind.RESOLVE not in self.choices.wishes.kinds:
            return found
        rejected = self._rejected
        conflicts = sentence_conflicts(
            remaining(found, merged=merged),
            super().asked(),
            thresholds=self.calibrated,
            rejected=rejected,
        )
        stored = [as_stored(conflict, found.memories) for conflict in conflicts]
        # Texts are judged as they will read; a refusal is known by the texts as they stand.
        left = [item for item in stored if rejection_key(*item.members) not in rejected]
        return replace(found, plan=replace(found.plan, actions=(*found.plan.actions, *left)))

    def _superseded(self, found: Survey) -> Cuts | None:
        """What the rule that newer supersedes takes away besides; None if that is nothing more."""
        found = self._with_conflicts(found, merged=False)
        texts, winners = dict(found.cuts.texts), dict(found.cuts.winners)
        conflicts = dict(found.cuts.conflicts)
        sides = superseded(found)
        kept = held(self.answered, found.memories.values())
        for conflict in found.plan.conflicts:
            side = sides[conflict.id]
            winner, loser = (conflict.b[0], conflict.a[0]) if side == "b" else (conflict.a[0], conflict.b[0])
            standing = {name: texts.get(name, found.text(name)) for name in (winner, loser)}
            if side is None or loser in kept or None in standing.values():
                continue
            rest = after(conflict, side, {name: str(text) for name, text in standing.items()})
            if rest is None or rest == standing[loser]:
                continue
            texts[loser] = rest or None
            winners[loser] = winner
            if not rest:
                conflicts[loser] = replace(conflict, id=f"s{len(conflicts) + 1}").choose(side)
        return Cuts(texts, winners, conflicts) if texts != found.cuts.texts else None

    def _indexes(self) -> dict[str, str]:
        """Present text of each index that may be written."""
        found: dict[str, str] = {}
        for directory in self.markdown.directories:
            path = directory.path / INDEX
            if path.is_symlink() or directory.refusal(path) is not None:
                continue
            try:
                row = self.store.fetch([f"{directory.name}/{INDEX}"])[f"{directory.name}/{INDEX}"].payload
            except RefusedChangeError:
                continue
            if row["bytes"] is None or row["mode"] & 0o222:
                found[directory.name] = row["text"]
        return found

    def _news(self, found: Survey, *, now: datetime) -> tuple[dict[str, list[Fact]], list[Rewrite]]:
        """New facts of each directory's logs: by the memory they belong to, and in a file of their own."""
        placed: dict[str, list[Fact]] = {}
        result = []
        busy = {m.id for action in found.plan.actions for m in action.members} | set(found.edits)
        for directory in self.markdown.directories:
            mine = [m for m in found.memories.values() if m.scope.get("directory") == directory.name]
            texts = [replace(memory, text=found.text(memory.id)) for memory in mine]
            facts = gather(directory, texts, now=now)
            placed_at = homes(facts, [memory for memory in texts if memory.id not in busy])
            placed |= placed_at.memories
            result += self._entries(directory.name, placed_at.lists, busy)
            addition = self._addition(directory.name, placed_at.rest, busy)
            result += [addition] if addition else []
        return placed, result

    def _entries(
        self, name: str, lists: Mapping[str, Mapping[str, Sequence[Fact]]], busy: set[str]
    ) -> list[Rewrite]:
        """New entries of files of entries; not now where another entry of the file changes, too."""
        result = []
        for file, facts in sorted(lists.items()):
            if any(item.startswith(f"{file}#") for item in busy):
                continue
            whole = f"{file}#{WHOLE}"
            text = self.store.fetch([whole])[whole].payload["text"]
            result.append(
                Rewrite(
                    id=f"n:{file}",
                    scope=Scope.of(directory=name),
                    category=None,
                    members=(Member(whole, text),),
                    text=listed(text, facts),
                    reason=reason(fact for section in facts.values() for fact in section),
                )
            )
        return result

    def _addition(self, name: str, facts: Sequence[Fact], busy: set[str]) -> Rewrite | None:
        """New facts that belong to no memory; not now if their file, or an index of memories, changes too."""
        file = f"{name}/{GATHERED}"
        directory = next(item for item in self.markdown.directories if item.name == name)
        if not facts or any(item.startswith((file, f"{name}/{INDEX}#")) for item in busy):
            return None
        whole = f"{file}#{WHOLE}"
        row = self.store.fetch([whole])[whole].payload
        current = row["text"] if row["bytes"] is not None else None
        return additions(directory, facts, current=current, whole=whole)

    def _keep_copy(self, now: datetime) -> None:
        """Everything in the directories, as one archive with modification times."""
        folder = self.markdown.archive / "snapshots"
        path = folder / f"{now.astimezone(UTC):%Y%m%d-%H%M%S-%f}.tar"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
                for directory in self.markdown.directories:
                    archive.add(directory.path, arcname=directory.name.lstrip("/"))
        except OSError as error:
            raise StoreError(
                f"The memory directories cannot be copied to {path} ({error.strerror}), so nothing "
                "was changed."
            ) from error


def for_markdown(settings: Settings) -> Settings:
    """The same limits, but neither age nor brevity prunes."""
    update: dict[str, Any] = {"stale_after": NEVER, "retention": {}, "min_words": 0}
    if settings.scorer == "keywords" and settings.encoder is None:
        update["floor"] = max(settings.floor, KEYWORD_FLOOR)
    return settings.model_copy(update=update)
