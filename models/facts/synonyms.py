"""Everyday words that may stand for each other in an equal sentence, and words without content.

Kept small: it only stops the guard for exchanged words from firing on a change of style. It is no
thesaurus, and a word missing here costs a merge, never a memory.
"""

from __future__ import annotations

from .tokens import listed, stem

_GROUPS = """
use utilise utilize employ rely work
need require want must demand
show display present visualise visualize render
build create make develop write implement set produce construct
start begin launch commence
finish complete end conclude
like enjoy love adore prefer favour favor fond keen
dislike hate loathe detest
live reside stay base dwell located
buy purchase acquire get order
have own possess keep hold
go travel head fly posted sent send
say tell mention state note
explore evaluate investigate examine consider look try test
plan intend aim want going hope expect
learn study
help assist support
face experience encounter have
get receive obtain
run execute
handle manage take deal
change switch move migrate transition
fix repair resolve solve
close shut
check verify review inspect
call name title dub term
group team squad
research work project thesis study
job role position post career
company firm employer business organisation organization
task duty chore responsibility
big large huge great
small little tiny
quick fast rapid swift
kid child
car vehicle auto automobile
flat apartment
house home place
shop store
film movie
doctor physician gp
physio physiotherapist
boss manager supervisor
partner spouse
mum mom mother
dad father
phone mobile cell smartphone
holiday vacation trip
picture photo image
meal dish food
document doc file
repo repository
app application
config configuration settings
database db
production prod
environment env
development dev
kubernetes k8s
about around approximately roughly circa nearly almost
current currently now present presently today
usually normally typically generally mostly mainly often
always every each
also too additionally
because since due as owing
but although though however while
over above beyond than
under below
within inside in
daily every
primary main chief principal standard default
novel new key
promising good great positive
important crucial vital essential key
interesting exciting
difficult hard challenging tough
various several many multiple different
excellent great
favourite favorite preferred best
per each a
data information
text texts
"""
_NUMBERS: dict[str, set[int]] = {}
for _number, _line in enumerate(_GROUPS.strip().splitlines()):
    for _word in _line.split():
        _NUMBERS.setdefault(stem(_word), set()).add(_number)
FRAME_WORDS = frozenset(
    listed(
        """
        a an the of to in on at for with and or is are was were be been being has have had his her their my
        our your its it he she they i you we user users by from as that this these those will would can
        could do does did who which what there here so then also just very really too than into about over
        up out some any own self him them me us while when where rather more most much
        """
    )
)


def synonyms(left: str, right: str) -> bool:
    """Whether two folded words may stand for each other.

    >>> synonyms("needs", "requires"), synonyms("medicine", "law")
    (True, False)
    """
    return not _NUMBERS.get(stem(left), set()).isdisjoint(_NUMBERS.get(stem(right), set()))
