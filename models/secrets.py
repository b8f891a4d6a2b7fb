"""Keys, tokens and passwords inside a text, and the text without them.

The detectors of detect-secrets recognise them. Left out are the detectors that call a public address or
any random-looking string a secret: a commit hash is none, and memories name commits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

_NO_SECRETS = frozenset({"Base64 High Entropy String", "Hex High Entropy String", "Public IP (ipv4)"})
_PRIVATE_KEY = "Private Key"
_BY_NAME = "Secret Keyword"
"""A value behind a word such as password: likely a secret, but somebody may want it remembered."""
_FORMS = {
    "OpenAI Key": r"sk-(?:proj|svcacct|admin)-[\w-]{20,}",
    "Anthropic Key": r"sk-ant-[\w-]{20,}",
    "Google API Key": r"AIza[\w-]{35}",
    "GitHub Token": r"github_pat_\w{20,}",
    "Hugging Face Token": r"hf_[A-Za-z0-9]{20,}",
    "Groq Key": r"gsk_[A-Za-z0-9]{20,}",
    "mem0 Key": r"m0-[A-Za-z0-9]{20,}",
    _BY_NAME: r"(?:password|passcode) (?:for|of) [^.:\n]{2,40}?(?: is|:) (?=\S*\d)(?P<value>\S{4,})",
}
"""Keys by their prefix that detect-secrets does not know, and a password that is told in a sentence."""
_TOLD = tuple((kind, re.compile(rf"(?<![\w-]){form}", re.IGNORECASE)) for kind, form in _FORMS.items())
_WORD = re.compile(r"\S+")
_KEY_BLOCK = re.compile(r"-*BEGIN\b.*?(?:-----END [^-]*-----|\Z)", re.DOTALL)
_LONG_AND_MIXED = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{16,}")
"""Beside one secret there may be its other half, which no detector knows by its look."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text.

    Attributes:
        kind: What it is, such as "GitHub Token".
        value: The part of the text by which it was recognised; never to be printed.
        certain: Recognised by its own form, and not by the word before it.
    """

    kind: str
    value: str
    certain: bool


def find_secrets(text: str) -> tuple[Secret, ...]:
    """All secrets of a text, in the order of their lines.

    Raises:
        MissingExtraError: If the detectors are not installed.
    """
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
        text = _KEY_BLOCK.sub(f"[{_PRIVATE_KEY}]", text)

    def cover(word: re.Match[str]) -> str:
        held = (s.kind for s in secrets if any(piece in word[0] for piece in s.value.split()))
        kind = next(held, None)
        if kind is None and _LONG_AND_MIXED.fullmatch(word[0]):
            kind = "secret"
        return word[0] if kind is None else f"[{kind}]"

    kinds = {f"[{secret.kind}]" for secret in secrets}
    parts = re.split("(" + "|".join(map(re.escape, sorted(kinds))) + ")", text)
    return "".join(part if part in kinds else _WORD.sub(cover, part) for part in parts)


def kinds_of(secrets: Iterable[Secret]) -> str:
    """What was found, without repeating it."""
    return ", ".join(dict.fromkeys(secret.kind for secret in secrets))


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
