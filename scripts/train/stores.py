"""What the program would do to whole stores and worlds, each judged by a calibrator that never saw it.

The network and the screen are those that ship; plans are made by the program itself, guards included. These
are the figures that stand beside the weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem0_dream.models.bundled.features import PairSignals, short_long
from mem0_dream.models.bundled.reader import PairReader
from mem0_dream.models.bundled.scorer import BundledScorer
from mem0_dream.scripts.evaluate.labelled import LabelledStore, read_files, world_store
from mem0_dream.scripts.evaluate.quality import Models, evaluate_store
from mem0_dream.scripts.evaluate.worlds import held_out, read_worlds
from mem0_dream.settings import Settings

if TYPE_CHECKING:
    from mem0_dream.models.bundled.calibrator import Calibrator
    from mem0_dream.models.encoder import Encoder
    from mem0_dream.models.scorer import PairScorer

WORLDS = "worlds"
STORES = "stores"


class KnownReader(PairReader):
    """A reader that was told what the network says of most pairs."""

    def __init__(self, reader: PairReader, known: Mapping[tuple[str, str], PairSignals]) -> None:
        super().__init__(reader.network, reader.tokenizer)
        self._known = dict(known)

    def signals(self, pairs: Sequence[tuple[str, str]], *, screen: bool = True) -> list[PairSignals]:
        """The signals of each pair; what is not known is read, and known from then on."""
        new = {key: (a, b) for a, b in pairs if (key := short_long(a, b)) not in self._known}
        self._known.update(zip(new, super().signals(list(new.values()), screen=screen), strict=True))
        return [self._known[short_long(a, b)] for a, b in pairs]


class FoldScorer(BundledScorer):
    """The scorer of a weights folder with the calibrator of one fold, under a name of its own."""

    def __init__(
        self, folder: Path, number: int, calibrator: Calibrator, known: Mapping[tuple[str, str], PairSignals]
    ) -> None:
        super().__init__(folder)
        reader, _ = self._load()
        self._parts = KnownReader(reader, known), calibrator
        self._name += f".fold{number}"


def held_stores(data: Path) -> dict[str, list[LabelledStore]]:
    """The labelled stores under `STORES`, and by style the worlds that the network never saw."""
    stores: dict[str, list[LabelledStore]] = defaultdict(list)
    stores[STORES] = read_files(sorted((data / "stores").glob("*.json")))[1]
    if (data / "worlds").is_dir():
        for world in held_out(read_worlds(data / "worlds"))[1]:
            stores[world.style].append(world_store(world))
    return dict(stores)


def store_report(
    stores: Mapping[str, Sequence[LabelledStore]], scorers: Mapping[str, PairScorer], encoder: Encoder
) -> dict[str, dict[str, int]]:
    """Sums over the stores of each name, and over all worlds under `WORLDS`.

    Args:
        stores: By name, as `held_stores` gives them.
        scorers: By the name of a store, one that never saw it.
        encoder: Finds the candidates.
    """
    table = {}
    for name, members in stores.items():
        reports = [
            evaluate_store(one, Models("bundled", scorers[one.name], encoder, Settings()), now=None)
            for one in members
        ]
        table[name] = summed(reports)
    styles = [report for name, report in table.items() if name != STORES]
    table[WORLDS] = {key: sum(style[key] for style in styles) for key in (styles[0] if styles else {})}
    return table


def summed(reports: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The counts that the tables show, over several stores."""
    return {
        "stores": len(reports),
        "memories": sum(report["memories"] for report in reports),
        "duplicates": sum(report["duplicates"]["gold"] for report in reports),
        "removed": sum(report["duplicates"]["removed"] for report in reports),
        "reviewed": sum(report["duplicates"]["reviewed"] for report in reports),
        "wrongly_removed": sum(len(report["wrongly_removed"]) for report in reports),
        "contradictions": sum(report["contradictions"]["gold"] for report in reports),
        "found": sum(report["contradictions"]["found"] for report in reports),
        "reported": sum(report["contradictions"]["reported"] for report in reports),
        "right": sum(report["contradictions"]["right"] for report in reports),
        "prunes": sum(report["pruned"]["gold"] for report in reports),
        "prunes_right": sum(report["pruned"]["right"] for report in reports),
        "prunes_wrong": sum(len(report["pruned"]["wrong"]) for report in reports),
        "asked": sum(_doubts(report, "merges", "conflicts") for report in reports),
        "asked_right": sum(_doubts(report, "duplicates", "contradictions") for report in reports),
    }


def _doubts(report: dict[str, Any], *names: str) -> int:
    return sum(report["shown_unsure"][name] for name in names)
