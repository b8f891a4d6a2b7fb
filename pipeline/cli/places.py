"""Commands that are printed, so complete that they can be copied into any folder, and where stores are.

The journal knows how each store was opened: a run is listed, finished and taken back by its name alone.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..stores.base import LINKS
from .options import MARKDOWN, MEM0, ROWS, Options

if TYPE_CHECKING:
    from ..writing.journal import Journal, Recorded, Run

    Told = tuple[Run, tuple[Recorded, ...]]

_COMMAND = re.compile(r"`mem0-dream ((?:resume|undo)\b[^`]*)`")
_NOTED = tuple(name for name, row in ROWS.items() if row.place and name not in ("mcp", "state_dir"))


def again(options: Options, *words: str, judged: bool = False) -> str:
    """A command on the same store, quoted for a shell.

    Without words it is a pass; `judged` adds whose memories are meant and how they are judged.
    """
    return " ".join(map(quoted, ["mem0-dream", *arguments(options, *words, judged=judged)]))


def arguments(options: Options, *words: str, judged: bool = False) -> list[str]:
    """The words of `again` behind the program's name."""
    kind = options.kind
    line = list(words) if words or kind == MEM0 else [kind]
    wanted = ("scope", "plan") if judged else ()
    for name, row in ROWS.items():
        value = getattr(options, name)
        if name == "root" and kind == MARKDOWN:
            value = value or Path()
        if name == "store_kind":
            value = kind if words and kind != MEM0 else None
        if value is None or value is False or kind not in row.kinds or not (row.place or row.on in wanted):
            continue
        if row.argument and not words:
            line.insert(1, _spoken(value))
        elif value is True:
            line.append(row.spoken)
        else:
            line += [w for each in (value if isinstance(value, tuple) else [value])
                     for w in (row.spoken, _spoken(each))]  # fmt: skip
    return line


def quoted(word: str) -> str:
    r"""A word for a shell, as it can be shown and copied: what a terminal would act on is an escape.

    >>> quoted("my notes"), quoted("a\x1b'")
    ("'my notes'", "$'a\\U0000001b\\''")
    """
    if word.isprintable():
        return shlex.quote(word)
    plain = word.replace("\\", r"\\").replace("'", r"\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + "'"


def full_commands(text: str, options: Options) -> str:
    """A sentence in which the commands it names are complete."""
    return _COMMAND.sub(lambda match: f"`{again(options, *match[1].split())}`", text)


def _spoken(value: object) -> str:
    if isinstance(value, Path):
        return str(value.expanduser().absolute())
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def note_place(journal: Journal, store: str, options: Options) -> None:
    """Remember how this store is opened, unless that takes a secret.

    The command of a memory server and an address with a password may hold one; such a store is named again.
    """
    if options.mcp is not None or "@" in (options.url or ""):
        return
    values: dict[str, Any] = {name: getattr(options, name) for name in _NOTED}
    if options.kind == MARKDOWN:
        values["root"] = options.root or Path()
    noted = {
        name: list(map(_spoken, value)) if isinstance(value, tuple) else _spoken(value)
        for name, value in values.items()
        if value
    }
    journal.note_place(store, noted)


def recalled(options: Options, run: str | None) -> Options:
    """The options with the place of the run, where they name no store themselves.

    Raises:
        UsageError: If neither they nor the journal say which store is meant.
        JournalError: If there is no such run.
    """
    if options.names_store:
        return options
    with journal_of(options) as journal:
        places = journal.places()
        if run is not None:
            place = places.get(journal.run(run).store.removesuffix(LINKS))
            return at(options, place) if place else options
        begun = {each.store.removesuffix(LINKS) for each in journal.runs()}
    places = {store: place for store, place in places.items() if store in begun} or places
    if len(places) > 1:
        listed = "".join(f"\n  {again(at(options, place))}" for place in places.values())
        raise UsageError(f"Name the run, or the store; these were worked on:{listed}")
    return at(options, *places.values()) if places else options


def known_runs(options: Options) -> list[tuple[str, list[Told]]]:
    """Runs with their changes of each store that has any, newest first, by the command that reaches it."""
    with journal_of(options) as journal:
        places = journal.places()
        runs: dict[str, list[Told]] = {}
        for run in journal.runs():
            runs.setdefault(run.store, []).append((run, journal.changes(run.id)))
    named = {store: places.get(store.removesuffix(LINKS)) for store in runs}
    return [
        (again(at(options, place)) if (place := named[store]) else f"store {store}", rows)
        for store, rows in runs.items()
    ]


def at(options: Options, place: Any) -> Options:
    """The options with a place that was noted."""
    told: dict[str, Any] = {
        name: tuple(map(Path, value)) if isinstance(value, list) else _read(name, value)
        for name, value in place.items()
    }
    return replace(options, **told)


def _read(name: str, value: str) -> object:
    return Path(value) if ROWS[name].how.get("metavar") in ("FILE", "FOLDER") else value


def journal_of(options: Options) -> contextlib.closing[Journal]:
    """The journal for a moment, without any store."""
    from ..stores.files.database import state_directory
    from ..writing.journal import Journal

    return contextlib.closing(Journal(state_directory(options.state_dir)))
