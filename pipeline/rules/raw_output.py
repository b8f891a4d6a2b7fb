"""Output of tools that was stored as it came: objects, traces, logs, listings, patches.

A memory may quote a command or hold an object on purpose, so one sign is never enough: an object must
have the keys of a tool's answer, and of lines most must look like a log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...models.facts.tokens import listed

_ANSWER_KEYS = frozenset(
    listed(
        "exit_code exitcode returncode stdout stderr status_code tool_call_id tool_calls tool_use_id "
        "tool_name function_call finish_reason is_error traceback duration_ms elapsed_ms request_id "
        "response_headers prompt_tokens completion_tokens total_tokens"
    )
)
"""Keys of the answers of tools and models, under which no fact is noted."""

_FEWEST_LINES = 3
"""Fewer lines are a quotation."""

_MOST = 0.75
"""So many of the lines must look like output."""

_TRACE = re.compile(
    r"^Traceback \(most recent call last\):\s*$"
    r"|^\s+at [\w.$<>]+\([\w.]+(?:\.java|\.kt|\.js|\.ts)?:\d+(?::\d+)?\)\s*$"
    r"|^thread '.*' panicked at |^goroutine \d+ \[running\]:",
    re.MULTILINE,
)
_MARKED = re.compile(
    r"\A\s*(?:<(?:function_results?|tool_result|tool_response|command-output|stdout|stderr|bash-stdout)\b"
    r"|\[(?:tool[ _-]?(?:result|output|call)|function[ _-]?result|stdout|stderr)\]"
    r"|(?:stdout|stderr|exit code|tool (?:output|result)|function result)\s*[:=]\s*\S*\s*(?:\n|\Z)"
    r"|HTTP/[\d.]+ \d{3}\b.*\n[\w-]+: "
    r"|<!DOCTYPE html\b|<html\b)",
    re.IGNORECASE,
)
_PATCH = re.compile(r"^(?:diff --git a/|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)", re.MULTILINE)
_LOG_LINE = re.compile(
    r"^\s*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?.{0,40}?"
    r"\b(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|NOTICE)\b"
    r"|^\s*\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\]?[ :]+[\w.\[]+"
    r"|^(?:npm|yarn|pip|apt) (?:WARN|ERR!|notice)"
    r"|^[a-z-][rwxst-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+\d+"
    r"|^total \d+$"
    r"|^(?:PASSED|FAILED|SKIPPED|XFAIL|ok|not ok)\s+\S+(?:::|\s\d+ - )"
    r"|^\S+\.\w+:\d+(?::\d+)?: ",
)


def is_raw_output(text: str) -> str:
    """What kind of raw output a text is, in two or three words; empty if it is none.

    >>> is_raw_output('{"exit_code": 0, "stdout": "done", "stderr": ""}')
    "a tool's answer"
    >>> is_raw_output('{"name": "Ann", "likes": "tea"}')
    ''
    """
    plain = text.strip()
    if _is_answer(plain):
        return "a tool's answer"
    if _MARKED.search(plain):
        return "marked as output"
    if _TRACE.search(plain):
        return "a stack trace"
    if len(_PATCH.findall(plain)) and plain.count("\n") >= _FEWEST_LINES:
        return "a patch"
    lines = [line for line in plain.splitlines() if line.strip()]
    matching = sum(bool(_LOG_LINE.search(line)) for line in lines)
    if len(lines) >= _FEWEST_LINES and matching >= _MOST * len(lines):
        return "lines of a log"
    return ""


def _is_answer(text: str) -> bool:
    """Whether it is one object, or a list of objects, with two keys of a tool's answer."""
    if not text.startswith(("{", "[")):
        return False
    try:
        value: Any = json.loads(text)
    except ValueError:
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, Mapping) and len(_ANSWER_KEYS & {str(key).lower() for key in first}) >= 2
