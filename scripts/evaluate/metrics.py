"""How good decisions are: figures of labelled pairs, with intervals, and of labelled stores.

A decision "unsure" counts as distinct in every three-way figure, since nothing happens to such a pair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from mem0_dream.pipeline.plan import Merge, Plan, Resolve
from mem0_dream.records import ActionKind, Label
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Figures = dict[str, Any]

LABELS = (Label.DUPLICATE, Label.CONTRADICTION, Label.DISTINCT)  # rows of confusion, columns of probabilities
DECISIONS = (*LABELS, Label.UNSURE)  # columns of the confusion table
RESAMPLES = 1_000
SEED = 20_261_121
BINS = 10
_CELLS = len(LABELS) * len(DECISIONS)


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided about n labelled pairs."""

    gold: NDArray[np.int64]  # rows of `LABELS`
    decided: NDArray[np.int64]  # columns of `DECISIONS`
    auto: Bools  # merged without a person
    probabilities: Floats  # [n, 3]
    weight: Floats  # for how many pairs of the wild each stands
    group: NDArray[np.int64]  # a user, a set: drawn together

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def best(self) -> NDArray[np.int64]:
        """The most probable label, int64 [n]."""
        return np.asarray(self.probabilities.argmax(axis=1))

    def where(self, rows: Bools) -> Decisions:
        """The same of some pairs only."""
        return Decisions(*(getattr(self, field.name)[rows] for field in fields(self)))


def pair_figures(decisions: Decisions, *, threshold: float) -> Figures:
    """All figures of labelled pairs: of the most probable label and, as "decided", of what is made of them.

    The 95% intervals are of 1,000 draws of whole groups; `threshold` is for the record.
    """
    probabilities, same, weight = decisions.probabilities, decisions.gold == 0, decisions.weight
    best, decided = (group_sums(decisions, some) for some in (decisions.best, decisions.decided))
    draws = np.random.default_rng(SEED).multinomial(len(best), np.full(len(best), 1 / len(best)), RESAMPLES)
    intervals = {"macro_f1": shares(draws @ best)["macro_f1"]}
    drawn, whole = shares(draws @ decided), decided.sum(axis=0)
    intervals |= {name: drawn[name] for name in ("auto_precision", "auto_recall")}
    intervals |= {f"contradiction_{name}": drawn[name][:, 1] for name in ("precision", "recall")}
    merges, right, duplicates = whole[_CELLS:].tolist()
    return {
        "pairs": len(decisions),
        "weight": count(weight.sum()),
        **_label_part(best.sum(axis=0)),
        "decided": _label_part(whole),
        "unsure": count(weight[decisions.decided == len(LABELS)].sum()),
        "auto": {
            "threshold": threshold,
            "precision": float(shares(whole)["auto_precision"]),
            "recall": float(shares(whole)["auto_recall"]),
            "merges": count(merges),
            "false_merges": count(merges - right),
            "duplicates": count(duplicates),
            "non_duplicates": count(weight[~same].sum()),
        },
        "ece": {
            "label": calibration_error(probabilities.max(axis=1), decisions.best == decisions.gold, weight),
            "duplicate": calibration_error(probabilities[:, 0], same, weight),
        },
        "intervals": {name: np.percentile(of, [2.5, 97.5]).tolist() for name, of in intervals.items()},
    }


def _label_part(sums: Floats) -> Figures:
    found = shares(sums, none=0.0)
    table = sums[:_CELLS].reshape(len(LABELS), len(DECISIONS))
    labels, confusion = Figures(), Figures()
    for row, label in enumerate(LABELS):
        figures = {name: float(found[name][row]) for name in ("precision", "recall", "f1")}
        labels[label.value] = figures | {"support": count(table[row].sum())}
        confusion[label] = dict(zip(DECISIONS, map(count, table[row].tolist()), strict=True))
    return {"macro_f1": float(found["macro_f1"]), "labels": labels, "confusion": confusion}


def count(value: float) -> int | float:
    """A sum of weights as a whole number where it is one."""
    return int(value) if float(value).is_integer() else float(value)


def group_sums(decisions: Decisions, decided: NDArray[np.int64]) -> Floats:
    """Weights by group, float64 [g, 15]: confusion [3, 4], automatic merges, right ones, duplicates."""
    columns, same = np.zeros((len(decisions), _CELLS + 3)), decisions.gold == 0
    columns[np.arange(len(decisions)), decisions.gold * len(DECISIONS) + decided] = 1
    columns[:, _CELLS:] = np.stack([decisions.auto, decisions.auto & same, same], axis=1)
    names, group = np.unique(decisions.group, return_inverse=True)
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, group, columns * decisions.weight[:, None])
    return sums


def shares(sums: Floats, *, none: float = 1.0) -> dict[str, Floats]:
    """Precision (`none` of what is never decided), recall, F1 [..., 3], their mean, and of merges alone."""
    table = sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LABELS), len(DECISIONS))
    table = np.concatenate([table[..., :2], table[..., 2:].sum(axis=-1, keepdims=True)], axis=-1)
    merged, right, duplicates = np.moveaxis(sums[..., _CELLS:], -1, 0)
    hit, chosen, there = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-2), table.sum(axis=-1)

    def share(part: Floats, whole: Floats, of_none: float = 0.0) -> Floats:
        return np.divide(part, whole, out=np.full_like(part, of_none), where=whole > 0)

    f1 = share(2 * hit, chosen + there)
    return {
        "precision": share(hit, chosen, none), "recall": share(hit, there), "f1": f1,
        "macro_f1": f1.mean(axis=-1), "auto_precision": share(right, merged, 1.0),
        "auto_recall": share(right, duplicates),
    }  # fmt: skip


def calibration_error(confidence: Floats, right: Bools, weight: Floats) -> float:
    """Mean gap between stated and true share over ten equal bins, weighted by how much lies in each."""
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gap = np.bincount(bins, weight * (confidence - right))
    return float(np.abs(gap).sum() / weight.sum())


def threshold_at(score: Floats, positive: Bools, weight: Floats, precision: float) -> float:
    """The lowest threshold whose precision is at least the stated one; infinite if there is none."""
    from sklearn.metrics import precision_recall_curve

    if not positive.any():
        return float("inf")
    share, found, threshold = precision_recall_curve(positive, score, sample_weight=weight)
    good = (share[:-1] >= precision) & (found[:-1] > 0)
    return float(threshold[good][0]) if good.any() else float("inf")


@dataclass(frozen=True, slots=True)
class Gold:
    """What a careful maintainer would do with a store, in ids."""

    groups: tuple[frozenset[str], ...]  # of one fact each
    contradictions: tuple[tuple[frozenset[str], frozenset[str]], ...]  # the first side is the older
    prune: frozenset[str] = frozenset()  # stale or vague
    keep: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Gold:
        """Read the `gold` part of a labelled store."""
        return cls(
            groups=tuple(frozenset(group) for group in record["duplicate_groups"]),
            contradictions=tuple((frozenset([a]), frozenset([b])) for a, b in record["contradictions"]),
            prune=frozenset(record["prune"]["stale"]) | frozenset(record["prune"]["vague"]),
            keep=frozenset(entry["id"] if isinstance(entry, dict) else entry for entry in record["keep"]),
        )

    def one_fact(self, ids: set[str]) -> bool:
        """Whether all these memories state one fact."""
        return any(ids <= group for group in self.groups)

    def opposed(self, conflict: Resolve) -> set[int]:
        """Contradictions of which ids stand on the two sides of a conflict."""
        first, second = frozenset(conflict.a), frozenset(conflict.b)
        every = enumerate(self.contradictions)
        return {at for at, (a, b) in every if (a & first and b & second) or (b & first and a & second)}


def store_figures(plan: Plan, gold: Gold) -> Figures:
    """What --auto would do to a labelled store, and what a person would be shown on top."""
    acted = plan.only(ActionKind.MERGE, ActionKind.PRUNE)
    removed = {memory_id for action in acted.actions for memory_id in action.removes}
    pruned = {memory_id for prune in plan.prunes for memory_id in prune.removes}
    lost = pruned - gold.prune
    for merge in plan.merges:  # a fact that is not the survivor's; in a fused text, not that of all others
        kept = merge.survivor if merge.rewrites is None else None
        others = {kept} if kept else {member.id for member in merge.members}
        lost |= {gone for gone in merge.removes if not gold.one_fact({gone, *others})}
    doubts = [doubt for doubt in plan.unsure if isinstance(doubt, Merge)]
    asked = [doubt for doubt in plan.unsure if isinstance(doubt, Resolve)]
    opposed = [gold.opposed(conflict) for conflict in plan.conflicts]
    right = sum(gold.one_fact({member.id for member in doubt.members}) for doubt in doubts)
    return {
        "merges": len(plan.merges),
        "duplicates": sum(len(group) - 1 for group in gold.groups),
        "removed": sum(_extras_removed(group, plan.merges, removed - lost) for group in gold.groups),
        "reviewed": sum(_extras_reviewed(group - lost, plan.merges, doubts) for group in gold.groups),
        "wrongly_removed": sorted(lost | (removed & gold.keep)),
        "kept_violated": sorted(removed & gold.keep),
        "contradictions": len(gold.contradictions),
        "found": len(set().union(*opposed)),
        "reported": len(opposed),
        "right": sum(map(bool, opposed)),
        "prunes": len(gold.prune),
        "prunes_right": len(pruned & gold.prune),
        "prunes_wrong": sorted(pruned - gold.prune),
        "prunes_missed": sorted(gold.prune - removed),
        "asked": len(doubts) + len(asked),
        "asked_right": right + sum(bool(gold.opposed(conflict)) for conflict in asked),
    }


def _extras_removed(group: frozenset[str], merges: Iterable[Merge], removed: set[str]) -> int:
    """By how many memories a group of duplicates shrank; a fused text counts as one that stays."""
    fused = sum(1 for merge in merges if merge.adds and group & set(merge.removes))
    return max(0, len(group) - max(1, len(group - removed) + fused))


def _extras_reviewed(group: frozenset[str], merges: Iterable[Merge], doubts: Iterable[Merge]) -> int:
    """By how many memories a group shrinks once a person has said yes to every doubt that is right."""
    right = (doubt for doubt in doubts if {member.id for member in doubt.members} <= group)
    parts = [{memory_id} for memory_id in group]
    for merge in itertools.chain(merges, right):
        ids = {member.id for member in merge.members}
        joined = set[str]().union(*(part for part in parts if part & ids))
        parts = [part for part in parts if not part & ids] + ([joined] if joined else [])
    return len(group) - len(parts)


def markdown(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as a table; the first row is its head."""
    head, *lines = ("| " + " | ".join(map(shown, row)) + " |" for row in rows)
    return "\n".join((head, "|---" * (head.count(" | ") + 1) + "|", *lines)).replace("|  |", "| |")


def shown(value: object) -> str:
    """A cell: three places of a share, and a dash for what there is none of."""
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "-"
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
