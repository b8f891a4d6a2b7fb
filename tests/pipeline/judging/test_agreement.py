"""By outcome, with the bundled models: what is asserted now of the same thing merges, what agrees conflicts."""

from collections import defaultdict
from pathlib import Path

import pytest
from builders import memory, plan_of
from mem0_dream.models import agreement
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.models.scorer import PairScorer
from mem0_dream.pipeline.judging.judge import are_rivals, judge
from mem0_dream.pipeline.plan import Merge, Plan, Resolve
from mem0_dream.records import Candidate, Evidence, Label, Memory, Verdict
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore

HERE = Path(__file__).parent
MOST_QUESTIONS = 9  # about the thirteen profiles, together


def table(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def models() -> tuple[Encoder, PairScorer]:
    return load_encoder(), load_scorer("bundled")


def judged(pairs: list[list[str]], models: tuple[Encoder, PairScorer]) -> tuple[Verdict, ...]:
    encoder, scorer = models
    memories: dict[str, Memory] = {}
    candidates = []
    for number, texts in enumerate(pairs):
        a, b = encoder.encode(texts)
        ends = [memory(f"{number:03}{side}", text) for side, text in zip("ab", texts, strict=True)]
        memories |= {each.id: each for each in ends}
        candidates.append(Candidate(ends[0].id, ends[1].id, float(a @ b)))
    return judge(candidates, memories, scorer, keys={})


def looked_at(texts: list[str], models: tuple[Encoder, PairScorer]) -> Plan:
    encoder, scorer = models
    rows = [memory(f"{at:02}", text, days=90 - 3 * at) for at, text in enumerate(texts)]
    return plan_of(InMemoryStore(rows), scorer, encoder=encoder, settings=Settings(scorer="bundled"))


def test_clean_profiles_hold_no_conflict_and_nothing_to_merge(models):
    profiles: dict[str, list[str]] = defaultdict(list)
    for name, text in table("profiles.tsv"):
        profiles[name].append(text)
    plans = {name: looked_at(texts, models) for name, texts in profiles.items()}
    assert len(plans) == 13
    found = {name: [m.text for each in plan.actions for m in each.members] for name, plan in plans.items()}
    assert not any(found.values()), found
    assert sum(len(plan.unsure) for plan in plans.values()) <= MOST_QUESTIONS


def test_true_conflicts_are_reported(models):
    pairs = table("conflicts.tsv")
    missed = [
        pair
        for pair, verdict in zip(pairs, judged(pairs, models), strict=True)
        if verdict.label is not Label.CONTRADICTION
    ]
    assert len(pairs) == 30
    assert not missed


def test_only_what_the_longer_text_asserts_now_of_the_same_thing_merges_by_itself(models):
    rows = table("contained.tsv")
    found = judged([pair for _, *pair in rows], models)
    wrong = [row for row, verdict in zip(rows, found, strict=True) if verdict.auto != (row[0] == "merge")]
    assert not wrong


def test_a_wording_of_another_stage_is_asked_about_as_the_same():
    stage = Evidence("stage", "seeks to / is looking to", veto=True)
    verdict = Verdict(
        Candidate("a", "b", 0.9), Label.UNSURE, probabilities=(0.8, 0.1, 0.1), evidence=(stage,)
    )
    assert not are_rivals(verdict)
    for scores, kind in (
        ((0.4, 0.5, 0.1), "stage"),
        ((0.8, 0.1, 0.1), "rival"),
        ((0.8, 0.1, 0.1), "binding"),
    ):
        other = Evidence(kind, "one / other", veto=True)
        assert are_rivals(
            Verdict(Candidate("a", "b", 0.9), Label.UNSURE, probabilities=scores, evidence=(other,))
        )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("User is looking to reduce the AWS bill.", "User seeks to reduce the AWS bill."),
        ("User wants to be addressed as Sam.", "Call the user Sam."),
    ],
)
def test_a_duplicate_is_no_possible_conflict(a, b, models):
    plan = looked_at([a, b], models)
    assert [type(each) for each in (*plan.actions, *plan.unsure)] == [Merge]
    assert not any(isinstance(each, Resolve) for each in plan.unsure)


def test_a_stamp_is_nothing_in_common():
    a, b = "[mention 2026-02-03] User has a cold.", "[mention 2026-02-03] User is 25 years old."
    assert agreement.shared(a, b) == 0
    assert not agreement.touch(a, b, 0.9, against=False)
    assert agreement.shared("[Oslo](a.md) is far", "[Oslo](a.md) is near") > 0
    assert agreement.touch("Has a cold.", "Has a bad cold.", 0.0, against=False)
