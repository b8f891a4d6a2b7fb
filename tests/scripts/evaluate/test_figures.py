"""The tables of the README come out of one command."""

import json
from pathlib import Path

import pytest
from mem0_dream.models.bundled.scorer import FOLDER
from mem0_dream.models.guards import compare
from mem0_dream.models.registry import load_encoder
from mem0_dream.scripts.evaluate import figures
from mem0_dream.scripts.evaluate.labelled import LabelledPair
from mem0_dream.scripts.evaluate.quality import Models, measure
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer

ROWS = [
    {"id": "1", "a": "Likes green tea", "b": "likes green tea.", "label": "duplicate", "kind": "exact"},
    {"id": "2", "a": "Owns a red boat", "b": "Works at the port", "label": "distinct", "kind": "unrelated"},
]
NONE = {"contradictions": [], "prune": {"stale": [], "vague": []}, "keep": []}
GOLD = {"duplicate_groups": [["1", "2"]], **NONE}
HEAD = "macro-F1 | merged by itself: precision, recall | merged, though no duplicates"
STORE_HEAD = (
    "duplicates removed | with a person's yes | wrongly removed | contradictions found | reports right "
    "| questions right | prunes right, wrong |"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "stores").mkdir()
    for name, weight in (("dev", 1), ("real_dev", 3)):
        lines = (json.dumps(row | {"weight": weight}) for row in ROWS)
        (tmp_path / "pairs" / f"{name}.jsonl").write_text("\n".join(lines))
    texts = {"1": "Owns a brindle whippet named Pickle", "2": "owns a brindle whippet named Pickle."}
    day = "2026-11-01T00:00:00Z"
    memories = [{"id": key, "memory": text, "created_at": day} for key, text in texts.items()]
    (tmp_path / "stores" / "tiny.json").write_text(
        json.dumps({"now": "2026-11-21", "user_id": "u", "memories": memories, "gold": GOLD})
    )
    return tmp_path


def test_one_command_prints_both_tables(data, capsys):
    assert figures.main([str(data), "--scorer", "keywords"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"| | hard pairs: {HEAD} | real pairs: {HEAD} |",
        "|---|---|---|---|---|---|---|",
        "| `keywords` | 0.667 | 1.000, 1.000 | 0 of 1 | 0.667 | 1.000, 1.000 | 0.0% |",
        "",
        f"| 2 memories in 1 labelled stores | {STORE_HEAD}",
        "|---|---|---|---|---|---|---|---|",
        "| `keywords` | 1 of 1 | 1 of 1 | 0 | 0 of 0 | 0 of 0 | 0 of 0 | 0 of 0, 0 |",
    ]


def test_worlds_that_the_network_never_saw_are_a_table_of_their_own(data, capsys):
    (data / "worlds").mkdir()
    text = "# ana | x | y\n- [pets] 2026-01-04 Owns a grey cat.\n  = 2026-02-04 owns a grey cat\n"
    (data / "worlds" / "w1_test.txt").write_text(text, encoding="utf-8")
    assert figures.main([str(data), "--scorer", "keywords"]) == 0
    *_, head, _, row = capsys.readouterr().out.splitlines()
    assert head == f"| 2 memories in 1 worlds | {STORE_HEAD}"
    assert row == "| `keywords` | 1 of 1 | 1 of 1 | 0 | 0 of 0 | 0 of 0 | 0 of 0 | 0 of 0, 0 |"


def test_bundled_stands_there_as_cross_validated(data, capsys):
    """Its calibrator was fitted on the development pairs, so they are not judged again."""
    assert figures.main([str(data), "--scorer", "bundled", "--no-stores"]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    found = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))["cross_validated"]
    for name in ("hard", "real"):
        shares = (found[name][key] for key in ("macro_f1", "auto_precision", "auto_recall"))
        assert "{:.3f} | {:.3f}, {:.3f}".format(*shares) in row


def test_wrong_merges_of_other_weights_follow_from_precision_and_recall(data, tmp_path, capsys):
    """One duplicate merged at precision 0.5 brings one other pair along; precision 0 says nothing."""
    part, precision = {"macro_f1": 0.5, "auto_recall": 1.0}, {"hard": 0.5, "real": 0.0}
    figures_of = {name: part | {"auto_precision": share} for name, share in precision.items()}
    (tmp_path / "config.json").write_text(json.dumps({"cross_validated": figures_of}))
    assert figures.main([str(data), "--scorer", f"bundled:{tmp_path}", "--no-stores"]) == 0
    row = "| 0.500 | 0.500, 1.000 | 1 of 1 | 0.500 | 0.000, 1.000 | - |"
    assert capsys.readouterr().out.splitlines()[-1].endswith(row)


def test_missing_figures_and_missing_data_are_one_sentence(data, monkeypatch, tmp_path, capsys):
    assert figures.main([str(tmp_path / "none")]) == 2
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    assert figures.main([str(data), "--scorer", "bundled"]) == 2
    assert "holds no cross-validated figures" in capsys.readouterr().err


def test_a_table_tells_what_each_kind_of_evidence_holds_back(data, capsys):
    texts = (("User reports to Anna", "Anna reports to the user", 2),
             ("User reports to Anna", "Anna manages the user", 0), ("Takes 20 mg", "Takes 40 mg", 2))  # fmt: skip
    pairs = [LabelledPair(*each, "traps") for each in texts]
    scorer = FakeScorer({(pair.a, pair.b): (0.99, 0.0, 0.01) for pair in pairs})
    models = Models(scorer, load_encoder("words"), Settings())
    table = figures.bindings_table(measure(pairs, models), models)
    assert table[1:4] == [["pairs", 2, 1], ["before", 1, 1], ["after", 0, 1]]
    assert ["binding", "1 (1)", "0 (0)"] in table
    assert figures.main([str(data), "--bindings", "--scorer", "keywords"]) == 0
    assert "| pairs | 1 | 1 | 1 | 1 | 521 | 85 |" in capsys.readouterr().out


def test_most_traps_are_held_back_without_a_scorer_and_most_duplicates_are_not():
    rows = [line.split("\t") for line in figures.TRAPS.read_text(encoding="utf-8").splitlines()]
    held = {label: [0, 0] for label in ("duplicate", "contradiction", "distinct")}
    for label, a, b in rows:
        held[label][bool(compare(a, b))] += 1
    assert len({(a, b) for _, a, b in rows}) == sum(map(sum, held.values())) == 606
    assert (sum(held["duplicate"]), held["duplicate"][1] <= 32) == (85, True)
    assert held["contradiction"][1] + held["distinct"][1] >= 421
