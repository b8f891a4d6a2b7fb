"""Read mem0's own configuration file, and open the store that it describes.

Opening mem0 is not harmless: it sends telemetry, creates what it does not find and constructs a
language model. Nothing of that is wanted here, so it is prevented before mem0 is imported.
"""

from __future__ import annotations

import difflib
import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from ....errors import ConfigError, DreamError, MissingExtraError, StoreError, StoreLockedError
from ....models.text.reading import from_json, from_yaml
from .backends import describe_place, finish_interrupted_save, require_collection, saving
from .rows import describe
from .store import Mem0Store

OWN_SECTION = "mem0_dream"
_SECTIONS = ("vector_store", "llm", "embedder", "reranker")
_KEYS = (*_SECTIONS, "history_db_path", "version", "custom_instructions", OWN_SECTION)
# Keys of older mem0 configurations, which mem0 2 accepts and ignores.
_LEGACY_KEYS = frozenset(
    {"graph_store", "custom_prompt", "custom_fact_extraction_prompt", "custom_update_memory_prompt"}
)
_VARIABLE = re.compile(r"\$\{(\w{1,200})(?::-([^}]{0,1000}))?\}")
_PATH_KEYS = frozenset({"path", "db_path", "history_db_path"})
_NUMBER_KEYS = ("port", "dims", "dimensions")
_SECRET_KEYS = re.compile(r"key|password|secret|token|credential|connection_string|url", re.IGNORECASE)
_EXTRAS = {"chromadb": "chroma", "psycopg": "pgvector", "pymilvus": "milvus"}
_UNASKED = "mem0-dream"  # provider, in mem0's factories, of the stand-in for models that are never asked


class Unasked:
    """Stands in for mem0's models while it is opened: no key, no client and nothing to import."""

    def __init__(self, _config: object = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Mem0Config:
    """A configuration file, taken apart."""

    mem0: Mapping[str, Any] = field(repr=False)  # what `Memory.from_config` takes; it may hold secrets
    settings: Mapping[str, Any] = field(repr=False)  # the `mem0_dream:` section, still unchecked
    path: str  # the file it came from, for messages


class LazyEmbedder:
    """mem0's own embedder, made when a new text must be embedded; what is stored already has a vector."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._made = cache(make)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made(), name)


def load_config(path: str | Path) -> Mem0Config:
    """Read YAML or JSON, `${VAR}` and `${VAR:-default}` replaced; a `ConfigError` says what is wrong."""
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
        content = from_json(text) if file.suffix == ".json" else from_yaml(text)
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {file}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {type(error).__name__}.") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file} is no valid JSON: line {error.lineno}, column {error.colno}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} {yaml_fault(error)}.") from None
    if not isinstance(content, dict) or not content:
        told = "holds no configuration; it must be a mapping with keys such as vector_store."
        raise ConfigError(f"{file} {told}")
    _check_keys(content, str(file))
    expanded = {str(key): _expanded(value, str(key), file) for key, value in content.items()}
    settings = own_section(expanded, file)
    return Mem0Config(expanded, settings, str(file))


def yaml_fault(error: yaml.YAMLError) -> str:
    """Where a text is no YAML: the error's own words quote the line, which may hold a password."""
    mark = getattr(error, "problem_mark", None)
    told = f": {error}" if str(error).startswith(("it ", "its ", "a value")) else ""  # words of ours alone
    return "is no valid YAML" + (f": line {mark.line + 1}, column {mark.column + 1}" if mark else told)


def own_section(content: dict[str, Any], file: Path) -> dict[str, Any]:
    """Take our own settings, still unchecked, out of a configuration; `ConfigError` if they are none."""
    settings = content.pop(OWN_SECTION, None) or {}
    if not isinstance(settings, dict):
        raise ConfigError(f"{file}: the section {OWN_SECTION} must hold settings such as stale_after: 90d.")
    return settings


def open_mem0(config: Mem0Config | Mapping[str, Any], *, wait_s: float = 0.0) -> Mem0Store:
    """Open the store of a configuration without creating anything, waiting for who holds it.

    `ConfigError` if mem0 rejects it or its collection does not exist, `MissingExtraError` if a client is not
    installed, `StoreLockedError` if another process holds the store, `StoreError` if it does not answer.
    """
    given = config if isinstance(config, Mem0Config) else Mem0Config(config, {}, "The configuration")
    origin, values = given.path, given.mem0
    _check_keys(values, origin)
    # No telemetry and no progress bars unless the user decided so, and of its log only errors.
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logger = logging.getLogger("mem0")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.ERROR)
    checked = _validated(values, origin)
    provider, place = checked.vector_store.provider, checked.vector_store.config
    in_files = provider == "faiss"
    with saving(Path(place.path)) if in_files else nullcontext():
        if in_files:
            finish_interrupted_save(Path(place.path), place.collection_name)
        require_collection(provider, place)
        for attempt in Retrying(
            retry=retry_if_exception_type(StoreLockedError),
            stop=stop_after_delay(wait_s),
            wait=wait_exponential(0.2, max=2),
            reraise=True,
        ):
            with attempt:
                memory = _constructed(checked, origin, _secrets(values))
        return Mem0Store(memory, owned=True, section=given.settings, llm=values.get("llm"))


def _check_keys(content: Mapping[Any, Any], origin: str) -> None:
    _refuse_unknown((key for key in content if key not in _LEGACY_KEYS), _KEYS, f"{origin}: unknown key ")
    for section in _SECTIONS:
        value = content.get(section)
        if not isinstance(value, Mapping | None):
            raise ConfigError(f"{origin}: {section} must hold provider and config.")
        _refuse_unknown(value or (), ("provider", "config"), f"{origin}: unknown key {section}.")


def _refuse_unknown(keys: Iterable[Any], known: Sequence[str], told: str) -> None:
    for key in keys:
        if key not in known:
            close = difflib.get_close_matches(str(key), sorted(known), n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(known))}."
            raise ConfigError(f"{told}{key}{hint}")


def _expanded(value: Any, key: str, file: Path) -> Any:
    if isinstance(value, dict):
        return {name: _expanded(inner, str(name), file) for name, inner in value.items()}
    if isinstance(value, list):
        return [_expanded(inner, key, file) for inner in value]
    if not isinstance(value, str):
        return value

    def _setting(match: re.Match[str]) -> str:
        name, default = match.groups()
        setting = os.environ.get(name) or default
        if setting is None:
            unset = f"{file}: the variable {name} is not set in the environment and has no default."
            raise ConfigError(unset)
        return str(setting)

    text = _VARIABLE.sub(_setting, value)
    if key in _PATH_KEYS:
        return str(Path(text).expanduser()) if text.startswith("~") else text
    return int(text) if text != value and text.isdecimal() and key.endswith(_NUMBER_KEYS) else text


def _validated(values: Mapping[str, Any], origin: str) -> Any:
    from pydantic import ValidationError

    try:
        from mem0.configs.base import MemoryConfig

        own = {key: deepcopy(value) for key, value in values.items() if key in _KEYS and value is not None}
        own.pop(OWN_SECTION, None)
        MemoryConfig(**deepcopy(own))
        own.pop("reranker", None)
        return MemoryConfig(**{**own, "llm": {"provider": "openai", "config": {}}})
    except ValidationError as error:  # its own words quote values
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ").replace("\n", " ").rstrip(".")
        raise ConfigError(f"{origin}: {where}{': ' if where else ''}{message}.") from None
    except ImportError as error:
        raise _missing_package(error) from error
    except OSError as error:
        told = f"mem0 cannot use its own directory ({type(error).__name__}); set MEM0_DIR to a writable one."
        raise ConfigError(told) from error


def _missing_package(error: ImportError) -> DreamError:
    for module, extra in _EXTRAS.items():
        if module in f"{error.name or ''} {error}":
            return MissingExtraError(f"This vector store needs a package: pip install 'mem0-dream[{extra}]'.")
    return MissingExtraError(f"mem0 needs a package that is not installed: {error.name or error}.")


def _constructed(checked: Any, origin: str, secrets: tuple[str, ...]) -> Any:
    provider = checked.vector_store.provider
    try:
        from mem0 import Memory

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its clients' inner workings, not of this store
            return _without_models(Memory, checked, origin, secrets)
    except ImportError as error:
        raise _missing_package(error) from error
    except Exception as error:
        place = describe_place(provider, checked.vector_store.config)
        if "already accessed" in str(error):
            raise StoreLockedError(
                f"Another process holds the {provider} store in {place}; stop the agent that runs on it, or "
                "give --wait SECONDS if it is another pass."
            ) from error
        if type(error).__module__.startswith(("qdrant_client", "httpx", "psycopg", "chromadb", "sqlite3")):
            silent = f"The {provider} store in {place} does not answer: {describe(error)}."
            raise StoreError(silent) from error
        raise ConfigError(f"{origin}: mem0 cannot be opened: {_problem(error, secrets)}.") from error


def _without_models(open_memory: Any, checked: Any, origin: str, secrets: tuple[str, ...]) -> Any:
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    LlmFactory.register_provider(_UNASKED, f"{__name__}.{Unasked.__name__}")
    EmbedderFactory.provider_to_class[_UNASKED] = f"{__name__}.{Unasked.__name__}"
    own, model = checked.embedder, checked.llm
    checked.embedder, checked.llm = (
        type(named).model_construct(provider=_UNASKED, config={}) for named in (own, model)
    )
    memory = open_memory(checked)
    memory.config.embedder, memory.config.llm = own, model

    def _make() -> Any:
        try:
            return EmbedderFactory.create(own.provider, own.config, checked.vector_store.config)
        except ImportError as error:
            raise _missing_package(error) from error
        except Exception as error:
            problem = _problem(error, secrets)
            raise ConfigError(f"{origin}: its embedder cannot be loaded: {problem}") from error

    memory.embedding_model = LazyEmbedder(_make)
    return memory


def _secrets(value: Any, key: str = "") -> tuple[str, ...]:
    if isinstance(value, Mapping):
        return tuple(secret for name, inner in value.items() for secret in _secrets(inner, str(name)))
    return (value,) if isinstance(value, str) and value and _SECRET_KEYS.search(key) else ()


def _problem(error: Exception, secrets: tuple[str, ...]) -> str:
    text = next(iter(str(error).splitlines()), "").strip().rstrip(".")
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text or type(error).__name__
