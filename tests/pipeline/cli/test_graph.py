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
from typed import on_store

__all__ = ["dream", "store"]


def day(ago):
    return (NOW - timedelta(days=ago)).date().isoformat()


def used(times, *, ago=20, verdict="HELPFUL", start=0):
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
    write(tmp_path / "g.jsonl", LINES)

    def run(*words, answers="", code=0, now=True, file="g.jsonl", core="core.json"):
        place = ["--store", "graph", "--file", str(tmp_path / file), "--core", str(tmp_path / core)]
        when = ["--now", NOW.isoformat()] if now else []
        line = on_store(["--scorer", "keywords", "--max-delete", "1", *words, *place, *when])
        done = CliRunner().invoke(main, line, input=answers)
        assert done.exit_code == code, done.output
        return SimpleNamespace(out=done.stdout, err=done.stderr)

    return run


def test_a_person_sees_why_something_is_forgotten(call):
    shown = call("--dry-run").out
    assert "[graph:old idea] — mistake, 300d old; unused for 300 days; 0 uses, fewer than 3" in shown


def test_explain_names_what_the_survivor_gains(call):
    shown = call("--dry-run", "--explain").out
    assert "[graph:image cache warm] stays, with these added:" in shown
    assert f"      + Merged from: cache warm on {day(0)}" in shown
    assert "says it all" not in shown


def test_the_report_tells_what_a_person_decided(call, tmp_path):
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
    shown = call("--dry-run", "--explain", "--relate").out
    assert "+ deploy hours --related_to--> deploy window" in shown
    assert "Likely the same (1):" in shown
    shown = call("--dry-run", "--explain").out
    assert "related_to" not in shown
    assert "Likely the same (1):" in shown


def test_json_of_an_unattended_pass_has_both_healths(call):
    whole = json.loads(call("--auto", "--json").out)
    assert (whole["health_before"]["total"], whole["health"]["total"]) == (7, 5)
    names = {"count", "stale", "low effectiveness", "potential duplicates", "orphans"}
    assert set(whole["health"]["indicators"]) == names


def test_a_graph_with_a_broken_line_is_not_healthy(call, tmp_path):
    good = [entity("a", "The sky is blue"), entity("b", "Bread is baked at five"), relation("a", "b")]
    write(tmp_path / "good.jsonl", good)
    assert json.loads(call("status", "--json", file="good.jsonl").out)["health"]["status"] == "OK"
    write(tmp_path / "bad.jsonl", [*good, "{broken"])
    assert (
        "Read-only: line 4 of the graph is broken" in call("status", "--check", file="bad.jsonl", code=9).out
    )
    state = json.loads(call("status", "--check", "--json", file="bad.jsonl", code=9).out)["health"]
    assert (state["status"], len(state["gaps"])) == ("WARN", 1)


def test_reflection_is_about_the_last_run_alone(call):
    assert json.loads(call("reflect", "--json").out) == {"since": None}
    call("--auto")
    told = json.loads(call("reflect", "--json").out)
    assert (told["merged"], told["forgotten"]) == (["cache warm -> image cache warm"], ["old idea"])
    call("--auto")
    assert json.loads(call("reflect", "--json").out)["forgotten"] == []


def test_an_undone_run_is_no_success(call):
    call("--auto")
    call("undo", now=False)
    told = json.loads(call("reflect", "--json").out)
    assert (told["merged"], told["forgotten"]) == ([], [])
    assert "old idea" in told["new"]


def test_every_reflection_has_data_as_json(call):
    assert set(json.loads(call("reflect", "--quick", "--json").out)) == {"since", "learned", "used"}
    assert json.loads(call("reflect", "--memories", "--json").out)["memories"][0] == {
        "name": "cache warm",
        "effectiveness": 1.0,
        "uses": 10,
    }


def test_a_focus_says_what_it_protects(call):
    assert "Focus: deploy window (memories: 2)" in call("attention", "--focus", "deploy window").out
    assert len(json.loads(call("attention", "--json").out)["in_focus"]) == 2
    assert "holds no word" in call("attention", "--focus", "the", code=2).err
    assert "Focus: none set" in call("attention", "--reset").out


def test_a_schedule_carries_all_that_was_given(tmp_path, call):
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


HOOK = Path(__file__).resolve().parents[3] / "integrations" / "hooks" / "end-of-project.sh"


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
def test_the_hook_never_fails_a_session(tmp_path):
    program = tmp_path / "mem0-dream"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    (tmp_path / "memory.jsonl").write_text("")
    done = subprocess.run(
        ["/bin/sh", str(HOOK), str(tmp_path / "memory.jsonl")],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "ended with code 4" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ("--repair", "--dry-run"),
        ("--repair", "--json"),
        ("--repair", "--auto", "--dry-run"),
        ("--retire", "--auto"),
    ],
)
def test_what_excludes_each_other_is_refused(call, tmp_path, words):
    before = (tmp_path / "g.jsonl").read_bytes()
    call(*words, code=2)
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_the_one_line_and_the_runs_name_every_change_of_relations(call, tmp_path):
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
    shown = call("--dry-run", "--json", "--repair-relations").out
    assert json.loads(shown)["relations"]["removed"] == [["old idea", "deploy hours", "uses"]]


def test_a_saved_plan_is_shown_in_full_before_it_is_applied(call, tmp_path):
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
        "1 merge, 1 prune, 1 conflict, 1 promotion, 1 change of relations, 1 repair",
    ):
        assert part in declined
    assert (tmp_path / "g.jsonl").read_bytes() == before
    done = call("apply", str(tmp_path / "plan.jsonl"), now=False, answers="y\n")
    words = shlex.split(done.err.partition("Undo with: mem0-dream ")[2])
    assert CliRunner().invoke(main, words).exit_code == 0
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_a_repair_is_shown_and_asked_about(call, tmp_path):
    data = write(tmp_path / "b.jsonl", [*LINES, "{broken \x1b[31m"])
    shown = call("--repair", file="b.jsonl", answers="n\n").out
    assert f"  line {len(LINES) + 1}, it is no JSON: " + r"{broken \x1b[31m" in shown
    assert (tmp_path / "b.jsonl").read_bytes() == data
    done = call("--repair", file="b.jsonl", answers="y\n\nn\n")
    assert "1 broken lines moved to" in done.err
    call("undo", file="b.jsonl", now=False)
    assert (tmp_path / "b.jsonl").read_bytes() == data


@pytest.mark.parametrize("words", [("--dry-run",), ("--auto",), ("--repair", "--auto"), ("status",)])
def test_a_foreign_file_is_one_sentence(call, tmp_path, words):
    (tmp_path / "f.jsonl").write_text('{"entities": [{"name": "a"}], "relations": []}')
    told = call(*words, file="f.jsonl", code=4, now=words[0] != "status").err
    assert "no graph of a memory server: it is one JSON object with" in told
    assert (tmp_path / "f.jsonl").read_text() == '{"entities": [{"name": "a"}], "relations": []}'


def test_health_asks_no_scorer_and_says_when(call):
    state = json.loads(
        call("status", "--check", "--json", "--scorer", "nli:no-such-model", "--encoder", "words", code=9).out
    )["health"]
    assert (state["generated"], state["last_consolidation"]) == (NOW.isoformat(), None)
    assert state["indicators"]["potential duplicates"]["value"] == 1
    assert "Last Consolidation: Never" in call("status", "--check", code=9).out
    call("--auto")
    assert f"Last Consolidation: {NOW:%Y-%m-%d %H:%M} UTC" in call("status", "--check", code=9).out


def test_a_graph_that_records_no_use_is_told_what_it_would_gain(call, tmp_path):
    write(tmp_path / "plain.jsonl", [entity("a", "The sky is blue")])
    assert "No memory here says how it was used" in call("--dry-run", file="plain.jsonl").out
    assert "No memory here says how it was used" not in call("--dry-run").out


def test_a_damaged_core_memory_is_told_before_anything_is_applied(call, tmp_path):
    (tmp_path / "bad.json").write_text('{"preferences": 3}')
    assert "damaged at preferences" in call("--dry-run", core="bad.json").err


def test_files_have_a_health_without_a_use(tmp_path, own_state):
    notes = tmp_path / "memory"
    notes.mkdir()
    Path(notes / "a.md").write_text("---\ntype: user\ncreated: 2020-11-01\n---\nLikes strong coffee\n")
    place = ["--store", "md", "--root", str(tmp_path), "--memory-dir", str(notes)]
    done = CliRunner().invoke(main, ["status", *place, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["health"]["indicators"]["stale"]["status"] == "UNKNOWN"


def test_a_mem0_store_has_a_health(store, dream):
    state = json.loads(dream("status", "--check", *ALICE, "--json", code=9).stdout)["health"]
    found = {name: item["status"] for name, item in state["indicators"].items()}
    assert state["total"] == 17
    assert found["low effectiveness"] == found["orphans"] == "UNKNOWN"
    assert found["stale"] == "WARN"
    shown = dream("status", "--check", *ALICE, code=9).stdout
    assert "  ?    orphans: unknown" in shown
    store.gaps = ("the store listed 20 of 45",)
    assert "Read-only: the store listed 20 of 45" in dream("status", "--check", *ALICE, code=9).stdout


def test_two_observations_that_may_say_the_same_are_asked_about(call, tmp_path):
    said = ["Warm the image cache before the sale", "Warm the image cache before the summer sale", "Port 9"]
    before = write(tmp_path / "two.jsonl", [entity("shop", *said, kind="service")])
    assert "Likely the same (1):" in call("--dry-run", file="two.jsonl").out
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
