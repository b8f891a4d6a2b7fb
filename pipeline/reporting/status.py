"""What a store holds, what was done to it, and what was held true before: lines for a person, and JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ...models.same_statement import statement_key
from ...records import SUPERSEDED_KEYS, Inventory, Label, Memory, Scope, Verdict, noted_moment
from ..answers import Answer, Say
from ..plan import Merge, Plan, Prune, Resolve, RunResult, TextChange
from ..planning.hooks import Means
from ..planning.plan_file import parse_plan
from ..rules.stale import age_of, stale_prune
from ..stores.base import ScopeFilter
from ..writing.journal import ChangeState, Journal, Operation, Recorded, Run
from ..writing.passes import Pass
from .text import clip, day, spoken_ids, visible

_ABOUT_WIDTH = 60  # characters of each text in the list of answers
NO_CATEGORY = "(no category)"
_LISTED = 5


def status_of(
    inventory: Inventory, history: Sequence[Run], means: Means, *, kind: str, condemned: int | None = None
) -> dict[str, Any]:
    """What a store holds: memories by scope and category, and what needs attention."""
    now, settings, read = means.now, means.settings, means.accessed
    living = [memory for memory in inventory.memories if not memory.is_retired(now.date())]
    keys = Counter((memory.scope, memory.category, statement_key(memory.text)) for memory in living)
    in_scope = Counter(memory.scope for memory in living)
    free = [memory for memory in living if not memory.pinned]
    aged = [m for m in free if stale_prune(m, settings=settings, now=now, accessed=read.get(m.id))]
    ages = [(age, m) for m in free if (age := age_of(m, now=now)) is not None]
    old = sorted((age.days, m.id) for age, m in ages if 2 * age > settings.stale_after)
    interrupted = next((run.id for run in history if run.interrupted), None)
    retired = len(inventory.memories) - len(living)
    scopes = sorted({memory.scope for memory in inventory.memories})
    # What nobody stated or confirmed for longest, where age decides.
    longest = old[: -_LISTED - 1 : -1] if condemned is None else []
    return {
        "kind": kind,
        "memories": {"living": len(living), "retired": retired, "pinned": len(living) - len(free)},
        "scopes": [{"scope": dict(each.ids), "memories": in_scope[each]} for each in scopes],
        "categories": dict(Counter(memory.category or NO_CATEGORY for memory in living).most_common()),
        "exact_duplicates": sum(count - 1 for count in keys.values()),
        "stale": len(aged) if condemned is None else condemned,
        "unconfirmed": [{"days": days, "id": name} for days, name in longest],
        "answered": dict(Counter(str(answer.say) for answer in means.answers if not answer.applied)),
        "complete": not inventory.gaps,
        "gaps": list(inventory.gaps),
        "interrupted": interrupted,
        "last_run": {"id": history[0].id, "state": str(history[0].state)} if history else None,
    }


def in_one_scope(inventory: Inventory) -> Inventory:
    """The inventory as if one user had said it all, for a judge that compares nothing across scopes."""
    memories = (replace(memory, scope=Scope.of(), category=None) for memory in inventory.memories)
    return replace(inventory, memories=tuple(memories))


def said_across(
    inventory: Inventory, now: datetime, show: Callable[[str], str], verdicts: Iterable[Verdict] = ()
) -> list[dict[str, Any]]:
    """The same fact under several users, agents or runs: by text, the memories that say it; never merged.

    What a pass would merge unasked by `verdicts` on all of it, whatever the scope, is one fact, too.
    """
    living = {each.id: each for each in inventory.memories if not each.is_retired(now.date())}
    named = {name: statement_key(memory.text) for name, memory in living.items()}
    for verdict in verdicts:
        a, b = verdict.pair.a, verdict.pair.b
        if verdict.auto and verdict.label is Label.DUPLICATE and {a, b} <= living.keys():
            named = {name: named[a] if key == named[b] else key for name, key in named.items()}
    groups: dict[str, list[Memory]] = defaultdict(list)
    for name, memory in living.items():
        groups[named[name]].append(memory)
    several = [same for same in groups.values() if len({memory.scope for memory in same}) > 1]
    told = ([{"id": m.id, "scope": dict(m.scope.ids)} for m in same] for same in several)
    return [{"text": show(same[0].text), "memories": each} for same, each in zip(several, told, strict=True)]


def across_lines(found: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """The same for a person, what is said in most scopes first."""
    lines = [f"Said in several scopes ({len(found)}):" if found else "Nothing is said in several scopes."]
    for group in sorted(found, key=lambda each: -len(each["memories"])):
        lines.append(f"  {clip(group['text'])}")
        lines += [f"    [{kind}:{each['id']}] {Scope.of(**each['scope'])}" for each in group["memories"]]
    return [visible(line) for line in lines]


def spoken_status(status: Mapping[str, Any], text_of: Callable[[str], str]) -> list[str]:
    """A status as lines for a person; `text_of` gives the text of a memory."""
    memories, last, name = status["memories"], status["last_run"], status["interrupted"]
    listing = "complete" if status["complete"] else f"incomplete, read-only: {'; '.join(status['gaps'])}"
    lines = [
        "Memories: " + ", ".join(f"{count} {what}" for what, count in memories.items()),
        f"Scopes: {len(status['scopes'])}",
        f"Exact duplicates: {status['exact_duplicates']}",
        f"Stale: {status['stale']}",
        f"Listing: {listing}",
    ]
    scopes = ((each["memories"], Scope.of(**each["scope"])) for each in status["scopes"])
    lines += [f"  {count:>6}  {scope}" for count, scope in scopes if count]
    lines += ["Categories:", *(f"  {count:>6}  {name}" for name, count in status["categories"].items())]
    told = ", ".join(f"{count} {say.spoken}" for say in Say if (count := status["answered"].get(say)))
    lines += [f"Answered: {told}; see `mem0-dream reject --list`"] if told else []
    if name:
        lines.append(f"Interrupted: run {name}; finish it with `mem0-dream resume {name}`")
    lines.append(f"Last run: {last['id']} ({last['state']})" if last else "Last run: never")
    lines += ["Not confirmed for longest:"] if status["unconfirmed"] else []
    for old in status["unconfirmed"]:
        lines.append(f"  {old['days']:>6} d  [{status['kind']}:{old['id']}] {clip(text_of(old['id']))}")
    return [visible(line) for line in lines]


def run_line(run: Run, changes: Sequence[Recorded]) -> str:
    """One run in one line: name, state, what it removed and added, what it left to a person."""
    told = run_json(run, changes)
    done = [f"{how} {told[how]}" for how in ("removed", "retired") if told[how]] or ["removed 0"]
    left = [f"unsure={told['unsure']}"] if told["unsure"] else []
    what = ", ".join([*done, f"added {told['added']}", *left])
    return f"{run.id}  {run.state:<8}  {run.started_at:%Y-%m-%d %H:%M} UTC  {what}"


def run_json(run: Run, changes: Sequence[Recorded]) -> dict[str, Any]:
    """One run as JSON: what it was about, and what it did; what was only intended does not count."""
    records: list[dict[str, Any]] = [json.loads(line) for line in run.plan.split("\n") if line.strip()]
    header = records[0] if records else {}
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    gone = [change.action for change in made if change.operation is Operation.REMOVE]
    expire = {row.get("id") for row in records if {row.get("kind"), row.get("reason")} & run.retires}
    retired = sum(name in expire for name in gone) if run.retire_on else 0
    scopes = {tuple(map(tuple, total["scope"]["ids"])) for total in header.get("totals", ())}
    return {
        "run": run.id,
        "state": str(run.state),
        "kind": header.get("kind"),
        "scopes": [dict(ids) for ids in sorted(scopes)],
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "removed": len(gone) - retired,
        "retired": retired,
        "added": sum(change.operation is Operation.ADD for change in made),
        "unsure": sum(record.get("record") == "unsure" for record in records),
    }


def answer_line(answer: Answer, kind: str, show: Callable[[str], str]) -> str:
    """One answer in one line: its number, what was said, about which memories, as they may be shown."""
    about = "; ".join(f"[{kind}:{item.id}] {clip(show(item.spoken), _ABOUT_WIDTH)}" for item in answer.about)
    run = f" (run {answer.run})" if answer.run else ""
    what = f"{answer.what} " if answer.what else ""
    said = answer.say.spoken
    said += ", open again" if answer.say is Say.TAKEN_BACK and not answer.closes else ""
    said += ", not applied yet" if answer.say.changes and not answer.run else ""
    return visible(f"{answer.number:>4}  {answer.at:%Y-%m-%d}  {said}: {what}{about}{run}")


Night = dict[str, Any]  # one unattended pass, as it is logged and noted; moments in ISO form


def night_done(plan: Plan, result: RunResult) -> Night:
    """What a pass found and did."""
    counts = {"memories": sum(total.memories for total in plan.totals), "scopes": len(plan.totals)}
    counts |= {name: getattr(result, name) for name in ("merged", "pruned", "removed", "added")}
    conflicts = len(plan.conflicts) + plan.left_open
    counts |= {"moved": len(result.moved), "conflicts": conflicts, "unsure": len(plan.unsure)}
    return {"kind": plan.kind, "store": plan.store, "run": result.run, "counts": counts}


def summed_up(night: Night) -> Night:
    """The same behind one line, as a log shows it, and the seconds it took; 0 while it is under way."""
    counts = night["counts"]
    names = ("merged", "pruned", "conflicts", "unsure")
    told = " ".join(f"{name}={counts[name]}" for name in names if name in counts)
    text = visible(f"mem0-dream: {night['outcome']}" + "".join(f", {x}" for x in (night["said"], told) if x))
    ended = night["finished_at"]
    took = _epoch(ended) - _epoch(night["started_at"]) if ended else 0.0
    return {"text": text, "seconds": round(took, 3)} | night


def write_metrics(night: Night, path: Path, *, last_ok: datetime | None) -> str:
    """Write a night in the text format of Prometheus, whole or not at all; why that failed, or nothing."""
    from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

    registry, good = CollectorRegistry(), last_ok.timestamp() if last_ok else 0.0
    values = {
        "last_run_timestamp_seconds": ("When the last night ended.", _epoch(night["finished_at"])),
        "last_run_success": ("Whether the last night ended well.", float(night["exit_code"] == 0)),
        "last_run_exit_code": ("Its exit code.", float(night["exit_code"])),
        "last_run_duration_seconds": ("How long it took.", night["seconds"]),
        "last_success_timestamp_seconds": ("When a night last ended well.", good),
    }
    values |= {name: (f"{name.capitalize()} of the last night.", n) for name, n in night["counts"].items()}
    for name, (told, value) in values.items():
        Gauge(f"mem0_dream_{name}", told, registry=registry).set(value)
    try:
        write_to_textfile(str(path), registry)
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def job_json(last: Pass, *, now: datetime, within: timedelta) -> dict[str, Any]:
    """How a job of a scheduler last ended, and what is wrong with it."""
    trouble = last.trouble(now=now, within=within)
    last_ok = last.ok_at.isoformat() if last.ok_at else None
    return {"job": last.job, "alive": not trouble, "trouble": trouble, "last_ok": last_ok, **last.night}


def job_line(row: Mapping[str, Any]) -> str:
    """A job in one line: when it began, what is wrong with it or what came of it, and its command."""
    began = datetime.fromisoformat(row["started_at"]).astimezone(UTC)
    told = row["trouble"] or str(row.get("text", row["outcome"])).removeprefix("mem0-dream: ")
    return visible(f"{began:%Y-%m-%d %H:%M} UTC  {told}  {row['job']}")


_TOWARDS = {"contradicted": "by", "same fact": "as"}  # how a line goes on to what took its place; else "into"


@dataclass(frozen=True, slots=True)
class Version:
    """Words that a memory had for a time."""

    id: str
    text: str
    since: datetime | None  # when they were stated; None if unknown
    until: datetime | None = None  # when others took their place; None while they hold
    into: str | None = None  # id of the memory that says so now; None while they hold, or if there is none
    how: str = ""  # contradicted, same fact, merged, reworded, or why it was pruned; empty while they hold

    def held_at(self, moment: datetime) -> bool:
        """Whether these were the words at a moment."""
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)


def versions(
    memories: Iterable[Memory], journal: Journal, store: str, *, scopes: ScopeFilter
) -> list[Version]:
    """All words that memories had, the oldest first; `memories` are those in the store, retired ones, too."""
    present = {memory.id: memory for memory in memories}
    past = [one for run in journal.runs(store) for one in _of_run(run, journal, scopes)]
    known = {(one.id, one.text) for one in past}
    for memory in present.values():
        into, at, how = (memory.metadata.get(key) for key in SUPERSEDED_KEYS)
        if (memory.id, memory.text) in known:
            continue
        stays = present.get(str(into)) if how in _TOWARDS else None
        ended = _ended(memory.stated_at, stays.stated_at if stays else None, noted_moment(at))
        marked = (ended, str(into), str(how)) if into else (None, None, "")
        past.append(Version(memory.id, memory.text, memory.stated_at, *marked))
    return sorted(past, key=lambda x: (x.since.timestamp() if x.since else 0.0, x.until is None, x.id))


def _of_run(run: Run, journal: Journal, scopes: ScopeFilter) -> Iterable[Version]:
    done = [each for each in journal.changes(run.id) if each.state is ChangeState.DONE]
    removed = {(each.action, each.memory) for each in done if each.operation is Operation.REMOVE}
    added = {each.action: each.memory for each in done if each.operation is Operation.ADD}
    rewritten = {each.action for each in done if each.operation is Operation.REPLACE}
    shortened = {(each.action, each.memory) for each in done if each.operation is Operation.REPLACE}
    for action in parse_plan(run.plan).actions if done else ():
        if not scopes.matches(action.scope):
            continue
        into = added.get(action.id, action.survivor)
        stays = next((member for member in action.members if member.id == into), None)
        said: datetime | None = None
        how: str = action.reason if isinstance(action, Prune) else "merged"
        if isinstance(action, Resolve) and stays is not None:
            said, how = stays.stated_at, action.ends
        for member in action.members:
            lost = isinstance(action, Resolve) and (action.id, member.id) in shortened
            if lost or (action.id, member.id) in removed:
                ended = _ended(member.stated_at, said, run.started_at)
                yield Version(member.id, member.text, member.stated_at, ended, into, how)
            elif action.id in rewritten and member.id == into and isinstance(action, Merge | TextChange):
                yield Version(member.id, member.text, member.stated_at, run.started_at, into, "reworded")


def _ended(stated: datetime | None, said: datetime | None, noted: datetime | None) -> datetime | None:
    """When words ceased to hold: when those that took their place were said, if that is known."""
    until = said or noted
    return max(until, stated) if until and stated else until


def chain(found: Iterable[Version], every: Sequence[Version]) -> list[Version]:
    """These versions with all that they took the place of, and all that took theirs, in the same order."""
    names = {one.id for one in found}
    while True:
        more = {one.into for one in every if one.id in names and one.into}
        more |= {one.id for one in every if one.into in names}
        if more <= names:
            return [one for one in every if one.id in names]
        names |= more


def matching(query: str, every: Sequence[Version], kind: str) -> list[Version]:
    """The versions of the memory with this id, or its beginning; else those whose words hold the text."""
    wanted = query.strip("[]").removeprefix(f"{kind}:")
    named = [one for one in every if one.id == wanted] or [one for one in every if one.id.startswith(wanted)]
    said = " ".join(query.casefold().split())
    return named or [one for one in every if said in " ".join(one.text.casefold().split())]


def spoken_versions(shown: Sequence[Version], every: Sequence[Version], kind: str) -> list[str]:
    """One line for each version: its words, its memory, its time, and what became of it."""
    short = spoken_ids((name for one in every for name in (one.id, one.into) if name), kind)
    lines = []
    for one in shown:
        moved = one.into if one.into != one.id else None
        goes = f" {_TOWARDS.get(one.how, 'into')} [{kind}:{short[moved]}]" if moved else ""
        ended = f" until {day(one.until)}: {one.how}{goes}" if one.until else ""
        began = f"since {day(one.since)}" if one.since else "since an unknown day"
        lines.append(visible(f"[{kind}:{short[one.id]}] {' '.join(one.text.split())}"))
        lines.append(visible(f"    {began}{ended}"))
    return lines
