"""What follows from a plan on Markdown memories: all new texts in one for each memory, and the indexes.

Every memory is touched by one action at most, so dates, links, contradicted sentences, new facts and what
moves in from the index meet in one new text. Nothing is judged here: an answer applies at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from ....models.same_statement import statement_key
from ....records import Memory, Scope
from ...actions import Action, Append, Cause, Member, Merge, Reindex, Resolve, Rewrite
from ...answers import unanswered
from ...plan import Plan
from ...rules.markdown.index_file import IndexDraft
from ...rules.markdown.prose import settled
from ...rules.markdown.signal import HEADER, Fact, homes, reason, with_bullets, with_entries
from ...stores.markdown.directories import GATHERED, INDEX
from ...stores.markdown.rows import file_of, whole_id
from .index_actions import index_actions, index_drafts
from .look import Edit, Present, Texts, told

CUTS = frozenset({Cause.CONTRADICTION, Cause.DUPLICATE})
"""What takes a sentence out of a text, since a person or a rule said so."""


def follow(plan: Plan, present: Present) -> tuple[Plan, dict[str, IndexDraft]]:
    """The plan with all that follows from its actions, and the index of each directory as it will be.

    A plan that holds new texts already, because it was made here before, keeps them as they are: only links,
    answers and indexes are worked out anew.
    """
    texts = Texts(present.memories)
    rewrites = [action for action in plan.actions if isinstance(action, Rewrite)]
    additions: list[Append] = [action for action in plan.actions if isinstance(action, Append)]
    indexed = any(isinstance(action, Reindex) for action in plan.actions)
    made = bool(rewrites or additions or indexed)
    others = [a for a in plan.actions if not isinstance(a, Rewrite | Append | Reindex)]
    _put_texts(texts, others, rewrites if made else (), {} if made else present.edits)
    # A conflict of whole files is nothing that a person could answer.
    others = [a for a in others if not (isinstance(a, Resolve) and not a.said)]
    indexes = dict(present.indexes)
    actions = _answered(others, texts, indexes)
    additions += [
        _cut_index(name, present.indexes[name], text)
        for name, text in indexes.items()
        if text != present.indexes[name]
    ]
    lost = {name for action in actions if isinstance(action, Resolve) for name in action.removes}
    for merge in [a for a in actions if isinstance(a, Merge) and lost & {m.id for m in a.members}]:
        texts.new.pop(str(merge.survivor), None)  # it falls with the side that lost
        actions.remove(merge)
    actions = _without_copies(actions, texts)
    _fix_links(actions, texts)
    if not made:
        asked, new = _put_facts(actions, texts, present)
        actions, additions = [*actions, *asked], [*additions, *new]
    done = [action for action in actions if _stands(action, present.memories)]
    certain = present.certain or (made and not indexed)
    drafts = index_drafts(done, texts, present, additions=additions, certain=certain)
    whole = [_with_text(action, texts) for action in actions]
    whole += [*_rewrites(actions, texts), *additions, *index_actions(drafts, present.indexes)]
    asked_for = {name for name, causes in texts.causes.items() if not CUTS.isdisjoint(causes)}
    return unanswered(replace(plan, actions=tuple(whole)), present.refused, asked=asked_for), drafts


def removed_by(actions: Iterable[Action]) -> set[str]:
    """Ids of all memories that go."""
    return {memory_id for action in actions for memory_id in action.removes}


def _put_texts(
    texts: Texts, actions: Sequence[Action], rewrites: Iterable[Rewrite], edits: Mapping[str, Edit]
) -> None:
    removed = removed_by(actions)
    for memory_id, edit in edits.items():
        if memory_id not in removed and memory_id in texts.memories:
            texts.put(memory_id, edit.text, *edit.causes, reason=edit.reason)
    for rewrite in rewrites:
        if rewrite.causes != (Cause.LINKS,) and rewrite.survivor in texts.memories:
            texts.put(rewrite.survivor, rewrite.text, *rewrite.causes, reason=rewrite.reason)
    for merge in actions:
        if isinstance(merge, Merge) and not merge.said:
            texts.new[str(merge.survivor)] = merge.text


def _answered(proposed: Sequence[Action], texts: Texts, indexes: dict[str, str]) -> list[Action]:
    """All actions; of two sentences only the one that lost goes, if its memory says more."""
    actions: list[Action] = []
    lost: set[str] = set()
    for action in proposed:
        if not isinstance(action, Merge | Resolve) or not action.said or not getattr(action, "choice", True):
            actions.append(action)
        elif not lost & {member.id for member in action.members}:  # else it is settled: a memory of it goes
            left = _settled(action, proposed, texts, indexes)
            lost |= removed_by(left)
            actions += left
    return actions


def _settled(
    action: Merge | Resolve, proposed: Sequence[Action], texts: Texts, indexes: dict[str, str]
) -> list[Action]:
    """Cut the sentence that lost out of its memory or index; what is left to do or to ask about the two."""
    winner, loser, held, gone = _outcome(action)
    in_index = {whole_id(f"{name}/{INDEX}"): name for name in indexes}

    def says(name: str) -> str:
        """What a memory, an index or a log says now."""
        if name in texts.memories:
            return texts.get(name)
        stood = next(member.text for member in action.members if member.id == name)
        return indexes.get(in_index.get(name, ""), stood)

    rest = settled(says(loser), gone, held=held, beside=says(winner))
    if rest is None:
        return [] if isinstance(action, Merge) else [action.choose(None)]
    cause = Cause.DUPLICATE if isinstance(action, Merge) else Cause.CONTRADICTION
    reason, known = told(cause, winner), {*texts.memories, *in_index}
    if loser in in_index:
        indexes[in_index[loser]] = rest + "\n" * says(loser).endswith("\n")
    elif loser in texts.memories and (rest or winner not in known):
        if winner not in known:  # a line of a log takes the place of the sentence
            text = says(loser)
            rest = text.replace(gone, held) if gone in text else f"{rest}\n\n{held}".strip()
        texts.put(loser, rest, cause, reason=reason)
    elif loser in texts.memories and isinstance(action, Resolve):
        return [_whole(action, loser, proposed, texts.memories)]
    if isinstance(action, Merge) and winner in texts.memories:
        return _joined(action, winner, held, texts, alone=not rest)
    return []  # a line of a log that lost stays what was said that day


def _joined(merge: Merge, winner: str, held: str, texts: Texts, *, alone: bool) -> list[Action]:
    """Write down what two sentences say together; a memory that said nothing else goes as in any merge."""
    if merge.text != held:
        text = texts.get(winner).replace(held, merge.text, 1)
        texts.put(winner, text, Cause.DUPLICATE, reason=told(Cause.DUPLICATE, winner))
    if not alone:
        return []
    gone = tuple(member.id for member in merge.members if member.id != winner)
    return [replace(merge, text=texts.get(winner), exact=gone, said=(), places=())]


def _cut_index(directory: str, before: str, text: str) -> Append:
    """An index without sentences that lost; what else is to become of it waits for the next pass."""
    name = whole_id(f"{directory}/{INDEX}")
    return Append(
        id=f"n:{name}",
        scope=Scope.of(directory=directory),
        category=None,
        members=(Member(name, before),),
        text=text,
        reason="what is said elsewhere, or does not hold",
    )


def _outcome(action: Merge | Resolve) -> tuple[str, str, str, str]:
    """Which memory keeps its sentence and which loses it, and the two sentences."""
    if isinstance(action, Merge):
        stays = str(action.survivor)
        goes = next((member.id for member in action.members if member.id != stays), stays)
        return stays, goes, action.said[1], action.said[0]
    if action.choice == "a":
        return action.a[0], action.b[0], action.said[0], action.said[1]
    return action.b[0], action.a[0], action.said[1], action.said[0]


def _whole(
    conflict: Resolve, loser: str, proposed: Sequence[Action], memories: Mapping[str, Memory]
) -> Resolve:
    """The answered conflict by which a memory goes, and with it all that were to be merged with it."""
    merges = (a for a in proposed if isinstance(a, Merge) and loser in {m.id for m in a.members})
    merged = next(merges, None)
    winners = conflict.a if conflict.choice == "a" else conflict.b
    together = {member.id for member in merged.members} - {*winners, loser} if merged else set()
    lost = (loser, *sorted(together))
    ids = sorted({*(member.id for member in conflict.members), *together})
    a, b = (winners, lost) if conflict.choice == "a" else (lost, winners)
    members = tuple(Member.of(memories[name]) for name in ids)
    return replace(conflict, members=members, a=a, b=b, said=())


def _without_copies(actions: Sequence[Action], texts: Texts) -> list[Action]:
    """A memory that says the same as another once its sentence went is merged into that one at once."""
    result = list(actions)
    merged = {member.id for action in actions if isinstance(action, Merge) for member in action.members}
    away, memories = removed_by(actions), texts.memories
    for name in [name for name, causes in texts.causes.items() if not CUTS.isdisjoint(causes)]:
        key, mine = statement_key(texts.get(name)), memories[name]
        twins = (
            other.id
            for other in memories.values()
            if (other.scope, other.category) == (mine.scope, mine.category)
            and other.id not in away | merged | {name}
            and not other.pinned
            and ("#" in other.id) == ("#" in name)
            and statement_key(texts.get(other.id)) == key
        )
        twin = next(twins, None) if name not in merged | away else None
        if twin is None:
            continue
        texts.new.pop(name, None)
        merged |= {name, twin}
        away = away | {name}
        members = tuple(Member.of(memories[member]) for member in sorted((name, twin)))
        result.append(
            Merge(
                id=f"k:{name}",
                scope=mine.scope,
                category=mine.category,
                members=members,
                survivor=twin,
                text=texts.get(twin),
                exact=(name,),
            )
        )
    return result


def _fix_links(actions: Iterable[Action], texts: Texts) -> None:
    """Where a file was merged into another, links to it lead to the other from now on."""
    moved: dict[str, str] = {}
    for action in actions:
        if isinstance(action, Merge) and action.survivor:
            moved |= {gone: file_of(action.survivor) for gone in action.removes if "#" not in gone}
    removed = removed_by(actions)
    for old, new in moved.items():
        stem, heir = PurePosixPath(old).stem, PurePosixPath(new).stem
        pattern = re.compile(
            rf"(?P<link>\]\(<?(?:\./)?){re.escape(stem)}(?=\.md[)>#])|(?P<wiki>\[\[){re.escape(stem)}(?=[\]|#])"
        )
        for memory in texts.memories.values():
            beside = PurePosixPath(file_of(memory.id)).parent == PurePosixPath(old).parent
            if beside and not memory.pinned and memory.id not in removed and stem in texts.get(memory.id):
                text = texts.get(memory.id)
                for match in reversed([*pattern.finditer(text)]):
                    text = text[: match.end() - len(stem)] + heir + text[match.end() :]
                texts.put(memory.id, text, Cause.LINKS)


def _put_facts(
    actions: Sequence[Action], texts: Texts, present: Present
) -> tuple[list[Resolve], list[Append]]:
    """Put new facts where they belong: into memories, sections of lists, or a file of their own.

    What else changes is left alone, and what a fact refutes is asked about.
    """
    busy = {m.id for action in actions for m in action.members} | set(texts.new)
    conflicts: list[Resolve] = []
    additions: list[Append] = []
    for name, facts in present.facts.items():
        mine = [m for m in texts.memories.values() if m.scope.get("directory") == name]
        for number, fact in enumerate(facts):
            memory_id, said = present.against.get(fact.text, ("", ""))
            if memory_id in texts.memories and memory_id not in busy:
                conflicts.append(_refutation(f"f:{name}:{number}", fact, texts.memories[memory_id], said))
        new = [fact for fact in facts if fact.text not in present.against]
        lists: dict[str, dict[str, list[Fact]]] = defaultdict(dict)
        free = [memory for memory in mine if memory.id not in busy]
        for (place, heading), here in homes(new, free, certain=present.certain).items():
            if not place:
                lists[f"{name}/{GATHERED}"][""] = here
            elif heading is not None:
                lists[place][heading] = here
            else:
                text = with_bullets(texts.get(place), here)
                texts.put(place, text, Cause.FACTS, reason=reason(here))
        for file, sections in sorted(lists.items()):
            # Not now where another entry of the file, or an index of memories, changes too.
            gathered = file.endswith(f"/{GATHERED}")
            beside = (file, f"{name}/{INDEX}#") if gathered else (f"{file}#",)
            if any(memory_id.startswith(beside) for memory_id in busy):
                continue
            current = present.files.get(file, "")
            text = (
                f"{with_bullets(current or HEADER, sections[''])}\n"
                if gathered
                else with_entries(current, sections)
            )
            additions.append(
                Append(
                    id=f"n:{file}",
                    scope=Scope.of(directory=name),
                    category="project" if gathered else None,
                    members=(Member(whole_id(file), current),),
                    text=text,
                    reason=reason(fact for section in sections.values() for fact in section),
                )
            )
    return conflicts, additions


def _refutation(name: str, fact: Fact, memory: Memory, said: str) -> Resolve:
    """The question whether a sentence of a memory or a line of a log holds."""
    log = f"{memory.scope.get('directory')}/{fact.source}"
    return Resolve(
        id=name,
        scope=memory.scope,
        category=memory.category,
        members=(Member.of(memory), Member(log, fact.text, stated_at=fact.day)),
        a=(memory.id,),
        b=(log,),
        topic=said,
        newer="b" if memory.stated_at and memory.stated_at < fact.day else None,
        said=(said, fact.text),
    )


def _rewrites(actions: Sequence[Action], texts: Texts) -> list[Rewrite]:
    """Memories that stay with another text, and are not the survivor of a merge."""
    skipped = removed_by(actions) | {a.survivor for a in actions if isinstance(a, Merge)}
    return [
        Rewrite(
            id=f"w:{memory_id}",
            scope=texts.memories[memory_id].scope,
            category=texts.memories[memory_id].category,
            members=(Member.of(texts.memories[memory_id]),),
            text=text,
            reason=", ".join(dict.fromkeys(texts.reasons[memory_id])),
            causes=tuple(dict.fromkeys(texts.causes[memory_id])),
        )
        for memory_id, text in sorted(texts.new.items())
        if memory_id not in skipped and text != texts.memories[memory_id].text
    ]


def _with_text(action: Action, texts: Texts) -> Action:
    """A merge with everything else that happens to its survivor."""
    if isinstance(action, Merge) and action.survivor in texts.new:
        return replace(action, text=texts.new[action.survivor])
    return action


def _stands(action: Action, memories: Mapping[str, Memory]) -> bool:
    """Whether an action will be applied: a removal of what is gone, or of what changed, is skipped."""
    if isinstance(action, Resolve) and action.choice is None:
        return False
    return all(m.id in memories and memories[m.id].text == m.text for m in action.members)
