"""How much of what is planted into a copy of real memories a pass asks about.

    python -m mem0_dream.scripts.evaluate.planted DIRECTORY_OR_GRAPH [--seed 0] [--show]

Reworded duplicates and contradictions of our own (`scripts/data/planted.tsv`) go into a copy, each pair
under one heading or two, in two files or types (entities of a graph).
"""

import json
import random
import re
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Merge, Plan, Resolve
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.scripts.evaluate.metrics import markdown
from mem0_dream.settings import Settings

TABLE = Path(__file__).parents[1] / "data" / "planted.tsv"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OUTCOMES = ("acted", "asked", "as the other", "missed")
_NAMES: dict[str, Callable[[str], str]] = {
    "parentheses": "{} (core)".format,
    "general word": "{} Component".format,
    "another general word": "{} Update".format,
    "one word": lambda name: re.sub(r"[\W_]+(\w?)", lambda match: match[1].upper(), name),
    "plural": "{}s".format,
    "file": "{}.py".format,
    "other name": lambda name: f"Notes of session {len(name)}",
    "other name and type": lambda name: f"Handover {len(name)}",
}
"""Names under which an entity stands a second time."""
_HEADING = re.compile(r"^#{2,4} .*$", re.MULTILINE)
_TYPE = re.compile(r"^\s*type:\s*(\w+)", re.MULTILINE)


class Pair(NamedTuple):
    """Two texts that say the same, or cannot both hold."""

    kind: str  # duplicate or contradiction
    form: str  # how they differ
    texts: tuple[str, str]
    place: str = ""  # where they were planted


def read_table() -> list[Pair]:
    """All pairs of the table."""
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return [Pair(kind, form, (a, b)) for kind, form, a, b in rows]


def plant_markdown(folders: Iterable[Path], pairs: Sequence[Pair], draw: random.Random) -> list[Pair]:
    """Write the pairs into the files of memory directories: bullets or sentences, by turns."""
    every = sorted(path for folder in folders for path in folder.rglob("*.md"))
    files = [path for path in every if path.name not in ("MEMORY.md", "README.md")] or every
    heads = {path: path.read_text(encoding="utf-8", errors="replace")[:600] for path in files}
    kinds = {path: "".join(_TYPE.findall(head)[:1]) for path, head in heads.items()}
    planted = []
    for number, pair in enumerate(pairs):
        place = ("same heading", "other heading", "other file", "other type")[number % 4]
        first = second = draw.choice(files)
        if place in ("other file", "other type"):
            alike = [path for path in files if (kinds[path] == kinds[first]) == (place == "other file")]
            others = [path for path in alike if path != first]
            second = draw.choice(others) if others else first.with_name(f"planted_{number}.md")
            if not others:
                second.write_text("---\nname: planted\ntype: reference\n---\n\n## Notes\n", encoding="utf-8")
        bullet = "- " if number % 3 else ""
        heading = _put(first, pair.texts[0], bullet, draw)
        beside = heading if place == "same heading" else None
        _put(second, pair.texts[1], bullet, draw, beside=beside, but=heading)
        planted.append(pair._replace(place=place))
    return planted


def _put(
    path: Path, text: str, bullet: str, draw: random.Random, *, beside: str | None = None, but: str = ""
) -> str:
    said = path.read_bytes().decode("utf-8", "replace")
    headings = [each for each in _HEADING.finditer(said) if (each[0] == beside if beside else each[0] != but)]
    if headings:
        chosen = draw.choice(headings)
        name, end = chosen[0], chosen.end()
        new = f"{said[:end]}\n\n{bullet}{text}\n\n{said[end:].lstrip()}"
    else:
        name = draw.choice([one for one in ("## Later findings", "## Agreed", "## Practice") if one != but])
        new = f"{said.rstrip()}\n\n{name}\n\n{bullet}{text}\n"
    path.write_text(new, encoding="utf-8")
    return name


def plant_graph(file: Path, pairs: Sequence[Pair], draw: random.Random) -> list[Pair]:
    """Write entities of a graph a second time, then the pairs into the observations of entities."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    copied = _second_entities(lines, draw)
    entities = [line for line in lines if line.get("type") == "entity"]
    said = [set(entity["observations"]) for entity in entities]
    # An entity that stands there twice says nothing that would be against its second self.
    twice = [any(2 * len(own & other) > len(own) > 2 for other in said if other is not own) for own in said]
    entities = [entity for entity, also in zip(entities, twice, strict=True) if not also] or entities
    planted = []
    for number, pair in enumerate(pairs):
        place = ("same entity", "other entity", "other type")[number % 3]
        first = draw.choice(entities)
        rest = [entity for entity in entities if entity is not first]
        same = [entity for entity in rest if entity["entityType"] == first["entityType"]]
        other = [entity for entity in rest if entity["entityType"] != first["entityType"]]
        among = {"same entity": [first], "other entity": same or other, "other type": other or same}[place]
        for entity, text in zip((first, draw.choice(among or [first])), pair.texts, strict=True):
            entity["observations"].insert(draw.randrange(len(entity["observations"]) + 1), text)
        planted.append(pair._replace(place=place))
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return planted + copied


def _second_entities(lines: list[dict[str, Any]], draw: random.Random) -> list[Pair]:
    entities = [line for line in lines if line.get("type") == "entity" and len(line["observations"]) > 2]
    drawn = draw.sample(entities, min(len(_NAMES), (len(entities) + 1) // 2))
    planted = []
    for form, entity in zip(_NAMES, drawn, strict=False):
        name, said = _NAMES[form](entity["name"]), entity["observations"]
        kind = "session" if form.endswith("type") else entity["entityType"]
        if any(line.get("name") == name for line in lines):
            continue
        held = [*said[: -(-4 * len(said) // 5)], "Reviewed together with the team in spring"]
        lines.append({"type": "entity", "name": name, "entityType": kind, "observations": held})
        planted.append(Pair("entity", form, (entity["name"], name)))
    return planted


def outcome(plan: Plan, pair: Pair) -> str:
    """What a plan makes of a pair."""
    for action in plan.rewrites if pair.texts[0] == pair.texts[1] else ():
        before = "\n".join(member.text for member in action.members)
        if before.count(pair.texts[0]) > action.text.count(pair.texts[0]):
            return "acted"  # what stood there twice is left once
    wanted = Resolve if pair.kind == "contradiction" else Merge
    acted, asked = (
        {type(action) for action in actions if isinstance(action, Merge | Resolve) and _about(action, pair)}
        for actions in (plan.actions, plan.unsure)
    )
    if wanted in acted | asked:
        return "acted" if wanted is Merge and wanted in acted else "asked"
    return "as the other" if acted | asked else "missed"


def _about(action: Merge | Resolve, pair: Pair) -> bool:
    if pair.kind == "entity":
        return {member.id for member in action.members} >= set(pair.texts)
    said = list(getattr(action, "said", ())) or [member.text for member in action.members]
    holding = [[at for at, text in enumerate(said) if each in text] for each in pair.texts]
    return any(i != j for i in holding[0] for j in holding[1])


def measured(source: Path, *, seed: int, settings: Settings) -> tuple[Plan, list[Pair], float]:
    """The plan on a copy, what was planted in it, and the processor seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        place, state = Path(folder, "copy", source.name or "root"), Path(folder, "state")
        draw, pairs = random.Random(seed), read_table()  # noqa: S311  (the same plants for the same seed)
        draw.shuffle(pairs)
        place.parent.mkdir()
        state.mkdir()
        if source.is_file():
            shutil.copy2(source, place := place.with_name("memory.jsonl"))
            planted = plant_graph(place, pairs, draw)
        else:
            found = [each.path for each in discover(source, home=state)]
            inside = place if found else place / ".claude" / "memory"  # memories without their project
            shutil.copytree(source, inside, ignore=shutil.ignore_patterns(".git"))
            folders = [place / path.relative_to(source.resolve()) for path in found] or [inside]
            planted = plant_markdown(folders, pairs, draw)
        began = time.process_time()
        store = open_store(place, state_dir=state)
        with Session(store, settings=settings, state_dir=state) as session:
            plan = session.propose(ScopeFilter(), now=NOW)
        return plan, planted, time.process_time() - began


def table(planted: Sequence[Pair], outcomes: Sequence[str]) -> str:
    """Counts of outcomes, over all, for each form and for each place."""
    counts = defaultdict[tuple[str, str], Counter[str]](Counter)
    for pair, came in zip(planted, outcomes, strict=True):
        for row in {"", pair.form, pair.place}:
            counts[pair.kind, row][came] += 1
    rows: list[Sequence[object]] = [("", *OUTCOMES, "found")]
    for (kind, row), count in sorted(counts.items()):
        found = (count["acted"] + count["asked"]) / count.total()
        rows.append((f"{kind} {row}", *(count[name] for name in OUTCOMES), f"{found:.0%}"))
    return markdown(rows)


def main() -> int:
    """Print what became of what was planted, and what is proposed about the rest."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a project, a folder of memories, or the file of a graph")
    parser.add_argument("--seed", type=int, default=0, help="other places for the same pairs")
    parser.add_argument("--show", action="store_true", help="print each pair that was missed")
    parser.add_argument("--scorer", default="bundled", help="another scorer than the default one")
    given = parser.parse_args()
    plan, planted, seconds = measured(given.source, seed=given.seed, settings=Settings(scorer=given.scorer))
    outcomes = [outcome(plan, pair) for pair in planted]
    print(table(planted, outcomes))
    asked = [item for item in (*plan.actions, *plan.unsure) if isinstance(item, Merge | Resolve)]
    rest = sum(not any(_about(item, pair) for pair in planted) for item in asked)
    print(f"{rest} other merges, conflicts and questions; {seconds:.1f} processor s")
    for pair, came in zip(planted, outcomes, strict=True) if given.show else ():
        if came in OUTCOMES[2:]:
            print(f"{came}: {pair.kind}, {pair.form}, {pair.place}: {' / '.join(pair.texts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
