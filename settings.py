"""Settings: what a user may tune, with unit, default and origin.

They are read from the `mem0_dream:` section of the configuration file or given on the command line.
An unknown key is an error, because a misspelt limit must not silently fall back to its default.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import ConfigError

T = TypeVar("T")
_DURATION = re.compile(r"(\d{1,9})\s?(h|d|w|y|hours?|days?|weeks?|years?)?$", re.IGNORECASE)
_HOURS_PER_UNIT = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_LONGEST = timedelta(days=36_500)


def parse_days(value: Any) -> timedelta:  # noqa: ANN401  (pydantic hands over whatever the file held)
    """Read a number of days, or a text such as "90d", "12 weeks", "2y"; `ValueError` if it is neither."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.match(" ".join(str(value).split()))
    if match is None or (match[2] or "d")[0].lower() == "h":
        raise ValueError(f"{value!r} is no duration; write days as 90 or 90d, weeks as 12w, years as 2y")
    return _lasting(match)


def _lasting(match: re.Match[str]) -> timedelta:
    hours = int(match[1]) * _HOURS_PER_UNIT[(match[2] or "d")[0].lower()]
    if hours > _LONGEST // timedelta(hours=1):
        raise ValueError(f"{match[0]!r} is too long; write at most 100 years")
    return timedelta(hours=hours)


def parse_hours(value: Any) -> timedelta:  # noqa: ANN401
    """Read a duration as `parse_days` does, or in hours: "24h"."""
    match = None if isinstance(value, timedelta) else _DURATION.match(" ".join(str(value).split()))
    return _lasting(match) if match else parse_days(value)


Hours = Annotated[timedelta, BeforeValidator(parse_hours)]
Days = Annotated[timedelta, BeforeValidator(parse_days)]


def check_opinion(value: Any) -> bool | str:  # noqa: ANN401
    """Accept true, false, or openai:MODEL@URL.

    `ValueError` if it is anything else; the value is not repeated, since an address may hold a password.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.startswith("openai:") and "@http" in value:
        return value
    raise ValueError("write true for the model of mem0's own configuration, or openai:MODEL@URL")


HYGIENE = ("secret", "echo", "chatter", "heartbeat", "tool-output", "greeting", "injection")
"""Classes of junk, texts that are no memories; see `pipeline.rules.hygiene`."""


def check_classes(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Accept true or "all", false, or classes of hygiene, listed or with commas; else `ValueError`."""
    if isinstance(value, bool):
        return HYGIENE if value else ()
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        raise ValueError(  # noqa: TRY004  (pydantic reports this one)
            f"write true, or classes of {', '.join(HYGIENE)}"
        )
    names = [str(name).strip().lower().replace("_", "-") for name in given]
    if names == ["all"]:
        return HYGIENE
    plain = {name: known for known in HYGIENE for name in (known, f"{known}s", f"{known}es")}
    unknown = next((name for name in names if name not in plain), None)
    if unknown is not None:
        raise ValueError(f"{unknown!r} is no class; they are {', '.join(HYGIENE)}, or all")
    return tuple(dict.fromkeys(plain[name] for name in names))


Classes = Annotated[tuple[str, ...], BeforeValidator(check_classes)]


class Settings(BaseModel):
    """All limits of one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stale_after: Days = timedelta(days=180)  # age from which an unread memory counts as stale
    access_window: Days = timedelta(days=180)  # a memory read within this time is never stale
    # fewer meaningful words than this, and nothing specific, is vague
    min_words: int = Field(default=5, ge=0, le=50)
    retention: dict[str, Days] = Field(default_factory=dict)  # per category, another `stale_after`
    # largest share of a scope that one run may remove, exact duplicates not counted
    max_delete: float = Field(default=0.30, ge=0, le=1)
    # removals of so few memories never trip the budget, so that tiny scopes work
    min_delete: int = Field(default=3, ge=0)
    floor: float = Field(default=0.10, ge=-1, le=1)  # lowest cosine at which a pair is judged at all
    neighbours: int = Field(default=50, ge=1)  # how many neighbours of each memory are judged
    # further metadata keys that name what a memory is about; see `pipeline.judging.subjects`
    subject_keys: tuple[str, ...] = ()
    provenance_keys: tuple[str, ...] = ()  # further metadata keys that say where a memory comes from
    # attributes that have one value at a time, such as "home" or "deploy target": two values are a conflict
    single: tuple[str, ...] = ()
    scorer: str = "bundled"  # which pair scorer judges: "bundled", "keywords", "nli:MODEL"
    encoder: str | None = None  # path or name of a sentence-transformers model; None is the packaged MiniLM
    # processes that judge scopes ahead of the pass, one thread each; 1 is the pass alone
    workers: int = Field(default=1, ge=1)
    # "local" for processes of this machine, "ray" for the workers of a Ray cluster
    engine: Literal["local", "ray"] = "local"
    address: str | None = None  # where that cluster is; None starts one on this machine
    # ask a language model about unsure pairs: mem0's own (true), or openai:MODEL@URL
    second_opinion: Annotated[bool | str, BeforeValidator(check_opinion)] = False
    # pairs that one run asks about at most; each costs one call
    second_opinion_limit: int = Field(default=50, ge=0)
    second_opinion_timeout: float = Field(default=60, gt=0)  # seconds for one answer
    second_opinion_auto: bool = False  # an unattended run merges what the model calls duplicates, too
    assume_unread: bool = False  # an unattended run takes what is not on record as unread
    # with --if-due: so long after the last unattended run nothing happens
    due_after: Hours = timedelta(hours=24)
    due_new: int = Field(default=20, ge=0)  # with --if-due: nor while fewer memories than this are new
    # questions asked before and after a plan, so that nothing that stays becomes hard to find; None asks
    # `UNATTENDED_QUESTIONS` in an unattended run, 0 none
    recall_check: int | None = Field(default=None, ge=0)
    hygiene: Classes = ()  # classes of junk that are proposed to go in an attended run
    hygiene_auto: Classes = ()  # classes that an unattended run removes, too


def read_settings(section: Mapping[str, Any]) -> Settings:
    """Check the `mem0_dream:` section; a `ConfigError` names the key that is unknown or has a wrong value."""
    return checked(Settings, section, "mem0_dream")


def checked(model: type[T], section: Any, place: str) -> T:  # noqa: ANN401  (whatever the file held)
    """A section of a configuration, called `place`, as a model or dataclass whose fields are the known keys.

    Raises:
        ConfigError: In one plain sentence, with the key that was meant if one is near.
    """
    known = [*getattr(model, "__dataclass_fields__", ()), *getattr(model, "model_fields", ())]
    if not isinstance(section, Mapping):
        raise ConfigError(f"The section {place} is no list of settings; it knows {', '.join(known)}.")
    unknown = next((str(key) for key in section if key not in known), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, known, n=1)
        told = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise ConfigError(f"There is no setting {place}.{unknown}; {told}")
    try:
        return TypeAdapter(model).validate_python(dict(section))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join((place, *(str(part) for part in first["loc"])))
        said = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"The setting {key} is wrong: {said[:1].lower()}{said[1:]}.") from None
