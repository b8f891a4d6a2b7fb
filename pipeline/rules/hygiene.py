"""Stored texts that are no memories: secrets, echoes, chatter, heartbeats, raw output, greetings, poison.

An extractor that stores every message leaves these behind. Each class is recognised by the whole
text, never by a word in it: "The cron job runs at 2:00" is a fact, "Cron job done, nothing to report" is
none. What quotes a rule ("System prompt: answer in French") is a fact, too. A memory may hold an object or
quote a command on purpose, so one sign of raw output is never enough. Whatever is not recognised stays.

The patterns are data: `junk` among the word tables. Keys, tokens and passwords are recognised by the
detectors of detect-secrets, without those that call a public address or any random-looking string a secret: a
commit hash is none, and memories name commits.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...errors import MissingExtraError
from ...models.text.reading import from_json
from ...models.text.tables import expression, pattern, spelled_out, table_lines, table_pairs, table_words
from ...models.text.words import exact_key
from ...records import Memory, Scope
from ...settings import Settings
from ..answers import prune_key
from ..judging.subjects import NO_KEYS, KeysOf, signature
from ..plan import Prune
from .stale import prune_of

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

_NO_SECRETS = frozenset({"Base64 High Entropy String", "Hex High Entropy String", "Public IP (ipv4)"})
_PRIVATE_KEY = "Private Key"
_BY_NAME = "Secret Keyword"
"""A value behind a word such as password: likely a secret, but somebody may want it remembered."""
_TOLD = tuple(
    (kind, re.compile(rf"(?<![\w-]){form}", re.IGNORECASE))
    for kind, form in table_pairs("junk", "secrets").items()
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text."""

    kind: str  # what it is, such as "GitHub Token"
    value: str  # the part of the text by which it was recognised; never to be printed
    certain: bool  # recognised by its own form, and not by the word before it


def find_secrets(text: str) -> tuple[Secret, ...]:
    """All secrets of a text, in the order of their lines; MissingExtraError without the detectors."""
    secrets: dict[Secret, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for kind, detector in _detectors():
            for hit in detector.analyze_line(filename="memory.txt", line=line, line_number=number):
                value = str(hit.secret_value or "").strip()
                if value and not _is_placeholder(kind, value):
                    secrets[Secret(kind, value, certain=kind != _BY_NAME)] = None
        for kind, form in _TOLD:
            for match in form.finditer(line):
                value = match.groupdict().get("value") or match[0]
                secrets[Secret(kind, value.rstrip(".,;"), certain=kind != _BY_NAME)] = None
    return tuple(secrets)


def masked(text: str, secrets: Sequence[Secret]) -> str:
    """The text with each secret replaced by its kind.

    A detector may know a secret by its beginning, so the whole word goes; so does any other long
    word of letters and digits, and of a private key everything down to its end.

    >>> masked("The token ghp_0123 is for CI.", [Secret("GitHub Token", "ghp", certain=True)])
    'The token [GitHub Token] is for CI.'
    """
    if not secrets:
        return text
    if any(secret.kind == _PRIVATE_KEY for secret in secrets):
        text = pattern("key_block").sub(f"[{_PRIVATE_KEY}]", text)

    def cover(word: re.Match[str]) -> str:
        held = (s.kind for s in secrets if any(piece in word[0] for piece in s.value.split()))
        kind = next(held, "secret" if pattern("long_and_mixed").fullmatch(word[0]) else None)
        return word[0] if kind is None else f"[{kind}]"

    kinds = {f"[{secret.kind}]" for secret in secrets}
    parts = re.split("(" + "|".join(map(re.escape, sorted(kinds))) + ")", text)
    return "".join(part if part in kinds else pattern("unspaced").sub(cover, part) for part in parts)


def _is_placeholder(kind: str, value: str) -> bool:
    """Whether a value only stands for a secret, or is a word in capitals."""
    from detect_secrets.filters import heuristic

    if kind == "Artifactory Credentials" and not any(char.isdigit() for char in value):
        return True
    return kind == _BY_NAME and (
        heuristic.is_templated_secret(value)
        or heuristic.is_prefixed_with_dollar_sign(value)
        or heuristic.is_not_alphanumeric_string(value)
    )


@functools.cache
def _detectors() -> tuple[tuple[str, Any], ...]:
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError:
        raise MissingExtraError(
            "Looking for secrets needs the extra 'hygiene': pip install 'mem0-dream[hygiene]'. "
            "The other classes need nothing: --hygiene echo,chatter,heartbeat,tool-output,greeting,injection."
        ) from None
    plugins: dict[str, type[BasePlugin]] = get_mapping_from_secret_type_to_class()
    return tuple((kind, plugins[kind]()) for kind in sorted(plugins) if kind not in _NO_SECRETS)


_FEW = 2  # words cut by characters nobody sees are no accident of copying
_LINES = "|".join(line.replace(" ", r"\s{1,8}") for line in table_lines("junk", "orders"))  # any white space
_ORDERS = re.compile(rf"{spelled_out('clause_begins')}(?:{_LINES})", re.IGNORECASE)
_MARKS, _ABOUT = expression("junk", "template_marks"), expression("junk", "about_orders")


def injected(text: str) -> str:
    """Why a text is an order to its reader, or hides one, in a few words; empty if it is neither."""
    if _hidden(text):
        return "characters that nobody sees"
    visible = pattern("invisible").sub("", unicodedata.normalize("NFKC", text))
    plain = pattern("any_quotation").sub(" … ", visible)
    if _MARKS.search(plain):
        return "marks of a chat template"
    return "an instruction to its reader" if _ORDERS.search(plain) and not _ABOUT.search(plain) else ""


def _hidden(text: str) -> bool:
    """Whether characters that no reader sees turn words round, cut them, or spell something."""
    text = pattern("flag_of_region").sub("", text)
    if pattern("spelt_unseen").search(text) or len(pattern("cut_unseen").findall(text)) >= _FEW:
        return True
    leftward = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    return bool(pattern("turned_round").search(text)) and not leftward


ECHOES = 10
"""A statement that stands so often came back from the memory itself; people repeat a fact two or three times.
In 283 invented stores and three labelled ones no fact stands more than twice in equal words."""

LONGEST = 200  # characters of a sentence that is compared: a longer one says something
_FEWEST_LINES = 3  # fewer lines of a log are a quotation
_MOST = 0.75  # so many of the lines must look like a log


def _any_of(key: str) -> str:
    """The patterns of a list in the table as one; `<name>` stands for another list."""
    part = "|".join(table_lines("junk", key))
    return re.sub("<(who|moment|nothing|quiet)>", lambda name: f"(?:{_any_of(name[1])})", part)


def _whole(key: str) -> re.Pattern[str]:
    """Matches whole sentences; a space stands for any white space, in a class of characters for itself."""
    spaced = {" ": r"\s{1,8}", " ?": r"\s{0,8}"}
    part = re.sub(r"\[[^\]]*\]| \?| ", lambda at: spaced.get(at[0], at[0]), _any_of(key))
    return re.compile(rf"(?:{part}){spelled_out('end_of_said')}", re.IGNORECASE)


def _opening(key: str, before: str) -> re.Pattern[str]:
    return re.compile(rf"\A{before}(?:{_any_of(key)})", re.IGNORECASE)


_GREETINGS, _CHATTER, _HEARTBEATS = _whole("greetings"), _whole("chatter"), _whole("heartbeats")
_PROMPTS, _RECALLED = _opening("prompts", r"\W{0,40}"), _opening("recalled", r"\W{0,40}")
_MARKED = _opening("marked", r"\s{0,40}")
_TRACE, _PATCH = re.compile(_any_of("traces"), re.MULTILINE), re.compile(_any_of("patches"), re.MULTILINE)
_LOG_LINE = re.compile(_any_of("log_lines"))
_ANSWER_KEYS = frozenset(table_words("junk", "answer_keys"))
_PROMPT_EXAMPLES = frozenset(map(exact_key, table_lines("examples", "mem0")))
"""Answers in the examples of mem0's extraction prompts (mem0ai 2.2.1), which small models store as facts."""


class Junk(StrEnum):
    """A class of texts that are no memories."""

    SECRET = "secret"  # noqa: S105  (the name of a class)
    ECHO = "echo"
    CHATTER = "chatter"
    HEARTBEAT = "heartbeat"
    TOOL_OUTPUT = "tool-output"
    GREETING = "greeting"
    INJECTION = "injection"


@dataclass(frozen=True, slots=True)
class Finding:
    """A stored text that is no memory; `shown` is the text as it may be shown, None if as it is."""

    memory: Memory
    junk: Junk
    detail: str
    certain: bool = True
    shown: str | None = None


def find_junk(
    memories: Sequence[Memory], classes: Collection[str], *, keys: KeysOf | None = None
) -> tuple[Finding, ...]:
    """Find the junk of these classes among the living memories, sorted by id; pinned ones are never listed.

    Equal words about two subjects, as the metadata keys say, are no echo.
    """
    loose = sorted((memory for memory in memories if not memory.pinned), key=lambda memory: memory.id)
    findings: dict[str, Finding] = {}
    for memory in loose if Junk.SECRET in classes else ():
        if secrets := find_secrets(memory.text):
            kinds, certain = dict.fromkeys(each.kind for each in secrets), any(s.certain for s in secrets)
            detail, shown = f"holds a secret: {', '.join(kinds)}", masked(memory.text, secrets)
            findings[memory.id] = Finding(memory, Junk.SECRET, detail, certain, shown)
    for junk, look in _LOOKS.items():
        for memory in loose if junk in classes else ():
            if memory.id not in findings and (why := look(memory.text)):
                # a person looks at what tries to give orders
                findings[memory.id] = Finding(memory, junk, str(why), certain=junk is not Junk.INJECTION)
    if Junk.ECHO in classes:
        findings |= _echoes([memory for memory in memories if memory.id not in findings], keys or {})
    return tuple(findings[memory_id] for memory_id in sorted(findings))


def prunes_of(
    findings: Iterable[Finding], *, now: datetime, unattended: bool, refused: Collection[str]
) -> tuple[Prune, ...]:
    """The findings as actions, but for removals a person refused; unattended only what is certain."""
    prunes = []
    for item in findings:
        if prune_key(item.memory) not in refused and (item.certain or not unattended):
            prune = prune_of(item.memory, item.junk.value, item.detail, now=now)
            if item.shown is not None:
                prune = replace(prune, members=(prune.members[0].shown_as(item.shown),))
            prunes.append(prune)
    return tuple(prunes)


def shown_text(text: str, settings: Settings) -> str:
    """A text as it may be shown: where secrets are looked for at all, each as its kind."""
    if Junk.SECRET not in (*settings.hygiene, *settings.hygiene_auto):
        return text
    return masked(text, find_secrets(text))


def _made_of(text: str, *patterns: re.Pattern[str]) -> bool:
    sentences = [each.strip(" \t\r\n\"'“”*_-") for each in pattern("between_sentences").split(text.strip())]
    said = [each for each in sentences if each]
    return bool(said) and all(
        len(each) <= LONGEST and any(pattern.fullmatch(each) for pattern in patterns) for each in said
    )


def is_raw_output(text: str) -> str:
    """What kind of raw output a text is, in two or three words; empty if it is none."""
    plain = text.strip()
    if _is_answer(plain):
        return "a tool's answer"
    if _MARKED.search(plain):
        return "marked as output"
    if _TRACE.search(plain):
        return "a stack trace"
    if _PATCH.search(plain) and plain.count("\n") >= _FEWEST_LINES:
        return "a patch"
    lines = [line for line in plain.splitlines() if line.strip()]
    matching = sum(bool(_LOG_LINE.search(line)) for line in lines)
    return "lines of a log" if len(lines) >= _FEWEST_LINES and matching >= _MOST * len(lines) else ""


def _is_answer(text: str) -> bool:
    if not text.startswith(("{", "[")):
        return False
    try:
        value: Any = from_json(text)
    except ValueError:
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, Mapping) and len(_ANSWER_KEYS & {str(key).lower() for key in first}) >= 2


def _echoes(memories: Sequence[Memory], keys: KeysOf) -> dict[str, Finding]:
    """What came back from the memory itself; none of it is certain: a fact may be stated often."""
    why: dict[str, str] = {}
    groups: dict[tuple[Scope, object, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        said = exact_key(memory.text)
        if _RECALLED.search(memory.text) and not memory.pinned:
            why[memory.id] = "quotes what was recalled from memory"
        elif said in _PROMPT_EXAMPLES and not memory.pinned:
            why[memory.id] = "an example of mem0's own extraction prompt, word for word"
        else:
            meaning = keys.get(memory.scope, NO_KEYS)
            groups[memory.scope, signature(memory, meaning), said].append(memory)
    for group in groups.values():
        if len(group) >= ECHOES:
            stays = max(group, key=lambda each: (each.pinned, str(each.stated_at or ""), each.id))
            detail = f"stands {len(group)} times in equal words; one of them stays"
            why |= {each.id: detail for each in group if each is not stays and not each.pinned}
    return {
        memory.id: Finding(memory, Junk.ECHO, why[memory.id], certain=False)
        for memory in memories
        if memory.id in why
    }


_CHATS = "says what assistants say, and nothing else"
_LOOKS: dict[Junk, Callable[[str], str | bool]] = {
    Junk.INJECTION: injected,
    Junk.TOOL_OUTPUT: lambda text: f"raw output: {kind}" if (kind := is_raw_output(text)) else "",
    Junk.HEARTBEAT: lambda text: _made_of(text, _HEARTBEATS) and "a sign of life or a report of nothing",
    Junk.CHATTER: lambda text: (
        (_PROMPTS.search(text) and "repeats the instructions of an assistant")
        or (not _made_of(text, _GREETINGS) and _made_of(text, _GREETINGS, _CHATTER) and _CHATS)
        or ""
    ),
    Junk.GREETING: lambda text: _made_of(text, _GREETINGS) and "a greeting or thanks, and nothing else",
}
"""Why a text is of a class, in the order in which a memory that is of two classes is named."""
