"""Two values of what has one value, because a person says so."""

from builders import memory
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.records import Candidate, Label
from mem0_dream.testing import FakeScorer


def test_they_are_a_conflict_whatever_the_scorer_says() -> None:
    held = {
        m.id: m
        for m in (memory("1", "Deploy target: staging"), memory("2", "The deploy target is production"))
    }
    pair, scorer = [Candidate("1", "2", 0.5)], FakeScorer(default=lambda *_: (0.95, 0.0, 0.05))
    (told,) = judge(pair, held, scorer, single=("deploy target",))
    assert (told.label, told.auto) == (Label.CONTRADICTION, False)
    assert judge(pair, held, scorer)[0].label is not Label.CONTRADICTION
