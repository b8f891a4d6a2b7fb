"""The command line on a small graph: what is shown, counted and refused. Each is one call in this process."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from e2e_cli import ALICE
from graph_world import NOW, day, entities, entity, relation, relations, write
from mem0_dream.pipeline.cli.main import main
from typed import run


def used(times, *, start=0):
    return [f"Applied in p{number} - HELPFUL ({day(20)})" for number in range(start, start + times)]


SALE, WINDOW = "Warm the image cache before the sale", "The deploy window of the shop opens at nine"
LINES = [
    entity("cache warm", SALE, *used(10), f"Discovered: {day(100)}"),
    entity("image cache warm", f"{SALE}.", *used(8, start=10), f"Discovered: {day(100)}"),
    entity("deploy hours", WINDOW, kind="research"),
    entity("deploy window", f"{WINDOW} daily", kind="research"),
    entity("cats a", "Cats like the warm sofa", kind="design"),
    entity("cats b", "Cats do not like the warm sofa", kind="design"),
    entity("old idea", "An idea nobody took up", f"Discovered: {day(300)}", kind="mistake"),
    relation("old idea", "deploy hours"),
]


@pytest.fixture
def call(tmp_path):
    write(tmp_path / "g.jsonl", LINES)

    def called(*words, answers="", code=0, file="g.jsonl", core="core.json"):
        place = ["--store", "graph", "--file", str(tmp_path / file), "--core", str(tmp_path / core)]
        line = ["--scorer", "keywords", "--max-delete", "1", *words, *place]
        return run(line, answers=answers, code=code)

    return called


def told(call, *words, **more):
    return json.loads(call(*words, "--json", **more).stdout)


def test_a_dry_run_names_reasons_what_is_gained_and_every_relation(call):
    shown = call("--dry-run", "--explain").stdout
    assert "[graph:old idea] — mistake, 300d old; unused for 300 days; 0 uses, fewer than 3" in shown
    assert "[graph:image cache warm] stays, with these added:" in shown
    assert f"      + Merged from: cache warm on {day(0)}" in shown
    assert not any(part in shown for part in ("says it all", "related_to"))
    # A relation between two does not hide that they may be one.
    related = call("--dry-run", "--explain", "--relate").stdout
    assert "+ deploy hours --related_to--> deploy window" in related
    assert all("Likely the same (1):" in each for each in (shown, related))
    removed = told(call, "--dry-run", "--repair-relations")["relations"]["removed"]
    assert removed == [["old idea", "deploy hours", "uses"]]


def test_the_report_tells_what_a_person_decided(call, tmp_path):
    shown = call("--review", answers="a\nm\ny\n").stdout
    for part in (
        "Memories merged: 2 into 2",
        "- deploy hours -> deploy window (similarity 0.8",
        "- image cache warm (promote: 18 uses, effectiveness 100%, united from 2 memories)",
        "Promoted to core: 1",
        "Relationships created: 1",
    ):
        assert part in shown
    assert ("cats a", "cats b", "supersedes") in relations(tmp_path / "g.jsonl")
    assert "deploy hours" not in entities(tmp_path / "g.jsonl")
    assert "No duplicate, contradictory, or stale memories found." in call("--dry-run").stdout


def test_a_graph_with_a_broken_line_is_not_healthy(call, tmp_path):
    good = [entity("a", "The sky is blue"), entity("b", "Bread is baked at five"), relation("a", "b")]
    write(tmp_path / "good.jsonl", good)
    assert told(call, "status", file="good.jsonl")["health"]["status"] == "OK"
    write(tmp_path / "bad.jsonl", [*good, "{broken"])
    shown = call("status", "--check", file="bad.jsonl", code=9).stdout
    assert "Read-only: line 4 of the graph is broken" in shown
    state = told(call, "status", "--check", file="bad.jsonl", code=9)["health"]
    assert (state["status"], len(state["gaps"])) == ("WARN", 1)


def test_reflection_is_about_the_last_run_alone_and_an_undone_one_is_no_success(call):
    assert told(call, "reflect") == {"since": None}
    assert set(told(call, "reflect", "--quick")) == {"since", "learned", "used"}
    best = told(call, "reflect", "--memories")["memories"][0]
    assert best == {"name": "cache warm", "effectiveness": 1.0, "uses": 10}
    whole = told(call, "--auto")
    assert (whole["health_before"]["total"], whole["health"]["total"]) == (7, 5)
    names = {"count", "stale", "low effectiveness", "potential duplicates", "orphans"}
    assert set(whole["health"]["indicators"]) == names
    for word, merged, forgotten in (
        (None, ["cache warm -> image cache warm"], ["old idea"]),
        ("undo", [], []),
        ("--auto", [], []),
    ):
        if word:
            call(word)
        back = told(call, "reflect")
        assert (back["merged"], back["forgotten"]) == (merged, forgotten)
        assert word != "undo" or "old idea" in back["new"]


def test_a_focus_says_what_it_protects(call):
    assert "Focus: deploy window (memories: 2)" in call("attention", "--focus", "deploy window").stdout
    assert len(told(call, "attention")["in_focus"]) == 2
    assert "holds no word" in call("attention", "--focus", "the", code=2).stderr
    assert "Focus: none set" in call("attention", "--reset").stdout


HOOK = Path(__file__).resolve().parents[3] / "integrations" / "hooks" / "end-of-project.sh"


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
def test_the_hook_never_fails_a_session(tmp_path):
    program, graph = tmp_path / "mem0-dream", tmp_path / "memory.jsonl"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    graph.write_text("")
    path = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    line = ["/bin/sh", str(HOOK), str(graph)]
    done = subprocess.run(line, env=path, capture_output=True, text=True, check=False)
    assert (done.returncode, "ended with code 4" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    "words", ["--repair --dry-run", "--repair --json", "--repair --auto --dry-run", "--retire --auto"]
)
def test_what_excludes_each_other_is_refused(call, tmp_path, words):
    before = (tmp_path / "g.jsonl").read_bytes()
    call(*words.split(), code=2)
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_the_one_line_and_the_runs_name_every_change_of_relations(call, tmp_path):
    write(tmp_path / "r.jsonl", [*LINES, relation("cats a", "the sofa", "sits on")])
    shown = call("--auto", file="r.jsonl").stdout
    counts = "relations_added=0 relations_moved=0 relations_removed=1"
    assert f"merged=1 pruned=1 conflicts_skipped=1 {counts}" in shown
    assert "- old idea --uses--> deploy hours" in shown
    assert relations(tmp_path / "r.jsonl") == [("cats a", "the sofa", "sits on")]
    assert ", 0 relations added, 0 moved, 1 removed" in call("runs", file="r.jsonl").stdout
    assert "  cats a --sits on--> the sofa" in call("--dry-run", file="r.jsonl").stdout


def test_a_saved_plan_is_shown_in_full_before_it_is_applied(call, tmp_path):
    twice = entity("rules", "Ask before deploying", "Ask before deploying.", kind="design")
    before, plan = write(tmp_path / "g.jsonl", [*LINES, twice]), str(tmp_path / "plan.jsonl")
    call("plan", "-o", plan)
    declined = call("apply", plan, answers="n\n").stdout
    for part in (
        "[graph:rules] — 1 observation stands twice",
        "    - Ask before deploying.",
        "Relations (0 relations added, 0 moved, 1 removed):",
        "- old idea --uses--> deploy hours",
        "1 merge, 1 prune, 1 conflict, 1 promotion, 1 change of relations, 1 repair",
    ):
        assert part in declined
    assert (tmp_path / "g.jsonl").read_bytes() == before
    done = call("apply", plan, answers="y\n")
    words = shlex.split(done.stderr.partition("Undo with: mem0-dream ")[2])
    assert CliRunner().invoke(main, words).exit_code == 0
    assert (tmp_path / "g.jsonl").read_bytes() == before


def test_a_repair_is_shown_and_asked_about_or_made_by_night(call, tmp_path):
    data = write(tmp_path / "b.jsonl", [*LINES, "{broken \x1b[31m"])
    shown = call("--repair", file="b.jsonl", answers="n\n").stdout
    assert f"  line {len(LINES) + 1}, it is no JSON: " + r"{broken \x1b[31m" in shown
    assert f"line {len(LINES) + 1} of the graph is broken" in call("--auto", file="b.jsonl", code=4).stderr
    for words, answers in ((("--repair",), "y\n\nn\n"), (("--repair", "--auto"), "")):
        assert (tmp_path / "b.jsonl").read_bytes() == data
        assert "1 broken lines moved to" in call(*words, file="b.jsonl", answers=answers).stderr
        assert "{broken" not in (tmp_path / "b.jsonl").read_text()
        for _ in range(1 + (not answers)):
            call("undo", file="b.jsonl")


@pytest.mark.parametrize("words", ["--dry-run", "--auto", "--repair --auto", "status"])
def test_a_foreign_file_is_one_sentence(call, tmp_path, words):
    text = '{"entities": [{"name": "a"}], "relations": []}'
    (tmp_path / "f.jsonl").write_text(text)
    said = call(*words.split(), file="f.jsonl", code=4).stderr
    assert "no graph of a memory server: it is one JSON object with" in said
    assert (tmp_path / "f.jsonl").read_text() == text


def test_health_asks_no_scorer_and_says_when(call):
    models = ("--scorer", "nli:no-such-model", "--encoder", "words")
    state = told(call, "status", "--check", *models, code=9)["health"]
    assert (state["generated"], state["last_consolidation"]) == (NOW.isoformat(), None)
    assert state["indicators"]["potential duplicates"]["value"] == 1
    assert "Last Consolidation: Never" in call("status", "--check", code=9).stdout
    call("--auto")
    shown = call("status", "--check", code=9).stdout
    assert f"Last Consolidation: {NOW:%Y-%m-%d %H:%M} UTC" in shown


def test_a_graph_that_records_no_use_is_told_what_it_would_gain(call, tmp_path):
    write(tmp_path / "plain.jsonl", [entity("a", "The sky is blue")])
    for file, advised in (("plain.jsonl", True), ("g.jsonl", False)):
        shown = call("--dry-run", file=file).stdout
        assert ("No memory here says how it was used" in shown) is advised
    (tmp_path / "bad.json").write_text('{"preferences": 3}')
    assert "damaged at preferences" in call("--dry-run", core="bad.json").stderr


@pytest.mark.parametrize(("other", "told"), [("Data Service", "Nothing certain was"), ("Web", "Nothing was")])
def test_what_is_not_certain_is_not_nothing(call, tmp_path, other, told):
    lines = [entity("DataService", "The sky is blue"), entity(other, "Bread is baked at five"), "{broken"]
    write(tmp_path / "bad.jsonl", lines)
    assert (
        f"{told} found in what could be listed."
        in call("--dry-run", "--explain", file="bad.jsonl", code=4).stderr
    )


def test_files_have_a_health_without_a_use(tmp_path):
    (tmp_path / "a.md").write_text("---\ntype: user\ncreated: 2020-11-01\n---\nLikes strong coffee\n")
    done = run(["status", "--store", "md", "--root", str(tmp_path), "--memory-dir", str(tmp_path), "--json"])
    assert json.loads(done.stdout)["health"]["indicators"]["stale"]["status"] == "UNKNOWN"


def test_a_mem0_store_has_a_health(store, dream):
    state = json.loads(dream("status", "--check", *ALICE, "--json", code=9).stdout)["health"]
    found = {name: item["status"] for name, item in state["indicators"].items()}
    assert state["total"] == 17
    assert found["low effectiveness"] == found["orphans"] == "UNKNOWN"
    assert found["stale"] == "WARN"
    assert "  ?    orphans: unknown" in dream("status", "--check", *ALICE, code=9).stdout
    store.gaps = ("the store listed 20 of 45",)
    assert "Read-only: the store listed 20 of 45" in dream("status", "--check", *ALICE, code=9).stdout


def test_two_observations_that_may_say_the_same_are_asked_about(call, tmp_path):
    path, said = tmp_path / "two.jsonl", [SALE, "Warm the image cache before the summer sale", "Port 9"]
    before = write(path, [entity("shop", *said, kind="service")])
    assert "Likely the same (1):" in call("--dry-run", file="two.jsonl").stdout
    call("--auto", file="two.jsonl")
    assert path.read_bytes() == before
    shown = call("--review", file="two.jsonl", answers="m\ny\n").stdout
    assert all(text in shown for text in said[:2])
    assert f'- shop: "{said[0]}" is said by "{said[1]}"' in shown
    assert entities(path)["shop"] == said[1:]
    call("--dry-run", file="two.jsonl")
    call("undo", file="two.jsonl", answers="y\n")
    assert path.read_bytes() == before
