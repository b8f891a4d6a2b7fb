"""Questions about sentences of Markdown memories: wherever they stand, each at its place, and what an answer does."""

import pytest
from builders import memory, skipped
from markdown_trees import MEMORY, Project, look, memory_file, open_store
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.statements import Finding, Statement
from mem0_dream.pipeline.kinds.markdown import MarkdownKind
from mem0_dream.pipeline.plan import Append, Merge, Plan, Resolve, Rewrite
from mem0_dream.pipeline.planning.hooks import Proposal
from mem0_dream.pipeline.planning.markdown_look import questions
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.records import Candidate, Label, Verdict, rejection_key
from mem0_dream.testing import FakeEncoder, FakeScorer

NIGHT = "Price lists are imported every night by cron."
AGAIN = "Cron imports the price lists every night."
FIVE, SIX = "Uploads above 5 MB are refused by the gateway.", "Uploads above 6 MB are refused by the gateway."
REST = "Ines owns the runbook of the north office."


def _judged(a: str, b: str) -> tuple[float, float, float]:
    if all("price" in text.casefold() and "night" in text for text in (a, b)):
        return (0.97, 0.01, 0.02)
    return (0.01, 0.97, 0.02) if "MB" in a and "MB" in b else (0.0, 0.0, 1.0)


def _session(project: Project) -> Session:
    store = open_store(project.root, project.state)
    kind, scorer = MarkdownKind(store), FakeScorer(default=_judged)
    return Session(store, scorer=scorer, encoder=FakeEncoder(), state_dir=project.state, kind=kind)


def _questions(proposal: Proposal) -> list[Merge | Resolve]:
    asked = (*proposal.asked.actions, *proposal.asked.unsure)
    return [action for action in asked if isinstance(action, Merge | Resolve)]


def _asked(project: Project) -> list[Merge | Resolve]:
    with _session(project) as session:
        return _questions(look(session))


def _answered(project: Project, choice: str | None = None) -> Plan:
    with _session(project) as session:
        proposal = look(session)
        (question,) = _questions(proposal)
        plan = proposal.asked.accept([question.id], {question.id: choice}).with_choices({question.id: choice})
        done = session.kind.follow(plan, proposal.present)
        assert session.kind.follow(done, proposal.present) == done
        assert parse_plan(dump_plan(done)) == done
        return done


PLACES = {
    "two lists": {"a": f"# T\n\n## Build\n\n- {NIGHT}\n- {REST}\n\n## Prices\n\n- {AGAIN}\n"},
    "headings": {"a": memory_file(f"## Build\n\n{REST}\n\n- {NIGHT}\n\n## Prices\n\n- {AGAIN}", name="a")},
    "one paragraph": {"a": memory_file(f"{NIGHT} {REST} {AGAIN}", name="a")},
    "files": {"a": memory_file(f"{NIGHT} {REST}", name="a"), "b": memory_file(f"{AGAIN}\n\nBo.", name="b")},
    "types": {
        "a": memory_file(f"{NIGHT} {REST}", name="a", kind="user"), "b": memory_file(f"{AGAIN}\n\nBo.", name="b"),
    },
    "table": {"a": memory_file(f"{NIGHT}\n\n{REST}", name="a"), "b": memory_file(
        "| what | how |\n|---|---|\n| Cron | imports the price lists every night |\n| Bo | reads them |", name="b"
    )},
    "index": {"a": memory_file(f"{NIGHT} {REST}", name="a"), "MEMORY": f"# M\n\n- {AGAIN}\n- [a](a.md) - a\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("against", [False, True])
def test_a_statement_is_compared_wherever_it_stands(project, name, against):
    row = "| Cron | imports the price lists every night |"
    changed = {NIGHT: FIVE, AGAIN: SIX, row: f"| {SIX[:7]} | {SIX[8:]} |"} if against else {}
    files = dict(PLACES[name])
    for old, new in changed.items():
        files = {file: text.replace(old, new) for file, text in files.items()}
    (question,) = _asked(project.write(**files))
    assert isinstance(question, Resolve if against else Merge)
    assert len(question.said) == 2
    for place, text in zip(question.places, question.said, strict=True):
        file, _, rest = place.partition(":")
        assert text in (project.root / file).read_text().split("\n")[int(rest.split()[0]) - 1]


@pytest.mark.parametrize("name", PLACES)
def test_a_yes_takes_one_sentence_out_and_leaves_the_rest(project, name):
    plan = _answered(project.write(**PLACES[name]))
    with _session(project) as session:
        session.apply(plan, now=plan.now, within_budget=False)
    assert name != "index" or len([each for each in plan.actions if isinstance(each, Append | Rewrite)]) == 1
    left = "\n".join(map(project.text, project.names()))
    assert (left.count("every night"), REST in left) == (1, True)
    assert _asked(project) == []


def test_a_brief_sentence_is_about_what_stands_in_front_of_it(project):
    project.write(
        a=memory_file("- `rdc`: Code. Sent every night.\n- `fun`: Prices. Sent every night.", name="a")
    )
    assert _asked(project) == []
    wrapped = "The list of the {} shop, with its prices in two currencies.\n  Parsed to zero entries."
    project.write(a=memory_file("\n".join(f"- {wrapped.format(shop)}" for shop in "ab"), name="a"))
    assert _asked(project) == []
    project.write(
        a=memory_file("- `rdc`: Code. Sent every night.", name="a"),
        b=memory_file("- Sent every night.", name="b"),
    )
    assert len(_asked(project)) == 1


@pytest.mark.parametrize(("choice", "stays", "goes"), [("a", FIVE, SIX), ("b", SIX, FIVE)])
def test_a_conflict_within_one_file_is_settled_in_it(project, choice, stays, goes):
    project.write(a=memory_file(f"## Limits\n\n- {FIVE}\n- {REST}\n\n## Gateway\n\n- {SIX}", name="a"))
    (rewrite,) = [action for action in _answered(project, choice).actions if isinstance(action, Rewrite)]
    assert (stays in rewrite.text, goes in rewrite.text, REST in rewrite.text) == (True, False, True)


def test_nothing_is_lost_where_each_says_something_of_its_own(project):
    project.write(
        a=memory_file(f"{NIGHT[:-1]} on host7. {REST}", name="a"),
        b=memory_file(f"{AGAIN[:-1]} at 3 am.\n\nBo.", name="b"),
    )
    (question,) = _asked(project)
    assert isinstance(question, Merge)
    assert all(detail in question.text for detail in ("host7", "3 am"))
    texts = " ".join(a.text for a in _answered(project).actions if isinstance(a, Rewrite | Merge))
    assert all(detail in texts for detail in ("host7", "3 am", REST))


def test_a_refusal_is_remembered_by_the_sentences(project):
    with _session(project.write(**PLACES["headings"])) as session:
        skipped(session, look(session).asked.unsure)
    assert _asked(project.write(a=project.text("a") + "\n- Something else.\n")) == []


@pytest.mark.parametrize(
    ("description", "told"), [(FIVE, "contradicts"), (SIX, "says the same as"), ("Cats of the office", "")]
)
def test_a_description_is_told_beside_the_sentence_of_another_file(project, description, told):
    own = memory_file(f"{REST}\n\n{description}", name="a").replace("about a", f'"{description}"')
    project.write(a=own, b=memory_file(f"Bo is a cat.\n\n{SIX}", name="b"))
    with _session(project) as session:
        notes = [note for note in look(session).plan.notes if "description" in note]
    assert [told in note and f"{MEMORY}/b.md" in note for note in notes] == [True] * bool(told)


def test_no_sentences_are_asked_about_of_two_memories_that_a_person_refused_as_a_pair():
    a, b = (memory(name, f"{text} {REST}") for name, text in (("a", NIGHT), ("b", AGAIN)))
    said = Statement(a, NIGHT, NIGHT), Statement(b, AGAIN, AGAIN)
    found = [Finding(*said, Verdict(Candidate("a", "b", 0.8), Label.DUPLICATE), sure=False)]
    stored = {"a": a, "b": b}
    assert len(questions(found, stored, rejected=())[1]) == 1
    assert questions(found, stored, rejected={rejection_key(a, b)})[1] == []
