"""Ready-made entries for cron, systemd, launchd and Kubernetes; nothing is installed, only printed."""

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
from .kinds import GRAPH, MARKDOWN, MEM0, PLATFORM, SERVER
from .options import Options, plan_options, scope_options, store_options

KINDS = ("cron", "systemd", "launchd", "k8s")
HOUR = 3
"""The hour of the night at which a consolidation is looked at."""


def schedule_text(kind: str, command: Sequence[str], *, zone: str, secret: str = "") -> str:
    """An entry that runs a command once a night.

    Args:
        kind: One of `KINDS`.
        command: Program and arguments.
        zone: Time zone by its IANA name, such as "Europe/Berlin".
        secret: The variable that must hold a key, if there is one; a scheduler has no shell's variables.

    Raises:
        UsageError: If there is no such time zone.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"There is no time zone {zone!r}; give an IANA name such as Europe/Berlin."
        ) from None
    makers = {"cron": _cron, "systemd": _systemd, "launchd": _launchd, "k8s": _kubernetes}
    return makers[kind](command, zone, secret)


def _cron(command: Sequence[str], zone: str, secret: str) -> str:
    # A percent sign ends the command in a crontab, wherever it stands.
    line = shlex.join(command).replace("%", "\\%")
    key = f"# {secret}=...\n" if secret else ""
    return f"{key}CRON_TZ={zone}\n0 {HOUR} * * * {line}\n"


def _systemd(command: Sequence[str], zone: str, secret: str) -> str:
    line = " ".join(_systemd_word(word) for word in command)
    key = f"# {secret}=... stands in this file:\nEnvironmentFile=/etc/mem0-dream.env\n" if secret else ""
    return (
        "# mem0-dream.service\n[Unit]\nDescription=Consolidate agent memory\n\n"
        f"[Service]\nType=oneshot\n{key}ExecStart={line}\n\n"
        "# mem0-dream.timer\n[Unit]\nDescription=Look every night whether a consolidation is due\n\n"
        f"[Timer]\nOnCalendar=*-*-* {HOUR:02}:00:00 {zone}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def _launchd(command: Sequence[str], zone: str, secret: str) -> str:
    key = (
        f"  <key>EnvironmentVariables</key>\n  <dict>\n    <key>{secret}</key>\n    <string>...</string>\n"
        "  </dict>\n"
        if secret
        else ""
    )
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<!-- launchd reckons in the system's zone; this was printed for {zone} -->\n"
        '<plist version="1.0">\n<dict>\n  <key>Label</key>\n  <string>mem0-dream</string>\n'
        f"  <key>ProgramArguments</key>\n  <array>\n{words}\n  </array>\n{key}"
        "  <key>StartCalendarInterval</key>\n  <dict>\n    <key>Hour</key>\n"
        f"    <integer>{HOUR}</integer>\n    <key>Minute</key>\n    <integer>0</integer>\n"
        "  </dict>\n</dict>\n</plist>\n"
    )


def _kubernetes(command: Sequence[str], zone: str, secret: str) -> str:
    # JSON strings are YAML strings.
    words = "".join(f"\n                - {json.dumps(word)}" for word in ("mem0-dream", *command[1:]))
    key = _ENV_OF_KUBERNETES.format(name=secret) if secret else ""
    return f"""\
# Build the image from the Dockerfile, and mount what holds the paths below: the configuration, the memories.
apiVersion: batch/v1
kind: CronJob
metadata:
  name: mem0-dream
spec:
  schedule: "0 {HOUR} * * *"
  timeZone: {json.dumps(zone)}
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          securityContext:
            runAsNonRoot: true
            runAsUser: 10001
            fsGroup: 10001
          containers:
            - name: mem0-dream
              image: mem0-dream:latest
              command:{words}{key}
              volumeMounts:
                - name: state
                  mountPath: /state
          volumes:
            - name: state
              persistentVolumeClaim:
                claimName: mem0-dream-state
"""


_ENV_OF_KUBERNETES = """
              env:
                - name: {name}
                  valueFrom:
                    secretKeyRef: {{name: mem0-dream, key: {name}}}"""


def _systemd_word(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{doubled}"' if doubled != word or not word or any(char.isspace() for char in word) else word


@click.command()
@click.option("--print", "printed", type=click.Choice(KINDS), required=True, help="For which scheduler.")
@click.option("--time-zone", default="UTC", show_default=True, help="IANA name of the time zone.")
@click.argument("more", nargs=-1, type=click.UNPROCESSED)
@store_options
@scope_options
@plan_options
@click.pass_context
def schedule(
    ctx: click.Context, /, printed: str, time_zone: str, more: tuple[str, ...], **given: Any
) -> None:
    """Print an entry that looks every night whether a consolidation is due; installs nothing.

    Options of a pass that the entry shall have, too, stand after two dashes.

    \b
    Example:
      mem0-dream schedule --print cron --time-zone Europe/Berlin --file memory.jsonl
      mem0-dream schedule --print k8s --config mem0.yaml --all -- --retire --metrics /state/night.prom
    """  # noqa: D301
    above = ctx.parent.obj if ctx.parent is not None else None
    options = Options.gather(
        ctx, given, kind=_kind({name for name in _PLACES if given[name] or getattr(above, name, None)})
    )
    # A scheduler has no search path of ours.
    program = shutil.which(sys.argv[0]) or shutil.which("mem0-dream") or "mem0-dream"
    words = [program, *_words(options), *more, "--if-due", "--auto"]
    # An option that does not exist would fail every night, and nobody looks on.
    ctx.find_root().command.make_context("mem0-dream", words[1:])
    secret = _SECRETS.get(str(options.store_kind), "")
    click.echo(schedule_text(printed, words, zone=time_zone, secret=secret), nl=False)


_VALUES = (
    "mcp", "host", "org", "project", "url", "user_id", "agent_id", "run_id", "app_id", "scorer", "encoder",
    "max_delete",
)  # fmt: skip
_SECRETS = {PLATFORM: "MEM0_API_KEY", SERVER: "MEM0_SERVER_API_KEY"}
"""Where a key comes from, which is no option: the command line is visible to all users of a machine."""
_PLACES = ("graph_file", "mcp", "root", "memory_dirs", "config")


def _kind(places: set[str]) -> str:
    """The kind of store that the given places belong to; a graph where nothing is given."""
    if places & {"graph_file", "mcp"}:
        return GRAPH
    if places & {"root", "memory_dirs"}:
        return MARKDOWN
    return MEM0 if "config" in places else GRAPH


def _words(options: Options) -> list[str]:
    """The options that reach the same memories with the same settings.

    Raises:
        ConfigError: If they name no store.
        UsageError: If they do not say whose memories are meant.
    """
    words: list[str] = []
    if options.store_kind == GRAPH:
        from .graph.opening import require_place

        require_place(options)
        words = ["--store", GRAPH]
    elif options.store_kind == MARKDOWN:
        words = ["--store", MARKDOWN]
    else:
        if options.store_kind != MEM0:
            words = ["--store", str(options.store_kind)]
        elif options.config is None:
            raise ConfigError("No configuration: give mem0's own with --config mem0.yaml.")
        options.scopes()
    places = (("--file", options.graph_file), ("--core", options.core), ("--root", options.root))
    configured = (("--config", options.config), ("--state-dir", options.state_dir))
    directories = [("--memory-dir", path) for path in options.memory_dirs or ()]
    for name, path in (*places, *directories, *configured):
        words += [name, str(path.expanduser().resolve())] if path is not None else []
    for name in _VALUES:
        value = getattr(options, name)
        words += [f"--{name.replace('_', '-')}", str(value)] if value is not None else []
    flags = (("--all", options.all_scopes), ("--merge-only", options.merge_only))
    return words + [name for name, wanted in (*flags, ("--forget-only", options.forget_only)) if wanted]
