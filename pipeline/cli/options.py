"""Options that several commands share, and what they open.

A command given before or after its options means the same: what a subcommand leaves out is taken
from the group, so `mem0-dream --config c.yaml status` equals `mem0-dream status --config c.yaml`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from ...errors import ConfigError, UsageError
from .colour import option as colour_option
from .graph.opening import PLACE_OPTIONS as GRAPH_PLACE_OPTIONS
from .graph.opening import open_graph, require_place
from .kinds import GRAPH, MARKDOWN, MEM0, PLATFORM, SERVER, STORES, refuse_other_kinds
from .logs import set_up_logs
from .markdown import PLACE_OPTIONS, open_markdown
from .places import note_place
from .platform import PLACE_OPTIONS as REMOTE_PLACE_OPTIONS
from .platform import open_remote

if TYPE_CHECKING:
    from ...records import ActionKind
    from ...settings import Settings
    from ..engine import Session
    from ..planning.stages import Observer
    from ..stores.base import ScopeFilter, Store

Command = TypeVar("Command", bound=Callable[..., Any])
_KEPT = "mem0_dream.options"
"""Under this name the options of the running command are kept, for messages that name commands."""


class Moment(click.ParamType[datetime]):
    """A date or date-time; without a zone it is UTC."""

    name = "date"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Read ISO 8601."""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no date; write 2026-11-21 or 2026-11-21T03:00:00+00:00", param, ctx)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


_STORE_OPTIONS = (
    click.option("--config", type=click.Path(path_type=Path), help="mem0's own configuration, YAML or JSON."),
    click.option("--store", "store_kind", type=click.Choice(STORES), help="Kind of store. [default: mem0]"),
    *PLACE_OPTIONS,
    *GRAPH_PLACE_OPTIONS,
    *REMOTE_PLACE_OPTIONS,
    click.option("--state-dir", type=click.Path(path_type=Path), help="Where journal and caches live."),
    click.option("--log-json", is_flag=True, help="Log as one JSON object for each line."),
    click.option("-v", "--verbose", count=True, help="Log what happens; twice for details."),
    colour_option,
)
_SCOPE_OPTIONS = (
    click.option("--user-id", help="Only this user's memories."),
    click.option("--agent-id", help="Only this agent's memories."),
    click.option("--run-id", help="Only this run's memories."),
    click.option("--app-id", help="Only this app's memories."),
    click.option("--all", "all_scopes", is_flag=True, help="Every scope in the store, each for itself."),
)
_PLAN_OPTIONS = (
    click.option(
        "--now", type=Moment(), help="Reckon ages and windows from this moment. [default: the clock]"
    ),
    click.option(
        "--scorer", help="Who judges pairs: bundled[:FOLDER], keywords, cosine, nli:MODEL, openai:MODEL@URL."
    ),
    click.option("--encoder", help="Embedding model, a path or a name; 'words' needs no model."),
    click.option(
        "--second-opinion",
        is_flag=False,
        flag_value="true",
        metavar="[WHO]",
        help="Send pairs that stay unsure to mem0's own language model, or to WHO: openai:MODEL@URL.",
    ),
    click.option(
        "--max-delete", type=click.FloatRange(0, 1), help="Largest share of a scope one run may remove."
    ),
    click.option(
        "--hygiene",
        is_flag=False,
        flag_value="all",
        metavar="[CLASSES]",
        help="Propose to remove what is no memory: all, or some of secret,echo,chatter,heartbeat,"
        "tool-output,greeting.",
    ),
    click.option(
        "--recall-check",
        type=click.IntRange(min=0),
        metavar="N",
        help="Ask N questions before and after: leave out merges that hide a fact. [default with --auto: 50]",
    ),
    click.option("--merge-only", is_flag=True, help="Propose merges alone."),
    click.option("--forget-only", is_flag=True, help="Propose prunes alone."),
)


def _decorator(options: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        """Add the options in the order they are listed."""
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


store_options = _decorator(_STORE_OPTIONS)
scope_options = _decorator(_SCOPE_OPTIONS)
plan_options = _decorator(_PLAN_OPTIONS)


@dataclass(slots=True)
class Options:
    """What was given on the command line; None and False mean it was not."""

    config: Path | None = None
    store_kind: str | None = None
    root: Path | None = None
    memory_dirs: tuple[Path, ...] | None = None
    graph_file: Path | None = None
    mcp: str | None = None
    core: Path | None = None
    host: str | None = None
    org: str | None = None
    project: str | None = None
    url: str | None = None
    state_dir: Path | None = None
    verbose: int = 0
    log_json: bool = False
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None
    all_scopes: bool = False
    now: datetime | None = None
    scorer: str | None = None
    encoder: str | None = None
    second_opinion: str | None = None
    max_delete: float | None = None
    hygiene: str | None = None
    recall_check: int | None = None
    merge_only: bool = False
    forget_only: bool = False
    assume_unread: bool = False
    wait: float | None = None
    named: frozenset[str] = frozenset()

    @classmethod
    def gather(cls, ctx: click.Context, given: dict[str, Any], *, kind: str | None = None) -> Options:
        """Take what the command was given, then what its group was given.

        Args:
            ctx: The command's context.
            given: Its options.
            kind: The kind of store that the command works on; any if omitted.

        Raises:
            UsageError: If an option belongs to another kind of store.
        """
        above: Options | None = ctx.parent.obj if ctx.parent is not None else None
        options = cls()
        options.named = _named(ctx, given) | (above.named if above is not None else frozenset())
        for item in fields(cls):
            if item.name == "named":
                continue
            value = given.get(item.name)
            inherited = getattr(above, item.name) if above is not None else getattr(options, item.name)
            # 0 is a value for --max-delete, so only what a flag or a count leaves unset is inherited.
            given_here = value is not None and value is not False and (item.name, value) != ("verbose", 0)
            setattr(options, item.name, value if given_here else inherited)
        options.store_kind = options.store_kind or kind
        if ctx.invoked_subcommand is None:
            refuse_other_kinds(options.named, options.store_kind or MEM0)
        ctx.meta[_KEPT] = options
        set_up_logs(options.verbose, as_json=options.log_json)
        return options

    @property
    def moment(self) -> datetime:
        """The moment ages are reckoned from."""
        return self.now or self.clock

    @property
    def clock(self) -> datetime:
        """The present moment: it names runs and dates what is retired, whatever --now says."""
        return datetime.now(UTC)

    def scopes(self) -> ScopeFilter:
        """Whose memories are meant.

        Raises:
            UsageError: If nothing says so, or an id and --all contradict each other.
        """
        from ..engine import SCOPE_IDS, scope_filter

        chosen = scope_filter(**{name: getattr(self, name) for name in SCOPE_IDS})
        if self.store_kind in (MARKDOWN, GRAPH):
            return chosen
        if chosen.ids and self.all_scopes:
            raise UsageError("--all means every scope; leave it out, or leave the ids out.")
        if not chosen.ids and not self.all_scopes:
            raise UsageError(
                "Say whose memories: --user-id, --agent-id, --run-id or --app-id, or --all for every scope."
            )
        return chosen


def _named(ctx: click.Context, given: dict[str, Any]) -> frozenset[str]:
    """Names of the options that were given, as opposed to those left at their defaults."""
    written = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return frozenset(name for name in given if ctx.get_parameter_source(name) in written)


def keep(ctx: click.Context, options: Options) -> Options:
    """Let messages name commands on the store that was found."""
    ctx.meta[_KEPT] = options
    return options


def running(ctx: click.Context) -> Options:
    """The options of the command that ran last in this context."""
    kept = ctx.meta.get(_KEPT)
    return kept if isinstance(kept, Options) else Options()


def wanted(options: Options) -> frozenset[ActionKind] | None:
    """The kinds of actions the options ask for; None for all.

    Raises:
        UsageError: If they contradict each other.
    """
    from ...records import ActionKind

    if options.merge_only and options.forget_only:
        raise UsageError("--merge-only and --forget-only exclude each other; leave both out for everything.")
    if options.merge_only or options.forget_only:
        return frozenset({ActionKind.MERGE if options.merge_only else ActionKind.PRUNE})
    return None


@contextlib.contextmanager
def open_session(
    options: Options, given: Mapping[str, Any] | None = None, *, observer: Observer | None = None
) -> Iterator[Session]:
    """Open the configured store with its settings, and close it again.

    Args:
        options: They name the store.
        given: Options of a pass, by name, which say what is wanted of it.
        observer: Is told how far a pass has come; bars are drawn if omitted.

    Raises:
        ConfigError: If there is no configuration, or it is wrong.
        StoreLockedError: If the running agent holds the store.
    """
    openers = {MARKDOWN: open_markdown, GRAPH: open_graph, PLATFORM: open_remote, SERVER: open_remote}
    opened = openers.get(options.store_kind or MEM0, _open_mem0)(options, given or {}, observer)
    with opened as session:
        note_place(session.journal, session.store.fingerprint, options)
        yield session


def _open_mem0(options: Options, _given: Mapping[str, Any], observer: Observer | None = None) -> Session:
    if options.config is None:
        raise ConfigError(_no_configuration())
    from ..stores import open_store
    from ..stores.mem0.config import load_config

    os.environ.setdefault("TQDM_DISABLE", "1")  # the models mem0 loads would draw bars of their own
    config = load_config(options.config)
    settings, kinds = settings_of(dict(config.settings), options), wanted(options)
    return plain_session(open_store(config), settings, kinds, options, observer)


def plain_session(
    store: Store,
    settings: Settings,
    kinds: frozenset[ActionKind] | None,
    options: Options,
    observer: Observer | None,
) -> Session:
    """A session on a store of single records; if it cannot begin, the store is closed."""
    from ..engine import Session
    from ..planning.plain import PlainPlanner
    from .progress import Bars

    try:
        return Session(
            store,
            settings=settings,
            state_dir=options.state_dir,
            observer=observer or Bars(),
            planner=PlainPlanner(store, wanted=kinds),
        )
    except BaseException:
        store.close()
        raise


def require_store(options: Options) -> None:
    """Refuse options that name no store, before anything is opened.

    Raises:
        UsageError: If they do not say whose memories, or ask what this kind of store cannot do.
        ConfigError: If there is no such place.
    """
    options.scopes()
    if options.store_kind == GRAPH:
        if options.second_opinion is not None:
            raise UsageError("--second-opinion does not work on knowledge graphs; leave it out.")
        require_place(options)
    elif options.store_kind == MARKDOWN:
        from ..stores.markdown.directories import discover

        discover(options.root or Path(), options.memory_dirs or ())
    elif options.store_kind in (PLATFORM, SERVER):
        return  # key and address come from the environment, and are looked at where it is opened
    elif options.config is None:
        raise ConfigError(_no_configuration())
    else:
        from ..stores.mem0.config import load_config

        load_config(options.config)


def _no_configuration() -> str:
    if os.environ.get("MEM0_API_KEY"):
        return (
            "No configuration. MEM0_API_KEY is set: for memories on mem0's hosted platform say `mem0-dream "
            "platform` or --store platform; for the open-source Memory give its configuration with "
            "--config mem0.yaml."
        )
    return "No configuration: give mem0's own with --config mem0.yaml."


def section_of(options: Options) -> dict[str, Any]:
    """The section `mem0_dream` of a configuration, for stores that mem0 does not open; empty without one."""
    if options.config is None:
        return {}
    import yaml

    try:
        whole = yaml.safe_load(options.config.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"The configuration {options.config} cannot be read: {error}.") from None
    return dict(whole.get("mem0_dream") or {}) if isinstance(whole, dict) else {}


def settings_of(section: dict[str, Any], options: Options) -> Settings:
    """Limits of the configuration, those given on the command line first."""
    from ...settings import read_settings

    given = {
        "scorer": options.scorer,
        "encoder": options.encoder,
        "max_delete": options.max_delete,
        "hygiene": options.hygiene,
        "recall_check": options.recall_check,
        "second_opinion": True if options.second_opinion == "true" else options.second_opinion,
    }
    # Who asks for prunes alone wants to see all that are due.
    wants_all = options.assume_unread or (options.forget_only and "auto" not in options.named)
    given |= {"assume_unread": True} if wants_all else {}
    return read_settings(section | {name: value for name, value in given.items() if value is not None})
