"""Splits a memory into statements: sentences, list items, and clauses that a verb opens.

A clause without a subject gets the subject of its sentence, so that each statement can be judged alone:
"Ana is a nurse in Leeds and has two cats." -> ("Ana is a nurse in Leeds", "Ana has two cats.")
"""

from __future__ import annotations

import re

MOST_STATEMENTS = 8
LONGEST_READ = 2_000  # characters: several times the longest memory seen; keeps hostile input cheap

_VERBS = (
    "is|are|was|were|has|have|had|wants?|prefers?|uses?|used|plans?|planned|needs?|will|works?|worked|likes?|loves?|"
    "hates?|dislikes?|lives?|lived|runs?|keeps?|takes?|goes|does|did|can|cannot|must|should|would|gets?|got|"
    "asks?|asked|aims?|started|starts|moved|switched|decided|finished|completed|achieved|focus(?:es|ing)|"
    "build(?:s|ing)|learn(?:s|ing)|consider(?:s|ing)|migrat(?:es|ed|ing)|never|always|no longer|now|currently"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(`])|[\r\n]+|;\s+")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e|approx|incl)|\b[A-Z])\.$")
_CLAUSE = re.compile(
    rf",\s+(?:and|but|while|whereas|although|so)\s+|\s+(?:and|but)\s+(?=(?:{_VERBS})\b)|,\s+(?=(?:{_VERBS})\b)"
)
_STARTS_WITH_VERB = re.compile(rf"(?:{_VERBS})\b")
_SUBJECT = re.compile(r"(?:The user|User|[A-Z][\w-]+|I|We|She|He|They)\b(?!['’])")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a memory in their order, at most `MOST_STATEMENTS`; the whole text if it has none."""
    statements: list[str] = []
    for sentence in _sentences(text[:LONGEST_READ]):
        statements.extend(_clauses(sentence))
    kept = [statement for statement in statements if any(char.isalnum() for char in statement)]
    return tuple(kept[:MOST_STATEMENTS]) or (text[:LONGEST_READ],)


def _sentences(text: str) -> list[str]:
    whole: list[str] = []
    for part in _SENTENCE.split(text):
        piece = _BULLET.sub("", part).strip()
        if whole and _ABBREVIATION.search(whole[-1]):
            whole[-1] = f"{whole[-1]} {piece}"
        elif piece:
            whole.append(piece)
    return whole


def _clauses(sentence: str) -> list[str]:
    subject = _SUBJECT.match(sentence)
    clauses: list[str] = []
    for part in _CLAUSE.split(sentence):
        piece = part.strip(" ,")
        if clauses and len(piece.split()) < 2:
            clauses[-1] = f"{clauses[-1]}, {piece}"
        elif clauses and subject and _STARTS_WITH_VERB.match(piece):
            clauses.append(f"{subject.group()} {piece}")
        elif piece:
            clauses.append(piece)
    return clauses
