"""No fact that stays drops out of the answers of a search, or the merge that does it is left out and named."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import ALICE, BOB, NOW, memory, state
from e2e_cli import ALICE as USER
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Member, Merge, Plan, Prune, ScopeTotal
from mem0_dream.pipeline.planning.recall import TOP, checked
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, InMemoryStore

CROWD = [memory(f"z{number}", f"crowd {number}") for number in range(TOP + 2)]


def encode(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """On a circle: the angle in degrees stands behind an @; the crowd is at 1 degree and beyond."""
    angles = [
        np.radians(float(text.split("@")[1]) if "@" in text else 1 + int(text.split()[1]) / 100)
        for text in texts
    ]
    return np.array([[np.cos(angle), np.sin(angle)] for angle in angles], dtype=np.float32)


def merge(text: str, *members: Memory, survivor: str | None = None) -> Merge:
    return Merge(
        id="m1", scope=members[0].scope, category="note", text=text, survivor=survivor,
        members=tuple(Member.of(member) for member in members),
    )  # fmt: skip


def check(action: Merge | Prune, memories: Sequence[Memory], *, questions: int = 100, **more: Any) -> Plan:
    plan = Plan("s", "memory", NOW, "fake", (ScopeTotal(ALICE, len(memories)),), (action,))
    return checked(plan, memories, encode=encode, questions=questions, accessed=more.get("accessed", {}))


A, B = memory("a", "fact @0"), memory("b", "fact @0.5")


@pytest.mark.parametrize(
    ("action", "stays"),
    [
        (merge("fact @0", A, B, survivor="a"), True),  # a merged memory counts as found by its survivor
        (merge("fact @0.2", A, B), True),
        (merge("fact @40", A, B), False),  # a new memory that takes the place of all is looked for, too
        (Prune(id="p1", scope=ALICE, category="note", members=(Member.of(A),), reason="stale"), True),
    ],
    ids=["a survivor", "a new memory near by", "a new memory far off", "what goes for good"],
)
def test_only_what_hides_a_fact_is_left_out(action: Merge | Prune, *, stays: bool) -> None:
    found = check(action, [A, B, *CROWD])
    assert (found.actions, found.notes == ()) == ((action,) if stays else (), stays)


def test_new_texts_that_push_another_fact_out_are_left_out() -> None:
    """Ten answers hold no more: nine texts that rise above a fact hide it, though nothing touched it."""
    near = [memory("n0", "near @0"), memory("n1", "near @0.2"), memory("n2", "near @0.3")]
    far = [(memory(f"f{n}", f"far @{60 + n}"), memory(f"g{n}", f"far @{60.5 + n}")) for n in range(9)]
    rising = [
        replace(merge(f"far @{n / 100}", *pair, survivor=pair[0].id), id=f"m{n}")
        for n, pair in enumerate(far)
    ]
    everything = [*near, *(each for pair in far for each in pair)]
    plan = Plan("s", "memory", NOW, "fake", (ScopeTotal(ALICE, len(everything)),), tuple(rising))
    found = checked(plan, everything, encode=encode, questions=100, accessed={})
    pushed = {note.split()[2] for note in found.notes if "memory n0" in note or "memory n1" in note}
    assert pushed
    assert not pushed & {action.id for action in found.actions}


@pytest.mark.parametrize(("text", "degrees", "losses"), [(40, 90, 0), (20, -70, 0), (20, -60, 1)])
def test_what_was_read_last_is_asked_first_and_what_is_far_from_the_question_is_no_answer(
    text, degrees, losses
):
    """One question is not enough to see the other loss."""
    memories = [A, B, *CROWD, memory("q", f"fact @{degrees}")]
    action = merge(f"fact @{text}", A, B, survivor="a")
    assert len(check(action, memories, questions=1, accessed={"q": NOW}).notes) == losses
    told = check(merge("fact @40", A, B, survivor="a"), memories, questions=1).notes
    assert degrees < 0 or told[0].endswith(("memory a says.", "memory b says."))


def test_a_merged_text_far_from_both_is_left_out_and_named_whatever_the_order() -> None:
    """Twelve others of the same scope are nearer to the question than what the fact would read."""
    action = merge("fact @40", A, B, survivor="a")
    theirs = [replace(each, id=f"bob-{each.id}", scope=BOB) for each in CROWD]
    assert check(action, [A, B, *theirs]).notes == ()
    found = check(action, [A, B, *CROWD])
    assert (found.actions, found) == ((), check(action, [A, B, *CROWD][::-1]))
    told = "Recall check: m1 is left out, since memory a would drop out of the 10 best answers to what memory"
    assert found.notes in [(f"{told} {question} says.",) for question in "ab"]


class Far(FakeEncoder):
    name = "far"

    def encode(self, texts: Sequence[str]) -> Any:
        """Both halves at 0 degrees, what they become at 40, everything else at 1."""
        fused = [sum(word in text for word in ("Trains on", "Runs the", "carbon")) for text in texts]
        return encode([f"x @{(1, 1, 0, 40)[count]}" for count in fused])


def fused_store() -> InMemoryStore:
    run = "Runs the Leeds marathon every spring with the Otley harriers club"
    rows = [memory("run1", f"Trains on hills. {run}."), memory("run2", f"{run}. Wears carbon shoes.")]
    return InMemoryStore(
        [*rows, *(memory(f"z{n}", f"Crowd number {n} says something else.") for n in range(12))]
    )


def session(store: InMemoryStore, path: Path, **settings: Any) -> Session:
    limits = Settings(scorer="keywords", **settings)
    return Session(store, settings=limits, state_dir=state(path), encoder=Far())


@pytest.mark.parametrize(
    ("given", "unattended", "kept"), [(None, True, 0), (None, False, 1), (0, True, 1), (9, False, 0)]
)
def test_an_unattended_session_checks_by_itself(tmp_path: Path, given, unattended, kept) -> None:
    with session(fused_store(), tmp_path, recall_check=given) as found:
        plan = found.propose(ScopeFilter(), now=NOW, unattended=unattended)
    assert len(plan.merges) == kept


def test_through_the_command_line_a_loss_is_told(dream, store, monkeypatch):
    said = "Crowd number {} says something else altogether here."
    extra = InMemoryStore([memory(f"z{number}", said.format(number)) for number in range(12)])
    store.rows |= extra.rows
    store.vectors |= extra.vectors
    monkeypatch.setattr("mem0_dream.models.registry.load_encoder", lambda *_a, **_k: Far())
    shown = dream("--dry-run", "--recall-check", "100", *USER)
    assert "Recall check: m2 is left out" in shown.stderr
    told = dream("--auto", "--only", "merges", *USER)
    assert "Recall check: m2 is left out" in told.stderr
    assert "merged=1" in told.stdout
    assert {"run1", "run2"} <= store.rows.keys()


def test_the_library_checks_too(tmp_path: Path, monkeypatch: Any) -> None:
    store = fused_store()
    monkeypatch.setattr("mem0_dream.pipeline.consolidation.Session", lambda s, **_: session(s, tmp_path))
    found = consolidate(store, all_scopes=True, apply=True, now=NOW)
    assert found.plan.merges == ()
    assert found.plan.notes[0].startswith("Recall check: m1")
