"""What two statements can be to each other by their words alone: of one list, two fields, a step and its end.

A screen only takes questions away, or says which pairs are worth a scorer. The words are rows of the table
`statements`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from unicodedata import name as unicode_name

from ...models.bindings import relation
from ...models.places import bound
from ...models.text.statements import sentences
from ...models.text.tables import pattern, table_set
from ...models.text.words import CACHED_TEXTS, significant_words, tokens

FEWEST, LONGEST = 3, 60
"""Significant words of a sentence, below which it says nothing without what stands around it; and words of
any statement, above which it says several things."""
KEY = 3  # significant words from which a key says what it is about

_OWN = 4
_LONGEST_RIVAL, _MOST_NUMBERS = 30, 3
_ALL, _REST, _TOLD = 0.95, 0.4, 0.65
_FRAME, _VALUE = 2, 4
"""Words around the one place in which members of a list differ, at least, and in it, at most."""
FIELDS, _LABELS = (table_set("statements", key) for key in ("fields", "labels"))
_ONE_SIDED = ("intended", "finished_sign", "numbered_step", "earlier_state", "open_box")
"""Signs that of two texts which say the same neither has alone."""
_TURNING = frozenset(token.stem for token in tokens("avoid stop quit always never not do use longer please"))
"""Words in which a rule and its denial differ, and members of a list do not."""
_USES = frozenset({"use", "uses", "using"})

Frame = tuple[str, ...]


def says_something(text: str) -> bool:
    """Whether a sentence says enough by itself, and more than where to look or what follows."""
    links = pattern("any_link").findall(text)
    words = [word for word in significant_words(pattern("any_link").sub(" ", text)) if word.isalpha()]
    leads = pattern("reference").match(text) or pattern("pointer").match(text) or 2 * len(links) > len(words)
    return len(words) >= FEWEST and not leads and not pattern("announces").search(text)


def tells(text: str) -> bool:
    """Whether a text is a sentence with a verb behind its subject, and not only what something is like."""
    finite = pattern("finite_verb").search(text)
    return bool(finite) or any(unit.verb and unit.at for unit in bound(text).units)


def title(text: str) -> str:
    """The heading that opens a text; empty if none does."""
    match = pattern("heading_line").match(text)
    return match[2] if match else ""


def unlabelled(text: str) -> str:
    """A text without a label that says what it is, and not what it is about: "Decision: we use pnpm"."""
    return pattern("kind_label").sub("", text)


def corrects(text: str) -> bool:
    """Whether a text says that it puts another one right: "CORRECTED: ..."."""
    return bool(pattern("corrected_first").match(text))


@lru_cache(maxsize=CACHED_TEXTS)
def names(text: str) -> frozenset[str]:
    """The words of a name, which may be written in one."""
    return significant_words(" ".join(re.split(r"[\W_]+", pattern("hump").sub(" ", text))))


@lru_cache(maxsize=CACHED_TEXTS)
def own_subject(text: str) -> bool:
    """Whether a statement says by itself what it is about: "Audit logs are kept", not "Uses npm"."""
    found = pattern("key_first").match(text)
    if pattern("implied_subject").match(text) or pattern("participle_first").match(text):
        return False
    if found and len(significant_words(found[1])) >= KEY:
        return True
    if found and tokens(found[1])[-1].text.casefold() in FIELDS:
        return False
    said = pattern("code_name").sub(" ", text[found.end() :] if found else text)
    words = sum(not any(map(str.isdigit, word)) for word in significant_words(said))
    finite = bool(pattern("finite_verb").search(said))
    return not pattern("implied_subject").match(said) and words >= _OWN - finite


def stands_alone(text: str) -> bool:
    """Whether a statement says what it is about without its heading.

    No label of one or two words does, and no attribute of many things: "Default timeout is 30 seconds".
    """
    key, verb = field(text), pattern("finite_verb").search(text)
    subject = {token.text.casefold() for token in tokens(text[: verb.start()])} if verb else {text}
    general = not any(significant_words(word) for word in subject - FIELDS)
    return own_subject(text) and not general and (not key or len(significant_words(key)) >= KEY)


@lru_cache(maxsize=CACHED_TEXTS)
def field(text: str) -> str:
    """The key that a text opens with, in small letters, behind a mark of correction; empty if it has none."""
    found = pattern("key_first").match(pattern("corrected_first").sub("", text))
    return found[1].casefold() if found else ""


def attribute(a: str, b: str) -> str:
    """The key that two texts open with, if it is one: "Updated: ..." tells of an event."""
    key = field(a)
    return key if key == field(b) and not pattern("participle_first").match(key) else ""


def bare_field(text: str) -> bool:
    """Whether a text is a key with a day, number, plain word or path, which tells of its own place."""
    found = pattern("key_first").match(text)
    value = text[found.end() :].strip(" *_.") if found else ""
    return bool(pattern("plain_value").fullmatch(value))


def leads_with_number(text: str) -> bool:
    """Whether a number comes first, as the value of a case or the number of a step does."""
    return bool(pattern("number_first").match(text))


def numbered_apart(a: str, b: str) -> bool:
    """Whether two names differ in numbers alone, as those of two issues do."""
    first, second = (pattern("any_digits").sub("0", name.casefold()) for name in (a, b))
    return a != b and first == second


def lists(text: str) -> bool:
    """Whether a text tells of several things, such as "Functions: load, save"."""
    return "," in text or ";" in text


def fields_apart(a: str, b: str) -> bool:
    """Whether two statements begin with other keys, as fields of a template do."""
    keys = field(a), field(b)
    return all(keys) and significant_words(keys[0]) != significant_words(keys[1])


def comparable(a: str, b: str) -> bool:
    """Whether two texts that share their words can say the same at all.

    Not in other than Latin letters, which neither the encoder nor the scorer reads; not two fields of one
    template ("Functions: load", "Exports: load"); not a step and another text, a plan and its end, or an
    earlier state; not where each has numbers, or names of code, that the other has not, or has elsewhere.
    """
    if (
        not _latin(a + b)
        or fields_apart(a, b)
        or any(bool(rule.search(a)) != bool(rule.search(b)) for rule in map(pattern, _ONE_SIDED))
    ):
        return False
    two_lists = all(field(text) and lists(pattern("aside").sub("", text)) for text in (a, b))
    if _openings_apart(a, b) or _one_step_more(a, b) or (two_lists and all(relation(a, b).unsaid)):
        return False
    first, second = pattern("number_told").findall(a), pattern("number_told").findall(b)
    if not (_in_order(first, second) or _in_order(second, first)):
        return False
    return (_among(_quoted(a), b) or _among(_quoted(b), a)) and not _another_sentence(a, b)


def _latin(text: str) -> bool:
    return text.isascii() or all("LATIN" in unicode_name(char, "") for char in text if char.isalpha())


def _another_sentence(a: str, b: str) -> bool:
    few, many = sorted((sentences(a), sentences(b)), key=lambda said: sum(map(len, said)))
    if max(len(few), len(many)) < 2:
        return False
    # Of several sentences one says another, and not a list that names the same among others.
    least = _REST if min(len(few), len(many)) > 1 else 0
    said = [[relation(one, other).said for other in many] for one in few]
    if any(all(told < _TOLD or back < least for told, back in row) for row in said):
        return True
    return any(_replaced(one, other) for one in few for other in many)


def _replaced(a: str, b: str) -> bool:
    """Whether two sentences are one but for other words in one place."""
    head, tail = _edges(tokens(a), tokens(b))
    both = min(len(tokens(a)), len(tokens(b))) > head + tail
    return both and frame(a, b) is not None and any(relation(a, b).unsaid)


def report(a: str, b: str) -> bool:
    """Whether both texts tell the outcome of a check, and one of them nothing else: each of its own work."""
    told = all(pattern("was_checked").search(text) for text in (a, b))
    return told and not all(pattern("finite_verb").search(pattern("aside").sub("", text)) for text in (a, b))


def _openings_apart(a: str, b: str) -> bool:
    """Whether two texts open with two kinds of one thing: "the mail worker", "the print worker"."""
    opens = [bound(text).units[:2] for text in (a, b)]
    if min(map(len, opens)) <= 1 or field(a) or field(b):
        return False
    (one, first), (other, second) = opens
    if first.key != second.key or one.key == other.key or {one.stem, other.stem} & _TURNING:
        return False
    unsaid = relation(a, b).unsaid
    beside = first.at == one.at + 1 and second.at == other.at + 1
    return beside and not first.kind == second.kind == "verb" and (one in unsaid[0] or other in unsaid[1])


def _one_step_more(a: str, b: str) -> bool:
    """Whether two texts tell what was done, in one word, and one of them to more: entries of a log."""
    opening = [(pattern("participle_first").match(text) or [""])[0].casefold() for text in (a, b)]
    unsaid = relation(a, b).unsaid
    return opening[0] == opening[1] != "" and bool(unsaid[0]) != bool(unsaid[1])


def codes_apart(a: str, b: str) -> bool:
    """Whether one text names code, or quotes something, that the other does not."""
    return not (_among(_quoted(a), b) and _among(_quoted(b), a))


def describes_itself(a: str, name: str, b: str, other: str) -> bool:
    """Whether two texts differ by words of the names of their entities: each says what its own one is."""
    mine, theirs = names(name), names(other)
    unsaid = [{unit.key for unit in units} for units in relation(a, b).unsaid]
    return not (unsaid[0].isdisjoint(mine - theirs) or unsaid[1].isdisjoint(theirs - mine))


def contained(a: str, b: str) -> bool:
    """Whether one text says all of the other, code and paths left out, and is not much longer."""
    bare = (pattern("code_name").sub(" ", text) for text in (a, b))
    said, plain = relation(a, b).said, relation(*bare).said
    return min(max(said), max(plain)) >= _ALL and min(*said, *plain) >= _REST


def finished(a: str, b: str) -> str:
    """The words by which one text tells a task that the other says was done; empty if they do not."""
    ahead_of, done_in = pattern("task_ahead").search, pattern("task_done").search
    for task, end in ((a, b), (b, a)):
        ahead, done = ahead_of(task), done_in(end)
        if ahead and done and not (ahead_of(end) or done_in(task) or pattern("where_it_is").match(end)):
            return f"{ahead[0]} / done"
    return ""


def brief(a: str, b: str) -> bool:
    """Whether each text says one thing: a longer one, or one of many numbers, is an entry of a log."""
    return all(
        len(text.split()) <= _LONGEST_RIVAL and len(pattern("number_told").findall(text)) <= _MOST_NUMBERS
        for text in (a, b)
    )


def side_by_side(a: str, b: str) -> bool:
    """Whether two texts that seem to exclude each other may both hold: steps, cases, events, additions."""
    events = [set(pattern("event_sign").findall(text)) for text in (a, b)]
    if all(events) and events[0] != events[1]:
        return True
    case, too = (bool(pattern("in_a_case").search(text)) for text in (a, b))
    years, theirs = (set(pattern("year_told").findall(text)) for text in (a, b))
    if years != theirs or (case != too and any(relation(a, b).unsaid)):
        return True
    if _sets_off(a, b) or _sets_off(b, a) or (all(relation(a, b).unsaid) and not _latin(a + b)):
        return True  # in other letters no model reads what each says besides
    added = pattern("additive_first").match(a) and pattern("additive_first").match(b)
    if fields_apart(a, b) or (added and not significant_words(a) ^ significant_words(b) <= _TURNING):
        return True
    first, second = tokens(a), tokens(b)
    head, _ = _edges(first, second)
    if head == 0 or head in (len(first), len(second)):
        return False
    numbers = all(token.text[:1].isdigit() for token in (first[head], second[head]))
    return numbers and first[head - 1].text.casefold() in _LABELS


def _sets_off(a: str, b: str) -> bool:
    """Whether one text says what the other says, and what it is not, of which the other says nothing."""
    told = pattern("contrast_last").search(a)
    if told is None or pattern("contrast_last").search(b) or not significant_words(told[1]):
        return False
    apart = significant_words(told[1]).isdisjoint(significant_words(b))
    return apart and significant_words(a[: told.start()]) <= significant_words(b)


def changes(a: str, b: str) -> bool:
    """Whether one text tells of a change of something with a name that the other one names."""
    return any(bool(_renamed(told) & significant_words(other)) for told, other in ((a, b), (b, a)))


@lru_cache(maxsize=CACHED_TEXTS)
def _renamed(text: str) -> frozenset[str]:
    told = pattern("was_changed").search(text)
    if not told:
        return frozenset()
    before = pattern("from_there").search(text, told.end())
    return frozenset(
        token.stem
        for token in tokens(text)
        if before is None or before.start() < token.start < before.end()
        if (token.text[:1].isupper() and token.start > 0) or any(map(str.isdigit, token.text))
    )


def turns(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether one of two sets of words has nothing that the other lacks but words of a denial."""
    return not (a - b - _TURNING and b - a - _TURNING)


def only_denied(a: str, b: str) -> bool:
    """Whether two texts differ in words of a denial alone."""
    differ = {unit.stem for units in relation(a, b).unsaid for unit in units}
    words = significant_words(a) ^ significant_words(b)
    return (bool(differ) and differ <= _TURNING) or (bool(words) and words <= _TURNING)


def frame(a: str, b: str) -> Frame | None:
    """What two texts share around the one short place in which they differ; None if they differ more."""
    first, second = tokens(a), tokens(b)
    head, tail = _edges(first, second)
    if head + tail < _FRAME or max(len(first), len(second)) - head - tail > _VALUE:
        return None
    return (
        *(token.text.casefold() for token in first[:head]),
        "…",
        *(t.stem for t in first[len(first) - tail :]),
    )


def ends_apart(a: str, b: str, *, uses: bool = False) -> bool:
    """Whether two texts are one up to the value on which each ends, behind "is" or "with"; no item of one.

    Of what something `uses` there may be several.
    """
    first, second = tokens(a), tokens(b)
    head, tail = _edges(first, second)
    rest = max(len(first), len(second)) - head
    leads = head >= _FRAME and (first[head - 1].is_stop or (uses and first[head - 1].text in _USES))
    valued = tail == 0 and leads and rest <= _VALUE
    return (valued or _other_ends(a, b)) and not lists(a) and not lists(b)


def _other_ends(a: str, b: str) -> bool:
    unsaid = relation(a, b).unsaid
    ends = [bound(text).units[-len(units) :] for text, units in zip((a, b), unsaid, strict=True) if units]
    same = [tuple(unit.at for unit in units) for units in ends] == [
        tuple(unit.at for unit in units) for units in unsaid
    ]
    return same and unsaid[0][0].marker == unsaid[1][0].marker != ""


def _edges(first: Sequence[object], second: Sequence[object]) -> tuple[int, int]:
    rows = [[getattr(token, "stem", token) for token in row] for row in (first, second)]
    limit = min(map(len, rows))
    head = next((n for n in range(limit) if rows[0][n] != rows[1][n]), limit)
    rest = limit - head
    tail = next((n for n in range(rest) if rows[0][-1 - n] != rows[1][-1 - n]), rest)
    return head, tail


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(number in rest for number in few)


def _quoted(text: str) -> list[str]:
    quoted = [max(quotation) for quotation in pattern("quoted_name").findall(text.casefold())]
    return [*quoted, *pattern("code_name").findall(text.casefold())]


def _among(quoted: Iterable[str], text: str) -> bool:
    held = text.casefold()
    return all(
        each in held or each.partition("/")[2] in pattern("code_name").findall(held) for each in quoted
    )
