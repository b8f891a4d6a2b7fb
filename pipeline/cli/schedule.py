"""Ready-made entries for cron, systemd, launchd and Kubernetes; nothing is installed, only printed.

Each is a template in the folder `schedules`.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import click

from ...errors import ConfigError, UsageError
from .opening import require_place
from .options import GRAPH, MEM0, PLATFORM, SERVER, Options, command
from .places import arguments

KINDS = ("cron", "systemd", "launchd", "k8s")
HOUR = 3
"""The hour of the night at which a consolidation is looked at."""
_SECRETS = {PLATFORM: "MEM0_API_KEY", SERVER: "MEM0_SERVER_API_KEY"}
"""Where a key comes from, which is no option: the command line is visible to all users of a machine."""


def schedule_text(kind: str, command: Sequence[str], *, zone: str, secret: str = "") -> str:
    """An entry that runs a command once a night.

    The zone is an IANA name such as "Europe/Berlin". `secret` names the variable that must hold a key, since
    a scheduler has no shell's variables.

    Raises:
        UsageError: If there is no such time zone.
    """
    from importlib.resources import files
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from jinja2 import Environment

    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"There is no time zone {zone!r}; give an IANA name such as Europe/Berlin."
        ) from None
    text = (files(__package__) / "schedules" / f"{kind}.jinja").read_text(encoding="utf-8")
    # Each template quotes with a filter of its own; none of them is a page.
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)  # noqa: S701
    environment.filters |= {"shell": shlex.quote, "xml": escape, "json": json.dumps, "unit": _systemd_word}
    return environment.from_string(text).render(command=command, zone=zone, secret=secret, hour=HOUR)


def _systemd_word(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{doubled}"' if doubled != word or not word or any(char.isspace() for char in word) else word


@command("store", "scope", "plan")
@click.option("--print", "printed", type=click.Choice(KINDS), required=True, help="For which scheduler.")
@click.option("--time-zone", default="UTC", show_default=True, help="IANA name of the time zone.")
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
def schedule(options: Options, printed: str, time_zone: str, further: tuple[str, ...]) -> None:
    """Print an entry that looks every night whether a consolidation is due; installs nothing.

    Options of a pass that the entry shall have, too, stand after two dashes.

    Example:
      mem0-dream schedule --print cron --time-zone Europe/Berlin --file memory.jsonl
      mem0-dream schedule --print k8s --config mem0.yaml --all -- --retire --metrics /state/night.prom
    """
    _require_place(options)
    # A scheduler has no search path of ours.
    program = shutil.which(sys.argv[0]) or shutil.which("mem0-dream") or "mem0-dream"
    words = [*arguments(options, judged=True), *further, "--if-due", "--auto"]
    # An option that does not exist would fail every night, and nobody looks on.
    group: Any = click.get_current_context().find_root().command
    command = group if options.kind == MEM0 else group.commands[options.kind]
    command.make_context("mem0-dream", words[command is not group :])  # click takes its list apart
    secret = _SECRETS.get(options.kind, "")
    click.echo(schedule_text(printed, [program, *words], zone=time_zone, secret=secret), nl=False)


def _require_place(options: Options) -> None:
    """Refuse what would fail in the night.

    Raises:
        ConfigError: If they name no store.
        UsageError: If they do not say whose memories are meant.
    """
    if not options.names_store or options.kind == GRAPH:
        require_place(options)
    if options.kind == MEM0 and options.config is None:
        raise ConfigError("No configuration: give mem0's own with --config mem0.yaml.")
    options.scopes()


COMMANDS = (schedule,)
