"""Words that say nothing by themselves: a memory of such words alone is vague.

"Fixed bug" consists of such words alone and is vague; "Uses vim" holds one that is not among them
and stays. The lists, and what each is for, stand in `tables/generic.toml`.
"""

from __future__ import annotations

from .word_tables import table_words


def _words(key: str) -> frozenset[str]:
    return frozenset(table_words("generic", key))


FILLERS = _words("fillers")
JUDGEMENTS = _words("judgements")
DOINGS = _words("doings")
NOUNS = _words("nouns")
HALF_EMPTY = _words("half_empty")
TASTES = _words("tastes")
CHANGES = _words("changes")
NOISE = _words("noise")
PAST_EVENTS = _words("past_events")
RULE_WORDS = _words("rule_words")
ORDERS = _words("orders")
NO_ORDER = _words("no_order")
EMPTY_AFTER_NO = _words("empty_after_no")
GENERIC = FILLERS | JUDGEMENTS | DOINGS | NOUNS
"""All words of which a text can be made without saying anything."""

EMPTY_VALUES = FILLERS | JUDGEMENTS | NOISE
"""What an attribute may be without having a value: "Status: done"."""
