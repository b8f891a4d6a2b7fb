"""A scope of which nothing changed is not planned again, and the plan is the one it would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import mem0_dream
import pytest
from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, NOW, memory, state
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mem0_dream.models.scorer import PairInput, PairScores
from mem0_dream.pipeline.judging.cache import Cache
from mem0_dream.pipeline.judging.inventory import Circumstances
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.planning.unchanged import Planning, planned, sources, until
from mem0_dream.pipeline.rules.stale import is_stale
from mem0_dream.records import Inventory, Memory, Scope
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

CAROL = Scope.of(user_id="carol")
HOUR = timedelta(hours=1)
LIMITS = Settings(floor=-1.0)


class Counting(FakeScorer):
    """Tea is a duplicate of tea, and contradicts coffee."""

    def __init__(self) -> None:
        super().__init__(default=self.say)

    @staticmethod
    def say(a: str, b: str) -> tuple[float, float, float]:
        """By what they drink."""
        drinks = [{drink for drink in ("tea", "coffee") if drink in text} for text in (a, b)]
        if not all(drinks):
            return (0.0, 0.0, 1.0)
        return DUPLICATE if drinks[0] == drinks[1] else CONTRADICTION

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        return super().score(pairs)


def plan(
    memories: Sequence[Memory], folder: Path, *, now: datetime = NOW, limits: Settings = LIMITS, **told: Any
) -> tuple[Plan, int]:
    """The plan, and how many pairs were judged for it."""
    scorer = Counting()
    planning = Planning(
        kind="memory", encoder=FakeEncoder(), scorer=scorer, settings=limits,
        circumstances=Circumstances(now=now, **told), in_place=False, amend=False,
    )  # fmt: skip
    found = planned(
        Inventory("s", tuple(sorted(memories, key=lambda m: m.id))), planning, Cache(state(folder))
    )
    return found, len(scorer.asked)


def afresh(memories: Sequence[Memory], path: Path, **told: Any) -> Plan:
    """The plan that nobody remembers anything for."""
    return plan(memories, path / f"fresh-{len(list(path.iterdir())) if path.exists() else 0}", **told)[0]


def drinkers(scope: Scope) -> list[Memory]:
    """A conflict, and bystanders, in one scope."""
    name = scope.get("user_id")
    return [
        memory(f"{name}-1", f"Drinks tea at {name}'s desk every morning", scope=scope),
        memory(f"{name}-2", f"Drinks coffee at {name}'s desk every morning", scope=scope, days=5),
        memory(f"{name}-3", f"Keeps {name}'s bicycle in the cellar", scope=scope),
    ]


MEMORIES = [*drinkers(ALICE), *drinkers(BOB), *drinkers(CAROL)]


def test_a_second_pass_judges_nothing_and_proposes_the_same(tmp_path: Path) -> None:
    """Conflicts that stand are still told."""
    first, judged = plan(MEMORIES, tmp_path)
    second, again = plan(MEMORIES, tmp_path)
    assert judged > 0
    assert again == 0
    assert second == first
    assert len(second.conflicts) == 3


def test_only_the_scope_that_changed_is_judged(tmp_path: Path) -> None:
    """And all are told, named and numbered as if planned at once."""
    plan(MEMORIES, tmp_path / "a")
    more = [*MEMORIES, memory("bob-0", "Drinks tea in the garden of Bob's house", scope=BOB)]
    found, judged = plan(more, tmp_path / "a")
    _, alone = plan([m for m in more if m.scope == BOB], tmp_path / "b")
    assert judged == alone > 0
    assert found == afresh(more, tmp_path / "c")


CHANGES: dict[str, Mapping[str, Any]] = {
    "text": {"text": "Drinks tea in the garden"},
    "category": {"category": "other"},
    "updated": {"updated_at": NOW - timedelta(days=1)},
    "accessed": {"accessed_at": NOW - timedelta(days=1)},
    "pinned": {"pinned": True},
    "metadata": {"metadata": {"account": "Acme"}},
    "expiry": {"expires_on": NOW.date() + timedelta(days=9)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_in_a_memory_is_planned(tmp_path: Path, change: str) -> None:
    """Every field of it."""
    plan(MEMORIES, tmp_path / "a")
    changed = [replace(MEMORIES[0], **CHANGES[change]), *MEMORIES[1:]]
    found, judged = plan(changed, tmp_path / "a")
    assert found == afresh(changed, tmp_path / "c")
    assert judged > 0


@pytest.mark.parametrize(
    "told",
    [
        {"rejected": frozenset({"x"})},
        {"accessed": {"alice-1": NOW}},
        {"tracked": frozenset({"alice-1"})},
        {"unattended": True},
        {"hygiene": frozenset({"greeting"})},
        {"limits": Settings(floor=-1.0, min_words=6)},
    ],
    ids=str,
)
def test_whatever_changes_around_them_is_planned(tmp_path: Path, told: dict[str, Any]) -> None:
    """A refusal, a read, a setting, whether somebody looks on."""
    plan(MEMORIES, tmp_path)
    assert plan(MEMORIES, tmp_path, **told)[1] > 0


def test_a_memory_becomes_stale_on_its_day(tmp_path: Path) -> None:
    """Nothing else changed, and the remembered plan no longer holds."""
    ages = [*MEMORIES, memory("old", "Looks for a plumber in Leeds", days=179.5)]
    for hours, pruned in ((0, 0), (11, 0), (13, 1)):
        found, _ = plan(ages, tmp_path / "a", now=NOW + hours * HOUR)
        assert len(found.prunes) == pruned
        assert found == afresh(ages, tmp_path / "c", now=NOW + hours * HOUR)


def test_an_expiry_and_a_future_date_come_to_pass(tmp_path: Path) -> None:
    """What the store hides by then is gone from the plan; what begins to count is in it."""
    ending = [replace(MEMORIES[0], expires_on=NOW.date()), *MEMORIES[1:]]
    assert len(plan(ending, tmp_path / "a")[0].conflicts) == 3
    assert len(plan(ending, tmp_path / "a", now=NOW + 13 * HOUR)[0].conflicts) == 2
    future = [replace(m, created_at=NOW + HOUR, updated_at=NOW + HOUR) for m in MEMORIES[:1]]
    later = NOW + timedelta(days=181)
    plan(future, tmp_path / "b")
    assert len(plan(future, tmp_path / "b", now=later)[0].prunes) == 1


def test_an_earlier_moment_is_planned_afresh(tmp_path: Path) -> None:
    """A remembered plan says nothing about the past."""
    plan(MEMORIES, tmp_path)
    assert plan(MEMORIES, tmp_path, now=NOW - HOUR)[1] > 0


def test_a_plan_that_tells_ages_is_not_kept(tmp_path: Path) -> None:
    """Tomorrow it would tell yesterday's."""
    aged = [*MEMORIES, memory("old", "Looks for a plumber in Leeds", days=400)]
    plan(aged, tmp_path / "a")
    found, _ = plan(aged, tmp_path / "a", now=NOW + timedelta(days=1))
    assert [prune.age_days for prune in found.prunes] == [401]


def test_what_was_spared_is_counted_over_all_scopes(tmp_path: Path) -> None:
    """Notes of remembered scopes are added to those of the others."""
    old = [replace(m, created_at=None, updated_at=NOW - timedelta(days=300)) for m in MEMORIES]
    whole = plan(old, tmp_path / "a", unattended=True)[0]
    changed = [replace(old[0], text="Drinks tea in the garden"), *old[1:]]
    found, _ = plan(changed, tmp_path / "a", unattended=True)
    assert whole.notes
    assert found.notes == whole.notes
    assert found == afresh(changed, tmp_path / "c", unattended=True)


def test_one_scope_of_a_hundred_costs_a_hundredth(tmp_path: Path) -> None:
    """Of the pairs that are judged; the rest is reading and hashing."""
    many = [each for n in range(100) for each in drinkers(Scope.of(user_id=f"user{n:02}"))]
    _, first = plan(many, tmp_path)
    _, second = plan([replace(many[0], text="Drinks tea in the garden of the house"), *many[1:]], tmp_path)
    assert 0 < second <= first / 100


DAYS = st.floats(-400, 400, allow_nan=False)


@given(
    st.lists(st.tuples(DAYS, DAYS | st.none(), st.none() | st.integers(-5, 5)), min_size=1, max_size=4),
    st.floats(0, 500),
)
def test_until_then_no_age_begins_to_matter(
    rows: list[tuple[float, float | None, int | None]], later: float
) -> None:
    """Between now and the moment that is named, nothing becomes stale, or hidden, or known."""
    memories = [
        memory(
            f"m{number}", "x", days=stated,
            accessed_at=None if read is None else NOW - timedelta(days=read),
            expires_on=None if ends is None else NOW.date() + timedelta(days=ends),
        )
        for number, (stated, read, ends) in enumerate(rows)
    ]  # fmt: skip
    end = until(memories, settings=LIMITS, now=NOW, accessed={})
    moment = min(NOW + timedelta(days=later), end - timedelta(seconds=1))
    if moment <= NOW:
        return

    def standing(at: datetime) -> list[tuple[bool, bool]]:
        """What ages say of each."""
        return [
            (is_stale(m, settings=LIMITS, now=at), m.is_retired(at.astimezone(UTC).date())) for m in memories
        ]

    assert standing(moment) == standing(NOW)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(range(9)), st.sampled_from(["tea", "coffee", "water"])), max_size=5)
)
def test_passes_with_changes_in_between_plan_what_one_pass_would(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str]]
) -> None:
    """Whatever was remembered on the way."""
    folder, memories = tmp_path_factory.mktemp("memo"), list(MEMORIES)
    plan(memories, folder / "a")
    for number, drink in changes:
        memories[number] = replace(memories[number], text=f"Drinks {drink} at the desk number {number}")
        plan(memories, folder / "a")
    assert plan(memories, folder / "a")[0] == afresh(memories, folder / "c")


def test_word_tables_decide_as_modules_do() -> None:
    """A changed word changes plans, so every table counts as code."""
    root = Path(mem0_dream.__file__).parent
    kept = {path.relative_to(root).as_posix() for path in sources(root)}
    tables = {path.relative_to(root).as_posix() for path in (root / "models" / "tables").iterdir()}
    assert tables
    assert tables <= kept
    assert {"models/guards.py", "models/facts/names.py", "indexes/flat.py", "pipeline/plan.py"} <= kept
