"""`make quality`: the shipped scorer, as a pass judges, on labelled material that nothing was fitted to.

Sets, pairs, small stores, folders and graphs of `scripts/data/quality` are judged and counted by what would
happen: merged by itself, asked, reported as a conflict. Each count has a floor or a ceiling in
`scripts/data/quality/floors.toml`; one that is missed fails the run. `--ablation` prints instead, for each
kind of evidence, how many wrong and how many right merges it alone holds back; `--without KIND,KIND` judges
all over again without some.
"""

import json
import sys
import tempfile
import time
import tomllib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mem0_dream.errors import DreamError, UsageError
from mem0_dream.models.facts.frames import JUDGED, KINDS
from mem0_dream.models.scorer import CONTRADICTION, DISTINCT, DUPLICATE
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.judge import decide, leaving_out
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Label, Verdict
from mem0_dream.scripts.evaluate import planted, quality
from mem0_dream.scripts.evaluate.labelled import LabelledPair, World, labelled_pairs, read_worlds, world_store
from mem0_dream.scripts.evaluate.metrics import markdown
from mem0_dream.scripts.train import sets
from mem0_dream.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "quality"
TRAPS = Path(__file__).parents[2] / "tests" / "models" / "traps.tsv"
GOLD = {
    "equal": "merge", "a_has_more": "merge", "b_has_more": "merge",
    "contradiction": "conflict", "other": "either", "apart": "leave", "distinct": "leave",
}  # fmt: skip
"""What is wanted of a pair by its relation; `either` is left or a conflict, `ask` a question or left."""
LABELS = {
    "merge": DUPLICATE,
    "conflict": CONTRADICTION,
    "leave": DISTINCT,
    "either": DISTINCT,
    "ask": DISTINCT,
}
COUNTS = ("merged", "asked", "wrongly merged", "conflicts", "wrong conflicts")
OF = {
    "merged": "same",
    "asked": "same",
    "wrongly merged": "other",
    "conflicts": "opposed",
    "wrong conflicts": "left",
}
AT_MOST = ("wrongly merged", "wrong conflicts")


class Case(NamedTuple):
    """Two texts and what is wanted of them: merge, conflict, leave, either, or ask."""

    a: str
    b: str
    gold: str
    source: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; 0 if every floor holds, 1 if not."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", default="bundled", help="another scorer; floors are the default one's")
    parser.add_argument("--ablation", action="store_true", help="what each kind of evidence holds back alone")
    parser.add_argument(
        "--without", metavar="KIND,KIND", default="", help="judge without these kinds of evidence"
    )
    parser.add_argument(
        "--show", metavar="SET", help="print the pairs of a set that went wrong or were missed"
    )
    options = parser.parse_args(arguments)
    try:
        without = _kinds(options.without)
    except UsageError as error:
        print(f"quality: {error}", file=sys.stderr)
        return error.exit_code
    with leaving_out(without):
        return _run(options)


def _kinds(given: str) -> set[str]:
    kinds, known = set(filter(None, given.replace(" ", "").split(","))), KINDS.keys() | JUDGED.keys()
    if kinds - known:
        raise UsageError(
            f"There is no kind of evidence {min(kinds - known)!r}; there are {', '.join(sorted(known))}."
        )
    return kinds


def _run(options: Namespace) -> int:
    try:
        models, began = quality.load_models(options.scorer), time.monotonic()
        cases = read_cases()
        verdicts = quality.measure([_labelled(case) for case in cases], models).verdicts
        if options.ablation:
            print(markdown(ablation(cases, verdicts, models)))
            return 0
        counts = count_pairs(cases, verdicts)
        if options.show:
            print("\n".join(shown(cases, verdicts, options.show)))
            return 0
        counts |= count_stores(models) | count_places(Settings(scorer=options.scorer))
    except DreamError as error:
        print(f"quality: {error}", file=sys.stderr)
        return error.exit_code
    floors = tomllib.loads((DATA / "floors.toml").read_text(encoding="utf-8"))
    print(markdown(table(counts, floors)))
    print(f"{time.monotonic() - began:.0f} s")
    failed = list(misses(counts, floors)) if options.scorer == "bundled" else []
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    return 1 if failed else 0


def read_cases() -> list[Case]:
    """All labelled pairs: of each set every column beside the first and the last text it is held against."""
    cases = list[Case]()
    for folder in sets.FOLDERS:
        rows = (DATA / f"{folder}.tsv").read_text(encoding="utf-8").splitlines()
        for row in rows:
            every = list(sets.relations_of(sets.as_set(row, folder), folder))
            ends = {
                id(pair): pair for some in (every, every[::-1]) for pair in {p[2]: p for p in some}.values()
            }
            cases += (Case(a, b, GOLD[relation], folder) for a, b, _, relation in ends.values())
    for row in (DATA / "exchanges.tsv").read_text(encoding="utf-8").splitlines():
        fact, one, two, exchanged, letter = row.split("\t")
        against = {"c": "conflict", "d": "either"}[letter]
        cases += [Case(fact, text, "merge", "exchanges") for text in (one, two)]
        cases += [Case(text, exchanged, against, "exchanges") for text in (fact, two)]
    for file, gold in (
        (TRAPS, {"duplicate": "merge", "contradiction": "conflict", "distinct": "leave"}),
        (DATA / "pairs.tsv", {}),
    ):
        triples = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
        cases += (Case(a, b, gold.get(label, label), file.stem) for label, a, b in triples)
    return cases


def _labelled(case: Case) -> LabelledPair:
    return LabelledPair(case.a, case.b, LABELS[case.gold], case.source)


def count_pairs(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> dict[str, Counter[str]]:
    """For each set: pairs of each sort under the values of `OF`, and what was made of them under `COUNTS`."""
    counts = defaultdict[str, Counter[str]](Counter)
    for case, verdict in zip(cases, verdicts, strict=True):
        count, conflict = counts[case.source], verdict.label is Label.CONTRADICTION
        same = case.gold == "merge"
        count.update(
            {
                "same": same,
                "other": not same,
                "opposed": case.gold == "conflict",
                "left": case.gold in ("merge", "leave", "ask"),
            }
        )
        asked = verdict.label in (Label.DUPLICATE, Label.UNSURE) and not verdict.auto
        count.update(
            {
                "merged": same and verdict.auto,
                "asked": same and asked,
                "wrongly merged": not same and verdict.auto,
            }
        )
        count.update(
            {
                "conflicts": conflict and case.gold == "conflict",
                "wrong conflicts": conflict and case.gold not in ("conflict", "either"),
            }
        )
    return dict(counts)


def count_stores(models: quality.Models) -> dict[str, Counter[str]]:
    """The same of small stores, whose plan is the program's: memories that go, reports that are made."""
    found = {}
    for world in read_worlds(DATA / "stores"):
        figures = quality.evaluate_store(world_store(world), models)
        wrong = len(figures["wrongly_removed"])
        found[f"store {world.name}"] = Counter(
            {
                "same": figures["duplicates"],
                "merged": figures["removed"],
                "asked": figures["reviewed"] - figures["removed"],
                "other": figures["memories"],
                "wrongly merged": wrong,
                "opposed": figures["contradictions"],
                "conflicts": figures["found"],
                "left": figures["reported"],
                "wrong conflicts": figures["reported"] - figures["right"],
            }
        )
    return found


def count_places(settings: Settings) -> dict[str, Counter[str]]:
    """The same of worlds written as folders and graphs, through a whole pass over files: pairs of texts."""
    found = {}
    for kind, write in (("folder", write_folder), ("graph", write_graph)):
        for world in read_worlds(DATA / f"{kind}s"):
            with tempfile.TemporaryDirectory() as home:
                place, state = write(world, Path(home)), Path(home, "state")
                state.mkdir()
                with Session(
                    open_store(place, state_dir=state), settings=settings, state_dir=state
                ) as session:
                    plan = session.propose(ScopeFilter(), now=planted.NOW)
            found[f"{kind} {world.name}"] = _count_plan(plan, world, kind)
    return found


def _count_plan(plan: Plan, world: World, kind: str) -> Counter[str]:
    count = Counter[str]()
    for i, j, label in labelled_pairs(world):
        first, second = world.lines[i], world.lines[j]
        if first.block != second.block:
            continue
        texts = [_observation(line.text)[1] if kind == "graph" else line.text for line in (first, second)]
        wanted = "contradiction" if label == CONTRADICTION else "duplicate"
        came = planted.outcome(plan, planted.Pair(wanted, "", (texts[0], texts[1])))
        same, opposed, left = (label == one for one in (DUPLICATE, CONTRADICTION, DISTINCT))
        count.update({"same": same, "other": not same, "opposed": opposed, "left": left})
        count.update({"merged": same and came == "acted", "asked": same and came == "asked"})
        count["wrongly merged"] += not same and came == "acted"
        count["conflicts"] += opposed and came == "asked"
        count["wrong conflicts"] += left and came == "as the other"
    return count


def write_folder(world: World, home: Path) -> Path:
    """A world as a memory folder: each line a bullet of the file, under the heading, that its braces name."""
    folder = home / "project" / ".claude" / "memory"
    files = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
    for line in world.lines:
        files[line.metadata.get("file", "notes.md")][line.metadata.get("under", "Notes")].append(line.text)
    for name, headings in files.items():
        parts = [
            f"## {heading}\n\n" + "".join(f"- {text}\n" for text in some)
            for heading, some in headings.items()
        ]
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(parts), encoding="utf-8")
    return home / "project"


def write_graph(world: World, home: Path) -> Path:
    """A world as the file of a memory server: each line an observation of the entity before its colon."""
    said = defaultdict[str, list[str]](list)
    for line in world.lines:
        entity, text = _observation(line.text)
        said[entity].append(text)
    rows = (
        {"type": "entity", "name": name, "entityType": "topic", "observations": some}
        for name, some in said.items()
    )
    file = home / "memory.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def _observation(text: str) -> tuple[str, str]:
    entity, _, said = text.partition(": ")
    return (entity, said) if said else ("Notes", text)


def table(counts: dict[str, Counter[str]], floors: dict[str, dict[str, int]]) -> Iterator[Sequence[object]]:
    """A row for each set: each count of how many, and in brackets the floor, or the most there may be."""
    yield ("", *COUNTS)
    for name, count in counts.items():
        held = floors.get(name, {})
        yield (name, *(f"{count[what]} of {count[OF[what]]} ({held.get(what, '-')})" for what in COUNTS))


def misses(counts: dict[str, Counter[str]], floors: dict[str, dict[str, int]]) -> Iterator[str]:
    """A sentence for each floor that is missed, and for each set that has none."""
    for name in sorted({*counts, *floors}):
        if name not in counts or name not in floors:
            yield f"{name}: {'has no floors' if name in counts else 'was not measured'}"
            continue
        for what, limit in floors[name].items():
            value = counts[name][what]
            if value > limit if what in AT_MOST else value < limit:
                yield f"{name}: {what} {value}, {'at most' if what in AT_MOST else 'at least'} {limit} asked"


def ablation(
    cases: Sequence[Case], verdicts: Sequence[Verdict], models: quality.Models
) -> Iterator[Sequence[object]]:
    """For each kind of evidence: wrong and right merges that it alone, of all evidence, holds back."""
    held = defaultdict[str, Counter[bool]](Counter)
    for case, verdict in zip(cases, verdicts, strict=True):
        for kind in set() if verdict.auto else {item.kind for item in verdict.evidence}:
            rest = [item for item in verdict.evidence if item.kind != kind]
            label, auto = decide(verdict.probabilities, rest, models.limits, entailment=verdict.entailment)
            held[kind][case.gold == "merge"] += auto and label is Label.DUPLICATE
    yield ("kind of evidence", "wrong merges prevented", "right merges lost")
    for kind, count in sorted(held.items(), key=lambda row: (-row[1][False], row[0])):
        yield (kind, count[False], count[True])


def shown(cases: Sequence[Case], verdicts: Sequence[Verdict], source: str) -> Iterable[str]:
    """The pairs of a set that are not as wanted: what was wanted, what came, why, and the texts."""
    for case, verdict in zip(cases, verdicts, strict=True):
        came = (
            "merge"
            if verdict.auto
            else {Label.CONTRADICTION: "conflict", Label.DISTINCT: "leave"}.get(verdict.label, "ask")
        )
        fine = (
            case.gold == came
            or (case.gold == "either" and came != "merge")
            or (case.gold == "ask" and came == "leave")
        )
        if case.source == source and not fine:
            why = ", ".join(sorted({item.kind for item in verdict.evidence}))
            sure = "/".join(f"{p:.2f}" for p in verdict.probabilities)
            yield f"{case.gold} -> {came} {sure} [{why}]\n  {case.a}\n  {case.b}"


if __name__ == "__main__":
    sys.exit(main())
