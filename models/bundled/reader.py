"""Runs the pair network over memories and gathers the signals of each pair.

Each distinct ordered pair of texts is read once, in an order that depends on the texts alone, so that two
calls with the same pairs give equal bytes. torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..text.statements import split_statements
from .features import Floats, PairSignals, aligned, read_once, short_long, sure_distinct

if TYPE_CHECKING:
    from .network import PairNetwork, PairTokenizer

BATCH_TOKENS = 1_024  # what a core holds near itself; four times as many were a quarter slower
DECIMALS = 6
"""What a pair gives beyond these depends on which pairs are read beside it, and by how many threads."""

Answers = dict[tuple[str, str], tuple[Floats, Floats]]


class PairReader:
    """Reads ordered text pairs with a trained network.

    Args:
        network: the trained network; it is put into evaluation mode.
        tokenizer: lays out its pairs.
    """

    def __init__(self, network: PairNetwork, tokenizer: PairTokenizer) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer

    def signals(self, pairs: Sequence[tuple[str, str]], *, screen: bool = True) -> list[PairSignals]:
        """Signals of pairs of texts, in their order.

        Each pair is read once, longer text first; unless that reading is sure that the two are distinct (or
        `screen` is off), the other order and every statement follow.
        """
        ordered = [short_long(a, b) for a, b in pairs]
        answers = self.read(sorted({(long, short) for short, long in ordered}))
        asked = {
            (short, long)
            for short, long in ordered
            if not (screen and sure_distinct(answers[long, short][1]))
        }
        parts = {text: split_statements(text) for pair in asked for text in pair}
        wanted = {(short, long) for short, long in asked}
        for short, long in asked:
            wanted |= {(long, part) for part in parts[short]} | {(short, part) for part in parts[long]}
            wanted |= set(aligned(parts[short], parts[long]))
        answers |= self.read(sorted(wanted - answers.keys()))
        return [
            _gather(short, long, parts, answers)
            if (short, long) in asked
            else read_once(short, long, entailment=answers[long, short][0], memory=answers[long, short][1])
            for short, long in ordered
        ]

    def read(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        """Entailment [3] (premise first) and memory [3] probabilities of each ordered pair."""
        import torch

        texts = sorted({text for pair in pairs for text in pair})
        known = dict(zip(texts, self.tokenizer.ids(texts), strict=True))
        rows = [(known[a], known[b]) for a, b in pairs]
        order = sorted(range(len(rows)), key=lambda row: len(rows[row][0]) + len(rows[row][1]))
        answers: Answers = {}
        with torch.inference_mode():
            for chosen in _batches(order, rows):
                logits = self.network(self.tokenizer.batch([rows[row] for row in chosen]))
                entailment = logits.entailment.softmax(-1).double().numpy().round(DECIMALS)
                memory = logits.memory.softmax(-1).double().numpy().round(DECIMALS)
                for at, row in enumerate(chosen):
                    answers[pairs[row]] = (entailment[at], memory[at])
        return answers


def _batches(order: Sequence[int], rows: Sequence[tuple[list[int], list[int]]]) -> list[list[int]]:
    """Runs of rows of growing length whose padded size stays below `BATCH_TOKENS`."""
    batches: list[list[int]] = []
    for row in order:
        width = len(rows[row][0]) + len(rows[row][1]) + 3
        if not batches or (len(batches[-1]) + 1) * width > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(row)
    return batches


def _gather(short: str, long: str, parts: dict[str, tuple[str, ...]], answers: Answers) -> PairSignals:
    down, up = answers[long, short], answers[short, long]
    of_short = [answers[long, part] for part in parts[short]]
    of_long = [answers[short, part] for part in parts[long]]
    of_clauses = [answers[pair] for pair in aligned(parts[short], parts[long])] or [down, up]
    return PairSignals(
        short=short,
        long=long,
        whole_entailment=np.stack([down[0], up[0]]),
        whole_memory=np.stack([down[1], up[1]]),
        short_parts=np.stack([answer[0] for answer in of_short]),
        long_parts=np.stack([answer[0] for answer in of_long]),
        short_memory=np.stack([answer[1] for answer in of_short]),
        long_memory=np.stack([answer[1] for answer in of_long]),
        clauses=np.stack([answer[1] for answer in of_clauses]),
    )
