"""The services of a test; no certificates, which take longer to load than a pass takes."""

import ssl
from collections.abc import Iterator
from contextlib import closing

import pytest
from services import Service


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """The key of the platform's double, and none for a server."""
    monkeypatch.setenv("MEM0_API_KEY", "m0-double")
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
    for name in ("MEM0_SERVER_API_KEY", "MEM0_SERVER_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def platform() -> Iterator[Service]:
    with closing(Service.platform()) as built:
        yield built


@pytest.fixture
def hosted(tmp_path, monkeypatch) -> Iterator[Service]:
    with closing(Service.hosted(tmp_path, monkeypatch)) as built:
        yield built
