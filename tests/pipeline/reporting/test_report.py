"""The report: one form, short ids that stay unique, and everything on request."""

from __future__ import annotations

from dataclasses import replace

from builders import BOB, CONTRADICTION, MAYBE, NOW, duplicates, memory, plan_of
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream import RunResult, UndoResult
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.reporting.report import (
    EXPLAINED_WIDTH,
    TEXT_WIDTH,
    Report,
    auto_summary,
    clip,
    explained,
    moved_lines,
    one_line,
    short_ids,
    summary,
    undo_summary,
)
from mem0_dream.pipeline.reporting.spoken_evidence import spoken
from mem0_dream.pipeline.reporting.status import spoken_status, status_of
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Evidence, Scope
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

DOG, DOG_NAME = "Has a dog.", "Has a dog named Rex."
SAILOR_A, SAILOR_B = "Dad was a sailor out of Gdansk.", "Dad was a sailor for 30 years."
TABS, NO_TABS = "Uses tabs in Go code.", "Never uses tabs in Go code."
OLD = "Is looking for a plumber in Leeds for the tap."


def small_plan(**prefixes: str) -> Plan:
    """One of each: a merge that keeps a member, a fused one, a conflict, two prunes."""
    scorer = duplicates(
        [DOG, DOG_NAME], [SAILOR_A, SAILOR_B, f"{SAILOR_A} {SAILOR_B}", f"{SAILOR_B} {SAILOR_A}"]
    )
    scorer._pairs[NO_TABS, TABS] = CONTRADICTION
    return plan_of(
        InMemoryStore(
            [
                memory("d1", DOG),
                memory("d2", DOG_NAME),
                memory("s1", SAILOR_A),
                memory("s2", SAILOR_B, days=20),
                memory("t1", TABS, days=30),
                memory("t2", NO_TABS, days=3),
                memory("old", OLD, days=400, category=None),
                memory("vague", "Fixed bug", days=None),
            ]
        ),
        scorer,
    )


def test_the_form() -> None:
    """Title, blank line, three sections with their counts, survivor first, oldest side first."""
    plan = small_plan()
    shown = Report(plan)
    (fused,) = [merge for merge in plan.merges if merge.survivor is None]
    assert shown.lines() == [
        "## dream — consolidation report",
        "",
        "Merges (2):",
        '[memory:d2] + [memory:d1] -> "Has a dog named Rex."',
        f'[memory:s1] + [memory:s2] -> "{fused.text}"',
        "Conflicts (1):",
        '[memory:t1] vs [memory:t2] — "tabs Go code" [A/B/skip]',
        "Prune (2):",
        "[memory:old] — uncategorised, 400d old",
        "[memory:vague] — note, age unknown",
    ]
    assert shown.proposal() == "Proposed: 2 merges, 2 prunes, 1 conflicts."


def test_an_empty_section_is_left_out() -> None:
    """Only prunes: no heading for merges or conflicts."""
    plan = plan_of(InMemoryStore([memory("old", OLD, days=400)]), duplicates())
    assert Report(plan).lines()[2:] == ["Prune (1):", "[memory:old] — note, 400d old"]


def test_each_scope_has_its_own_sections() -> None:
    """Counts are of the scope, not of the plan."""
    store = InMemoryStore([memory("a", OLD, days=400), memory("b", OLD, days=500, scope=BOB)])
    assert Report(plan_of(store, duplicates())).lines()[2:] == [
        "Scope user_id=alice",
        "Prune (1):",
        "[memory:a] — note, 400d old",
        "",
        "Scope user_id=bob",
        "Prune (1):",
        "[memory:b] — note, 500d old",
        "",
    ]


def test_explain_adds_texts_scores_and_evidence() -> None:
    """Under each line what led to it, for every kind of action."""
    lines = Report(small_plan(), explain=True).lines()
    merge = lines.index('[memory:d2] + [memory:d1] -> "Has a dog named Rex."')
    assert lines[merge + 1 : merge + 4] == [
        "    [memory:d1] 2026-11-11  Has a dog.",
        "    [memory:d2] 2026-11-11  Has a dog named Rex.",
        "    [memory:d2] says it all and stays as it is",
    ]
    scores = "duplicate 0.97, contradiction 0.00, distinct 0.03; entails 0.97 -> / 0.97 <-; cosine "
    assert lines[merge + 4].startswith(f"    [memory:d1] ~ [memory:d2]: duplicate; {scores}")
    text = "\n".join(lines)
    assert "    all are replaced by: Dad was a sailor" in text
    assert "    B was stated later and is the likely winner" in text
    assert "one text denies what the other says" in text
    assert "so only a person may merge them" in text
    assert "    because: stale, 400 days old, limit 180; no known access" in text
    assert "    because: vague, " in text
    assert "no date  Fixed bug" in text


def test_a_document_is_cut_with_its_length() -> None:
    """A hundred kilobytes in one memory do not flood the terminal; shorter texts stand in full."""
    long = "Was noted at length. " * 5_000
    assert explained("x" * EXPLAINED_WIDTH) == "x" * EXPLAINED_WIDTH
    lines = Report(plan_of(InMemoryStore([memory("a", long, days=400)]), duplicates()), explain=True).lines()
    (text,) = [line for line in lines if "Was noted" in line]
    assert text.endswith("… (105,000 characters)")
    assert len(text) < EXPLAINED_WIDTH + 100


def test_evidence_is_told_in_plain_words() -> None:
    """What differs, whether it keeps them apart, and an unknown kind by its name."""
    assert spoken(
        [
            Evidence("number", "20 mg / 40 mg", veto=True),
            Evidence("name", "- / Rex"),
            Evidence("swap", "law / medicine", veto=True),
            Evidence("rival", "number: 20 mg / 40 mg", veto=True),
            Evidence("second-opinion", "duplicate"),
            Evidence("adds", "one text has all words of the other, and no detail differs"),
        ]
    ) == (
        "different numbers: 20 mg / 40 mg, so only a person may merge them; "
        "names that only one text has: - / Rex; "
        "another word in the same place: law / medicine, so only a person may merge them; "
        "two values of one thing: number: 20 mg / 40 mg, so only a person may merge them; "
        "second opinion: duplicate; one text has all words of the other, and no detail differs"
    )
    assert len(spoken([Evidence("quote", "x" * 100_000)])) < 300


def test_unsure_pairs_are_listed_on_request() -> None:
    """They have a heading, a line and their reasons; without any there is nothing."""
    plan = plan_of(
        InMemoryStore([memory("a", DOG), memory("b", DOG_NAME)]), FakeScorer({(DOG, DOG_NAME): MAYBE})
    )
    lines = Report(plan, explain=True).unsure_lines()
    assert lines[0] == "Unsure (1):"
    assert "[memory:a]" in lines[1]
    assert "[memory:b]" in lines[1]
    assert any("duplicate 0.70" in line for line in lines)
    assert Report(small_plan()).unsure_lines() == []


def test_ids_are_shortened_as_far_as_they_stay_unique() -> None:
    """Eight characters if they do, more if they must, the whole id if it is shorter."""
    assert short_ids(["0123456789ab", "abcdefghijkl"]) == {
        "0123456789ab": "01234567",
        "abcdefghijkl": "abcdefgh",
    }
    assert set(short_ids(["0123456789ab", "0123456789cd"]).values()) == {"0123456789a", "0123456789c"}
    assert short_ids(["a", "b"]) == {"a": "a", "b": "b"}
    assert short_ids([]) == {}


@given(st.lists(st.text(alphabet="ab-01", min_size=1, max_size=14)))
def test_short_ids_tell_all_apart(ids: list[str]) -> None:
    """However alike the ids are, no two look the same, and each is the beginning of its id."""
    short = short_ids(ids)
    assert short.keys() == set(ids)
    assert len(set(short.values())) == len(short)
    assert all(whole.startswith(shown) for whole, shown in short.items())


def test_a_text_is_one_line_of_at_most_100_characters() -> None:
    """White space is folded, a cut is marked, and control characters cannot touch the terminal."""
    assert one_line("a\n  b\tc") == "a b c"
    assert "\x1b" not in one_line("red \x1b[31m alert")
    assert clip("x" * 100) == "x" * 100
    assert clip("x" * 101) == "x" * 99 + "…"
    assert (
        clip("word " * 30) == ("word " * 19).strip() + " word…"[:5].rstrip() or len(clip("word " * 30)) <= 100
    )


@given(st.text())
def test_no_text_breaks_a_line(text: str) -> None:
    """Whatever a memory holds, its line is one line."""
    assert len(one_line(text).splitlines()) <= 1
    assert len(clip(text)) <= TEXT_WIDTH
    assert one_line(text).isprintable()


def test_the_closing_lines() -> None:
    """Exactly as the issue spells them."""
    result = RunResult("r", merged=3, pruned=4, resolved=1, skipped=2)
    assert summary(result) == "Dream complete — merged: 3, pruned: 4, conflicts resolved: 1, skipped: 2"
    assert auto_summary(result, conflicts=5) == "[mem0-dream --auto] merged=3 pruned=4 conflicts_skipped=5"
    assert undo_summary(UndoResult("r7", 3, 1)) == "Run r7 taken back — restored: 3, withdrawn: 1"


def test_what_was_not_applied_is_named_by_its_line() -> None:
    """The line of the report, and the reason; an unknown action is not invented."""
    plan = small_plan()
    result = RunResult("r", moved=(("p1", "memory old is gone"), ("zz", "?")))
    assert moved_lines(result, plan, Report(plan)) == [
        "Skipped [memory:old] — uncategorised, 400d old: memory old is gone"
    ]


def test_the_label_of_an_unknown_memory_is_its_id() -> None:
    """A reason may name a memory that is in no action."""
    assert Report(replace(small_plan(), actions=())).label("elsewhere") == "[memory:elsewhere]"


nasty = st.text(
    alphabet=st.sampled_from("ab \n\r\t\x1b\x07\x9b\u2028\u202e[31m\"'`"), min_size=1, max_size=12
)


@given(nasty, nasty, nasty)
def test_no_stored_text_reaches_the_terminal_raw(text: str, category: str, user: str) -> None:
    """Texts, categories, ids and evidence with control characters cannot forge or colour a line."""
    texts = [
        f"Takes 20 mg {text} of lisinopril.",
        f"Takes 40 mg {text} of lisinopril.",
        f"Likes {text} tea.",
        DOG,
    ]
    store = InMemoryStore(
        [
            memory(
                f"{user}-{number}",
                each,
                category=category,
                scope=Scope.of(user_id=user),
                days=400 * (number == 3),
            )
            for number, each in enumerate([*texts, texts[2]])
        ]
    )
    scorer = duplicates(texts[:2])
    scorer._pairs[tuple(sorted(texts[1:3]))] = CONTRADICTION
    plan = plan_of(store, scorer)
    shown = Report(plan, explain=True)
    lines = [line for line in [*shown.lines(), *shown.unsure_lines(), shown.proposal()] if line]
    inventory = store.read(ScopeFilter())
    lines += spoken_status(status_of(inventory, [], settings=Settings(), now=NOW))
    assert all(line.isprintable() for line in lines), lines
