"""What a text denies: "does not use tabs", "no longer smokes", "avoids dairy", "without sugar".

Hard negations are grammatical (not, no, never, without); soft ones are verbs that deny their object (avoid,
stop, hate). Both carry the words in their reach, so that two denials of the same thing agree however they are
put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ..text.tables import table_words
from ..text.words import fold, stem, words
from .details import Detail, Expression, Page

_HARD = (
    r"no longer|not|[a-z]+n't|cannot|never|none|nobody|no one|nothing|nowhere|neither|nor|without|no|"
    r"dont|doesnt|didnt|isnt|arent|wasnt|cant|couldnt|wont|wouldnt|shouldnt|hasnt|havent|hadnt|non"
)
_SOFT = (
    r"can't stand|can't bear|cannot stand|cannot bear|avoid\w*|stop(?:s|ped|ping)?|quit(?:s|ting)?|"
    r"ceas\w+|refus\w+|declin\w+|hat(?:e|es|ed|ing)|dislik\w+|detest\w*|loath\w+|despis\w+|skip(?:s|"
    r"ped|ping)?|lack\w*|reject\w*|forbid\w*|ban(?:s|ned)?|prohibit\w*|disallow\w*|cancel\w*|drop(?:s|"
    r"ped|ping)?|abandon\w*|remov\w+|unable|free of|free from|gave up|give up|gives up|given up|"
    r"stays? off|stay(?:s|ing)? away|steers? clear|keeps? away|instead of|rather than|except\w*|"
    r"apart from|aside from|exclud\w+|omit\w*|leaves? out|left out|tak\w+ out|former\w*|used to|ex|"
    r"left|fail\w*|against|clear of|opposes?|den(?:y|ies|ied)|disabl\w+|opted out|opts out|rules? out|"
    r"ruled out|hardly|rarely|seldom|barely|scarcely|allerg\w+|intoleran\w+|off limits|off the table"
)
_CUE = Expression(rf"\b(?:(?P<soft>{_SOFT})|(?P<hard>{_HARD}))\b", re.IGNORECASE)
_NOT_NEGATION = Expression(
    r"\b(?:no (?:more|less|fewer|later|earlier|longer) than|not (?:more|later) than|yes or no|not only|"
    r"not just|no doubt|no matter|no\. ?[0-9]+|no problem|nothing but|why not|can't wait|cannot wait|"
    r"couldn't agree more|nor?-?reply|non-?stop|no-brainer|until|"
    r"drop-?(?:offs?|downs?|outs?|ins?)|(?:frame|rain|water|eye|price) drops?|"
    r"left (?:hand|side|foot|arm|leg|knee|shoulder|wrist|ankle|ear|eye|lower|upper))\b",
    re.IGNORECASE,
)
_CLAUSE_END = Expression(
    r"[.;:!?\n()]|,|\b(?:but|although|though|whereas|while|because|since|so|and|unless|until)\b",
    re.IGNORECASE,
)
_REACH = 5
_LOOK_BACK = 80
_LOOK_AHEAD = 160
_EMPTY = frozenset(table_words("grammar", "undenied"))
_LIGHT = frozenset(stem(word) for word in table_words("grammar", "light"))


def is_light(word: str) -> bool:
    """Whether a stem is a verb that says little by itself: use, have, take."""
    return word in _LIGHT


@dataclass(frozen=True, slots=True)
class Negation(Detail):
    """One denial and what it reaches."""

    kind: ClassVar[str] = "negation"
    exclusive: ClassVar[bool] = False  # two denials never contradict each other by themselves
    cue: str = ""  # the folded cue word: "not", "avoids"
    hard: bool = True  # grammatical negation rather than a denying verb
    reach: tuple[str, ...] = ()  # stems of the words it denies, in order; light verbs included
    subject: frozenset[str] = frozenset()
    clause: str = ""  # the cue with its reach as it stands in the text

    @property
    def heavy(self) -> bool:
        """Whether it denies more than a light verb."""
        return any(each not in _LIGHT for each in self.reach)

    @property
    def objects(self) -> frozenset[str]:
        """The denied stems that carry meaning."""
        heavy = frozenset(each for each in self.reach if each not in _LIGHT)
        return heavy or frozenset(self.reach)

    def agrees(self, other: Detail) -> bool:
        """Whether both deny a common thing."""
        if not isinstance(other, Negation):
            return False
        shared = self.objects & other.objects or self.objects & other.subject or self.subject & other.objects
        return bool(shared) or (not self.reach and not other.reach)

    def covers(self, other: Detail) -> bool:
        """Whether this denies the same things as hard."""
        if not isinstance(other, Negation) or (other.hard and not self.hard):
            return False
        return other.objects <= self.objects and set(other.reach) <= {*self.reach, *self.subject}


def negations(page: Page) -> tuple[Negation, ...]:
    """Read the denials of a text.

    >>> [(each.cue, each.reach) for each in negations(Page("Does not use tabs, avoids dairy"))]
    [('not', ('us', 'tab')), ('avoids', ('dairy',))]
    """
    text = page.text
    idle = [match.span() for match in _NOT_NEGATION.all(text)]
    denials = []
    for match in _CUE.all(text):
        if any(start <= match.start() < end for start, end in idle):
            continue
        furthest = min(len(text), match.end() + _LOOK_AHEAD)
        end = _CLAUSE_END.search(text, match.end(), furthest)
        stop = end.start() if end else furthest
        reach = _content(text[match.end() : stop])[:_REACH]
        before = _CLAUSE_END.compiled.split(text[max(0, match.start() - _LOOK_BACK) : match.start()])[-1]
        surface = text[match.start() : match.end()]
        hard = match.group("hard") is not None
        denials.append(
            Negation(
                surface,
                fold(surface),
                hard,
                reach,
                frozenset(_content(before)[-_REACH:]),
                text[match.start() : stop].strip(),
            )
        )
    return tuple(dict.fromkeys(denials))


def _content(clause: str) -> tuple[str, ...]:
    stems = ((word.folded, stem(word.folded)) for word in words(clause))
    return tuple(each for folded, each in stems if folded not in _EMPTY or each in _LIGHT)
