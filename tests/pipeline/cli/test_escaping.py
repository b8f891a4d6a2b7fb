"""Nothing of a memory acts on a terminal: every command, every kind of store, on texts that try."""

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from builders import NOW, memory
from click.testing import CliRunner
from graph_world import entity, relation, write
from hypothesis import HealthCheck, example, given, settings, strategies as st
from mem0_dream.pipeline.cli import main as cli_module
from mem0_dream.pipeline.cli.terminal import Escaping
from mem0_dream.pipeline.reporting.text import TEXT_WIDTH, clip, one_line, visible
from mem0_dream.records import Scope
from mem0_dream.testing import InMemoryStore
from typed import on_store

EVIL = "\x1b[31m\u202e\x9b\u2066\x07\x00\ue000"
evil = st.text(
    alphabet=st.sampled_from("a \x1b[3m\x07\x00\x7f\x9b\u200e\u2028\u202e\u2066\u2069\ue000"), max_size=8
)
Run = Callable[..., str]
PASSES = (
    ["--dry-run"], ["--dry-run", "--explain"], ["--json"], ["plan"], ["status"], ["status", "--json"],
    ["--if-due", "--dry-run"], ["-vv", "--dry-run"], ["--log-json", "--dry-run"],
)  # fmt: skip


def shown(*arguments: str, answers: str = "") -> str:
    result = CliRunner().invoke(cli_module.main, on_store(arguments), input=answers, prog_name="mem0-dream")
    assert not isinstance(result.exception, Exception), result.exception
    return result.output


def leaks(told: Iterable[str]) -> list[str]:
    return [line for text in told for line in text.split("\n") if not line.isprintable()]


@given(st.text())
def test_what_is_shown_is_shown_as_it_is(text: str) -> None:
    assert visible(text).isprintable()
    assert one_line(text).isprintable()
    assert len(clip(text)) <= TEXT_WIDTH
    if text.isprintable():
        assert visible(text) == text
    assert visible(visible(text)) == visible(text)
    if "\\" not in text:
        assert visible(text).encode("latin-1", "backslashreplace").decode("unicode_escape") == text


def test_log_lines_are_shown_the_same_way() -> None:
    record = logging.LogRecord("mem0_dream", logging.INFO, "x", 1, "read %s\nfailed", (EVIL,), None)
    told = Escaping("%(levelname)s %(message)s").format(record)
    assert leaks([told]) == []
    assert told.startswith(r"INFO read \x1b[31m\u202e")
    assert told.endswith("\nfailed")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        yield tmp_path


SLOW = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(bad=evil)
@example(bad=EVIL)
@SLOW
def test_mem0_stores(bad: str, state: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("mem0")
    scope = Scope.of(user_id=f"ali{bad}ce") if bad.strip() else Scope.of(user_id="alice")
    rows = [
        memory("a1", f"Uses {bad} tabs for indentation in Go code.", days=9, scope=scope),
        memory("a2", f"Never uses {bad} tabs for indentation in Go code.", days=3, scope=scope),
        memory(
            "b1", f"Has a {bad} whippet named Pickle.", days=9, scope=scope, metadata={f"k{bad}": f"v{bad}"}
        ),
        memory(
            "b2", f"Has a {bad} brindle whippet named Pickle.", days=3, scope=scope, metadata={f"k{bad}": "w"}
        ),
        memory("c1", f"Looked {bad} for a plumber in Leeds.", days=900, category=f"todo{bad}", scope=scope),
        memory(f"d{bad}", f"{bad}Fixed", days=900, scope=scope),
        memory("e1", "Sings alto."),
    ]
    store = InMemoryStore(rows)
    config = folder / "mem0.yaml"
    config.write_text("vector_store: {provider: qdrant}\nmem0_dream: {scorer: keywords, max_delete: 1.0}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mem0_dream.pipeline.stores.open_store", lambda _config, **_: store)
        place = ["--config", str(config), "--state-dir", str(folder)]
        scoped = [*place, "--all", "--now", NOW.isoformat()]
        told = [shown(*words, *scoped) for words in PASSES]
        told += [shown("doctor", *place), shown("report", *scoped, "-o", str(folder / f"r{len(bad)}.html"))]
        told += [shown("forget", "whippet plumber", *scoped, answers="1\nn\n")]
        told += [shown(*scoped, "--review", "--explain", answers="s\nn\nn\nn\nn\n")]
        told += [shown("forget", f"{bad}x", *scoped, answers="\n"), shown("reject", "a1", "b1", *place)]
        told += [shown(*scoped, answers="s\ny\n"), shown("reject", "--list", *place), shown("runs", *place)]
        told += [shown("undo", *place), shown("reject", "--list", *place)]
        told += [shown("reject", f"zz{bad}", "a1", *place), shown("undo", "nothing\x1b[31m", *place)]
    assert not leaks(told), "\n".join(leaks(told))


@given(bad=evil)
@example(bad=EVIL)
@SLOW
def test_graphs(bad: str, state: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("graph")
    file = folder / "memory.jsonl"
    lines = [
        entity(f"tabs{bad}", f"Uses {bad} tabs for indentation in Go code.", kind=f"pattern{bad}"),
        entity(f"tabs two{bad}", f"Uses {bad} tabs for indentation in Go code.", kind=f"pattern{bad}"),
        entity(f"no tabs{bad}", f"Never uses {bad} tabs for indentation in Go code.", kind=f"pattern{bad}"),
        entity(f"old{bad}", f"Looked {bad} at it.", "Discovered: 2020-01-01", "Used: 1 times"),
        relation(f"tabs two{bad}", f"nowhere{bad}", f"uses{bad}"),
        relation(f"tabs{bad}", f"old{bad}", f"uses{bad}"),
    ]
    write(file, lines)
    place = ["--store", "graph", "--file", str(file), "--state-dir", str(folder)]
    scoped = [*place, "--scorer", "keywords", "--max-delete", "1", "--now", NOW.isoformat()]
    told = [shown(*words, *scoped) for words in PASSES]
    told += [shown("attention", *place), shown("attention", "--focus", f"tabs {bad}", *place)]
    told += [shown("forget", "tabs", *scoped, answers="1\nn\n"), shown("reflect", "--memories", *place)]
    told += [shown(*scoped, "--relate", "--repair-relations", answers="s\ny\n"), shown("runs", *place)]
    told += [shown("reject", "--list", *place), shown("reflect", *place), shown("restore", f"x{bad}", *place)]
    told += [shown("undo", *place)]
    write(file, [*lines, f"{{broken {bad}"])
    told += [shown(*scoped, "--dry-run"), shown(*scoped, answers="y\n"), shown(*scoped, "--auto")]
    told += [shown("--repair", *scoped, answers="n\n")]
    assert not leaks(told), "\n".join(leaks(told))


NAMES = [char for char in EVIL if char not in "\x00/"]


def test_markdown_directories(state: Path, tmp_path: Path) -> None:
    bad = "".join(NAMES)
    folder = tmp_path / f"project{bad}" / f"notes{bad}"
    folder.mkdir(parents=True)
    same = f"Amounts {bad} are kept in cents, since floats lost money once."
    texts = {
        f"cents{bad}.md": same,
        "money.md": same,
        "gone.md": f"`Lru{bad}Cache` lives in `services/{bad}/lru.py` {bad}.",
        "tabs.md": f"Uses {bad} tabs for indentation in Go code.",
        "spaces.md": f"Never uses {bad} tabs for indentation in Go code.",
        "day.md": f"Yesterday {bad} the release was cut.",
    }
    for name, text in texts.items():
        (folder / name).write_text(f"---\nname: n{bad}\ndescription: d{bad}\ndate: 2026-01-05\n---\n{text}\n")
    (folder / "MEMORY.md").write_text(f"# Index {bad}\n\n- [x{bad}](nowhere{bad}.md) -- {bad}\n")
    (folder / f"link{bad}.md").symlink_to("/etc/hostname")
    empty = folder.parent / f"empty{bad}"
    empty.mkdir()
    place = ["--store", "md", "--root", str(folder.parent), "--state-dir", str(tmp_path / "state")]
    place += ["--memory-dir", str(folder), "--memory-dir", str(empty)]
    scoped = [*place, "--scorer", "keywords", "--max-delete", "1", "--now", NOW.isoformat()]
    told = [shown(*words, *scoped) for words in PASSES]
    told += [shown("forget", "cents", *scoped, answers="1\nn\n")]
    told += [shown(*scoped, "--only", "index", "--dry-run")]
    told += [shown(*scoped, answers="s\ns\ny\n"), shown("runs", *place), shown("reject", "--list", *place)]
    told += [shown("undo", *place), shown("undo", *place), shown(*scoped, "--auto")]
    told += [shown(*scoped, "--memory-dir", f"/nowhere{bad}")]
    assert not leaks(told), "\n".join(leaks(told))
