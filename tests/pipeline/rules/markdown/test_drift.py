"""Drift: which references are found in a memory, and what their absence proves."""

from datetime import timedelta
from pathlib import Path

import pytest
from builders import NOW, rows_of
from markdown_trees import git, with_past, write_tree
from mem0_dream.pipeline.rules.markdown_drift import Freshness, check_drift, condemned, mended, references_of
from mem0_dream.pipeline.stores.markdown.project import build_index
from mem0_dream.records import Memory, Scope

SCOPE = Scope.of(directory="memory")
TABLE = Path(__file__).with_name("drift.tsv")


def _memory(text: str, *, frontmatter: bool = True, description: str = "") -> Memory:
    said = {"frontmatter": frontmatter, "description": description}
    return Memory("memory/a.md", text, SCOPE, updated_at=NOW, metadata=said)


def _drift(root: Path, text: str, **more):
    places = {"memory": root / "memory"}
    return check_drift([_memory(text, **more)], root=root, directories=places)["memory/a.md"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with_past(tmp_path, "src/gone.py", "gone_module.py", moved={"old/place.py": "lib/new/place.py"})
    files: dict[str, str | bytes] = {
        "src/auth/login.py": "def login(user):\n    return SessionStore(user)\n",
        ".gitignore": "generated/\n*.log\n!keep.log\n", "generated/old.py": "def generated_only(): ...\n",
        "keep.log": "kept_symbol", "drop.log": "dropped_symbol", "web/.gitignore": "cache.ts\n",
        "web/cache.ts": "ignored_too", "logo.png": b"\0binary_symbol", "memory/a.md": "only_in_memory()",
    }  # fmt: skip
    return write_tree(tmp_path, files)


@pytest.mark.parametrize(("kind", "text", "named"), rows_of(TABLE, "files", "symbols", cells=3))
def test_references(kind: str, text: str, named: str) -> None:
    assert getattr(references_of(text), kind) == tuple(named.split())


@pytest.mark.parametrize(("text", "freshness"), rows_of(TABLE, "freshness"))
def test_freshness(project: Path, text: str, freshness: str) -> None:
    assert _drift(project, text).freshness is Freshness[freshness]


@pytest.mark.parametrize(
    ("text", "more", "missing"),
    [
        ("`old/place.py` is the place", {}, ("old/place.py (now lib/new/place.py)",)),
        ("`src/gone.py`", {"frontmatter": False}, ()),
        ("It is slow.", {"description": 'about "gone_module.py"'}, ("gone_module.py",)),
    ],
    ids=["moved", "without frontmatter", "quoted in the description"],
)
def test_what_is_missing(project: Path, text: str, more: dict[str, object], missing: tuple[str, ...]) -> None:
    assert _drift(project, text, **more).missing == missing


@pytest.mark.parametrize(
    "symbol", ["only_in_memory", "dropped_symbol", "generated_only", "ignored_too", "binary_symbol"]
)
def test_what_is_no_code_proves_nothing(project: Path, symbol: str) -> None:
    index = build_index(project, [symbol, "login"], without=[project / "memory"])
    assert index.symbols == {"login"}


def test_many_symbols_are_found_as_few_are_and_a_negated_pattern_brings_a_file_back(project: Path) -> None:
    few = ["login", "logi", "SessionStore", "kept_symbol"]
    for wanted in (few, [*few, *(f"absent_{number}" for number in range(40))]):
        assert build_index(project, wanted).symbols == {"login", "SessionStore", "kept_symbol"}


def test_a_missing_file_is_flagged_whatever_the_history_says_but_not_what_git_leaves_out(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, {"src/here.py": "x", "src/split/a.py": "x"})
    drift = _drift(tmp_path, "`src/here.py` and `src/gone.py`")
    assert (drift.freshness, drift.missing) == (Freshness.PARTIALLY_STALE, ("src/gone.py",))
    assert _drift(tmp_path, "`src/gone.py`").freshness is Freshness.PARTIALLY_STALE
    assert _drift(tmp_path, "`src/here.py` and `app/gone.py`").freshness is Freshness.FRESH
    assert _drift(tmp_path, "`src/split.py`").missing == ("src/split.py (perhaps now src/split/)",)
    write_tree(tmp_path, {".gitignore": "src/gone.py\n"})
    assert _drift(tmp_path, "`src/gone.py` is here").missing == ()


def test_a_move_is_followed_where_its_commit_touched_gitignore(project: Path) -> None:
    write_tree(project, {"src/one.py": "one\n" * 9})
    git(project, "add", "-f", "src/one.py")
    git(project, "commit", "-qm", "third")
    write_tree(project, {".gitignore": "generated/\n*.tmp\n"})
    git(project, "mv", "src/one.py", "src/auth/one.py")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qam", "fourth")
    assert _drift(project, "`src/one.py` is here").moved == {"src/one.py": "src/auth/one.py"}


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("Pages come out of `Pictures` in `src/gone.py`.", True),
        ("Ines owns the pages in `src/gone.py`.", False),
        ("The pages in `src/gone.py` are by Ines Roth.", False),
    ],
)
def test_a_fact_about_a_person_outlives_its_file(project: Path, text: str, goes: bool) -> None:
    assert condemned(_memory(text), _drift(project, text), now=NOW + timedelta(days=90)) is goes


@pytest.mark.parametrize(("text", "expected"), rows_of(TABLE, "mended", cells=2))
def test_a_moved_path_is_mended_where_the_sentence_speaks_of_now(project, text, expected):
    assert mended(text, _drift(project, text).moved) == (expected or text)


def test_a_split_file_has_no_new_place(project: Path) -> None:
    write_tree(project, {"src/one.py": "\n".join(f"line {n}" for n in range(40))})
    git(project, "add", "src/one.py")
    git(project, "commit", "-qm", "third")
    git(project, "mv", "src/one.py", "src/two.py")
    write_tree(project, {"src/two.py": "\n".join(f"line {n}" for n in range(28))})
    git(project, "commit", "-qam", "fourth")
    assert _drift(project, "`src/one.py` is here").moved == {}
