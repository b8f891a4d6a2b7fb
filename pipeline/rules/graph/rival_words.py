"""The words by which rival observations are told: attributes with one value, opposites, denials, changes.

A word stands here only if it makes a pair certain: what may also be a list, a plan or the past is left out.
"""

from __future__ import annotations

import re

from ....models.word_tables import table_words

WORDS = re.compile(r"[^\W_](?:[\w.+#/@-]*[\w+#])?")
NUMBER = re.compile(r"^v?\d+(?:[.,]\d+)*(?:%|[a-z]{1,3})?$")
DATED = re.compile(r"\b(?:19|20)\d{2}\b")
ARTICLES = frozenset({"a", "an", "the"})

HEADS = frozenset(table_words("rivals", "heads"))
"""Last words of attributes that have one value at a time ("API port: 3000")."""

PROGRESS = frozenset({"status", "state", "phase"})
"""Attributes that move on, so that more than two values are no list."""

NUMBERED = frozenset(table_words("rivals", "numbered"))
"""Words beside which a number is the value of an attribute, and not the name of a task or a line."""

SINGLE = re.compile(
    r"^(?:(?:user|he|she|they|it|who)\s+)?"
    r"(lives? in|is based in|based in|works? (?:at|for)|is employed (?:by|at)|reports? to|is married to|"
    r"was born (?:in|on)|moved to live in|is named|is called|runs? on port|listens? on port|"
    r"(?:the )?(?:default|current|primary|preferred|main) [\w -]{2,30}? is|"
    r"(?:the )?[\w-]+ (?:version|port|timezone|time zone|deadline|license|owner|status) is)"
    r"\s+([^.;,()]{1,60}?)[.!]?$",
    re.IGNORECASE,
)
"""Sentences whose last words are the one value of what stands before them."""

KEYED = re.compile(r"^[\W_]*([\w][\w .-]{1,40}?)\**\s*:\**\s+(\S.{0,80})$", re.DOTALL)

OPPOSITES = tuple(frozenset(pair.split("/")) for pair in table_words("rivals", "opposites"))
"""Words that exclude each other in equal sentences."""

OPPOSED = frozenset().union(*OPPOSITES)
ADDITIVE = re.compile(
    r"\b(?:supports?|includ\w+|has|have|provid\w+|handles?|adds?|added|offers?|contains?|tests?|shows?|"
    r"displays?|accepts?|toggles?|switch\w*|both|either|can|may|options?|or)\b",
    re.IGNORECASE,
)
NEGATOR = re.compile(
    r"\b(?:does not|do not|did not|is not|are not|was not|must not|should not|can not|will not|cannot|not|"
    r"never|no longer|doesn['’]t|don['’]t|isn['’]t|aren['’]t|can['’]t|won['’]t|shouldn['’]t|mustn['’]t|"
    r"avoids?|stop(?:s|ped)? (?=\w+ing)|stopped)\b",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\b(?:need(?:s|ed)? to|needs?|should|todo|to do|to be|plan(?:s|ned)?|will|would|could|may|might|if|when|"
    r"unless|until|previous(?:ly)?|former(?:ly)?|was|were|had|used to|initial(?:ly)?|original(?:ly)?|"
    r"old|legacy|instead of|rather than|example|e\.g\.|fixed|issue|bug|error|failed|problem|except)\b",
    re.IGNORECASE,
)
"""A text that says this speaks of a plan, a condition, the past or a fault, not of what holds now."""

INTENDED = re.compile(
    r"\b(?:needs?|should|todo|plan(?:s|ned|ning)?|will|would|could|may|might|consider|if)\b", re.IGNORECASE
)
"""A change that a text only intends."""

_THING = r"[\"'`‘“]?([\w.+#/@-]+(?: [\w.+#/@-]+){0,2}?)[\"'`’”]?"
_END = r"(?=$|[.,;:()]| (?:for|in|on|with|because|as|since)\b)"
CHANGED = (
    re.compile(
        rf"\b(?:migrat\w+|mov\w+|switch\w+|chang\w+|convert\w+|transition\w+|upgrad\w+|port(?:ed|ing))\b"
        rf"(?: [\w.+#/@-]+){{0,4}}? from {_THING} to {_THING}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\breplac(?:ed|es|ing) {_THING} (?:with|by) {_THING}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_THING} (?:was|is|has been|were) replaced (?:with|by) {_THING}{_END}",
        re.IGNORECASE,
    ),
)
DROPPED = re.compile(
    rf"\b(?:no longer (?:uses?|using|depends on|runs on)|stopped using|stop using|does not use any ?more) "
    rf"{_THING}{_END}",
    re.IGNORECASE,
)
CLAIMS = (
    r"(?:uses?|using|built (?:with|on)|runs? on|running on|hosted on|deployed (?:to|on)|written in|"
    r"powered by|stored in|managed (?:by|with)|depends on|requires?|tested with|tests? with|based on|"
    r"lives? in|works? (?:at|for)|is on)"
)
TASK = re.compile(r"^\W*(?:need(?:s|ed)? to|todo:?|to do:?|still (?:need to|to)|must still)\b", re.IGNORECASE)
WISH = re.compile(r"\b(?:needs to|should|not yet|still to be)\b", re.IGNORECASE)
DONE = re.compile(
    r"^\W*(?:(?:completed|done|successfully|has been|have been|all)\b\W*)*(?:\w+ )?\w+ed\b|^\s*(?:✅|☑|✔)"
)
