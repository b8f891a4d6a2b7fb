"""From probabilities to verdicts: the table, the vetoes, and what is never asked."""

from dataclasses import replace

import pytest
from builders import CONTRADICTION, DUPLICATE, MAYBE, memory, plan_of
from hypothesis import given, strategies as st
from mem0_dream.models.keywords import KeywordScorer, LexicalEncoder
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.judging.judge import EXACT, RULE, decide, judge, pair_input, suspected
from mem0_dream.pipeline.plan import Resolve
from mem0_dream.records import Candidate, Evidence, Label, Scope, Verdict
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

LIMITS = Thresholds(auto=0.9, duplicate=0.6, contradiction=0.6)
VETO = Evidence("number", "20 / 40", veto=True)
NOTE = Evidence("trait", "- / red")
END = Evidence("ending", "sold")
TEXTS = ("Likes tea.", "Likes green tea.")


@pytest.mark.parametrize(
    ("probabilities", "evidence", "label", "auto"),
    [
        ((0.95, 0.0, 0.05), (), Label.DUPLICATE, True),
        ((0.90, 0.0, 0.10), (), Label.DUPLICATE, True),
        ((0.89, 0.0, 0.11), (), Label.DUPLICATE, False),
        ((0.60, 0.0, 0.40), (), Label.DUPLICATE, False),
        ((0.59, 0.0, 0.41), (), Label.UNSURE, False),
        ((0.40, 0.0, 0.60), (), Label.DISTINCT, False),
        ((0.95, 0.0, 0.05), (NOTE,), Label.DUPLICATE, True),
        ((0.95, 0.0, 0.05), (NOTE, VETO), Label.UNSURE, False),
        ((0.95, 0.0, 0.05), (END,), Label.DUPLICATE, False),
        ((0.70, 0.0, 0.30), (VETO,), Label.UNSURE, False),
        ((0.00, 0.60, 0.40), (), Label.CONTRADICTION, False),
        ((0.00, 0.60, 0.40), (VETO,), Label.CONTRADICTION, False),
        ((0.65, 0.65, 0.00), (), Label.CONTRADICTION, False),
        ((0.66, 0.65, 0.00), (), Label.DUPLICATE, False),
        ((0.00, 0.55, 0.45), (), Label.UNSURE, False),
        ((0.00, 0.45, 0.55), (), Label.DISTINCT, False),
        ((0.00, 0.00, 1.00), (VETO,), Label.DISTINCT, False),
    ],
)
def test_the_table(probabilities, evidence, label, auto):
    assert decide(probabilities, evidence, LIMITS) == (label, auto)


def of_two(a, b, scores, *, scorer=None, **options) -> Verdict:
    memories = {"a": memory("a", a), "b": memory("b", b)}
    scorer = scorer or FakeScorer(default=lambda _a, _b: scores)
    (verdict,) = judge([Candidate("a", "b", 0.9)], memories, scorer, **options)
    return verdict


numbers = st.floats(0, 1)


@given(numbers, numbers, st.booleans(), st.builds(Thresholds, numbers, numbers, numbers))
def test_what_merges_alone_is_sure_and_not_vetoed(duplicate, contradiction, veto, limits):
    label, alone = decide((duplicate, contradiction, 0.5), (VETO,) if veto else (), limits)
    if alone:
        assert label is Label.DUPLICATE
        assert duplicate >= limits.auto
        assert not veto
    if label is Label.CONTRADICTION:
        assert contradiction >= max(limits.contradiction, duplicate)


def test_verdicts_come_in_the_order_of_the_pairs_and_exact_ones_are_never_scored():
    memories = {name: memory(name, text) for name, text in zip("abc", (*TEXTS, "Has a dog."), strict=True)}
    pairs = [Candidate("b", "c", 0.1), Candidate("a", "c", 1.0, exact=True), Candidate("a", "b", 0.9)]
    verdicts = judge(pairs, memories, scorer := FakeScorer({TEXTS: DUPLICATE}))
    assert (verdicts[1].auto, verdicts[1].evidence, len(scorer.asked)) == (True, (EXACT,), 2)
    assert [verdict.pair for verdict in verdicts] == pairs
    assert [verdict.label for verdict in verdicts] == [Label.DISTINCT, Label.DUPLICATE, Label.DUPLICATE]
    assert verdicts[2].entailment == pytest.approx((0.97, 0.97))
    assert judge([], {}, FakeScorer()) == ()


def test_given_thresholds_replace_those_of_the_scorer():
    lax = Thresholds(auto=0.5, duplicate=0.5, contradiction=0.5)
    assert (of_two(*TEXTS, MAYBE).auto, of_two(*TEXTS, MAYBE, thresholds=lax).auto) == (False, True)


def test_a_scorer_reads_texts_category_dates_and_cosine():
    a, b = memory("a", "A", days=3), memory("b", "B", days=None)
    read = pair_input(Candidate("a", "b", 0.25), {"a": a, "b": b})
    assert (read.a, read.b, read.cosine, read.category) == ("A", "B", 0.25, "note")
    assert (read.a_date, read.b_date) == (a.created_at, None)


def test_a_text_that_only_adds_is_left_to_a_person():
    """However sure the scorer is of a contradiction, more words without a differing detail are none."""
    short, long = "Invoices go out every Friday.", "Invoices go out every Friday by post."
    verdict = of_two(short, long, (0.1, 0.85, 0.05))
    assert (verdict.label, verdict.evidence[-1].kind) == (Label.UNSURE, "adds")


CAR, PYTHON, TYPE = "Has a green car.", "Project uses Python 3.12", "User's blood type is A+"


@pytest.mark.parametrize(
    ("a", "b", "scores", "decided"),
    [
        # A value told more exactly is no other value.
        (PYTHON, "Project uses Python 3.12.4", (0.05, 0.9, 0.05), (Label.UNSURE, False)),
        (PYTHON, "Project uses Python 3.9", (0.05, 0.9, 0.05), (Label.CONTRADICTION, False)),
        (TYPE, "User's blood type is O-", (0.05, 0.9, 0.05), (Label.CONTRADICTION, False)),
        # What is over for one text still holds for the other, or was meant by both: a person knows.
        (CAR, "Owns a green car.", DUPLICATE, (Label.DUPLICATE, True)),
        (CAR, "Sold the green car.", DUPLICATE, (Label.DUPLICATE, False)),
        (CAR, "No longer has the green car.", DUPLICATE, (Label.CONTRADICTION, False)),
    ],
)
def test_what_evidence_makes_of_a_sure_scorer(a, b, scores, decided):
    for verdict in (of_two(a, b, scores), of_two(b, a, scores)):
        assert (verdict.label, verdict.auto) == decided


@pytest.mark.parametrize(
    ("a", "b", "label"),
    [
        ("Der Nutzer mag Katzen", "Der Nutzer hat zwei Katzen", Label.DISTINCT),
        ("Der Nutzer mag Katzen", "Der Nutzer mag keine Katzen", Label.CONTRADICTION),
        ("Der Nutzer mag Katzen.", "der Nutzer mag Katzen", Label.DUPLICATE),
    ],
)
def test_a_scorer_of_english_has_no_say_about_other_languages(a, b, label):
    """Its answer, a sure contradiction, is not heard; a scorer of all languages is."""
    scorer = FakeScorer(default=lambda _a, _b: (0.0, 0.99, 0.01))
    assert of_two(a, b, (), scorer=scorer).label is not Label.DISTINCT
    scorer.english_only = True
    assert of_two(a, b, (), scorer=scorer).label is label


OPPOSED = "Blue bin for paper, green bin for glass", "Green bin for paper, blue bin for glass"
SPANISH, LEANING = "User is learning Spanish", (0.3, 0.5, 0.2)


@pytest.mark.parametrize(
    ("a", "b", "scores", "label"),
    [
        # A sure scorer merges nothing whose places or stages differ.
        ("User reports to Anna", "Anna reports to the user", DUPLICATE, Label.CONTRADICTION),
        (*OPPOSED, DUPLICATE, Label.CONTRADICTION),
        ("Selma visited Omar", "Omar visited Selma", DUPLICATE, Label.UNSURE),
        ("User reports to Anna", "Anna manages the user", DUPLICATE, Label.DUPLICATE),
        ("User is trying to quit smoking", "User quit smoking", DUPLICATE, Label.UNSURE),
        ("User has a bird", "User has a bird feeder", DUPLICATE, Label.DUPLICATE),
        ("API rate limit is at least 100", "API rate limit is at most 100", DUPLICATE, Label.CONTRADICTION),
        (
            "User likes tea more than coffee",
            "User likes coffee more than tea",
            DUPLICATE,
            Label.CONTRADICTION,
        ),
        # Two stages are a conflict where it leans to one.
        ("User wants to migrate to Postgres", "User has migrated to Postgres", LEANING, Label.CONTRADICTION),
        # Two of what one has several of are none, however sure it is.
        (SPANISH, "User is learning French", CONTRADICTION, Label.DISTINCT),
        (SPANISH, "User stopped learning Spanish", CONTRADICTION, Label.CONTRADICTION),
    ],
)
def test_what_a_verdict_makes_of_the_scores(a, b, scores, label):
    verdict = of_two(a, b, scores, thresholds=LIMITS)
    assert verdict.label is label
    assert verdict.auto is (a == "User reports to Anna" and label is Label.DUPLICATE)


@pytest.mark.parametrize("label", [label for label in Label if label is not Label.DUPLICATE])
def test_only_a_duplicate_merges_by_itself(label):
    with pytest.raises(ValueError, match="never merges by itself"):
        Verdict(Candidate("a", "b", 0.9), label, auto=True)


# What the original's rules would report is asked about, whatever a scorer thinks.
EXAMPLES = [
    ("Prefers morning meetings", "Likes scheduling meetings early"),
    ("likes cats", "likes dogs better"),
]
NEGATIONS = [
    ("Uses pnpm for local installs", "Stopped using pnpm for installs"),
    ("Prefers tea", "Prefers coffee"),
    ("Always deploys on Fridays", "Never deploys on Fridays"),
    ("Use tabs in Go", "Avoid tabs in Go"),
]


@pytest.mark.parametrize(("a", "b"), [*EXAMPLES, *NEGATIONS])
def test_what_a_rule_suspects_is_asked_about_though_a_scorer_sees_nothing(a: str, b: str) -> None:
    """An example of the original at its cosine, a negation at its overlap; never a merge or a sure conflict."""
    negation = (a, b) in NEGATIONS
    assert (suspected(a, b, cosine=0.3) is not None) is negation
    for pair in ((a, b), (b, a)) if negation else ((a, b),):
        found = suspected(*pair, cosine=0.0 if negation else 0.69)
        assert found is not None
        assert (found.kind, found.veto, "turned against each other" in found.detail) == (
            RULE,
            False,
            negation,
        )
    asked = of_two(a, b, (0.0, 0.0, 1.0), asks_from=0.65)
    assert (asked.label, asked.auto, asked.evidence[-1].kind) == (Label.UNSURE, False, RULE)
    assert of_two(a, b, (0.0, 0.0, 1.0)).label is Label.DISTINCT


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        ("Likes tea in the morning", "Prefers to run in the morning", 0.53),
        ("Prefers concise answers", "Prefers TypeScript over JavaScript", 0.27),
        ("Prefers meetings on Tuesdays", "Likes short meetings", 0.61),
        ("Likes jazz", "Likes blues", 0.8),
        ("Uses PostgreSQL", "Uses MySQL for the shop", 0.8),
    ],
)
def test_different_facts_are_left_alone(a: str, b: str, cosine: float) -> None:
    assert suspected(a, b, cosine=cosine) is None


@pytest.mark.parametrize(("a", "b"), EXAMPLES)
def test_without_a_model_the_examples_are_asked_too(a: str, b: str) -> None:
    store = InMemoryStore([memory("1", a), memory("2", b), memory("3", "Shoe size 39")])
    plan = plan_of(store, KeywordScorer(), encoder=LexicalEncoder(), settings=Settings())
    assert plan.actions == ()
    (doubt,) = plan.unsure
    assert isinstance(doubt, Resolve)
    assert {member.text for member in doubt.members} == {a, b}
    assert doubt.verdicts[0].evidence[-1].kind == RULE


@pytest.mark.model
@pytest.mark.parametrize(("a", "b"), EXAMPLES)
def test_the_default_scorer_finds_or_asks(a: str, b: str) -> None:
    store = InMemoryStore([memory("1", a), memory("2", b)])
    encoder, scorer = load_encoder(None, scorer="bundled"), load_scorer("bundled")
    plan = plan_of(store, scorer, encoder=encoder, settings=Settings())
    assert len(plan.merges) + len(plan.conflicts) + len(plan.unsure) == 1


WANTS = "Wants short answers in code reviews."
INES, BOT = Scope.of(user_id="ines"), Scope.of(user_id="ines", agent_id="bot")


@pytest.mark.parametrize(
    ("scope", "more", "told"),
    [
        (INES, "Likes tea.", ["Ines is the user"]),
        (INES, "Works with Ines from Porto.", ["- / Ines"]),
        (Scope.of(agent_id="ines"), "Likes tea.", ["- / Ines"]),
        (BOT, "Likes tea.", ["Ines is the user", "- / the user"]),
        (Scope.of(user_id="tomasz"), "Likes tea.", ["- / Ines"]),
    ],
)
def test_the_name_of_a_scope_is_its_user_unless_somebody_else_has_it(scope, more, told):
    texts = {"a": WANTS, "b": f"Ines {WANTS.lower()}", "c": more}
    memories = {name: replace(memory(name, text), scope=scope) for name, text in texts.items()}
    verdict = judge([Candidate("a", "b", 0.9)], memories, FakeScorer())[0]
    assert verdict.auto == (told == ["Ines is the user"])
    assert [item.detail for item in verdict.evidence] == told


@pytest.mark.parametrize(("more", "auto"), [("Kids: Tom and Ines", False), ("Likes tea.", True)])
def test_what_only_one_memory_says_of_the_namesake_of_the_user_is_for_a_person(more, auto):
    texts = {"a": "Plays the tuba on Sundays", "b": "Ines plays the tuba on Sundays", "c": more}
    memories = {name: replace(memory(name, text), scope=INES) for name, text in texts.items()}
    (verdict,) = judge([Candidate("a", "b", 0.9)], memories, FakeScorer(default=lambda _a, _b: DUPLICATE))
    assert (verdict.label, verdict.auto) == (Label.DUPLICATE, auto)
