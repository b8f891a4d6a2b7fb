"""Doubts: reasons, found where a scorer was sure, to leave a merge to a person; none forbids it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from ..records import Evidence
from .belief import Said, Words, believed, restricted, told_again
from .bindings import relation
from .facts import extract
from .facts.frames import crosswise, told_end
from .places import PERSON, THIRD, Unit, bound
from .restated import one_of_family
from .same_statement import SHOUT, as_written, bare, has_case, respelt, told_by_a_sign
from .stance import steps, tenses
from .text.tables import listed, marked, pattern, table_lines
from .text.words import CACHED_TEXTS, significant_words, stem
from .wording import exchanged

BRIEF = 12  # words, up to which a text speaks of one thing
BOTH_ENTAIL = 0.9  # entailment in both directions, from which another order of equal words says the same
_ONE_THING = 0.3  # share of their words that both say, from which two states may be those of one thing
STATES = frozenset({"stage", "hedge", "past", "extent"})  # kinds: one thing stands at two states
# What a scorer that is believed has read: single words; what is bound to what, if each entails the other.
READ, BOUND = STATES | {"swap"}, frozenset({"binding", "order", "narrower", "place"})
_ROOT = 4  # letters
_NAME_GOES_ON = 3  # words
_UNIT_LIKE = 3  # letters, up to which a word behind a number may be its unit
_MARKS = ".,;:!?\"'"
_LINKS = frozenset(map(stem, listed("a an the and or to in on at by for from of with")))
_VALUED = frozenset(listed("number date time frequency version identifier path url name"))
Told = tuple[datetime | None, datetime | None]  # when each of two texts was told, if that is known


_EVENTS = [
    [re.compile(rf"(?<![\w-])(?:{marked([half])})(?![\w-])", re.IGNORECASE) for half in line.split("|")]
    for line in (*table_lines("doubts", "events"), *table_lines("doubts", "opposed"))
]
_TENSES = frozenset({("is", "was"), ("are", "were"), ("had", "has"), ("had", "have"), ("can", "could")})
_MILD = frozenset(word.strip() for word in ",".join(table_lines("doubts", "mild")).split(","))
_OTHER_THINGS = frozenset(("name", "swap"))
_OPPOSING = frozenset(("ending", "event", "liking"))
DOUBTS = _OPPOSING | {"underway", "past", "unsaid", "place", "wording"}  # kinds that `doubts` gives


def doubts(
    a: str,
    b: str,
    found: Sequence[Evidence] = (),
    *,
    entailment: Sequence[float] = (1.0, 1.0),
    said: Said | None = None,
) -> tuple[Evidence, ...]:
    """Why a merge is for a person, beside what guards found; the entailment is of b by a, of a by b.

    Where the scorer is believed, only whose the fact is and what is bound to what are left to doubt.
    """
    if believed(a, b, entailment, said):
        turned = () if min(entailment) >= BOTH_ENTAIL else _out_of_place(a, b)
        left = ("unsaid", of_another(a, b)), ("place", turned)
        return tuple(Evidence(kind, " / ".join(words)) for kind, words in left if words)
    end = told_end(a, b)
    unsaid = _either(_goes_on, a, b) or of_another(a, b) or told_again(a, b, entailment, said)
    rules: tuple[tuple[str, Words], ...] = (
        ("ending", (end,) if end else ()),
        ("event", next(filter(None, (_either(crosswise, a, b, *row) for row in _EVENTS)), ())),
        ("underway", _either(_finished, a, b)),
        ("past", _was(a, b)),
        ("liking", _either(crosswise, a, b, pattern("liking"), pattern("dislike"), hides=True)),
        ("unsaid", unsaid or restricted(a, b, entailment, found)),
        ("place", _out_of_place(a, b)),
        ("wording", () if any(item.veto for item in found) else _other_letters(a, b)),
    )
    return tuple(Evidence(kind, " / ".join(words)) for kind, words in rules if words)


def _out_of_place(a: str, b: str) -> Words:
    return _clauses_turned(a, b) or misplaced(a, b) or _either(_taken, a, b) or _either(_only_under, a, b)


def _other_letters(a: str, b: str) -> Words:
    return (
        exchanged(a, b)
        or respelt(a, b)
        or told_by_a_sign(a, b)
        or _set_apart(a, b)
        or one_of_family(a, b)
        or _either(_of_users, a, b)
    )


def _set_apart(a: str, b: str) -> Words:
    """Where two texts have the same letters: the signs in which they differ, if those say something."""
    if pattern("no_letter").sub("", a).casefold() != pattern("no_letter").sub("", b).casefold():
        return ()
    written = _spelt(a, b), _spelt(b, a)
    plain = (pattern("note_mark").sub(" ", bare(bare(text))) for text in (a, b))
    signs, others = ("".join(pattern("telling_sign").findall(text)) for text in plain)
    if any(written) or signs == others:
        return (written[0] or "-", written[1] or "-") if any(written) else ()
    return signs or "-", others or "-"


def _spelt(text: str, other: str) -> str:
    """What only one text writes so, by more than marks around it, or capitals for emphasis."""
    there = set(map(_unquoted, other.split()))
    small = {each.lower() for each in there}
    for kept in sorted(as_written(text) - as_written(other)):
        words = list(map(_unquoted, pattern("word_kept").findall(kept)))
        loud = {each for each in words if each.isalpha() and each.isupper() and len(each) >= SHOUT}
        alike = loud if has_case(other) else set(words)
        if not all(each in there or (each in alike and each.lower() in small) for each in words):
            return " ".join(words)
    return ""


def _unquoted(word: str) -> str:
    return word.lstrip("`(").rstrip("`),.;:") or word


def _of_users(mine: str, theirs: str) -> Words:
    """User accounts, and any accounts."""
    of = pattern("user_of").match(mine)
    return (of[0].strip(), "-") if of and "user" not in theirs.lower() else ()


def _either(rule: Callable[..., Words | None], a: str, b: str, *row: re.Pattern[str], **how: bool) -> Words:
    return rule(a, b, *row, **how) or (rule(b, a, *row, **how) or ())[::-1]


def _longest(a: str, b: str) -> int:
    return max(len(text.split()) for text in (a, b))


def settled(a: str, b: str, entailment: Sequence[float]) -> bool:
    """Whether the order of equal words is harmless: each text entails the other, no word takes a place."""
    return min(entailment) >= BOTH_ENTAIL and not relation(a, b).displaced


def two_states(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether one thing stands at two states, of which the further one was not told first.

    A plan that is told after the deed is another plan, and "used to" before the deed is an end to neither.
    """
    kinds, later = {item.kind for item in found if item.veto}, _later(told)
    for step in steps(a, b):
        if step.kind not in kinds or _MILD.issuperset(word.lower() for word in step.words if word):
            continue
        ahead = step.mine - step.theirs if step.kind == "past" else step.theirs - step.mine
        if not later or step.kind not in ("stage", "past") or (ahead > 0) == (later > 0):
            return True
    return False


def _later(told: Told) -> int:
    """1 where the second of two texts was told later, -1 where the first was, 0 where nobody knows."""
    first, second = told
    return 0 if first is None or second is None else (second > first) - (second < first)


def stated_conflict(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether two texts state why both cannot hold: a rival, a denial, two states of what both speak of."""
    vetoes = {item.kind for item in found if item.veto}
    if vetoes - STATES - {"progress"}:
        return True
    if any(item.kind == "negation" and pattern("stated_denial").search(item.detail) for item in found):
        return True
    ahead = "progress" in vetoes and _later(told) != (-1 if pattern("ahead").search(a) else 1)
    return (ahead or two_states(a, b, found, told)) and min(relation(a, b).said) >= _ONE_THING


def hinted_conflict(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether two texts at least hint at it: opposed attitudes, a value each, a change in the later."""
    if any(item.kind in _OPPOSING or _a_value_each(item) for item in found):
        return True
    later = _later(told)
    return bool((later >= 0 and pattern("change").search(b)) or (later <= 0 and pattern("change").search(a)))


def side_by_side(a: str, b: str, found: Sequence[Evidence]) -> bool:
    """Whether both hold whatever a scorer thinks: on two platforms, two of several things, then and now."""
    kinds = {item.kind for item in found if item.veto}
    one, other = ({match[0].lower() for match in pattern("several").finditer(text)} for text in (a, b))
    listed = kinds <= _OTHER_THINGS and not one.isdisjoint(other)
    changed = any(map(pattern("change").search, (a, b)))
    mine, theirs = (
        {match[0].lower().removeprefix("on ") for match in pattern("platform").finditer(text)}
        for text in (a, b)
    )
    apart = "environment" in kinds or (mine and theirs and mine.isdisjoint(theirs))
    (did, does), (did_too, does_too) = map(tenses, (a, b))
    over = (did - does) & (does_too - did_too) or (did_too - does_too) & (does - did)
    denied = any(item.kind == "negation" for item in found)
    return not (denied or changed) and bool(apart or over or (kinds and listed))


def _was(a: str, b: str) -> Words:
    """The one word in which two texts differ, where the one says that it holds and the other that it did."""
    first, second = a.lower().split(), b.lower().split()
    if len(first) != len(second):
        return ()
    differing = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    return differing[0] if len(differing) == 1 and tuple(sorted(differing[0])) in _TENSES else ()


def _finished(mine: str, theirs: str) -> Words:
    """One thing under way in one text and done in the other: is migrating, migrated; is writing, written."""
    begun, done_too = _verbs("under_way", mine), _verbs("finished", mine)
    done, going_on = _verbs("finished", theirs), _verbs("going_on", theirs)
    for word in sorted(begun.keys() - done_too.keys()):
        forms = (word, word + "ten") if len(word) >= _ROOT else (word,)
        end = next((each for each in sorted(done.keys() - going_on.keys()) if each in forms), None)
        if end is not None:
            return begun[word], done[end]
    return ()


def _verbs(name: str, text: str) -> dict[str, str]:
    return {stem(match[1].lower()): match[1] for match in pattern(name).finditer(text)}


def _a_value_each(item: Evidence) -> bool:
    return item.kind in _VALUED and "-" not in item.detail.split(" / ")


def _taken(mine: str, theirs: str) -> Words:
    """What stands behind a verb in one text, and in the other behind what took its place there.

    "Likes McDonald's", "Likes the McFlurry at McDonald's"; no list of several.
    """
    first, second = bound(mine).units, bound(theirs).units
    if _longest(mine, theirs) > BRIEF:
        return ()
    once = _once(first) & _once(second) - {PERSON, THIRD}
    places = {unit.key: at for at, unit in enumerate(second)}
    new = {unit.at for unit in relation(mine, theirs).unsaid[1]}
    for verb, thing in pairwise(first):
        if not (verb.verb and {verb.key, thing.key} <= once) or thing.verb or thing.marker:
            continue
        there, before = second[places[thing.key]], second[places[verb.key] + 1 : places[thing.key]]
        instead = before[0] if before else there
        listed = instead.run == there.run and instead.item < there.item and not there.marker
        if instead.at in new and not (
            instead.verb or instead.marker or instead.chunk == there.chunk or listed
        ):
            return thing.text, instead.text
    return ()


def _only_under(mine: str, theirs: str) -> Words:
    """What one text says, and the other only as the condition, time or cause of something else."""
    clauses, said = _clauses(theirs), significant_words(mine)
    if clauses is None or pattern("conjunction").search(mine):
        return ()
    conjunction, main, under = clauses
    return ("-", conjunction) if said and said <= under and said.isdisjoint(main) else ()


def _once(units: Sequence[Unit]) -> set[str]:
    return {key for key, count in Counter(unit.key for unit in units).items() if count == 1}


def _goes_on(mine: str, theirs: str) -> Words:
    """A word of one text that is longer as a name in the other: viola, viola da gamba."""
    first, second = (text.rstrip(_MARKS).split() for text in (mine, theirs))
    more = len(second) - len(first)
    at = next((i for i, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), len(first))
    ends_alike = 0 < more <= _NAME_GOES_ON and at and first[at:] == second[at + more :]
    if not (ends_alike and pattern("name_goes_on").match(second[at])):
        return ()
    last = first[at - 1]
    is_noun = last[-1].isalnum() and stem(last.lower()) not in _LINKS
    return (last, " ".join(second[at - 1 : at + more])) if is_noun else ()


def _clauses_turned(a: str, b: str) -> Words:
    """A condition, cause or time of one text that is what follows from it in the other."""
    first, second = _clauses(a), _clauses(b)
    if first is None or second is None or first[0] != second[0]:
        return ()
    (_, main, under), (_, other, other_under) = first, second
    turned = len(main & other_under) + len(under & other)
    straight = len(main & other) + len(under & other_under)
    return (f"what stands behind {first[0]}",) * 2 if turned > straight else ()


def _clauses(text: str) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """The only conjunction of a text, and the words of the main and of the other clause."""
    found = list(pattern("conjunction").finditer(text))
    if len(found) != 1:
        return None
    before, behind = text[: found[0].start()], text[found[0].end() :]
    if not before.strip():
        behind, _, before = behind.partition(",")
    main, under = significant_words(before), significant_words(behind)
    return (found[0][0].lower(), main, under) if main else None


def misplaced(a: str, b: str) -> Words:
    """The words of two texts that belong to other things in them, or nothing."""
    if b < a:
        return misplaced(b, a)[::-1]
    return _only(a, b) or _either(_most, a, b)


def of_another(a: str, b: str) -> Words:
    """One number of two things, or what one text says of a person and the other of what is the person's."""
    if _longest(a, b) > BRIEF:
        return ()
    if b < a:
        return of_another(b, a)[::-1]
    return _other_count(a, b) or _either(_other_subject, a, b)


def _only(a: str, b: str) -> Words:
    """Two things of which "only" reaches one in each text."""
    mine, theirs = _reached(a), _reached(b)
    if not mine or not theirs or not mine.keys().isdisjoint(theirs):
        return ()
    both = mine.keys() <= bound(b).keys and theirs.keys() & bound(a).keys
    return (f"only {next(iter(mine.values()))}", f"only {next(iter(theirs.values()))}") if both else ()


@lru_cache(maxsize=CACHED_TEXTS)
def _reached(text: str) -> dict[str, str]:
    """The words that the one "only" of a text may be about: up to the next verb, or all if it opens them."""
    units = bound(text).units
    at = [number for number, unit in enumerate(units) if unit.key == "only"]
    if len(at) != 1:
        return {}
    behind = units[at[0] + 1 :]
    end = next((number for number, unit in enumerate(behind) if unit.verb), len(behind)) or len(behind)
    return {unit.key: unit.text for unit in behind[:end]}


def _most(a: str, b: str) -> Words:
    """The most of all in one text, and only more than others in the other: oldest, older."""
    mine, theirs = (set(pattern("part").findall(text.lower())) for text in (a, b))
    most = (word for word in sorted(mine - theirs) if word.endswith("est"))
    more = ((word, word.removesuffix("est") + "er") for word in most)
    return next((words for words in more if words[1] in theirs - mine), ())


def _other_count(a: str, b: str) -> Words:
    """One number of things of which each text names its own."""
    heads = []
    for text in (a, b):
        plain = {each.text for each in extract(text).numbers if each.unit is None and each.period is None}
        heads.append({unit.key: unit.head for unit in bound(text).units if unit.text in plain})
    left, right = heads
    mine, theirs = ({unit.key: unit.text for unit in units} for units in relation(a, b).unsaid)
    for number in sorted(left.keys() & right.keys()):
        things = mine.get(left[number], ""), theirs.get(right[number], "")
        if min(map(len, things)) > _UNIT_LIKE:
            return f"{number} {things[0]}", f"{number} {things[1]}"
    return ()


def _other_subject(a: str, b: str) -> Words:
    """What the first text says of the person and the second of somebody of the person's."""
    owned = pattern("owned").search(b)
    if owned is None:
        return ()
    other = bound(b)
    first = next((unit.key for unit in other.units if unit.key not in (PERSON, THIRD)), "")
    if any(unit.key == first and unit.marker for unit in bound(a).units) and bound(a).person:
        return "-", owned[0].strip()  # "is afraid of dogs", "User's dog is afraid"
    for (family, side), keys in bound(a).sides.items():
        subject = other.sides.get((family, side), frozenset())
        if side > 0 and keys == {PERSON} and first in subject:
            return "-", owned[0].strip()
    return ()
