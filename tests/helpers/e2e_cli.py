"""The command line in one process, on a store in memory; shared by the tests of its commands."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import BOB, memory
from click.testing import Result
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.reporting.text import clip
from mem0_dream.testing import InMemoryStore
from typed import run

TABS, NO_TABS = "Uses tabs for indentation in Go code.", "Never uses tabs for indentation in Go code."
MARATHON = "Runs the Leeds marathon every spring with the Otley harriers club"
FUSED = f"{MARATHON}. Wears carbon shoes. Trains on hills."
ALICE = ("--user-id", "alice")
OWN = "{scorer: keywords, assume_unread: true}"
"""Age counts as in the original skill; what an unattended run does by itself has tests of its own."""
REPORT = f"""\
## dream — consolidation report

Merges (2):
[memory:dog2] + [memory:dog1] -> "Has a brindle whippet named Pickle."
    goes: [memory:dog1] 2026-10-22  Has a whippet named Pickle.
[memory:run1] + [memory:run2] -> "{clip(FUSED)}"
    goes: [memory:run1] 2026-11-11  [Trains on hills.] {MARATHON}.
    goes: [memory:run2] 2026-11-11  {MARATHON}. Wears carbon shoes.
    new: {FUSED}
Conflicts (1):
[memory:tabs1] vs [memory:tabs2] — "tabs for indentation in Go code" [A/B/skip]
    A: [memory:tabs1] 2026-08-23  {TABS}
    B: [memory:tabs2] 2026-11-18  [Never] uses tabs for indentation in Go code. (newer, likely to hold)
Prunes (2):
[memory:bug] — note, 10d old
    Fixed bug
[memory:tap] — todo, 400d old
    Is looking for a plumber in Leeds for the kitchen tap.
"""
PROPOSAL = "Proposed: 2 merges, 2 prunes, 1 conflict."
SIDES = (
    f"  A: [memory:tabs1] 2026-08-23  {TABS}\n"
    "  B: [memory:tabs2] 2026-11-18  [Never] uses tabs for indentation in Go code. (newer, likely to hold)\n"
    "  One denies what the other says: only B says *Never*.\n"
)
QUESTION = '[memory:tabs1] vs [memory:tabs2] — "tabs for indentation in Go code" [A/B/still/skip] '
NOTHING_STORED = "No memories found. Nothing to consolidate.\n"
NOTHING_FOUND = "Dream complete. No duplicate, contradictory, or stale memories found.\n"


def messy_store() -> InMemoryStore:
    """Two merges, one of them fused, a conflict, two prunes, bystanders of two users."""
    return InMemoryStore(
        [
            memory("dog1", "Has a whippet named Pickle.", days=30),
            memory("dog2", "Has a brindle whippet named Pickle.", days=20),
            memory("run1", f"Trains on hills. {MARATHON}."),
            memory("run2", f"{MARATHON}. Wears carbon shoes."),
            memory("tabs1", TABS, days=90),
            memory("tabs2", NO_TABS, days=3),
            memory("bug", "Fixed bug"),
            memory(
                "tap", "Is looking for a plumber in Leeds for the kitchen tap.", days=400, category="todo"
            ),
            memory("pin", "[PINNED] Fixed bug", pinned=True, days=900),
            memory("blood", "Blood type O-"),
            memory("choir", "Sings alto in the cathedral choir every Thursday."),
            memory("desk", "Bought a standing desk made of ash wood."),
            memory("rust", "Rewrites the ingestion service in Rust this quarter."),
            memory("train", "Takes the 7:42 train to Manchester."),
            memory("olive", "Planted two olive trees behind the garage."),
            memory("emil", "Plays chess on Sundays with neighbour Emil."),
            memory("tea", "Drinks Assam tea without sugar before noon."),
            memory("bob", "Has a whippet named Pickle.", scope=BOB),
        ]
    )


def run_named_in(sentence: str) -> str:
    return sentence.partition("Run ")[2].split()[0]


Invoke = Callable[..., Result]


@pytest.fixture
def store() -> InMemoryStore:
    return messy_store()


@pytest.fixture
def dream(store: InMemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    config = tmp_path / "mem0.yaml"
    config.write_text(f"vector_store: {{provider: qdrant}}\nmem0_dream: {OWN}\n")
    monkeypatch.setattr("mem0_dream.pipeline.stores.open_store", lambda _config, **_: store)

    def invoke(*arguments: str, answers: str = "", code: int = 0, settings: str = "") -> Result:
        if settings:
            section = settings.replace("{", f"{OWN[:-1]}, ", 1) if "scorer" not in settings else settings
            config.write_text(f"vector_store: {{provider: qdrant}}\nmem0_dream: {section}\n")
        return run([*arguments, "--config", str(config)], answers=answers, code=code)

    return invoke


def went_away(_change: object) -> None:
    raise StoreError("The store went away.")


def living(store: InMemoryStore) -> set[str]:
    return {name for name, row in store.rows.items() if row["expires_on"] is None}


def whole(store: InMemoryStore) -> str:
    return json.dumps([store.rows, store.vectors], sort_keys=True)
