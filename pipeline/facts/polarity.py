"""What a text denies: "does not use tabs", "no longer smokes", "avoids dairy", "without sugar".

Hard negations are grammatical (not, no, never, without); soft ones are verbs that deny their object (avoid, stop,
hate). Both carry the words in their reach, so that two denials of the same thing agree however they are put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .detail import Detail
from .tokens import Page, fold, stem, words

_HARD = (
    r"no longer|not|[a-z]+n't|cannot|never|none|nobody|no one|nothing|nowhere|neither|nor|without|no|"
    r"dont|doesnt|didnt|isnt|arent|wasnt|cant|couldnt|wont|wouldnt|shouldnt|hasnt|havent|hadnt|non|zero"
)
_SOFT = (
    r"can't stand|can't bear|cannot stand|cannot bear|avoid\w*|avoidance|stop(?:s|ped|ping)?|quit(?:s|ting)?|ceas\w+|refus\w+|declin\w+|"
    r"hat(?:e|es|ed|ing)|dislik\w+|detest\w*|loath\w+|despis\w+|skip(?:s|ped|ping)?|lack\w*|reject\w*|forbid\w*|forbidden|ban(?:s|ned)?|prohibit\w*|"
    r"disallow\w*|cancel\w*|drop(?:s|ped|ping)?|abandon\w*|remov\w+|unable|free of|free from|gave up|give up|gives up|given up|stays? off|stay(?:s|ing)? away|"
    r"steers? clear|keeps? away|instead of|rather than|except\w*|apart from|aside from|excluding|former\w*|used to|formerly|ex|left|fail\w*|"
    r"against|clear of|opposes?|den(?:y|ies|ied)|disabl\w+|opted out|opts out|rules? out|ruled out|hardly|rarely|seldom|barely|scarcely|allerg\w+|intoleran\w+|off limits|off the table"
)
_CUE = re.compile(rf"\b(?:(?P<soft>{_SOFT})|(?P<hard>{_HARD}))\b", re.IGNORECASE)
_NOT_NEGATION = re.compile(
    r"\b(?:not only|no doubt|no matter|no\. ?[0-9]+|no problem|nothing but|why not|can't wait|cannot wait|couldn't agree more|not just|"
    r"nor?-?reply|non-?stop|no-brainer|until|left (?:hand|side|foot|arm|leg|knee|shoulder|wrist|ankle|ear|eye|lower|upper))\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?\n()]|,|\b(?:but|although|though|whereas|while|because|since|so|and|unless|until)\b", re.IGNORECASE)
_REACH = 5
_EMPTY = frozenset(
    "a an the to of in on at for with by from as is are was were be been being am do does did has have had will would can could should may might "
    "must shall any anything anyone anybody ever it its his her their my our your he she they we i you user this that these those there all more much "
    "many very really too also just yet even so or and want need get getting use using used like go going make making take eat drink him them us me "
    "longer than about if when where which who what how up out off over into new own some other every each one".split()
)
_LIGHT = frozenset(stem(word) for word in "want need get use like go make take eat drink have do be allow work run keep let".split())


def is_light(word: str) -> bool:
    """Whether a stem is a verb that says little by itself: use, have, take."""
    return word in _LIGHT


@dataclass(frozen=True, slots=True)
class Negation(Detail):
    """One denial and what it reaches.

    Attributes:
        cue: The folded cue word: "not", "avoids".
        hard: Grammatical negation rather than a denying verb.
        reach: Stems of the words it denies, in order; light verbs included.
    """

    kind: ClassVar[str] = "negation"
    cue: str = ""
    hard: bool = True
    reach: tuple[str, ...] = ()

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
        return bool(self.objects & other.objects) or (not self.reach and not other.reach)

    def covers(self, other: Detail) -> bool:
        """Whether this denies the same things as hard."""
        return isinstance(other, Negation) and self.agrees(other) and (self.hard or not other.hard)

    def rivals(self, other: Detail) -> bool:
        """Two denials never contradict each other by themselves."""
        return False


def negations(page: Page) -> tuple[Negation, ...]:
    """Read the denials of a text.

    >>> [(each.cue, each.reach) for each in negations(Page("Does not use tabs, avoids dairy"))]
    [('not', ('us', 'tab')), ('avoids', ('dair',))]
    """
    text = page.text
    idle = [match.span() for match in _NOT_NEGATION.finditer(text)]
    found = []
    for match in _CUE.finditer(text):
        if any(start <= match.start() < end for start, end in idle):
            continue
        end = _CLAUSE_END.search(text, match.end())
        stop = end.start() if end else len(text)
        reach = []
        for word in words(text[match.end() : stop]):
            if word.folded in _EMPTY and stem(word.folded) not in _LIGHT:
                continue
            reach.append(stem(word.folded))
            if len(reach) == _REACH:
                break
        surface = text[match.start() : match.end()]
        found.append(Negation(surface, fold(surface), match.group("hard") is not None, tuple(reach)))
    return tuple(found)
