"""Drift: which references are found in a memory, and what their absence proves."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import NOW
from markdown_trees import write_tree
from mem0_dream.pipeline.markdown.code_index import build_index
from mem0_dream.pipeline.markdown.drift import Freshness, check_drift
from mem0_dream.pipeline.markdown.references import references_of
from mem0_dream.pipeline.records import Memory, Scope

SCOPE = Scope.of(directory="memory")


def _memory(text: str, *, frontmatter: bool = True, description: str = "") -> Memory:
    return Memory(
        "memory/a.md",
        text,
        SCOPE,
        updated_at=NOW,
        metadata={"frontmatter": frontmatter, "description": description},
    )


def _drift(root: Path, text: str, **more):
    places = {"memory": root / "memory"}
    return check_drift([_memory(text, **more)], root=root, directories=places)["memory/a.md"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small code base."""
    return write_tree(
        tmp_path,
        {
            "src/auth/login.py": "def login(user):\n    return SessionStore(user)\n",
            "lib/new/place.py": "x = 1\n",
            ".gitignore": "generated/\n*.log\n!keep.log\n",
            "generated/old.py": "def generated_only(): ...\n",
            "keep.log": "kept_symbol",
            "drop.log": "dropped_symbol",
            "web/.gitignore": "cache.ts\n",
            "web/cache.ts": "ignored_too",
            "logo.png": b"\0binary_symbol",
            "memory/a.md": "only_in_memory()",
        },
    )


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("see src/auth/login.py:42 and `utils.py`", ("src/auth/login.py", "utils.py")),
        ("tests/test_x.py::test_y and `a/b.ts#L10`", ("a/b.ts", "tests/test_x.py")),
        ("./run/me.sh", ("run/me.sh",)),
        ("https://host/a/b.py ~/.bashrc ../up.py `src/**/*.ts` docs/<name>.md", ()),
        ("[other](other.md) [[wiki]] `feedback_x.md` `origin/main` application/json", ()),
        ("```\npython scripts/build.py\n```", ()),
    ],
)
def test_file_references(text: str, files: tuple[str, ...]) -> None:
    """Paths with a known extension count; addresses, patterns, and links between memories do not."""
    assert references_of(text).files == files


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("call parse_config() or `foo.bar(x)`", ("bar", "parse_config")),
        ("`UserManager`, the LegacyHandler class, `def do_it`", ("LegacyHandler", "UserManager", "do_it")),
        ("`TypeScript` on GitHub, a class of bugs", ()),
        ("```\nfoo()\n```", ()),
    ],
)
def test_symbol_references(text: str, symbols: tuple[str, ...]) -> None:
    """Calls, classes in code and definitions count; products and prose do not."""
    assert references_of(text).symbols == symbols


@pytest.mark.parametrize(
    ("text", "freshness"),
    [
        ("`src/auth/login.py` has `login()`", Freshness.FRESH),
        ("auth/login.py", Freshness.FRESH),
        ("`src/auth/login.py` and `src/gone.py`", Freshness.PARTIALLY_STALE),
        ("`src/gone.py` calls gone_function()", Freshness.FULLY_STALE),
        ("`src/gone.py` uses SessionStore", Freshness.PARTIALLY_STALE),
        ("`src/gone.py`\n```\npython src/auth/login.py\n```", Freshness.PARTIALLY_STALE),
        ("`UnicodeEncodeError` from `super().run(x)` and print()", Freshness.EVERGREEN),
        ("`src/gone.py` uses OtherStore", Freshness.FULLY_STALE),
        ("`old/place.py` is the place", Freshness.PARTIALLY_STALE),
        ("Prefers short answers.", Freshness.EVERGREEN),
        ("GitHub and PayPal are used", Freshness.EVERGREEN),
        ("generated/whatever.py is made by the build", Freshness.EVERGREEN),
        ("generated/old.py is made by the build", Freshness.FRESH),
        ("/etc/nowhere/nginx.conf", Freshness.EVERGREEN),
        ("node_modules/x/index.js", Freshness.EVERGREEN),
    ],
)
def test_freshness(project: Path, text: str, freshness: Freshness) -> None:
    """Only the absence of everything that can be checked makes a memory fully stale."""
    assert _drift(project, text).freshness is freshness


def test_a_moved_file_is_flagged_with_its_new_place(project: Path) -> None:
    """A file that only moved is no proof that the fact is gone."""
    assert _drift(project, "`old/place.py` is the place").missing == ("old/place.py (now lib/new/place.py?)",)


def test_without_frontmatter_a_memory_is_evergreen(project: Path) -> None:
    """A file without frontmatter is never judged by its references."""
    assert _drift(project, "`src/gone.py`", frontmatter=False).freshness is Freshness.EVERGREEN


def test_quoted_paths_in_the_description_count(project: Path) -> None:
    """A description may name the file the memory is about."""
    drift = _drift(project, "It is slow.", description='about "gone_module.py"')
    assert drift.freshness is Freshness.FULLY_STALE


@pytest.mark.parametrize(
    "symbol", ["only_in_memory", "dropped_symbol", "generated_only", "ignored_too", "binary_symbol"]
)
def test_what_is_no_code_proves_nothing(project: Path, symbol: str) -> None:
    """The memories themselves, ignored files and binaries are no proof that a symbol exists."""
    index = build_index(project, [symbol, "login"], without=[project / "memory"])
    assert index.symbols == {"login"}


def test_a_negated_pattern_brings_a_file_back(project: Path) -> None:
    """`!keep.log` is honoured."""
    assert "kept_symbol" in build_index(project, ["kept_symbol"]).symbols


def test_many_symbols_are_found_as_few_are(project: Path) -> None:
    """Both ways of searching give the same answer, on whole words only."""
    few = ["login", "logi", "SessionStore"]
    many = [*few, *(f"absent_{number}" for number in range(40))]
    assert (
        build_index(project, few).symbols == build_index(project, many).symbols == {"login", "SessionStore"}
    )
