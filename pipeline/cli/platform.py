"""The command line for stores behind an interface: mem0's hosted platform, and a server of one's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import ConfigError
from .logs import tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..planning.stages import Observer
    from ..stores.remote.calling import Patience
    from ..stores.remote.store import RemoteStore
    from .options import Options

Command = TypeVar("Command", bound=Callable[..., Any])
PLATFORM, SERVER = "platform", "server"
REMOTE_OPTIONS = {PLATFORM: ("host", "org", "project"), SERVER: ("url",)}

PLACE_OPTIONS = (
    click.option("--host", help="With --store platform: its address, if it is not mem0's own. [MEM0_HOST]"),
    click.option("--org", help="With --store platform: refuse a key of another organisation. [MEM0_ORG_ID]"),
    click.option(
        "--project", help="With --store platform: refuse a key of another project. [MEM0_PROJECT_ID]"
    ),
    click.option("--url", help="With --store server: the address of your mem0 server. [MEM0_SERVER_URL]"),
)
"""Where the memories are; every command on a store takes them. Keys come from the environment alone."""
_VARIABLES = {
    "host": "MEM0_HOST",
    "org": "MEM0_ORG_ID",
    "project": "MEM0_PROJECT_ID",
    "url": "MEM0_SERVER_URL",
}
"""Read only where such a store is opened: for any other kind they mean nothing."""
_PASS_OPTIONS = (
    click.option("--auto", is_flag=True, help="Ask nobody: apply merges and prunes, leave conflicts open."),
    click.option("--dry-run", is_flag=True, help="Show the report and change nothing."),
    click.option("--assume-unread", is_flag=True, help="With --auto: age counts where no read is on record."),
    click.option("--retire", is_flag=True, help="Expire memories instead of deleting them; every id stays."),
    click.option("--explain", is_flag=True, help="Show texts, scores and evidence under each line."),
    click.option("--review", is_flag=True, help="Ask about unsure pairs too."),
    click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text; asks nothing."),
)


def open_remote(options: Options, _given: Mapping[str, Any], observer: Observer | None = None) -> Session:
    """A session on the platform or the server that the options name.

    Raises:
        ConfigError: If there is no key or address, or it is refused.
        StoreError: If nobody answers.
    """
    from ..engine import Session
    from ..planning.plain import PlainPlanner
    from .options import section_of, settings_of, wanted
    from .progress import Bars

    section = section_of(options)
    patience = _patience(section.pop("remote", {}))
    settings, kinds = settings_of(section, options), wanted(options)
    store = _opened(options, patience, section)
    planner = PlainPlanner(store, wanted=kinds)
    try:
        return Session(
            store,
            settings=settings,
            state_dir=options.state_dir,
            observer=observer or Bars(),
            planner=planner,
        )
    except BaseException:
        store.close()
        raise


def _opened(options: Options, patience: Patience, section: Mapping[str, Any]) -> RemoteStore:
    for name, variable in _VARIABLES.items():  # noted, so that a printed command reaches the same place
        if name in REMOTE_OPTIONS[str(options.store_kind)]:
            setattr(options, name, getattr(options, name) or os.environ.get(variable) or None)
    if options.store_kind == PLATFORM:
        from ..stores.platform import open_platform

        return open_platform(
            host=options.host, org=options.org, project=options.project, patience=patience, section=section
        )
    from ..stores.server import open_server

    if not options.url:
        raise ConfigError("Name the server: mem0-dream server http://localhost:8888, or --url.")
    return open_server(options.url, patience=patience, section=section)


def _patience(section: Any) -> Patience:
    """The section `mem0_dream.remote`: how long and how often a service is asked."""
    from pydantic import TypeAdapter, ValidationError

    from ..stores.remote.calling import Patience

    unknown = set(section) - {item.name for item in fields(Patience)} if isinstance(section, dict) else ()
    if unknown:
        raise ConfigError(f"The setting mem0_dream.remote.{min(unknown)} is unknown.")
    try:
        return TypeAdapter(Patience).validate_python(section)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(("mem0_dream.remote", *(str(part) for part in first["loc"])))
        raise ConfigError(f"The setting {place} is wrong: {first['msg']}.") from None


def tell_fidelity(session: Session, notes: Iterable[str], *, begun: bool = True) -> None:
    """Say what an undo could not bring back, where ids do not come back; nothing if nothing is to be done."""
    if begun and session.store.kind in (PLATFORM, SERVER):
        for note in notes:
            tell(f"note: {note}")


def _alias(name: str) -> Callable[[Command], click.Command]:
    """A command that is a pass over one kind of store."""
    from .night import night_options
    from .options import plan_options, scope_options, store_options

    def decorate(command: Command) -> click.Command:
        """Add what a pass takes, in the order it is listed."""
        command = night_options(command)
        for option in reversed(_PASS_OPTIONS):
            command = option(command)
        return click.command(name)(store_options(scope_options(plan_options(click.pass_context(command)))))

    return decorate


def commands(consolidate: Callable[[Options, dict[str, Any]], None]) -> tuple[click.Command, ...]:
    """What the main group offers for stores behind an interface; `consolidate` makes a pass."""

    def start(ctx: click.Context, given: dict[str, Any], kind: str) -> None:
        """Make a pass over one kind of store."""
        from .night import night
        from .options import Options

        options = Options.gather(ctx, given, kind=kind)
        with night(ctx, options, given):
            consolidate(options, given)

    @_alias(PLATFORM)
    def platform(ctx: click.Context, /, **given: Any) -> None:
        """Consolidate memories on mem0's hosted platform: a pass, as with --store platform.

        The key of the project is taken from MEM0_API_KEY. Requests are paced, and repeated where the
        platform is busy; what an undo cannot give back there is said before anything is changed.

        \b
        Example:
          mem0-dream platform --user-id alice --dry-run
          mem0-dream platform --all --auto --retire
        """  # noqa: D301
        start(ctx, given, PLATFORM)

    @_alias(SERVER)
    @click.argument("address", metavar="URL", required=False)
    def server(ctx: click.Context, /, address: str | None, **given: Any) -> None:
        """Consolidate memories on a mem0 server of your own at URL: a pass, as with --store server.

        The key is taken from MEM0_SERVER_API_KEY, or a token from MEM0_SERVER_TOKEN.

        \b
        Example:
          mem0-dream server http://localhost:8888 --user-id alice --dry-run
        """  # noqa: D301
        start(ctx, given | {"url": address or given["url"]}, SERVER)

    return (platform, server)
