"""Fixtures of all tests: no test touches the user's own state, network or telemetry."""

import contextlib
import itertools
import logging
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("drawn", deadline=None)
# Whether a change may land is no matter of luck: the same examples every time, other ones by `make properties`.
settings.load_profile("fixed")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["MEM0_TELEMETRY"] = "False"
os.environ["ANONYMIZED_TELEMETRY"] = "False"


pytest_plugins = ("mem0_stores", "e2e_world", "e2e_cli")
"""Fixtures that tests of several folders ask for."""
_LONG_FILES = frozenset(
    {
        "test_packaging.py", "test_faults.py", "test_kill.py", "test_process.py", "test_opinion.py", "test_mem0.py",
        "test_demo.py", "test_scorer.py", "test_server.py", "test_review_page.py",
    }
)  # fmt: skip
"""Begun first: a worker that got one of them last would end long after the others."""
_NUMBERS = itertools.count()
_HERE = ("127.0.0.1", "::1", "localhost", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first; `make test` hands out files in this order."""
    items.sort(key=lambda item: item.path.name not in _LONG_FILES)


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Numbered here: a folder that pytest numbers is looked for among those of all tests before it.
    directory = tmp_path_factory.getbasetemp() / "states" / str(next(_NUMBERS))
    directory.mkdir(parents=True)
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(directory))
    return directory


@pytest.fixture
def journal(own_state: Path) -> Iterator[Any]:
    from mem0_dream.pipeline.writing.journal import Journal

    with contextlib.closing(Journal(own_state)) as opened:
        yield opened


@pytest.fixture
def graph(tmp_path: Path, own_state: Path) -> Any:
    from graph_world import Graph

    return Graph(tmp_path, own_state)


@pytest.fixture
def project(tmp_path: Path) -> Any:
    from markdown_trees import Project

    return Project(tmp_path)


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """Let no command of one test quieten the log of the next one."""
    ours = logging.getLogger("mem0_dream")
    level, propagate, handlers = ours.level, ours.propagate, list(ours.handlers)
    yield
    ours.setLevel(level)
    ours.propagate = propagate
    ours.handlers[:] = handlers


@pytest.fixture(scope="session", autouse=True)
def mem0_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep mem0's own files out of the home directory, from before its first import."""
    directory = tmp_path_factory.mktemp("mem0-home")
    os.environ["MEM0_DIR"] = str(directory)
    return directory


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _only_here(getattr(socket.socket, name)))
        yield


def _only_here(connect: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and address[0] not in _HERE:
            raise AssertionError(f"A test may not connect to {address[0]}.")
        return connect(self, address)

    return checked
