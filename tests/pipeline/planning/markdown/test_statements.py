"""Questions about sentences of Markdown memories: wherever they stand, each at its place, and what an answer does."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import skipped
from markdown_trees import MEMORY, look, memory_file, open_store, write_tree
from mem0_dream.pipeline.actions import Append, Merge, Resolve, Rewrite
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.markdown import MarkdownKind
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.testing import FakeEncoder, FakeScorer

NIGHT = "Price lists are imported every night by cron."
AGAIN = "Cron imports the price lists every night."
FIVE, SIX = "Uploads above 5 MB are refused by the gateway.", "Uploads above 6 MB are refused by the gateway."
REST = "Ines owns the runbook of the north office."


def _judged(a: str, b: str) -> tuple[float, float, float]:
    if all("price" in text.casefold() and "night" in text for text in (a, b)):
        return (0.97, 0.01, 0.02)
    return (0.01, 0.97, 0.02) if "MB" in a and "MB" in b else (0.0, 0.0, 1.0)


def _session(root: Path, state: Path) -> Session:
    store = open_store(root, state)
    return Session(
        store,
        scorer=FakeScorer(default=_judged),
        encoder=FakeEncoder(),
        state_dir=state,
        kind=MarkdownKind(store),
    )


def _asked(root: Path, state: Path) -> list[Merge | Resolve]:
    with _session(root, state) as session:
        asked = look(session).asked
        return [action for action in (*asked.actions, *asked.unsure) if isinstance(action, Merge | Resolve)]


def _answered(root: Path, state: Path, choice: str | None = None):
    """What follows from a yes, or from a choice."""
    with _session(root, state) as session:
        proposal = look(session)
        (question,) = [
            a for a in (*proposal.asked.actions, *proposal.asked.unsure) if isinstance(a, Merge | Resolve)
        ]
        plan = proposal.asked.accept([question.id], {question.id: choice}).with_choices({question.id: choice})
        done = session.kind.follow(plan, proposal.present)
        assert session.kind.follow(done, proposal.present) == done
        assert parse_plan(dump_plan(done)) == done
        return done


PLACES = {
    "two lists": {"a.md": f"# T\n\n## Build\n\n- {NIGHT}\n- {REST}\n\n## Prices\n\n- {AGAIN}\n"},
    "headings": {"a.md": memory_file(f"## Build\n\n{REST}\n\n- {NIGHT}\n\n## Prices\n\n- {AGAIN}", name="a")},
    "one paragraph": {"a.md": memory_file(f"{NIGHT} {REST} {AGAIN}", name="a")},
    "files": {"a.md": memory_file(f"{NIGHT} {REST}", name="a"), "b.md": memory_file(f"{AGAIN}\n\nBo.", name="b")},
    "types": {
        "a.md": memory_file(f"{NIGHT} {REST}", name="a", kind="user"), "b.md": memory_file(f"{AGAIN}\n\nBo.", name="b"),
    },
    "table": {"a.md": memory_file(f"{NIGHT}\n\n{REST}", name="a"), "b.md": memory_file(
        "| what | how |\n|---|---|\n| Cron | imports the price lists every night |\n| Bo | reads them |", name="b"
    )},
    "index": {"a.md": memory_file(f"{NIGHT} {REST}", name="a"), "MEMORY.md": f"# M\n\n- {AGAIN}\n- [a](a.md) - a\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("against", [False, True])
def test_a_statement_is_compared_wherever_it_stands(tmp_path: Path, name: str, against: bool) -> None:
    files = {f"{MEMORY}/{file}": text for file, text in PLACES[name].items()}
    if against:
        files = {file: text.replace(NIGHT, FIVE).replace(AGAIN, SIX) for file, text in files.items()}
    if against and name == "table":
        files = {
            file: text.replace("| Cron | imports the price lists every night |", f"| {SIX[:7]} | {SIX[8:]} |")
            for file, text in files.items()
        }
    root = write_tree(tmp_path / "project", files)
    (question,) = _asked(root, tmp_path / "state")
    assert isinstance(question, Resolve if against else Merge)
    assert len(question.said) == 2
    for place, text in zip(question.places, question.said, strict=True):
        file, _, rest = place.partition(":")
        assert text in (root / file).read_text().split("\n")[int(rest.split()[0]) - 1]


@pytest.mark.parametrize("name", PLACES)
def test_a_yes_takes_one_sentence_out_and_leaves_the_rest(tmp_path: Path, name: str) -> None:
    root = write_tree(tmp_path / "project", {f"{MEMORY}/{file}": text for file, text in PLACES[name].items()})
    plan = _answered(root, tmp_path / "state")
    with _session(root, tmp_path / "state") as session:
        session.apply(plan, now=plan.now, within_budget=False)
    left = "\n".join(path.read_text() for path in sorted(root.rglob("*.md")))
    assert ("every night" in left, left.count("every night"), REST in left) == (True, 1, True)
    assert _asked(root, tmp_path / "state") == []


@pytest.mark.parametrize(("choice", "stays", "goes"), [("a", FIVE, SIX), ("b", SIX, FIVE)])
def test_a_conflict_within_one_file_is_settled_in_it(
    tmp_path: Path, choice: str, stays: str, goes: str
) -> None:
    text = memory_file(f"## Limits\n\n- {FIVE}\n- {REST}\n\n## Gateway\n\n- {SIX}", name="a")
    root = write_tree(tmp_path / "project", {f"{MEMORY}/a.md": text})
    plan = _answered(root, tmp_path / "state", choice)
    (rewrite,) = [action for action in plan.actions if isinstance(action, Rewrite)]
    assert (stays in rewrite.text, goes in rewrite.text, REST in rewrite.text) == (True, False, True)


def test_nothing_is_lost_where_each_says_something_of_its_own(tmp_path: Path) -> None:
    more = "Cron imports the price lists every night at 3 am."
    files = {
        f"{MEMORY}/a.md": memory_file(f"{NIGHT[:-1]} on host7. {REST}", name="a"),
        f"{MEMORY}/b.md": memory_file(f"{more}\n\nBo.", name="b"),
    }
    root = write_tree(tmp_path / "project", files)
    (question,) = _asked(root, tmp_path / "state")
    assert isinstance(question, Merge)
    assert all(detail in question.text for detail in ("host7", "3 am"))
    texts = " ".join(
        a.text for a in _answered(root, tmp_path / "state").actions if isinstance(a, Rewrite | Merge)
    )
    assert all(detail in texts for detail in ("host7", "3 am", REST))


def test_a_line_of_the_index_goes_as_one_change_of_the_index(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", {f"{MEMORY}/{f}": t for f, t in PLACES["index"].items()})
    changes = [a for a in _answered(root, tmp_path / "state").actions if isinstance(a, Append | Rewrite)]
    assert len(changes) == 1


def test_a_refusal_is_remembered_by_the_sentences(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "project", {f"{MEMORY}/{f}": t for f, t in PLACES["headings"].items()})
    with _session(root, tmp_path / "state") as session:
        skipped(session, look(session).asked.unsure)
    path = root / MEMORY / "a.md"
    path.write_text(path.read_text() + "\n- Something else.\n")
    assert _asked(root, tmp_path / "state") == []


@pytest.mark.parametrize(
    ("description", "told"),
    [(FIVE, "contradicts"), (SIX, "says the same as"), ("Cats of the office", "")],
)
def test_a_description_is_told_beside_the_sentence_of_another_file(
    tmp_path: Path, description: str, told: str
) -> None:
    own = memory_file(f"{REST}\n\n{description}", name="a").replace("about a", f'"{description}"')
    files = {f"{MEMORY}/a.md": own, f"{MEMORY}/b.md": memory_file(f"Bo is a cat.\n\n{SIX}", name="b")}
    root = write_tree(tmp_path / "project", files)
    with _session(root, tmp_path / "state") as session:
        notes = [note for note in look(session).plan.notes if "description" in note]
    assert [told in note and f"{MEMORY}/b.md" in note for note in notes] == [True] * bool(told)
