"""Opening the store that the options name, with its settings."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import ConfigError, IncompleteListingError, UsageError
from ..reporting.text import visible
from ..stores.base import LINKS, ScopeFilter
from .options import GRAPH, JSONL, MARKDOWN, MEM0, PLATFORM, ROWS, SERVER, Options
from .terminal import Bars, tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..kinds import Kind
    from ..planning.stages import Observer
    from ..stores.base import Store
    from ..writing.journal import Journal, Recorded, Run

    Told = tuple[Run, tuple[Recorded, ...]]
    Opened = tuple[Kind, Mapping[str, Any]]  # a store as its kind, and the settings it came with

OPENED = "mem0_dream.opened"  # under this name the fingerprint of the store that was opened last is kept
KNOWN_SHOWN = 8  # users that are named where one is not known
_VARIABLES = {
    PLATFORM: {"host": "MEM0_HOST", "org": "MEM0_ORG_ID", "project": "MEM0_PROJECT_ID"},
    SERVER: {"url": "MEM0_SERVER_URL"},
}
"""Read only where such a store is opened: for any other kind they mean nothing. Keys are no options."""


@contextlib.contextmanager
def open_session(options: Options, *, observer: Observer | None = None) -> Iterator[Session]:
    """Open the configured store with its settings, and close it again; without an observer bars are drawn."""
    openers = {MEM0: _mem0, MARKDOWN: _markdown, GRAPH: _graph, JSONL: _export}  # else a service
    watching = observer or Bars()
    with watching.stage("opening", None):  # a sign of life: mem0 alone takes seconds to import
        kind, section = openers.get(options.kind, _remote)(options)
        try:
            from ..engine import Session

            settings, state = options.settings(section), options.state_dir
            opened = Session(kind.store, settings=settings, state_dir=state, observer=watching, kind=kind)
        except BaseException:  # what cannot begin leaves no store open
            kind.store.close()
            raise
    with opened as session:
        store = session.store.fingerprint
        ctx = click.get_current_context(silent=True)
        if ctx is not None:
            ctx.meta[OPENED] = store
        note_place(session.journal, store, options)
        yield session


def known_scopes(session: Session, options: Options, *, held: object) -> list[str]:
    """Where nothing was found: which users and so on there are, so that a misspelt one is seen."""
    asked = options.scopes().ids
    if held or not asked:
        return []
    scopes = [dict(memory.scope.ids) for memory in session.read(ScopeFilter()).memories]
    lines = []
    for name, value in asked.items():
        known = sorted({scope[name] for scope in scopes if name in scope})
        near = difflib.get_close_matches(value, known, n=KNOWN_SHOWN) or known[:KNOWN_SHOWN]
        more = f" and {len(known) - len(near)} more" if len(known) > len(near) else ""
        if value not in known:
            lines.append(visible(f"Known {name}: {', '.join(near) or 'none'}{more}."))
    return lines


def require_store(options: Options) -> None:
    """Refuse options that name no store, before anything is opened."""
    options.scopes()
    require_place(options)
    if options.kind == MARKDOWN:
        from ..stores.markdown.directories import discover

        discover(options.root or Path(), options.memory_dirs or ())
    elif options.kind == MEM0:
        from ..stores.mem0.config import load_config

        load_config(Path(str(options.config)))
    # Key and address of a service come from the environment, and are looked at where it is opened.


def refuse_gaps(gaps: Sequence[str], told: str) -> None:
    """Refuse to change a store that was not read whole; `told` says what cannot be done."""
    if gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(gaps)}. {told}")


def tell_fidelity(session: Session, notes: Iterable[str], *, begun: bool = True) -> None:
    """Say what an undo could not bring back, where ids do not come back; nothing if nothing is to be done."""
    if begun and session.store.kind in (PLATFORM, SERVER):
        for note in notes:
            tell(f"note: {note}")


def require_place(options: Options) -> None:
    """Refuse options that name no graph or two, or no configuration of mem0; no LLM judges a graph."""
    if options.kind == GRAPH and options.second_opinion is not None:
        raise UsageError("--second-opinion does not work on knowledge graphs; leave it out.")
    if options.kind == GRAPH and (options.graph_file is None) == (options.mcp is None):
        raise ConfigError(
            "Name one graph: its file with --file memory.jsonl, or its server with --mcp COMMAND."
        )
    if options.kind == MEM0 and options.config is None:
        if os.environ.get("MEM0_API_KEY"):
            raise ConfigError(
                "No configuration. MEM0_API_KEY is set: for memories on mem0's hosted platform say "
                "`mem0-dream platform`; for the open-source Memory give its configuration with --config "
                "mem0.yaml."
            )
        raise ConfigError("No configuration: give mem0's own with --config mem0.yaml.")


def _graph(options: Options) -> Opened:
    from ...settings import checked
    from ..kinds.graph import GraphKind
    from ..rules.graph_use import GraphSettings
    from ..stores.graph.media import FileMedium, Medium, ServerMedium
    from ..stores.graph.store import GraphStore

    require_place(options)
    section = options.section()
    limits = checked(GraphSettings, section.pop("graph", {}), "mem0_dream.graph")
    file, server = options.graph_file, options.mcp
    medium: Medium = FileMedium(file) if file is not None else ServerMedium(str(server))
    store = GraphStore(medium, state=options.state, core=options.core)
    asked: Any = {"relate": options.relate, "repair_relations": options.repair_relations}
    return GraphKind(store, limits=limits, wanted=options.wanted(), **asked), section


def _markdown(options: Options) -> Opened:
    from ..kinds.markdown import MarkdownKind
    from ..stores.markdown.directories import discover
    from ..stores.markdown.store import MarkdownStore

    if options.supersede and not (options.scorer or "").startswith("keywords"):
        raise UsageError(
            "--supersede lets the newer statement win by the keyword rule; add --scorer keywords."
        )
    if options.across and options.auto:
        raise UsageError("--across only reports; leave --auto out.")
    if options.transcripts is not None and not options.transcripts.is_dir():
        raise UsageError(f"The transcripts {options.transcripts} are no directory.")
    root = options.root or Path()
    store = MarkdownStore(discover(root, options.memory_dirs or ()), root=root, state=options.state)
    asked: Any = {"supersede": options.supersede, "transcripts": options.transcripts}
    kind = MarkdownKind(store, only=options.wanted(), dates=options.dates or None, **asked)
    return kind, {name: value for name, value in options.section().items() if name != GRAPH}


def _mem0(options: Options) -> Opened:
    require_place(options)
    from ..stores import open_store
    from ..stores.mem0.config import load_config

    os.environ.setdefault("TQDM_DISABLE", "1")  # the models mem0 loads would draw bars of their own
    config = load_config(Path(str(options.config)))
    return _of_records(open_store(config, wait_s=options.wait or 0.0), options), config.settings


def _export(options: Options) -> Opened:
    from ..stores.jsonl import JsonlStore

    if options.export is None:
        raise ConfigError("Name the export: mem0-dream jsonl memories.jsonl, or --export.")
    store = JsonlStore(options.export, mapping=options.mapping, decisions=options.decisions)
    return _of_records(store, options), options.section()


def _remote(options: Options) -> Opened:
    from ...settings import checked
    from ..stores.remote.store import Patience

    section = options.section()
    patience = checked(Patience, section.pop("remote", {}), "mem0_dream.remote")
    for name, variable in _VARIABLES[options.kind].items():  # noted, so that a printed command gets there
        setattr(options, name, getattr(options, name) or os.environ.get(variable) or None)
    from ..stores.remote.services import open_platform, open_server

    if options.kind == PLATFORM:
        place: Any = {"host": options.host, "org": options.org, "project": options.project}
        return _of_records(open_platform(**place, patience=patience), options), section
    if not options.url:
        raise ConfigError("Name the server: mem0-dream server http://localhost:8888, or --url.")
    return _of_records(open_server(options.url, patience=patience), options), section


def _of_records(store: Store, options: Options) -> Kind:
    from ..kinds import Mem0Kind

    return Mem0Kind(store, wanted=options.wanted())


_COMMAND = re.compile(r"`mem0-dream ((?:resume|undo)\b[^`]*)`")
_NOTED = tuple(name for name, row in ROWS.items() if row.place and name not in ("mcp", "state_dir"))


def again(options: Options, *words: str) -> str:
    """A command on the same store, quoted for a shell; without words it is a pass."""
    return " ".join(map(quoted, ["mem0-dream", *arguments(options, *words)]))


def arguments(options: Options, *words: str, judged: bool = False) -> list[str]:
    """The words of `again`; `judged` adds whose memories are meant and how they are judged."""
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
    """Remember how this store is opened, unless that may take a secret: a server's command, a password."""
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
    """The options with the place of the run, where they name no store themselves."""
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
    told = dict(place)
    for name, value in place.items():
        if isinstance(value, list):
            told[name] = tuple(map(Path, value))
        elif ROWS[name].how.get("metavar") in ("FILE", "FOLDER"):
            told[name] = Path(value)
    return replace(options, **told)


def journal_of(options: Options) -> contextlib.closing[Journal]:
    """The journal for a moment, without any store."""
    from ..writing.journal import Journal

    return contextlib.closing(Journal(options.state))
