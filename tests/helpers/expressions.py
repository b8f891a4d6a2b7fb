"""How much work a regular expression may take for each character of a text, found from the expression alone.

The expression becomes an automaton of its characters. Two of its repeats, or the search for a start and one repeat,
try each other's characters again where some text can be read by the one, by the other, and by both in turn: there
the work for one character grows by the bound of the repeat. A repeat that lies in another one over the same
characters (a step of the automaton that can be taken in two ways, again and again) doubles it with each character.
What nothing mandatory follows is never tried again. Lookaheads longer than a character count as if they held.
"""

import importlib
import itertools
import math
import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

op: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")
FEW = 8  # a repeat of at most so many rounds is no loop
_SAMPLES = "aZk0_ \n\t-.,:;/'\"()[]{}<>|#*+@$%&=~`!?\\éßЖ中\u2028\x00\u3000’–°"
_CATEGORIES = {"WORD": r"\w", "DIGIT": r"\d", "SPACE": r"\s"}
_CHARACTERS = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN, op.CATEGORY)
Guard = tuple[str, frozenset[str] | bool]


@dataclass
class Part:
    """A piece of the expression: where it may begin and end, and under which conditions it may be left out."""

    first: list[tuple[int, frozenset[Guard]]] = field(default_factory=list)
    last: list[tuple[int, frozenset[Guard]]] = field(default_factory=list)
    empty: list[frozenset[Guard]] = field(default_factory=list)


class Automaton:
    def __init__(self, source: str, flags: int = 0, *, searched: bool = True) -> None:
        tree = parser.parse(source, flags)
        self.flags = tree.state.flags
        self.alphabet = sorted({*_SAMPLES, *_letters(tree)})
        self.labels: list[frozenset[str]] = [frozenset(self.alphabet)]
        self.follow: dict[int, dict[int, list[frozenset[Guard]]]] = defaultdict(lambda: defaultdict(list))
        self.loops: list[tuple[float, frozenset[int]]] = []
        self.ahead = 0
        if searched:
            self._join([(0, frozenset())], [(0, frozenset())])
        self._sequence(list(tree), [(0, frozenset())], free=True)
        self._merge_characters()

    def _merge_characters(self) -> None:
        """Keep one of the characters between which nothing makes a difference."""
        guards = {
            g for there in self.follow.values() for many in there.values() for each in many for g in each
        }
        told = {*self.labels, *(held for _, held in guards if isinstance(held, frozenset))}
        kinds = {(_word(char), *(char in each for each in told)): char for char in self.alphabet}
        kept = frozenset(kinds.values())
        self.labels = [label & kept for label in self.labels]

    # --- building
    def _join(self, lasts, firsts) -> None:
        for at, leaving in lasts:
            for to, entering in firsts:
                self.follow[at][to].append(leaving | entering)

    def _class(self, code, value) -> frozenset[str]:
        return frozenset(char for char in self.alphabet if self._holds(code, value, char))

    def _holds(self, code, value, char: str) -> bool:
        if self.flags & re.IGNORECASE and code is not op.NOT_LITERAL:
            return any(
                _plain(code, value, each, self.flags)
                for each in {char, char.lower(), char.upper()}
                if len(each) == 1
            )
        return _plain(code, value, char, self.flags)

    def _sequence(self, items, before, *, free: bool) -> Part:
        """Add the items one behind the other; `before` is where the text stood, `free` whether nothing must follow."""
        needs = [_must(item) for item in items]
        made = Part(empty=[frozenset()])
        reach = list(before)
        for place, item in enumerate(items):
            part = self._item(item, reach, free=free and not any(needs[place + 1 :]))
            if len(made.empty) and part.first:
                made.first += [(to, guard | skip) for to, guard in part.first for skip in made.empty]
            made.last = part.last + [(at, guard | skip) for at, guard in made.last for skip in part.empty]
            reach = part.last + [(at, guard | skip) for at, guard in reach for skip in part.empty]
            made.empty = [one | other for one in made.empty for other in part.empty]
        return made

    def _item(self, item, before, *, free: bool) -> Part:
        code, value = item
        if code in _CHARACTERS:
            self.labels.append(self._class(code, value))
            here: list[tuple[int, frozenset[Guard]]] = [(len(self.labels) - 1, frozenset())]
            self._join(before, here)
            return Part(list(here), list(here), [])
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            return self._repeat(least, most, body, before, free=free)
        if code in (op.ASSERT, op.ASSERT_NOT):
            direction, body = value
            return self._look(code, direction, body, before)
        if code is op.AT:
            return Part(empty=self._at(value))
        return self._group(code, value, before, free=free)

    def _group(self, code, value, before, *, free: bool) -> Part:
        if code is op.GROUPREF:
            # What it repeats is fixed by the group: it adds no choice of its own.
            branches = [[(op.ANY, None)]]
        elif code is op.GROUPREF_EXISTS:
            branches = [value[1], value[2] or []]
        else:
            branches = {
                op.SUBPATTERN: lambda: [value[3]],
                op.ATOMIC_GROUP: lambda: [value],
                op.BRANCH: lambda: value[1],
            }[code]()
        merged = Part()
        for part in [self._sequence(list(branch), before, free=free) for branch in branches]:
            merged.first += part.first
            merged.last += part.last
            merged.empty += part.empty
        merged.empty = list(dict.fromkeys(merged.empty))
        return merged

    def _repeat(self, least, most, body, before, *, free: bool) -> Part:
        begin = len(self.labels)
        part = self._sequence(list(body), before, free=free and least <= 1)
        bound = math.inf if most is op.MAXREPEAT else most
        if most is op.MAXREPEAT or most > 1:
            inside = range(begin, len(self.labels))
            self._join(part.last, part.first)
            # Once in the last repeat of all, the expression has matched: nothing is tried again.
            if bound > FEW and not (free and least <= 1 and not self.ahead):
                self.loops.append((bound, frozenset(inside)))
        if least == 0:
            part.empty = [frozenset(), *(guard for guard in part.empty if guard)]
        return part

    def _look(self, code, direction, body, before) -> Part:
        body = list(body)
        single = _single(body)
        kind = "next" if direction > 0 else "prev"
        if single is not None:
            chars = self._class(*single)
            if code is op.ASSERT_NOT:
                chars = frozenset(self.alphabet) - chars
                return Part(empty=[frozenset({(kind, chars)})])
            return Part(empty=[frozenset({(kind, chars)})])
        if direction > 0:
            self.ahead += 1
            self._sequence(body, before, free=False)
            self.ahead -= 1
        return Part(empty=[frozenset()])

    def _at(self, where) -> list[frozenset[Guard]]:
        name = str(where)
        if name == "AT_BOUNDARY":
            return [frozenset({("boundary", True)})]
        if name == "AT_NON_BOUNDARY":
            return [frozenset({("boundary", False)})]
        if name in ("AT_BEGINNING", "AT_BEGINNING_LINE", "AT_BEGINNING_STRING"):
            lines = self.flags & re.MULTILINE and name != "AT_BEGINNING_STRING"
            return [frozenset({("prev", frozenset("\n") if lines else frozenset())})]
        return [frozenset()]

    # --- asking
    def steps(self) -> float:
        """The most that is tried for one character, or infinity."""
        if self._doubles():
            return math.inf
        loops = [(math.inf, frozenset({0})), *self.loops]
        towards = [self._towards(theirs) for _, theirs in loops]
        beside: dict[int, set[int]] = defaultdict(set)
        for one, (_, mine) in enumerate(loops):
            for other, (_, theirs) in enumerate(loops):
                inside = mine <= theirs or theirs <= mine
                if (
                    other
                    and not inside
                    and mine & towards[other]
                    and self._again(mine, theirs, towards[other])
                ):
                    beside[one].add(other)

        def longest(at: int, seen: tuple[int, ...]) -> float:
            further = (loops[to][0] * longest(to, (*seen, to)) for to in beside[at] if to not in seen)
            return max(further, default=1)

        return max(longest(at, (at,)) for at, (bound, _) in enumerate(loops) if bound == math.inf)

    def _doubles(self) -> bool:
        """Whether a step inside a repeat can be taken in two ways under the same conditions."""
        for _, inside in self.loops:
            for at in inside:
                for to, guards in self.follow[at].items():
                    twice = to in inside and len(guards) > 1 and self._in_circle(at, to, inside)
                    if twice and self._both(at, to, guards):
                        return True
        return False

    def _both(self, at, to, guards) -> bool:
        pairs = (guards[one] | guards[other] for one in range(len(guards)) for other in range(one))
        return any(_allowed(both, b, c) for both in pairs for b in self.labels[at] for c in self.labels[to])

    def _in_circle(self, at, to, inside) -> bool:
        seen, todo = {to}, [to]
        while todo:
            here = todo.pop()
            if here == at:
                return True
            new = {there for there in self.follow[here] if there in inside} - seen
            seen |= new
            todo += new
        return False

    def _again(self, mine: frozenset[int], theirs: frozenset[int], useful: frozenset[int]) -> bool:
        """Whether some text can be read in the one loop, in the other, and from the one into the other."""
        pairs = [(p, q) for p in mine for q in theirs if self.labels[p] & self.labels[q]]
        return any(self._pumps(p, q, mine, theirs, useful) for p, q in pairs)

    def _towards(self, goal: frozenset[int]) -> frozenset[int]:
        back: dict[int, set[int]] = defaultdict(set)
        for at, there in self.follow.items():
            for to in there:
                back[to].add(at)
        seen, todo = set(goal), list(goal)
        while todo:
            new = back[todo.pop()] - seen
            seen |= new
            todo += new
        return frozenset(seen)

    def _pumps(self, p, q, mine, theirs, useful) -> bool:
        seen = {(p, p, q, char) for char in self.labels[p] & self.labels[q]}
        todo = deque(seen)
        while todo:
            a, m, z, b = todo.popleft()
            for a2, m2, z2 in itertools.product(
                [(to, g) for to, g in self.follow[a].items() if to in mine],
                [(to, g) for to, g in self.follow[m].items() if to in useful],
                [(to, g) for to, g in self.follow[z].items() if to in theirs],
            ):
                for c in self.labels[a2[0]] & self.labels[m2[0]] & self.labels[z2[0]]:
                    after = (a2[0], m2[0], z2[0], c)
                    if after in seen or not all(any(_allowed(g, b, c) for g in to[1]) for to in (a2, m2, z2)):
                        continue
                    if after[:3] == (p, q, q):
                        return True
                    seen.add(after)
                    todo.append(after)
        return False


def _allowed(guards, before: str, after: str) -> bool:
    for kind, held in guards:
        if kind == "prev" and before not in held:
            return False
        if kind == "next" and after not in held:
            return False
        if kind == "boundary" and (_word(before) != _word(after)) != held:
            return False
    return True


def _word(char: str) -> bool:
    return char == "_" or char.isalnum()


def _letters(tree) -> set[str]:
    """Characters of which an expression may make a difference."""
    found: set[str] = set()
    for code, value in tree:
        if code in (op.LITERAL, op.NOT_LITERAL):
            found.add(chr(value))
        elif code is op.RANGE:
            found |= {chr(value[0]), chr(value[1])}
        elif code is op.IN:
            found |= _letters(value)
        else:
            found |= {char for part in _parts(value) for char in _letters(part)}
    return found


def _parts(value):
    """The pieces of the expression inside a piece of it."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each)


def _plain(code, value, char: str, flags: int) -> bool:
    if code is op.LITERAL:
        return ord(char) == value
    if code is op.NOT_LITERAL:
        return ord(char) != value
    if code is op.ANY:
        return char != "\n" or bool(flags & re.DOTALL)
    if code is op.RANGE:
        return value[0] <= ord(char) <= value[1]
    if code is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        held = re.match(_CATEGORIES[name.removeprefix("NOT_")], char) is not None
        return held != name.startswith("NOT_")
    items = list(value)
    denied = items[0][0] is op.NEGATE
    return any(_plain(kind, held, char, flags) for kind, held in items[denied:]) != denied


def _single(body):
    return body[0] if len(body) == 1 and body[0][0] in _CHARACTERS else None


def _must(item) -> bool:
    """Whether something has to follow: a character, or a condition."""
    code, value = item
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return value[0] > 0 and any(_must(each) for each in value[2])
    if code is op.SUBPATTERN:
        return any(_must(each) for each in value[3])
    if code is op.BRANCH:
        return not any(all(not _must(each) for each in branch) for branch in value[1])
    if code is op.ATOMIC_GROUP:
        return any(_must(each) for each in value)
    return True


def steps(source: str, flags: int = 0, *, searched: bool = True) -> float:
    """How often one character may be tried, in the worst text; infinity if that grows with the text."""
    return Automaton(source, flags, searched=searched).steps()
