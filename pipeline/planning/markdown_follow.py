"""What follows from a plan on Markdown memories: all new texts in one for each memory, and the indexes.

Every memory is touched by one action at most, so dates, links, contradicted sentences, new facts and what
moves in from the index meet in one new text. Nothing is judged here: an answer applies at once.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from ...models.markdown_blocks import markdown_lines
from ...models.same_statement import statement_key
from ...models.text.words import counted
from ...records import Memory, Scope
from ..answers import line_key, unanswered
from ..plan import Action, Append, Cause, Member, Merge, Plan, Reindex, Resolve, Rewrite
from ..rules.markdown_index import (
    LONG_LINE,
    VERBOSE_LINE,
    IndexDraft,
    TopicFile,
    draft_index,
    index_lines,
    too_large,
)
from ..rules.markdown_prose import settled
from ..rules.markdown_signal import HEADER, Fact, homes, reason, with_bullets, with_entries
from ..stores.markdown.directories import GATHERED, INDEX, MemoryDirectory
from ..stores.markdown.document import file_of, parse, whole_id
from ..stores.markdown.project import hidden_paths, removed_paths
from .markdown_look import Present, Texts, is_over, outcome, removed_by, told

_FileChange = TypeVar("_FileChange", Append, Reindex)


def follow(plan: Plan, present: Present) -> tuple[Plan, dict[str, IndexDraft]]:
    """The plan with all that follows from its actions, and the index of each directory as it will be.

    A plan that holds new texts already, because it was made here before, keeps them as they are: only links,
    answers and indexes are worked out anew.
    """
    rewrites = [action for action in plan.actions if isinstance(action, Rewrite)]
    additions: list[Append] = [action for action in plan.actions if isinstance(action, Append)]
    indexed = any(isinstance(action, Reindex) for action in plan.actions)
    made = bool(rewrites or additions or indexed)
    others = [a for a in plan.actions if not isinstance(a, Rewrite | Append | Reindex)]
    away = set() if made else removed_by(others)
    staying = present.memories.keys() - away
    changes = [c for c in (rewrites if made else present.edits.values()) if c.causes != (Cause.LINKS,)]
    texts = Texts.of(present.memories, (change for change in changes if change.survivor in staying))
    texts.new |= {str(a.survivor): a.text for a in others if isinstance(a, Merge) and not a.said}
    # A conflict of whole files is nothing that a person could answer.
    others = [a for a in others if not (isinstance(a, Resolve) and not a.said)]
    indexes = dict(present.indexes)
    actions = _answered(others, texts, indexes)
    for name, before in present.indexes.items():
        if indexes[name] != before:  # what else is to become of it waits for the next pass
            key, why = f"n:{whole_id(f'{name}/{INDEX}')}", "what is said elsewhere, or does not hold"
            additions.append(_of_file(Append, key, name, INDEX, before=before, text=indexes[name], why=why))
    lost = {name for action in actions if isinstance(action, Resolve) for name in action.removes}
    for merge in [a for a in actions if isinstance(a, Merge) and lost & {m.id for m in a.members}]:
        texts.new.pop(str(merge.survivor), None)  # it falls with the side that lost
        actions.remove(merge)
    actions = _without_copies(actions, texts)
    _fix_links(actions, texts)
    if not made:
        asked, new = _put_facts(actions, texts, present)
        actions, additions = [*actions, *asked], [*additions, *new]
    # A removal of what is gone, or of what changed, is skipped.
    done = [
        action
        for action in actions
        if getattr(action, "choice", True)
        and all(m.id in present.memories and present.memories[m.id].text == m.text for m in action.members)
    ]
    now = replace(present, certain=present.certain or (made and not indexed))
    drafts = index_drafts(done, texts, now, additions)
    # A merge carries everything else that happens to its survivor.
    whole: list[Action] = [
        replace(a, text=texts.new[a.survivor]) if isinstance(a, Merge) and a.survivor in texts.new else a
        for a in actions
    ]
    kept = removed_by(actions) | {a.survivor for a in actions if isinstance(a, Merge)}
    whole += [*texts.rewrites(but=kept), *additions]
    for name, draft in sorted(drafts.items()):
        before = present.indexes.get(name, "")
        why = f"{counted(len(draft.removed), 'entry', 'entries')} removed, {draft.remaining} remaining"
        if draft.text != before:
            key = f"i:{name}"
            whole.append(_of_file(Reindex, key, name, INDEX, before=before, text=draft.text, why=why))
    return unanswered(replace(plan, actions=tuple(whole)), present.refused, asked={*_cut(texts)}), drafts


def _cut(texts: Texts) -> list[str]:
    """The memories that lost a sentence, since a person or a rule said so."""
    cuts = {Cause.CONTRADICTION, Cause.DUPLICATE}
    return [name for name, causes in texts.causes.items() if not cuts.isdisjoint(causes)]


def _of_file(
    kind: type[_FileChange], name: str, directory: str, file: str, *, before: str, text: str, why: str
) -> _FileChange:
    whole = Memory(whole_id(f"{directory}/{file}"), before, Scope.of(directory=directory))
    return kind.of(whole, name=name, text=text, reason=why)


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
    winner, loser, held, gone = outcome(action)
    in_index = {whole_id(f"{name}/{INDEX}"): name for name in indexes}

    def says(name: str) -> str:
        if name in texts.memories:
            return texts.get(name)
        stood = next(member.text for member in action.members if member.id == name)
        return indexes.get(in_index.get(name, ""), stood)

    rest = settled(says(loser), gone, held=held, beside=says(winner))
    if rest is None:
        return [] if isinstance(action, Merge) else [action.choose(None)]
    cause = Cause.DUPLICATE if isinstance(action, Merge) else Cause.CONTRADICTION
    known = winner in texts.memories or winner in in_index
    if loser in in_index:
        indexes[in_index[loser]] = rest + "\n" * says(loser).endswith("\n")
    elif loser in texts.memories and (rest or not known):
        if not known:  # a line of a log takes the place of the sentence
            text = says(loser)
            rest = text.replace(gone, held) if gone in text else f"{rest}\n\n{held}".strip()
        texts.put(loser, rest, cause, reason=told(cause, winner))
    elif loser in texts.memories and isinstance(action, Resolve):
        return [_whole(action, loser, proposed, texts.memories)]
    if not isinstance(action, Merge) or winner not in texts.memories:
        return []  # a line of a log that lost stays what was said that day
    if action.text != held:  # what the two sentences say together
        text = texts.get(winner).replace(held, action.text, 1)
        texts.put(winner, text, cause, reason=told(cause, winner))
    # A memory that said nothing else goes as in any merge.
    goes = tuple(member.id for member in action.members if member.id != winner)
    return [] if rest else [replace(action, text=texts.get(winner), exact=goes, said=(), places=())]


def _whole(
    conflict: Resolve, loser: str, proposed: Sequence[Action], memories: Mapping[str, Memory]
) -> Resolve:
    """The answered conflict by which a memory goes, and with it all that were to be merged with it."""
    groups = [{member.id for member in action.members} for action in proposed if isinstance(action, Merge)]
    winners = conflict.a if conflict.choice == "a" else conflict.b
    together = next((group for group in groups if loser in group), set()) - {*winners, loser}
    lost = (loser, *sorted(together))
    ids = sorted({*(member.id for member in conflict.members), *together})
    a, b = (winners, lost) if conflict.choice == "a" else (lost, winners)
    return replace(conflict, members=tuple(Member.of(memories[name]) for name in ids), a=a, b=b, said=())


def _without_copies(actions: Sequence[Action], texts: Texts) -> list[Action]:
    """A memory that says the same as another once its sentence went is merged into that one at once."""
    result = list(actions)
    merged = {member.id for action in actions if isinstance(action, Merge) for member in action.members}
    busy, memories = removed_by(actions) | merged, texts.memories
    for name in _cut(texts):
        key, mine = statement_key(texts.get(name)), memories[name]
        twins = [
            other.id
            for other in memories.values()
            if (other.scope, other.category) == (mine.scope, mine.category)
            and other.id not in busy | {name}
            and not other.pinned
            and ("#" in other.id) == ("#" in name)
            and statement_key(texts.get(other.id)) == key
        ]
        for twin in twins[:1] if name not in busy else ():
            texts.new.pop(name, None)
            busy |= {name, twin}
            become = {"survivor": twin, "text": texts.get(twin), "exact": (name,)}
            result.append(Merge.of(mine, memories[twin], name=f"k:{name}", **become))
    return result


def _fix_links(actions: Iterable[Action], texts: Texts) -> None:
    moved: dict[str, str] = {}
    for action in actions:
        if isinstance(action, Merge) and action.survivor:
            moved |= {gone: file_of(action.survivor) for gone in action.removes if "#" not in gone}
    removed = removed_by(actions)
    for old, new in moved.items():
        stem, heir = re.escape(PurePosixPath(old).stem), PurePosixPath(new).stem.replace("\\", r"\\")
        link = re.compile(rf"(\]\(<?(?:\./)?){stem}(?=\.md[)>#])|(\[\[){stem}(?=[\]|#])")
        target = rf"\g<1>\g<2>{heir}"
        for memory in texts.memories.values():
            beside = PurePosixPath(file_of(memory.id)).parent == PurePosixPath(old).parent
            if beside and not memory.pinned and memory.id not in removed:
                texts.put(memory.id, link.sub(target, texts.get(memory.id)), Cause.LINKS)


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
        for number, fact in enumerate(facts):
            memory_id, said = present.against.get(fact.text, ("", ""))
            if memory_id in texts.memories and memory_id not in busy:
                conflicts.append(_refutation(f"f:{name}:{number}", fact, texts.memories[memory_id], said))
        new = [fact for fact in facts if fact.text not in present.against]
        lists: dict[str, dict[str, list[Fact]]] = defaultdict(dict)
        free = [m for m in texts.memories.values() if m.scope.get("directory") == name and m.id not in busy]
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
            into = current or HEADER
            text = f"{with_bullets(into, sections[''])}\n" if gathered else with_entries(current, sections)
            why = reason(fact for section in sections.values() for fact in section)
            own = file.removeprefix(f"{name}/")
            change = _of_file(Append, f"n:{file}", name, own, before=current, text=text, why=why)
            additions.append(replace(change, category="project") if gathered else change)
    return conflicts, additions


def _refutation(name: str, fact: Fact, memory: Memory, said: str) -> Resolve:
    log = f"{memory.scope.get('directory')}/{fact.source}"
    newer = "b" if memory.stated_at and memory.stated_at < fact.day else None
    sides = {"a": (memory.id,), "b": (log,)}
    asked = Resolve.of(memory, name=name, topic=said, newer=newer, said=(said, fact.text), **sides)
    return replace(asked, members=(*asked.members, Member(log, fact.text, stated_at=fact.day)))


def index_drafts(
    actions: Sequence[Action], texts: Texts, present: Present, additions: Sequence[Append]
) -> dict[str, IndexDraft]:
    """The new index of each directory after these actions; what it says too much moves to the texts.

    Where it is `certain`, a pointer goes if its file is known to have been removed, and a long one is cut
    only where the index is above what an agent loads.
    """
    drafts: dict[str, IndexDraft] = {}
    for directory in present.directories:
        name = directory.name
        current = present.indexes.get(name)
        if present.certain and not current and not directory.is_loaded:
            current = None
        added = {file_of(item.survivor): item for item in additions if item.survivor.startswith(f"{name}/")}
        # An index may hold the memories itself: it points to nothing, or they are what changes it.
        touched = {member.id for action in actions for member in action.members}
        touched |= {each for each, memory in texts.memories.items() if texts.get(each) != memory.text}
        own = any(each.startswith(f"{name}/{INDEX}#") for each in touched & texts.memories.keys())
        own |= directory.is_index_alone() and not (added or (directory.path / GATHERED).exists())
        if current is None or own or f"{name}/{INDEX}" in added:
            drafts[name] = IndexDraft([], text=current or "")
            continue
        made = _draft(directory, actions, texts, added, present)
        for file, detail in made.demoted.items():
            texts.put(f"{name}/{file}", f"{texts.get(f'{name}/{file}')}\n\n{detail}", Cause.INDEX)
        drafts[name] = made
    return drafts


def _draft(
    directory: MemoryDirectory,
    actions: Sequence[Action],
    texts: Texts,
    added: Mapping[str, Append],
    present: Present,
) -> IndexDraft:
    prefix, certain, current = f"{directory.name}/", present.certain, present.indexes[directory.name]
    by_file: dict[str, list[Memory]] = defaultdict(list)
    for memory in texts.memories.values():
        by_file[file_of(memory.id)].append(memory)
    files = {prefix + directory.relative(path) for path in directory.topics()}
    gone = {
        loser: file_of(str(action.survivor)).removeprefix(prefix) if isinstance(action, Merge) else None
        for action in actions
        for loser in action.removes
        if loser in files
    }
    topics = [
        _topic(file.removeprefix(prefix), by_file.get(file, ()), texts, added.get(file))
        for file in sorted((files | set(added)) - gone.keys())
    ]

    stands, dropped = _lookups(directory, current, certain=certain)

    def drafted(longest: int | None) -> IndexDraft:
        return draft_index(
            current,
            topics,
            title=directory.title,
            gone={file.removeprefix(prefix): heir for file, heir in gone.items()},
            stands=stands,
            dropped=dropped,
            longest=longest,
            adopt=not certain,
            refused=lambda line: line_key(whole_id(f"{prefix}{INDEX}"), line) in present.refused,
        )

    large = too_large(current)
    if present.shorten or large:
        draft = drafted(LONG_LINE)
        if present.shorten or not too_large(draft.text):
            return draft  # shortening was asked for, or reaches the limit
    return drafted(None if certain or large else VERBOSE_LINE)


def _lookups(
    directory: MemoryDirectory, current: str, *, certain: bool
) -> tuple[Callable[[str], bool], Callable[[str], bool]]:
    """Whether a file to which an index points stands, and whether a pointer to one that does not may go."""

    @functools.cache
    def beside(folder: Path) -> frozenset[str]:
        with contextlib.suppress(OSError):
            return frozenset(each.name.casefold() for each in folder.iterdir())
        return frozenset()

    @functools.cache
    def known() -> tuple[set[str], Collection[str]]:
        """What git leaves out, which may exist elsewhere, and what a commit took away."""
        files = [line.pointer for line in index_lines(current) if line.pointer]
        removed = removed_paths(directory.path, files) if certain else {}
        return hidden_paths(directory.path, files), removed

    def stands(file: str) -> bool:
        """Whether a file exists beside the memories or from the project's root, in whatever case."""
        for path in (place / file for place in (directory.path, directory.project) if place):
            with contextlib.suppress(OSError):
                if path.name.casefold() in beside(path.parent) or path.exists():
                    return True
        return False

    def dropped(file: str) -> bool:
        hidden, removed = known()
        return file not in hidden and (not certain or file in removed)

    return stands, dropped


def _topic(file: str, memories: Sequence[Memory], texts: Texts, added: Append | None) -> TopicFile:
    """What an index needs to know of a file; of one that new facts go into, as it will be."""
    if added is not None:
        document = parse(added.text.encode())
        name, description = (str(document.value(key) or "") for key in ("name", "description"))
        return TopicFile(file, name, description, document.body, open=False)
    about = memories[0].metadata if memories else {}
    text = "\n".join(texts.get(memory.id) for memory in memories)
    title = next((line.text[line.said :] for line in markdown_lines(text) if line.level == 1), "")
    return TopicFile(
        file=file,
        name=str(about.get("name") or title.strip("# ")),
        description=str(about.get("description") or ""),
        text=text,
        open=len(memories) == 1 and "#" not in memories[0].id and not memories[0].pinned,
        retired=any(map(is_over, memories)),
    )
