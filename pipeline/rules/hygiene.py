"""Junk: stored texts that are no memories (secrets, echoes, chatter, heartbeats, raw output, greetings).

An extractor that stores every message leaves these behind. Each class is recognised by the whole
text, never by a word in it: "The cron job runs at 2:00" is a fact, "Cron job done, nothing to report" is
none. What quotes a rule ("System prompt: answer in French") is a fact, too. Whatever is not recognised stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ...models.words import exact_key
from ...records import Memory, Scope
from ...settings import Settings
from ..actions import Member, Prune
from ..answers import prune_key
from ..judging.subjects import NO_KEYS, KeysOf, signature
from .junk_words import CHATTER, GREETINGS, HEARTBEATS, PROMPT_EXAMPLES, PROMPTS, RECALLED
from .raw_output import is_raw_output
from .stale import age_of

ECHOES = 10
"""A statement that stands so often came back from the memory itself; people repeat a fact two or three times.
In 283 invented stores and three labelled ones no fact stands more than twice in equal words."""

LONGEST = 200
"""Characters of a sentence that is compared: a longer one says something."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


class Junk(StrEnum):
    """A class of texts that are no memories."""

    SECRET = "secret"  # noqa: S105  (the name of a class)
    ECHO = "echo"
    CHATTER = "chatter"
    HEARTBEAT = "heartbeat"
    TOOL_OUTPUT = "tool-output"
    GREETING = "greeting"


@dataclass(frozen=True, slots=True)
class Finding:
    """A stored text that is no memory.

    Attributes:
        memory: As read.
        junk: Its class.
        detail: Why, in a few words; holds no secret.
        certain: Whether it may go without a person looking at it.
        shown: The text as it may be shown; None if it may be shown as it is.
    """

    memory: Memory
    junk: Junk
    detail: str
    certain: bool = True
    shown: str | None = None


def find_junk(
    memories: Sequence[Memory], classes: Collection[str], *, keys: KeysOf | None = None
) -> tuple[Finding, ...]:
    """Find the junk among the living memories, sorted by id; pinned ones are never listed.

    Args:
        memories: The living memories of any scopes.
        classes: What to look for.
        keys: What the metadata keys of each scope mean: equal words about two subjects are no echo.

    Raises:
        MissingExtraError: If secrets are looked for and the detectors are not installed.
    """
    loose = sorted((memory for memory in memories if not memory.pinned), key=lambda memory: memory.id)
    findings: dict[str, Finding] = {}
    for junk, look in _LOOKS.items():
        if junk in classes:
            for memory in loose:
                if memory.id not in findings and (finding := look(memory)) is not None:
                    findings[memory.id] = finding
    if Junk.ECHO in classes:
        for finding in _echoes([memory for memory in memories if memory.id not in findings], keys or {}):
            findings[finding.memory.id] = finding
    return tuple(findings[memory_id] for memory_id in sorted(findings))


def prunes_of(
    findings: Iterable[Finding], *, now: datetime, unattended: bool, refused: Collection[str]
) -> tuple[Prune, ...]:
    """The findings as actions.

    Args:
        findings: What `find_junk` gave.
        now: The moment ages are reckoned from.
        unattended: No person sees the plan: only what is certain.
        refused: Keys of the removals that a person does not want.
    """
    return tuple(
        Prune(
            id="",
            scope=item.memory.scope,
            category=item.memory.category,
            members=(_member(item),),
            reason=item.junk.value,
            age_days=None if (age := age_of(item.memory, now=now)) is None else age.days,
            detail=item.detail,
        )
        for item in findings
        if prune_key(item.memory) not in refused and (item.certain or not unattended)
    )


def without_junk(
    memories: Iterable[Memory], findings: Iterable[Finding], pruned: Iterable[Prune]
) -> list[Memory]:
    """The memories to judge: without those proposed to go, and without secrets, which a report would show.

    An echo that stays is left to the merges, which lose nothing of what they unite.
    """
    out = {item.memory.id for item in findings if item.junk is Junk.SECRET}
    out |= {member.id for prune in pruned for member in prune.members}
    return [memory for memory in memories if memory.id not in out]


def shown_text(text: str, settings: Settings) -> str:
    """A text as it may be shown: where secrets are looked for at all, each as its kind.

    >>> shown_text("Likes tea", Settings())
    'Likes tea'
    """
    if Junk.SECRET not in (*settings.hygiene, *settings.hygiene_auto):
        return text
    from ...models.secrets import find_secrets, masked

    return masked(text, find_secrets(text))


def _member(finding: Finding) -> Member:
    member = Member.of(finding.memory)
    return member if finding.shown is None else member.shown_as(finding.shown)


def _secret(memory: Memory) -> Finding | None:
    from ...models.secrets import find_secrets, kinds_of, masked

    secrets = find_secrets(memory.text)
    if not secrets:
        return None
    certain = any(secret.certain for secret in secrets)
    return Finding(
        memory, Junk.SECRET, f"holds a secret: {kinds_of(secrets)}", certain, masked(memory.text, secrets)
    )


def _chatter(memory: Memory) -> Finding | None:
    if PROMPTS.search(memory.text):
        return Finding(memory, Junk.CHATTER, "repeats the instructions of an assistant")
    if _all_sentences(memory.text, lambda each: bool(CHATTER.fullmatch(each) or GREETINGS.fullmatch(each))):
        return _said(memory, Junk.CHATTER, "says what assistants say, and nothing else", GREETINGS)
    return None


def _heartbeat(memory: Memory) -> Finding | None:
    if _all_sentences(memory.text, lambda each: bool(HEARTBEATS.fullmatch(each))):
        return Finding(memory, Junk.HEARTBEAT, "a sign of life or a report of nothing")
    return None


def _tool_output(memory: Memory) -> Finding | None:
    kind = is_raw_output(memory.text)
    return Finding(memory, Junk.TOOL_OUTPUT, f"raw output: {kind}") if kind else None


def _greeting(memory: Memory) -> Finding | None:
    if _all_sentences(memory.text, lambda each: bool(GREETINGS.fullmatch(each))):
        return Finding(memory, Junk.GREETING, "a greeting or thanks, and nothing else")
    return None


def _said(memory: Memory, junk: Junk, detail: str, others: re.Pattern[str]) -> Finding | None:
    """A finding, unless every sentence belongs to another class."""
    if _all_sentences(memory.text, lambda each: bool(others.fullmatch(each))):
        return None
    return Finding(memory, junk, detail)


def _all_sentences(text: str, is_junk: Callable[[str], bool]) -> bool:
    """Whether a text is made of nothing else."""
    sentences = [each.strip(" \t\r\n\"'“”*_-") for each in _SENTENCE.split(text.strip())]
    return any(sentences) and all(len(each) <= LONGEST and is_junk(each) for each in sentences if each)


def _echoes(memories: Sequence[Memory], keys: KeysOf) -> list[Finding]:
    """What came back from the memory itself; none of it is certain: a fact may be stated often."""
    echoes: dict[str, Finding] = {}
    for memory in memories:
        if memory.pinned:
            continue
        if RECALLED.search(memory.text):
            echoes[memory.id] = Finding(
                memory, Junk.ECHO, "quotes what was recalled from memory", certain=False
            )
        elif exact_key(memory.text) in PROMPT_EXAMPLES:
            detail = "an example of mem0's own extraction prompt, word for word"
            echoes[memory.id] = Finding(memory, Junk.ECHO, detail, certain=False)
    groups: dict[tuple[Scope, object, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.id not in echoes:
            meaning = keys.get(memory.scope, NO_KEYS)
            groups[memory.scope, signature(memory, meaning), exact_key(memory.text)].append(memory)
    for group in groups.values():
        if len(group) >= ECHOES:
            stays = max(group, key=lambda each: (each.pinned, str(each.stated_at or ""), each.id))
            detail = f"stands {len(group)} times in equal words; one of them stays"
            echoes |= {
                each.id: Finding(each, Junk.ECHO, detail, certain=False)
                for each in group
                if each is not stays and not each.pinned
            }
    return list(echoes.values())


_LOOKS: dict[Junk, Callable[[Memory], Finding | None]] = {
    Junk.SECRET: _secret,
    Junk.TOOL_OUTPUT: _tool_output,
    Junk.HEARTBEAT: _heartbeat,
    Junk.CHATTER: _chatter,
    Junk.GREETING: _greeting,
}
"""In the order in which a memory that is of two classes is named."""
