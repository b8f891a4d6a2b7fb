"""How Markdown memories are looked at: what drifted, how each will read, what goes, what statements say.

Statements are compared across files, headings and types; where most of a file is said in another one, whether
they are one file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ...models.bindings import relation
from ...models.guards import missing
from ...models.markdown_blocks import markdown_lines
from ...models.same_statement import statement_key
from ...models.text.tables import expression, table_words
from ...models.text.words import significant_words, topic
from ...records import Memory, Scope, rejection_key
from ..answers import said_key, sides
from ..judging.statements import Finding, Statement, repeating
from ..plan import Action, Cause, Merge, Plan, Prune, Resolve, Rewrite
from ..rules.markdown_drift import Drift, Freshness
from ..rules.markdown_index import index_lines
from ..rules.markdown_prose import said, settled
from ..rules.markdown_signal import Fact
from ..stores.markdown.directories import INDEX, MemoryDirectory
from ..stores.markdown.document import INDEX_CATEGORY, file_of, whole_id
from .hooks import View
from .merges import LONG_AGO, last_stated

_OVER, _CLOSING, _ENDED, _DONE, _OPEN = (
    expression("markdown", key) for key in ("over", "closing", "ended", "done", "open")
)
TASK = 3  # statements of a task, which is over once it is done; a plan that says more tells how things are
FEWEST_REPEATED = 3
_DESCRIPTION = "description"
_GENERAL = significant_words(" ".join(table_words("markdown", "general")))
# What a person is asked about statements: conflicts and doubts; none has an id yet.
Questions = tuple[list[Resolve], list[Merge | Resolve]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownView(View):
    """A view of Markdown memories."""

    drift: Mapping[str, Drift] = field(hash=False)  # how the references of each memory stand
    edits: Mapping[str, Rewrite] = field(hash=False)  # new texts of memories that stay, by id
    prunes: tuple[Prune, ...] = ()  # what goes by what the project says
    over: tuple[Prune, ...] = ()  # what says itself that it is over; a person decides
    overruled: tuple[Resolve, ...] = ()  # conflicts that a rule answered, by which a whole memory goes
    # what the logs say that no memory does, by directory
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict, hash=False)

    def text(self, memory_id: str) -> str:
        """A memory's text as it will read."""
        return (self.edits.get(memory_id) or self.stored[memory_id]).text

    @property
    def staying(self) -> list[Memory]:
        """The memories that stay and may be changed, as they will read."""
        away = removed_by((*self.prunes, *self.over, *self.overruled))
        return [
            replace(memory, text=self.text(memory.id))
            for memory in self.stored.values()
            if not memory.pinned and memory.id not in away
        ]

    def flagged(self, plan: Plan) -> list[Drift]:
        """Memories of which some references are gone, and those of which all are that a plan keeps."""
        pruned = removed_by(plan.prunes)
        doubtful = (Freshness.PARTIALLY_STALE, Freshness.FULLY_STALE)
        return [d for d in self.drift.values() if d.freshness in doubtful and d.memory not in pruned]


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The directories as they are, and what a look at them found out."""

    directories: Sequence[MemoryDirectory]
    memories: Mapping[str, Memory]
    indexes: Mapping[str, str]  # present text of each index that may be written, by directory
    edits: Mapping[str, Rewrite]  # new texts of memories that stay, by id
    facts: Mapping[str, Sequence[Fact]]  # what the logs say that no memory does, by directory
    against: Mapping[str, tuple[str, str]]  # memory and sentence that a fact is against, by what it says
    files: Mapping[str, str]  # text of each file that facts may go into besides the memories, by its name
    refused: frozenset[str]  # keys of what a person answered
    certain: bool  # only what needs no person
    shorten: bool  # shorten all long pointers, and not only the verbose, because that was asked for


@dataclass(slots=True)
class Texts:
    """New texts of memories that stay, with the causes of each, and these in words."""

    memories: Mapping[str, Memory]
    new: dict[str, str] = field(default_factory=dict)
    causes: dict[str, list[Cause]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, memories: Mapping[str, Memory], changes: Iterable[Rewrite]) -> Texts:
        """The texts as these changes make them."""
        texts = cls(memories)
        for change in changes:
            texts.put(change.survivor, change.text, *change.causes, reason=change.reason)
        return texts

    def get(self, memory_id: str) -> str:
        """The text as it will read."""
        return self.new.get(memory_id, self.memories[memory_id].text)

    def put(self, memory_id: str, text: str, *causes: Cause, reason: str = "") -> None:
        """Change a text; `reason` says more than its cause does."""
        if text != self.get(memory_id):
            self.new[memory_id] = text
            self.causes[memory_id] += causes
            self.reasons[memory_id] += [reason] if reason else causes

    def rewrites(self, but: Collection[str | None] = ()) -> list[Rewrite]:
        """Each memory with another text, but for some."""
        return [
            Rewrite.of(
                self.memories[name],
                name=f"w:{name}",
                text=text,
                reason=", ".join(dict.fromkeys(self.reasons[name])),
                causes=tuple(dict.fromkeys(self.causes[name])),
            )
            for name, text in sorted(self.new.items())
            if name not in but and text != self.memories[name].text
        ]


def superseded(
    view: MarkdownView, conflicts_of: Callable[[Sequence[Memory]], Sequence[Resolve]], kept: frozenset[str]
) -> MarkdownView:
    """The view in which newer contradicting statements won, but over memories that a person wants `kept`."""
    while True:
        texts, overruled = Texts.of(view.stored, view.edits.values()), list(view.overruled)
        for conflict in conflicts_of(view.staying):
            if conflict.newer is None:
                continue
            answered = conflict.choose(conflict.newer)
            winner, loser, held, lost = outcome(answered)
            known = {winner, loser} <= view.stored.keys()
            if not known or loser in kept or removed_by(overruled) & {winner, loser}:
                continue
            rest = settled(texts.get(loser), lost, held=held, beside=texts.get(winner))
            if rest == "":
                texts.new.pop(loser, None)
                overruled.append(answered)
            elif rest is not None:
                texts.put(loser, rest, Cause.CONTRADICTION, reason=told(Cause.CONTRADICTION, winner))
        edits = {edit.survivor: edit for edit in texts.rewrites()}
        if (edits, len(overruled)) == (view.edits, len(view.overruled)):
            return view
        view = replace(view, edits=edits, overruled=tuple(overruled))


def removed_by(actions: Iterable[Action]) -> set[str]:
    """Ids of all memories that go."""
    return {memory_id for action in actions for memory_id in action.removes}


def outcome(action: Merge | Resolve) -> tuple[str, str, str, str]:
    """Which memory keeps its sentence and which loses it, and the two sentences."""
    pairs = zip(sides(action), action.said, strict=True)
    (goes, lost), (stays, held) = reversed([*pairs]) if getattr(action, "choice", "") == "a" else pairs
    return stays, goes, held, lost


def told(cause: Cause, winner: str) -> str:
    """Why a sentence goes."""
    word = "DUPLICATE of" if cause is Cause.DUPLICATE else "CONTRADICTED by"
    return f"{word} {PurePosixPath(file_of(winner)).name}"


def is_over(memory: Memory, *, most: int | None = None) -> str:
    """What a file says of itself if it is deprecated, moved, split, superseded or done; else nothing.

    Only its status counts: in the frontmatter, in its name, title or description, or as its first line. Of
    more than so many statements it is not over because it is done.
    """
    if "#" in memory.id:
        return ""
    status = str(memory.metadata.get("status") or "")
    if _ENDED.search(status):
        return f'it says itself that it is over: "status: {status}"'
    stem = PurePosixPath(memory.id).stem.replace("-", " ").replace("_", " ")
    first = next((line for line in markdown_lines(memory.text) if line.kind != "blank"), None)
    opening = first.text[first.said :].strip() if first else ""
    titles = [str(memory.metadata.get("name") or ""), str(memory.metadata.get(_DESCRIPTION) or ""), stem]
    titles += [opening] if first and first.kind == "heading" else []
    for words in (*titles, opening):
        over = _OVER.search(words) or (
            words in titles and (_CLOSING.search(words) or _is_done(words, memory, most))
        )
        if over and not _OPEN.search(words):
            return f'it says itself that it is over: "{words}"'
    return ""


def _is_done(words: str, memory: Memory, most: int | None) -> bool:
    return bool(_DONE.search(words)) and (most is None or len(said(memory.text)) <= most)


def statements_of(memories: Iterable[Memory], indexes: Mapping[str, str]) -> list[Statement]:
    """All statements of memories as they will read, and of indexes by their directories, but for pointers."""
    owners = [*memories]
    files = {file_of(memory.id) for memory in owners}
    for name, text in indexes.items():
        if (index := f"{name}/{INDEX}") not in files:
            scope = Scope.of(directory=name)
            owners.append(Memory(whole_id(index), text, scope, INDEX_CATEGORY, metadata={"line": 1}))
    found = []
    for memory in owners:
        lines = index_lines(memory.text) if memory.category == INDEX_CATEGORY and "#" in memory.id else ()
        own = str(memory.metadata.get("heading") or "")
        for each in said(memory.text):
            if lines and ".md" in lines[each.line].text:
                continue  # it sums a file up
            file, listed = file_of(memory.id), each.kind != "text" or own
            above = [name for name in (own, *each.heading) if significant_words(name) - _GENERAL]
            found.append(
                Statement(
                    memory,
                    each.text,
                    each.words,
                    subject=above[-1] if above else "",
                    line=each.line,
                    row=each.kind == "table",
                    block="\0".join((file, own, *each.heading)) if listed else "",
                    behind=file if each.behind else "",
                )
            )
    return found


def described(memories: Iterable[Memory]) -> list[Statement]:
    """What the frontmatter of files says of them, each with the id of no memory."""
    files = {file_of(memory.id): memory for memory in memories if memory.metadata.get(_DESCRIPTION)}
    return [
        Statement(replace(memory, id=f"{file}#{_DESCRIPTION}", metadata={}), each.text, each.words)
        for file, memory in files.items()
        for each in said(str(memory.metadata[_DESCRIPTION]))
    ]


def of_descriptions(found: Iterable[Finding]) -> tuple[list[Finding], list[str]]:
    """The findings that can be answered, and in words those of a description and another file.

    A description may repeat its own file: that is what it is for.
    """
    rest, notes = [], []
    for each in found:
        ends = [one for one in (each.a, each.b) if one.memory.id.endswith(f"#{_DESCRIPTION}")]
        if not ends:
            rest.append(each)
        elif len({file_of(one.memory.id) for one in (each.a, each.b)}) > 1:
            other = each.b if ends[0] is each.a else each.a
            relates = "says the same as" if each.same else "contradicts"
            place = file_of(ends[0].memory.id)
            notes.append(
                f'The description of {place} {relates} {place_of(other)}: "{ends[0].text}" / "{other.text}"'
            )
    return rest, notes


def questions(
    found: Sequence[Finding],
    stored: Mapping[str, Memory],
    *,
    rejected: Collection[str],
    merged: Collection[frozenset[str]] = (),
) -> Questions:
    """What is asked about findings, but for what is answered, and for memories that are `merged` anyway.

    The statements are read as they will be; `stored` are all memories as they stand.
    """
    first_of: dict[str, tuple[str, int, str]] = {}
    asked = []
    for each in found:
        a, b = each.a.memory, each.b.memory
        keys = {said_key(each.a.text, each.b.text)}
        if a.id != b.id:
            keys |= {rejection_key(a, b), rejection_key(stored.get(a.id, a), stored.get(b.id, b))}
        # Of many copies each is asked about beside the first alone.
        copy = each.exact and first_of.setdefault(statement_key(each.a.judged), each.a.key) != each.a.key
        if not (copy or keys & set(rejected) or any({a.id, b.id} <= group for group in merged)):
            asked.append(each)
    doubts: list[Merge | Resolve] = [_duplicate(each, stored) for each in asked if each.same]
    doubts += [_conflict(each, stored) for each in asked if not (each.sure or each.same)]
    return [_conflict(each, stored) for each in asked if each.sure and not each.same], doubts


def repeating_files(
    found: Sequence[Finding], statements: Iterable[Statement]
) -> list[tuple[Memory, Memory, list[Finding]]]:
    """Pairs of files of one folder of which one repeats most of what the other says."""
    between: dict[frozenset[str], list[Finding]] = defaultdict(list)
    for each in found:
        if each.a.memory.scope == each.b.memory.scope and "#" not in each.a.place + each.b.place:
            between[each.places].append(each)
    pairs = []
    for places in repeating(found, statements, fewest=FEWEST_REPEATED).keys() & between.keys():
        memories = {one.place: one.memory for each in between[places] for one in (each.a, each.b)}
        first, second = sorted(places)
        pairs.append((memories[first], memories[second], between[places]))
    return sorted(pairs, key=lambda pair: (pair[0].id, pair[1].id))


def place_of(statement: Statement) -> str:
    """File and line of a statement, with the heading above it."""
    first = statement.memory.metadata.get("line")
    line = f":{int(first) + statement.line}" if isinstance(first, int) else ""
    under = statement.block.split("\0")[1:] or [statement.subject]
    heading = next((name for name in reversed(under) if name), "")
    return f"{file_of(statement.memory.id)}{line}" + (f" ({heading})" if heading else "")


def _conflict(finding: Finding, stored: Mapping[str, Memory]) -> Resolve:
    older, newer = _by_age(finding)
    dates = [last_stated(each.memory) or LONG_AGO for each in (older, newer)]
    # An index is no memory, and stands as it was read.
    first, second = (stored.get(each.memory.id, each.memory) for each in (older, newer))
    return Resolve.of(
        first,
        second,
        a=(older.memory.id,),
        b=(newer.memory.id,),
        topic=topic(older.words, newer.words) or first.category or "same topic",
        newer="b" if LONG_AGO < dates[0] < dates[1] else None,
        verdicts=(finding.verdict,),
        said=(older.text, newer.text),
        places=(place_of(older), place_of(newer)),
    )


def _duplicate(finding: Finding, stored: Mapping[str, Memory]) -> Merge:
    """The question about two sayings of one thing: what says more stays, else the newer; no detail goes."""
    goes, stays = _by_age(finding)
    share = dict(zip((finding.a.key, finding.b.key), finding.a.told(finding.b), strict=True))
    if share[goes.key] < share[stays.key]:
        goes, stays = stays, goes
    unsaid = relation(goes.words, stays.words).unsaid[0]
    alone = any(unit.detail or any(map(str.isdigit, unit.text)) for unit in unsaid)
    lost = goes.words == goes.text and (alone or missing([goes.text], stays.text))
    return Merge.of(
        *(stored.get(each.memory.id, each.memory) for each in (goes, stays)),
        survivor=stays.memory.id,
        text=f"{stays.text} {goes.text}" if lost else stays.text,
        verdicts=(finding.verdict,),
        said=(goes.text, stays.text),
        places=(place_of(goes), place_of(stays)),
    )


def _by_age(finding: Finding) -> tuple[Statement, Statement]:
    """The older statement and the newer one; within one memory the earlier one stays."""
    a, b = finding.a, finding.b
    if a.memory.id == b.memory.id:
        return (b, a) if finding.same else (a, b)
    older, newer = sorted((a, b), key=lambda each: (last_stated(each.memory) or LONG_AGO, each.key))
    return older, newer
