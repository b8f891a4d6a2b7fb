"""Phase 3 and 4: from what was found and chosen to the plan that is applied, index included.

Every memory is touched by one action at most, so dates, links, contradicted sentences and what moves
in from the index meet in one new text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ..plan import Action, Member, Merge, Plan, Prune, Resolve, Rewrite, Side
from ..records import ActionKind, Memory, Scope
from .contradictions import resolution
from .directories import INDEX, MemoryDirectory
from .index_file import IndexDraft, Topic, draft_index
from .parsing import parse
from .survey import Survey

if TYPE_CHECKING:
    from ...models.scorer import PairScorer

_TITLE = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)
INDEX_REASON = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Which kinds of changes are wanted.

    Attributes:
        kinds: Of merges, conflicts and prunes; empty for index and texts alone.
        texts: Relative dates and new facts too.
    """

    kinds: frozenset[ActionKind] = frozenset({ActionKind.MERGE, ActionKind.RESOLVE, ActionKind.PRUNE})
    texts: bool = True


@dataclass(frozen=True, slots=True)
class Settled:
    """A plan to apply, and what its report needs.

    Attributes:
        plan: Everything that will be done.
        indexes: The new index of each directory, by its name, also where nothing changes.
        contradicted: Memory that was right, by the id of the one whose sentence goes.
    """

    plan: Plan
    indexes: Mapping[str, IndexDraft] = field(hash=False)
    contradicted: Mapping[str, str] = field(hash=False)


@dataclass(slots=True)
class _Texts:
    """New texts of memories that stay, with the reasons for each."""

    survey: Survey
    new: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def get(self, memory_id: str) -> str:
        """The text as it will read."""
        return self.new.get(memory_id, self.survey.memories[memory_id].text)

    def put(self, memory_id: str, text: str, reason: str) -> None:
        """Change a text."""
        if text != self.get(memory_id):
            self.new[memory_id] = text
            self.reasons[memory_id].append(reason)


def settle(
    survey: Survey,
    choices: Mapping[str, Side | None],
    *,
    scorer: PairScorer,
    directories: Sequence[MemoryDirectory],
    indexes: Mapping[str, str],
    additions: Sequence[Rewrite] = (),
    wishes: Wishes = Wishes(),
) -> Settled:
    """Make the plan that follows from the answers.

    Args:
        survey: What was found.
        choices: The side that stays, by conflict.
        scorer: Finds the contradicted sentence in a longer text.
        directories: The memory directories.
        indexes: Present text of each index, by directory.
        additions: New facts, each a whole file.
        wishes: Which kinds of changes are wanted.
    """
    found = [action for action in survey.plan.actions if action.kind in wishes.kinds]
    texts = _Texts(survey)
    if wishes.texts:
        for memory_id, text in survey.dated.items():
            texts.put(memory_id, text, "relative dates")
    for merge in [action for action in found if isinstance(action, Merge)]:
        texts.new[str(merge.survivor)] = merge.text
    actions, contradicted = _answered(found, choices, texts, scorer)
    actions = list(replace(survey.plan, actions=tuple(actions)).with_choices({}).actions)
    _drop_lost_merges(found, actions, texts)
    _fix_links(actions, texts)
    new = tuple(additions) if wishes.texts else ()
    drafts = _drafts(actions, texts, directories, indexes, new)
    rewrites = _rewrites(survey, actions, texts)
    merged = [_with_text(action, texts) for action in actions]
    whole = [*merged, *rewrites, *new, *_index_actions(drafts, indexes)]
    return Settled(replace(survey.plan, actions=tuple(whole)), drafts, contradicted)


def superseded(survey: Survey) -> dict[str, Side | None]:
    """Answers by the rule that newer supersedes; a conflict without known ages stays open."""
    return {conflict.id: conflict.newer for conflict in survey.plan.conflicts}


def file_of(memory_id: str) -> str:
    """The file in which a memory stands.

    >>> file_of(".claude/memory/notes.md#0123456789")
    '.claude/memory/notes.md'
    """
    head, mark, _ = memory_id.rpartition("#")
    return head if mark and head.endswith(".md") else memory_id


def _answered(
    found: Sequence[Action], choices: Mapping[str, Side | None], texts: _Texts, scorer: PairScorer
) -> tuple[list[Action], dict[str, str]]:
    """All actions, the conflicts with their answers, and whose sentences go because of whom.

    A memory may lose several sentences one after another; a conflict about one that goes is settled.
    """
    actions: list[Action] = []
    contradicted: dict[str, str] = {}
    lost: set[str] = set()
    for action in found:
        side = choices.get(action.id) if isinstance(action, Resolve) else None
        if not isinstance(action, Resolve) or side is None:
            actions.append(action)
        elif not lost & {*action.a, *action.b}:
            answered = _resolved(action, side, texts, contradicted, scorer)
            actions += [answered] if answered else []
            lost |= set(answered.removes) if answered else set()
    return actions, contradicted


def _resolved(
    conflict: Resolve, side: Side, texts: _Texts, contradicted: dict[str, str], scorer: PairScorer
) -> Resolve | None:
    """The conflict with its answer; None if only sentences go, which the texts then no longer hold."""
    winners = conflict.a if side == "a" else conflict.b
    if set(winners) & set(contradicted):
        return conflict  # it may no longer say what it won with
    outcome = resolution(conflict, side, {m.id: texts.get(m.id) for m in conflict.members}, scorer)
    if outcome is not None and all(rest is None for rest in outcome.values()):
        return conflict.choose(side)
    if outcome is None or any(rest is None for rest in outcome.values()):
        return conflict
    for loser, rest in outcome.items():
        texts.put(loser, str(rest), f"CONTRADICTED by {PurePosixPath(file_of(winners[0])).name}")
        contradicted[loser] = winners[0]
    return None


def _drop_lost_merges(found: Sequence[Action], actions: Sequence[Action], texts: _Texts) -> None:
    """Where a merge fell with the side that lost, its survivor's new text is void."""
    standing = {action.id for action in actions}
    for action in found:
        if isinstance(action, Merge) and action.id not in standing:
            texts.new.pop(str(action.survivor), None)


def _removed(actions: Iterable[Action]) -> set[str]:
    return {memory_id for action in actions for memory_id in action.removes}


def _fix_links(actions: Iterable[Action], texts: _Texts) -> None:
    """Where a file was merged into another, links to it lead to the other from now on."""
    moved: dict[str, str] = {}
    for action in actions:
        if isinstance(action, Merge) and action.survivor:
            moved |= {gone: file_of(action.survivor) for gone in action.removes if "#" not in gone}
    removed = _removed(actions)
    for old, new in moved.items():
        old_name, new_name = PurePosixPath(old).name, PurePosixPath(new).name
        pattern = re.compile(
            rf"(?P<link>\]\(<?(?:\./)?){re.escape(old_name)}(?=[)>#])|(?P<wiki>\[\[){re.escape(old_name[:-3])}(?=[\]|#])"
        )
        for memory in texts.survey.memories.values():
            if memory.id in removed or memory.pinned or old_name[:-3] not in texts.get(memory.id):
                continue
            if PurePosixPath(file_of(memory.id)).parent != PurePosixPath(old).parent:
                continue
            fixed = pattern.sub(
                lambda match, name=new_name: (  # type: ignore[misc]
                    match["link"] + name if match["link"] else match["wiki"] + name.removesuffix(".md")
                ),
                texts.get(memory.id),
            )
            texts.put(memory.id, fixed, "links")


def _drafts(
    actions: Sequence[Action],
    texts: _Texts,
    directories: Sequence[MemoryDirectory],
    indexes: Mapping[str, str],
    additions: Sequence[Rewrite],
) -> dict[str, IndexDraft]:
    """The new index of each directory; what it hands down goes into the texts."""
    removed = _removed(actions)
    by_file: dict[str, list[Memory]] = defaultdict(list)
    for memory in texts.survey.memories.values():
        by_file[file_of(memory.id)].append(memory)
    drafts: dict[str, IndexDraft] = {}
    for directory in directories:
        prefix = f"{directory.name}/"
        files = {prefix + directory.relative(path) for path in directory.topics()}
        gone = {memory_id for memory_id in removed if "#" not in memory_id and memory_id in files}
        added = {file_of(item.survivor): item for item in additions if item.survivor.startswith(prefix)}
        topics = [
            _added(file.removeprefix(prefix), added[file])
            if file in added
            else _topic(file.removeprefix(prefix), by_file.get(file, ()), texts)
            for file in sorted((files | set(added)) - gone)
        ]
        drafts[directory.name] = draft = draft_index(
            indexes.get(directory.name, ""),
            topics,
            title=directory.title,
            gone=[file.removeprefix(prefix) for file in gone],
            folders=[path.name for path in directory.path.iterdir() if path.is_dir()],
        )
        for file, detail in draft.demoted.items():
            texts.put(prefix + file, f"{texts.get(prefix + file)}\n\n{detail}", "moved in from the index")
    return drafts


def _topic(file: str, memories: Sequence[Memory], texts: _Texts) -> Topic:
    about = memories[0].metadata if memories else {}
    whole = len(memories) == 1 and "#" not in memories[0].id
    text = "\n".join(texts.get(memory.id) for memory in memories)
    heading = _TITLE.search(text)
    return Topic(
        file=file,
        name=str(about.get("name") or (heading[1] if heading else "")),
        description=str(about.get("description") or ""),
        text=text,
        open=whole and not memories[0].pinned,
    )


def _added(file: str, addition: Rewrite) -> Topic:
    """A file that new facts go into, as it will be."""
    document = parse(addition.text.encode())
    name, description = (str(document.value(key) or "") for key in ("name", "description"))
    return Topic(file, name, description, document.body, open=False)


def _rewrites(survey: Survey, actions: Sequence[Action], texts: _Texts) -> list[Rewrite]:
    """Memories that stay with another text, and are not the survivor of a merge."""
    merged = {action.survivor for action in actions if isinstance(action, Merge)}
    skipped = _removed(actions) | merged
    changed = [memory_id for memory_id in sorted(texts.new) if memory_id not in skipped]
    return [
        Rewrite(
            id=f"w{number}",
            scope=survey.memories[memory_id].scope,
            category=survey.memories[memory_id].category,
            members=(Member.of(survey.memories[memory_id]),),
            text=texts.new[memory_id],
            reason=", ".join(dict.fromkeys(texts.reasons[memory_id])),
        )
        for number, memory_id in enumerate(changed, 1)
        if texts.new[memory_id] != survey.memories[memory_id].text
    ]


def _with_text(action: Action, texts: _Texts) -> Action:
    """A merge with everything else that happens to its survivor."""
    if isinstance(action, Merge) and action.survivor in texts.new:
        return replace(action, text=texts.new[action.survivor])
    return action


def _index_actions(drafts: Mapping[str, IndexDraft], indexes: Mapping[str, str]) -> list[Rewrite]:
    changed = [name for name in sorted(drafts) if drafts[name].text != indexes.get(name, "")]
    return [
        Rewrite(
            id=f"i{number}",
            scope=Scope.of(directory=name),
            category=INDEX_REASON,
            members=(Member(f"{name}/{INDEX}", indexes.get(name, "")),),
            text=drafts[name].text,
            reason=INDEX_REASON,
        )
        for number, name in enumerate(changed, 1)
    ]


def removals(plan: Plan) -> list[tuple[str, Merge | Resolve | Prune]]:
    """What goes, with the action that takes it."""
    return [
        (memory_id, action)
        for action in plan.actions
        if not isinstance(action, Rewrite)
        for memory_id in action.removes
    ]
