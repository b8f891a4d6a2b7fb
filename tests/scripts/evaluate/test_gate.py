"""The gate counts what would happen to labelled pairs, and fails where a floor is missed."""

import json
from collections import Counter

import pytest
from mem0_dream.errors import UsageError
from mem0_dream.pipeline.judging.judge import judge, leaving_out
from mem0_dream.records import Candidate, Evidence, Label, Memory, Scope, Verdict
from mem0_dream.scripts.evaluate import gate
from mem0_dream.scripts.evaluate.labelled import read_worlds
from mem0_dream.testing import FakeScorer

MERGE = Verdict(Candidate("a", "b", 0.9), Label.DUPLICATE, auto=True)
ASK = Verdict(Candidate("a", "b", 0.9), Label.UNSURE)
CONFLICT = Verdict(Candidate("a", "b", 0.9), Label.CONTRADICTION)
LEAVE = Verdict(Candidate("a", "b", 0.9), Label.DISTINCT)


def counted(*judged: tuple[str, Verdict]) -> Counter[str]:
    cases = [gate.Case("x", "y", gold, "set") for gold, _ in judged]
    return gate.count_pairs(cases, [verdict for _, verdict in judged])["set"]


def test_a_merge_is_right_only_where_one_is_wanted():
    count = counted(("merge", MERGE), ("merge", ASK), ("leave", MERGE), ("ask", MERGE), ("either", MERGE))
    assert (count["merged"], count["asked"], count["same"]) == (1, 1, 2)
    assert (count["wrongly merged"], count["other"]) == (3, 3)


def test_a_conflict_is_wrong_where_the_texts_can_both_hold_and_open_where_the_label_is():
    count = counted(
        ("conflict", CONFLICT),
        ("conflict", LEAVE),
        ("leave", CONFLICT),
        ("merge", CONFLICT),
        ("either", CONFLICT),
    )
    assert (count["conflicts"], count["opposed"]) == (1, 2)
    assert (count["wrong conflicts"], count["left"]) == (2, 2)


def test_a_floor_that_is_missed_is_a_sentence_and_so_is_a_set_without_one():
    counts = {"old": Counter(merged=3, **{"wrongly merged": 2}), "new": Counter(merged=1)}
    floors = {"old": {"merged": 3, "wrongly merged": 1}, "gone": {"merged": 1}}
    assert list(gate.misses(counts, floors)) == [
        "gone: was not measured",
        "new: has no floors",
        "old: wrongly merged 2, at most 1 asked",
    ]
    assert not list(gate.misses({"old": Counter(merged=4)}, {"old": {"merged": 4, "wrongly merged": 0}}))


def test_every_set_is_there_and_has_pairs_of_both_sorts():
    cases = gate.read_cases()
    of = {
        name: {case.gold for case in cases if case.source == name} for name in {case.source for case in cases}
    }
    assert of.keys() == {*gate.sets.FOLDERS, "exchanges", "traps", "pairs"}
    assert all(golds & {"conflict", "leave"} for golds in of.values())
    assert all(set(golds) <= gate.LABELS.keys() for golds in of.values())


def test_a_world_is_written_as_the_folder_and_the_graph_that_it_tells_of(tmp_path):
    (folder, *_), (graph, *_) = (read_worlds(gate.DATA / kind) for kind in ("folders", "graphs"))
    project = gate.write_folder(folder, tmp_path)
    line = folder.lines[0]
    written = (project / ".claude" / "memory" / line.metadata["file"]).read_text(encoding="utf-8")
    assert f"## {line.metadata['under']}\n\n- {line.text}\n" in written
    file = gate.write_graph(graph, tmp_path)
    entities = [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines()]
    assert sum(len(entity["observations"]) for entity in entities) == len(graph.lines)


@pytest.mark.parametrize("gold", ["merge", "leave"])
def test_the_ablation_names_the_one_kind_of_evidence_that_holds_a_merge_back(gold):
    class Models:
        limits = gate.quality.Thresholds(auto=0.9, duplicate=0.5, contradiction=0.9)

    sure = {"probabilities": (0.95, 0.0, 0.05), "entailment": (1.0, 1.0)}
    alone = Verdict(
        Candidate("a", "b", 0.9), Label.UNSURE, evidence=(Evidence("number", "3 / 4", veto=True),), **sure
    )
    both = Verdict(
        Candidate("a", "b", 0.9), Label.UNSURE,
        evidence=(Evidence("number", "3 / 4", veto=True), Evidence("date", "May / June", veto=True)), **sure,
    )  # fmt: skip
    cases = [gate.Case("x", "y", gold, "set")] * 2
    _, *rows = gate.ablation(cases, [alone, both], Models())
    assert {row[0]: row[1:] for row in rows}["number"] == ((1, 0) if gold == "leave" else (0, 1))


def test_a_kind_of_evidence_that_there_is_not_is_a_sentence(capsys):
    assert gate.main(["--without", "place,plaice"]) == UsageError.exit_code
    assert "no kind of evidence 'plaice'" in capsys.readouterr().err


def test_judging_goes_without_a_kind_of_evidence_while_it_is_left_out():
    texts, scope = ("Has lunch with Ana", "Has lunch with Ben"), Scope.of(user_id="u")
    two = {text: Memory(text, text, scope) for text in texts}
    scorer = FakeScorer({texts: (1.0, 0.0, 0.0)})
    assert not judge([Candidate(*texts, 0.9)], two, scorer)[0].auto
    with leaving_out({"name"}):
        assert judge([Candidate(*texts, 0.9)], two, scorer)[0].auto
    assert not judge([Candidate(*texts, 0.9)], two, scorer)[0].auto
