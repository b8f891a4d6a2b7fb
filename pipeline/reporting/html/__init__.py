"""One page that shows a plan: every proposal, what was applied, and how the store changed over time.

Pure: a plan, memories and runs in, one string out. Its style and script are inside, it loads nothing from
any network, and its own policy lets the browser run this one script and this one style by their hashes, so
that no text of a memory can run, even if it reached the page as markup.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....models.facts.frames import KINDS
from ....models.guards import WHOLE
from ....models.merger import keeps
from ....models.scorer import Thresholds
from ....models.text.statements import clauses, sentences
from ....records import ActionKind, Evidence, Memory, Scope, Verdict
from ...answers import content_key
from ...plan import Action, Member, Merge, Plan, Prune, Relate, Resolve, TextChange, guessed, in_order, sorts
from ...planning.doubts import clusters, conflict_clusters, probability
from ...planning.plan_file import parse_plan
from ...writing.journal import ChangeState, Operation, Outcome, Recorded, Run, RunState
from ..pair import spoken, told_once
from ..report import Report, newer_side
from ..text import Places, changed_lines, spoken_ids, unlike

SCRIPTS = ("text.js", "state.js", "cards.js", "list.js", "history.js", "live.js", "start.js")
"""In the order in which they are joined: each uses only earlier ones."""
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
VERSION = 2
SHOWN = 3  # neighbours that a card names
NEAR = 0.5  # cosine to a member from which a memory counts as near; below it texts share a topic at best
DIGITS = 3  # digits of a score
CLAUSES_UP_TO = 4_000
"""Characters of a text up to which its clauses are held against the others; documents show their lines."""
_SAME = WHOLE | {"same"}  # evidence that two texts are one fact; all other speaks against it
Point = dict[str, Any]  # one run: what the page draws, and the actions that stand


class Table:
    """The memories of a page, each once, with the scopes and categories they name."""

    def __init__(self, plan: Plan, memories: Iterable[Memory], accessed: Mapping[str, datetime]) -> None:
        self._known = {memory.id: memory for memory in memories}
        self._accessed = accessed
        self._rows: dict[tuple[str, str], int] = {}
        self.scopes: dict[str, int] = {}
        self.categories: dict[str, int] = {}
        actions = (*plan.actions, *plan.unsure)
        ids = [*self._known, *(member.id for action in actions for member in action.members)]
        self._short = spoken_ids(ids, plan.kind)
        self.rows: list[dict[str, Any]] = []

    def member(self, member: Member, action: Action) -> int:
        """The row of a memory of a proposal, with the text that was judged."""
        dates: Any = {"created_at": member.created_at, "updated_at": member.updated_at}
        category = self._known.get(member.id, action).category
        return self.row(Memory(member.id, member.text, action.scope, category=category, **dates))

    def row(self, memory: Memory) -> int:
        """The row of a memory in these words."""
        key, stored = (memory.id, memory.text), self._known.get(memory.id)
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            seen = self._accessed.get(memory.id) or (stored.accessed_at if stored else None)
            scope = self.scopes.setdefault(str(memory.scope), len(self.scopes))
            category = memory.category
            shown = {
                "id": memory.id,
                "name": self._short.get(memory.id, memory.id),
                "text": memory.text,
                "scope": scope,
                "category": self.categories.setdefault(category, len(self.categories)) if category else None,
                "created": _minute(memory.created_at),
                "updated": _minute(memory.updated_at) if memory.updated_at != memory.created_at else None,
                "read": _minute(seen),
                "expires": stored.expires_on.isoformat() if stored and stored.expires_on else None,
                "pinned": 1 if stored and stored.pinned else None,
            }
            self.rows.append({name: value for name, value in shown.items() if value is not None})
        return self._rows[key]


def page_data(
    plan: Plan,
    *,
    memories: Sequence[Memory] = (),
    accessed: Mapping[str, datetime] | None = None,
    thresholds: Thresholds | None = None,
    points: Sequence[Point] = (),
    vectors: NDArray[np.float32] | None = None,
    remarks: Sequence[str] = (),
    run: Mapping[str, str] | None = None,
    outcomes: Mapping[str, tuple[Outcome, str]] | None = None,
) -> dict[str, Any]:
    """The data of a page of what is proposed, or a run was to do; it is text, numbers and lists.

    `memories` are all that the plan looked at, in order, `accessed` the latest reads by id, `vectors` float32
    [n, d] with one row for each of them; None names no neighbours. `points` are the runs of the store so far,
    `remarks` what a kind of store adds. Of a `run` that is shown its id, its state and the command that takes
    it back are given, and what became of each of its actions.
    """
    table, outcomes = Table(plan, memories, accessed or {}), outcomes or {}
    asked, open_ = clusters(plan.unsure), conflict_clusters(plan.conflicts)
    groups = [[each.id for each in group] for group in asked] + [
        [each.id for each in group] for group in open_
    ]
    shares = {
        name: {"shares": [number, len(group)]}
        for group in groups
        for number, name in enumerate(group, 1)
        if len(group) > 1
    }
    unsure = [doubt for group in asked for doubt in group]
    cards = [
        card(action, table, outcomes, unsure=at >= len(plan.actions)) | shares.get(action.id, {})
        for at, action in enumerate((*plan.actions, *unsure))
    ]
    for shown in cards:
        shown["scope"] = table.rows[shown["members"][0]]["scope"]
    if vectors is not None:
        members = [[table.rows[row]["id"] for row in shown["members"]] for shown in cards]
        for shown, places in zip(cards, nearby(memories, vectors, members), strict=True):
            if places:
                shown["near"] = [table.row(memories[place]) for place in places]
    now = plan.now.isoformat(timespec="seconds")
    return {
        "version": VERSION,
        "kind": plan.kind,
        "now": now,
        "scorer": plan.scorer,
        "thresholds": [thresholds.auto, thresholds.duplicate] if thresholds else None,
        "summary": {
            "memories": sum(total.memories for total in plan.totals),
            "merges": len(plan.merges),
            "conflicts": len(plan.conflicts),
            "prunes": len(plan.prunes),
            "changes": len(plan.rewrites),
            "unsure": len(plan.unsure),
        },
        "run": dict(run) if run else None,
        "cards": cards,
        "memories": table.rows,
        "scopes": list(table.scopes),
        "categories": list(table.categories),
        "history": history_data(points, {t.scope: t.memories for t in plan.totals}, now),
        "apart": [list(item) for item in plan.apart],
        "gaps": list(plan.gaps),
        "notes": [*plan.notes, *plan.fidelity, *Report(plan).left_open()],
        "remarks": list(remarks),
    }


def _minute(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else None


def card(
    action: Action, table: Table, outcomes: Mapping[str, tuple[Outcome, str]], *, unsure: bool
) -> dict[str, Any]:
    """The data of one proposal for the page; defaults are left out."""
    members = _ordered(action, unsure=unsure)
    outcome = outcomes.get(action.id)
    shown = {
        "id": action.id,
        "key": content_key(action),
        "kind": str(action.kind),
        "members": [table.member(member, action) for member in members],
        "stays": next((n for n, member in enumerate(members) if member.id == action.survivor), None),
        "unsure": int(unsure) or None,
        "alone": int(guessed(action)) or None,  # answered by itself
        "p": _confidence(action),
        "verdicts": [_verdict(verdict, members, action.kind) for verdict in getattr(action, "verdicts", ())],
        "outcome": [str(outcome[0]), outcome[1]] if outcome else None,
        **_own(action, members),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _own(action: Action, members: Sequence[Member]) -> dict[str, Any]:
    match action:
        case Merge():  # what stands, and each text that goes, marked where none of the others says it
            texts = [member.text for member in members]
            before = next((member.text for member in members if member.id == action.rewrites), None)
            lined = before is not None and "\n" in before + action.text
            return {
                "text": None if action.survivor and not action.rewrites else action.text,
                "writes": "new" if action.adds else "rewrites" if action.rewrites else None,
                "exact": [number for number, member in enumerate(members) if member.id in action.exact],
                "lines": changed_lines(before or "", action.text) if lined else None,
                "come": []
                if action.adds
                else _differing(action.text, *(x for x in texts if x != action.text)),
                "marks": [lost_words(text, action.text, texts if action.adds else ()) for text in texts],
                "merged": {
                    key: list(map(str, values)) for key, values in sorted(action.disagreements.items())
                },
                "expires": action.expires,
            }
        case Resolve():
            first_of_b = members[len(action.a)]
            sides = (action.said or (members[0].text, first_of_b.text))[:2]
            return {
                "topic": action.topic,
                "newer": newer_side(action),
                "choice": action.choice,
                "sides": [len(action.a), len(action.b)],
                "said": list(action.said),
                "rests": [action.rests.get(member.id) for member in members] if action.rests else [],
                "marks": [_differing(*sides), _differing(*sides[::-1])],
            }
        case Prune():
            return {"reason": action.reason, "detail": action.detail, "age": action.age_days}
        case TextChange():
            before = members[0].text
            lined = "\n" in before + action.text
            return {
                "reason": action.reason,
                "text": action.text,
                "lines": changed_lines(before, action.text) if lined else None,
                "come": None if lined else _differing(action.text, before),
                "marks": None if lined else [_differing(before, action.text)],
            }


def _differing(text: str, *others: str) -> Places:
    return _as_drawn(text, [[start, end, 0] for start, end in unlike(text, others)])


def lost_words(source: str, stands: str, others: Sequence[str] = ()) -> Places:
    """Places in a source that differ, each with 1 if the clause it is in is not kept by what stands.

    A source that goes into a new text is held against the other ones.

    >>> lost_words("Has a dog. Takes 20 mg.", "Owns a dog.")
    [[0, 3, 0], [11, 23, 1]]
    """
    if source == stands:
        return []
    short = max(len(source), len(stands)) <= CLAUSES_UP_TO
    places, at = list[tuple[int, int]](), 0
    for clause in (part for sentence in sentences(source) for part in clauses(sentence)) if short else ():
        if (start := source.find(clause, at)) >= 0:
            at = start + len(clause)
            places.append((start, at))
    lost = [place for place in places if not keeps(stands, source[slice(*place)])]
    marks: Places = []
    for start, end in unlike(source, [text for text in others if text != source] or [stands]):
        edges = {start, end, *(edge for place in lost for edge in place if start < edge < end)}
        for left, right in itertools.pairwise(sorted(edges)):
            if source[left:right].strip():
                marks.append([left, right, int(any(a <= left and right <= b for a, b in lost))])
    return _as_drawn(source, marks)


def _as_drawn(text: str, places: Places) -> Places:
    """Places as a browser counts them, for which some characters are two."""
    if text.isascii() or max(text) <= "\uffff":
        return places
    at = list(itertools.accumulate((1 + (char > "\uffff") for char in text), initial=0))
    return [[at[start], at[end], *more] for start, end, *more in places]


def _ordered(action: Action, *, unsure: bool) -> list[Member]:
    """The sides of a conflict one behind the other; of a merge what stays first, unless it is a question."""
    if isinstance(action, Resolve):
        return sorted(action.members, key=lambda member: (*action.a, *action.b).index(member.id))
    if unsure:
        return in_order(action)
    return sorted(action.members, key=lambda member: (member.id != action.survivor, member.id))


def _confidence(action: Action) -> float | None:
    """How sure the scorer is: of a merge its weakest pair, of a conflict its strongest."""
    verdicts = getattr(action, "verdicts", ())
    if isinstance(action, Merge):
        judged = [1.0 if verdict.pair.exact else verdict.probabilities[0] for verdict in verdicts]
        return round(min(judged, default=1.0), DIGITS)
    return round(probability(action), DIGITS) if isinstance(action, Resolve) and verdicts else None


def _verdict(verdict: Verdict, members: Sequence[Member], kind: ActionKind) -> dict[str, Any]:
    rows = {member.id: number for number, member in enumerate(members)}
    pair = [rows.get(verdict.pair.a, -1), rows.get(verdict.pair.b, -1)]
    return {
        "pair": pair,
        "auto": int(verdict.auto),
        "exact": int(verdict.pair.exact),
        "cosine": round(verdict.pair.cosine, DIGITS),
        "p": [round(value, DIGITS) for value in verdict.probabilities],
        "entails": [round(value, DIGITS) for value in verdict.entailment],
        "evidence": [_evidence(item, kind, pair) for item in told_once(verdict.evidence)],
    }


def _evidence(item: Evidence, kind: ActionKind, pair: Sequence[int]) -> list[Any]:
    flipped = pair[0] > pair[1] >= 0
    names = [chr(ord("A") + row % 26) if row >= 0 else "the merged text" for row in pair]
    words = spoken([item], flipped=flipped, names=names[::-1] if flipped else names)
    speaks_for = item.kind in (KINDS if kind is ActionKind.RESOLVE else _SAME)
    return [item.kind, words, int(item.veto), int(speaks_for)]


def nearby(
    memories: Sequence[Memory], vectors: NDArray[np.float32], proposals: Sequence[Sequence[str]]
) -> list[list[int]]:
    """For each proposal, ids of one scope, the places of its neighbours among the memories, nearest first.

    `vectors`: float32 [n, d], L2-normalised, one row for each memory.
    """
    place = {memory.id: number for number, memory in enumerate(memories)}
    scopes: dict[Scope, list[int]] = defaultdict(list)
    for number, memory in enumerate(memories):
        scopes[memory.scope].append(number)
    neighbours: list[list[int]] = []
    for ids in proposals:
        members = [place[name] for name in ids if name in place]
        if not members:
            neighbours.append([])
            continue
        own = set(members)
        others = np.array([n for n in scopes[memories[members[0]].scope] if n not in own], dtype=int)
        cosines = (vectors[others] @ vectors[members].T).max(axis=1) if len(others) else np.zeros(0)
        order = np.argsort(-cosines, kind="stable")[:SHOWN]
        neighbours.append([int(others[at]) for at in order if cosines[at] >= NEAR])
    return neighbours


def run_point(run: Run, changes: Sequence[Recorded], outcomes: Mapping[str, tuple[Outcome, str]]) -> Point:
    """Count what a run did, scope by scope; one that was taken back changed nothing."""
    plan = parse_plan(run.plan)
    scopes = {action.id: action.scope for action in plan.actions}
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    standing = {change.action for change in made if change.state is ChangeState.DONE}

    def counted(operation: Operation) -> Counter[Scope]:
        return Counter(scopes[c.action] for c in made if c.operation is operation and c.action in scopes)

    applied = sum(outcomes.get(each.id, ("",))[0] is Outcome.APPLIED for each in plan.conflicts)
    before = {total.scope: total.memories for total in plan.totals}
    gone, new = counted(Operation.REMOVE), counted(Operation.ADD)
    undone = run.state is RunState.UNDONE
    return {
        "id": run.id,
        "at": run.started_at.isoformat(timespec="seconds"),
        "state": str(run.state),
        "before": before,
        "after": before if undone else {at: count - gone[at] + new[at] for at, count in before.items()},
        "removed": gone.total(),
        "added": new.total(),
        # memories that got another text or other relations
        "changed": sum(change.operation is Operation.REPLACE for change in made),
        "open": plan.left_open + len(plan.conflicts) - applied,  # conflicts that wait for a person
        "unsure": len(plan.unsure),
        "done": [action for action in plan.actions if action.id in standing],
        "retires": run.retires if run.retire_on else (),
    }


def done_data(actions: Iterable[Action], retires: Collection[str]) -> dict[str, Any]:
    """What actions come to, in numbers; and of each what goes, and what stands or the lines that change.

    `retires`: of which sorts of actions what goes expires instead of being deleted.
    """
    done, counted = [], dict.fromkeys(("deleted", "expired", "rewritten", "added", "relations"), 0)
    for action in actions:
        before = {member.id: member.text for member in action.members}
        gone, expires = [before[name] for name in action.removes], not sorts(action).isdisjoint(retires)
        stands = str(getattr(action, "text", "")) or before.get(action.survivor or "", "")
        rewritten = getattr(action, "rewrites", None)
        lines = changed_lines(before[rewritten], stands) if rewritten else []
        done.append(
            {"id": action.id, "kind": str(action.kind), "gone": gone, "text": stands, "lines": lines}
            | ({"name": rewritten} if rewritten else {})
            | ({"expires": 1} if expires else {})
        )
        counted["expired" if expires else "deleted"] += len(gone)
        if isinstance(action, Relate):
            counted["relations"] += len(set(action.relations) ^ set(action.held))
        elif isinstance(action, TextChange):
            counted["rewritten" if action.members[0].text else "added"] += 1
        elif isinstance(action, Merge):
            counted["added"] += action.adds
            counted["rewritten"] += action.rewrites is not None
    return {"tally": counted, "done": done}


def history_data(points: Sequence[Point], now_counts: Mapping[Scope, int], now: str) -> dict[str, Any]:
    """The points as the page draws them, oldest first, and the store as it stands behind the last."""
    scopes = sorted({scope for point in points for scope in point["before"]} | set(now_counts))
    unseen = ("done", "retires")
    runs = [{name: each for name, each in point.items() if name not in unseen} for point in points]
    for run in runs:
        run |= {name: [run[name].get(scope) for scope in scopes] for name in ("before", "after")}
    present = {"at": now, "counts": [now_counts.get(scope) for scope in scopes]}
    return {"scopes": list(map(str, scopes)), "now": present, "runs": runs}


def render(data: Mapping[str, Any], *, lines: Sequence[str] = (), live: bool = False) -> str:
    """The whole page as HTML; a live one may talk to the server that it came from, and no other."""
    from jinja2 import Environment

    folder = files(__package__) / "page"
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    style = (folder / "page.css").read_text(encoding="utf-8")
    # It can neither end the element it stands in nor forge a character of the file.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    safe = "".join(_ESCAPED.get(c) or (c if c.isprintable() else json.dumps(c)[1:-1]) for c in text)
    template = Environment(autoescape=True).from_string((folder / "page.html").read_text(encoding="utf-8"))
    return template.render(
        policy=policy(script=script, style=style, live=live),
        script=script,
        style=style,
        data=safe,
        lines="\n".join(lines),
        title=f"mem0-dream · {data['kind']} · {data['now'][:10]}",
    )


def policy(*, script: str, style: str, live: bool) -> str:
    """What the page may do: its own script and style, and on a live page requests to its own server."""

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    rules = {
        "default-src": "'none'",
        "script-src": hashed(script),
        "style-src": hashed(style),
        "img-src": "data:",
        "connect-src": "'self'" if live else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
