"""What each rule finds in two texts, whichever comes first: rows of `pairs.tsv`.

A row is a rule, what it finds ("-" for nothing, "yes" for anything) and two texts. Of `lost` these are what is merged,
parted by bars, and the merged text; of `specific` and `english` there is one.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from mem0_dream.models import doubts, guards
from mem0_dream.models.bindings import meant, relation
from mem0_dream.models.facts import extract
from mem0_dream.models.facts.attributes import named_attribute
from mem0_dream.models.facts.frames import KINDS, told_end
from mem0_dream.models.keywords import opposed
from mem0_dream.models.restated import restated
from mem0_dream.models.same_statement import same_statement
from mem0_dream.models.stance import steps
from mem0_dream.models.text.words import exact_key, is_english, only_denied
from mem0_dream.models.wording import exchanged
from mem0_dream.pipeline.judging.judge import two_values
from mem0_dream.records import Evidence

TABLE = Path(__file__).with_name("pairs.tsv").read_text(encoding="utf-8")
ROWS = [tuple(line.split("\t")) for line in TABLE.splitlines()]
Words = tuple[str, ...]


def kinds(found: Iterable[Evidence]) -> Words:
    return tuple(sorted({each.kind for each in found}))


def told(found: bool) -> Words:
    return ("yes",) * found


def conflict(a: str, b: str) -> Words:
    found = guards.compare(a, b)
    found = (*found, *doubts.doubts(a, b, found))
    return (
        ("stated",)
        if doubts.stated_conflict(a, b, found)
        else ("hinted",) * doubts.hinted_conflict(a, b, found)
    )


def of_kind(kind: str) -> Callable[[str, str], Words]:
    return lambda a, b: tuple(
        "veto" if each.veto else "doubt" for each in guards.compare(a, b) if each.kind == kind
    )


RULES: dict[str, Callable[[str, str], Words]] = {
    "veto": lambda a, b: kinds(each for each in guards.compare(a, b) if each.veto),
    **{kind: of_kind(kind) for kind in ("order", "number", "denial", "progress", "actor")},
    "sure": lambda a, b: told(guards.contradicting(a, b) is guards.Contradicting.SURE),
    "side by side": lambda a, b: told(doubts.side_by_side(a, b, [])),
    "bound otherwise": lambda a, b: kinds(meant(a, b)),
    "excludes": lambda a, b: told(relation(a, b).excludes),
    "stage": lambda a, b: tuple(sorted(step.kind for step in steps(a, b))),
    "doubt": lambda a, b: kinds(doubts.doubts(a, b, guards.compare(a, b), entailment=(0.5, 0.5))),
    "free": lambda a, b: kinds(doubts.doubts(a, b, guards.compare(a, b), entailment=(0.8, 0.8))),
    "conflict": conflict,
    "restated": lambda a, b: tuple(filter(None, [restated(a, b)])),
    "same": lambda a, b: told(same_statement(a, b)),
    "opposed": lambda a, b: told(opposed(a, b)),
    "key": lambda a, b: told(exact_key(a) == exact_key(b)),
    "only denied": lambda a, b: told(only_denied(a, b)),
    "attribute": lambda a, b: tuple(filter(None, [named_attribute(extract(a), extract(b))])),
    "ends": lambda a, b: tuple(filter(None, [told_end(a, b)])),
    "two values": lambda a, b: tuple(filter(None, [two_values(a, b, ("home", "employer", "deploy target"))])),
}
ORDERED = {"misplaced": doubts.misplaced, "of another": doubts.of_another, "wording": exchanged}
"""Rules that name what they find in each text."""


def rows(*rules: str) -> list[Words]:
    return [row for row in ROWS if row[0] in rules]


@pytest.mark.parametrize(("rule", "expected", "a", "b"), rows(*RULES, *ORDERED))
def test_a_rule_finds_what_it_should_and_nothing_else(rule, expected, a, b):
    if rule in ORDERED:
        found = ORDERED[rule](a, b)
        assert ORDERED[rule](b, a) == found[::-1]
    else:
        found, back = RULES[rule](a, b), RULES[rule](b, a)
        assert bool(back) is bool(found) if rule == "two values" else back == found
    assert len(set(found)) == len(found)
    assert expected in found if expected not in ("-", "yes") else bool(found) is (expected == "yes")


@pytest.mark.parametrize(("rule", "_", "a", "b"), rows("restated"))
def test_what_is_restated_is_one_statement(rule, _, a, b):
    assert same_statement(a, b) is same_statement(b, a) is bool(restated(a, b))


@pytest.mark.parametrize(("rule", "kind", "sources", "merged"), rows("lost"))
def test_a_merge_keeps_each_detail_in_some_form(rule, kind, sources, merged):
    lost = guards.missing(sources.split(" | "), merged)
    assert kind in kinds(lost) if kind != "-" else lost == ()
    assert all(each.veto for each in lost)


@pytest.mark.parametrize(("rule", "holds", "text", "_"), rows("specific", "english"))
def test_a_text_holds_something_exact_or_is_english(rule, holds, text, _):
    assert {"specific": guards.is_specific, "english": is_english}[rule](text) is (holds == "yes")


def test_every_kind_of_veto_has_a_row_and_every_row_a_rule():
    assert set(KINDS) - {row[1] for row in rows("veto")} == {"quote", "place", "narrower"}
    assert {kind for row in rows("veto") for kind in kinds(guards.compare(*row[2:]))} <= set(KINDS)
    assert {row[0] for row in ROWS} == {*RULES, *ORDERED, "lost", "specific", "english"}


def test_swapping_two_texts_swaps_what_is_unsaid():
    pair = "Has a dog", "Has a beagle, Rex"
    there, back = relation(*pair), relation(*pair[::-1])
    assert (there.unsaid, there.said) == (back.unsaid[::-1], back.said[::-1])
