"""The main job on real mem0 stores, by commands; read back with mem0, and row by row without it."""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from e2e_world import FUSED, NOW, ROWS as MESSY, Raw, World

pytestmark = [pytest.mark.e2e, pytest.mark.store]

ALICE = ("--user-id", "alice")
BYSTANDERS = {
    "pinned", "aunt", "blood", "name", "nuts", "slow", "choir", "desk", "rust", "café", "train", "planner",
}  # fmt: skip
HIDDEN = {"parked", "pickle_expired"}
SURVIVORS = {"pickle", "milk_more"}
OF_BOB = {"bob_pickle", "bob_copy", "bob_passport", "bob_chess"}
MERGED_AWAY = {"pickle_oldest", "pickle_lower", "milk", "hills", "shoes"}
AGED, VAGUE = {"plumber", "call"}, {"bug", "something"}
PRUNED = AGED | VAGUE
STAYS = BYSTANDERS | HIDDEN | OF_BOB | {"pickle", "milk_more", "no_tabs"}
DRY = "Dry run: no changes made."


PARTS = {
    "Merges (3):": {"pickle", "pickle_oldest", "pickle_lower", "milk", "milk_more", "hills", "shoes"},
    "Conflicts (1):": {"tabs", "no_tabs"},
    "May have gone out of date (2):": AGED,
    "Prunes (2):": VAGUE,
}
"""Whom the parts of the report on alice's memories name; its words are held to the byte in tests/golden."""


def parts_of(world: World, report: list[str]) -> dict[str, set[str]]:
    names = {world.label(name): name for name in world.ids}
    whole = "\n".join(line for line in report if not line.startswith(" "))
    _, *parts = re.split(r"^([\w ]+ \(\d+\):)$", whole, flags=re.MULTILINE)
    labels = (re.findall(r"\[mem0:\w+\]", part) for part in parts[1::2])
    return {head: {names[label] for label in some} for head, some in zip(parts[::2], labels, strict=True)}


PROPOSAL = "Proposed: 3 merges, 2 prunes, 1 conflict."
SUMMARY = "Dream complete — merged: 3, pruned: 2, conflicts resolved: 1, skipped: 0"


def test_report_apply_and_undo(messy: World) -> None:
    before, listed = messy.raw(), messy.seen()

    dry = messy.pass_over(*ALICE, "--dry-run")
    assert parts_of(messy, dry.lines) == PARTS
    assert dry.lines[-2:] == [PROPOSAL, DRY]
    assert sum(line.startswith("    goes: ") for line in dry.lines) == 5  # each text that goes by a merge
    assert dry.err == ""
    assert messy.raw() == before

    done = messy.pass_over(*ALICE, "--delete", answers="x\nB\ny\n")
    sides = " vs ".join(map(messy.label, ("tabs", "no_tabs")))
    question = f'{sides} — "tabs for indentation in Go code" [A/B/still/skip]'
    told = "Please answer A, B, both, same, edit, still (both hold as of today) or skip."
    assert f"{question} {told}\n{question} {PROPOSAL} Apply? [y/N] " in done.out
    assert done.lines[-2].endswith(SUMMARY)
    assert done.lines[-1] == "2 memories may have gone out of date."

    after = messy.raw()
    kept = {messy.ids[name] for name in STAYS | AGED}
    (added,) = after.keys() - before.keys()
    assert after.keys() == kept | {added}
    untouched = kept - {messy.ids[name] for name in SURVIVORS}
    assert {row: after[row] for row in untouched} == {row: before[row] for row in untouched}
    check_the_merged_memory(messy, added)
    check_a_survivor(messy, before, after)

    undone = messy.dream("undo")
    assert undone.lines[-1].endswith("taken back — restored: 8, withdrawn: 1")
    assert messy.raw() == before
    assert messy.seen() == listed


def check_a_survivor(world: World, before: Raw, after: Raw) -> None:
    """It says and finds what it did, and takes over the oldest date and the names of the others."""
    row = world.ids["pickle"]
    (then, vector), (now, vector_now) = before[row], after[row]
    assert vector_now == vector
    changed = {key for key in now if now[key] != then.get(key)}
    assert changed == {"created_at", "merged_from", "last_stated_at"}
    assert datetime.fromisoformat(now["created_at"]) == NOW - timedelta(days=40)
    for name in ("pickle_oldest", "pickle_lower", "pickle"):
        assert world.ids[name] in now["merged_from"]


def check_the_merged_memory(world: World, added: str) -> None:
    """mem0 lists, finds and dates the new text, and knows where it came from."""
    with world.mem0() as memory:
        shown = memory.get(added)
        listed = {item["id"] for item in memory.get_all(filters={"user_id": "alice"}, top_k=1000)["results"]}
        found = memory.search("Leeds marathon", filters={"user_id": "alice"}, top_k=3)["results"]
    assert shown["memory"] == FUSED
    assert datetime.fromisoformat(shown["created_at"]) == NOW - timedelta(days=100)
    assert (shown["user_id"], shown.get("agent_id")) == ("alice", None)
    united = shown["metadata"]
    assert (united["category"], united["source"], united["place"]) == ("hobby", "chat", "Otley")
    # Chroma keeps a list as text.
    assert all(world.ids[name] in united["merged_from"] for name in ("hills", "shoes"))
    assert found[0]["id"] == added
    assert listed == {world.ids[name] for name in (STAYS | AGED) - HIDDEN - OF_BOB} | {added}


def test_unattended_runs_settle(messy: World) -> None:
    first = messy.pass_over(*ALICE, "--auto", "--assume-unread")
    assert first.out == "[mem0-dream --auto] merged=3 pruned=4 conflicts_skipped=1\n"
    assert first.err == ""
    settled = messy.raw()
    assert {messy.ids[name] for name in STAYS | {"tabs"}} < settled.keys()
    assert not {messy.ids[name] for name in MERGED_AWAY | PRUNED} & settled.keys()

    again = messy.pass_over(*ALICE, "--auto", "--assume-unread")
    assert again.out == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=1\n"
    assert messy.raw() == settled


def test_retiring_hides_and_lets_mem0_learn_again(messy_qdrant: World) -> None:
    world = messy_qdrant
    before, listed = world.raw(), world.seen()
    done = world.pass_over(*ALICE, "--auto", "--assume-unread", "--retire")
    assert done.out == "[mem0-dream --auto] merged=3 pruned=4 conflicts_skipped=1\n"
    assert before.keys() < world.raw().keys()

    gone = {world.ids[name] for name in MERGED_AWAY | PRUNED}
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    plumber = next(row.text for row in MESSY if row.name == "plumber")
    with world.mem0() as memory:
        shown = memory.get_all(filters={"user_id": "alice"}, top_k=1000)["results"]
        assert not gone & {item["id"] for item in shown}
        found = memory.search(plumber, filters={"user_id": "alice"}, top_k=100, threshold=0.0)["results"]
        assert found
        assert not gone & {item["id"] for item in found}
        retired = memory.get(world.ids["plumber"])
        assert (retired["memory"], retired["expiration_date"]) == (plumber, yesterday)
        # mem0 would not learn a fact whose hash any row of the scope still has, expired or not.
        rows = memory.vector_store.list(filters={"user_id": "alice"}, top_k=1000)[0]
        assert hashlib.md5(plumber.encode()).hexdigest() not in {row.payload["hash"] for row in rows}  # noqa: S324

    world.dream("undo")
    assert world.raw() == before
    assert world.seen() == listed


def test_all_scopes_never_mix(messy_qdrant: World) -> None:
    world = messy_qdrant
    shown = world.pass_over("--all", "--dry-run")
    scopes = [line for line in shown.lines if line.startswith("Scope ")]
    assert scopes == ["Scope user_id=alice", "Scope user_id=bob"]
    at = shown.lines.index(scopes[1])
    of_bob = {world.ids[name][:8] for name in OF_BOB}
    named = {word[6:14] for line in shown.lines[at:] for word in line.split() if word.startswith("[mem0:")}
    assert named <= of_bob
    assert not of_bob & {word[6:14] for line in shown.lines[:at] for word in line.split()}

    before = world.raw()
    done = world.pass_over("--all", "--auto", "--assume-unread")
    assert done.out == "[mem0-dream --auto] merged=4 pruned=4 conflicts_skipped=1\n"
    assert done.err == (
        "mem0-dream: Past their age, but kept: 1. They may be rules, or about health, identity, family, work, "
        "law or safety; `mem0-dream forget` removes what you name.\n"
    )
    assert world.alive("bob_passport")
    assert world.alive("pickle", "planner", "bob_chess")
    assert world.alive("bob_pickle") != world.alive("bob_copy")
    for payload, _ in world.raw().values():
        sources = payload.get("merged_from") or []
        assert {before[source][0]["user_id"] for source in sources} <= {payload["user_id"]}


def test_a_plan_file_is_written_edited_and_applied(messy_qdrant: World) -> None:
    world = messy_qdrant
    before, file = world.raw(), world.folder / "plan.jsonl"
    written = world.pass_over("plan", *ALICE, "-o", str(file))
    assert (written.out, written.err) == ("", f"6 actions and 2 questions written to {file}.\n")
    assert world.raw() == before
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0]["format"] == "mem0-dream plan"
    kept = [line for line in lines if line.get("reason") != "vague"]
    for line in kept:
        if line.get("kind") == "resolve":
            line["choice"] = "a"
    file.write_text("".join(json.dumps(line) + "\n" for line in kept))

    applied = world.dream("apply", str(file), answers="y\n")
    assert applied.lines[-1].endswith(SUMMARY.replace("pruned: 2", "pruned: 0"))
    assert world.alive("tabs", "bug", "something", *AGED)  # questions in the file that nobody answered
    check_what_lost(world)
    world.dream("undo")
    assert world.raw() == before


def check_what_lost(world: World) -> None:
    """It is kept with what took its place, mem0's own search no longer finds it, and its past can be read."""
    winner, loser = world.ids["tabs"], world.ids["no_tabs"]
    rows = world.raw()
    assert rows[winner][0]["supersedes"] == [loser]
    marks = {key: rows[loser][0][key] for key in ("superseded_by", "superseded_reason")}
    assert marks == {"superseded_by": winner, "superseded_reason": "contradicted"}
    with world.mem0() as memory:
        found = memory.search("tabs for indentation in Go", filters={"user_id": "alice"}, top_k=20)["results"]
    assert (winner in {hit["id"] for hit in found}, loser in {hit["id"] for hit in found}) == (True, False)
    (first, _, second, _) = world.dream("history", "indentation", *ALICE).lines
    assert {first.split()[0], second.split()[0]} == {world.label("tabs"), world.label("no_tabs")}
    told = json.loads(world.dream("history", loser[:8], *ALICE, "--json").out)["versions"]
    (gone,) = (one for one in told if one["id"] == loser)
    assert (gone["into"], gone["how"]) == (winner, "contradicted")
    long_ago = world.dream("history", "--as-of", "2000-01-01", *ALICE).out
    assert long_ago == "Nothing is known that was held true on 2000-01-01.\n"
    began, _, _ = rows[winner][0]["created_at"].partition("T")
    then = world.dream("history", "--as-of", began, *ALICE).lines
    at = next(n for n, line in enumerate(then) if line.startswith(world.label("tabs")))
    assert then[at + 1] == f"    since {began}"
