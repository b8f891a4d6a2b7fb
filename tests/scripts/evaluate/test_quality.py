"""The evaluation: figures by hand, and the program on small labelled files."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.pipeline.plan import Action, Member, Merge, Plan, Prune, Resolve
from mem0_dream.records import Memory, Scope
from mem0_dream.scripts.evaluate import metrics
from mem0_dream.scripts.evaluate.labelled import read_files
from mem0_dream.scripts.evaluate.quality import evaluate, main

SCOPE = Scope.of(user_id="u")
DUP, CON, DIS, UNSURE = range(4)


def decisions(rows: list[tuple[int, int, bool]], *, weight=None, group=None) -> metrics.Decisions:
    gold, decided, auto = (np.array(column) for column in zip(*rows, strict=True))
    group = np.array(range(len(rows)) if group is None else group)
    weight = np.array([1.0] * len(rows) if weight is None else weight, dtype=float)
    return metrics.Decisions(gold, decided, auto, np.eye(3)[np.minimum(decided, DIS)], weight, group)


FOUR = [(DUP, DUP, True), (DUP, UNSURE, False), (CON, DUP, True), (DIS, DIS, False)]


def test_figures_by_hand():
    """Two duplicates, one merged; a contradiction merged wrongly; a distinct pair left alone."""
    figures = metrics.pair_figures(decisions(FOUR), threshold=0.9)
    assert figures["labels"]["duplicate"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 2}
    assert figures["labels"]["contradiction"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1}
    assert figures["labels"]["distinct"]["precision"] == 0.5
    assert figures["macro_f1"] == pytest.approx((0.5 + 0 + 2 / 3) / 3)
    assert figures["auto"] == {
        "threshold": 0.9, "precision": 0.5, "recall": 0.5,
        "merges": 2, "false_merges": 1, "duplicates": 2, "non_duplicates": 2,
    }  # fmt: skip
    assert figures["unsure"] == 1
    row = {"duplicate": 1, "contradiction": 0, "distinct": 0, "unsure": 1}
    assert figures["decided"]["confusion"]["duplicate"] == row


def test_the_most_probable_label_stands_on_top_and_the_decision_below():
    """And no merge is no wrong merge."""
    held_back = decisions([(DUP, UNSURE, False), (DIS, DIS, False)])
    held_back = replace(held_back, probabilities=np.array([[0.7, 0.1, 0.2], [0.1, 0.1, 0.8]]))
    figures = metrics.pair_figures(held_back, threshold=0.9)
    assert figures["labels"]["duplicate"]["recall"] == 1.0
    assert figures["decided"]["labels"]["duplicate"]["recall"] == 0.0
    assert (figures["unsure"], figures["auto"]["precision"], figures["auto"]["recall"]) == (1, 1.0, 0.0)


def test_shares_are_reckoned_as_scikit_learn_does():
    from sklearn.metrics import precision_recall_fscore_support

    rng = np.random.default_rng(3)
    gold, decided, weight = rng.integers(0, 3, 200), rng.integers(0, 4, 200), rng.random(200)
    rows = [(int(g), int(d), False) for g, d in zip(gold, decided, strict=True)]
    figures = metrics.pair_figures(decisions(rows, weight=weight), threshold=0.9)["decided"]
    expected = precision_recall_fscore_support(gold, np.minimum(decided, DIS), sample_weight=weight)
    for name, shares in zip(("precision", "recall", "f1"), expected[:3], strict=True):
        assert [part[name] for part in figures["labels"].values()] == pytest.approx(shares.tolist())
    assert figures["macro_f1"] == pytest.approx(expected[2].mean())


def test_intervals_are_seeded_and_hold_the_estimate_and_pairs_of_one_user_are_drawn_together():
    first, second = (metrics.pair_figures(decisions(FOUR * 10), threshold=0.9) for _ in range(2))
    assert first["intervals"] == second["intervals"]
    low, high = first["intervals"]["macro_f1"]
    assert low < first["macro_f1"] < high
    rows = [(DUP, DUP, True)] * 20 + [(DIS, DUP, True)] * 20
    apart = metrics.pair_figures(decisions(rows), threshold=0.9)["intervals"]["auto_precision"]
    users = metrics.pair_figures(decisions(rows, group=[row // 10 for row in range(40)]), threshold=0.9)
    together = users["intervals"]["auto_precision"]
    assert together[1] - together[0] > apart[1] - apart[0]


def member(memory_id: str) -> Member:
    return Member.of(Memory(memory_id, memory_id, SCOPE))


def merge(ids: str, survivor: str | None) -> Merge:
    members = tuple(member(memory_id) for memory_id in ids)
    return Merge(id="m", scope=SCOPE, category=None, members=members, survivor=survivor, text=survivor or "t")


def plan(*actions: Action, unsure: tuple[Merge | Resolve, ...] = ()) -> Plan:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return Plan(store="s", kind="k", now=now, scorer="x", totals=(), actions=actions, unsure=unsure)


def prune(memory_id: str) -> Prune:
    return Prune(id="p", scope=SCOPE, category=None, members=(member(memory_id),), reason="stale")


def gold(groups=("abc",), contradictions=(), stale=(), keep="k") -> metrics.Gold:
    opposed = tuple((frozenset(older), frozenset(newer)) for older, newer in contradictions)
    return metrics.Gold(tuple(frozenset(g) for g in groups), opposed, frozenset(stale), frozenset(keep))


@pytest.mark.parametrize(
    ("action", "removed", "wrong"),
    [
        (merge("abc", "a"), 2, []),
        (merge("ab", "a"), 1, []),
        (merge("abc", None), 2, []),
        (merge("abx", "a"), 1, ["x"]),
        (merge("ax", "x"), 0, ["a"]),
        (merge("abk", None), 0, ["a", "b", "k"]),
    ],
    ids=["all", "part", "fused", "stranger", "into a stranger", "fused with a stranger"],
)
def test_removed_duplicates_are_counted_against_the_group(action, removed, wrong):
    """A group shrinks by what goes, a fused text stays; whatever goes for another fact goes wrongly."""
    figures = metrics.store_figures(plan(action), gold())
    assert [figures[name] for name in ("duplicates", "removed", "reviewed")] == [2, removed, removed]
    assert figures["wrongly_removed"] == wrong


def test_wrong_prunes_are_wrong_removals_and_what_is_left_to_a_person_is_counted():
    figures = metrics.store_figures(plan(prune("s"), prune("k")), gold(stale="st"))
    names = ("prunes", "prunes_right", "prunes_wrong", "prunes_missed")
    assert [figures[name] for name in names] == [2, 1, ["k"], ["t"]]
    assert figures["wrongly_removed"] == figures["kept_violated"] == ["k"]
    doubts = (merge("ab", "a"), merge("ax", "a"), conflict("o", "n"))
    figures = metrics.store_figures(plan(unsure=doubts), gold(contradictions=[("o", "n")]))
    names = ("asked", "asked_right", "removed", "reviewed")
    assert [figures[name] for name in names] == [3, 2, 0, 1]


def conflict(a: str, b: str) -> Resolve:
    return Resolve(id="c", scope=SCOPE, category=None, members=(), a=tuple(a), b=tuple(b), topic="t")


def test_contradictions_are_found_between_sides():
    conflicts = (conflict("op", "n"), conflict("x", "y"))
    wanted = gold(contradictions=[("o", "n"), ("p", "n"), ("o", "p")])
    figures = metrics.store_figures(plan(*conflicts), wanted)
    names = ("contradictions", "found", "reported", "right")
    assert [figures[name] for name in names] == [3, 2, 2, 1]


PAIRS: list[dict[str, object]] = [
    {"id": "1", "a": "Likes green tea", "b": "likes green tea.", "label": "duplicate", "kind": "exact", "weight": 2},
    {"id": "2", "a": "Uses tabs in Go", "b": "Avoids tabs in Go", "label": "contradiction", "kind": "antonym"},
    {"id": "3", "a": "Owns a red bicycle", "b": "Works at the port", "label": "distinct", "kind": "unrelated"},
]  # fmt: skip


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    texts = {
        "s1": "Owns a brindle whippet named Pickle",
        "s2": "owns a brindle whippet named Pickle.",
        "s3": "[PINNED] Never deploy on a Friday",
        "s4": "Prefers window seats on trains to Basel",
        "s5": "stuff",
    }
    memories: list[dict[str, object]] = [
        {"id": key, "memory": text, "category": "c", "updated_at": None, "last_accessed_at": None, "metadata": {},
         "created_at": f"2026-{7 if key == 's4' else 11:02}-01T00:00:00Z"} for key, text in texts.items()
    ]  # fmt: skip
    record = {
        "name": "tiny", "now": "2026-11-21", "user_id": "u", "memories": memories,
        "gold": {"duplicate_groups": [["s1", "s2"]], "contradictions": [], "prune": {"stale": [], "vague": ["s5"]},
                 "keep": [{"id": "s3", "why": "pinned"}, {"id": "s4", "why": "specific"}]},
    }  # fmt: skip
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(record))
    return path


def test_program_prints_one_json_object(tmp_path, store_file, capsys):
    (pairs_file := tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, PAIRS)))
    assert main([str(pairs_file), str(store_file), "--scorer", "keywords"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["scorer"], report["pairs"]) == ("keywords", 3)
    assert set(report["labels"]) == {"duplicate", "contradiction", "distinct"}
    assert {"threshold", "precision", "recall", "false_merges", "non_duplicates"} <= set(report["auto"])
    assert report["labels"]["duplicate"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 2}
    assert report["kinds"]["duplicate/exact"] == {"pairs": 1, "right": 1.0, "auto": 1.0}
    assert {"label", "duplicate"} == set(report["ece"])
    shares = {f"{of}_{share}" for of in ("auto", "contradiction") for share in ("precision", "recall")}
    assert set(report["intervals"]) == {"macro_f1", *shares}
    store = report["stores"]["tiny"]
    names = ("duplicates", "removed", "reviewed", "wrongly_removed", "prunes_right", "prunes_wrong")
    assert [store[name] for name in names] == [1, 1, 1, [], 1, []]
    assert store["candidates"]["duplicate"] == 1.0


def test_files_and_styles_are_sets(tmp_path):
    for name, styles in (("hard", "ppq"), ("real", "rrr")):
        rows = [row | {"id": f"{style}-{row['id']}"} for row, style in zip(PAIRS, styles, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    sets = evaluate([tmp_path / "hard.jsonl", tmp_path / "real.jsonl"], "keywords")["sets"]
    counts = {name: part["pairs"] for name, part in sets.items()}
    assert counts == {"hard": 3, "hard/p": 2, "hard/q": 1, "real": 3}


def test_store_alone_has_no_pairs_and_its_pinned_memories_are_read_as_pinned(store_file):
    report = evaluate([store_file], "keywords")
    assert (report["pairs"], set(report["stores"])) == (0, {"tiny"})
    _, (store,) = read_files([store_file])
    assert [memory.id for memory in store.inventory.memories if memory.pinned] == ["s3"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"a": "x"}', "line 1,"),
        ("a.jsonl", "no json\n", "line 1,"),
        ("a.jsonl", '{"a": "x", "b": "y", "label": "unsure"}', "tuple.index"),
        ("a.json", "[]", "cannot be read"),
        ("a.json", "", "cannot be read"),
    ],
)
def test_bad_file_is_one_sentence(tmp_path, capsys, name, content, said):
    (tmp_path / name).write_text(content)
    assert main([str(tmp_path / name), "--scorer", "keywords"]) == 2
    assert said in capsys.readouterr().err
    assert main([str(tmp_path / "none.jsonl"), "--scorer", "keywords"]) == 2
    (tmp_path / "b.jsonl").write_text(json.dumps(PAIRS[0]))
    assert main([str(tmp_path / "b.jsonl"), "--scorer", "magic"]) == 2
    assert "There is no scorer 'magic'" in capsys.readouterr().err


def test_the_calibration_error_by_hand():
    error = metrics.calibration_error
    confidence, right = np.array([0.92, 0.94, 0.1, 0.16]), np.array([True, False, False, False])
    gaps = 0.6 * 0.14 + 0.4 * (0.93 - 0.5)
    assert error(confidence, right, np.array([1, 1, 1, 2.0])) == pytest.approx(gaps)
    for count, gap in ((9, 0.0), (5, 0.4)):
        assert error(np.full(10, 0.9), np.arange(10) < count, np.ones(10)) == pytest.approx(gap)


SCORE, RIGHT, ONE = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), np.ones(4)


@pytest.mark.parametrize(("precision", "threshold"), [(1.0, 0.8), (0.75, 0.6), (1.01, np.inf)])
def test_a_threshold_is_the_lowest_that_keeps_the_precision(precision, threshold):
    assert metrics.threshold_at(SCORE, RIGHT, ONE, precision) == threshold
    assert metrics.threshold_at(SCORE, np.zeros(4, dtype=bool), ONE, precision) == np.inf


def test_equal_scores_stand_or_fall_together_and_weigh_as_much_as_they_say():
    """Precision 1 at 0.9, 0.8 at 0.5 (four of five by weight), 0.4 at 0.1."""
    parts = np.array([0.5, 0.9, 0.5, 0.1]), np.array([True, True, False, False]), np.array([3.0, 1, 1, 5])
    assert [metrics.threshold_at(*parts, share) for share in (0.81, 0.8, 0.41, 0.4)] == [0.9, 0.5, 0.5, 0.1]
