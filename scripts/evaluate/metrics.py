"""How good decisions are: figures of labelled pairs, with intervals and curves, and of labelled stores.

Pure functions over arrays and plans; nothing here loads a model or reads a file. A decision "unsure"
counts as distinct in every three-way figure, since nothing happens to such a pair, and is counted apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from mem0_dream.pipeline.actions import Merge, Resolve
from mem0_dream.pipeline.plan import Plan
from mem0_dream.records import ActionKind, Label
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Figures = dict[str, Any]

LABELS = (Label.DUPLICATE, Label.CONTRADICTION, Label.DISTINCT)
"""Rows of the confusion table, and columns of all probabilities."""

DECISIONS = (*LABELS, Label.UNSURE)
"""Columns of the confusion table."""

RESAMPLES = 1_000
SEED = 20_261_121
BINS = 10
_CELLS = len(LABELS) ** 2


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided about n labelled pairs.

    `gold` int64 [n] is a row of `LABELS`, `decided` int64 [n] a column of `DECISIONS`, `auto` bool [n] says
    what is merged without a person; `probabilities` are float64 [n, 3], `weight` float64 [n] is how many
    pairs of the wild this one stands for, and pairs of one `group` (a user, a set) are drawn together.
    """

    gold: NDArray[np.int64]
    decided: NDArray[np.int64]
    auto: Bools
    probabilities: Floats
    weight: Floats
    group: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def best(self) -> NDArray[np.int64]:
        """The most probable label, int64 [n]."""
        best: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return best

    def where(self, rows: Bools) -> Decisions:
        """The same of some pairs only."""
        return Decisions(*(getattr(self, field.name)[rows] for field in fields(self)))


def pair_figures(decisions: Decisions, *, threshold: float, resamples: int = RESAMPLES) -> Figures:
    """Everything that is reported about labelled pairs, as it stands in the JSON output.

    The figures on top are those of the most probable label, for a scorer has one of three answers.
    Under "decided" stands what the product makes of them: thresholds, guards and abstention, where
    unsure counts as distinct.

    Args:
        decisions: At least one.
        threshold: Probability from which the scorer merges by itself, for the record.
        resamples: Bootstrap samples behind the 95% intervals; whole groups are drawn, always the same.
    """
    gold, weight, auto = decisions.gold, decisions.weight, decisions.auto
    probabilities, same = decisions.probabilities, gold == 0
    sums, best_sums = group_sums(decisions), group_sums(replace(decisions, decided=decisions.best))
    shares = decided_shares(sums.sum(axis=0))
    groups = len(sums)
    drawn = np.random.default_rng(SEED).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    intervals = {"macro_f1": macro_f1(drawn @ best_sums), **decided_shares(drawn @ sums)}
    return {
        "pairs": len(decisions),
        "weight": count(weight.sum()),
        **_label_part(decisions, decisions.best),
        "decided": _label_part(decisions, decisions.decided),
        "unsure": count(weight[decisions.decided == len(LABELS)].sum()),
        "auto": {
            "threshold": threshold,
            "precision": float(shares["auto_precision"]),
            "recall": float(shares["auto_recall"]),
            "merges": count(weight[auto].sum()),
            "false_merges": count(weight[auto & ~same].sum()),
            "duplicates": count(weight[same].sum()),
            "non_duplicates": count(weight[~same].sum()),
        },
        "ece": {
            "label": calibration_error(probabilities.max(axis=1), decisions.best == gold, weight),
            "duplicate": calibration_error(probabilities[:, 0], same, weight),
        },
        "intervals": {name: np.percentile(of, [2.5, 97.5]).tolist() for name, of in intervals.items()},
    }


def _label_part(decisions: Decisions, decided: NDArray[np.int64]) -> Figures:
    """Macro-F1, precision, recall, F1 and support of each label, and the confusion table."""
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    gold, weight, columns = decisions.gold, decisions.weight, range(len(DECISIONS))
    scores = precision_recall_fscore_support(
        gold, np.minimum(decided, len(LABELS) - 1), labels=columns[:-1], sample_weight=weight, zero_division=0
    )
    names = ("precision", "recall", "f1", "support")
    table = confusion_matrix(gold, decided, labels=columns, sample_weight=weight)
    return {
        "macro_f1": float(scores[2].mean()),
        "labels": {
            label.value: dict(zip(names, [*map(float, row[:3]), count(row[3])], strict=True))
            for label, row in zip(LABELS, zip(*scores, strict=True), strict=True)
        },
        "confusion": {
            label: dict(zip(DECISIONS, map(count, row), strict=True))
            for label, row in zip(LABELS, table, strict=False)
        },
    }


def count(value: float) -> int | float:
    """A sum of weights as a whole number where it is one."""
    return int(value) if float(value).is_integer() else float(value)


def group_sums(decisions: Decisions) -> Floats:
    """Weights by group, float64 [g, 12]: confusion [3, 3], automatic merges, right ones, duplicates."""
    columns = np.zeros((len(decisions), _CELLS + 3))
    same, decided = decisions.gold == 0, np.minimum(decisions.decided, len(LABELS) - 1)
    columns[np.arange(len(decisions)), decisions.gold * len(LABELS) + decided] = 1
    columns[:, _CELLS:] = np.stack([decisions.auto, decisions.auto & same, same], axis=1)
    names, group = np.unique(decisions.group, return_inverse=True)
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, group, columns * decisions.weight[:, None])
    return sums


def _share(right: Floats, total: Floats, *, of_none: float) -> Floats:
    share: Floats = np.divide(right, total, out=np.full_like(right, of_none), where=total > 0)
    return share


def _confusion(sums: Floats) -> Floats:
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LABELS), len(LABELS))


def macro_f1(sums: Floats) -> Floats:
    """Mean F1 of the three labels for each row of sums; a label neither there nor decided counts 0."""
    table = _confusion(sums)
    right = np.diagonal(table, axis1=-2, axis2=-1)
    scores: Floats = _share(2 * right, table.sum(axis=-1) + table.sum(axis=-2), of_none=0.0).mean(axis=-1)
    return scores


def decided_shares(sums: Floats) -> dict[str, Floats]:
    """Precision and recall of automatic merges and of reported contradictions, for each row of sums.

    Precision is 1 where nothing is decided.
    """
    table, (merged, right, duplicates) = _confusion(sums), np.moveaxis(sums[..., _CELLS:], -1, 0)
    found = table[..., 1, 1]
    return {
        "auto_precision": _share(right, merged, of_none=1.0),
        "auto_recall": _share(right, duplicates, of_none=0.0),
        "contradiction_precision": _share(found, table[..., :, 1].sum(axis=-1), of_none=1.0),
        "contradiction_recall": _share(found, table[..., 1, :].sum(axis=-1), of_none=0.0),
    }


def kind_figures(decisions: Decisions, kinds: Sequence[str]) -> Figures:
    """For each label and kind: pairs, share whose most probable label is right, share merged by itself."""
    named = np.array([f"{LABELS[gold]}/{kind}" for gold, kind in zip(decisions.gold, kinds, strict=True)])
    figures = {}
    for name in np.unique(named).tolist():
        some = decisions.where(named == name)
        figures[name] = {
            "pairs": len(some),
            "right": float(np.average(some.best == some.gold, weights=some.weight)),
            "auto": float(np.average(some.auto, weights=some.weight)),
        }
    return figures


def calibration_error(confidence: Floats, right: Bools, weight: Floats) -> float:
    """Mean gap between stated and true share over ten equal bins, weighted by how much lies in each.

    >>> calibration_error(np.array([0.9, 0.9]), np.array([True, False]), np.ones(2))
    0.4
    """
    bins = reliability(confidence, right, weight)
    return float(np.abs(bins.stated - bins.true) @ bins.share)


class Bins(NamedTuple):
    """Stated and true probability and the share of all pairs, in those of ten equal bins that hold one."""

    stated: Floats
    true: Floats
    share: Floats


def reliability(confidence: Floats, right: Bools, weight: Floats) -> Bins:
    """The bins of the calibration error, each array float64 [k]."""
    at = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    values = (weight, weight * confidence, weight * right)
    mass, stated, true = (np.bincount(at, weights=one, minlength=BINS) for one in values)
    held = mass > 0
    return Bins(stated[held] / mass[held], true[held] / mass[held], mass[held] / mass.sum())


def share_right(score: Floats, positive: Bools, weight: Floats, threshold: float) -> tuple[float, float]:
    """Precision and recall of `score >= threshold`; precision is 1 where nothing is chosen."""
    chosen = score >= threshold
    hit = float(weight[chosen & positive].sum())
    total, wanted = float(weight[chosen].sum()), float(weight[positive].sum())
    return hit / total if total else 1.0, hit / wanted if wanted else 0.0


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
    """What a careful maintainer would do with a store, in ids.

    `groups` state one fact each; of `contradictions` the first side is the older; what is in `prune` may go,
    stale or vague, and what is in `keep` must stay.
    """

    groups: tuple[frozenset[str], ...]
    contradictions: tuple[tuple[frozenset[str], frozenset[str]], ...]
    prune: frozenset[str] = frozenset()
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
        return {
            number
            for number, (a, b) in enumerate(self.contradictions)
            if (a & first and b & second) or (b & first and a & second)
        }


def store_figures(plan: Plan, gold: Gold) -> Figures:
    """What --auto would do to a labelled store, and what a person would be shown on top."""
    acted = plan.only(ActionKind.MERGE, ActionKind.PRUNE)
    removed = {memory_id for action in acted.actions for memory_id in action.removes}
    pruned = {memory_id for prune in plan.prunes for memory_id in prune.removes}
    lost = _wrong_merges(plan.merges, gold) | (pruned - gold.prune)
    doubts = [doubt for doubt in plan.unsure if isinstance(doubt, Merge)]
    asked = [doubt for doubt in plan.unsure if isinstance(doubt, Resolve)]
    extras = sum(len(group) - 1 for group in gold.groups)
    gone = sum(_extras_removed(group, plan.merges, removed - lost) for group in gold.groups)
    opposed = [gold.opposed(conflict) for conflict in plan.conflicts]
    found, right = len(set().union(*opposed)), sum(map(bool, opposed))
    return {
        "actions": len(plan.actions),
        "merges": len(plan.merges),
        "conflicts": len(opposed),
        "prunes": len(plan.prunes),
        "duplicates": {
            "gold": extras,
            "removed": gone,
            "reviewed": sum(_extras_reviewed(group - lost, plan.merges, doubts) for group in gold.groups),
            "share": gone / extras if extras else None,
        },
        "wrongly_removed": sorted(lost | (removed & gold.keep)),
        "kept_violated": sorted(removed & gold.keep),
        "contradictions": {
            "gold": len(gold.contradictions),
            "found": found,
            "share": found / len(gold.contradictions) if gold.contradictions else None,
            "reported": len(opposed),
            "right": right,
            "precision": right / len(opposed) if opposed else None,
        },
        "pruned": {
            "gold": len(gold.prune),
            "right": len(pruned & gold.prune),
            "wrong": sorted(pruned - gold.prune),
            "missed": sorted(gold.prune - removed),
        },
        "shown_unsure": {
            "merges": len(doubts),
            "duplicates": sum(gold.one_fact({member.id for member in doubt.members}) for doubt in doubts),
            "conflicts": len(asked),
            "contradictions": sum(bool(gold.opposed(conflict)) for conflict in asked),
        },
    }


def _wrong_merges(merges: Iterable[Merge], gold: Gold) -> set[str]:
    """Removed memories whose fact is not that of the survivor; in a fused text, not that of all others."""
    lost: set[str] = set()
    for merge in merges:
        kept = merge.survivor if merge.rewrites is None else None
        others = {kept} if kept else {member.id for member in merge.members}
        lost |= {gone for gone in merge.removes if not gold.one_fact({gone, *others})}
    return lost


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
