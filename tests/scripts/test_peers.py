"""Beside others: what each finds and removes is counted rightly; times are not looked at."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.errors import MissingExtraError
from mem0_dream.scripts import peers
from mem0_dream.scripts.benchmark import SAMPLE
from mem0_dream.scripts.evaluate.labelled import read_world_file

ANN = """\
# ann | memory of a nurse | short facts
- [home] 2026-01-04 Lives in Porto.
  = 2026-02-11 Her home is Porto.
  = 2026-02-12 Porto is where she lives.
  ~ 2026-02-13 Grew up in Lisbon.
  ! 2026-03-01 Moved to Braga.
  ! 2026-03-02 Lives in Braga now.
"""


@pytest.fixture
def ann(tmp_path: Path):
    (tmp_path / "w1_ann.txt").write_text(ANN)
    return read_world_file(tmp_path / "w1_ann.txt")[0]


def test_all_of_them_are_asked_and_drawn(tmp_path, capsys):
    chart = tmp_path / "peers.png"
    assert peers.main(["--scorer", "keywords", "--encoder", "words", "--chart", str(chart)]) == 0
    *_, semhash, mined, words, ours = capsys.readouterr().out.splitlines()
    assert semhash.split("|")[1:4] == [" SemHash, 0.9 ", *mined.split("|")[2:4]]
    assert "100.0%" in words
    assert ours.startswith("| mem0-dream, keywords | 100.0% |")
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_what_is_missing_is_one_sentence_before_anything_is_asked(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "semhash", None)
    assert peers.main([]) == MissingExtraError.exit_code
    assert "pip install 'mem0-dream[semhash]'" in capsys.readouterr().err


def test_each_text_is_given_once_and_repetitions_are_counted(ann):
    texts = [line.judged for world in peers.chosen(None, 400) for line in world.lines]
    assert len(texts) == len(set(texts)) <= 306
    assert len(peers.chosen(SAMPLE, 400)) < len(peers.chosen(None, 400))
    assert peers.repeated([ann, replace(ann, name="ben")]) == 4


def test_a_removal_is_right_if_what_stays_is_a_duplicate(ann):
    """The second place is unlabelled: two lines against one fact."""
    assert peers._judged([ann], [[(1, 0), (2, 0), (5, 4), (3, 0)]]) == (2, 1)
    for pairs in ([(1, 0), (1, 2)], [(1, 0), (2, 1)]):
        with pytest.raises(SystemExit, match="removed"):
            peers._judged([ann], [pairs])


def test_of_a_pair_the_later_text_goes_unless_what_would_stay_is_gone():
    assert list(peers._dropped([(1, 2), (0, 1)])) == [(1, 0)]
    assert list(peers._above(np.array([[1, 0.95], [0.95, 1]]), 0.9)) == [(0, 1)]
