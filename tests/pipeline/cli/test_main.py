"""A pass on the command line: every line it prints, every question, every way to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import BOB, memory
from e2e_cli import (  # type: ignore[import-not-found]  # it lies beside this file
    ALICE,
    FUSED,
    NOTHING_FOUND,
    NOTHING_STORED,
    PROPOSAL,
    QUESTION,
    REPORT,
    SIDES,
    Invoke,
    dream,
    store,
    whole,
)
from mem0_dream.errors import IncompleteListingError, RefusedChangeError
from mem0_dream.pipeline.stores.base import Add
from mem0_dream.testing import InMemoryStore

__all__ = ["dream", "store"]


class TestReport:
    def test_a_dry_run_prints_the_report_and_changes_nothing(
        self, store: InMemoryStore, dream: Invoke
    ) -> None:
        """The form of the report, to the letter."""
        before = whole(store)
        shown = dream(*ALICE, "--dry-run")
        assert shown.stdout == f"{REPORT}{PROPOSAL}\nDry run: no changes made.\n"
        assert shown.stderr == ""
        assert whole(store) == before

    def test_nothing_stored(self, store: InMemoryStore, dream: Invoke) -> None:
        """An empty scope says so, dry or not, and asks nothing."""
        for option in ((), ("--dry-run",), ("--explain",)):
            assert dream("--user-id", "nobody", *option).stdout == NOTHING_STORED

    def test_nothing_to_do(self, store: InMemoryStore, dream: Invoke) -> None:
        """A clean scope says so and asks nothing."""
        for option in ((), ("--dry-run",)):
            assert dream("--user-id", "bob", *option).stdout == NOTHING_FOUND

    def test_only_merges_or_only_prunes(self, dream: Invoke) -> None:
        """--merge-only and --forget-only leave the other sections out, and exclude each other."""
        merges = dream(*ALICE, "--dry-run", "--merge-only").stdout
        assert merges.splitlines()[2] == "Merges (2):"
        assert "Proposed: 2 merges, 0 prunes, 0 conflicts." in merges
        assert not any(word in merges for word in ("Conflicts (", "Prune ("))
        prunes = dream(*ALICE, "--dry-run", "--forget-only").stdout
        assert prunes.splitlines()[2] == "Prune (2):"
        assert "Proposed: 0 merges, 2 prunes, 0 conflicts." in prunes
        both = dream(*ALICE, "--dry-run", "--merge-only", "--forget-only", code=2)
        assert both.stderr.count("\n") == 1

    def test_only_merges_asks_about_merges_alone(self, store: InMemoryStore, dream: Invoke) -> None:
        """No conflict is asked about, neither a sure one nor one to review."""
        done = dream(*ALICE, "--merge-only", "--review", answers="y\n").stdout
        assert "[A/B/skip]" not in done
        assert "merged: 2, pruned: 0, conflicts resolved: 0" in done

    def test_scopes_are_shown_apart(self, store: InMemoryStore, dream: Invoke) -> None:
        """With more than one scope in the plan each has its own heading and sections."""
        store.rows |= InMemoryStore([memory("bob2", "has a whippet named Pickle", scope=BOB)]).rows
        lines = dream("--all", "--dry-run").stdout.splitlines()
        assert [line for line in lines if line.startswith("Scope ")] == [
            "Scope user_id=alice",
            "Scope user_id=bob",
        ]
        assert lines[lines.index("Scope user_id=bob") + 1] == "Merges (1):"

    def test_explain_shows_texts_scores_and_evidence(self, dream: Invoke) -> None:
        """Under each line: both texts in full, scores per direction, what fired."""
        shown = dream(*ALICE, "--dry-run", "--explain").stdout
        assert FUSED in shown
        assert "[memory:dog2] says it all and stays as it is" in shown
        assert "B was stated later and is the likely winner" in shown
        assert (
            "contradiction; duplicate 0.00, contradiction 1.00, distinct 0.00; entails 1.00 -> / 1.00 <-"
            in shown
        )
        assert "one text denies what the other says" in shown
        assert "because: stale, 400 days old, limit 180; no known access" in shown

    def test_json_has_the_same_numbers(self, store: InMemoryStore, dream: Invoke) -> None:
        """--json prints one object, asks nothing and changes nothing; with --auto it also tells what was done."""
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

    def test_now_moves_the_ages(self, dream: Invoke) -> None:
        """Ages are reckoned from --now, whatever the clock says."""
        later = dream("--dry-run", *ALICE, "--now", "2028-01-01").stdout
        assert "[memory:choir] — note, 416d old" in later or "Prune (" in later
        assert dream("--dry-run", *ALICE, "--now", "yesterday", code=2).stderr.endswith(
            "'yesterday' is no date; write 2026-11-21 or 2026-11-21T03:00:00+00:00\n"
        )


class TestAnswers:
    def test_every_question_and_the_summary(self, store: InMemoryStore, dream: Invoke) -> None:
        """The whole conversation, to the letter; a wrong answer is asked again."""
        done = dream(*ALICE, answers="what\nB\nperhaps\nYES\n")
        assert done.stdout == (
            f"{REPORT}{SIDES}{QUESTION}Please answer A, B or skip.\n{QUESTION}"
            f"{PROPOSAL} Apply? [Y/n] Please answer y or n.\n{PROPOSAL} Apply? [Y/n] "
            "Dream complete — merged: 2, pruned: 2, conflicts resolved: 1, skipped: 0\n"
        )
        assert done.stderr.startswith("Undo with: mem0-dream undo ")
        assert not {"dog1", "run1", "run2", "tabs1", "bug", "tap"} & store.rows.keys()
        assert {"dog2", "tabs2", "pin", "blood", "bob"} < store.rows.keys()

    @pytest.mark.parametrize(
        ("answer", "gone", "resolved"),
        [("a", "tabs2", 1), ("A", "tabs2", 1), ("b", "tabs1", 1), ("", None, 0), ("skip", None, 0), ("S", None, 0)],
    )  # fmt: skip
    def test_a_conflict_is_answered(
        self, store: InMemoryStore, dream: Invoke, answer: str, gone: str | None, resolved: int
    ) -> None:
        """A keeps the first, B the second, skip or nothing keeps both."""
        done = dream(*ALICE, answers=f"{answer}\n\n")
        assert done.stdout.endswith(f"conflicts resolved: {resolved}, skipped: {1 - resolved}\n")
        assert {"tabs1", "tabs2"} - store.rows.keys() == ({gone} if gone else set())

    def test_a_skip_is_not_asked_again(self, store: InMemoryStore, dream: Invoke) -> None:
        """Until a text changes the pair is left alone."""
        dream(*ALICE, answers="skip\ny\n")
        assert dream(*ALICE).stdout == (
            "Dream complete. Nothing new to propose.\n"
            "1 conflict was left open earlier: `mem0-dream reject --list`\n"
        )
        store.rows["tabs1"]["text"] = "Always uses tabs for indentation in Go code."
        assert "Conflicts (1):" in dream(*ALICE, "--dry-run").stdout

    @pytest.mark.parametrize("answer", ["n", "N", "no"])
    def test_declined(self, store: InMemoryStore, dream: Invoke, answer: str) -> None:
        """No means no: nothing is changed, nothing is remembered."""
        before = whole(store)
        assert dream(*ALICE, answers=f"b\n{answer}\n").stdout.endswith("Cancelled. No changes made.\n")
        assert whole(store) == before
        assert dream("runs").stdout == "No runs yet.\n"

    @pytest.mark.parametrize("answers", ["", "b\n", "b\nwhat\n"])
    def test_the_end_of_the_input_is_no_consent(
        self, store: InMemoryStore, dream: Invoke, answers: str
    ) -> None:
        """Where nobody answers, at whatever question, nothing is changed."""
        before = whole(store)
        stopped = dream(*ALICE, answers=answers, code=2)
        assert stopped.stderr == (
            "mem0-dream: Nobody answered, so nothing was changed; use --auto for unattended runs.\n"
        )
        assert whole(store) == before

    def test_what_moved_meanwhile_is_named(self, store: InMemoryStore, dream: Invoke) -> None:
        """An action whose memory changed between report and apply is skipped, with its line and the reason."""
        fetch = store.fetch

        def changed_first(ids: Any) -> Any:
            store.rows["tap"]["text"] = "Found a plumber."
            return fetch(ids)

        store.fetch = changed_first  # type: ignore[method-assign]
        done = dream(*ALICE, answers="\n\n").stdout
        assert "Skipped [memory:tap] — todo, 400d old: memory tap changed since the plan was made\n" in done
        assert done.endswith("merged: 2, pruned: 1, conflicts resolved: 0, skipped: 2\n")


class TestAuto:
    def test_one_line_and_a_second_run_finds_nothing(self, store: InMemoryStore, dream: Invoke) -> None:
        """Merges and prunes are applied, conflicts are left, the second run is idle."""
        done = dream(*ALICE, "--auto")
        assert (done.stdout, done.stderr) == (
            "[mem0-dream --auto] merged=2 pruned=2 conflicts_skipped=1\n",
            "",
        )
        assert {"tabs1", "tabs2"} < store.rows.keys()
        settled = whole(store)
        assert dream(*ALICE, "--auto").stdout == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=1\n"
        assert whole(store) == settled

    @pytest.mark.parametrize("limit", ["0.2", "0"])
    def test_over_the_budget(self, store: InMemoryStore, dream: Invoke, limit: str) -> None:
        """Too much at once stops with the numbers and exit code 3; 0 is a limit like any other."""
        before = whole(store)
        stopped = dream(*ALICE, "--auto", "--max-delete", limit, code=3)
        assert "would remove 4 of 17 memories of user_id=alice (24%" in stopped.stderr
        assert f"budget of {float(limit):.0%}" in stopped.stderr
        assert whole(store) == before

    def test_a_person_is_warned_and_decides(self, store: InMemoryStore, dream: Invoke) -> None:
        """Over the budget the numbers stand above the question; a no changes nothing."""
        before = whole(store)
        warned = dream(*ALICE, "--max-delete", "0.2", answers="b\nn\n").stdout
        told = "Careful: this removes 5 of 17 memories of user_id=alice (29%, exact copies not counted)"
        assert f"{told}, more than the delete budget of 20%.\n{PROPOSAL} Apply?" in warned
        assert whole(store) == before
        assert "Careful" not in dream(*ALICE, answers="b\nn\n").stdout

    def test_the_budget_is_a_setting_too(self, dream: Invoke) -> None:
        """The mem0_dream section sets it, the command line overrides it."""
        dream(*ALICE, "--auto", settings="{max_delete: 0.2}", code=3)
        dream(*ALICE, "--auto", "--max-delete", "0.9", settings="{max_delete: 0.2}")

    def test_retire(self, store: InMemoryStore, dream: Invoke) -> None:
        """Nothing is deleted; what was retired does not come up again."""
        before = store.rows.keys() | set()
        dream(*ALICE, "--auto", "--retire")
        assert before < store.rows.keys()
        assert store.rows["tap"]["expires_on"] is not None

    def test_a_text_that_cannot_be_embedded_is_skipped(self, store: InMemoryStore, dream: Invoke) -> None:
        """The merge that needs a new text is named with the cause, its sources stay, all else is done and undone."""
        write, before = store.write, whole(store)

        def refuse(change: Any) -> str:
            if isinstance(change, Add):
                raise RefusedChangeError("the openai embedder of mem0's configuration failed (ConnectError)")
            return write(change)

        store.write = refuse  # type: ignore[method-assign]
        done = dream(*ALICE, "--auto")
        assert done.stdout == "[mem0-dream --auto] merged=1 pruned=2 conflicts_skipped=1\n"
        assert done.stderr == (
            "mem0-dream: skipped m2: the openai embedder of mem0's configuration failed (ConnectError)\n"
        )
        assert {"run1", "run2"} < store.rows.keys()
        dream("undo")
        assert whole(store) == before

    def test_auto_and_dry_run_contradict_each_other(self, dream: Invoke) -> None:
        """One applies, the other does not."""
        assert dream(*ALICE, "--auto", "--dry-run", code=2).stderr == (
            "mem0-dream: --auto applies and --dry-run does not; choose one.\n"
        )


class TestIncompleteListing:
    @pytest.fixture(autouse=True)
    def gap(self, store: InMemoryStore) -> None:
        """The store cannot prove that it listed everything."""
        store.gaps = ("the store listed 20 of 45",)

    def test_nothing_is_written(self, store: InMemoryStore, dream: Invoke) -> None:
        """Attended or not the run is read-only, with the reason and exit code 4."""
        before = whole(store)
        for arguments in (("--auto",), ()):
            stopped = dream(*ALICE, *arguments, answers="b\ny\n", code=IncompleteListingError.exit_code)
            assert stopped.stderr.startswith("mem0-dream: Read-only: the store listed 20 of 45.")
        assert whole(store) == before

    def test_a_dry_run_says_so(self, dream: Invoke) -> None:
        """The report may be looked at, with the reason under it."""
        shown = dream(*ALICE, "--dry-run").stdout
        assert shown.endswith("Read-only: the store listed 20 of 45\nDry run: no changes made.\n")

    @pytest.mark.parametrize("user", ["nobody", "bob"])
    @pytest.mark.parametrize("option", [(), ("--dry-run",)])
    def test_nothing_found_is_no_clean_bill(self, dream: Invoke, user: str, option: tuple[str, ...]) -> None:
        """An incomplete listing in which nothing was found is told as incomplete, not as clean."""
        told = dream("--user-id", user, *option, code=IncompleteListingError.exit_code)
        assert "Read-only: the store listed 20 of 45" in told.stderr
        assert told.stdout == ""

    def test_forget_and_apply_ask_nothing(self, store: InMemoryStore, dream: Invoke, tmp_path: Path) -> None:
        """What cannot be done is told before anybody is asked to agree to it."""
        file, before = str(tmp_path / "plan.jsonl"), whole(store)
        dream("plan", *ALICE, "-o", file)
        for words in (("forget", "bug", *ALICE), ("apply", file)):
            told = dream(*words, code=IncompleteListingError.exit_code)
            assert "Read-only: the store listed 20 of 45." in told.stderr
            assert "?" not in told.stdout
        assert whole(store) == before

    def test_status_says_so(self, dream: Invoke) -> None:
        """And status names it."""
        assert "Listing: incomplete, read-only: the store listed 20 of 45" in dream("status", "--all").stdout
