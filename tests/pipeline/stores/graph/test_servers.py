"""Which memory server works on a file is seen from its command and environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mem0_dream.pipeline.stores.graph.media import server_on

NODE = ("node", "/opt/node_modules/@modelcontextprotocol/server-memory/dist/index.js")
HOME = Path(NODE[1]).parent


@pytest.mark.parametrize(
    ("command", "variables", "file"),
    [
        (NODE, {"HOME": "/root", "MEMORY_FILE_PATH": "/data/m.jsonl"}, "/data/m.jsonl"),
        (NODE, {"MEMORY_FILE_PATH": "own.jsonl"}, str(HOME / "own.jsonl")),
        (NODE, {}, str(HOME / "memory.jsonl")),
        (
            ("npm exec @modelcontextprotocol/server-memory",),
            {"MEMORY_FILE_PATH": "/data/m.jsonl"},
            "/data/m.jsonl",
        ),
        (("mcp-server-memory",), {"MEMORY_FILE_PATH": "/data/m.jsonl"}, "/data/m.jsonl"),
    ],
)
def test_a_server_is_known_by_its_file(command, variables, file):
    processes = [(7, command, variables)]
    assert server_on(Path(file), processes) == 7
    assert server_on(Path("/data/other.jsonl"), processes) is None


def test_an_editor_with_the_same_variable_is_no_server():
    editor = (8, ("vim", "/data/m.jsonl"), {"MEMORY_FILE_PATH": "/data/m.jsonl"})
    assert server_on(Path("/data/m.jsonl"), [editor]) is None


def test_a_running_server_is_found(tmp_path):
    path = tmp_path.resolve() / "m.jsonl"
    waits = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "server-memory"]
    environment = os.environ | {"MEMORY_FILE_PATH": str(path)}
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert server_on(path) == server.pid
        assert server_on(path.with_name("other")) is None
    assert server_on(path) is None
