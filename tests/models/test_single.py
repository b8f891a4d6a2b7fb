"""Two values of what has one value, because a person says so."""

from __future__ import annotations

import pytest
from builders import memory
from mem0_dream.models.single import two_values
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.records import Candidate, Label
from mem0_dream.testing import FakeScorer

NAMES = ("home", "employer", "deploy target")


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("Deploy target: staging", "The deploy target is production", "deploy target: staging / production"),
        ("Lives in Porto", "User lives in Faro now", "home: Porto / Faro now"),
        (
            "Deployment target: staging",
            "Deploy targets are production",
            "deploy target: staging / production",
        ),
        ("Build target: staging", "Deploy target: production", ""),
        ("Employee: Ann", "Employer: Globex", ""),
        ("Works at Acme.", "User's employer is Globex", "employer: Acme / Globex"),
        ("Lives in Porto", "User lives in Porto, near the river", ""),
        ("Lives in Porto", "Used to live in Faro", ""),
        ("Lives in Porto", "Anna lives in Faro", ""),
        ("Lives in Porto", "Wants to move; lives in Faro if the job works out", ""),
        ("Favourite colour: red", "Favourite colour: blue", ""),
        ("Deploy target: staging", "Deploy target: staging", ""),
    ],
)
def test_two_values_of_one_attribute(a: str, b: str, told: str) -> None:
    assert two_values(a, b, NAMES) == told
    assert bool(two_values(b, a, NAMES)) is bool(told)


def test_they_are_a_conflict_whatever_the_scorer_says() -> None:
    held = {
        m.id: m
        for m in (memory("1", "Deploy target: staging"), memory("2", "The deploy target is production"))
    }
    pair, scorer = [Candidate("1", "2", 0.5)], FakeScorer(default=lambda *_: (0.95, 0.0, 0.05))
    (told,) = judge(pair, held, scorer, single=("deploy target",))
    assert (told.label, told.auto) == (Label.CONTRADICTION, False)
    assert judge(pair, held, scorer)[0].label is not Label.CONTRADICTION
