"""Whatever comes in by any door: it is read, or it is one sentence of ours, and never a traceback.

A few drawn examples of each door every time, many more by `make properties`.
"""

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from builders import NOW
from click.testing import CliRunner
from graph_world import session as graph_session
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_trees import MARKDOWN, MEMORY, look, open_session, write_tree
from mem0_dream.errors import DreamError, JournalError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.pipeline.cli.passes import review_of_file
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.pipeline.stores.base import ScopeFilter, Snapshot
from mem0_dream.pipeline.stores.jsonl import JsonlStore
from mem0_dream.pipeline.stores.mem0.config import load_config
from mem0_dream.pipeline.stores.mem0.rows import parse_memory
from mem0_dream.pipeline.stores.remote.services import PlatformStore, ServerStore
from mem0_dream.pipeline.stores.remote.store import Caller, Patience
from mem0_dream.pipeline.writing.journal import Journal
from mem0_dream.settings import Settings, read_settings
from reviewing import LIMITS, small_store, small_world

MANY = 15 if settings().derandomize else 300
few = settings(max_examples=MANY, suppress_health_check=list(HealthCheck), deadline=None)
TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["\ud800", "\x00", "9" * 5000, "[" * 3000, "9999-12-31", "0001-01-01T00:00:00+23:59", "null", "1e999", "\u202e", "a" * 3000]
    ),
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


def shaped(*keys):
    """An object that has some of the keys that one expects, and others, of any kind."""
    known = st.dictionaries(st.sampled_from(keys), VALUES, max_size=len(keys))
    return st.one_of(st.builds(lambda a, b: a | b, st.dictionaries(TEXTS, VALUES, max_size=2), known), VALUES)


def as_json(value):
    return json.dumps(value)


LINES = st.lists(
    st.one_of(
        st.binary(max_size=30),
        shaped("id", "memory", "metadata", "user_id", "created_at").map(as_json).map(str.encode),
    ),
    max_size=5,
)


@contextlib.contextmanager
def folder():
    made = Path(tempfile.mkdtemp())
    try:
        yield made
    finally:
        shutil.rmtree(made)


@contextlib.contextmanager
def one_sentence():
    """Anything but an error of ours goes through, and fails the test; ours is a line."""
    with contextlib.suppress(DreamError):
        yield


@few
@given(
    st.lists(
        st.one_of(
            MARKDOWN,
            st.binary(max_size=60),
            VALUES.map(
                lambda v: (
                    f"---\nname: {as_json(v)}\nmetadata: {as_json(v)}\ndate: {as_json(v)}\n---\nText of it.".encode()
                )
            ),
        ),
        max_size=3,
    )
)
def test_a_markdown_folder(files):
    with folder() as at, one_sentence():
        write_tree(at, {f"{MEMORY}/{number}.md": data for number, data in enumerate(files)})
        look(open_session(at, at / "state"))


def test_names_that_are_no_utf_8_and_links_to_themselves_are_left_out_in_words(tmp_path):
    write_tree(tmp_path, {f"{MEMORY}/a.md": "The build runs in Bern.\n"})
    place = tmp_path / MEMORY
    (place / "self.md").symlink_to("self.md")
    (place / "loop").symlink_to("loop")
    Path(os.fsdecode(bytes(place) + b"/\xff\xfe.md")).write_text("The build runs in Bern, too.\n")
    store = open_session(tmp_path, tmp_path / "state").store
    assert [memory.id for memory in store.read(ScopeFilter()).memories] == [f"{MEMORY}/a.md"]
    assert {reason[:17] for each in store.directories for _, reason in each.refused()} == {
        "cannot be looked ",
        "has a name that i",
    }
    done = CliRunner().invoke(main, ["md", str(tmp_path), "--dry-run", "--now", "2026-11-21"])
    assert (done.exit_code, done.exception) == (0, None)


@few
@given(LINES, st.sampled_from([b"\n", b",", b"\r\n"]))
def test_an_export(lines, mark):
    with folder() as at, one_sentence():
        (at / "e.jsonl").write_bytes(
            mark.join([as_json({"id": "a", "memory": "x", "metadata": "text"}).encode(), *lines])
        )
        store = JsonlStore(at / "e.jsonl")
        Session(store, settings=LIMITS, state_dir=at).propose(ScopeFilter(), now=NOW)


@few
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            shaped("type", "name", "entityType", "observations", "from", "to", "relationType")
            .map(as_json)
            .map(str.encode),
        ),
        max_size=5,
    )
)
def test_a_graph_file(lines):
    known = {"type": "entity", "name": "web", "entityType": "t", "observations": ["a b c"]}
    with folder() as at, one_sentence():
        (at / "m.jsonl").write_bytes(b"\n".join([*[as_json(known).encode()] * 6, *lines]))
        graph_session(at / "m.jsonl", at).propose(ScopeFilter(), now=NOW)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    state = tmp_path_factory.mktemp("plan")
    with Session(small_store(), settings=LIMITS, state_dir=state) as session:
        yield session, dump_plan(session.propose(ScopeFilter(), now=NOW))


def changed(text, number, key, value):
    lines = text.strip().split("\n")
    record = json.loads(lines[number % len(lines)])
    keys = [*sorted(record), "answer", "edited"]
    record[keys[key % len(keys)]] = value
    lines[number % len(lines)] = json.dumps(record)
    return "\n".join(lines)


@few
@given(st.integers(0, 99), st.integers(0, 99), VALUES)
def test_a_plan_file_and_the_answers_in_it(plan, number, key, value):
    session, text = plan
    with one_sentence():
        parse_plan(changed(text, number, key, value))
    with one_sentence():
        review_of_file(session, changed(text, number, key, value), now=NOW)


@few
@given(st.one_of(st.binary(max_size=60), VALUES.map(as_json).map(str.encode)))
def test_a_plan_file_of_anything(data):
    with one_sentence():
        parse_plan(data.decode("utf-8", "surrogateescape"))


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """The bytes of a journal with a run, its copies and an answer in it."""
    state = tmp_path_factory.mktemp("journal")
    with Session(small_store(), settings=LIMITS, state_dir=state) as session:
        session.apply(session.propose(ScopeFilter(), now=NOW), now=NOW, within_budget=False)
    with contextlib.closing(sqlite3.connect(state / "journal.db")) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (state / "journal.db").read_bytes()


@few
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=40),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_a_damaged_journal(journal, written, length):
    damaged = bytearray(journal)
    for place, byte in written:
        damaged[place % len(damaged)] = byte
    with folder() as at:
        end = len(damaged) if length is None else length % len(damaged)
        (at / "journal.db").write_bytes(damaged[:end])
        with one_sentence(), contextlib.closing(Journal(at)) as opened:
            for run in opened.runs():
                opened.changes(run.id)
                opened.outcomes(run.id)
                for change in opened.changes(run.id):
                    with contextlib.suppress(JournalError):
                        opened.snapshot(run.id, str(change.memory))
            opened.places()
            opened.answers("x")
        done = CliRunner().invoke(main, ["runs"], env={"MEM0_DREAM_STATE_DIR": str(at)})
        assert done.exit_code in (0, 2, 4, 6), done.exception


@few
@given(
    st.one_of(
        st.binary(max_size=60), shaped("mem0_dream", "vector_store", "embedder").map(as_json).map(str.encode)
    ),
    st.sampled_from(["c.yaml", "c.json", "c.toml"]),
)
def test_a_configuration(data, name):
    with folder() as at:
        (at / name).write_bytes(data)
        with one_sentence():
            read_settings(load_config(at / name).settings)
        with one_sentence():
            read_settings(Options(config=at / name).section())


@few
@given(st.dictionaries(st.sampled_from([*Settings.model_fields, "x"]), VALUES, max_size=4))
def test_the_settings(section):
    with one_sentence():
        read_settings(section)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: &a [x]\n"
        + "\n".join(
            f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]"
            for n in range(40)
        ),
        "[" * 100_000,
        "- " * 5000,
        "d: 2026-99-99",
    ],
)
def test_yaml_that_grows_or_nests_without_end_is_refused_in_words(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(DreamError, match="is no valid YAML"):
        load_config(tmp_path / "c.yaml")
    write_tree(tmp_path, {f"{MEMORY}/a.md": f"---\n{text}\n---\nThe build runs in Bern.\n"})
    seen = open_session(tmp_path, tmp_path / "state").store.read(ScopeFilter())
    assert [memory.text for memory in seen.memories] == ["The build runs in Bern."]


ROW = shaped("id", "data", "memory", "metadata", "user_id", "created_at", "updated_at", "expiration_date", "categories", "role", "linked_memory_ids", "synthesized", "replaced_by", "immutable")  # fmt: skip


@few
@given(
    st.dictionaries(
        st.sampled_from(
            ["data", "user_id", "created_at", "updated_at", "expiration_date", "categories", "pinned", "x"]
        ),
        VALUES,
    )
)
def test_a_row_of_mem0(payload):
    parse_memory(Snapshot("a", payload))


def service(kind, answer):
    client = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://127.0.0.1")
    return kind(
        client, Caller("The service", Patience(attempts=1, looks=1, timeout=5), sleep=lambda _: None), "f"
    )


@few
@given(
    st.sampled_from([PlatformStore, ServerStore]),
    st.lists(
        st.one_of(
            VALUES,
            shaped("results", "count", "next", "id", "type", "total_memories"),
            st.lists(ROW, max_size=2).map(lambda rows: {"results": rows, "count": len(rows), "next": None}),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_an_answer_of_a_service(kind, answers):
    given_out = iter(answers * 50)

    def answer(_request):
        return httpx.Response(200, content=as_json(next(given_out)).encode("utf-8", "surrogatepass"))

    store = service(kind, answer)
    with one_sentence():
        tuple(store.read(ScopeFilter()).memories)
    for ask in (lambda: store.fetch(["a"]), lambda: store.finds("a")):
        with one_sentence():
            ask()


@pytest.mark.parametrize("fresh", [True, False])
def test_pages_without_end_are_not_asked_for_without_end(fresh):
    asked = []

    def answer(request):
        asked.append(request)
        rows = [{"id": f"{len(asked) if fresh else 0}-{n}", "memory": "x"} for n in range(200)]
        return httpx.Response(200, json={"results": rows, "count": 300, "next": "more"})

    seen = service(PlatformStore, answer).read(ScopeFilter())
    assert len(asked) < 20
    assert seen.gaps


def test_an_answer_that_trickles_is_given_up(monkeypatch):
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr("mem0_dream.models.http.time.monotonic", lambda: next(clock))
    sent = []

    def drip():
        for _ in range(1000):
            sent.append(b" ")
            yield b" "

    class Dripping(httpx.SyncByteStream):
        def __iter__(self):
            return drip()

    store = service(PlatformStore, lambda _: httpx.Response(200, stream=Dripping()))
    with pytest.raises(DreamError, match="did not answer"):
        store.read(ScopeFilter())
    assert len(sent) < 10


@few
@given(
    st.sampled_from(
        [
            "--now",
            "--wait",
            "--max-delete",
            "--scorer",
            "--only",
            "--workers",
            "--recall-check",
            "--hygiene",
            "--second-opinion",
        ]
    ),
    TEXTS.filter(lambda text: "\x00" not in text),
)
def test_an_option(option, value):
    with folder() as at:
        write_tree(at, {f"{MEMORY}/a.md": "The build runs in Bern.\n"})
        (at / "c.yaml").write_text(f"mem0_dream:\n  stale_after: {as_json(value)}\n")
        for words in (
            ["md", str(at), "--dry-run", option, value],
            ["md", str(at), "--dry-run", "--config", str(at / "c.yaml")],
        ):
            done = CliRunner().invoke(main, words, env={"MEM0_DREAM_STATE_DIR": str(at / "state")})
            assert done.exit_code in range(10), done.exception
            assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    pytest.importorskip("starlette")
    from mem0_dream.pipeline.web.app import Gate, review_app
    from mem0_dream.pipeline.web.desk import ReviewDesk, ReviewObserver
    from starlette.testclient import TestClient

    with ThreadPoolExecutor(max_workers=1) as executor:
        gate = Gate(41234)
        opened = executor.submit(
            ReviewDesk, small_world(tmp_path_factory.mktemp("desk")).access(), ReviewObserver()
        ).result()
        client = TestClient(
            review_app(opened, gate, ReviewObserver(), executor), base_url="http://127.0.0.1:41234"
        )
        client.get("/", params={"token": gate.token})
        secrets = {"X-Dream-Token": gate.token, "X-CSRF-Token": gate.csrf, "X-Dream-Seat": gate.seat}
        client.headers.update(
            {"Origin": "http://127.0.0.1:41234", "Content-Type": "application/json", **secrets}
        )
        yield client


PATHS = ("answer", "answers", "withdraw", "pin", "check", "preview", "undo", "resume", "forget", "apply")


@few
@given(
    st.sampled_from(PATHS),
    st.one_of(
        st.binary(max_size=30),
        shaped("key", "keys", "say", "text", "id", "pinned", "digest", "run", "action", "number", "over")
        .map(as_json)
        .map(str.encode),
    ),
)
def test_a_request_of_the_review_page(desk, path, body):
    answer = desk.post(f"/{path}", content=body)
    assert answer.status_code < 500


@pytest.mark.parametrize("path", ["answers", "withdraw"])
def test_keys_that_are_none_are_refused(desk, path):
    assert desk.post(f"/{path}", content=b'{"keys": null, "say": "accept"}').status_code == 400


@few
@given(
    st.sampled_from(
        [
            "dream_plan",
            "dream_explain",
            "dream_status",
            "dream_check",
            "dream_answer",
            "dream_apply",
            "dream_undo",
        ]
    ),
    shaped("plan_id", "answers", "scope", "run", "memory", "text", "limit", "a", "b"),
)
def test_the_arguments_of_a_tool(agents, name, arguments):
    answer = agents(name, arguments if isinstance(arguments, dict) else {"plan_id": arguments})
    assert "Traceback" not in answer


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    import anyio
    from mcp import Client
    from mem0_dream.pipeline.mcp.server import DreamServer
    from reviewing import small_world, tools_of

    state = tmp_path_factory.mktemp("agent")
    world = small_world(state)

    def ask(name, arguments):
        async def run():
            async with Client(DreamServer(tools_of(world, state))) as client:
                result = await client.call_tool(name, json.loads(json.dumps(arguments, default=str)))
                return getattr(result.content[0], "text", "") if result.content else ""

        return anyio.run(run)

    return ask


@pytest.mark.parametrize("full", ["make_private", "keep_entry", "digest"])
def test_a_full_disk_in_a_pass_over_a_graph_is_one_sentence(tmp_path, monkeypatch, full):
    def refuse(*_given, **_more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "m.jsonl"))

    entity = {"type": "entity", "name": "web", "entityType": "t", "observations": ["CI runs on Jenkins."] * 2}
    (tmp_path / "m.jsonl").write_text(as_json(entity))
    monkeypatch.setattr(f"mem0_dream.pipeline.stores.graph.store.{full}", refuse)
    words = ["graph", str(tmp_path / "m.jsonl"), "--auto", "--now", "2026-11-21"]
    done = CliRunner().invoke(main, words, env={"MEM0_DREAM_STATE_DIR": str(tmp_path / "state")})
    assert done.exit_code == (4 if full != "keep_entry" else 0), done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.stderr
