"""Where stores are that were worked on before: a run is listed, finished and taken back by its name alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from .kinds import again

if TYPE_CHECKING:
    from ..writing.journal import Journal, Recorded, Run
    from .options import Options

    Told = tuple[Run, tuple[Recorded, ...]]

_PATHS = ("config", "root", "graph_file", "core")
_WORDS = ("store_kind", "host", "org", "project", "url")


def note_place(journal: Journal, store: str, options: Options) -> None:
    """Remember how this store is opened, unless that takes a secret.

    The command of a memory server and an address with a password may hold one; such a store is named again.
    """
    if options.mcp is not None or "@" in (options.url or ""):
        return
    words: dict[str, Any] = {name: getattr(options, name) for name in _WORDS}
    words |= {name: _absolute(getattr(options, name)) for name in _PATHS}
    words["memory_dirs"] = [_absolute(path) for path in options.memory_dirs or ()]
    if options.store_kind == "md":
        words["root"] = _absolute(options.root or Path())
    noted = {name: value for name, value in words.items() if value}
    journal.note_place(store, noted)


def recalled(options: Options, run: str | None) -> Options:
    """The options with the place of the run, where they name no store themselves.

    Raises:
        UsageError: If neither they nor the journal say which store is meant.
        JournalError: If there is no such run.
    """
    if names_store(options):
        return options
    with _journal(options) as journal:
        places = journal.places()
        if run is not None:
            from ..writing.doctor import SUFFIX

            place = places.get(journal.run(run).store.removesuffix(SUFFIX))
            return at(options, place) if place else options
    if len(places) > 1:
        listed = "".join(f"\n  {again(at(options, place))}" for place in places.values())
        raise UsageError(f"Name the run, or the store; these were worked on:{listed}")
    return at(options, *places.values()) if places else options


def known_runs(options: Options) -> list[tuple[str, list[Told]]]:
    """Runs with their changes of each store that has any, newest first, by the options that name it."""
    with _journal(options) as journal:
        places = journal.places()
        runs: dict[str, list[Told]] = {}
        for run in journal.runs():
            runs.setdefault(run.store, []).append((run, journal.changes(run.id)))
    return [(_spoken(options, places, store), rows) for store, rows in runs.items()]


def names_store(options: Options) -> bool:
    """Whether the options say which store is meant."""
    places = (options.config, options.store_kind, options.root, options.graph_file, options.mcp)
    return any(place is not None for place in places)


def at(options: Options, place: Any) -> Options:
    """The options with a place that was noted."""
    paths: dict[str, Any] = {name: Path(place[name]) for name in _PATHS if name in place}
    words: dict[str, Any] = {name: place[name] for name in _WORDS if name in place}
    folders = tuple(map(Path, place.get("memory_dirs", ()))) or None
    return replace(options, **paths, **words, memory_dirs=folders)


@contextlib.contextmanager
def _journal(options: Options) -> Iterator[Journal]:
    from ..writing.journal import Journal
    from ..writing.state import state_directory

    journal = Journal(state_directory(options.state_dir))
    try:
        yield journal
    finally:
        journal.close()


def _spoken(options: Options, places: Mapping[str, Any], store: str) -> str:
    """The options that name a store; an earlier version noted none."""
    from ..writing.doctor import SUFFIX

    place = places.get(store.removesuffix(SUFFIX))
    return again(at(options, place)).removeprefix("mem0-dream ") if place else f"store {store}"


def _absolute(path: Path | None) -> str | None:
    return str(path.expanduser().absolute()) if path is not None else None
