"""Which options belong to which kind of store, and a command line that reaches the same store again.

An option of another kind is refused: left undone without a word it would look as if it had worked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:
    from .options import Options

MEM0, MARKDOWN, GRAPH = "mem0", "md", "graph"
PLATFORM, SERVER = "platform", "server"
STORES = (MEM0, PLATFORM, SERVER, MARKDOWN, GRAPH)
_OF_MEM0 = (MEM0, PLATFORM, SERVER)

OPTIONS_OF = {
    "user_id": _OF_MEM0,
    "agent_id": _OF_MEM0,
    "run_id": _OF_MEM0,
    "app_id": (MEM0, PLATFORM),
    "all_scopes": _OF_MEM0,
    "retire": _OF_MEM0,
    "assume_unread": _OF_MEM0,
    "hygiene": _OF_MEM0,
    "recall_check": _OF_MEM0,
    "host": (PLATFORM,),
    "org": (PLATFORM,),
    "project": (PLATFORM,),
    "url": (SERVER,),
    "root": (MARKDOWN,),
    "memory_dirs": (MARKDOWN,),
    "transcripts": (MARKDOWN,),
    "index_only": (MARKDOWN,),
    "dates": (MARKDOWN,),
    "supersede": (MARKDOWN,),
    "graph_file": (GRAPH,),
    "mcp": (GRAPH,),
    "core": (GRAPH,),
    "repair": (GRAPH,),
    "relate": (GRAPH,),
    "repair_relations": (GRAPH,),
}
"""Options that not every kind of store has, by their names in the code; any other works on all."""

_SPOKEN = {"all_scopes": "--all", "memory_dirs": "--memory-dir", "graph_file": "--file"}
_COMMAND = re.compile(r"`mem0-dream ((?:resume|undo)\b[^`]*)`")


def refuse_other_kinds(named: Iterable[str], kind: str) -> None:
    """Refuse options that this kind of store does not have.

    Raises:
        UsageError: Naming the first of them and the kinds it belongs to.
    """
    for name in sorted(named):
        kinds = OPTIONS_OF.get(name, (kind,))
        if kind not in kinds:
            option = _SPOKEN.get(name, f"--{name.replace('_', '-')}")
            stores = " or ".join(f"--store {other}" for other in kinds)
            raise UsageError(
                f"{option} is an option of {stores}, not of --store {kind}; leave it out, or name the "
                "other store."
            )


def again(options: Options, *words: str) -> str:
    """A command on the same store, complete enough to be copied into any folder's command line."""
    places: list[tuple[str, object]] = [("--config", options.config)]
    if options.store_kind == MARKDOWN:
        places += [("--store", MARKDOWN), ("--root", options.root or Path())]
        places += [("--memory-dir", path) for path in options.memory_dirs or ()]
    elif options.store_kind == GRAPH:
        places += [("--store", GRAPH), ("--file", options.graph_file), ("--mcp", options.mcp)]
        places += [("--core", options.core)]
    elif options.store_kind == PLATFORM:
        places += [("--store", PLATFORM), ("--host", options.host), ("--org", options.org)]
        places += [("--project", options.project)]
    elif options.store_kind == SERVER:
        places += [("--store", SERVER), ("--url", options.url)]
    places.append(("--state-dir", options.state_dir))
    given = [word for name, value in places if value is not None for word in (name, _absolute(value))]
    return " ".join(map(quoted, ["mem0-dream", *words, *given]))


def quoted(word: str) -> str:
    r"""A word for a shell, as it can be shown and copied: what a terminal would act on is an escape.

    >>> quoted("my notes"), quoted("a\x1b'")
    ("'my notes'", "$'a\\U0000001b\\''")
    """
    if word.isprintable():
        return shlex.quote(word)
    plain = word.replace("\\", r"\\").replace("'", r"\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + "'"


def completed(text: str, options: Options) -> str:
    """A sentence with the commands it names made complete."""
    return _COMMAND.sub(lambda match: f"`{again(options, *match[1].split())}`", text)


def _absolute(value: object) -> str:
    return str(value.expanduser().absolute()) if isinstance(value, Path) else str(value)
