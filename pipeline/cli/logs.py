"""Logs on the error stream: lines for a person, or one JSON object for each line."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from datetime import UTC, datetime
from typing import Any

import click

_LEVELS = {0: logging.ERROR, 1: logging.INFO}
_FORMAT = "%(levelname)s %(name)s: %(message)s"


class Escaping(logging.Formatter):
    """Log lines without foreign controls: names, paths and answers of servers are not ours."""

    def format(self, record: logging.LogRecord) -> str:
        """One line for each line of the message."""
        from ..reporting.report import visible

        return "\n".join(visible(line) for line in super().format(record).split("\n"))


class JsonLines(logging.Formatter):
    """Each record as one object: time, level, logger, message, and what it carries besides."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        whole: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        night = getattr(record, "night", None)
        if night is not None:
            whole["night"] = night
        if record.exc_info:
            whole["error"] = self.formatException(record.exc_info)
        return json.dumps(whole, ensure_ascii=True)


class _ErrorStream(logging.Handler):
    """Writes to the error stream of the moment, as commands do."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:  # noqa: BLE001  (a log must never break what it tells about)
            self.handleError(record)


_JSON = _ErrorStream()
_JSON.setFormatter(JsonLines())


def set_up_logs(verbose: int, *, as_json: bool) -> None:
    """Log at the level that was asked for; as JSON at least what happened."""
    if not verbose:
        # What a library's next release will change is for its developers, not for the mail of a nightly job.
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"mem0\b")
    level = _LEVELS.get(verbose, logging.DEBUG)
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(Escaping(_FORMAT))
    logging.basicConfig(level=logging.ERROR, handlers=[stream])
    ours = logging.getLogger("mem0_dream")
    ours.setLevel(min(level, logging.INFO) if as_json else level)
    ours.propagate = not as_json
    (ours.addHandler if as_json else ours.removeHandler)(_JSON)


def tell(line: str, *, level: int = logging.INFO, begin: str = "mem0-dream: ") -> None:
    """A remark without memory text on the error stream: a line for a person, a record where logs are JSON."""
    if _JSON in logging.getLogger("mem0_dream").handlers:
        logging.getLogger("mem0_dream.cli").log(level, "%s", line)
    else:
        click.echo(f"{begin}{line}", err=True)
