"""A pass on the command line: every line it prints, every question, every way to end, and its report as a page."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import memory
from e2e_cli import ALICE, NOTHING_FOUND, NOTHING_STORED, PROPOSAL, QUESTION, REPORT, SIDES, went_away, whole
from mem0_dream.errors import IncompleteListingError
from mem0_dream.pipeline.cli.terminal import WORDS
from mem0_dream.testing import InMemoryStore
from reviewing import data_of


class TestReport:
    def test_a_dry_run_prints_the_report_and_changes_nothing(self, store, dream):
        before = whole(store)
        assert dream(*ALICE, "--dry-run").output == f"{REPORT}{PROPOSAL}\nDry run: no changes made.\n"
        assert whole(store) == before

    def test_nothing_stored_or_nothing_to_do(self, store: InMemoryStore, dream) -> None:
        for option in ((), ("--dry-run",), ("--explain",)):
            told = f"{NOTHING_STORED}Known user_id: alice, bob.\n"
            assert dream("--user-id", "nobody", *option).stdout == told
            assert dream("--user-id", "bob", *option).stdout == NOTHING_FOUND
        for words in (("status",), ("history", "tabs"), ("check", "Uses tabs"), ("forget", "tabs")):
            shown = dream(*words, "--user-id", "alcie")
            assert "Known user_id: alice and 1 more." in shown.stdout + shown.stderr

    def test_only_merges_or_only_prunes(self, dream) -> None:
        merges = dream(*ALICE, "--dry-run", "--only", "merges").stdout
        assert merges.splitlines()[2] == "Merges (2):"
        assert "Proposed: 2 merges, 0 prunes, 0 conflicts." in merges
        assert not any(word in merges for word in ("Conflicts (", "Prunes ("))
        prunes = dream(*ALICE, "--dry-run", "--only", "prunes").stdout
        assert prunes.splitlines()[2] == "Prunes (2):"
        assert "Proposed: 0 merges, 2 prunes, 0 conflicts." in prunes
        both = dream(*ALICE, "--dry-run", "--only", "prunes,merges").stdout
        assert "Proposed: 2 merges, 2 prunes, 0 conflicts." in both
        assert "'all' is none of merges, prunes, index" in dream(*ALICE, "--only", "all", code=2).stderr

    def test_json_has_the_same_numbers(self, store: InMemoryStore, dream) -> None:
        before = whole(store)
        told = json.loads(dream(*ALICE, "--json").stdout)
        assert told["proposed"] == {"merges": 2, "prunes": 2, "conflicts": 1}
        assert told["applied"] is None
        assert json.loads(dream(*ALICE, "--json", "--dry-run").stdout) == told
        assert whole(store) == before
        done = json.loads(dream(*ALICE, "--json", "--auto").stdout)
        assert {key: done["applied"][key] for key in ("merged", "pruned", "resolved", "skipped")} == {
            "merged": 2, "pruned": 2, "resolved": 0, "skipped": 1,
        }  # fmt: skip
        assert json.loads(dream("--user-id", "nobody", "--json").stdout)["plan"]["totals"] == []

    def test_now_moves_the_ages(self, dream) -> None:
        """By then nearly all is old, which is no reason to take it away."""
        later = dream("--dry-run", *ALICE, "--now", "2028-01-01")
        assert "[memory:bug] — note, 415d old" in later.stdout
        assert "Prunes (1):" in later.stdout
        assert "Past their age, but not proposed: 1" in later.stderr
        wrong = dream("--dry-run", *ALICE, "--now", "yesterday", code=2).stderr
        assert wrong.endswith("'yesterday' is no date; write 2026-11-21 or 2026-11-21T03:00:00+00:00\n")


class TestAnswers:
    def test_every_question_and_the_summary(self, store: InMemoryStore, dream) -> None:
        done = dream(*ALICE, "--delete", answers="what\nB\nperhaps\nYES\n")
        assert done.stdout == (
            f"{REPORT}{SIDES}  {WORDS['help']['sides']}\n{QUESTION}Please answer A, B, both, same, edit, still (both hold as of today) or skip.\n{QUESTION}"
            f"{PROPOSAL} Apply? [y/N] Please answer y or n.\n{PROPOSAL} Apply? [y/N] "
            "Dream complete — merged: 2, pruned: 2, conflicts resolved: 1, skipped: 0\n"
        )
        assert done.stderr.startswith("Undo with: mem0-dream undo ")
        assert not {"dog1", "run1", "run2", "tabs1", "bug", "tap"} & store.rows.keys()
        assert {"dog2", "tabs2", "pin", "blood", "bob"} < store.rows.keys()

    @pytest.mark.parametrize(
        ("answer", "gone", "resolved"),
        [("a", "tabs2", 1), ("A", "tabs2", 1), ("b", "tabs1", 1), ("", None, 0), ("skip", None, 0), ("S", None, 0)],
    )  # fmt: skip
    def test_a_conflict_is_answered(self, store, dream, answer, gone, resolved):
        done = dream(*ALICE, "--delete", answers=f"{answer}\ny\n")
        assert done.stdout.endswith(f"conflicts resolved: {resolved}, skipped: {1 - resolved}\n")
        assert {"tabs1", "tabs2"} - store.rows.keys() == ({gone} if gone else set())

    def test_what_an_answer_takes_away_is_asked_about_no_more(self, store, dream):
        text = "Never uses 3 tabs for indentation in Go code."
        store.rows |= InMemoryStore([memory("tabs3", text, days=1)]).rows
        asked = dream(*ALICE, "--max-delete", "1", answers="each\nb\ny\n").stdout
        assert asked.count("[A/B/still/skip]") == 1
        assert "1 of 1: 3 memories, user_id=alice, note" in asked
        assert not {"tabs2", "tabs3"} - store.rows.keys()

    def test_a_conflict_may_be_answered_by_a_text_of_its_own(self, store, dream):
        done = dream(*ALICE, "--delete", answers="e\nTabs in Go code, spaces elsewhere.\ny\n")
        assert "The text: " in done.stdout
        assert "Tabs in Go code, spaces elsewhere." in {row["text"] for row in store.rows.values()}

    @pytest.mark.parametrize("answers", ["", "b\n", "b\nwhat\n"])
    def test_the_end_of_the_input_is_no_consent(self, store, dream, answers):
        before = whole(store)
        told = "mem0-dream: Nobody answered, so nothing was changed; use --auto for unattended runs.\n"
        assert dream(*ALICE, answers=answers, code=2).stderr == told
        assert whole(store) == before

    def test_what_moved_meanwhile_is_named(self, store: InMemoryStore, dream) -> None:
        fetch = store.fetch

        def changed_first(ids: Any) -> Any:
            store.rows["tap"]["text"] = "Found a plumber."
            return fetch(ids)

        store.fetch = changed_first  # type: ignore[method-assign]
        done = dream(*ALICE, answers="\ny\n").stdout
        assert "Skipped [memory:tap] — todo, 400d old: memory tap changed since the plan was made\n" in done
        assert done.endswith("merged: 2, pruned: 1, conflicts resolved: 0, skipped: 2\n")


class TestAuto:
    @pytest.mark.parametrize(
        ("limit", "left"), [("0.2", {"bug", "tap"}), ("0", {"bug", "tap", "dog1", "run1"})]
    )
    def test_over_the_budget(self, store: InMemoryStore, dream, limit: str, left: set[str]) -> None:
        stopped = dream(*ALICE, "--auto", "--max-delete", limit, code=3)
        assert "would remove 4 of 17 memories of user_id=alice (24%" in stopped.stderr
        assert f"budget of {float(limit):.0%}" in stopped.stderr
        assert left <= store.rows.keys()

    def test_the_budget_is_a_setting_too(self, dream) -> None:
        dream(*ALICE, "--auto", settings="{max_delete: 0.2}", code=3)
        dream(*ALICE, "--auto", "--max-delete", "0.9", settings="{max_delete: 0.2}")


class TestIncompleteListing:
    @pytest.fixture(autouse=True)
    def gap(self, store: InMemoryStore) -> None:
        store.gaps = ("the store listed 20 of 45",)

    def test_a_dry_run_says_so(self, dream) -> None:
        shown = dream(*ALICE, "--dry-run").stdout
        assert shown.endswith("Read-only: the store listed 20 of 45\nDry run: no changes made.\n")

    @pytest.mark.parametrize("user", ["nobody", "bob"])
    @pytest.mark.parametrize("option", [(), ("--dry-run",)])
    def test_nothing_found_is_no_clean_bill(self, dream, user: str, option: tuple[str, ...]) -> None:
        told = dream("--user-id", user, *option, code=IncompleteListingError.exit_code)
        assert "Read-only: the store listed 20 of 45" in told.stderr
        assert told.stdout == ""

    def test_forget_and_apply_ask_nothing(self, store: InMemoryStore, dream, tmp_path: Path) -> None:
        file, before = str(tmp_path / "plan.jsonl"), whole(store)
        dream("plan", *ALICE, "-o", file)
        for words in (("forget", "bug", *ALICE), ("apply", file)):
            told = dream(*words, code=IncompleteListingError.exit_code)
            assert "Read-only: the store listed 20 of 45." in told.stderr
            assert "?" not in told.stdout
        assert whole(store) == before


class TestWhy:
    @pytest.mark.parametrize(
        ("pair", "told"),
        [
            (("dog1", "dog2"), "The same fact"),
            (("tabs1", "tabs2"), "A contradiction; a person chooses."),
            (("tea", "rust"), "Different facts; both stay."),
            (("dog1", "bob"), "Never compared: A is of user_id=alice, B of user_id=bob."),
            (("tea", "tea"), "This is one memory."),
        ],
    )
    def test_any_pair_is_explained(self, dream, pair: tuple[str, str], told: str) -> None:
        shown = dream("why", *pair).stdout
        assert told in shown
        assert shown.startswith(f"A: [memory:{pair[0]}] ")
        if pair == ("tabs1", "tabs2"):
            assert "only B says *Never*" in shown
            assert "cosine" in shown

    def test_what_was_answered_is_told(self, dream) -> None:
        dream("reject", "tea", "rust")
        assert "rejected" in dream("why", "tea", "rust").stdout


def test_a_dry_run_names_a_run_that_was_interrupted(store: InMemoryStore, dream) -> None:
    store.before_write = went_away
    dream(*ALICE, "--auto", code=4)
    assert " was interrupted: mem0-dream resume " in dream(*ALICE, "--dry-run").stderr


def test_a_page_is_written_over_a_page_alone_and_holds_what_the_options_ask_for(dream, store, tmp_path):
    page, notes, before = tmp_path / "report.html", tmp_path / "notes.txt", whole(store)
    notes.write_text("keep me")
    for _ in range(2):
        assert dream("report", "--all", "-o", str(page)).stderr == f"5 proposals written to {page}.\n"
    assert "is no report of mem0-dream" in dream("report", *ALICE, "-o", str(notes), code=2).stderr
    assert notes.read_text() == "keep me"
    dream("report", *ALICE, "-o", str(notes), "--force")
    assert notes.stat().st_mode & 0o777 == 0o600
    assert whole(store) == before
    shown = data_of(dream("report", "--all", "--only", "merges", "-o", "-").stdout)
    assert {card["kind"] for card in shown["cards"]} == {"merge"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("report", "-o", "-"), 2, "Say whose memories"),
        (("report", "no-such-run", "-o", "-"), 6, "There is no run 'no-such-run'"),
        (("report", "--all", "-o", "/no/such/x.html"), 2, "cannot be written to /no/such/x.html"),
    ],
)
def test_a_page_that_cannot_be_made_is_one_sentence(dream, words, code, told):
    done = dream(*words, code=code)
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_pin_is_listed_and_withdrawn_like_any_answer(dream, own_state: Path) -> None:
    from builders import NOW
    from mem0_dream.pipeline.answers import Answer
    from mem0_dream.pipeline.writing.journal import Journal

    def merges() -> int:
        return int(data_of(dream("report", "--all", "-o", "-").stdout)["summary"]["merges"])

    journal = Journal(own_state)
    journal.answer("in-memory", [Answer.pin("dog1", "Has a whippet named Pickle.", at=NOW)])
    journal.close()
    assert merges() == 1
    assert "pinned: [memory:dog1] Has a whippet named Pickle." in dream("reject", "--list").stdout
    dream("reject", "--forget", "1")
    assert merges() == 2
