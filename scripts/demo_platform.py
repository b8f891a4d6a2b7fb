"""A night on the hosted platform, without one: `make demo-platform`, or `python scripts/demo_platform.py`.

The memories of `make demo` stand in a double of mem0's platform, served over real HTTP on this machine and
asked by mem0's own client. The platform is busy and its line is bad: some requests get 429, some get 500,
some are carried out while the answer is lost. At the end the store is compared with what an undo promises.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from mem0_dream.pipeline.stores.remote.rows import memory_of
from mem0_dream.testing_http import Fault, LoopbackServer, Request
from mem0_dream.testing_platform import PlatformDouble

ROOT = Path(__file__).resolve().parent.parent
MEMORIES = ROOT / "scripts" / "data" / "demo_memories.json"
NOON = "T12:00:00+00:00"
FAULTS = {11: Fault.LIMIT, 23: Fault.RESET, 37: Fault.ERROR, 53: Fault.TRUNCATE, 71: Fault.DROP}
"""What befalls every request of which the number, modulo 89, is named here."""
SETTINGS = {"retention": {"session_state": "90d"}, "remote": {"per_minute": 6000, "first_wait": 0.05}}
Content = Counter[tuple[str, ...]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 only if everything came back that was promised."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scorer", help="another scorer than the default one")
    options = parser.parse_args(arguments)
    content = json.loads(MEMORIES.read_text(encoding="utf-8"))
    double = filled(content)
    with LoopbackServer(double) as server, tempfile.TemporaryDirectory() as folder:
        server.fault = lambda number, _request: FAULTS.get(number % 89)
        server.retry_after = "0.1"
        os.environ |= {
            "MEM0_API_KEY": double.key,
            "MEM0_DIR": str(Path(folder) / "mem0"),
            "MEM0_TELEMETRY": "False",
            "MEM0_DREAM_STATE_DIR": str(Path(folder) / "state"),
            "TQDM_DISABLE": "1",
            "HF_HUB_OFFLINE": "1",
        }
        config = Path(folder) / "dream.yaml"
        judge = {"scorer": options.scorer} if options.scorer else {}
        config.write_text(json.dumps({"mem0_dream": SETTINGS | judge}), encoding="utf-8")
        return journey(double, server, ("--host", server.url, "--config", str(config)), now=content["now"])


def filled(content: dict[str, object]) -> PlatformDouble:
    """The memories of the other demonstration, as the platform holds them."""
    double = PlatformDouble()
    owners, memories = content["owners"], content["memories"]
    assert isinstance(owners, dict)  # noqa: S101  (our own file)
    assert isinstance(memories, list)  # noqa: S101
    for item in memories:
        metadata = {"pinned": True} if item.get("pinned") else {}
        if "accessed" in item:
            metadata["last_accessed_at"] = item["accessed"] + NOON
        double.put(
            item["text"],
            created_at=datetime.fromisoformat(item["created"] + NOON),
            metadata=metadata,
            categories=[item["category"]],
            expiration_date=item.get("expires"),
            **owners[item["owner"]],
        )
    return double


def journey(double: PlatformDouble, server: LoopbackServer, place: tuple[str, ...], *, now: str) -> int:
    """See, retire, take back; delete, take back; compare."""
    before, ids = shown(double), set(double.rows)
    print(f"{len(ids)} memories on {server.url}, a double of mem0's platform")
    everything = (*place, "--all", "--now", now)
    say("1. See every change first")
    dream("platform", *everything, "--dry-run")
    failures = [] if shown(double) == before else ["a dry run changed something"]
    say("2. Retire instead of deleting: every id stays")
    dream("platform", *everything, "--auto", "--retire", "--max-delete", "0.5")
    failures += [] if set(double.rows) == ids else ["--retire deleted something"]
    failures += [] if shown(double) != before else ["--retire changed nothing, so undo proves nothing"]
    dream("undo", "--store", "platform", *place)
    failures += [] if shown(double) == before and set(double.rows) == ids else ["not all came back"]
    say("3. Delete, as a nightly job may; what an undo cannot give back is said first")
    dream("reject", "--forget", newest_run(place), "--store", "platform", *place)
    dream("platform", *everything, "--auto", "--max-delete", "0.5")
    gone = len(ids) - len(double.rows)
    failures += [] if gone > 0 else ["nothing was deleted, so undo proves nothing"]
    dream("runs", "--store", "platform", *place)
    dream("undo", "--store", "platform", *place)
    failures += [] if shown(double) == before else ["not all came back after deletions"]
    say("4. Proof")
    return told(server, failures, gone=gone)


def told(server: LoopbackServer, failures: Sequence[str], *, gone: int) -> int:
    """Say what happened on the line and to the store."""
    total = len(server.requests)
    hit = Counter(FAULTS[number % 89] for number in range(total) if number % 89 in FAULTS)
    print(f"{total} requests; of these:")
    for fault, count in sorted(hit.items()):
        print(f"  {count:>3}  {fault}")
    asked = Counter(kind(request) for request in server.requests)
    print(", ".join(f"{count} {name}" for name, count in asked.most_common()))
    if failures:
        print(f"FAILED: {'; '.join(failures)}.")
        return 1
    print(f"{gone} memories were deleted and came back: texts, scopes, dates, metadata and expiry days,")
    print("under new ids, as was said before. After --retire the ids were the same, too.")
    return 0


def kind(request: Request) -> str:
    """What a request was for."""
    names = {"/v3/memories/": "pages", "/v3/memories/search/": "searches", "/v3/memories/add/": "additions"}
    verbs = {"PUT": "changes", "DELETE": "deletions", "GET": "looks"}
    return names.get(request.path) or verbs[request.method]


def newest_run(place: tuple[str, ...]) -> str:
    """The name of the run that was just taken back: what a person took back is not done again."""
    words = [str(executable()), "runs", "--json", "--store", "platform", *place]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return str(json.loads(done.stdout)[0]["run"])


def shown(double: PlatformDouble) -> Content:
    """All that an undo promises: everything but ids."""
    rows = [{**row, "session_id": row.get("run_id"), "categories": None} for row in double.rows.values()]
    return Counter(
        tuple(
            str(part)
            for part in (
                memory.text,
                memory.scope,
                memory.created_at,
                memory.updated_at,
                memory.expires_on,
                sorted(memory.metadata.items()),
            )
        )
        for memory in map(memory_of, rows)
    )


def dream(*arguments: str) -> None:
    """Run the command line as a process, and print its line before."""
    print(f"$ {shlex.join(['mem0-dream', *arguments])}", flush=True)
    subprocess.run([str(executable()), *arguments], check=True)


def executable() -> Path:
    """The installed command beside the interpreter that runs this program."""
    return Path(sys.executable).with_name("mem0-dream")


def say(heading: str) -> None:
    """A heading."""
    print(f"\n=== {heading}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
