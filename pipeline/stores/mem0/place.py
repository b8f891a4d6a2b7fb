"""Where a mem0 store is: its fingerprint, and whether its collection exists.

mem0 creates a collection that it does not find, so that a misspelt name looks like an empty store.
Everything here therefore looks without creating anything, before mem0 opens the store.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ....errors import ConfigError
from .rows import asking, hang_up

_FINGERPRINT_DIGITS = 16
_POSTGRES_PORT = 5432
_QDRANT_PORT = 6333
_MILVUS_PORT = 19530
_CONNECT_SECONDS = 10
_DEFAULT_PROVIDER = "qdrant"
_DEFAULT_COLLECTION = "mem0"
# Settings that say where a store of any other provider is; none of them is a secret.
_PLACE_KEYS = (
    "path",
    "db_path",
    "host",
    "port",
    "url",
    "endpoint",
    "redis_url",
    "valkey_url",
    "service_name",
    "index_name",
    "database",
    "db_name",
    "dbname",
    "namespace",
    "region",
    "tenant",
)


def store_fingerprint(memory_or_config: Any) -> str:  # noqa: ANN401  (a mem0 object or a dict)
    """Sixteen hexadecimal digits: equal for equal places, without user names or passwords.

    Args:
        memory_or_config: A `mem0.Memory`, an `AsyncMemory`, or the dict that builds one.
    """
    provider, config = _vector_store(memory_or_config)
    collection = str(_value(config, "collection_name") or _DEFAULT_COLLECTION)
    location = _LOCATIONS.get(provider, _generic_location)(provider, config)
    digest = hashlib.sha256(json.dumps([provider, location, collection]).encode()).hexdigest()
    return digest[:_FINGERPRINT_DIGITS]


def describe_place(provider: str, config: Any) -> str:  # noqa: ANN401
    """The place as a sentence may name it."""
    return _LOCATIONS.get(provider, _generic_location)(provider, config)


def require_collection(provider: str, config: Any) -> None:  # noqa: ANN401
    """Make sure that opening the store will find its collection.

    Raises:
        ConfigError: If the collection does not exist.
        StoreError: If the store cannot be asked.
    """
    lister = _COLLECTIONS.get(provider)
    if (
        lister is None
        or _value(config, "client") is not None
        or _value(config, "connection_pool") is not None
    ):
        return
    name, place = str(_value(config, "collection_name")), describe_place(provider, config)
    with asking(f"looking for the collection {name} in {place}"):
        existing = sorted(lister(config))
    if name not in existing:
        others = ", ".join(existing) if existing else "none"
        raise ConfigError(f"Collection {name} does not exist in {place}; existing collections: {others}.")


def _vector_store(memory_or_config: Any) -> tuple[str, Any]:  # noqa: ANN401
    config = memory_or_config if isinstance(memory_or_config, Mapping) else memory_or_config.config
    section = _value(config, "vector_store") or {}
    return str(_value(section, "provider") or _DEFAULT_PROVIDER), _value(section, "config") or {}


def _value(config: Any, key: str) -> Any:  # noqa: ANN401
    """One setting, from mem0's own object or from the dict that becomes one."""
    return config.get(key) if isinstance(config, Mapping) else getattr(config, key, None)


def _absolute(path: Any) -> str:  # noqa: ANN401
    return os.path.realpath(Path(str(path)).expanduser())


def _address(host: Any, port: Any, default: int) -> str:  # noqa: ANN401
    return f"{str(host).lower()}:{port or default}"


def _qdrant_location(_: str, config: Any) -> str:  # noqa: ANN401
    client = getattr(_value(config, "client"), "_client", None)
    if client is not None:
        path = getattr(client, "location", None)
        return _absolute(path) if path else _url_address(str(getattr(client, "rest_uri", "")), _QDRANT_PORT)
    if _value(config, "url"):
        return _url_address(str(_value(config, "url")), _QDRANT_PORT)
    if _value(config, "host") and _value(config, "port"):
        return _address(_value(config, "host"), _value(config, "port"), _QDRANT_PORT)
    return _absolute(_value(config, "path") or "/tmp/qdrant")  # noqa: S108  (mem0's own default)


def _url_address(url: str, default: int) -> str:
    parts = urlsplit(url if "//" in url else f"//{url}")
    return _address(parts.hostname, parts.port, default) + parts.path.rstrip("/")


def _faiss_location(_: str, config: Any) -> str:  # noqa: ANN401
    return _absolute(_value(config, "path") or "/tmp/faiss")  # noqa: S108  (mem0's own default)


def _chroma_location(_: str, config: Any) -> str:  # noqa: ANN401
    if _value(config, "tenant") and _value(config, "api_key"):
        return f"cloud:{_value(config, 'tenant')}"
    if _value(config, "host") and _value(config, "port"):
        return _address(_value(config, "host"), _value(config, "port"), 0)
    return _absolute(_value(config, "path") or "/tmp/chroma")  # noqa: S108  (mem0's own default)


def _pgvector_location(_: str, config: Any) -> str:  # noqa: ANN401
    text = getattr(_value(config, "connection_pool"), "conninfo", None) or _value(config, "connection_string")
    parts = _conninfo(str(text)) if text else {key: _value(config, key) for key in ("host", "port", "dbname")}
    host = str(parts.get("host") or "localhost")
    name = parts.get("dbname") or ("postgres" if not text else parts.get("user"))
    return f"{host if host.startswith('/') else host.lower()}:{parts.get('port') or _POSTGRES_PORT}/{name}"


def _conninfo(text: str) -> dict[str, Any]:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(text))
    except ProgrammingError:
        # The driver's own message quotes the string, password included.
        raise ConfigError("The connection_string of the vector store is no PostgreSQL address.") from None


def _milvus_location(_: str, config: Any) -> str:  # noqa: ANN401
    url = str(_value(config, "url") or "http://localhost:19530")
    name = _value(config, "db_name") or "default"
    return f"{_url_address(url, _MILVUS_PORT)}/{name}" if "://" in url else _absolute(url)


def _generic_location(provider: str, config: Any) -> str:  # noqa: ANN401
    parts = [f"{key}={_value(config, key)}" for key in _PLACE_KEYS if _value(config, key)]
    return f"{provider}({', '.join(_without_user(part) for part in parts)})"


def _without_user(text: str) -> str:
    """Drop `user:password@` from an address."""
    head, at, tail = text.rpartition("@")
    return f"{head.partition('//')[0]}//{tail}" if at and "//" in head else text


def _qdrant_collections(config: Any) -> list[str]:  # noqa: ANN401
    if not (
        _value(config, "url")
        or _value(config, "api_key")
        or (_value(config, "host") and _value(config, "port"))
    ):
        register = Path(_absolute(_value(config, "path"))) / "meta.json"
        return list(json.loads(register.read_text())["collections"]) if register.is_file() else []
    from qdrant_client import QdrantClient

    names = ("url", "host", "port", "api_key", "https")
    client = QdrantClient(
        **{name: _value(config, name) for name in names if _value(config, name) is not None}
    )
    try:
        return [collection.name for collection in client.get_collections().collections]
    finally:
        client.close()


def _faiss_collections(config: Any) -> list[str]:  # noqa: ANN401
    folder = Path(_absolute(_value(config, "path")))
    return [
        file.stem
        for file in folder.glob("*.faiss")
        if file.with_suffix(".json").is_file() or file.with_suffix(".pkl").is_file()
    ]


def _chroma_collections(config: Any) -> list[str]:  # noqa: ANN401
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    path = _value(config, "path")
    cloud = _value(config, "tenant") and _value(config, "api_key")
    if _value(config, "host") and _value(config, "port"):
        settings.chroma_server_host = _value(config, "host")
        settings.chroma_server_http_port = _value(config, "port")
        settings.chroma_api_impl = "chromadb.api.fastapi.FastAPI"
    elif not cloud and not (Path(_absolute(path)) / "chroma.sqlite3").is_file():
        return []
    # Chroma shares one system per path and insists on equal settings, so these are mem0's.
    settings.persist_directory = path
    settings.is_persistent = True
    client = (
        chromadb.CloudClient(
            api_key=_value(config, "api_key"), tenant=_value(config, "tenant"), database="mem0"
        )
        if cloud
        else chromadb.Client(settings)
    )
    try:
        return [collection.name for collection in client.list_collections()]
    finally:
        hang_up(client)


def _milvus_collections(config: Any) -> list[str]:  # noqa: ANN401
    from pymilvus import MilvusClient

    url = str(_value(config, "url"))
    if "://" not in url and not Path(_absolute(url)).exists():
        return []
    client = MilvusClient(
        uri=url, token=_value(config, "token") or "", db_name=_value(config, "db_name") or ""
    )
    try:
        return [str(name) for name in client.list_collections()]
    finally:
        client.close()


def _pgvector_collections(config: Any) -> list[str]:  # noqa: ANN401
    import psycopg

    text = _value(config, "connection_string")
    parts = (
        _conninfo(str(text))
        if text
        else {key: _value(config, key) for key in ("user", "password", "host", "port", "dbname")}
    )
    if _value(config, "sslmode"):
        parts["sslmode"] = _value(config, "sslmode")
    parts.setdefault("connect_timeout", _CONNECT_SECONDS)
    with psycopg.connect(**{key: value for key, value in parts.items() if value is not None}) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        return [str(row[0]) for row in rows.fetchall()]


_LOCATIONS: dict[str, Callable[[str, Any], str]] = {
    "qdrant": _qdrant_location,
    "faiss": _faiss_location,
    "chroma": _chroma_location,
    "pgvector": _pgvector_location,
    "milvus": _milvus_location,
}
_COLLECTIONS: dict[str, Callable[[Any], list[str]]] = {
    "qdrant": _qdrant_collections,
    "faiss": _faiss_collections,
    "chroma": _chroma_collections,
    "pgvector": _pgvector_collections,
    "milvus": _milvus_collections,
}
