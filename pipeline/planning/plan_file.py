"""Plans as versioned JSON Lines: a header line, then one line for each action and unsure pair.

One can read it, grep it, drop a line that one does not want applied, or answer a conflict by setting its
"choice" to "a" or "b".
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...errors import PlanFileError
from ...models.text.reading import from_json
from ..plan import Merge, Plan, Prune, Resolve, RunResult, TextChange, spoken_id

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = "mem0-dream plan"
VERSION = 2
AT_ONCE = 256  # actions that are turned into lines together
_HEADER_FIELDS = [name for name in Plan.__dataclass_fields__ if name not in ("actions", "unsure")]


@functools.cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def dump_plan(plan: Plan) -> str:
    """Write a plan as JSON Lines; equal plans give equal bytes."""
    return "".join(
        _shown(json.dumps(line, ensure_ascii=False, sort_keys=True)) + "\n" for line in _lines(plan)
    )


def _lines(plan: Plan) -> Iterator[dict[str, Any]]:
    bare = replace(plan, actions=(), unsure=())
    whole = _dumped(bare)
    yield {"format": FORMAT, "version": VERSION} | {name: whole[name] for name in _HEADER_FIELDS}
    for record, name, items in (("action", "actions", plan.actions), ("unsure", "unsure", plan.unsure)):
        for start in range(0, len(items), AT_ONCE):
            part: dict[str, Any] = {name: items[start : start + AT_ONCE]}
            yield from ({"record": record, **each} for each in _dumped(replace(bare, **part))[name])


def _dumped(plan: Plan) -> dict[str, Any]:
    whole: dict[str, Any] = _adapter().dump_python(plan, mode="json")
    for action in (*whole["actions"], *whole["unsure"]):
        for name in ("observations", "relations", "source", "held", "said", "places", "rests"):
            if not action.get(name, True):
                del action[name]
        for member in action["members"]:
            if member["hash"] is None:
                del member["hash"]
    for total in whole["totals"]:
        for name in ("relations", "observations"):
            if not total[name]:
                del total[name]
    return whole


def parse_plan(text: str) -> Plan:
    """Read a plan back; a PlanFileError names the line that is wrong."""
    # Not splitlines: a text may hold other separators, such as U+2028, which JSON does not escape.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    records = [(number, _load(line, number)) for number, line in lines]
    if not records or records[0][1].get("format") != FORMAT:
        raise PlanFileError("This is not a plan file of mem0-dream: its first line is no plan header.")
    header = records[0][1]
    version = header.get("version")
    if version != VERSION:
        raise PlanFileError(
            f"This plan file has version {version!r} but this mem0-dream reads {VERSION}; "
            "make it again with `mem0-dream plan`."
        )
    fields: dict[str, Any] = {name: header[name] for name in _HEADER_FIELDS if name in header}
    fields |= {"actions": [], "unsure": []}
    for number, record in records[1:]:
        place = {"action": "actions", "unsure": "unsure"}.get(str(record.pop("record", None)))
        if place is None:
            raise PlanFileError(f"Line {number} of the plan file is neither an action nor an unsure pair.")
        if isinstance(choice := record.get("choice"), str):  # as the report asks for it: A, B or skip
            plain = choice.strip().lower()
            record["choice"] = None if plain in ("", "s", "skip") else plain
        fields[place].append(record)
    from pydantic import ValidationError

    try:
        plan = _adapter().validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise PlanFileError(f"The plan file is damaged at {at}: {first['msg']}.") from None
    _check_consistent(plan)
    return plan


def _load(line: str, number: int) -> dict[str, Any]:
    try:
        record = from_json(line)
    except json.JSONDecodeError as error:
        raise PlanFileError(f"Line {number} of the plan file is no JSON ({error.msg}).") from None
    if not isinstance(record, dict):
        raise PlanFileError(f"Line {number} of the plan file is no JSON object.")
    return record


def _check_consistent(plan: Plan) -> None:
    """Refuse what no planner writes: an edited line must not be able to remove what it does not name."""
    for action in plan.actions:
        ids = {member.id for member in action.members}
        named = {*action.removes, *([action.survivor] if action.survivor else [])}
        if isinstance(action, Resolve):
            named |= {*action.a, *action.b, *action.rests}
        single = isinstance(action, Prune | TextChange)
        lonely = isinstance(action, Merge) and len(ids) < 2 and not action.said
        if not named <= ids or (single and len(ids) != 1) or lonely:
            raise PlanFileError(f"Action {action.id} of the plan file names memories it has no members for.")


def to_json(plan: Plan, result: RunResult | None) -> dict[str, Any]:
    """A plan, and what was applied of it, as one object for `--json`."""
    import dataclasses

    whole: dict[str, Any] = {
        "plan": _dumped(plan),
        "proposed": {
            "merges": len(plan.merges),
            "prunes": len(plan.prunes),
            "conflicts": len(plan.conflicts),
        },
        "unsure": len(plan.unsure),
        "applied": dataclasses.asdict(result) if result is not None else None,
    }
    for action in (*whole["plan"]["actions"], *whole["plan"]["unsure"]):
        for verdict in action.get("verdicts", ()):
            pair = verdict["pair"]
            pair |= {side: spoken_id(pair[side]) for side in ("a", "b")}
    return whole


def json_text(value: object, *, sort_keys: bool = True) -> str:
    """JSON for people and programs alike: a character that a terminal cannot show as it is, is escaped."""
    spoken = datetime.isoformat
    return _shown(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=sort_keys, default=spoken))


def _shown(text: str) -> str:
    # White space between the tokens is printable or a line break; everything else stands inside a string.
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)
