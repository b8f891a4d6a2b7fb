"""A pass over Markdown memories: the core's session, with drift, dates, links, logs and the index."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...settings import Settings
from ..answers import unanswered
from ..engine import Session
from ..plan import Member, Plan, Resolve, Rewrite, Side
from ..records import Inventory, Memory, Scope, rejection_key
from ..results import RunResult
from ..stores.base import ScopeFilter
from ..stores.markdown import WHOLE, MarkdownStore
from ..transcripts import Quotation, evidence
from ..words import significant_words
from .contradictions import sentence_conflicts
from .directories import INDEX
from .drift import Freshness, check_drift
from .settlement import Settled, Wishes, removals, settle, superseded
from .signal import GATHERED, Fact, additions, gather
from .survey import Survey, survey

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
        transcripts: Folder of session transcripts to search for evidence.
    """

    wishes: Wishes = field(default_factory=Wishes)
    supersede: bool = False
    transcripts: Path | None = None


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

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:  # noqa: ARG002
        """Plan everything worth doing, without asking anybody."""
        found = self.survey(inventory, now=now)
        return self.settle(found, self.answers(found), now=now).plan

    def look(self, *, now: datetime) -> Survey:
        """Read all directories and propose."""
        return self.survey(self.read(ScopeFilter()), now=now)

    def survey(self, inventory: Inventory, *, now: datetime) -> Survey:
        """Look at an inventory that was read already."""
        rejected = self.journal.rejected(self.store.fingerprint)
        found = survey(
            inventory,
            lambda view: Session.plan(self, view, now=now),
            root=self.markdown.root,
            directories={directory.name: directory.path for directory in self.markdown.directories},
            rejected=rejected,
            now=now,
        )
        known = {frozenset((a, b)) for c in found.plan.conflicts for a in c.a for b in c.b}

        def decided(a: str, b: str) -> bool:
            """Whether a pair is in a conflict already, or a person left it open before."""
            memories = found.memories
            return frozenset((a, b)) in known or rejection_key(memories[a], memories[b]) in rejected

        conflicts = sentence_conflicts(
            _remaining(found, inventory.memories),
            self.scorer,
            decided=decided,
            first=len(found.plan.conflicts) + 1,
        )
        stored = tuple(_as_stored(conflict, found.memories) for conflict in conflicts)
        plan = replace(found.plan, actions=(*found.plan.actions, *stored))
        return replace(found, plan=unanswered(plan, rejected))

    def answers(self, found: Survey) -> dict[str, Side | None]:
        """Answers without a person: newer supersedes if that was asked for, else all stay open."""
        return superseded(found) if self.choices.supersede else {}

    def settle(self, found: Survey, choices: Mapping[str, Side | None], *, now: datetime) -> Settled:
        """The plan that follows from the answers, index included."""
        places = [f"{directory.name}/{INDEX}" for directory in self.markdown.directories]
        held = self.store.fetch(places)
        settled = settle(
            found,
            choices,
            scorer=self.scorer,
            directories=self.markdown.directories,
            indexes={place.removesuffix(f"/{INDEX}"): held[place].payload["text"] for place in places},
            additions=self._additions(found, now=now),
            wishes=self.choices.wishes,
        )
        # What a survey proposes was held against the answers before; what settling adds is held now.
        return replace(settled, plan=unanswered(settled.plan, self.journal.rejected(self.store.fingerprint)))

    def evidence(self, found: Survey) -> dict[str, tuple[Quotation, ...]]:
        """What the transcripts say about memories in doubt; nothing without transcripts."""
        folder = self.choices.transcripts
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

    def _additions(self, found: Survey, *, now: datetime) -> list[Rewrite]:
        """New facts of each directory's logs, unless their file is being changed otherwise."""
        result = []
        for directory in self.markdown.directories:
            mine = [m for m in found.memories.values() if m.scope.get("directory") == directory.name]
            texts = [replace(memory, text=found.text(memory.id)) for memory in mine]
            facts = self._standing(gather(directory, texts, now=now), directory.name)
            file = f"{directory.name}/{GATHERED}"
            busy = {m.id for action in found.plan.actions for m in action.members} | set(found.dated)
            if not facts or any(memory_id.startswith(file) for memory_id in busy):
                continue
            whole = f"{file}#{WHOLE}"
            row = self.store.fetch([whole])[whole].payload
            current = row["text"] if row["bytes"] is not None else None
            addition = additions(directory, facts, current=current, whole=whole)
            result += [addition] if addition else []
        return result

    def _standing(self, facts: list[Fact], directory: str) -> list[Fact]:
        """Facts that the next pass would not prune again."""
        if not facts:
            return []
        places = {item.name: item.path for item in self.markdown.directories}
        views = {str(number): fact for number, fact in enumerate(facts)}
        memories = [
            Memory(number, fact.text, Scope.of(directory=directory), metadata={"frontmatter": True})
            for number, fact in views.items()
        ]
        drift = check_drift(memories, root=self.markdown.root, directories=places)
        return [
            fact for number, fact in views.items() if drift[number].freshness is not Freshness.FULLY_STALE
        ]

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


def _remaining(found: Survey, memories: Sequence[Memory]) -> list[Memory]:
    """The memories that stay, as they will read."""
    gone = {memory_id for memory_id, _ in removals(found.plan)}
    merged = {str(merge.survivor): merge.text for merge in found.plan.merges}
    return [
        replace(memory, text=merged.get(memory.id, found.text(memory.id)))
        for memory in memories
        if not memory.pinned and memory.id not in gone
    ]


def _as_stored(conflict: Resolve, memories: Mapping[str, Memory]) -> Resolve:
    return replace(conflict, members=tuple(Member.of(memories[member.id]) for member in conflict.members))
