"""Fixtures of all tests: no test touches the user's own state, network or telemetry."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["MEM0_TELEMETRY"] = "False"
os.environ["ANONYMIZED_TELEMETRY"] = "False"


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a state directory of its own."""
    directory = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(directory))
    return directory


@pytest.fixture(scope="session", autouse=True)
def mem0_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep mem0's own files out of the home directory, from before its first import."""
    directory = tmp_path_factory.mktemp("mem0-home")
    os.environ["MEM0_DIR"] = str(directory)
    return directory
