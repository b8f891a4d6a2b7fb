"""The whole training, stage by stage, on a tiny base and a handful of pairs; then the product uses the weights."""

import gzip
import itertools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mem0_dream.models.bundled.scorer import READER_FOLDER
from mem0_dream.models.bundled.weights import read_config
from mem0_dream.models.registry import load_scorer
from mem0_dream.models.scorer import PairInput
from mem0_dream.scripts.train import calibrate, progress, scorer, screen, sets
from mem0_dream.scripts.train.examples import TABLE, read_short
from mem0_dream.scripts.train.scorer import main

SHORT = Path(__file__).parents[3] / "scripts" / "data" / "contrast_short.jsonl"
SETS = 40
EXCHANGES = "".join(
    f"{a} owes {b} money.\tMoney is owed to {b} by {a}.\t{b} is owed money by {a}.\t{b} owes {a} money.\tc\n"
    for a, b in (("Tom", "Ana"), ("Bo", "Cy"), ("Di", "Ed"), ("Flo", "Gus"), ("Hal", "Ida"), ("Jo", "Kim"))
)
USERS = 6


def labelled_rows(sets: Sequence[int]) -> list[dict[str, object]]:
    groups = read_short(SHORT)
    rows: list[dict[str, object]] = []
    for number in sets:
        group = groups[number]
        for other, label in (
            (group.same[1], "duplicate"), (group.contra[0], "contradiction"), (group.distinct[0], "distinct"),
        ):  # fmt: skip
            rows.append(
                {"id": f"{number}-{label}", "a": group.same[0], "b": other, "category": group.category,
                 "label": label, "kind": "paraphrase", "weight": 1.0, "store": f"user{number % USERS}"}
            )  # fmt: skip
    return rows


def write_rows(path: Path, rows: Sequence[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def families() -> list[str]:
    """Two families that train and two that are kept, of texts that only their names make different."""
    facts = (f"User number {number} keeps bees." for number in itertools.count())
    kept = itertools.islice((fact for fact in facts if sets.kept_out(fact)), 2)
    train = itertools.islice((fact for fact in facts if not sets.kept_out(fact)), 2)
    names = TABLE["sets"]["families"]["columns"][1:-1]
    return ["\t".join([fact, *(f"{fact} {name}" for name in names), "cd"]) for fact in (*kept, *train)]


def torch_state(file: Path) -> dict[str, Any]:
    import torch

    return dict(torch.load(file, weights_only=True))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    write_rows(folder / "pairs" / "dev.jsonl", labelled_rows(range(SETS)))
    write_rows(folder / "pairs" / "real_dev.jsonl", labelled_rows(range(SETS, 2 * SETS)))
    (folder / "nli").mkdir()
    with gzip.open(folder / "nli" / "train.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("kind\tlabel\ta\tb\tsource\tlicence\n")
        for row in labelled_rows(range(SETS)):
            label = {"duplicate": "e", "contradiction": "c", "distinct": "n"}[str(row["label"])]
            file.write(f"nli3\t{label}\t{row['a']}\t{row['b']}\tours\tours\n")
    for name in ("outside", "outside2"):
        (folder / name).mkdir()
        shutil.copy(folder / "nli" / "train.tsv.gz", folder / name)
    (folder / "exchanges").mkdir()
    (folder / "exchanges" / "x1.tsv").write_text(EXCHANGES, encoding="utf-8")
    (folder / "families").mkdir()
    (folder / "families" / "f01.tsv").write_text("\n".join(families()), encoding="utf-8")
    (folder / "worlds").symlink_to(SHORT.parent / "worlds_sample")
    (folder / "stores").mkdir()
    for number in range(2):
        texts = [row["b"] for row in labelled_rows(range(2 * SETS, 2 * SETS + 4))]
        memories = [{"id": f"m{at}", "memory": text, "category": "fact"} for at, text in enumerate(texts)]
        gold = {"duplicate_groups": [["m0", "m3"]], "contradictions": [["m1", "m4"]], "keep": []}
        store = {"memories": memories, "gold": gold | {"prune": {"stale": [], "vague": []}}}
        (folder / "stores" / f"s{number}.json").write_text(json.dumps(store), encoding="utf-8")
    return folder


def tiny_base(folder: Path) -> Path:
    """A real BERT of one narrow layer with random weights."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(33, 127))]
    (folder / "vocab.txt").write_text("\n".join([*words, *(f"##{word}" for word in words[5:])]), "utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=2 * len(words) - 5, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=256,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder, safe_serialization=True)
    return folder


@pytest.mark.model
def test_every_stage_runs_resumes_and_gives_a_scorer(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(scorer, "READINGS", dict.fromkeys(scorer.READINGS, 12))
    for module in (calibrate, screen):
        monkeypatch.setattr(module, "ROUNDS", 8)  # trees for each class; they are fitted dozens of times
    base, work, out = tiny_base(tmp_path / "base"), tmp_path / "work", tmp_path / "weights"
    common = ["--data", str(data), "--work", str(work), "--base", str(base), "--threads", "1"]
    main(["pretrain", *common, "--stop-after", "1"])
    main(["pretrain", *common])
    main(["finetune", *common, "--rounds", "1", "--start", "pretrain", "--frozen", "1", "--stop-after", "2"])
    kept = [
        "--work",
        str(work),
        "--start",
        "pretrain",
        "--name",
        "finetune",
        "--file",
        str(tmp_path / "kept"),
    ]
    progress.main(["keep", *kept])
    done = torch_state(work / "finetune.pt")
    progress.main(["restore", *kept])
    assert torch_state(work / "finetune.pt")["step"] == done["step"] == 2
    main(["finetune", *common, "--rounds", "1", "--start", "pretrain", "--frozen", "1"])
    points = (work / "finetune.curve.tsv").read_text(encoding="utf-8").splitlines()
    assert {row.split("\t")[1] for row in points[1:]} == {"families", "exchanges", "worlds"}
    main(["calibrate", *common, "--start", "pretrain+finetune", "--out", str(out)])
    report = json.loads(capsys.readouterr().out)
    assert {"thresholds", "hard", "real", "people", "bound", "store", "world", "small"} <= set(report)
    assert read_config(out / READER_FOLDER)["hidden_size"] == 16
    judge = load_scorer(f"bundled:{out}")
    found = judge.score([PairInput("Has a dog.", "Owns a dog called Rex.", 0.8)])
    assert found.probabilities.sum() == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(found.entailment).all()
    assert judge.name != load_scorer("bundled").name
