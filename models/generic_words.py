"""The words that say nothing by themselves, by which an empty memory is told from a short one.

"Fixed bug" consists of such words alone and helps nobody; "Uses vim" holds one that is not among them
and stays. A word belongs here only if no memory made of these words alone could be missed: hence no
tastes, foods, tools, ailments, relatives, places, colours, roles or times of day, and no "use", "job",
"full", "part", "back" ("Bad back").
"""

from __future__ import annotations


def _words(block: str) -> frozenset[str]:
    return frozenset(block.split())


FILLERS = _words(
    """
    something anything everything nothing someone anyone everyone somebody anybody everybody somewhere
    somehow thing things stuff stuffs some various misc miscellaneous whatever several random certain
    etc kinda sorta sort kind
    """
)
"""Indefinite words: what they stand for is not said."""

JUDGEMENTS = _words(
    """
    good nice great fine ok okay okey cool awesome amazing excellent perfect wonderful lovely decent bad
    poor terrible awful horrible weird strange odd funny fun interesting boring exciting important
    useful useless helpful relevant better best worse worst well right wrong correct tricky happy glad
    pleased satisfied sad upset annoyed frustrated confused excited tired busy stressed stressful hectic
    productive ready done finished complete completed unclear clear little new old different similar
    usually general generally common possible maybe perhaps probably likely really pretty quite rather
    bit lot lots much many less somewhat somehow almost mostly basically actually currently recently
    lately soon later today yesterday tomorrow tonight now already yet again sometimes often eventually
    finally successfully successful properly correctly quickly slowly bunch couple overall alright yes
    yeah yep nope sure last previous above below
    """
)
"""Words that judge, measure or date without saying what."""

DOINGS = _words(
    """
    get gets got getting gotten go goes going went gone come comes came coming make makes made making
    take takes took taken taking give gives gave given giving put puts putting set sets keep keeps kept
    keeping let lets try tries tried trying start starts started starting begin begins began begun
    continue continues continued continuing finish finishes finishing end ends ended ending stop stops
    stopped happen happens happened happening need needs needed needing seem seems seemed look looks
    looked looking see sees saw seen seeing feel feels felt feeling think thinks thought thinking know
    knows knew known say says said saying tell tells told telling ask asks asked asking mention mentions
    mentioned mentioning talk talks talked talking discuss discusses discussed discussing chat chatted
    chatting spoke help helps helped helping work works worked working fix fixes fixed fixing
    solve solves solved solving resolve resolves resolved resolving handle handles handled handling deal
    dealt dealing sort sorts sorted sorting address addressed addressing change changes changed changing
    update updates updated updating add adds added adding remove removes removed removing delete deletes
    deleted edit edited editing modify modified modifying adjust adjusted adjusting tweak tweaks tweaked
    tweaking improve improves improved improving improvement improvements refactor refactors refactored
    refactoring rewrite rewrote clean cleans cleaned cleaning cleanup tidy tidied test tests tested
    testing check checks checked checking review reviewed reviewing debug debugs debugged debugging
    investigate investigated investigating implement implements implemented implementing build built
    building create created creating write wrote written find finds found finding figure figured shows
    showed shown plan plans planned planning prepare prepared preparing commit commits committed push
    pushed merge merged deploy deployed deploying release released ship shipped follow followed
    following respond responded replied send sent receive received called meet met pass passes
    passed passing fail fails failed failing breaks broken crash crashed crashes compile compiles
    compiled approve approved done do spend spent enjoyed liked loved bought ate watched hung relax
    relaxed rested remember remembered note noted thank thanked thanks bump bumped bumps answered
    answering explained explaining opened closed closing learned learnt installed downloaded uploaded
    decided cooked heard wait waits waited waiting ran
    """
)
"""Verbs of doing, saying and trying that need an object to mean anything."""

NOUNS = _words(
    """
    bug bugs issue issues problem problems error errors fault faults failure failures warning warnings
    fix code codebase function functions method methods file files folder folders module modules
    component components script scripts program programs app apps application applications system
    systems software project projects repo repository feature features functionality task tasks ticket
    tickets item items todo todos step steps work progress change update version build test result
    results outcome outcomes output outputs input inputs data info information detail details idea ideas
    thought thoughts plan note notes point points topic topics question questions request requests
    option options setting settings config configuration document documents doc docs documentation page
    pages screen button form comment comments message messages email emails discussion discussions
    conversation conversations chat session sessions feedback decision decisions suggestion suggestions
    concern concerns situation matter matters case way ways area areas place places client customer
    colleague friend friends stack logic pr prs ci api ui db pipeline environment tool tools server
    performance refactoring cleanup status state news trouble success attempt attempts approach solution
    solutions workaround activity activities event events typo typos dependency dependencies deps
    formatting lint linting log logs logging bugfix bugfixes deployment deployments
    """
)
"""Nouns that name a kind of thing, not a thing."""

HALF_EMPTY = _words(
    """
    day days week weeks weekend weekends month months year years morning evening afternoon night time
    times moment while meeting meetings standup call lunch dinner breakfast food meal meals break trip
    walk party movie film show game book weather mood shopping team faster slower small minor big large
    major huge quick simple easy hard difficult complex complicated regular normal usual quiet person
    people guy run read slow long period opinion opinions hobby hobbies life visitors
    """
)
"""Empty only in empty company: "Had a good day" and "Minor tweaks", but not "Works weekends" or "Small
commits"."""

TASTES = _words(
    """
    like likes liking love loves enjoy enjoys enjoying hate hates prefer prefers preference preferences
    dislike dislikes want wants wanted wanting interested
    """
)
"""Wishes and tastes: empty only with a filler ("Likes nice things"); "Likes funny films" is a taste."""

CHANGES = _words(
    """
    fix fixes bug bugs tweak tweaks change changes update updates edit edits improvement improvements
    refactoring cleanup bugfix bugfixes
    """
)
"""Beside these a half-empty word says only how large a change was."""

NOISE = _words(
    """
    test testing tests asdf asdfasdf asdfgh asdfghjkl qwer qwerty qwertyuiop jkl hjkl sdf dfg fgh zxcv
    foo foobar baz qux lorem ipsum dolor blah bla xxx abc tbd todo fixme na none null undefined nan
    empty placeholder hello hi hey thanks thx lgtm hmm haha lol wip tmp untitled
    """
)
"""What is typed to see whether a store works; empty only by itself."""

PAST_EVENTS = _words(
    """
    had did was were went got made took saw met ate watched spent enjoyed liked loved bought hung been
    talked discussed chatted
    """
)
"""First verbs of a past event without consequence: "Had lunch", "Went for a walk"."""

RULE_WORDS = _words("never always don't dont must only avoid without no first unless except before after")
"""A rule may consist of common words alone ("Never push", "Test before commit") and still be missed."""

ORDERS = _words(
    "write ask explain add keep follow tell show check commit push merge test review deploy document make"
)
"""First words of an order to an agent: "Write tests", "Commit often"."""

NO_ORDER = _words(
    """
    this that it later stuff things thing something some done went ok fine good was is are pass passes passed
    fail fails failed work works worked
    """
)
"""Beside these it is none: "Check this later", "Test failed"."""

EMPTY_AFTER_NO = _words(
    "issue issues problem problems change changes update updates progress news idea errors bugs"
)
"""What "no ..." reports without being a rule: "No issues found"."""

GENERIC = FILLERS | JUDGEMENTS | DOINGS | NOUNS
"""All words of which a text can be made without saying anything."""

EMPTY_VALUES = FILLERS | JUDGEMENTS | NOISE
"""What an attribute may be without having a value: "Status: done"."""
