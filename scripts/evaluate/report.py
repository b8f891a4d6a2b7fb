"""The report of `evaluate` for people: the same numbers as in its JSON output."""

from __future__ import annotations

from collections.abc import Sequence

from mem0_dream.scripts.evaluate.metrics import DECISIONS, Figures


def render(report: Figures) -> str:
    """The whole report as text."""
    lines = [f"scorer {report['model']}, encoder {report['encoder']}"]
    if report["pairs"]:
        lines += ["", *_pair_lines(report)]
        lines += _set_lines(report["sets"]) + _kind_lines(report.get("kinds", {}))
        lines += ["", *(f"written: {path}" for path in report["plots"])] if "plots" in report else []
    for name, figures in report["stores"].items():
        lines += ["", *_store_lines(name, figures)]
    return "\n".join(lines)


def _pair_lines(figures: Figures) -> list[str]:
    weight = "" if figures["weight"] == figures["pairs"] else f", standing for {figures['weight']:.0f}"
    f1 = f"{_share(figures['macro_f1'])} {_between(figures, 'macro_f1')}"
    lines = [f"{figures['pairs']} pairs{weight}: macro-F1 of the most probable label {f1}"]
    lines += _label_lines(figures)
    decided = figures["decided"]
    lines.append(f"as decided, with unsure as distinct: macro-F1 {_share(decided['macro_f1'])}")
    lines += _label_lines(decided)
    lines.append(f"{'gold / decided':<15}" + "".join(f"{name:>15}" for name in DECISIONS))
    for label, row in decided["confusion"].items():
        lines.append(f"{label:<15}" + "".join(f"{row[name]:>15.0f}" for name in DECISIONS))
    return lines + _auto_lines(figures) + _latency_lines(figures)


def _label_lines(figures: Figures) -> list[str]:
    lines = [f"{'label':<15}{'precision':>15}{'recall':>15}{'F1':>15}{'support':>15}"]
    for label, row in figures["labels"].items():
        shares = "".join(f"{_share(row[name]):>15}" for name in ("precision", "recall", "f1"))
        lines.append(f"{label:<15}{shares}{row['support']:>15.0f}")
    return lines


def _auto_lines(figures: Figures) -> list[str]:
    auto, ece = figures["auto"], figures["ece"]
    precision = f"precision {_share(auto['precision'])} {_between(figures, 'auto_precision')}"
    recall = f"recall {_share(auto['recall'])} {_between(figures, 'auto_recall')}"
    conflict = figures["decided"]["labels"]["contradiction"]
    opposed = f"precision {_share(conflict['precision'])} {_between(figures, 'contradiction_precision')}"
    opposed += f", recall {_share(conflict['recall'])} {_between(figures, 'contradiction_recall')}"
    if not (conflict["precision"] or conflict["recall"]):
        opposed = "none of the contradictions"
    wrong = f"{auto['false_merges']:.0f} of {auto['non_duplicates']:.0f} pairs that are no duplicates"
    return [
        f"auto-merge at {_share(auto['threshold'])}: {precision}, {recall}, merges {wrong}",
        f"conflicts reported: {opposed}",
        f"calibration error {_share(ece['label'])}, of duplicates {_share(ece['duplicate'])}",
    ]


def _latency_lines(figures: Figures) -> list[str]:
    if "latency" not in figures:
        return []
    near = figures["candidates"]
    above = f"duplicates {_share(near['duplicate'])}, contradictions {_share(near['contradiction'])}"
    rate = figures["latency"]["pairs_per_second"]
    return [f"{rate:.0f} pairs judged per second; above the floor of {near['floor']}: {above}"]


def _set_lines(sets: Figures) -> list[str]:
    """One line for each set; everything else about it is in the JSON output."""
    columns = ("pairs", "macro-F1", "auto prec.", "recall", "false", "confl. prec.", "recall", "ECE")
    lines = ["", f"{'set':<24}" + "".join(f"{name:>13}" for name in columns)]
    for name, part in sets.items():
        auto, conflict = part["auto"], part["decided"]["labels"]["contradiction"]
        row = (
            str(part["pairs"]),
            _share(part["macro_f1"]),
            _share(auto["precision"]),
            _share(auto["recall"]),
            f"{auto['false_merges']:.0f}",
            _share(conflict["precision"]),
            _share(conflict["recall"]),
            _share(part["ece"]["label"]),
        )
        lines.append(f"{name:<24}" + "".join(f"{cell:>13}" for cell in row))
    return lines if sets else []


def _kind_lines(kinds: Figures) -> list[str]:
    lines = ["", f"{'kind':<36}{'pairs':>8}{'right':>8}{'auto':>8}"]
    for name, row in kinds.items():
        lines.append(f"{name:<36}{row['pairs']:>8}{_share(row['right']):>8}{_share(row['auto']):>8}")
    return lines if kinds else []


def _store_lines(name: str, figures: Figures) -> list[str]:
    same, against, pruned = figures["duplicates"], figures["contradictions"], figures["pruned"]
    near, unsure, wrong = figures["candidates"], figures["shown_unsure"], figures["wrongly_removed"]
    parts = f"{figures['merges']} merges, {figures['conflicts']} conflicts, {figures['prunes']} prunes"
    lines = [
        f"-- store {name}: {figures['memories']} memories, {parts}, {figures['latency']['seconds']:.1f} s"
    ]
    lines.append(f"duplicates removed: {same['removed']} of {same['gold']} ({_share(same['share'])})")
    kept = len(figures["kept_violated"])
    lines.append(f"wrongly removed: {len(wrong)}, of those to keep {kept}{_listed(wrong)}")
    precision = f"{against['reported']} reported, precision {_share(against['precision'])}"
    found = f"{against['found']} of {against['gold']} ({_share(against['share'])})"
    lines.append(f"contradictions found: {found}; {precision}")
    missed = f"missed {len(pruned['missed'])}{_listed(pruned['missed'])}"
    lines.append(f"prunes right: {pruned['right']} of {pruned['gold']}, {missed}")
    lines.append(f"prunes wrong: {len(pruned['wrong'])}{_listed(pruned['wrong'])}")
    merges = f"{unsure['merges']} merges ({unsure['duplicates']} right)"
    lines.append(
        f"left to a person: {merges}, {unsure['conflicts']} conflicts ({unsure['contradictions']} right)"
    )
    above = f"duplicates {_share(near['duplicate'])}, contradictions {_share(near['contradiction'])}"
    limits = f"floor {near['floor']}, {near['neighbours']} neighbours"
    return [*lines, f"candidates: {near['pairs']} at {limits}; among them {above}"]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _between(figures: Figures, name: str) -> str:
    low, high = figures["intervals"][name]
    return f"[{low:.3f}, {high:.3f}]"


def _listed(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if ids else ""
