"""Cuts a text into sentences, clauses, and statements: sentences, list items and clauses that a verb opens.

A clause without a subject gets the subject of its sentence, so that each statement can be judged alone:
"Ana is a nurse in Leeds and has two cats." -> ("Ana is a nurse in Leeds", "Ana has two cats.")
"""

from __future__ import annotations

import re

from .tables import pattern

MOST_STATEMENTS = 8
LONGEST_READ = 2_000  # characters: several times the longest memory seen; keeps hostile input cheap


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a memory in their order, at most `MOST_STATEMENTS`; the whole text if it has none."""
    statements: list[str] = []
    for sentence in sentences(text[:LONGEST_READ]):
        for part in re.split(r";\s+", pattern("bullet").sub("", sentence)):
            statements.extend(_verb_clauses(part.strip()))
    kept = [statement for statement in statements if any(char.isalnum() for char in statement)]
    return tuple(kept[:MOST_STATEMENTS]) or (text[:LONGEST_READ],)


def sentences(text: str) -> list[str]:
    """Cut a text at sentence ends and line breaks.

    Never inside code, quotes or brackets, nor after an abbreviation or before a lower-case letter. Where a
    quote is left open only line breaks count.
    """
    if text.count('"') % 2 or text.count("`") % 2:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return _cut(text, "sentence_end", keep_mark=True)


def clauses(sentence: str) -> list[str]:
    """Cut a sentence at semicolons and before ", and" with a subject of its own, never inside a quotation."""
    return _cut(sentence, "clause_break", keep_mark=False)


def _cut(text: str, boundary: str, *, keep_mark: bool) -> list[str]:
    protected = [match.span() for match in pattern("protected").finditer(text)]
    pieces: list[str] = []
    start = 0
    for match in pattern(boundary).finditer(text):
        head = text[start : match.end() if keep_mark else match.start()].strip()
        if any(first < match.start() < last - 1 for first, last in protected):
            continue
        sure = not keep_mark or "\n" in match[0] or match[0][0] in "。！？"
        if not sure and (text[match.end()].islower() or pattern("abbreviation").search(head)):
            continue
        pieces.append(head)
        start = match.end()
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]


def _verb_clauses(sentence: str) -> list[str]:
    subject = pattern("clause_subject").match(sentence)
    clauses: list[str] = []
    for part in pattern("clause_with_verb").split(sentence):
        piece = part.strip(" ,")
        if clauses and len(piece.split()) < 2:
            clauses[-1] = f"{clauses[-1]}, {piece}"
        elif clauses and subject and pattern("clause_verb").match(piece):
            clauses.append(f"{subject.group()} {piece}")
        elif piece:
            clauses.append(piece)
    return clauses
