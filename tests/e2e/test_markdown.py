"""The command line over a project's memories, as a process: what it prints, does, and takes back."""

import json
import os
import re
from pathlib import Path

import forks
import pytest
from forks import Answer, Call
from llm_server import LanguageModel
from markdown_trees import fingerprint, memory_file, write_tree
from markdown_world import PROJECT, REVIEWER, RULES, WORKTREE, write_world
from typed import on_store

pytestmark = pytest.mark.e2e

AT = ["--now", "2026-11-21", "--scorer", "keywords"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_world(tmp_path / "shop")


def _run(root: Path, *words: str, answers: str = "", check: bool = True) -> Answer:
    own = {"HOME": str(root.parent / "home"), "MEM0_DREAM_STATE_DIR": str(root.parent / "state")}
    words = tuple(on_store((*words, "--store", "md", "--root", str(root))))
    ran = forks.run(Call(words, os.environ | own, answers, imports=forks.OF_FILES))
    assert not check or ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    return ran


def _dream(root: Path, *words: str, answers: str = "", check: bool = True) -> Answer:
    return _run(root, *AT, *words, answers=answers, check=check)


def _run_name(ran: Answer) -> str:
    found = re.search(r"mem0-dream undo (\S+)", ran.err)
    assert found
    return found[1]


def test_a_dry_run_says_everything_and_changes_nothing(project: Path) -> None:
    """What it says, and what a night and a run with answers say, is held to the byte in tests/golden."""
    before = fingerprint(project)
    lines = _dream(project, "--dry-run", "--transcripts", f"{project.parent}/transcripts").out.splitlines()
    assert fingerprint(project) == before
    assert all(line.startswith("[DRY RUN] ") == ("Would " in line) for line in lines[1:])
    assert f"Evidence for {PROJECT}/partly.md: a.jsonl: edit 69 of services/search/legacy.py" in lines
    assert lines[0] == "[DRY RUN] No files were modified. Run without --dry-run to apply changes."


def test_supersede_shows_what_is_contradicted(project: Path) -> None:
    out = _dream(project, "--dry-run", "--supersede").out
    assert f"[DRY RUN] Would update: {PROJECT}/friday.md (CONTRADICTED by no_friday.md)\n" in out
    friday = project / PROJECT / "friday.md"
    friday.write_text(friday.read_text().replace(" Ines holds the pager.", ""))
    out = _dream(project, "--dry-run", "--supersede").out
    assert f"[DRY RUN] Would delete: {PROJECT}/friday.md (CONTRADICTED by no_friday.md)\n" in out


def test_auto_applies_reports_and_undo_takes_everything_back(project: Path) -> None:
    before = fingerprint(project)
    ran = _dream(project, "--auto")
    assert ran.out.startswith("## Dream Consolidation Report\n")
    rules = (project / REVIEWER / "rules.md").read_bytes()
    assert rules.startswith(b"\xef\xbb\xbf# Rules\r\n\r\n- Rule 0")
    assert rules.count(b"catalogue") == 1
    assert (project / REVIEWER / "odd.md").read_bytes().startswith(b"# Odd\n\n- caf\xe9 is closed")
    assert (project / WORKTREE / "MEMORY.md").exists()
    again = _dream(project, "--auto")
    assert again.out.rstrip().endswith("Nothing changed: your memories are already tight.")
    assert "restored" in _run(project, "undo", _run_name(ran)).out
    assert fingerprint(project) == before


def test_index_only_touches_nothing_but_indexes(project: Path) -> None:
    before = fingerprint(project)
    _dream(project, "--only", "index", "--auto")
    changed = {name for name, row in fingerprint(project).items() if before.get(name) != row}
    names = {f"{PROJECT}/MEMORY.md", f"{PROJECT}/search.md", f"{REVIEWER}/MEMORY.md", f"{WORKTREE}/MEMORY.md"}
    assert changed == names
    index = (project / PROJECT / "MEMORY.md").read_text()
    assert "- [Gone](gone.md) — is no more\n" in index
    assert index.startswith("# Project Memory\n\nAsk Ines before you change anything here.\n")
    assert index.endswith("## House rules\n\nBe kind.\n")
    assert all(len(line) <= 200 for line in index.splitlines())


def _edited_plan(project: Path, *without: str) -> Path:
    file = project.parent / "plan.jsonl"
    _run(project, "plan", "-o", str(file), *AT)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not any(name in line for name in without)))
    return file


def test_an_edited_plan_is_one_run_with_the_index_that_fits(project: Path) -> None:
    file = _edited_plan(project, "old_cache.md")
    (project / PROJECT / "old_queue.md").write_text("An agent wrote this meanwhile.")
    before = fingerprint(project)
    ran = _run(project, "apply", str(file), "--yes")
    assert "rebuilt again" not in ran.err
    index = (project / PROJECT / "MEMORY.md").read_text()
    assert "(old_cache.md)" in index
    assert "(old_queue.md)" in index
    assert "(gone.md)" not in index
    assert len(json.loads(_run(project, "runs", "--json").out)) == 1
    _run(project, "undo", _run_name(ran))
    assert fingerprint(project) == before


def test_a_skipped_conflict_is_listed_by_its_sentences(project: Path) -> None:
    friday = project / PROJECT / "friday.md"
    friday.write_text(friday.read_text().replace("Always", "Ines holds all the keys of the cellar. Always"))
    _dream(project, answers="skip\ny\n")
    (line,) = _run(project, "reject", "--list").out.splitlines()
    always = "Always deploy on Fridays from the release branch.; "
    assert f"skipped: resolve [md:{PROJECT}/friday.md] {always}" in line
    assert line.endswith("Never deploy on Fridays from the release branch.") or "no_friday.md" in line


def test_dates_are_written_out_unattended_only_on_request(project: Path) -> None:
    _dream(project, "--auto")
    assert "there yesterday." in (project / PROJECT / "partly.md").read_text()
    assert "services/payments" in (project / PROJECT / "moved.md").read_text()
    _dream(project, "--auto", "--dates")
    assert "there 2026-06-09." in (project / PROJECT / "partly.md").read_text()


def test_an_answer_shows_what_follows_from_it_and_the_rest_of_what_lost_stays(project: Path) -> None:
    out = _dream(project, answers="b\nn\n").out
    place = out.index("CONTRADICTED by no_friday.md")
    assert "    - [Always deploy on Fridays from the release branch.] Ines holds the pager." in out[place:]
    assert "    + Ines holds the pager." in out[place:]
    assert "| Contradictions resolved | 1 |" in _dream(project, answers="a\ny\n").out
    left = (project / PROJECT / "no_friday.md").read_text()
    assert ("Never deploy" in left, "Smoke tests take 20 minutes." in left) == (False, True)


def test_transcripts_are_found_where_the_agent_keeps_them(project: Path) -> None:
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(project.resolve()))
    said = json.dumps({"message": {"content": "open services/cache/lru.py and services/search/legacy.py"}})
    write_tree(project.parent / "home", {f".claude/projects/{slug}/s.jsonl": f"{said}\n"})
    os.utime(project.parent / f"home/.claude/projects/{slug}/s.jsonl", (1795219200, 1795219200))
    out = _dream(project, "--dry-run").out
    assert f"Evidence for {PROJECT}/partly.md: s.jsonl: " in out
    assert "old_cache.md (FULLY_STALE" not in out
    assert "old_queue.md (FULLY_STALE" in out


def test_other_looks_change_nothing(project: Path) -> None:
    before = fingerprint(project)
    told = json.loads(_dream(project, "--across", "--json").out)
    assert told.keys() == {"files", "said_twice", "contradicting", "not_read"}
    assert told["files"]
    out = _dream(project, "--dry-run", "--memory-dir", str(project / REVIEWER)).out
    assert (f"{PROJECT}/" in out, REVIEWER in out) == (False, True)
    assert "Stale: 2\n" in _run(project, "status", "--now", "2026-11-21").out
    assert fingerprint(project) == before


def test_the_sentences_for_empty_places(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", {"a.py": "x"})
    assert _dream(root, "--auto").out == "No memory directories found\n"
    assert json.loads(_dream(root, "--dry-run", "--json").out)["plan"]["actions"] == []
    write_tree(root, {"memory-bank/notes.md": "The cat is called Miso."})
    assert _dream(root, "--auto").out.endswith("if they are memories, add --memory-dir memory-bank\n")
    (root / ".claude/memory").mkdir(parents=True)
    empty = _dream(root, "--auto", "--memory-dir", str(root / ".claude/memory")).out
    assert empty == ".claude/memory: Directory empty, nothing to consolidate\n"
    files = {"a": "Prefers short answers.", "b": "The cat is called Miso."}
    write_tree(root, {f"{PROJECT}/{name}.md": text for name, text in files.items()})
    (root / ".claude/agent-memory/bo").mkdir(parents=True)  # says nothing beside what there is
    told = _dream(root, "--dry-run").out
    assert "All 2 memories are current, nothing to prune\n" in told
    assert "Directory empty" not in told


def test_bad_options_have_one_sentence(project: Path) -> None:
    for words, sentence in (
        ("--auto --supersede --scorer cosine", "--scorer keywords"),
        ("--auto --memory-dir nowhere", "does not exist"),
        ("--auto --memory-dir a/../b", "without '..'"),
        ("--dry-run --transcripts nowhere", "no directory"),
        ("--auto --config mem0.yaml", "mem0.yaml cannot be read"),
        ("--dry-run --all", "--all"),
        ("undo --config mem0.yaml", "mem0.yaml cannot be read"),
        ("--across --auto", "--across only reports; leave --auto out."),
    ):
        ran = _run(project, *words.split(), check=False)
        assert (ran.code, sentence in ran.err) == (2, True), ran.err


def test_the_prompt_names_its_places(tmp_path: Path) -> None:
    words = ("prompt", "--memory-root", "/m/emory", "--transcripts", "/t/scripts", "--extra", "Mind the gap.")
    ran = forks.run(Call(words, os.environ))
    assert ran.code == 0, ran.err
    for part in ("## Phase 1", "## Phase 4", "`/m/emory`", "/t/scripts", "Mind the gap."):
        assert part in ran.out


def test_a_directory_with_nothing_but_an_index(tmp_path: Path) -> None:
    text = (
        "# Shop\n\nRead this first.\n\n## Rules\n- Use tabs for indentation in Go files\n- [Docs](docs.md)\n"
        "- use tabs for indentation in Go files.\n\n| a | b |\n|---|---|\n\n## Stage\n- port 5432\n"
    )
    root = write_tree(tmp_path / "p", {".claude/memory/MEMORY.md": text, ".claude/memory/notes/x.txt": "x"})
    before = fingerprint(root)
    ran = _dream(root, "--auto")
    assert "| Duplicates merged | 1 |" in ran.out
    left = (root / ".claude/memory/MEMORY.md").read_text()
    (gone,) = set(text.splitlines()) - set(left.splitlines())
    assert gone.lower().rstrip(".") == "- use tabs for indentation in go files"
    assert "already tight" in _dream(root, "--auto").out
    _run(root, "undo", _run_name(ran))
    assert fingerprint(root) == before


LATER = """Old letters stay in the archive of their year.
Ines signs whatever goes abroad, with blue ink and a stamp.
Envelopes are ordered in March from the printer round the corner.
Translations go through Bo, who keeps the glossary of Danish terms.
Attachments carry the reference of the tender they answer.
Nobody sends anything on the last Friday before a holiday.
"""
VAGUE = {
    f"{PROJECT}/letters.md": memory_file(f"{RULES}Cy reads them.", name="letter quality", date="2026-01-05"),
    f"{PROJECT}/letters_all.md": memory_file(RULES + LATER, name="letter quality, all", date="2026-04-05"),
}


def test_pairs_in_doubt_are_counted_and_asked_about(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", VAGUE)
    before = fingerprint(root)
    for words in ("--dry-run", "--auto"):
        assert "Likely the same (1):\n" in _dream(root, words).out
    _run(root, "undo")
    ran = _dream(root, "--review", answers="y\ny\n")
    assert "1 of 1: may be duplicates" in ran.out
    assert [path.name for path in (root / PROJECT).glob("l*.md")] == ["letters_all.md"]
    assert "Cy reads them." in (root / PROJECT / "letters_all.md").read_text()
    assert "Likely the same" not in ran.out.partition("Apply?")[2]
    _run(root, "undo", _run_name(ran))
    assert fingerprint(root) == before


def test_a_second_opinion_proposes_a_merge(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", VAGUE)
    model = LanguageModel()
    asking = ("--second-opinion", f"openai:m@{model.url}")
    ran = _dream(root, "--dry-run", *asking)
    assert "second opinion: 1 of 1 pairs answered (1 duplicate)." in ran.err
    assert "(DUPLICATE of " in ran.out
    assert "(DUPLICATE of " not in _dream(root, "--auto", *asking).out
    _dream(root, *asking, answers="y\n")
    assert [path.name for path in (root / PROJECT).glob("l*.md")] == ["letters_all.md"]
    assert len(model.asked) == 1
    model.close()


def test_two_sentences_of_one_file_are_explained(tmp_path: Path) -> None:
    first, later = (
        "Deploys run on Fridays with the billing script",
        "The billing script runs the deploys on Fridays.",
    )
    said = f"{first} of Ines.\n\n## Later\n\n{later}"
    root = write_tree(tmp_path / "p", {f"{PROJECT}/deploys.md": memory_file(f"{said}\n", name="deploys")})
    ran = _dream(root, "--dry-run", "--explain")
    assert "Likely the same (1):" in ran.out
    assert "[of Ines.]" in ran.out.partition("    B, stays: ")[2].partition("\n")[0]
    assert "[runs" in ran.out.partition("    A, goes: ")[2].partition("\n")[0]
    assert "Only B says *Ines*." in ran.out
    assert "A: [md:" not in ran.out
