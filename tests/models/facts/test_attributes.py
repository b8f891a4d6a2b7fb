"""Rival values of one attribute, found without a network: what certainly, and what possibly, contradicts."""

from __future__ import annotations

import pytest
from builders import DUPLICATE, memory, plan_of
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.facts import extract
from mem0_dream.models.facts.attributes import rival
from mem0_dream.models.guards import Contradicting, compare, contradicting
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.actions import Resolve
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.records import Candidate, Label
from mem0_dream.testing import FakeScorer, InMemoryStore

DISTINCT = (0.0, 0.0, 1.0)

SURE = [
    ("version", "Python 3.9 is used", "Python 3.12 is used"),
    ("home", "Lives in Oslo", "Lives in Bergen"),
    ("home", "Moved to Oslo in May", "User lives in Bergen"),
    ("home", "Mum lives in Evora", "Her mother has moved from Evora to Faro"),
    ("opposite", "Deploys are manual", "Deploys are automatic"),
    ("opposite", "Likes cilantro", "Dislikes cilantro"),
    ("number", "The solver gives up after 120 seconds", "The solver gives up after 600 seconds"),
    ("number", "Has three nephews in Porto", "Has four nephews in Porto"),
    ("time", "School day begins at 8:45", "School day begins at 8:15"),
    ("deadline", "The Kestrel paper is due on 30 May", "The Kestrel paper is due on 14 June"),
    ("place", "Works at Acme as engineer", "Works at Globex as engineer"),
    ("frequency", "The boiler is serviced every year", "The boiler is serviced every two years"),
]
REVERSED = [
    ("User does not use tabs", "Uses tabs"),
    ("User never drinks coffee", "User drinks coffee"),
    ("The office is open on Fridays", "The office is not open on Fridays"),
    ("Prefers tea to coffee", "Prefers coffee to tea"),
    ("Cars board before foot passengers", "Foot passengers board before cars"),
    ("Passwords have at least 8 characters", "Passwords have at most 8 characters"),
    ("Run the tests before deploying", "Run tests after deploying"),
    ("The API runs on port 8080", "API listens on port 9090"),
]
POSSIBLE = [
    ("marital status", "Is married", "Is divorced"),
    ("indentation", "Indents with tabs", "Indents with four spaces"),
    ("deployment", "Deploys are done manually", "Deploys happen automatically"),
    ("boss", "Boss is called Fatima", "New manager since May is Declan Moore"),
    ("boss", "Reports to Ana Ruiz, head of analytics", "Her line manager is Declan"),
    ("wake-up", "Gets up at 7 o'clock", "Wake-up time is 6:30"),
    ("ci", "CI was moved from Jenkins to GitHub Actions.", "CI runs on Jenkins."),
    ("favourite colour", "Favourite colour is blue", "His favourite colour is green"),
    ("event", "Ran 10 km in the park on the hill", "Ran 12 km in the park on the hill"),
    ("weekday", "Yoga class is on Tuesdays", "Yoga class is on Thursdays"),
]
NEITHER = [
    ("Ran 10k on March 3", "Ran 10k on April 9"),
    ("Uses tabs in Go", "Uses spaces in Python"),
    ("Staging database is Postgres", "Production database is MySQL"),
    ("Her brother lives in Oslo", "Lives in Bergen"),
    ("The cache lives in Redis", "The queue lives in RabbitMQ"),
    ("Lives in Oslo", "Used to live in Bergen"),
    ("Lives in Oslo", "Lives in Bergen in summer"),
    ("Her sister is single", "Is married"),
    ("Fermenter run 18 took 22 hours", "Fermenter run 19 took 22 hours"),
    ("Fact number 5 stands", "Fact number 154 stands"),
    ("Oakmoor pays within 45 days", "Brisling pays within 30 days"),
    ("The outage lasted 3 hours on 7 April", "The outage lasted 5 hours on 19 August"),
    ("The bill comes before the tip", "The tip comes after the bill"),
    ("Likes cats", "Likes dogs"),
    ("Prefers tabs over spaces", "Prefers tabs to spaces"),
    ("Tree nuts are fine, peanuts are not", "Peanuts are not fine, tree nuts are"),
    ("The gateway runs on port 8080", "The API listens on port 9090"),
    ("Lives in Leeds with her partner", "Rehearsals moved to Monday evenings"),
    ("Lives in Leeds", "Standup moved to Zoom"),
    ("Anna lives in Oslo", "Lives in Bergen"),
    ("Reports to Fatima Qureshi, head of analytics", "Boss is called Fatima"),
    ("Her manager is Anna", "Product manager is Ben"),
    ("Keeps the tool on Postgres and SQLite", "Keeps data in SQLite"),
]


@pytest.mark.parametrize(("attribute", "a", "b"), SURE)
def test_rival_values_at_an_equal_frame_are_a_contradiction(attribute: str, a: str, b: str) -> None:
    assert contradicting(a, b) is Contradicting.SURE
    assert [each.detail.split(":")[0] for each in compare(a, b) if each.kind == "rival"] == [attribute]
    assert all(each.veto for each in compare(a, b) if each.kind == "rival")


@pytest.mark.parametrize(("a", "b"), REVERSED)
def test_a_denial_a_bound_or_an_order_turned_round_is_sure(a: str, b: str) -> None:
    assert contradicting(a, b) is Contradicting.SURE
    assert contradicting(b, a) is Contradicting.SURE


@pytest.mark.parametrize(
    ("a", "b", "sure"),
    [
        ("User smokes", "User quit smoking in 2023", True),
        ("User works at Acme", "User no longer works at Acme since May", True),
        ("User takes 5 mg of ramipril", "User takes 10 mg of ramipril daily", True),
        ("User smoked for ten years", "User quit smoking in 2023", False),
        ("A referee may stop a game", "A referee stopped the game on Saturday", False),
        ("User plays chess with Ida", "User stopped playing chess", False),
    ],
)
def test_what_is_given_up_is_sure_only_of_what_is_done_now(a, b, sure):
    assert (contradicting(a, b) is Contradicting.SURE) is sure
    assert contradicting(a, b) is contradicting(b, a)


@pytest.mark.parametrize(("attribute", "a", "b"), POSSIBLE)
def test_what_may_hold_at_once_is_only_possible(attribute: str, a: str, b: str) -> None:
    assert contradicting(a, b) is Contradicting.POSSIBLE
    assert [each.detail.split(":")[0] for each in compare(a, b) if each.kind == "rival" and each.veto] == [
        attribute
    ]


@pytest.mark.parametrize(("a", "b"), NEITHER)
def test_another_time_entity_or_condition_is_another_frame(a: str, b: str) -> None:
    assert contradicting(a, b) is Contradicting.NO
    assert [each for each in compare(a, b) if each.kind == "rival"] == []


@pytest.mark.parametrize(
    ("texts", "scores", "label"),
    [
        (SURE[1][1:], DISTINCT, Label.CONTRADICTION),
        (SURE[1][1:], DUPLICATE, Label.CONTRADICTION),
        (POSSIBLE[0][1:], DISTINCT, Label.UNSURE),
        (POSSIBLE[0][1:], DUPLICATE, Label.UNSURE),
        (POSSIBLE[0][1:], (0.05, 0.9, 0.05), Label.CONTRADICTION),
        (NEITHER[0], DISTINCT, Label.DISTINCT),
    ],
)
def test_the_verdict_is_at_least_what_the_facts_say(
    texts: tuple[str, str], scores: tuple[float, float, float], label: Label
) -> None:
    a, b = (memory(name, text) for name, text in zip("ab", texts, strict=True))
    scorer = FakeScorer(default=lambda _a, _b: scores)
    limits = Thresholds(auto=0.9, duplicate=0.6, contradiction=0.6)
    (found,) = judge([Candidate("a", "b", 0.9)], {"a": a, "b": b}, scorer, thresholds=limits)
    assert (found.label, found.auto) == (label, False)


@pytest.mark.parametrize(("attribute", "a", "b"), [*SURE, *POSSIBLE])
def test_a_merge_of_rivals_is_never_offered(attribute: str, a: str, b: str) -> None:
    store = InMemoryStore([memory("a", a), memory("b", b)])
    plan = plan_of(store, FakeScorer(default=lambda _a, _b: DUPLICATE))
    assert plan.merges == ()
    assert all(isinstance(doubt, Resolve) for doubt in plan.unsure), attribute
    assert len(plan.conflicts) + len(plan.unsure) == 1


def test_a_count_a_day_may_be_a_frequency() -> None:
    two = "Takes 2 tablets daily"
    assert not [each for each in compare(two, "Takes two tablets once a day") if each.veto]
    assert not [each for each in compare(two, "Takes a tablet twice a day") if each.veto]
    assert {each.kind for each in compare(two, "Takes 3 tablets daily") if each.veto} >= {"number"}
    assert {each.kind for each in compare(two, "Takes 2 tablets weekly") if each.veto} >= {"frequency"}
    assert [each.seconds for each in extract("Trains 2 hours daily").frequencies] == [(86400.0,)]


PIECES = [
    "Lives",
    "in",
    "Oslo",
    "Bergen",
    "CI",
    "runs",
    "on",
    "Jenkins",
    "3",
    "5",
    "hours",
    "married",
    ".",
    "tabs",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=7).map(" ".join)


@given(TEXTS, TEXTS)
def test_rivalry_is_symmetric_and_a_text_is_no_rival_of_itself(a: str, b: str) -> None:
    there, back = rival(extract(a), extract(b)), rival(extract(b), extract(a))
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert there.attribute == back.attribute
        assert there.equal == back.equal
    assert rival(extract(a), extract(a)) is None
