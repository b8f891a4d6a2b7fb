"""The report, one for every reader: what would change, what only a person can decide, what was done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from string import ascii_uppercase
from typing import Any

from ...errors import IncompleteListingError
from ...models.bindings import relation
from ...models.text.words import counted
from ...records import Verdict
from ..plan import Action, Member, Merge, Plan, Prune, Resolve, RunResult, TextChange, UndoResult, in_order
from ..planning.doubts import Doubt, conflict_clusters, ends, open_question, probability, ranked
from ..planning.plan_file import to_json
from .pair import reasons, scores, spoken
from .text import Marked, Tone, changes, clip, day, excerpts, marked, one_line, spoken_ids, visible, whole

TITLE = "## dream — consolidation report"
NOTHING_STORED = "No memories found. Nothing to consolidate."
NOTHING_FOUND = "Dream complete. No duplicate, contradictory, or stale memories found."
NOTHING_CERTAIN = "Dream complete. Nothing is certain enough to propose."
NOTHING_NEW = "Dream complete. Nothing new to propose."
CANCELLED = "Cancelled. No changes made."
UNCHANGED = "Dry run: no changes made."
SHOWN = 20  # pairs that are likely the same, or may contradict, which are shown unless more are asked for


class Report:
    """Renders one plan; ids are shortened as far as they stay unique within it."""

    tells = False  # what was found is reported even where nothing changes
    groups = True  # conflicts that share memories are one question

    def __init__(self, plan: Plan, *, explain: bool = False) -> None:
        """Shorten the ids; `explain` adds all texts, scores and evidence."""
        self.most: int | None = SHOWN
        self._plan = plan
        self._explain = explain
        self._members: dict[str, Member] = {m.id: m for action in plan.actions for m in action.members}
        doubtful = (member.id for action in plan.unsure for member in action.members)
        apart = (memory_id for a, b, _ in plan.apart for memory_id in (a, b)) if explain else ()
        self._short = spoken_ids([*self._members, *doubtful, *apart], plan.kind)

    @property
    def shown_doubts(self) -> list[Doubt]:
        """The doubtful pairs that the report shows, the most certain first; `most` of them at most."""
        return ranked(self._plan.unsure)[: self.most]

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be agreed to, and nothing to be reported."""
        return not (self._plan.actions or self.tells)

    def dry_run(self) -> list[str]:
        """What a pass would do."""
        some = bool(self._plan.actions)
        told = [self.proposal(), *self._gaps()] if some else []
        return [*self._begin(asks=False), *told, *self._asides(), *[UNCHANGED] * some]

    def opening(self, *, asks: bool) -> list[str]:
        """What a person is shown before the questions."""
        return [*self._begin(asks=asks), *self._asides()]

    def _begin(self, *, asks: bool) -> list[str]:
        gaps = self._plan.gaps
        if self._plan.actions:
            return [*self.lines(), *self._more(), *([] if asks else self.left_open())]
        if gaps:
            sure = "certain " if self.shown_doubts else ""
            told = f"Nothing {sure}was found in what could be listed."
            raise IncompleteListingError(f"Read-only: {'; '.join(gaps)}. {told}")
        alone = [TITLE, "", *self.doubtful()] if self.shown_doubts else []
        return alone if asks else [*alone, *self.nothing()]

    def lines(self) -> list[str]:
        """The whole report but for its last line, which asks or states."""
        return [TITLE, "", *self._sectioned(self._parts())]

    def doubtful(self) -> list[str]:
        """What only a person can decide, by itself."""
        return [*self._sectioned(self._doubtful()), *self._more()] if self.shown_doubts else []

    def proposal(self) -> str:
        """The line with the totals."""
        return f"Proposed: {', '.join(counted(*row) for row in self._counts())}."

    def _counts(self) -> list[tuple[Any, ...]]:
        plan = self._plan
        changes = [(len(plan.rewrites), "change")] if plan.rewrites else []
        conflicts = (len(plan.conflicts), "conflict")
        return [(len(plan.merges), "merge"), (len(plan.prunes), "prune"), conflicts, *changes]

    def nothing(self) -> list[str]:
        """The lines where nothing is to be applied; open conflicts are named all the same."""
        if not self._plan.totals:
            return [NOTHING_STORED]
        nothing = NOTHING_NEW if self._plan.left_open else NOTHING_FOUND
        return [NOTHING_CERTAIN if self._plan.unsure or self._plan.notes else nothing, *self.left_open()]

    def left_open(self) -> list[str]:
        """Conflicts that a person left open earlier; nothing if there are none."""
        were = counted(self._plan.left_open, "conflict was", "conflicts were")
        return [f"{were} left open earlier: `mem0-dream reject --list`"] if self._plan.left_open else []

    def sides(self, conflict: Resolve) -> list[str]:
        """Both sides of a conflict: who said it and when, which is newer, and what goes along with it."""
        texts = {member.id: member.text for member in conflict.members}
        said = conflict.said or (texts[conflict.a[0]], texts[conflict.b[0]])
        lines: list[str] = []
        for side, ids, text in zip("AB", (conflict.a, conflict.b), excerpts(*said), strict=True):
            lines.append(self._row(f"  {side}: ", conflict, ids[0], text).followed(likely(conflict, side)))
            lines += [self._row("     with ", conflict, other, whole(texts[other])) for other in ids[1:]]
            lines += self._rests(conflict, ids)
        return lines

    def _rests(self, conflict: Resolve, ids: Iterable[str]) -> list[str]:
        """What is left of memories of a side that says more than what is denied, should it lose."""
        left = [(name, conflict.rests[name]) for name in ids if name in conflict.rests]
        return [visible(f"     If it does not hold, {self.label(name)} keeps: {text}") for name, text in left]

    def question(self, conflict: Resolve) -> str:
        """What a person is asked about a conflict."""
        return self._place(conflict) + self.line(conflict).removesuffix("[A/B/skip]")

    def _place(self, conflict: Resolve) -> str:
        open_ = [item for item in self._plan.conflicts if item.choice is None]
        asked = conflict_clusters(open_) if self.groups else [[each] for each in open_]
        at = next((number for number, group in enumerate(asked, 1) if conflict in group), 0)
        return f"{at} of {len(asked)}: " if at and len(asked) > 1 else ""

    def _asides(self) -> list[str]:
        return []

    def remarks(self) -> list[str]:
        """What stands beside the plan on a page: relations that change, what a person should look at."""
        return []

    def changed(self, before: Report) -> list[str]:  # noqa: ARG002
        """What follows from the answers and was not shown yet."""
        return []

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:  # noqa: ARG002
        """The report after a run."""
        if auto:
            if not self._plan.totals:
                return [NOTHING_STORED]
            return [auto_summary(result, conflicts=len(self._plan.conflicts) + self._plan.left_open)]
        left = open_question(self._plan.unsure)
        lines = [*self.moved(result), summary(result)]
        return [*lines, *([f"{left}."] if left else []), *self.left_open()]

    def moved(self, result: RunResult) -> list[str]:
        """Actions that were not applied because the store had moved on."""
        actions = {action.id: action for action in self._plan.actions}
        moved = ((actions[name], reason) for name, reason in result.moved if name in actions)
        return [visible(f"Skipped {self.line(action)}: {reason}") for action, reason in moved]

    def to_json(self, result: RunResult | None) -> dict[str, Any]:
        """The plan, and what was done of it, as JSON."""
        return to_json(self._plan, result)

    def label(self, memory_id: str) -> str:
        """A memory's short name, such as `[mem0:1f2e3d4c]`."""
        return f"[{self._plan.kind}:{self._short.get(memory_id, memory_id)}]"

    def line(self, action: Action) -> str:
        """The one line that stands for an action."""
        return visible(self._line(action))

    def entry(self, action: Action) -> list[str]:
        """An action's line, and the texts that go by it."""
        return [self.line(action), *map(_safe, self._goes(action))]

    def explanation(self, action: Action) -> list[str]:
        """What is under an action's line with --explain: the texts, what stays, scores and evidence."""
        said = self._sentences(action) if isinstance(action, Merge | Resolve) else []
        texts = _indented(said) if said else self._texts_of(action)
        return [_safe(line) for line in (*texts, *self._behind(action))]

    def _sectioned(self, parts: Sequence[tuple[str, Sequence[Action]]]) -> list[str]:
        scopes = sorted({action.scope for _, actions in parts for action in actions})
        lines: list[str] = []
        for scope in scopes:
            here: list[str] = []
            for title, actions in parts:
                told = [action for action in actions if action.scope == scope]
                entries = self._entries(told)
                asked = f", in {counted(len(entries), 'question')}" if len(entries) < len(told) else ""
                here += [f"{title} ({len(told)}{asked}):"] if told else []
                here += [line for entry in entries for line in entry]
            lines += [f"Scope {scope}", *here, ""] if len(scopes) > 1 else here
        if self._explain and self._plan.apart:
            lines.append(f"Equal words that stay apart ({len(self._plan.apart)}):")
            lines += [f"{self.label(a)} / {self.label(b)} — {why}" for a, b, why in self._plan.apart]
        return list(map(_safe, lines))

    def _entries(self, actions: Sequence[Action]) -> list[list[str]]:
        conflicts = [action for action in actions if isinstance(action, Resolve)]
        if not self.groups or len(conflicts) < len(actions):
            return [self._entry(action) for action in actions]
        groups = conflict_clusters(conflicts)
        return [self._entry(each[0]) if len(each) == 1 else self._grouped(each) for each in groups]

    def _grouped(self, conflicts: Sequence[Resolve]) -> list[str]:
        """Facts of which at most one holds, as one question."""
        letters, lines = self.cluster(conflicts, why=self._explain)
        names = " / ".join(map(self.label, letters))
        line = visible(f'{names} — "{conflicts[0].topic}" [{"/".join(letters.values())}/skip]')
        behind = (
            [line for each in conflicts for line in self._behind(each, newer=False)] if self._explain else []
        )
        return [line, *_indented(lines), *behind]

    def _entry(self, action: Action) -> list[str]:
        doubtful = any(action is doubt for doubt in self._plan.unsure)
        if isinstance(action, Resolve) and not self._explain:
            below = _indented(self.sides(action))
        elif isinstance(action, Merge) and doubtful and not self._explain:
            below = _indented(self.pair(action))
        else:
            more = self.explanation(action) if self._explain else []
            goes = [] if self._explain else self._goes(action)
            below = [*goes, *self._difference(action), *_disagreements(action), *more]
        if isinstance(action, Merge) and doubtful:
            names = " and ".join(action.places or [self.label(member.id) for member in action.members])
            likely = probability(action)  # of two names that may be one no scorer was asked
            return [f"{names}, {likely:.0%}" if likely else names, *below]
        return [self.line(action), *below]

    def _parts(self) -> list[tuple[str, Sequence[Action]]]:
        plan, (likely, *others) = self._plan, self._doubtful()
        last = (("Prunes", plan.prunes), ("Changes", plan.rewrites))
        return [("Merges", plan.merges), likely, ("Conflicts", plan.conflicts), *others, *last]

    def _doubtful(self) -> list[tuple[str, Sequence[Doubt]]]:
        shown = self.shown_doubts
        titles = {Merge: "Likely the same", Resolve: "Possible conflicts", Prune: "May have gone out of date"}
        return [(title, [each for each in shown if isinstance(each, kind)]) for kind, title in titles.items()]

    def _more(self) -> list[str]:
        left = len(self._plan.unsure) - len(self.shown_doubts)
        return [f"{left} more: --more"] if left else []

    def _line(self, action: Action) -> str:
        if isinstance(action, Merge) and action.said:
            a, b = action.places
            return f'{a}: "{clip(action.said[0])}" -> {b}: "{clip(action.text)}"'
        if isinstance(action, Merge):
            first = sorted(action.members, key=lambda member: (member.id != action.survivor, member.id))
            joined = " + ".join(self.label(member.id) for member in first)
            return f'{joined} -> "{clip(action.text)}"'
        if isinstance(action, Resolve):
            answer = f"[{action.choice.upper()} stays]" if action.choice else "[A/B/skip]"
            return f'{self.label(action.a[0])} vs {self.label(action.b[0])} — "{action.topic}" {answer}'
        if isinstance(action, TextChange):
            return f"{self.label(action.survivor)} — {action.reason}"
        if action.junk:
            text = clip(action.members[0].text)
            return f'{self.label(action.members[0].id)} — {action.reason}: {action.detail}: "{text}"'
        age = f"{action.age_days}d old" if action.age_days is not None else "age unknown"
        return f"{self.label(action.members[0].id)} — {action.category or 'uncategorised'}, {age}"

    def _goes(self, action: Action) -> list[str]:
        if isinstance(action, Prune):
            return [] if action.junk else [f"    {whole(action.members[0].text)}"]
        if not isinstance(action, Merge):
            return []
        kept = [member.text for member in action.members if member.id == action.survivor] or [action.text]
        lines: list[str] = []
        for member in action.members:
            if member.id != action.survivor:
                text = marked(whole(member.text), [whole(kept[0])], tone="goes")
                lines.append(self._row("    goes: ", action, member.id, text))
        written = whole(action.text)
        return [*lines, *([f"    new: {written}"] if action.adds and clip(written) != written else [])]

    def pair(self, doubt: Merge) -> list[str]:
        """Both texts of what may be one fact, what differs marked, and what is known of it in words."""
        lines = list[str](self._sentences(doubt))
        if not lines:
            a, b = in_order(doubt)[:2]
            texts = zip("AB", (a, b), excerpts(a.text, b.text), strict=True)
            lines += [self._row(f"  {side}: ", doubt, each.id, text) for side, each, text in texts]
        told = (self._reasons(doubt, each) for each in doubt.verdicts)
        return [*lines, *(f"  {each}" for each in told if each)]

    def why(self, conflict: Resolve) -> list[str]:
        """Why both sides of a conflict cannot hold, in words."""
        shown = {conflict.a[0], conflict.b[0]}
        judged = [
            each for each in conflict.verdicts if {each.pair.a, each.pair.b} == shown
        ] or conflict.verdicts
        told = (self._reasons(conflict, each) for each in judged)
        return [_safe(f"  {each}") for each in told if each]

    def _reasons(self, doubt: Merge | Resolve, verdict: Verdict) -> str:
        texts = {member.id: member.text for member in doubt.members}
        a, b = (texts.get(name, "") for name in (verdict.pair.a, verdict.pair.b))
        if doubt.said or not (a and b):
            return spoken(verdict.evidence, flipped=_turned(doubt, verdict))
        return reasons(verdict, (a, b), flipped=_turned(doubt, verdict))

    def cluster(self, doubts: Sequence[Doubt], *, why: bool = True) -> tuple[dict[str, str], list[str]]:
        """Several memories that one question is about: letters by id, and lines: texts, and what is known."""
        known = {member.id: (doubt, member) for doubt in doubts for member in doubt.members}
        of = {name: known[name] for doubt in doubts for name in ends(doubt)}
        order = sorted(of.values(), key=lambda each: (str(each[1].stated_at or ""), each[1].id))
        letters = dict(zip((member.id for _, member in order), ascii_uppercase, strict=False))
        lines = list[str]()
        for doubt, member in order:
            text = Marked(whole(member.text))
            if isinstance(doubt, Resolve):
                others = [whole(each.text) for _, each in order if each is not member]
                text = marked(text, others, tone="stays")
            row = self._row(f"  {letters[member.id]}: ", doubt, member.id, text)
            lines.append(row.followed(_newest(doubts, member)))
            lines += self._going_along(doubts, member.id)
        for doubt in doubts if why else ():
            lines.append(self._said_of(doubt, letters))
        return letters, lines

    def _going_along(self, doubts: Iterable[Doubt], memory_id: str) -> list[str]:
        """What says the same as one side of a conflict, and goes with it."""
        sides = {
            name: doubt
            for doubt in doubts
            if isinstance(doubt, Resolve)
            for side in (doubt.a, doubt.b)
            for name in (side[1:] if side[0] == memory_id else ())
        }
        texts = {name: next(m.text for m in doubt.members if m.id == name) for name, doubt in sides.items()}
        rows = [self._row("     with ", doubt, name, whole(texts[name])) for name, doubt in sides.items()]
        mine = [doubt for doubt in doubts if isinstance(doubt, Resolve) and memory_id in doubt.rests]
        kept = {
            name: line
            for each in mine
            for name in sides.keys() | {memory_id}
            for line in self._rests(each, [name])
        }
        return [*rows, *kept.values()]

    def _said_of(self, doubt: Doubt, letters: Mapping[str, str]) -> str:
        a, b = sorted(letters[name] for name in ends(doubt)[:2])
        what = "may be the same" if isinstance(doubt, Merge) else "may contradict"
        verdicts = getattr(doubt, "verdicts", ())
        flipped = any(letters.get(verdict.pair.a) == b for verdict in verdicts)
        why = spoken((e for verdict in verdicts for e in verdict.evidence), flipped=flipped, names=a + b)
        return f"     {a} and {b} {what} ({probability(doubt):.0%}). {why}".rstrip()

    def _sentences(self, action: Merge | Resolve) -> list[Marked]:
        if not action.said:
            return []
        words = ("A, goes", "B, stays") if isinstance(action, Merge) else ("A", "B")
        texts = zip(words, action.places or ("", ""), excerpts(*action.said), strict=True)
        return [text.behind(visible(f"  {word}: {place}  ")) for word, place, text in texts]

    def _row(self, before: str, action: Action, memory_id: str, text: str) -> Marked:
        member = next(member for member in action.members if member.id == memory_id)
        ids = dict(action.scope.ids)
        by = ids.get("actor_id") or ids.get("role")
        stated = f"{before}{self.label(memory_id)} {day(member.stated_at)}{f', {by}' if by else ''}  "
        return (text if isinstance(text, Marked) else Marked(text)).behind(visible(stated))

    def _behind(self, action: Action, *, newer: bool = True) -> list[str]:
        if isinstance(action, Prune):
            return ["    because: " + ", ".join(filter(None, (action.reason, action.detail)))]
        if isinstance(action, TextChange):
            return []
        lines: list[str] = []
        for verdict in action.verdicts:
            names = (verdict.pair.a, verdict.pair.b)
            a, b = (self.label(name) if name in self._short else "[merged]" for name in names)
            evidence = spoken(verdict.evidence, flipped=_turned(action, verdict))
            lines.append(f"    {a} ~ {b}: {scores(verdict)}")
            lines += [f"    evidence: {evidence}"] if evidence else []
        if isinstance(action, Merge):
            return lines if action.said else [f"    {self._what_stays(action)}", *lines]
        later = newer_side(action) if newer else None
        told = [f"    {later.upper()} was stated later and is the likely winner"] if later else []
        return [*told, *lines]

    def _what_stays(self, action: Merge) -> str:
        if action.survivor is None:
            return f"all are replaced by: {whole(action.text)}"
        stays = self.label(action.survivor)
        if action.rewrites:
            return f"{stays} stays, and then says: {whole(action.text)}"
        goes = (member.text for member in action.members if member.id != action.survivor)
        all_said = not any(relation(text, action.text).unsaid[0] for text in goes)
        return f"{stays} {'says it all and ' if all_said else ''}stays as it is"

    def _texts_of(self, action: Action) -> list[str]:
        texts = {member.id: whole(member.text) for member in action.members}
        lines: list[str] = []
        for number, member in enumerate(in_order(action)):
            side, against, stays = "", list[str](), member.id == action.survivor
            if isinstance(action, Resolve):  # what was said later stays
                a = member.id in action.a
                side, against, stays = "A: " if a else "B: ", [(action.b if a else action.a)[0]], not a
            elif isinstance(action, Merge):
                side = f"{'AB'[number]}: " if len(action.members) == 2 else ""
                others = [each.id for each in action.members if each is not member]
                against = [action.survivor] if action.survivor in others else others
            tone: Tone = "stays" if stays else "goes"
            text = marked(texts[member.id], [texts[name] for name in against], tone=tone)
            lines.append(self._row(f"    {side}", action, member.id, text))
        return lines

    def _difference(self, action: Action) -> list[str]:
        if not isinstance(action, Merge | TextChange) or not action.rewrites:
            return []
        before = next(member.text for member in action.members if member.id == action.survivor)
        return changes(before, action.text)

    def _gaps(self) -> list[str]:
        return [f"Read-only: {gap}" for gap in self._plan.gaps]


def _turned(action: Merge | Resolve, verdict: Verdict) -> bool:
    """Whether what is shown as B is the first text of a verdict."""
    if not action.said:
        return verdict.pair.a == in_order(action)[1].id
    if len(action.members) > 1:
        return verdict.pair.a == (action.survivor if isinstance(action, Merge) else action.b[0])
    text, places = action.members[0].text, list[tuple[int, str]]()
    for said in action.said:  # the line on which it begins, wrapped as it may be there
        found = re.search(r"\s+".join(map(re.escape, said.split())), text)
        places.append((text.count("\n", 0, found.start()) if found else 0, said))
    return places[0] > places[1]


def newer_side(conflict: Resolve) -> str | None:
    """The side that was stated later, where the dates of what is shown bear it out."""
    stated = {member.id: member.stated_at for member in conflict.members}
    a, b = stated[conflict.a[0]], stated[conflict.b[0]]
    if conflict.newer is None or conflict.said:
        return conflict.newer  # sentences have dates of their own
    if a is None or b is None or a == b:
        return None
    return "b" if a < b else "a"


def likely(conflict: Resolve, side: str) -> str:
    """A word beside the side of a conflict that was stated later."""
    return " (newer, likely to hold)" if newer_side(conflict) == side.lower() else ""


def _newest(doubts: Sequence[Doubt], member: Member) -> str:
    """The same beside one of several facts, stated after every other with which it cannot hold."""
    if not all(isinstance(doubt, Resolve) and newer_side(doubt) for doubt in doubts):
        return ""
    conflicts = [doubt for doubt in doubts if isinstance(doubt, Resolve)]
    older = {conflict.a[0] if newer_side(conflict) == "b" else conflict.b[0] for conflict in conflicts}
    standing = {name for conflict in conflicts for name in ends(conflict)} - older
    word = "newest" if len(standing) == 1 else "newer"
    return f" ({word}, likely to hold)" if member.id in standing else ""


def summary(result: RunResult) -> str:
    """The line after an interactive run."""
    return (
        f"Dream complete — merged: {result.merged}, pruned: {result.pruned}, "
        f"conflicts resolved: {result.resolved}, skipped: {result.skipped}"
    )


def auto_summary(result: RunResult, *, conflicts: int) -> str:
    """The one line of an unattended run."""
    return f"[mem0-dream --auto] merged={result.merged} pruned={result.pruned} conflicts_skipped={conflicts}"


def undo_summary(result: UndoResult) -> str:
    """The line after an undo."""
    return f"Run {result.run} taken back — restored: {result.restored}, withdrawn: {result.withdrawn}"


def _disagreements(action: Action) -> list[str]:
    if not isinstance(action, Merge):
        return []
    expiry = [f"    expires: {action.expires or 'no longer'}"] if action.expires is not None else []
    return expiry + [
        f"    {one_line(key)}: {' / '.join(clip(str(value)) for value in values)} (all kept, the last counts)"
        for key, values in sorted(action.disagreements.items())
    ]


def _safe(line: str) -> str:
    """A line without foreign controls; one with marks is made of such text, and keeps them."""
    return line if isinstance(line, Marked) else visible(line)


def _indented(lines: Iterable[str]) -> list[str]:
    return [line.behind("  ") if isinstance(line, Marked) else f"  {line}" for line in lines]
