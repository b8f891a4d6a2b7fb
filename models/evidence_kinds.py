"""The one table of kinds of evidence: what each means, where it is read, its columns, and how it is said."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of evidence; a kind without `said` speaks by the two values alone."""

    means: str
    said: str = ""  # how a sentence about it begins
    of: str = ""  # the details of `Facts` that are compared
    families: tuple[str, ...] = ()  # of traits: those that are reported under it
    column: str = ""  # the group of columns that a scorer reads of it


KINDS = {
    "number": Kind("amounts, counts, ordinals, with unit and period", of="numbers", column="number"),
    "date": Kind(
        "days, months, years and parts of years; relative days where both memories are dated",
        of="days",
        column="date",
    ),
    "weekday": Kind("days of the week", of="weekdays", column="weekday"),
    "time": Kind("times of day", of="clocks", column="time"),
    "frequency": Kind("how often something happens", of="frequencies", column="frequency"),
    "name": Kind("people, places, products, organisations", of="names", column="name"),
    "url": Kind("URLs and e-mail addresses", of="links", column="identifier"),
    "path": Kind("files and folders", of="paths", column="identifier"),
    "identifier": Kind(
        "tickets, hosts, flags, variables, models, hashes", of="identifiers", column="identifier"
    ),
    "version": Kind("versions of something", of="versions", column="version"),
    "quote": Kind(
        "code spans and quoted strings; never a veto, but a merge must keep them",
        of="quotes",
        column="identifier",
    ),
    "environment": Kind(
        "production, staging, ...", of="traits", families=("environment",), column="environment"
    ),
    "kinship": Kind("mother, brother, boss, ...", of="traits", families=("kinship",), column="kinship"),
    "quantifier": Kind(
        "always, all, only, any; an exception that only one side makes",
        of="traits",
        families=("always", "all", "any", "frequency word"),
        column="quantifier",
    ),
    "trait": Kind(
        "other words that exclude each other: left and right, colours, enabled and disabled",
        of="traits",
        column="trait",
    ),
    "negation": Kind(
        "one text denies what the other says", "One denies what the other says", column="negation"
    ),
    "denial": Kind(
        "a negation of another language that only one text has", "One denies something in its language"
    ),
    "order": Kind(
        "the same words in an order that says another thing: Anna reports to Ben / Ben reports to Anna; no "
        "veto where it only may, which a person decides unless each text entails the other",
        "The same words with two parts exchanged",
    ),
    "swap": Kind(
        "other words in one place of an equal sentence: studies medicine / studies law",
        "Another word in the same place",
    ),
    "rival": Kind(
        "two values of one attribute, all else being equal: lives in Oslo / lives in Bergen",
        "Two values of one thing",
    ),
    "progress": Kind(
        "one text plans what the other reports as done: is booked / was serviced",
        "One plans what the other reports as done",
    ),
    "binding": Kind(
        "the same details in each other's places: from Oslo to Bergen / from Bergen to Oslo",
        "The same details in each other's places",
    ),
    "place": Kind(
        "the same details in another order, not shown to stand in the same places: a person decides",
        "The same details in another order",
    ),
    "narrower": Kind(
        "one word makes another thing of it, a bird or a bird feeder: a person decides",
        "One word makes another thing of it",
    ),
    "past": Kind("one text speaks of the past: used to, former", "Only one speaks of the past"),
    "stage": Kind(
        "one text wants or has begun what the other reports as done",
        "Wanted or begun in one, done in the other",
    ),
    "hedge": Kind(
        "one text suspects or advises what the other states",
        "Suspected or advised in one, stated in the other",
    ),
    "extent": Kind("one text speaks of some, of most, of at least, the other does not"),
    "actor": Kind(
        "a sentence about a company, a team, a boss beside one about the person",
        "Another person or body does it",
    ),
}
"""What `guards.compare` finds."""

JUDGED = {
    "same": Kind("one statement by its words alone", "One statement, written differently"),
    "unsaid": Kind("words of which the other text says nothing", "Words of which the other says nothing"),
    "ending": Kind("only one text tells of an end", "Only one tells of an end"),
    "event": Kind(
        "one text expects what the other tells of: pregnant / gave birth",
        "Expected in one, over in the other",
    ),
    "underway": Kind(
        "a thing is going on in one text and done in the other", "Going on in one, done in the other"
    ),
    "liking": Kind("one text likes, the other dislikes", "Liked in one, disliked in the other"),
    "choice": Kind(
        "one text leaves open what the other lays down", "Left open in one, laid down in the other"
    ),
    "wording": Kind(
        "nearly equal texts with another word in one place: needs a visa / has a visa; a person decides",
        "Another word in one place",
    ),
    "subject": Kind("metadata that names different subjects", "About different subjects"),
    "repeated": Kind("most of what one says the other says, too", "Most of it stands in both"),
    "metadata": Kind("metadata that may name different subjects", "The metadata differs"),
}
"""What the judge adds."""

WHOLE = frozenset({"exact", "adds", "rule"})
"""Kinds whose detail is a sentence of its own."""
COLUMNS = tuple(dict.fromkeys(kind.column for kind in KINDS.values() if kind.column))
"""The groups of columns, in their order."""
