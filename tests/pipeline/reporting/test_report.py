"""The report: one form, short ids that stay unique, and everything on request."""

from dataclasses import replace

import pytest
from builders import BOB, CONTRADICTION, MAYBE, MEANS, NOW, duplicates, memory, plan_of
from hypothesis import given, strategies as st
from mem0_dream.pipeline.plan import Member, Plan
from mem0_dream.pipeline.reporting.pair import reasons, spoken, told_once
from mem0_dream.pipeline.reporting.report import Report
from mem0_dream.pipeline.reporting.status import spoken_status, status_of
from mem0_dream.pipeline.reporting.text import WHOLE_UP_TO, clip, one_line, short_ids, whole
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Candidate, Evidence, Label, Scope, Verdict
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore
from messy import DOG, DOG_NAME, OLD, messy_scorer, messy_store

UNREAD = Settings(floor=-1.0, assume_unread=True)  # what is old goes


def small_plan() -> Plan:
    """One of each: a merge that keeps a member, a fused one, a conflict, two prunes."""
    more = [memory("old", OLD, days=400, category=None), memory("vague", "Fixed bug", days=None)]
    return plan_of(messy_store("d1 d2 s1 s2 t1 t2", more), messy_scorer(), settings=UNREAD)


def test_categories_and_ages_that_are_unknown_are_called_so() -> None:
    assert Report(small_plan()).lines()[-5:] == [
        "Prunes (2):",
        "[memory:old] — uncategorised, 400d old",
        f"    {OLD}",
        "[memory:vague] — note, age unknown",
        "    Fixed bug",
    ]


def test_a_side_is_called_newer_only_if_it_is() -> None:
    """Whatever the plan says, the dates that stand beside the texts have the last word."""
    plan = small_plan()
    (conflict,) = plan.conflicts
    turned = replace(conflict, a=conflict.b, b=conflict.a)
    sides = Report(plan).sides(turned)
    assert [line.endswith(" (newer, likely to hold)") for line in sides] == [True, False]
    undated = replace(conflict, members=tuple(replace(m, stated_at=None) for m in conflict.members))
    assert not any("newer" in line for line in Report(plan).sides(undated))


def test_what_goes_along_with_a_side_is_shown() -> None:
    plan = small_plan()
    (conflict,) = plan.conflicts
    more = Member("t3", "Tabs it is.", stated_at=NOW)
    wide = replace(conflict, a=(*conflict.a, "t3"), members=(*conflict.members, more))
    assert "     with [memory:t3] 2026-11-21  Tabs it is." in Report(plan).sides(wide)


def test_each_scope_has_its_own_sections() -> None:
    new = [memory("c", "Plays the oboe."), memory("d", "Plays the oboe.", scope=BOB)]
    store = InMemoryStore([memory("a", OLD, days=400), memory("b", OLD, days=500, scope=BOB), *new])
    assert Report(plan_of(store, duplicates(), settings=UNREAD)).lines()[2:] == [
        "Scope user_id=alice", "Prunes (1):", "[memory:a] — note, 400d old", f"    {OLD}", "",
        "Scope user_id=bob", "Prunes (1):", "[memory:b] — note, 500d old", f"    {OLD}", "",
    ]  # fmt: skip


def test_explain_adds_texts_scores_and_evidence() -> None:
    lines = Report(small_plan(), explain=True).lines()
    merge = lines.index('[memory:d2] + [memory:d1] -> "Has a dog and walks it."')
    assert lines[merge + 1 : merge + 4] == [
        "    A: [memory:d1] 2026-11-11  Has a dog.",
        "    B: [memory:d2] 2026-11-11  Has a dog and walks it.",
        "    [memory:d2] says it all and stays as it is",
    ]
    scores = "duplicate 0.97, contradiction 0.00, distinct 0.03; entails 0.97 -> / 0.97 <-; cosine "
    assert lines[merge + 4].startswith(f"    [memory:d1] ~ [memory:d2]: duplicate; {scores}")
    text = "\n".join(lines)
    assert "    all are replaced by: Dad was a sailor" in text
    assert "    B was stated later and is the likely winner" in text
    assert "One denies what the other says: only B says *Never*." in text
    assert "    because: stale, 400 days old, limit 180; no known access" in text
    assert "    because: vague, " in text
    assert "no date  Fixed bug" in text


def test_a_document_is_cut_with_its_length() -> None:
    long = "Was noted at length. " * 5_000
    assert whole("x" * WHOLE_UP_TO) == "x" * WHOLE_UP_TO
    store = InMemoryStore([memory("a", long, days=400), memory("b", "Plays the oboe.")])
    lines = Report(plan_of(store, duplicates(), settings=UNREAD), explain=True).lines()
    (text,) = [line for line in lines if "Was noted" in line]
    assert text.endswith("… (105,000 characters)")
    assert len(text) < WHOLE_UP_TO + 100


def test_evidence_is_told_in_plain_words() -> None:
    found = [
        Evidence("number", "20 mg / 40 mg", veto=True),
        Evidence("name", "- / Rex"),
        Evidence("swap", "law / medicine", veto=True),
        Evidence("rival", "dose: 20 mg / 40 mg", veto=True),
        Evidence("second-opinion", "duplicate"),
        Evidence("adds", "one text has all words of the other, and no detail differs"),
    ]
    assert spoken(found) == (
        "Only B says *Rex*. "
        "Another word in the same place: A says *law*, B says *medicine*. "
        "Two values of one dose: A says *20 mg*, B says *40 mg*. Second opinion: duplicate. "
        "One text has all words of the other, and no detail differs."
    )
    assert spoken(found[:2], flipped=True) == "A says *40 mg*, B says *20 mg*. Only A says *Rex*."
    assert len(spoken([Evidence("quote", "x" * 100_000)])) < 300


TEA_OR_CAKE = "Words of which the other says nothing: A says *tea*, B says *cake*."
ONLY_LIKELY = " Nothing else speaks against it, but it is only 80% likely that they say the same."


@pytest.mark.parametrize(
    ("label", "auto", "evidence", "said"),
    [
        (Label.DUPLICATE, False, (), TEA_OR_CAKE + ONLY_LIKELY),
        (Label.DUPLICATE, False, (Evidence("ending", "sold"),), "Only one tells of an end: sold."),
        (Label.DISTINCT, False, (), TEA_OR_CAKE),
        (Label.DUPLICATE, True, (), ""),
    ],
)
def test_a_pair_that_is_not_merged_says_why(label, auto, evidence, said) -> None:
    verdict = Verdict(Candidate("a", "b", 0.9), label, auto, (0.8, 0.1, 0.1), evidence=evidence)
    assert reasons(verdict, ("Likes tea", "Likes cake")) == said


def test_what_another_detail_holds_is_not_told_by_itself() -> None:
    shorter, longer = Evidence("number", "- / two times"), Evidence("frequency", "- / two times weekly")
    assert spoken([shorter, longer]) == "Only B says *two times weekly*."
    assert len(told_once([replace(shorter, veto=True), longer])) == 2
    denied = [Evidence("quantifier", "- / never"), Evidence("negation", "- / Never", veto=True)]
    assert spoken(denied) == "One denies what the other says: only B says *Never*."
    assert len(told_once([Evidence("number", "two times / -"), longer])) == 2


def test_exchanged_words_are_told_once_and_places_without_their_names() -> None:
    swap = Evidence("order", "tea over coffee / coffee over tea", veto=True)
    places = Evidence("binding", "above: coffee, tea; prefer: coffee, tea", veto=True)
    assert spoken([swap, places]).count("tea over coffee") == 1
    assert "places" not in spoken([swap, places])
    assert spoken([places]) == "The same details in each other's places: coffee, tea."


def test_pairs_that_are_likely_the_same_are_shown_the_most_certain_first() -> None:
    scorer = FakeScorer({(DOG, DOG_NAME): MAYBE})
    plan = plan_of(InMemoryStore([memory("a", DOG), memory("b", DOG_NAME)]), scorer)
    shown = Report(plan).doubtful()
    assert shown[:4] == [
        "Likely the same (1):",
        "[memory:a] and [memory:b], 70%",
        f"    A: [memory:a] 2026-11-11  {DOG}",
        f"    B: [memory:b] 2026-11-11  {DOG_NAME}",
    ]
    assert any("duplicate 0.70" in line for line in Report(plan, explain=True).doubtful())
    unscored = replace(plan.unsure[0], verdicts=())
    assert Report(replace(plan, unsure=(unscored,))).doubtful()[1] == "[memory:a] and [memory:b]"
    many = Report(replace(plan, unsure=tuple(replace(plan.unsure[0], id=f"u{n}") for n in range(57))))
    assert many.dry_run()[2] == "Likely the same (20):"
    assert "37 more: --more" in many.dry_run()
    many.most = None
    assert many.dry_run()[2] == "Likely the same (57):"
    assert Report(small_plan()).doubtful() == []


@given(st.lists(st.text(alphabet="ab-01", min_size=1, max_size=14)))
def test_short_ids_tell_all_apart(ids: list[str]) -> None:
    short = short_ids(ids)
    assert short.keys() == set(ids)
    assert len(set(short.values())) == len(short)
    assert all(whole.startswith(shown) for whole, shown in short.items())


def test_a_text_is_one_line_of_at_most_100_characters() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert "\x1b" not in one_line("red \x1b[31m alert")
    assert clip("x" * 100) == "x" * 100
    assert clip("x" * 101) == "x" * 99 + "…"
    assert clip("word " * 30) == "word " * 19 + "word…"


nasty = st.text(
    alphabet=st.sampled_from("ab \n\r\t\x1b\x07\x9b\u2028\u202e[31m\"'`"), min_size=1, max_size=12
)


@given(nasty, nasty, nasty)
def test_no_stored_text_reaches_the_terminal_raw(text: str, category: str, user: str) -> None:
    doses = [f"Takes {dose} mg {text} of lisinopril." for dose in (20, 40)]
    texts, whose = [*doses, f"Likes {text} tea.", DOG], Scope.of(user_id=user)
    ages = zip([*texts, texts[2]], (0, 0, 0, 400, 0), strict=True)
    held = [memory(f"{user}-{n}", x, category=category, scope=whose, days=d) for n, (x, d) in enumerate(ages)]
    store = InMemoryStore(held)
    scorer = duplicates(texts[:2])
    scorer._pairs[tuple(sorted(texts[1:3]))] = CONTRADICTION
    plan = plan_of(store, scorer)
    shown = Report(plan, explain=True)
    lines = [line for line in [*shown.lines(), *shown.doubtful(), shown.proposal()] if line]
    inventory = store.read(ScopeFilter())
    lines += spoken_status(status_of(inventory, [], MEANS, kind=""), str)
    assert all(line.isprintable() for line in lines), lines
