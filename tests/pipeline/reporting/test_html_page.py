"""The page as data and as one string: everything of a plan is on it, and nothing of it can run."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from builders import ALICE, BOB, NOW, memory, plan_of
from hypothesis import given, settings
from mem0_dream.pipeline.answers import content_key
from mem0_dream.pipeline.plan import Member, Merge, NewText, Plan, Prune, Resolve, ScopeTotal, TextChange
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.reporting.html import history_data, lost_words, nearby, page_data, render, run_point
from mem0_dream.pipeline.reporting.text import changed_lines, differing
from mem0_dream.pipeline.writing.journal import ChangeState, Operation, Outcome, Recorded, Run, RunState
from mem0_dream.testing import FakeScorer, InMemoryStore
from messy import TEXTS, plans
from reviewing import HOSTILE, crowded, data_of, many_world, small_world

PRUNE = Prune(id="p1", scope=ALICE, category=None, members=(Member("m", "Fixed bug"),), reason="vague")


def test_conflicts_that_share_memories_say_so() -> None:
    towns = ("Porto", "Faro", "Braga")
    store = InMemoryStore([memory(town, f"Lives in {town}.", days=n) for n, town in enumerate(towns)])
    plan = plan_of(store, FakeScorer(default=lambda _a, _b: (0.0, 0.95, 0.05)))
    assert [card["shares"] for card in page_data(plan)["cards"]] == [[1, 3], [2, 3], [3, 3]]


class TestEverything:
    @given(plans([Merge, Resolve, Prune, *get_args(NewText)]))
    @settings(max_examples=150, deadline=None)
    def test_every_action_of_a_plan_is_on_the_page_with_all_its_texts(self, plan: Plan) -> None:
        page = render(page_data(plan))
        assert page == render(page_data(plan))
        data = data_of(page)
        whole = sorted((*plan.actions, *plan.unsure), key=content_key)
        cards = sorted(data["cards"], key=lambda card: str(card["key"]))
        assert [card["key"] for card in cards] == [content_key(action) for action in whole]
        for action, card in zip(whole, cards, strict=True):
            rows = [data["memories"][row] for row in card["members"]]
            said = sorted((row["id"], row["text"]) for row in rows)
            assert said == sorted((m.id, m.text) for m in action.members)
            shown = [row["id"] for row in rows]
            assert card.get("stays") == (shown.index(action.survivor) if action.survivor else None)
            if isinstance(action, TextChange):
                assert card.get("text", "") == action.text
            if isinstance(action, Merge):
                untouched = "stays" in card and "writes" not in card
                assert (rows[card["stays"]] if untouched else card).get("text", "") == action.text
            if isinstance(action, Resolve):
                assert shown[: card["sides"][0]] == list(action.a)
                assert shown[card["sides"][0] :] == list(action.b)
                assert tuple(card.get("said", ())) == action.said

    def test_scores_of_both_directions_and_evidence_are_on_the_card(self, tmp_path: Path) -> None:
        _, data = small_world(tmp_path).page()
        card = next(card for card in data["cards"] if card["kind"] == "resolve")
        verdict = card["verdicts"][0]
        assert (verdict["p"], verdict["entails"]) == ([0.05, 0.9, 0.05], [0.05, 0.05])
        told = "One denies what the other says: only B says *Never*."
        assert ["negation", told, 1, 1] in verdict["evidence"]

    def test_a_run_that_was_applied_is_shown_with_what_became_of_each_action(self) -> None:
        plan = Plan("s", "memory", NOW, "fake", (ScopeTotal(ALICE, 1),), (PRUNE,))
        shown: dict[str, Any] = {"state": "applied", "undo": "mem0-dream undo r1"}
        outcome = {"p1": (Outcome.SKIPPED, "memory m is gone")}
        data = page_data(plan, run={"id": "r1", **shown}, outcomes=outcome)
        assert data["run"] == {"id": "r1", **shown}
        assert data["cards"][0]["outcome"] == ["skipped", "memory m is gone"]


class TestHarmless:
    def test_a_memory_that_is_markup_stays_text(self, tmp_path: Path) -> None:
        page, _ = small_world(tmp_path).page()
        assert page.count("<script") == page.count("</script>") == 2
        assert "<img" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert HOSTILE in [row["text"] for row in data_of(page)["memories"]]

    def test_the_page_may_run_its_own_script_and_ask_nobody(self, tmp_path: Path) -> None:
        page, data = small_world(tmp_path).page()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy is not None
        assert "default-src 'none'" in policy[1]
        assert "connect-src 'none'" in policy[1]
        assert "unsafe" not in policy[1]
        assert "connect-src 'self'" in render(data, live=True)
        assert not re.search(r"https?://(?!www\.w3\.org/)", page)

    def test_a_lone_surrogate_can_be_written_to_a_file(self) -> None:
        members = (Member("m", "a \ud800 b"),)
        prune = Prune(id="p", scope=ALICE, category=None, members=members, reason="vague")
        page = render(page_data(Plan("s", "memory", NOW, "fake", (), (prune,))))
        page.encode("utf-8")
        assert data_of(page)["memories"][0]["text"] == "a \ud800 b"

    def test_two_thousand_proposals_fit_into_three_megabytes(self, tmp_path: Path) -> None:
        page, data = many_world(2_000, tmp_path).page()
        assert len(data["cards"]) == 2_000
        assert len(page.encode()) < 3_000_000


class TestDifferences:
    @given(TEXTS, TEXTS)
    def test_words_outside_the_differences_are_equal(self, a: str, b: str) -> None:
        unspaced = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
        first, second = (re.findall(rf"[{unspaced}]|[^ \t\r\n{unspaced}]+", text) for text in (a, b))
        i = k = 0
        for a0, a1, b0, b1 in [*differing(a, b), [len(first), len(first), len(second), len(second)]]:
            assert a0 - i == b0 - k
            for left, right in zip(first[i:a0], second[k:b0], strict=True):
                assert left.strip(".,;:!?\"'“”‘’()").casefold() == right.strip(".,;:!?\"'“”‘’()").casefold()
            i, k = a1, b1

    @pytest.mark.parametrize(
        ("source", "stands", "others", "marks"),
        [
            ("Has a dog. Takes 20 mg.", "Has a dog, a whippet.", [], [[11, 23, 1]]),
            ("Likes tea. Has a red dog.", "Has a red dog. Likes tea.", [], [[0, 10, 0]]),
            ("Has a dog.", "Has a dog.", ["Owns a dog."], []),
            ("Has a dog.", "Has a dog. Likes tea.", ["Likes tea."], [[0, 10, 0]]),
            ("\U0001f415 Has two dogs.", "\U0001f415 Has dogs.", [], [[7, 10, 1]]),
        ],
        ids=["dropped", "said elsewhere", "equal", "held against the others", "an emoji is two units"],
    )
    def test_words_that_differ_are_marked_and_struck_where_nothing_keeps_them(
        self, source, stands, others, marks
    ):
        assert lost_words(source, stands, others) == marks

    def test_lines_that_change_stand_between_those_around_them(self) -> None:
        found = changed_lines("a\nb\nc\nd\ne\nf", "a\nb\nc\nd\ne\ng")
        assert found == [(" ", "d"), (" ", "e"), ("-", "f"), ("+", "g")]


class TestDocuments:
    def test_documents_are_shown_by_their_lines_and_not_clause_by_clause(self) -> None:
        """Holding every sentence of two long files against each other would take minutes."""
        lines = [f"Sentence number {n} of a long file." for n in range(2_000)]
        a, b = "\n".join(lines), "\n".join([*lines[:1_000], "Another one.", *lines[1_000:]])
        members = (Member("a.md", a), Member("b.md", b))
        merge = Merge(id="m1", scope=ALICE, category=None, members=members, survivor="a.md", text=b)
        card = page_data(Plan("s", "md", NOW, "fake", (), (merge,)))["cards"][0]
        assert not any(lost for *_, lost in card["marks"][1])
        assert ("+", "Another one.") in card["lines"]


class TestNearby:
    def test_the_nearest_of_the_same_scope_are_named_and_no_member(self) -> None:
        """Nearest first, three at most, none below half; equal vectors of somebody else are far away."""
        angles = (0, 5, 40, 10, 30, 20, 80)
        memories = [memory(name, name, scope=BOB if name == "d" else ALICE) for name in "abcdefg"]
        vectors = np.array([[np.cos(a), np.sin(a)] for a in np.radians(angles)], dtype=np.float32)
        found = nearby(memories, vectors, [["a", "b"], ["g"], ["d"], ["gone"]])
        assert found == [[5, 4, 2], [2, 4, 5], [], []]
        data = crowded()
        (near,) = data["cards"][0]["near"]
        assert data["memories"][near]["text"] == "Fixed the bug in the parser"


class TestOverTime:
    def test_a_run_draws_what_was_there_and_what_it_kept(self) -> None:
        began = "2026-11-01T00:00:00+00:00"
        counts = {"removed": 3, "added": 1, "changed": 0, "open": 2, "unsure": 4}
        point = {
            "id": "r",
            "at": began,
            "state": "applied",
            "before": {ALICE: 10},
            "after": {ALICE: 8},
            **counts,
        }
        point |= {"done": [], "retires": ()}
        data = history_data([point, point | {"id": "a"}], {ALICE: 9}, "2026-11-21T00:00:00+00:00")
        told = {"id": "r", "at": began, "state": "applied", "before": [10], "after": [8], **counts}
        assert data["runs"] == [told, told | {"id": "a"}]  # in the order in which they ran
        assert data["now"]["counts"] == [9]

    def test_a_run_that_was_taken_back_kept_everything(self) -> None:
        text = dump_plan(Plan("s", "memory", NOW, "fake", (ScopeTotal(ALICE, 10),), (PRUNE,)))
        changes = [Recorded(1, "p1", Operation.REMOVE, "m", ChangeState.DONE)]
        for state, left in ((RunState.APPLIED, 9), (RunState.UNDONE, 10)):
            assert run_point(Run("r", "s", NOW, NOW, state, None, text), changes, {})["after"] == {
                ALICE: left
            }


def test_an_answer_belongs_to_the_texts_it_was_given_about() -> None:
    members = (Member.of(memory("a", "Has a dog.")), Member.of(memory("b", "Owns a dog.")))
    merge = Merge(id="m1", scope=ALICE, category="note", members=members, survivor="a", text="Has a dog.")
    assert content_key(merge) == content_key(replace(merge, id="m7", members=members[::-1]))
    for changed in (
        {"members": (members[0], Member("b", "Owns two dogs."))},
        {"survivor": "b", "text": "Owns a dog."},
    ):
        assert content_key(replace(merge, **changed)) != content_key(merge)
