"""Ready-made entries for cron, systemd and launchd; nothing is installed, only printed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from xml.sax.saxutils import escape

from ....errors import UsageError

KINDS = ("cron", "systemd", "launchd")
HOUR = 3
"""The hour of the night at which a consolidation is looked at."""


def schedule_text(kind: str, command: Sequence[str], *, zone: str) -> str:
    """An entry that runs a command once a night.

    Args:
        kind: One of `KINDS`.
        command: Program and arguments.
        zone: Time zone by its IANA name, such as "Europe/Berlin".

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
    makers = {"cron": _cron, "systemd": _systemd, "launchd": _launchd}
    return makers[kind](command, zone)


def _cron(command: Sequence[str], zone: str) -> str:
    # A percent sign ends the command in a crontab, wherever it stands.
    line = shlex.join(command).replace("%", "\\%")
    return f"CRON_TZ={zone}\n0 {HOUR} * * * {line}\n"


def _systemd(command: Sequence[str], zone: str) -> str:
    line = " ".join(_systemd_word(word) for word in command)
    return (
        "# mem0-dream.service\n[Unit]\nDescription=Consolidate agent memory\n\n"
        f"[Service]\nType=oneshot\nExecStart={line}\n\n"
        "# mem0-dream.timer\n[Unit]\nDescription=Look every night whether a consolidation is due\n\n"
        f"[Timer]\nOnCalendar=*-*-* {HOUR:02}:00:00 {zone}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def _launchd(command: Sequence[str], zone: str) -> str:
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<!-- launchd reckons in the system's zone; this was printed for {zone} -->\n"
        '<plist version="1.0">\n<dict>\n  <key>Label</key>\n  <string>mem0-dream</string>\n'
        f"  <key>ProgramArguments</key>\n  <array>\n{words}\n  </array>\n"
        "  <key>StartCalendarInterval</key>\n  <dict>\n    <key>Hour</key>\n"
        f"    <integer>{HOUR}</integer>\n    <key>Minute</key>\n    <integer>0</integer>\n"
        "  </dict>\n</dict>\n</plist>\n"
    )


def _systemd_word(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{doubled}"' if doubled != word or not word or any(char.isspace() for char in word) else word
