"""What the statements of Markdown memories say of each other: questions about two sentences, or two files.

Sentences, bullets and rows of all directories are compared, whatever heading, file, topic or type they stand
under, and those of an index, too. A sentence that says the same as another is a question, one that cannot
hold beside another a conflict; where most of a file is said in another one, whether they are one file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ....models.bindings import relation
from ....models.guards import missing
from ....models.same_statement import statement_key
from ....models.text.words import significant_words, topic
from ....records import Evidence, Memory, Scope, rejection_key
from ...actions import Member, Merge, Resolve, Side
from ...answers import said_key
from ...judging.original_rules import RULE
from ...judging.statements import Finding, Statement, repeating
from ...rules.markdown.index_lines import index_lines
from ...rules.markdown.prose import said
from ...stores.markdown.directories import INDEX
from ...stores.markdown.rows import INDEX_CATEGORY, file_of, whole_id
from ..merges import LONG_AGO, last_stated

FEWEST_REPEATED = 3
_DESCRIPTION = "description"
_GENERAL = significant_words(
    "notes rules overview summary details key facts decision important context background general misc other"
    " conventions guidelines status current todo next steps open questions lessons learned gotchas user"
    " project preferences feedback reference memory index topics about usage examples why how what apply"
    " when patterns practices best tips warnings history log updates later findings"
)
"""Words of headings that name no subject."""


class Questions(NamedTuple):
    """What a person is asked about statements; nothing has an id yet."""

    conflicts: list[Resolve]
    doubts: list[Merge | Resolve]


def statements_of(memories: Iterable[Memory], indexes: Mapping[str, str]) -> list[Statement]:
    """All statements of memories, and those of indexes that are no pointers to files.

    Args:
        memories: As they will read.
        indexes: Text of each MEMORY.md that may be written, by directory.
    """
    found = []
    files = {file_of(memory.id) for memory in memories}
    owners = [
        *memories,
        *(_index(name, text) for name, text in indexes.items() if f"{name}/{INDEX}" not in files),
    ]
    for memory in owners:
        lines = index_lines(memory.text) if memory.category == INDEX_CATEGORY and "#" in memory.id else ()
        own = str(memory.metadata.get("heading") or "")
        for each in said(memory.text):
            if lines and ".md" in lines[each.line].text:
                continue  # it sums a file up
            above = [name for name in (own, *each.heading) if significant_words(name) - _GENERAL]
            block = "\0".join((file_of(memory.id), own, *each.heading)) if each.kind != "text" or own else ""
            found.append(
                Statement(
                    memory,
                    each.text,
                    each.words,
                    above[-1] if above else "",
                    each.line,
                    each.kind == "table",
                    block,
                )
            )
    return found


def described(memories: Iterable[Memory]) -> list[Statement]:
    """What the frontmatter of files says of them, each with the id of no memory."""
    files = {file_of(memory.id): memory for memory in memories if memory.metadata.get("description")}
    return [
        Statement(replace(memory, id=f"{file}#{_DESCRIPTION}", metadata={}), each.text, each.words)
        for file, memory in files.items()
        for each in said(str(memory.metadata["description"]))
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
            told = "says the same as" if each.same else "contradicts"
            place = file_of(ends[0].memory.id)
            notes.append(
                f'The description of {place} {told} {place_of(other)}: "{ends[0].text}" / "{other.text}"'
            )
    return rest, notes


def questions(
    found: Sequence[Finding],
    stored: Mapping[str, Memory],
    *,
    rejected: Collection[str],
    merged: Collection[frozenset[str]] = (),
) -> Questions:
    """What is asked about findings.

    Args:
        found: Of statements as they will read.
        stored: All memories as they stand.
        rejected: Keys of what a person answered.
        merged: Memories that are merged anyway.
    """
    first_of: dict[str, tuple[str, int, str]] = {}
    asked = [
        each
        for each in found
        # Of many copies each is asked about beside the first alone.
        if not (each.exact and first_of.setdefault(statement_key(each.a.judged), each.a.key) != each.a.key)
        and not _keys(each, stored) & set(rejected)
        and not any({each.a.memory.id, each.b.memory.id} <= group for group in merged)
    ]
    sure = [_conflict(each, stored) for each in asked if each.sure and not each.same]
    doubts: list[Merge | Resolve] = [_duplicate(each, stored) for each in asked if each.same]
    doubts += [_conflict(each, stored) for each in asked if not (each.sure or each.same)]
    return Questions(sure, doubts)


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


def repeated(times: int) -> Evidence:
    """Why two files are asked about."""
    return Evidence(RULE, f"{times} statements of one stand in the other, which is most of it")


def place_of(statement: Statement) -> str:
    """File and line of a statement, with the heading above it."""
    first = statement.memory.metadata.get("line")
    line = f":{int(first) + statement.line}" if isinstance(first, int) else ""
    under = statement.block.split("\0")[1:] or [statement.subject]
    heading = next((name for name in reversed(under) if name), "")
    return f"{file_of(statement.memory.id)}{line}" + (f" ({heading})" if heading else "")


def _index(directory: str, text: str) -> Memory:
    name = whole_id(f"{directory}/{INDEX}")
    return Memory(name, text, Scope.of(directory=directory), INDEX_CATEGORY, metadata={"line": 1})


def _keys(finding: Finding, stored: Mapping[str, Memory]) -> set[str]:
    """Names by which an answer to this question is known."""
    a, b = finding.a, finding.b
    keys = {said_key(a.text, b.text)}
    if a.memory.id != b.memory.id:
        keys |= {rejection_key(a.memory, b.memory), rejection_key(*_stored((a, b), stored))}
    return keys


def _stored(statements: Iterable[Statement], stored: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """The memories of statements as they stand; an index is none, and stands as it was read."""
    return tuple(stored.get(each.memory.id, each.memory) for each in statements)


def _members(memories: Iterable[Memory]) -> tuple[Member, ...]:
    by_id = {memory.id: Member.of(memory) for memory in memories}
    return tuple(by_id[name] for name in sorted(by_id))


def _conflict(finding: Finding, stored: Mapping[str, Memory]) -> Resolve:
    older, newer = _by_age(finding)
    dates = [last_stated(each.memory) or LONG_AGO for each in (older, newer)]
    known: Side | None = "b" if LONG_AGO < dates[0] < dates[1] else None
    memories = _stored((older, newer), stored)
    return Resolve(
        id="",
        scope=memories[0].scope,
        category=memories[0].category,
        members=_members(memories),
        a=(older.memory.id,),
        b=(newer.memory.id,),
        topic=topic(older.words, newer.words) or memories[0].category or "same topic",
        newer=known,
        verdicts=(finding.verdict,),
        said=(older.text, newer.text),
        places=(place_of(older), place_of(newer)),
    )


def _duplicate(finding: Finding, stored: Mapping[str, Memory]) -> Merge:
    """The question about two sayings of one thing: what says more stays, else the newer; no detail goes."""
    goes, stays = _by_age(finding)
    told = dict(zip((finding.a.key, finding.b.key), finding.told, strict=True))
    if told[goes.key] < told[stays.key]:
        goes, stays = stays, goes
    unsaid = relation(goes.words, stays.words).unsaid[0]
    alone = any(unit.detail or any(map(str.isdigit, unit.text)) for unit in unsaid)
    lost = goes.words == goes.text and (alone or missing([goes.text], stays.text))
    memories = _stored((goes, stays), stored)
    return Merge(
        id="",
        scope=memories[0].scope,
        category=memories[0].category,
        members=_members(memories),
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
