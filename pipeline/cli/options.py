"""The options of the command line: one table, of which parameters, help, refusals and commands are made.

Each field of `Options` is a row. A command given before or after its options means the same: what a
subcommand leaves out is taken from the group, so `mem0-dream --config c.yaml status` equals
`mem0-dream status --config c.yaml`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from ...errors import ConfigError, UsageError
from ...records import ActionKind, as_utc
from .terminal import WORDS, color_option, set_up_logs

if TYPE_CHECKING:
    from ...settings import Settings
    from ..stores.base import ScopeFilter

MEM0, PLATFORM, SERVER, JSONL, MARKDOWN, GRAPH = "mem0", "platform", "server", "jsonl", "md", "graph"
STORES = (MEM0, PLATFORM, SERVER, JSONL, MARKDOWN, GRAPH)
_OF_MEM0 = (MEM0, PLATFORM, SERVER, JSONL)
WHERE, WHAT, HOW, OUTPUT = "Which memories", "What to do", "How to judge", "Output"
GROUPS = (WHERE, WHAT, HOW, OUTPUT)
_YEARS = range(1970, 3000)
TROUBLE = 9
"""Exit code of what only looks, if an indicator warns, a job or a link is broken, or not all was read."""
_KEPT = "mem0_dream.options"
"""Under this name the options of the running command are kept, for messages that name commands."""


def moment(value: str) -> datetime:
    """A date or date-time in ISO 8601; without a zone it is UTC."""
    with contextlib.suppress(ValueError, OverflowError):
        if (read := as_utc(datetime.fromisoformat(value))).year in _YEARS:
            return read
    raise click.BadParameter(f"{value!r} is no date; write 2026-11-21 or 2026-11-21T03:00:00+00:00")


def only(value: str) -> frozenset[str]:
    """Some kinds of changes, separated by commas."""
    known, words = ("merges", "prunes", "index"), frozenset(word.strip() for word in value.split(","))
    unknown = min(words.difference(known), default=None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is none of {', '.join(known)}")
    return words


class Row(NamedTuple):
    """An option."""

    names: tuple[str, ...]  # as they are written
    group: str  # under which heading of the help it stands
    # Which commands take it: those on a "store" ("other": those that are no pass), those on a "scope", those
    # that "plan", those that "write", those that can answer in "json", or a "pass".
    on: str
    # Kinds of stores that have it; an option of another kind is refused, since left undone without a word it
    # would look as if it had worked.
    kinds: tuple[str, ...] = STORES
    place: bool = False  # it says where a store is
    how: Mapping[str, Any] = {}  # what click is told
    argument: str = ""  # on the command of a kind it is an argument of this name

    @property
    def spoken(self) -> str:
        """The name by which it is called in messages."""
        return next(name.partition("/")[0] for name in self.names if name.startswith("--"))

    def parameter(self, name: str) -> click.Option:
        """The option for a command."""
        return click.Option([*self.names, name], **self.how)


def _row(
    names: str,
    group: str,
    on: str,
    kinds: tuple[str, ...] = STORES,
    *,
    place: bool = False,
    argument: str = "",
    **how: Any,
) -> Any:
    row = Row(tuple(names.split()), group, on, kinds, place, how, argument)
    how["help"] = WORDS["options"][row.spoken]
    return field(default=how.get("default"), metadata={"row": row})


_flag = functools.partial(_row, is_flag=True, default=False)
_PATH = click.Path(path_type=Path)
_FILE: dict[str, Any] = {"place": True, "type": _PATH, "metavar": "FILE"}
_FOLDER: dict[str, Any] = {"place": True, "type": _PATH, "metavar": "FOLDER"}
_WORD: dict[str, Any] = {"place": True, "metavar": "ID"}


# fmt: off
@dataclass(slots=True)
class Options:
    """What was given on the command line; None and False mean it was not."""

    config: Path | None = _row("--config", WHERE, "store", **_FILE)
    store_kind: str | None = _row("--store", WHERE, "other", place=True, type=click.Choice(STORES))
    root: Path | None = _row("--root", WHERE, "store", (MARKDOWN,), argument="PROJECT", **_FOLDER)
    memory_dirs: tuple[Path, ...] | None = _row(
        "--memory-dir", WHERE, "store", (MARKDOWN,), multiple=True,
        callback=lambda _context, _parameter, value: value or None, **_FOLDER)
    graph_file: Path | None = _row("--file", WHERE, "store", (GRAPH,), argument="FILE", **_FILE)
    mcp: str | None = _row("--mcp", WHERE, "store", (GRAPH,), place=True, metavar="COMMAND")
    core: Path | None = _row("--core", WHERE, "store", (GRAPH,), **_FILE)
    host: str | None = _row("--host", WHERE, "store", (PLATFORM,), place=True, metavar="URL")
    org: str | None = _row("--org", WHERE, "store", (PLATFORM,), **_WORD)
    project: str | None = _row("--project", WHERE, "store", (PLATFORM,), **_WORD)
    url: str | None = _row("--url", WHERE, "store", (SERVER,), place=True, argument="URL", metavar="URL")
    export: Path | None = _row("--export", WHERE, "store", (JSONL,), argument="FILE", **_FILE)
    mapping: str | None = _row("--map", WHERE, "store", (JSONL,), place=True, metavar="FIELDS")
    decisions: Path | None = _row("--decisions", WHERE, "store", (JSONL,), **_FILE)
    user_id: str | None = _row("--user-id", WHERE, "scope", _OF_MEM0, metavar="ID")
    agent_id: str | None = _row("--agent-id", WHERE, "scope", _OF_MEM0, metavar="ID")
    run_id: str | None = _row("--run-id", WHERE, "scope", _OF_MEM0, metavar="ID")
    app_id: str | None = _row("--app-id", WHERE, "scope", (MEM0, PLATFORM, JSONL), metavar="ID")
    all_scopes: bool = _flag("--all", WHERE, "scope", _OF_MEM0)
    state_dir: Path | None = _row("--state-dir", WHERE, "store", **_FOLDER)
    dry_run: bool = _flag("--dry-run", WHAT, "pass")
    auto: bool = _flag("--auto", WHAT, "pass")
    review: bool = _flag("--review", WHAT, "pass")
    only: frozenset[str] | None = _row("--only", WHAT, "plan", type=only, metavar="KINDS")
    retire: bool | None = _row("--retire/--delete", WHAT, "write", _OF_MEM0, default=None)
    hygiene: str | None = _row("--hygiene", WHAT, "plan", _OF_MEM0, is_flag=False, flag_value="all",
                               metavar="[CLASSES]")
    dates: bool = _flag("--dates", WHAT, "pass", (MARKDOWN,))
    across: bool = _flag("--across", WHAT, "pass", (MARKDOWN,))
    supersede: bool = _flag("--supersede", WHAT, "pass", (MARKDOWN,))
    relate: bool = _flag("--relate", WHAT, "pass", (GRAPH,))
    repair: bool = _flag("--repair", WHAT, "pass", (GRAPH,))
    repair_relations: bool = _flag("--repair-relations", WHAT, "pass", (GRAPH,))
    if_due: bool = _flag("--if-due", WHAT, "pass")
    wait: float | None = _row("--wait", WHAT, "pass", type=click.FloatRange(min=0), metavar="SECONDS")
    max_delete: float | None = _row("--max-delete", WHAT, "plan", type=click.FloatRange(0, 1),
                                    metavar="SHARE")
    recall_check: int | None = _row("--recall-check", WHAT, "plan", _OF_MEM0, type=click.IntRange(min=0),
                                    metavar="N")
    now: datetime | None = _row("--now", HOW, "plan", type=moment, metavar="DATE")
    scorer: str | None = _row("--scorer", HOW, "plan", metavar="NAME")
    encoder: str | None = _row("--encoder", HOW, "plan", metavar="NAME")
    workers: int | None = _row("--workers", HOW, "plan", _OF_MEM0, type=click.IntRange(min=1), metavar="N")
    engine: str | None = _row("--engine", HOW, "plan", _OF_MEM0, type=click.Choice(("local", "ray")))
    address: str | None = _row("--address", HOW, "plan", _OF_MEM0, metavar="ADDRESS")
    second_opinion: str | None = _row("--second-opinion", HOW, "plan", is_flag=False, flag_value="true",
                                      metavar="[WHO]")
    assume_unread: bool = _flag("--assume-unread", HOW, "pass", _OF_MEM0)
    transcripts: Path | None = _row("--transcripts", HOW, "pass", (MARKDOWN,), type=_PATH, metavar="FOLDER")
    explain: bool = _flag("--explain", OUTPUT, "pass")
    more: bool = _flag("--more", OUTPUT, "pass")
    as_json: bool = _flag("--json", OUTPUT, "json")
    metrics: Path | None = _row("--metrics", OUTPUT, "pass", type=click.Path(path_type=Path, dir_okay=False),
                                metavar="FILE")
    log_json: bool = _flag("--log-json", OUTPUT, "store")
    verbose: int = _row("-v --verbose", OUTPUT, "store", count=True, default=0)
    named: frozenset[str] = frozenset()
    # fmt: on

    @classmethod
    def gather(cls, ctx: click.Context, given: Mapping[str, Any], *, kind: str | None = None) -> Options:
        """Take what the command was given, then what its group was given."""
        above: Options = (ctx.parent.obj if ctx.parent is not None else None) or cls()
        written = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        here = {name for name in given if ctx.get_parameter_source(name) in written}
        options = replace(above, named=above.named | here)
        for name, row in ROWS.items():
            # 0 is a value for --max-delete, so only what is left at its default is inherited.
            if (value := given.get(name)) not in (None, row.how.get("default")):
                setattr(options, name, value)
        places = {ROWS[name].kinds for name in options.named if name in ROWS and ROWS[name].place}
        single = (only[0] for only in places if len(only) == 1)
        options.store_kind = options.store_kind or kind or next(single, None)
        if kind is not None and options.store_kind != kind:
            raise UsageError(f"This command works on --store {kind}, not on --store {options.store_kind}.")
        named = (ROWS[name] for name in sorted(options.named & ROWS.keys()))
        foreign = next((row for row in named if options.kind not in row.kinds), None)
        if ctx.invoked_subcommand is None and foreign is not None:
            stores = " or ".join(f"--store {other}" for other in foreign.kinds)
            told = f"{foreign.spoken} is an option of {stores}, not of --store {options.kind}"
            raise UsageError(f"{told}; leave it out, or name the other store.")
        ctx.meta[_KEPT] = options
        set_up_logs(options.verbose, as_json=options.log_json)
        return options

    @property
    def kind(self) -> str:
        """The kind of store."""
        return self.store_kind or MEM0

    @property
    def moment(self) -> datetime:
        """The moment ages are reckoned from."""
        return self.now or self.clock

    @property
    def clock(self) -> datetime:
        """The present moment: it names runs and dates what is retired, whatever --now says."""
        return datetime.now(UTC)

    @property
    def state(self) -> Path:
        """Where state lives."""
        from ..stores.files import state_directory

        return state_directory(self.state_dir)

    @property
    def names_store(self) -> bool:
        """Whether it says which store is meant."""
        return any(getattr(self, name) for name, row in ROWS.items() if row.place and name != "state_dir")

    def named_scopes(self) -> ScopeFilter:
        """The users and so on that are named."""
        from ..engine import SCOPE_IDS, scope_filter

        return scope_filter(**{name: getattr(self, name) for name in SCOPE_IDS})

    def scopes(self) -> ScopeFilter:
        """Whose memories are meant."""
        chosen = self.named_scopes()
        if self.kind not in ROWS["all_scopes"].kinds:
            return chosen
        if chosen.ids and self.all_scopes:
            raise UsageError("--all means every scope; leave it out, or leave the ids out.")
        if not chosen.ids and not self.all_scopes:
            ids = "--user-id, --agent-id, --run-id or --app-id"
            raise UsageError(f"Say whose memories: {ids}, or --all for every scope.")
        return chosen

    def wanted(self) -> frozenset[ActionKind] | None:
        """The kinds of actions that --only names; None for all."""
        if self.only is None:
            return None
        if "index" in self.only and self.kind != MARKDOWN:
            told = f"--store {self.kind} has merges and prunes"
            raise UsageError(f"--only index is for Markdown directories; {told}.")
        kinds = {"merges": ActionKind.MERGE, "prunes": ActionKind.PRUNE}
        return frozenset(kinds[word] for word in self.only & kinds.keys())

    def section(self) -> dict[str, Any]:
        """The section `mem0_dream` of a configuration, for stores that mem0 does not open; else empty."""
        if self.config is None:
            return {}
        import yaml

        from ...models.text.reading import from_yaml
        from ..stores.mem0.config import own_section, yaml_fault

        try:
            whole = from_yaml(self.config.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"The configuration {self.config} cannot be read: {error}.") from None
        except yaml.YAMLError as error:
            raise ConfigError(f"The configuration {self.config} {yaml_fault(error)}.") from None
        return own_section(whole, self.config) if isinstance(whole, dict) else {}

    def settings(self, section: Mapping[str, Any]) -> Settings:
        """Limits of the configuration, those given on the command line first."""
        from ...settings import read_settings

        names = ("scorer", "encoder", "max_delete", "hygiene", "recall_check", "workers", "engine", "address")
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        given["second_opinion"] = True if self.second_opinion == "true" else self.second_opinion
        given["assume_unread"] = self.assume_unread or None
        return read_settings({**section, **{name: each for name, each in given.items() if each is not None}})


ROWS: dict[str, Row] = {item.name: item.metadata["row"] for item in fields(Options) if item.metadata}
"""The table, by the names in the code."""


def parameters(*on: str, kind: str = "") -> list[click.Parameter]:
    """The options of these sorts in the order of the table; of one kind of store alone if it is named."""
    rows = [(name, row) for name, row in ROWS.items() if row.on in on and (not kind or kind in row.kinds)]
    found: list[click.Parameter] = [row.parameter(name) for name, row in rows]
    return [*found, *([color_option()] if "store" in on else [])]


def spoken_help(*parts: str) -> str:
    """The help of a command of these parts, the lines of its example as they are."""
    return "\n\n".join(part.strip() for part in parts).replace("Example:\n", "\b\nExample:\n")


def command(
    *on: str, name: str | None = None, kind: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function: it takes the options of these sorts (see `Row`), of one kind if named."""

    def decorate(work: Callable[..., None]) -> click.Command:
        own: list[click.Parameter] = list(reversed(getattr(work, "__click_params__", [])))

        @click.pass_context
        def run(ctx: click.Context, /, **given: Any) -> None:
            options = Options.gather(ctx, given, kind=kind)
            work(options, **{param: value for param, value in given.items() if param not in ROWS})

        called = name or work.__name__
        for option in (each for each in own if isinstance(each, click.Option)):
            option.help = WORDS["own"][called].get(option.opts[-1])
        told = spoken_help(str(work.__doc__), WORDS["more"].get(called, ""))
        params = [*own, *parameters(*on, *(("other",) if "store" in on else ()))]
        return click.Command(called, params=params, callback=run, help=told)

    return decorate


PASS = ("store", "scope", "plan", "write", "json", "pass")  # the sorts of options that a pass has


def keep(options: Options) -> Options:
    """Let messages name commands on the store that was found."""
    click.get_current_context().meta[_KEPT] = options
    return options


def running(ctx: click.Context) -> Options:
    """The options of the command that ran last in this context."""
    kept = ctx.meta.get(_KEPT)
    return kept if isinstance(kept, Options) else Options()
