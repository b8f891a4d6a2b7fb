"""How good decisions are: figures of labelled pairs, with bootstrap intervals, and of labelled stores.

Pure functions over arrays and plans; nothing here loads a model or reads a file. A decision "unsure"
counts as distinct in every three-way figure, since nothing happens to such a pair, and is counted apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mem0_dream.pipeline.actions import Merge, Resolve
from mem0_dream.pipeline.plan import Plan
from mem0_dream.records import ActionKind, Label
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Figures = dict[str, Any]

LABELS = (Label.DUPLICATE, Label.CONTRADICTION, Label.DISTINCT)
"""Rows of the confusion table, and columns of all probabilities."""

DECISIONS = (*LABELS, Label.UNSURE)
"""Columns of the confusion table."""

RESAMPLES = 1_000
SEED = 20_261_121
BINS = 10

_CELLS = len(LABELS) * len(DECISIONS)


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided about n labelled pairs.

    Attributes:
        gold: int64 [n], row of `LABELS`.
        decided: int64 [n], column of `DECISIONS`.
        auto: bool [n], merged without a person.
        probabilities: float64 [n, 3].
        weight: float64 [n], how many pairs of the wild this one stands for.
        group: int64 [n], pairs of one group (a user, a set) are drawn together by the bootstrap.
    """

    gold: NDArray[np.int64]
    decided: NDArray[np.int64]
    auto: NDArray[np.bool_]
    probabilities: Floats
    weight: Floats
    group: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.gold)

    def where(self, rows: NDArray[np.bool_]) -> Decisions:
        """The same of some pairs only."""
        return Decisions(
            self.gold[rows], self.decided[rows], self.auto[rows],
            self.probabilities[rows], self.weight[rows], self.group[rows],
        )  # fmt: skip


def pair_figures(decisions: Decisions, *, threshold: float, resamples: int = RESAMPLES) -> Figures:
    """Everything that is reported about labelled pairs, as it stands in the JSON output.

    The figures on top are those of the most probable label, for a scorer has one of three answers.
    Under "decided" stands what the product makes of them: thresholds, guards and abstention, where
    unsure counts as distinct.

    Args:
        decisions: At least one.
        threshold: Probability from which the scorer merges by itself, for the record.
        resamples: Bootstrap samples behind the 95% intervals.
    """
    sums = group_sums(decisions)
    best_sums = group_sums(replace(decisions, decided=decisions.probabilities.argmax(axis=1)))
    total = sums.sum(axis=0, keepdims=True)
    auto_right, auto_wrong, duplicates, others = total[0, _CELLS:]
    return {
        "pairs": len(decisions),
        "weight": count(decisions.weight.sum()),
        **_label_part(best_sums),
        "decided": _label_part(sums),
        "unsure": count(_table(total)[:, -1].sum()),
        "auto": {
            "threshold": threshold,
            "precision": float(auto_precision(total)[0]),
            "recall": float(auto_recall(total)[0]),
            "merges": count(auto_right + auto_wrong),
            "false_merges": count(auto_wrong),
            "duplicates": count(duplicates),
            "non_duplicates": count(others),
        },
        "ece": {
            "label": label_calibration(decisions),
            "duplicate": calibration_error(
                decisions.probabilities[:, 0], decisions.gold == 0, decisions.weight
            ),
        },
        "intervals": intervals(sums, best_sums, resamples=resamples),
    }


def _label_part(sums: Floats) -> Figures:
    total = sums.sum(axis=0, keepdims=True)
    table = _table(total)
    return {
        "macro_f1": float(macro_f1(total)[0]),
        "labels": label_figures(table),
        "confusion": {
            gold: dict(zip(DECISIONS, map(count, row), strict=True))
            for gold, row in zip(LABELS, table, strict=True)
        },
    }


def _table(total: Floats) -> Floats:
    table: Floats = total[0, :_CELLS].reshape(len(LABELS), len(DECISIONS))
    return table


def count(value: float) -> int | float:
    """A sum of weights as a whole number where it is one."""
    return int(value) if float(value).is_integer() else float(value)


def group_sums(decisions: Decisions) -> Floats:
    """Weights by group, float64 [g, 16].

    Columns: twelve cells of the confusion table, right and wrong automatic merges, duplicates, other pairs.
    """
    columns = np.zeros((len(decisions), _CELLS + 4))
    rows = np.arange(len(decisions))
    same = decisions.gold == 0
    columns[rows, decisions.gold * len(DECISIONS) + decisions.decided] = 1
    columns[:, _CELLS:] = np.stack([decisions.auto & same, decisions.auto & ~same, same, ~same], axis=1)
    _, group = np.unique(decisions.group, return_inverse=True)
    sums = np.zeros((int(np.max(group, initial=-1)) + 1, columns.shape[1]))
    np.add.at(sums, group, columns * decisions.weight[:, None])
    return sums


def _three_way(sums: Floats) -> Floats:
    """Confusion [..., 3, 3] with unsure taken as distinct."""
    table = sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LABELS), len(DECISIONS))
    folded = table[..., : len(LABELS)].copy()
    folded[..., -1] += table[..., -1]
    return folded


def macro_f1(sums: Floats) -> Floats:
    """Mean F1 of the three labels for each row of sums; a label neither there nor decided counts 0."""
    table = _three_way(sums)
    right = np.diagonal(table, axis1=-2, axis2=-1)
    both = table.sum(axis=-1) + table.sum(axis=-2)
    scores: Floats = np.divide(2 * right, both, out=np.zeros_like(right), where=both > 0).mean(axis=-1)
    return scores


def auto_precision(sums: Floats) -> Floats:
    """Share of automatic merges that are right, for each row of sums; 1 where nothing is merged."""
    right, wrong = sums[..., _CELLS], sums[..., _CELLS + 1]
    return np.divide(right, right + wrong, out=np.ones_like(right), where=right + wrong > 0)


def auto_recall(sums: Floats) -> Floats:
    """Share of duplicates that are merged by themselves, for each row of sums."""
    right, duplicates = sums[..., _CELLS], sums[..., _CELLS + 2]
    return np.divide(right, duplicates, out=np.zeros_like(right), where=duplicates > 0)


def conflict_precision(sums: Floats) -> Floats:
    """Share of reported contradictions that are one, for each row of sums; 1 where none is reported."""
    table = _three_way(sums)
    right, reported = table[..., 1, 1], table[..., :, 1].sum(axis=-1)
    precision: Floats = np.divide(right, reported, out=np.ones_like(right), where=reported > 0)
    return precision


def conflict_recall(sums: Floats) -> Floats:
    """Share of contradictions that are reported, for each row of sums."""
    table = _three_way(sums)
    right, actual = table[..., 1, 1], table[..., 1, :].sum(axis=-1)
    recall: Floats = np.divide(right, actual, out=np.zeros_like(right), where=actual > 0)
    return recall


def label_figures(table: Floats) -> Figures:
    """Precision, recall, F1 and support of each label, from the confusion table [3, 4]."""
    three = _three_way(table.reshape(1, -1))[0]
    figures = {}
    for row, label in enumerate(LABELS):
        right, decided, support = three[row, row], three[:, row].sum(), three[row].sum()
        figures[label.value] = {
            "precision": float(right / decided) if decided else 0.0,
            "recall": float(right / support) if support else 0.0,
            "f1": float(2 * right / (decided + support)) if decided + support else 0.0,
            "support": count(support),
        }
    return figures


def label_calibration(decisions: Decisions) -> float:
    """Expected calibration error of the most probable label."""
    best = decisions.probabilities.argmax(axis=1)
    confidence = decisions.probabilities.max(axis=1)
    return calibration_error(confidence, best == decisions.gold, decisions.weight)


def calibration_error(confidence: Floats, right: NDArray[np.bool_], weight: Floats) -> float:
    """Mean gap between stated and true share over ten equal bins, weighted by how much lies in each.

    >>> calibration_error(np.array([0.9, 0.9]), np.array([True, False]), np.ones(2))
    0.4
    """
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gap = np.zeros(BINS)
    np.add.at(gap, bins, weight * (confidence - right))
    return float(np.abs(gap).sum() / weight.sum())


def intervals(sums: Floats, best_sums: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> Figures:
    """95% intervals by drawing whole groups with replacement; the same seed gives the same intervals."""
    groups = len(sums)
    drawn = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    measures = {
        "macro_f1": macro_f1(drawn @ best_sums),
        "auto_precision": auto_precision(drawn @ sums),
        "auto_recall": auto_recall(drawn @ sums),
        "contradiction_precision": conflict_precision(drawn @ sums),
        "contradiction_recall": conflict_recall(drawn @ sums),
    }
    return {
        name: [float(edge) for edge in np.percentile(values, [2.5, 97.5])]
        for name, values in measures.items()
    }


def kind_figures(decisions: Decisions, kinds: Sequence[str]) -> Figures:
    """For each label and kind: pairs, share whose most probable label is right, share merged by itself."""
    named = np.array([f"{LABELS[gold]}/{kind}" for gold, kind in zip(decisions.gold, kinds, strict=True)])
    best = decisions.probabilities.argmax(axis=1)
    figures = {}
    for name in sorted(set(named.tolist())):
        rows = named == name
        weight = decisions.weight[rows]
        figures[name] = {
            "pairs": int(rows.sum()),
            "right": float(np.average(best[rows] == decisions.gold[rows], weights=weight)),
            "auto": float(np.average(decisions.auto[rows], weights=weight)),
        }
    return figures


@dataclass(frozen=True, slots=True)
class Gold:
    """What a careful maintainer would do with a store.

    Attributes:
        groups: Ids that state one fact.
        contradictions: Ids of one fact on one side, ids of what opposes it on the other, older side first.
        prune: Ids that may go, stale or vague.
        keep: Ids that must stay.
    """

    groups: tuple[frozenset[str], ...]
    contradictions: tuple[tuple[frozenset[str], frozenset[str]], ...]
    prune: frozenset[str]
    keep: frozenset[str]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Gold:
        """Read the `gold` part of a labelled store."""
        return cls(
            groups=tuple(frozenset(group) for group in record["duplicate_groups"]),
            contradictions=tuple(
                (frozenset([older]), frozenset([newer])) for older, newer in record["contradictions"]
            ),
            prune=frozenset(record["prune"]["stale"]) | frozenset(record["prune"]["vague"]),
            keep=frozenset(entry["id"] if isinstance(entry, dict) else entry for entry in record["keep"]),
        )


def store_figures(plan: Plan, gold: Gold) -> Figures:
    """What --auto would do to a labelled store, and what a person would be shown on top."""
    acted = plan.only(ActionKind.MERGE, ActionKind.PRUNE)
    removed = {memory_id for action in acted.actions for memory_id in action.removes}
    lost = wrong_merges(plan.merges, gold) | {
        memory_id for prune in plan.prunes for memory_id in prune.removes if memory_id not in gold.prune
    }
    extras = sum(len(group) - 1 for group in gold.groups)
    gone = sum(extras_removed(group, plan.merges, removed - lost) for group in gold.groups)
    pruned = {memory_id for prune in plan.prunes for memory_id in prune.removes}
    reviewed = sum(extras_reviewed(group - lost, plan) for group in gold.groups)
    return {
        "actions": len(plan.actions),
        "merges": len(plan.merges),
        "conflicts": len(plan.conflicts),
        "prunes": len(plan.prunes),
        "duplicates": {
            "gold": extras,
            "removed": gone,
            "reviewed": reviewed,
            "share": gone / extras if extras else None,
        },
        "wrongly_removed": sorted(lost | (removed & gold.keep)),
        "kept_violated": sorted(removed & gold.keep),
        "contradictions": contradiction_figures(plan, gold),
        "pruned": {
            "gold": len(gold.prune),
            "right": len(pruned & gold.prune),
            "wrong": sorted(pruned - gold.prune),
            "missed": sorted(gold.prune - removed),
        },
        "shown_unsure": unsure_figures(plan, gold),
    }


def wrong_merges(merges: Iterable[Merge], gold: Gold) -> set[str]:
    """Removed memories whose fact is not that of the survivor; in a fused text, not that of all others."""
    lost: set[str] = set()
    for merge in merges:
        kept = merge.survivor if merge.rewrites is None else None
        others = {kept} if kept else {member.id for member in merge.members}
        lost |= {gone for gone in merge.removes if not _together(gold.groups, {gone, *others})}
    return lost


def extras_removed(group: frozenset[str], merges: Iterable[Merge], removed: set[str]) -> int:
    """By how many memories a group of duplicates shrank; a fused text counts as one that stays."""
    fused = sum(1 for merge in merges if merge.adds and group & set(merge.removes))
    return max(0, len(group) - max(1, len(group - removed) + fused))


def extras_reviewed(group: frozenset[str], plan: Plan) -> int:
    """By how many memories a group shrinks once a person has said yes to every doubt that is right."""
    part = {memory_id: memory_id for memory_id in group}

    def root(memory_id: str) -> str:
        """The memory that stands for all that are joined with this one."""
        while part[memory_id] != memory_id:
            memory_id = part[memory_id]
        return memory_id

    doubts = [doubt for doubt in plan.unsure if isinstance(doubt, Merge)]
    right = [doubt for doubt in doubts if {member.id for member in doubt.members} <= group]
    for merge in (*plan.merges, *right):
        for first, other in itertools.pairwise(sorted(group & {member.id for member in merge.members})):
            part[root(other)] = root(first)
    return len(group) - len({root(memory_id) for memory_id in group})


def contradiction_figures(plan: Plan, gold: Gold) -> Figures:
    """Gold contradictions of which an id of each side stands in a conflict, and conflicts that hold one."""
    found = sum(any(_opposed(pair, conflict) for conflict in plan.conflicts) for pair in gold.contradictions)
    right = sum(any(_opposed(pair, conflict) for pair in gold.contradictions) for conflict in plan.conflicts)
    reported = len(plan.conflicts)
    return {
        "gold": len(gold.contradictions),
        "found": found,
        "share": found / len(gold.contradictions) if gold.contradictions else None,
        "reported": reported,
        "right": right,
        "precision": right / reported if reported else None,
    }


def unsure_figures(plan: Plan, gold: Gold) -> Figures:
    """What is left to a person: how much of it, and how much of that is what the gold says."""
    merges = [doubt for doubt in plan.unsure if isinstance(doubt, Merge)]
    conflicts = [doubt for doubt in plan.unsure if isinstance(doubt, Resolve)]
    return {
        "merges": len(merges),
        "duplicates": sum(_together(gold.groups, {m.id for m in merge.members}) for merge in merges),
        "conflicts": len(conflicts),
        "contradictions": sum(
            any(_opposed(pair, conflict) for pair in gold.contradictions) for conflict in conflicts
        ),
    }


def _opposed(sides: tuple[frozenset[str], frozenset[str]], conflict: Resolve) -> bool:
    """Whether ids of the two sides stand on the two sides of a conflict."""
    first, second = (frozenset(side) for side in (conflict.a, conflict.b))
    return any(a & first and b & second for a, b in (sides, sides[::-1]))


def _together(groups: Iterable[frozenset[str]], ids: set[str]) -> bool:
    return any(ids <= group for group in groups)
