"""How Markdown memories are looked at: what drifted, how each will read, what goes in any case."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path, PurePosixPath

from ....records import Inventory, Memory
from ...actions import Cause, Member, Prune, Resolve
from ...plan import Plan
from ...rules.markdown.dates_absolute import absolute, day_of
from ...rules.markdown.drift import Drift, Freshness, check_drift, condemned, mended
from ...rules.markdown.prose import settled
from ...rules.markdown.signal import Fact, gather
from ...stores.markdown.directories import MemoryDirectory
from ...stores.markdown.rows import file_of
from ...stores.markdown.store import MarkdownStore
from ..hooks import View

_OVER = re.compile(
    r"\b(?i:deprecated|superseded|obsolete|retired)\b"
    r"|\b(?i:(?:moved|merged|split) (?:in)?to)\b(?! `?(?:main|master|develop)\b)"
    r"|\b(?i:no longer (?:used|valid|needed))\b"
    r"|\b(?:DONE|MOVED|SPLIT)\b|^\W*(?i:done|moved|split)\s*[:;(—–]"
)
"""What a file says in its name or description when it is over."""
_OPEN = re.compile(
    r"\b(?:next|planned|not started|pending|await\w+|remain\w+|residual|to ?do|open|in progress|in PR"
    r"|deferred|follow-ups?|until|only|part(?:ly|ial)|slices?|(?:PR|phase|step|part) ?\d)\b",
    re.IGNORECASE,
)
"""What tells that a part alone is over, or that something is left to do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Another text for a memory that stays: all it will say, what that comes from, and why in words."""

    text: str
    causes: tuple[Cause, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownView(View):
    """A view of Markdown memories."""

    drift: Mapping[str, Drift] = field(hash=False)  # how the references of each memory stand
    # new texts of memories that stay, by id; only those that change
    edits: Mapping[str, Edit] = field(hash=False)
    prunes: tuple[Prune, ...] = ()  # what goes by what the project, or it itself, says
    overruled: tuple[Resolve, ...] = ()  # conflicts that a rule answered, by which a whole memory goes
    # what the logs say that no memory does, by directory
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict, hash=False)

    def text(self, memory_id: str) -> str:
        """A memory's text as it will read."""
        edit = self.edits.get(memory_id)
        return edit.text if edit else self.stored[memory_id].text

    @property
    def staying(self) -> list[Memory]:
        """The memories that stay and may be changed, as they will read."""
        away = {name for prune in self.prunes for name in prune.removes}
        away |= {name for conflict in self.overruled for name in conflict.removes}
        return [
            replace(memory, text=self.text(memory.id))
            for memory in self.stored.values()
            if not memory.pinned and memory.id not in away
        ]

    def flagged(self, plan: Plan) -> list[Drift]:
        """Memories of which some references are gone, and those of which all are that a plan keeps."""
        pruned = {name for prune in plan.prunes for name in prune.removes}
        doubtful = (Freshness.PARTIALLY_STALE, Freshness.FULLY_STALE)
        return [d for d in self.drift.values() if d.freshness in doubtful and d.memory not in pruned]


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The directories as they are, and what a look at them found out."""

    directories: Sequence[MemoryDirectory]  # the memory directories
    memories: Mapping[str, Memory]  # all memories, by id
    indexes: Mapping[str, str]  # present text of each index that may be written, by directory
    edits: Mapping[str, Edit] = field(default_factory=dict)  # new texts of memories that stay, by id
    # what the logs say that no memory does, by directory
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    # by what it says, the memory and the sentence that a fact of a log is against
    against: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # text of each file that facts may go into besides the memories, by its name
    files: Mapping[str, str] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()  # keys of what a person answered
    certain: bool = False  # only what needs no person
    shorten: bool = False  # shorten all long pointers, and not only the verbose, because that was asked for


@dataclass(slots=True)
class Texts:
    """New texts of memories that stay, with the causes of each, and these in words."""

    memories: Mapping[str, Memory]
    new: dict[str, str] = field(default_factory=dict)
    causes: dict[str, list[Cause]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def get(self, memory_id: str) -> str:
        """The text as it will read."""
        return self.new.get(memory_id, self.memories[memory_id].text)

    def put(self, memory_id: str, text: str, *causes: Cause, reason: str = "") -> None:
        """Change a text; `reason` says more than its cause does."""
        if text != self.get(memory_id):
            self.new[memory_id] = text
            self.causes[memory_id] += causes
            self.reasons[memory_id] += [reason] if reason else causes


def look(
    store: MarkdownStore,
    inventory: Inventory,
    *,
    now: datetime,
    texts: bool,
    dates: bool,
    attended: bool,
    used: Callable[[Mapping[str, Sequence[str]]], frozenset[str]],
    refused: frozenset[str],
) -> MarkdownView:
    """Look at everything; changes nothing.

    Args:
        store: Where the memories are.
        inventory: All memories.
        now: The present moment.
        texts: Word memories anew, and read logs.
        dates: Write relative dates out.
        attended: A person looks on: mend moved paths, and propose what says itself that it is over.
        used: Which memories a session used lately, by their terms; what is in use is not condemned.
        refused: Keys of what a person answered.
    """
    directories = {directory.name: directory.path for directory in store.directories}
    drift = check_drift(inventory.memories, root=store.root, directories=directories)
    suspects = [memory for memory in inventory.memories if condemned(memory, drift[memory.id], now=now)]
    busy = used({memory.id: drift[memory.id].terms for memory in suspects}) if suspects else frozenset()
    gone = {
        m.id: f"{drift[m.id].freshness}: {', '.join(drift[m.id].missing)}"
        for m in suspects
        if m.id not in busy
    }
    if attended:
        gone = {m.id: over for m in inventory.memories if (over := is_over(m)) and not m.pinned} | gone
    days: dict[Path, dict[str, date | None]] = {}
    edits: dict[str, Edit] = {}
    for memory in inventory.memories if texts else ():
        if memory.id in gone or memory.pinned:
            continue
        dated = memory.text
        if dates:
            name = memory.scope.get("directory") or ""
            file = file_of(memory.id).removeprefix(f"{name}/")
            path = directories[name] / file if name in directories else None
            dated = absolute(memory.text, day_of(memory, path, days))
        new = mended(dated, drift[memory.id].moved) if attended else dated
        causes = [Cause.DATES] * (dated != memory.text) + [Cause.PATHS] * (new != dated)
        if causes and f"rewrite:{memory.text_hash}:{replace(memory, text=new).text_hash}" not in refused:
            edits[memory.id] = Edit(new, tuple(causes), ", ".join(causes))
    view = MarkdownView(
        inventory=inventory,
        units=(),
        stored={memory.id: memory for memory in inventory.memories},
        drift=drift,
        edits=edits,
        prunes=tuple(
            _prune(memory, gone[memory.id], now) for memory in inventory.memories if memory.id in gone
        ),
    )
    if not texts:
        return view
    will_read = [replace(memory, text=view.text(memory.id)) for memory in inventory.memories]
    facts = {
        directory.name: gather(
            directory, [m for m in will_read if m.scope.get("directory") == directory.name], now=now
        )
        for directory in store.directories
    }
    return replace(view, facts=facts)


def superseded(
    view: MarkdownView, conflicts_of: Callable[[Sequence[Memory]], Sequence[Resolve]], kept: frozenset[str]
) -> MarkdownView:
    """The view in which the newer of two contradicting statements won, as long as there are any.

    Args:
        view: What was found.
        conflicts_of: Finds conflicts between memories as they will read.
        kept: Memories that no rule may change unasked, because a person gave them back.
    """
    while True:
        edits, overruled = dict(view.edits), list(view.overruled)
        for conflict in conflicts_of(view.staying):
            side = conflict.newer
            winner, loser = (conflict.b[0], conflict.a[0]) if side == "b" else (conflict.a[0], conflict.b[0])
            gone = {name for action in overruled for name in action.removes}
            known = {winner, loser} <= view.stored.keys()
            if side is None or not known or loser in kept or gone & {winner, loser}:
                continue
            standing = {
                name: edits[name].text if name in edits else view.stored[name].text
                for name in (winner, loser)
            }
            held, lost = conflict.said if side == "a" else conflict.said[::-1]
            rest = settled(standing[loser], lost, held=held, beside=standing[winner])
            if rest == "":
                edits.pop(loser, None)
                overruled.append(conflict.choose(side))
            elif rest is not None and rest != standing[loser]:
                before = edits.get(loser, Edit("", (), ""))
                reason = ", ".join(filter(None, (before.reason, told(Cause.CONTRADICTION, winner))))
                edits[loser] = Edit(rest, (*dict.fromkeys((*before.causes, Cause.CONTRADICTION)),), reason)
        if (edits, len(overruled)) == (view.edits, len(view.overruled)):
            return view
        view = replace(view, edits=edits, overruled=tuple(overruled))


def told(cause: Cause, winner: str) -> str:
    """Why a sentence goes."""
    word = "DUPLICATE of" if cause is Cause.DUPLICATE else "CONTRADICTED by"
    return f"{word} {PurePosixPath(file_of(winner)).name}"


def is_over(memory: Memory) -> str:
    """What a file says itself if it is deprecated, moved, split, superseded or done; else nothing."""
    if "#" in memory.id:
        return ""
    for key in ("name", "description"):
        said = str(memory.metadata.get(key) or "")
        if _OVER.search(said) and not _OPEN.search(said):
            return f'it says itself that it is over: "{said}"'
    return ""


def _prune(memory: Memory, detail: str, now: datetime) -> Prune:
    age = (now - memory.stated_at).days if memory.stated_at else None
    return Prune(
        id="",
        scope=memory.scope,
        category=memory.category,
        members=(Member.of(memory),),
        reason="stale",
        age_days=None if age is None else max(age, 0),
        detail=detail,
    )
