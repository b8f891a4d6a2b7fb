"""Words that exclude each other: environments, kinship, parts of the day, sides, colours, opposites.

Each family is a question ("which environment?"), each group one answer with its synonyms. Two texts
conflict in a family when each gives an answer that the other does not give. Words outside the families
are left to the scorer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .detail import Detail
from .tokens import Expression, Page, listed

# family: groups separated by "|", spellings by ",". A star at the end of a spelling stands for any ending.
# A family that begins with "~" is too common in other senses to forbid a merge by itself.
_FAMILIES = """
environment: prod,production,live environment | staging,stage environment,pre-prod,preprod | sandbox
  | uat | canary
  | dev environment,dev server,dev cluster,dev database,development environment,in dev,on dev,in development
  | test environment,test server,test cluster,qa environment,in qa,on qa
kinship: mother,mum,mom,mama,mummy,mommy,mother's | father,dad,papa,daddy,father's,dads
  | brother,brothers | sister,sisters | wife | husband | son,sons | daughter,daughters
  | grandmother,grandma,gran,nana,granny | grandfather,grandpa,granddad,grandad | aunt,auntie | uncle
  | niece | nephew | mother-in-law | father-in-law | brother-in-law | sister-in-law | cousin
  | girlfriend | boyfriend | flatmate,roommate,housemate | landlord | neighbour,neighbor
  | colleague,coworker | boss,manager,line manager
part of day: morning,mornings | afternoon,afternoons | evening,evenings
side: left | right
height: upper | lower
direction: north,northern | south,southern | east,eastern | west,western
colour: red | blue,navy | green | yellow,mustard | black | white | grey,gray | orange | purple,violet
  | pink | brown | teal,turquoise | silver | gold
~always: always | never
~frequency word: always | sometimes,occasionally | rarely,seldom,hardly ever
~all: all,every,everything,everyone,everybody | half,most,some | none,nobody,nothing,no one
~any: any,anyone,anybody | only
~before: before,ahead of,until | after
~limit: at least,minimum,min,no less than | at most,maximum,max,no more than,up to
~above: above,over,more than | below,under,less than
enabled: enabled,enable,enables,switched on,turned on
  | disabled,disable,disables,switched off,turned off
~allowed: allowed,permitted | forbidden,prohibited,banned,not allowed,disallowed
~open: opens,open,opened | closes,closed,close
~start: starts,begins,start,begin | ends,finishes,end,finish
~like: love*,like,likes,enjoy*,adore*,fond of | hate*,dislike*,detest*,loathe*,can't stand,can't bear
order: ascending | descending
age: older,elder | younger
size: larger,bigger,longer,taller | smaller,shorter
temperature: hot,warm | cold
~season: spring | summer | autumn | winter
transport: by train | by car | by bike,by bicycle | by bus | by plane
opt: opted in,opt in | opted out,opt out
place of work: remote,remotely,from home | on-site,onsite,in the office
indent: tabs | spaces
quote style: single quotes | double quotes
synchrony: synchronous | asynchronous,async
case: camelcase,camel case | snake_case,snake case | kebab-case
~pass: pass,passes,passed | fail,fails,failed
success: granted,approved,accepted | rejected,refused,denied,withdrawn
public: public | private
~buy: bought,buys,buy | sold,sells,sell
income: income | expense
traffic: inbound,incoming,upload,ingress | outbound,outgoing,download,egress
resources: cpu request,memory request | cpu limit,memory limit
timeout: read timeout | connect timeout | write timeout
percentile: p50 | p90 | p95 | p99
truth: true | false
~marital: single | married | divorced | engaged | widowed
~diet: vegan | vegetarian | carnivore
handed: left-handed | right-handed
"""
_LINES = _FAMILIES.strip().replace("\n  |", " |").splitlines()
_PARENTS, _SIBLINGS, _SPOUSES, _CHILDREN, _UNCLES, _NEPHEWS, _IN_LAWS, _COUSINS, _GRAND = range(9)
_VIEWS = (
    frozenset(listed("mother mum mom mama mummy mommy father dad papa daddy mother' father'")),
    frozenset(("brother", "sister")),
    frozenset(("wife", "husband", "girlfriend", "boyfriend")),
    frozenset(("son", "daughter")),
    frozenset(("uncle", "aunt", "auntie")),
    frozenset(("nephew", "niece")),
    frozenset(("mother-in-law", "father-in-law", "brother-in-law", "sister-in-law")),
    frozenset(("cousin",)),
    frozenset(
        listed(
            """
        grandmother grandma gran nana granny grandfather grandpa granddad grandad
        """
        )
    ),
)
_ONE_RELATIVE = {
    frozenset(pair)
    for pair in (
        (_PARENTS, _CHILDREN),
        (_NEPHEWS, _SIBLINGS),
        (_NEPHEWS, _CHILDREN),
        (_NEPHEWS, _UNCLES),
        (_UNCLES, _PARENTS),
        (_UNCLES, _SIBLINGS),
        (_IN_LAWS, _SPOUSES),
        (_IN_LAWS, _SIBLINGS),
        (_IN_LAWS, _PARENTS),
        (_COUSINS, _UNCLES),
        (_GRAND, _PARENTS),
    )
}


@dataclass(frozen=True, slots=True)
class Trait(Detail):
    """One answer of a family of words that exclude each other.

    Attributes:
        family: The question.
        group: Number of the answer in the family.
        soft: The question is too common in other senses to forbid a merge by itself.
    """

    kind: ClassVar[str] = "trait"
    family: str = ""
    group: int = 0
    soft: bool = False

    def agrees(self, other: Detail) -> bool:
        """Whether both give the same answer to the same question."""
        return isinstance(other, Trait) and (self.family, self.group) == (other.family, other.group)

    def rivals(self, other: Detail) -> bool:
        """Whether both answer the same question."""
        if not isinstance(other, Trait) or self.family != other.family or self.soft:
            return False
        return self.family != "kinship" or not _same_relative(self.text, other.text)


def _same_relative(left: str, right: str) -> bool:
    """Whether two words of kinship may be two views of one relative: a nephew is a sister's son."""
    generations = [
        next((number for number, line in enumerate(_VIEWS) if word.rstrip("s") in line), -1)
        for word in (left, right)
    ]
    return frozenset(generations) in _ONE_RELATIVE


def _read() -> dict[str, tuple[tuple[str, int, bool], ...]]:
    """Read the families into a look-up of spellings."""
    table: dict[str, list[tuple[str, int, bool]]] = {}
    for line in _LINES:
        family, _, groups = line.partition(": ")
        soft = family.startswith("~")
        for number, group in enumerate(groups.split("|")):
            for spelling in group.split(","):
                table.setdefault(spelling.strip(), []).append((family.lstrip("~"), number, soft))
    return {spelling: tuple(answers) for spelling, answers in table.items()}


_TABLE = _read()
_ORDERED = sorted(_TABLE, key=lambda spelling: (-len(spelling), spelling))
_STARRED = tuple(spelling[:-1] for spelling in _ORDERED if spelling.endswith("*"))
_SPELLINGS = "|".join(re.escape(each).replace(r"\*", r"\w*") for each in _ORDERED)
_PATTERN = Expression(rf"(?<![\w-])(?:{_SPELLINGS})(?![\w-])")


def traits(page: Page) -> tuple[Trait, ...]:
    """Read the answers a text gives to the known questions.

    >>> [(each.family, each.text) for each in traits(Page("The staging server opens in the morning"))]
    [('environment', 'staging'), ('open', 'opens'), ('part of day', 'morning')]
    """
    answers: list[Trait] = []
    for match in _PATTERN.all(page.text.lower()):
        spelling = match.group()
        key = spelling if spelling in _TABLE else _starred(spelling)
        answers.extend(Trait(spelling, family, group, soft) for family, group, soft in _TABLE[key])
    return tuple(answers)


def _starred(spelling: str) -> str:
    """The spelling with a star that a word falls under."""
    return next(each for each in _STARRED if spelling.startswith(each)) + "*"
