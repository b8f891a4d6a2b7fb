"""The command line on a small graph: what is shown, counted and refused. Each is one call in this process."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from e2e_cli import ALICE, dream, store
from graph_world import NOW, entities, entity, relation, relations, write
from mem0_dream.pipeline.cli.main import main

__all__ = ["dream", "store"]


def day(ago):
    """An ISO date so many days before NOW."""
    return (NOW - timedelta(days=ago)).date().isoformat()


def used(times, *, ago=20, verdict="HELPFUL", start=0):
    """So many uses."""
    return [f"Applied in p{number} - {verdict} ({day(ago)})" for number in range(start, start + times)]


LINES = [
    entity("cache warm", "Warm the image cache before the sale", *used(10), f"Discovered: {day(100)}"),
    entity(
        "image cache warm",
        "Warm the image cache before the sale.",
        *used(8, start=10),
        f"Discovered: {day(100)}",
    ),
    entity("deploy hours", "The deploy window of the shop opens at nine", kind="research"),
    entity("deploy window", "The deploy window of the shop opens at nine daily", kind="research"),
    entity("cats a", "Cats like the warm sofa", kind="design"),
    entity("cats b", "Cats do not like the warm sofa", kind="design"),
    entity("old idea", "An idea nobody took up", f"Discovered: {day(300)}", kind="mistake"),
    relation("old idea", "deploy hours"),
]


@pytest.fixture
def call(tmp_path, own_state):
    """Runs the program on a graph; gives its output, its errors and its exit code."""
    write(tmp_path / "g.jsonl", LINES)

    def run(*words, answers="", code=0, now=True, file="g.jsonl", core="core.json"):
        place = ["--store", "graph", "--file", str(tmp_path / file), "--core", str(tmp_path / core)]
        when = ["--now", NOW.isoformat()] if now else []
        done = CliRunner().invoke(
            main, ["--scorer", "keywords", "--max-delete", "1", *place, *when, *words], input=answers
        )
        assert done.exit_code == code, done.output
        return SimpleNamespace(out=done.stdout, err=done.stderr)

    return run


def test_a_person_sees_why_something_is_forgotten(call):
    """Before being asked, not only afterwards."""
    shown = call("--dry-run").out
    assert "[graph:old idea] — mistake, 300d old; unused for 300 days; 0 uses, fewer than 3" in shown


def test_explain_names_what_the_survivor_gains(call):
    """A merge of a graph never leaves the survivor as it is."""
    shown = call("--dry-run", "--explain").out
    assert "[graph:image cache warm] stays, with these added:" in shown
    assert f"      + Merged from: cache warm on {day(0)}" in shown
    assert "says it all" not in shown


def test_the_report_tells_what_a_person_decided(call, tmp_path):
    """A reviewed merge, the relation of a settled contradiction, and a promotion by a merge are in it."""
    shown = call("--review", answers="a\nm\ny\n").out
    assert "Memories merged: 2 into 2" in shown
    assert "- deploy hours -> deploy window (similarity 0.8" in shown
    assert "- image cache warm (promote: 18 uses, effectiveness 100%, united from 2 memories)" in shown
    assert "Promoted to core: 1" in shown
    assert ("cats a", "cats b", "supersedes") in relations(tmp_path / "g.jsonl")
    assert "Relationships created: 1" in shown
    assert "deploy hours" not in entities(tmp_path / "g.jsonl")
    assert "No duplicate, contradictory, or stale memories found." in call("--dry-run").out


def test_a_relation_between_two_does_not_hide_that_they_may_be_one(call):
    """A pair above 0.7 is asked about although `related_to` is proposed for it, which is on request alone."""
    shown = call("--dry-run", "--explain", "--relate").out
    assert "+ deploy hours --related_to--> deploy window" in shown
    assert "Unsure (1):" in shown
    shown = call("--dry-run", "--explain").out
    assert "related_to" not in shown
    assert ": --review" in shown


def test_over_the_budget_the_answer_is_no_unless_said(call, tmp_path):
    """An empty answer removes nothing then."""
    before = (tmp_path / "g.jsonl").read_bytes()
    lines = [entity(f"old {i}", f"Idea {i} nobody took up", f"Discovered: {day(300)}") for i in range(9)]
    lines[0] = lines[0].replace('"Discovered', f'"Applied in shop ({day(200)})","Discovered')
    write(tmp_path / "many.jsonl", lines)
    shown = call("--max-delete", "0.1", file="many.jsonl", answers="\n").out
    assert "Careful: this removes" in shown
    assert "[y/N]" in shown
    assert "No changes made" in shown
    assert len(entities(tmp_path / "many.jsonl")) == 9
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_json_of_an_unattended_pass_has_both_healths(call):
    """Before and after, with the same keys whatever the settings are."""
    whole = json.loads(call("--auto", "--json").out)
    assert (whole["health_before"]["total"], whole["health"]["total"]) == (7, 5)
    names = {"count", "stale", "low effectiveness", "potential duplicates", "orphans"}
    assert set(whole["health"]["indicators"]) == names


def test_a_graph_with_a_broken_line_is_not_healthy(call, tmp_path):
    """Even if all else is well: exit code 9, and the line is named."""
    good = [entity("a", "The sky is blue"), entity("b", "Bread is baked at five"), relation("a", "b")]
    write(tmp_path / "good.jsonl", good)
    assert json.loads(call("--health", "--json", file="good.jsonl").out)["status"] == "OK"
    write(tmp_path / "bad.jsonl", [*good, "{broken"])
    assert "Read-only: line 4 of the graph is broken" in call("--health", file="bad.jsonl", code=9).out
    state = json.loads(call("--health", "--json", file="bad.jsonl", code=9).out)
    assert (state["status"], len(state["gaps"])) == ("WARN", 1)


def test_reflection_is_about_the_last_run_alone(call):
    """What it merged and forgot, by name; a later run with nothing to do has none of it, an undone one neither."""
    assert json.loads(call("reflect", "--json").out) == {"since": None}
    call("--auto")
    told = json.loads(call("reflect", "--json").out)
    assert (told["merged"], told["forgotten"]) == (["cache warm -> image cache warm"], ["old idea"])
    call("--auto")
    assert json.loads(call("reflect", "--json").out)["forgotten"] == []


def test_an_undone_run_is_no_success(call):
    """Nothing counts as merged or forgotten that was taken back."""
    call("--auto")
    call("undo", now=False)
    told = json.loads(call("reflect", "--json").out)
    assert (told["merged"], told["forgotten"]) == ([], [])
    assert "old idea" in told["new"]


def test_every_reflection_has_data_as_json(call):
    """And not its lines."""
    assert set(json.loads(call("reflect", "--quick", "--json").out)) == {"since", "learned", "used"}
    assert json.loads(call("reflect", "--memories", "--json").out)["memories"][0] == {
        "name": "cache warm",
        "effectiveness": 1.0,
        "uses": 10,
    }


def test_a_focus_says_what_it_protects(call):
    """And one that can match nothing is refused."""
    assert "Focus: deploy window (memories: 2)" in call("attention", "--focus", "deploy window").out
    assert len(json.loads(call("attention", "--json").out)["in_focus"]) == 2
    assert "holds no word" in call("attention", "--focus", "the", code=2).err
    assert "Focus: none set" in call("attention", "--reset").out


def test_a_schedule_carries_all_that_was_given(tmp_path, call):
    """Settings as well as the place; and without a place there is nothing to schedule."""
    (tmp_path / "c.yaml").write_text("mem0_dream: {graph: {forget_unused: 120d}}")
    printed = call("schedule", "--print", "cron", "--config", str(tmp_path / "c.yaml"), now=False).out
    for part in (
        f"--config {tmp_path / 'c.yaml'}",
        "--scorer keywords",
        "--max-delete 1.0",
        "--if-due --auto",
    ):
        assert part in printed
    nowhere = CliRunner().invoke(main, ["schedule", "--print", "cron"])
    assert nowhere.exit_code == 2
    assert "Name one graph" in nowhere.stderr


EXAMPLES = Path(__file__).resolve().parents[3] / "scripts" / "schedule"


@pytest.mark.parametrize("name", ["crontab", "mem0-dream.service", "end-of-project.sh"])
def test_the_examples_of_schedules_parse(name):
    """Each runs a pass that asks nobody, if it is due."""
    text = (EXAMPLES / name).read_text()
    line = next(line for line in text.splitlines() if "mem0-dream --store graph" in line)
    words = shlex.split(line.partition("mem0-dream ")[2].partition("||")[0])
    context = main.make_context("mem0-dream", words, resilient_parsing=False)
    assert (context.params["store_kind"], context.params["if_due"], context.params["auto"]) == (
        "graph",
        True,
        True,
    )


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
def test_the_hook_never_fails_a_session(tmp_path):
    """Whatever the pass ends with; the code is told."""
    program = tmp_path / "mem0-dream"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    (tmp_path / "memory.jsonl").write_text("")
    done = subprocess.run(
        ["/bin/sh", str(EXAMPLES / "end-of-project.sh"), str(tmp_path / "memory.jsonl")],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "ended with code 4" in done.stderr) == (0, True)


def test_not_due_is_json_too(call):
    """A program that reads the output gets an object either way."""
    call("--auto")
    answer = json.loads(call("--if-due", "--auto", "--json").out)
    assert answer["due"] is False
    assert "last run" in answer["reason"]


@pytest.mark.parametrize(
    "words",
    [
        ("--repair", "--dry-run"),
        ("--repair", "--json"),
        ("--repair", "--health"),
        ("--retire", "--auto"),
        ("--auto", "--dry-run"),
    ],
)
def test_what_excludes_each_other_is_refused(call, tmp_path, words):
    """And not left undone without a word."""
    before = (tmp_path / "g.jsonl").read_bytes()
    call(*words, code=2)
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_the_one_line_and_the_runs_name_every_change_of_relations(call, tmp_path):
    """Also those that go with a forgotten memory; a relation to a name without a line stays."""
    write(tmp_path / "r.jsonl", [*LINES, relation("cats a", "the sofa", "sits on")])
    shown = call("--auto", file="r.jsonl").out
    assert (
        "merged=1 pruned=1 conflicts_skipped=1 relations_added=0 relations_moved=0 relations_removed=1"
        in shown
    )
    assert "- old idea --uses--> deploy hours" in shown
    assert relations(tmp_path / "r.jsonl") == [("cats a", "the sofa", "sits on")]
    assert ", 0 relations added, 0 moved, 1 removed" in call("runs", file="r.jsonl", now=False).out
    assert "  cats a --sits on--> the sofa" in call("--dry-run", file="r.jsonl").out


def test_what_a_dry_run_shows_is_what_is_done(call, tmp_path):
    """Nothing is left out of the report that asks, and of the JSON."""
    shown = call("--dry-run", "--json", "--repair-relations").out
    assert json.loads(shown)["relations"]["removed"] == [["old idea", "deploy hours", "uses"]]


def test_a_saved_plan_is_shown_in_full_before_it_is_applied(call, tmp_path):
    """With the observations it folds and the relations it removes; and the undo it names works as it stands."""
    twice = entity("rules", "Ask before deploying", "Ask before deploying.", kind="design")
    write(tmp_path / "g.jsonl", [*LINES, twice])
    call("plan", "-o", str(tmp_path / "plan.jsonl"))
    before = (tmp_path / "g.jsonl").read_bytes()
    declined = call("apply", str(tmp_path / "plan.jsonl"), now=False, answers="n\n").out
    for part in (
        "[graph:rules] — 1 observations stand twice",
        "    - Ask before deploying.",
        "Relations (0 relations added, 0 moved, 1 removed):",
        "- old idea --uses--> deploy hours",
        "1 merges, 1 prunes, 1 conflicts, 1 promotions, 1 changes of relations, 1 repairs",
    ):
        assert part in declined
    assert (tmp_path / "g.jsonl").read_bytes() == before
    done = call("apply", str(tmp_path / "plan.jsonl"), now=False, answers="y\n")
    words = shlex.split(done.err.partition("Undo with: mem0-dream ")[2])
    assert CliRunner().invoke(main, words).exit_code == 0
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_a_repair_is_shown_and_asked_about(call, tmp_path):
    """Each line with what is wrong with it; without a yes nothing happens."""
    data = write(tmp_path / "b.jsonl", [*LINES, "{broken \x1b[31m"])
    shown = call("--repair", file="b.jsonl", answers="n\n").out
    assert f"  line {len(LINES) + 1}, it is no JSON: " + r"{broken \x1b[31m" in shown
    assert (tmp_path / "b.jsonl").read_bytes() == data
    done = call("--repair", file="b.jsonl", answers="y\n\nn\n")
    assert "1 broken lines moved to" in done.err
    call("undo", file="b.jsonl", now=False)
    assert (tmp_path / "b.jsonl").read_bytes() == data


@pytest.mark.parametrize(
    "words", [("--health",), ("--dry-run",), ("--auto",), ("--repair", "--auto"), ("status",)]
)
def test_a_foreign_file_is_one_sentence(call, tmp_path, words):
    """And not a healthy memory without memories."""
    (tmp_path / "f.jsonl").write_text('{"entities": [{"name": "a"}], "relations": []}')
    told = call(*words, file="f.jsonl", code=4, now=words[0] != "status").err
    assert "no graph of a memory server: it is one JSON object with" in told
    assert (tmp_path / "f.jsonl").read_text() == '{"entities": [{"name": "a"}], "relations": []}'


@pytest.mark.parametrize(
    "words",
    [("--user-id", "a"), ("--all",), ("--index-only",), ("--supersede",), ("--root", "."), ("--run-id", "a")],
)
def test_options_of_other_kinds_are_refused(call, tmp_path, words):
    """Instead of being left undone without a word."""
    before = (tmp_path / "g.jsonl").read_bytes()
    assert f"{words[0]} is an option of --store" in call("--auto", *words, code=2).err
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_health_asks_no_scorer_and_says_when(call):
    """A plan would judge pairs; a look at the graph does not."""
    state = json.loads(
        call("--health", "--json", "--scorer", "nli:no-such-model", "--encoder", "words", code=9).out
    )
    assert (state["generated"], state["last_consolidation"]) == (NOW.isoformat(), None)
    assert state["indicators"]["potential duplicates"]["value"] == 1
    assert "Last Consolidation: Never" in call("--health", code=9).out
    call("--auto")
    assert f"Last Consolidation: {NOW:%Y-%m-%d %H:%M} UTC" in call("--health", code=9).out


def test_a_graph_that_records_no_use_is_told_what_it_would_gain(call, tmp_path):
    """In one line; one that does is not."""
    write(tmp_path / "plain.jsonl", [entity("a", "The sky is blue")])
    assert "No memory here says how it was used" in call("--dry-run", file="plain.jsonl").out
    assert "No memory here says how it was used" not in call("--dry-run").out


def test_names_cannot_forge_a_line(call, tmp_path):
    """Escapes are neutralised in every output."""
    evil = "\x1b[2Jevil\x9b"
    used_up = [*used(2), f"Discovered: {day(300)}"]
    write(tmp_path / "e.jsonl", [entity(evil, "x", *used_up, kind=evil), relation(evil, f"{evil}y")])
    for words in (
        ("--dry-run",),
        ("--dry-run", "--json"),
        ("--health",),
        ("--health", "--json"),
        ("reflect", "--memories"),
        ("reflect", "--memories", "--json"),
        ("attention",),
        ("attention", "--json"),
    ):
        done = CliRunner().invoke(
            main, ["--scorer", "keywords", "--store", "graph", "--file", str(tmp_path / "e.jsonl"), *words]
        )
        assert done.exit_code in (0, 9), done.output
        assert all(char.isprintable() or char == "\n" for char in done.output)


@pytest.mark.parametrize("words", [("--repair",), ("--relate",), ("--repair-relations",)])
@pytest.mark.parametrize("kind", ["md", "mem0"])
def test_what_only_a_graph_has_is_refused_elsewhere(own_state, tmp_path, kind, words):
    """A night job on another store must not believe that it waits until it is due."""
    done = CliRunner().invoke(main, ["--store", kind, "--root", str(tmp_path), "--auto", *words])
    assert done.exit_code == 2
    assert "an option of --store graph" in done.stderr


def test_a_damaged_core_memory_is_told_before_anything_is_applied(call, tmp_path):
    """In a dry run, too."""
    (tmp_path / "bad.json").write_text('{"preferences": 3}')
    assert "damaged at preferences" in call("--dry-run", core="bad.json").err


def test_files_have_a_health_without_a_use(tmp_path, own_state):
    """Age alone makes no Markdown memory stale, so the figure is unknown."""
    notes = tmp_path / "memory"
    notes.mkdir()
    Path(notes / "a.md").write_text("---\ntype: user\ncreated: 2020-11-01\n---\nLikes strong coffee\n")
    place = ["--store", "md", "--root", str(tmp_path), "--memory-dir", str(notes)]
    done = CliRunner().invoke(main, ["--scorer", "keywords", *place, "--health", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["indicators"]["stale"]["status"] == "UNKNOWN"


def test_a_mem0_store_has_a_health(store, dream):
    """Age, accesses and copies; what it has no data for is unknown, and what cannot be listed a warning."""
    state = json.loads(dream(*ALICE, "--health", "--json", code=9).stdout)
    found = {name: item["status"] for name, item in state["indicators"].items()}
    assert state["total"] == 17
    assert found["low effectiveness"] == found["orphans"] == "UNKNOWN"
    assert found["stale"] == "WARN"
    shown = dream(*ALICE, "--health", code=9).stdout
    assert "  ?    orphans: unknown" in shown
    store.gaps = ("the store listed 20 of 45",)
    assert "Read-only: the store listed 20 of 45" in dream(*ALICE, "--health", code=9).stdout


def test_two_observations_that_may_say_the_same_are_asked_about(call, tmp_path):
    """Seen side by side, folded after a yes alone, told in the report, and taken back by an undo."""
    said = ["Warm the image cache before the sale", "Warm the image cache before the summer sale", "Port 9"]
    before = write(tmp_path / "two.jsonl", [entity("shop", *said, kind="service")])
    assert "1 more pair may be duplicates: --review" in call("--dry-run", file="two.jsonl").out
    call("--auto", file="two.jsonl")
    assert (tmp_path / "two.jsonl").read_bytes() == before
    shown = call("--review", file="two.jsonl", answers="m\ny\n").out
    assert all(text in shown for text in said[:2])
    assert f'- shop: "{said[0]}" is said by "{said[1]}"' in shown
    assert entities(tmp_path / "two.jsonl")["shop"] == said[1:]
    call("--dry-run", file="two.jsonl")
    undo = ["undo", "--store", "graph", "--file", str(tmp_path / "two.jsonl")]
    assert CliRunner().invoke(main, undo, input="y\n").exit_code == 0
    assert (tmp_path / "two.jsonl").read_bytes() == before
