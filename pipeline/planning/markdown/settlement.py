"""Phase 3 and 4: from what was found and chosen to the plan that is applied, index included.

Every memory is touched by one action at most, so dates, links, contradicted sentences, new facts and what
moves in from the index meet in one new text. Nothing is judged here: an answer applies at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ....models.words import exact_key
from ....records import ActionKind, Memory
from ...actions import Action, Append, Cause, Member, Merge, Prune, Resolve, Rewrite, Side, TextChange
from ...plan import Plan
from ...rules.markdown.contradictions import after
from ...rules.markdown.index_file import IndexDraft
from ...rules.markdown.signal import Fact, reason
from ...stores.markdown.directories import MemoryDirectory
from ...stores.markdown.places import file_of
from .index_actions import IndexRules, index_actions, index_drafts
from .survey import Survey

__all__ = ["IndexRules", "Settled", "Wishes", "file_of", "removals", "settle", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Which kinds of changes are wanted.

    Attributes:
        kinds: Of merges, conflicts and prunes; empty for index and texts alone.
        texts: Relative dates, moved paths and new facts too.
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
class Texts:
    """New texts of memories that stay, with the causes of each, and these in words."""

    survey: Survey
    new: dict[str, str] = field(default_factory=dict)
    causes: dict[str, list[Cause]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def get(self, memory_id: str) -> str:
        """The text as it will read."""
        return self.new.get(memory_id, self.survey.memories[memory_id].text)

    def put(self, memory_id: str, text: str, *causes: Cause, reason: str = "") -> None:
        """Change a text; `reason` says more than its cause does."""
        if text != self.get(memory_id):
            self.new[memory_id] = text
            self.causes[memory_id] += causes
            self.reasons[memory_id] += [reason] if reason else causes


def settle(
    survey: Survey,
    choices: Mapping[str, Side | None],
    *,
    directories: Sequence[MemoryDirectory],
    indexes: Mapping[str, str],
    news: Mapping[str, Sequence[Fact]] | None = None,
    additions: Sequence[Append] = (),
    wishes: Wishes = Wishes(),
    rules: IndexRules | None = None,
) -> Settled:
    """Make the plan that follows from the answers.

    Args:
        survey: What was found.
        choices: The side that stays, by conflict.
        directories: The memory directories.
        indexes: Present text of each index that may be written, by directory.
        news: New facts by the memory that takes them in.
        additions: New facts without such a memory, each a whole file.
        wishes: Which kinds of changes are wanted.
        rules: How much may happen to an index.
    """
    actions_found = [action for action in survey.plan.actions if action.kind in wishes.kinds]
    if ActionKind.RESOLVE in wishes.kinds:
        actions_found += survey.cuts.conflicts.values()
    texts = Texts(survey)
    contradicted = _put_edits(texts, wishes)
    for merge in [action for action in actions_found if isinstance(action, Merge)]:
        texts.new[str(merge.survivor)] = merge.text
    actions = _answered(actions_found, choices, texts, contradicted)
    actions = list(replace(survey.plan, actions=tuple(actions)).with_choices({}).actions)
    _drop_lost_merges(actions_found, actions, texts)
    actions = _without_copies(actions, contradicted, texts)
    _fix_links(actions, texts)
    if wishes.texts:
        _put_news(news or {}, actions, texts)
    new = tuple(additions) if wishes.texts else ()
    drafts = index_drafts(
        actions, texts, directories=directories, indexes=indexes, additions=new, rules=rules or IndexRules()
    )
    rewrites = _rewrites(survey, actions, texts)
    merged = [_with_text(action, texts) for action in actions]
    whole = [*merged, *rewrites, *new, *index_actions(drafts, indexes)]
    return Settled(replace(survey.plan, actions=tuple(whole)), drafts, contradicted)


def superseded(survey: Survey) -> dict[str, Side | None]:
    """Answers by the rule that newer supersedes; a conflict without known ages stays open."""
    return {conflict.id: conflict.newer for conflict in survey.plan.conflicts}


def removals(plan: Plan) -> list[tuple[str, Merge | Resolve | Prune]]:
    """What goes, with the action that takes it."""
    return [
        (memory_id, action)
        for action in plan.actions
        if not isinstance(action, TextChange)
        for memory_id in action.removes
    ]


def _put_edits(texts: Texts, wishes: Wishes) -> dict[str, str]:
    """Dates, mended paths and what a rule cut; whose sentences go because of whom."""
    survey = texts.survey
    if wishes.texts:
        for memory_id, edit in survey.edits.items():
            texts.put(memory_id, edit.text, *edit.causes)
    if ActionKind.RESOLVE not in wishes.kinds:
        return {}
    contradicted: dict[str, str] = {}
    for memory_id, text in survey.cuts.texts.items():
        if text is not None:
            winner = survey.cuts.winners[memory_id]
            texts.put(memory_id, text, Cause.CONTRADICTION, reason=contradicted_by(winner))
            contradicted[memory_id] = winner
    return contradicted


def contradicted_by(winner: str) -> str:
    """Why a sentence goes."""
    return f"CONTRADICTED by {PurePosixPath(file_of(winner)).name}"


def _answered(
    proposed: Sequence[Action],
    choices: Mapping[str, Side | None],
    texts: Texts,
    contradicted: dict[str, str],
) -> list[Action]:
    """All actions, the conflicts with their answers; a conflict about a memory that goes is settled."""
    actions: list[Action] = []
    lost: set[str] = set()
    for action in proposed:
        side = choices.get(action.id) if isinstance(action, Resolve) else None
        if not isinstance(action, Resolve) or side is None:
            actions.append(action)
        elif not lost & {*action.a, *action.b}:
            answered = _resolved(action, side, proposed, texts, contradicted)
            actions += [answered] if answered else []
            lost |= set(answered.removes) if answered else set()
    return actions


def _resolved(
    conflict: Resolve,
    side: Side,
    proposed: Sequence[Action],
    texts: Texts,
    contradicted: dict[str, str],
) -> Resolve | None:
    """The conflict with its answer; None if only a sentence goes, which the texts then no longer hold."""
    winner, loser = (conflict.a[0], conflict.b[0]) if side == "a" else (conflict.b[0], conflict.a[0])
    rest = after(conflict, side, {name: texts.get(name) for name in (winner, loser)})
    if rest is None:
        return conflict
    if rest == "":
        return _whole(conflict, side, loser, proposed, texts.survey.memories)
    texts.put(loser, rest, Cause.CONTRADICTION, reason=contradicted_by(winner))
    contradicted[loser] = winner
    return None


def _whole(
    conflict: Resolve,
    side: Side,
    loser: str,
    proposed: Sequence[Action],
    memories: Mapping[str, Memory],
) -> Resolve:
    """The answered conflict by which a memory goes, and with it all that were to be merged with it."""
    merge = next(
        (item for item in proposed if isinstance(item, Merge) and loser in {m.id for m in item.members}), None
    )
    copies = tuple(member.id for member in merge.members if member.id != loser) if merge else ()
    winners = conflict.a if side == "a" else conflict.b
    copies = tuple(name for name in copies if name not in winners)
    members = tuple(
        Member.of(memories[name]) for name in sorted({*(m.id for m in conflict.members), *copies})
    )
    lost = (loser, *copies)
    a, b = (winners, lost) if side == "a" else (lost, winners)
    return replace(conflict, members=members, a=a, b=b).choose(side)


def _drop_lost_merges(proposed: Sequence[Action], actions: Sequence[Action], texts: Texts) -> None:
    """Where a merge fell with the side that lost, its survivor's new text is void."""
    standing = {action.id for action in actions}
    for action in proposed:
        if isinstance(action, Merge) and action.id not in standing:
            texts.new.pop(str(action.survivor), None)


def _without_copies(actions: Sequence[Action], contradicted: Mapping[str, str], texts: Texts) -> list[Action]:
    """A memory that says the same as another once its sentence went is merged into that one at once."""
    result = list(actions)
    merged = {member.id for action in actions if isinstance(action, Merge) for member in action.members}
    away = removed_by(actions)
    memories = texts.survey.memories
    for name in [name for name in contradicted if name not in merged | away]:
        key, mine = exact_key(texts.get(name)), memories[name]
        twin = next(
            (
                other
                for other in memories.values()
                if (other.scope, other.category) == (mine.scope, mine.category)
                and other.id not in away | merged | {name}
                and not other.pinned
                and ("#" in other.id) == ("#" in name)
                and exact_key(texts.get(other.id)) == key
            ),
            None,
        )
        if twin is None:
            continue
        texts.new.pop(name, None)
        merged |= {name, twin.id}
        away = away | {name}
        result.append(
            Merge(
                id=f"k{len(result)}",
                scope=mine.scope,
                category=mine.category,
                members=tuple(Member.of(memories[member]) for member in sorted((name, twin.id))),
                survivor=twin.id,
                text=texts.get(twin.id),
                exact=(name,),
            )
        )
    return result


def removed_by(actions: Iterable[Action]) -> set[str]:
    """Ids of all memories that go."""
    return {memory_id for action in actions for memory_id in action.removes}


def _fix_links(actions: Iterable[Action], texts: Texts) -> None:
    """Where a file was merged into another, links to it lead to the other from now on."""
    moved: dict[str, str] = {}
    for action in actions:
        if isinstance(action, Merge) and action.survivor:
            moved |= {gone: file_of(action.survivor) for gone in action.removes if "#" not in gone}
    removed = removed_by(actions)
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
            texts.put(memory.id, fixed, Cause.LINKS)


def _put_news(news: Mapping[str, Sequence[Fact]], actions: Iterable[Action], texts: Texts) -> None:
    """Put new facts into the memories they belong to, as bullets at the end."""
    removed = removed_by(actions)
    for memory_id, facts in news.items():
        if memory_id in removed:
            continue
        text = texts.get(memory_id)
        gap = "\n" if re.match(r"\s*[-*+] ", text.rsplit("\n", 1)[-1]) else "\n\n"
        lines = "\n".join(f"- {fact.text}" for fact in facts)
        texts.put(memory_id, f"{text}{gap}{lines}", Cause.FACTS, reason=reason(facts))


def _rewrites(survey: Survey, actions: Sequence[Action], texts: Texts) -> list[Rewrite]:
    """Memories that stay with another text, and are not the survivor of a merge."""
    merged = {action.survivor for action in actions if isinstance(action, Merge)}
    skipped = removed_by(actions) | merged
    changed = [memory_id for memory_id in sorted(texts.new) if memory_id not in skipped]
    return [
        Rewrite(
            id=f"w{number}",
            scope=survey.memories[memory_id].scope,
            category=survey.memories[memory_id].category,
            members=(Member.of(survey.memories[memory_id]),),
            text=texts.new[memory_id],
            reason=", ".join(dict.fromkeys(texts.reasons[memory_id])),
            causes=tuple(dict.fromkeys(texts.causes[memory_id])),
        )
        for number, memory_id in enumerate(changed, 1)
        if texts.new[memory_id] != survey.memories[memory_id].text
    ]


def _with_text(action: Action, texts: Texts) -> Action:
    """A merge with everything else that happens to its survivor."""
    if isinstance(action, Merge) and action.survivor in texts.new:
        return replace(action, text=texts.new[action.survivor])
    return action
