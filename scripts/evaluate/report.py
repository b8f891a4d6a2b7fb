"""The report of `evaluate` for people: the same numbers as in its JSON output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mem0_dream.scripts.evaluate.metrics import DECISIONS, Figures


def render(report: Figures) -> str:
    """The whole report as text."""
    lines = [f"scorer {report['model']}, encoder {report['encoder']}"]
    if report["pairs"]:
        lines += ["", *_of_pairs(report), *_of_sets(report["sets"]), *_of_kinds(report.get("kinds", {}))]
        lines += ["", *(f"written: {path}" for path in report["plots"])] if "plots" in report else []
    for name, figures in report["stores"].items():
        lines += ["", *_of_store(name, figures)]
    return "\n".join(lines)


def _row(name: str, cells: Sequence[object], first: int = 15, width: int = 15) -> str:
    return f"{name:<{first}}" + "".join(f"{cell:>{width}}" for cell in cells)


def _of_labels(figures: Figures) -> Iterator[str]:
    yield _row("label", ("precision", "recall", "F1", "support"))
    for label, row in figures["labels"].items():
        shares = (_share(row[name]) for name in ("precision", "recall", "f1"))
        yield _row(label, (*shares, f"{row['support']:.0f}"))


def _of_pairs(figures: Figures) -> Iterator[str]:
    def near(name: str) -> str:
        return "[{:.3f}, {:.3f}]".format(*figures["intervals"][name])

    weight = "" if figures["weight"] == figures["pairs"] else f", standing for {figures['weight']:.0f}"
    f1 = f"{_share(figures['macro_f1'])} {near('macro_f1')}"
    yield f"{figures['pairs']} pairs{weight}: macro-F1 of the most probable label {f1}"
    yield from _of_labels(figures)
    decided, auto, ece = figures["decided"], figures["auto"], figures["ece"]
    yield f"as decided, with unsure as distinct: macro-F1 {_share(decided['macro_f1'])}"
    yield from _of_labels(decided)
    yield _row("gold / decided", DECISIONS)
    for label, row in decided["confusion"].items():
        yield _row(label, [f"{row[name]:.0f}" for name in DECISIONS])
    precision = f"precision {_share(auto['precision'])} {near('auto_precision')}"
    recall = f"recall {_share(auto['recall'])} {near('auto_recall')}"
    wrong = f"{auto['false_merges']:.0f} of {auto['non_duplicates']:.0f} pairs that are no duplicates"
    yield f"auto-merge at {_share(auto['threshold'])}: {precision}, {recall}, merges {wrong}"
    conflict, opposed = decided["labels"]["contradiction"], "none of the contradictions"
    if conflict["precision"] or conflict["recall"]:
        opposed = f"precision {_share(conflict['precision'])} {near('contradiction_precision')}"
        opposed += f", recall {_share(conflict['recall'])} {near('contradiction_recall')}"
    yield f"conflicts reported: {opposed}"
    yield f"calibration error {_share(ece['label'])}, of duplicates {_share(ece['duplicate'])}"
    rate, floor = figures["latency"]["pairs_per_second"], figures["candidates"]["floor"]
    yield f"{rate:.0f} pairs judged per second; above the floor of {floor}: {_above(figures)}"


def _of_sets(sets: Figures) -> Iterator[str]:
    """One line for each set; everything else about it is in the JSON output."""
    if sets:
        columns = ("pairs", "macro-F1", "auto prec.", "recall", "false", "confl. prec.", "recall", "ECE")
        yield from ("", _row("set", columns, 24, 13))
    for name, part in sets.items():
        auto, conflict = part["auto"], part["decided"]["labels"]["contradiction"]
        shares = [part["macro_f1"], auto["precision"], auto["recall"]]
        shares += [conflict["precision"], conflict["recall"], part["ece"]["label"]]
        cells = [_share(value) for value in shares]
        yield _row(name, [part["pairs"], *cells[:3], f"{auto['false_merges']:.0f}", *cells[3:]], 24, 13)


def _of_kinds(kinds: Figures) -> Iterator[str]:
    if kinds:
        yield from ("", _row("kind", ("pairs", "right", "auto"), 36, 8))
    for name, row in kinds.items():
        yield _row(name, (row["pairs"], _share(row["right"]), _share(row["auto"])), 36, 8)


def _of_store(name: str, figures: Figures) -> Iterator[str]:
    same, against, pruned = figures["duplicates"], figures["contradictions"], figures["pruned"]
    near, unsure, wrong = figures["candidates"], figures["shown_unsure"], figures["wrongly_removed"]
    parts = f"{figures['merges']} merges, {figures['conflicts']} conflicts, {figures['prunes']} prunes"
    yield f"-- store {name}: {figures['memories']} memories, {parts}, {figures['latency']['seconds']:.1f} s"
    yield f"duplicates removed: {same['removed']} of {same['gold']} ({_share(same['share'])})"
    yield f"wrongly removed: {len(wrong)}, of those to keep {len(figures['kept_violated'])}{_listed(wrong)}"
    found = f"{against['found']} of {against['gold']} ({_share(against['share'])})"
    precision = f"{against['reported']} reported, precision {_share(against['precision'])}"
    yield f"contradictions found: {found}; {precision}"
    missed = f"missed {len(pruned['missed'])}{_listed(pruned['missed'])}"
    yield f"prunes right: {pruned['right']} of {pruned['gold']}, {missed}"
    yield f"prunes wrong: {len(pruned['wrong'])}{_listed(pruned['wrong'])}"
    merges = f"{unsure['merges']} merges ({unsure['duplicates']} right)"
    yield f"left to a person: {merges}, {unsure['conflicts']} conflicts ({unsure['contradictions']} right)"
    limits = f"floor {near['floor']}, {near['neighbours']} neighbours"
    yield f"candidates: {near['pairs']} at {limits}; among them {_above(figures)}"


def _above(figures: Figures) -> str:
    near = figures["candidates"]
    return f"duplicates {_share(near['duplicate'])}, contradictions {_share(near['contradiction'])}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _listed(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if ids else ""
