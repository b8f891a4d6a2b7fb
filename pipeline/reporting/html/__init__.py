"""One page that shows a plan: every proposal, what was applied, and how the store changed over time.

Pure: a plan, memories and runs in, one string out. Its style and script are inside, it loads nothing from
any network, and its own policy lets the browser run this one script and this one style by their hashes, so
that no text of a memory can run, even if it reached the page as markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from .data import Material, RunPoint, applied_data, done_data, page_data, run_point

__all__ = ["Material", "RunPoint", "applied_data", "done_data", "page_data", "render", "run_point"]


SCRIPTS = ("text.js", "state.js", "cards.js", "list.js", "history.js", "live.js", "start.js")
"""In the order in which they are joined: each uses only earlier ones."""
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def render(data: Mapping[str, Any], *, lines: Sequence[str] = (), live: bool = False) -> str:
    """The whole page as HTML; a live one may talk to the server that it came from, and no other."""
    from jinja2 import Environment

    folder = files(__package__) / "page"
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    style = (folder / "page.css").read_text(encoding="utf-8")
    template = Environment(autoescape=True).from_string((folder / "page.html").read_text(encoding="utf-8"))
    return template.render(
        policy=policy(script=script, style=style, live=live),
        script=script,
        style=style,
        data=embedded(data),
        lines="\n".join(lines),
        title=f"mem0-dream · {data['kind']} · {data['now'][:10]}",
    )


def policy(*, script: str, style: str, live: bool) -> str:
    """What the page may do: its own script and style, and on a live page requests to its own server."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "connect-src": "'self'" if live else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def embedded(data: Mapping[str, Any]) -> str:
    """Data as JSON that can neither end the element it stands in nor forge a character of the file."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return "".join(_ESCAPED.get(c) or (c if c.isprintable() else json.dumps(c)[1:-1]) for c in text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
