"""Whose fact it is, by what a pass does unattended: 100 pairs that become one, and 100 that never may.

A row of `whose.tsv`: "merge" or "never", the ids of the scope ("-" for a user without a name), two memories, and what
else their scope holds, parted by bars ("-" for nothing).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from builders import NOW, memory
from graph_world import FileMedium, GraphStore, entity, write
from markdown_trees import MEMORY, open_store, write_tree
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Merge, Plan, Resolve
from mem0_dream.pipeline.stores.base import ScopeFilter, Store
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import InMemoryStore

TABLE = Path(__file__).with_name("whose.tsv").read_text(encoding="utf-8")
FEWEST = 70  # of the hundred that say the same of the same one


class Row(NamedTuple):
    wanted: str
    ids: str
    a: str
    b: str
    beside: str = "-"

    def memories(self, number: int) -> list[Memory]:
        """Its memories, in a scope of their own."""
        given = dict(part.split("=") for part in self.ids.split(",") if self.ids != "-")
        scope = Scope.of(**{"user_id": f"u{number}"} if self.ids == "-" else given, run_id=f"r{number}")
        beside = self.beside.split(" || ") if self.beside != "-" else []
        texts = [("a", self.a), ("b", self.b), *((f"c{at}", text) for at, text in enumerate(beside))]
        return [replace(memory(f"{number}-{name}", text, days=20), scope=scope) for name, text in texts]


ROWS = [Row(*line.split("\t")) for line in TABLE.splitlines()]


def planned(store: Store, state: Path, *, unattended: bool) -> Plan:
    session = Session(store, state_dir=state)
    try:
        return session.look(ScopeFilter(), now=NOW, unattended=unattended, say=lambda _: None).plan
    finally:
        session.release()


def unattended(rows: Sequence[Row], state: Path) -> list[str]:
    """What a pass does with both memories of each row, or would ask about them."""
    store = InMemoryStore([each for number, row in enumerate(rows) for each in row.memories(number)])
    plan = planned(store, state, unattended=True)
    found = ["apart"] * len(rows)
    for action in (*plan.actions, *plan.unsure):
        asked = "asked" if action in plan.unsure else "done"
        ends = Counter(member.id.split("-")[0] for member in action.members if member.id[-1] in "ab")
        for number in (int(name) for name, count in ends.items() if count == 2):
            kind = (
                "conflict"
                if isinstance(action, Resolve)
                else "merge"
                if isinstance(action, Merge)
                else "other"
            )
            found[number] = f"{kind} {asked}"
    return found


@pytest.mark.model
def test_a_pass_merges_what_is_said_of_one_and_never_what_is_said_of_two(tmp_path: Path) -> None:
    assert Counter(row.wanted for row in ROWS) == {"merge": 100, "never": 100}
    found = list(zip(ROWS, unattended(ROWS, tmp_path), strict=True))
    assert [row for row, said in found if row.wanted == "never" and said == "merge done"] == []
    merged = [row for row, said in found if row.wanted == "merge" and said == "merge done"]
    assert len(merged) >= FEWEST


DISTINCT = (
    Row("apart", "-", "User has a peanut allergy.", "Max has a peanut allergy.", "Max is the user's son."),
    Row("apart", "-", "I live in Rotterdam.", "Piet lives in Ghent."),
    Row("apart", "-", "Has a peanut allergy.", "User's son Max has a peanut allergy."),
    Row("apart", "-", "User speaks Danish.", "The assistant speaks Danish."),
    Row("apart", "agent_id=desk", "The user pays 45 days net.", "Vellum pays 60 days net."),
    Row("apart", "-", "User deploys on Tuesdays.", "The platform team deploys on Fridays."),
)


@pytest.mark.model
def test_what_is_known_of_another_is_neither_asked_about_nor_a_conflict(tmp_path: Path) -> None:
    assert dict(zip(DISTINCT, unattended(DISTINCT, tmp_path), strict=True)) == dict.fromkeys(
        DISTINCT, "apart"
    )


def shown(plan: Plan) -> list[str]:
    """The kinds of all merges and conflicts that a plan does or asks about."""
    return [
        type(each).__name__ for each in (*plan.actions, *plan.unsure) if isinstance(each, Merge | Resolve)
    ]


SAID = "Has a severe peanut allergy and carries an injector."
FILES = {
    "title": (
        {"a": f"# About the user\n\n- {SAID}\n- Likes cats.\n", "b": f"# Max\n\n- {SAID}\n- Likes dogs.\n"},
        [],
    ),
    "section": ({"people": f"# People\n\n## User\n\n- {SAID}\n\n## Max\n\n- {SAID}\n"}, []),
    "prose": (
        {"a": f"# User\n\n{SAID}\n\nLives in Faro.\n", "b": f"# Max\n\n{SAID}\n\nLives in Ghent.\n"},
        [],
    ),
    "one": (
        {"a": f"# Max\n\n- {SAID}\n- Likes cats.\n", "b": f"# Max\n\n- {SAID}\n- Likes tea.\n"},
        ["Merge"],
    ),
}


@pytest.mark.model
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(("files", "expected"), FILES.values(), ids=FILES)
def test_a_heading_says_whose_fact_stands_below_it(tmp_path: Path, files, expected, alone) -> None:
    write_tree(tmp_path, {f"{MEMORY}/{name}.md": text for name, text in files.items()})
    plan = planned(open_store(tmp_path, tmp_path / "state"), tmp_path / "state", unattended=alone)
    assert shown(plan) == expected


def graph_plan(lines: Iterable[str], folder: Path) -> Plan:
    (folder / "state").mkdir()
    write(folder / "memory.jsonl", lines)
    store = GraphStore(FileMedium(folder / "memory.jsonl"), state=folder / "state")
    return planned(store, folder / "state", unattended=False)


@pytest.mark.model
def test_an_entity_is_whom_its_observations_are_about(tmp_path: Path) -> None:
    others = [
        entity("default_user", SAID, "Lives in Rotterdam since 2019", kind="person"),
        entity("Max", SAID, "Has lived in Ghent since 2019", "Is the user's son", kind="person"),
        entity("family", "User has a severe peanut allergy", "Max has a severe peanut allergy"),
    ]
    assert shown(graph_plan(others, tmp_path)) == []
