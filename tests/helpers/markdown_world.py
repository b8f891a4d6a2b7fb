"""A project as coding agents leave it: code that moved on, and what they remember of it."""

import json
from pathlib import Path

from markdown_trees import memory_file, with_past, write_tree

REVIEWER = ".claude/agent-memory/code-reviewer"
PROJECT = ".claude/memory"
WORKTREE = ".claude/projects/-srv-shop/memory"
_AREAS = (
    "checkout", "search", "billing", "catalogue", "shipping", "returns", "accounts", "pricing", "loyalty", "reports",
    "mailing", "invoices", "stock", "refunds", "vouchers", "reviews", "wishlist", "support", "partners", "exports",
)  # fmt: skip
_TOOLS = (
    ("ruff", "style"), ("mypy", "types"), ("pytest", "behaviour"), ("bandit", "secrets"), ("vulture", "dead code"),
    ("mdformat", "documents"), ("codespell", "spelling"), ("zizmor", "workflows"),
)  # fmt: skip
_TRAITS = (
    "owns its own schema and never reads another one directly",
    "publishes every change as an event on the shared bus",
    "keeps amounts in cents, since floats lost money once",
    "is deployed behind a feature flag by the platform group",
)


RULES = """Letters are one page long.
They name the city first.
They never apologise for gaps.
They are built from the base template by the letter script.
The title of a role has no comma.
Numbers come from the canonical table.
"""


def code() -> dict[str, str]:
    files = {f"services/{area}/main.py": f"def handle_{area}():\n    return 1\n" for area in _AREAS}
    files[".gitignore"] = "build/\n*.log\n"
    files["build/ghost.py"] = "def ghost_function(): ...\n"
    return files


def evergreen() -> dict[str, str]:
    """Memories that hold: one for each area, with a reference or without."""
    files = {}
    for number, area in enumerate(_AREAS):
        trait = _TRAITS[number % len(_TRAITS)]
        where = f" See `services/{area}/main.py` and `handle_{area}()`." if number % 2 else ""
        body = f"The {area} service {trait}; ticket {area.upper()}-{100 + number}.{where}"
        files[f"{PROJECT}/{area}.md"] = memory_file(body, name=area, date=f"2026-0{1 + number % 9}-03")
    return files


def doubtful() -> dict[str, str]:
    """Memories that are stale, partly stale, moved, duplicated, or contradicted."""
    said: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("old cache", "`LruCache` lives in `services/cache/lru.py`.", {}),
        ("old queue", "Jobs go through `enqueue_job()` in services/queue/jobs.py.", {}),
        ("ghost", "The helper ghost_function() does it.", {}),
        ("moved", "`PaymentGateway` is in `services/payments/gateway.py`.", {}),
        ("partly", "`handle_search()` replaced all of `services/search/legacy.py` there yesterday.",
         {"date": "2026-06-10"}),
        ("tabs", "Use tabs for indentation in every Go file.", {"kind": "feedback", "date": "2026-01-05"}),
        ("tabs again", "Use tabs for indentation in every Go file.", {"kind": "feedback", "date": "2026-04-05"}),
        ("friday", "Always deploy on Fridays from the release branch. Ines holds the pager.",
         {"kind": "user", "date": "2026-01-07"}),
        ("no friday", "Never deploy on Fridays from the release branch. Smoke tests take 20 minutes.",
         {"kind": "user", "date": "2026-05-07"}),
        ("pinned", "[PINNED] `gone_for_good()` stays in mind.", {}),
    )  # fmt: skip
    files = {
        f"{PROJECT}/{name.replace(' ', '_')}.md": memory_file(body, name=name, **more)
        for name, body, more in said
    }
    return files | {f"{PROJECT}/plain.md": "No frontmatter here, and `services/never/was.py` is gone.\n"}


def lists() -> dict[str, bytes]:
    """Files of lists in another agent's directory, with CRLF, a byte order mark and an odd byte."""
    rules = [f"- Rule {n}: check the {area} tests before a merge\r\n" for n, area in enumerate(_AREAS)]
    rules.insert(7, "- rule 3: check the catalogue tests before a merge.\r\n")
    return {
        f"{REVIEWER}/rules.md": ("\ufeff# Rules\r\n\r\n" + "".join(rules)).encode(),
        f"{REVIEWER}/tools.md": b"".join(
            f"* `{tool}` checks {what} here\n".encode() for tool, what in _TOOLS
        ),
        f"{REVIEWER}/odd.md": b"# Odd\n\n- caf\xe9 is closed on Mondays\n- the lift is slow today\n",
        f"{REVIEWER}/style.md": memory_file(
            "The user wants short reviews, in English.", name="style", kind="user"
        ).encode(),
        f"{WORKTREE}/only.md": memory_file("The worktree builds with Bazel 7.", name="only").encode(),
    }


def indexes() -> dict[str, str]:
    """Indexes with dead pointers, missing ones, words of their own, and one line that says too much."""
    return {
        f"{PROJECT}/MEMORY.md": (
            "# Project Memory\n\nAsk Ines before you change anything here.\n\n## Topics\n"
            "- [Checkout](checkout.md) — the checkout service\n- [Gone](gone.md) — is no more\n- [Gone too](gone_too.md)\n"
            f"- [Old cache](old_cache.md)\n- [Search](search.md) — {'it was rewritten twice for speed, ' * 8}ask Bo\n\n"
            "## House rules\n\nBe kind.\n"
        ),
        f"{REVIEWER}/MEMORY.md": "# Code Reviewer Memory\n",
    }


def logs() -> dict[str, str]:
    return {
        f"{PROJECT}/logs/2026/11/2026-11-19.md": (
            "# 2026-11-19\n\n- 09:12 looked at the flaky test\n- 10:00 decided to always pin `numpy` because release 2.4 broke exports\n"
            "- 12:00 lunch\n- is the queue slow?\n"
        ),
        f"{PROJECT}/sessions/2026-11-20-review.md": "- The user prefers squash merges and must never see a merge commit\n- running tests\n",
    }


def write_world(root: Path) -> Path:
    said = [
        json.dumps({"type": "user", "message": {"content": f"edit {n} of services/search/legacy.py"}})
        for n in range(70)
    ]
    write_tree(root.parent / "transcripts", {"a.jsonl": "\n".join(said) + "\n"})
    root.mkdir(parents=True, exist_ok=True)
    gone = ("services/cache/lru.py", "services/queue/jobs.py", "services/search/legacy.py")
    with_past(root, *gone, moved={"services/payments/gateway.py": "lib/payments/gateway.py"})
    return write_tree(root, {**code(), **evergreen(), **doubtful(), **lists(), **indexes(), **logs()})
