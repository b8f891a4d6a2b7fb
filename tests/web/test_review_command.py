"""`mem0-dream review` as a process: the link it prints, the end with Ctrl-C, and what is missing."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from kinds import KINDS
from mem0_dream.pipeline.cli.main import main

pytestmark = pytest.mark.e2e


def test_it_prints_a_link_serves_it_to_this_machine_and_ends_with_the_answers_kept(tmp_path, monkeypatch):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    world = KINDS["md"](tmp_path, monkeypatch)
    words = [sys.executable, "-u", "-m", "mem0_dream", "review", *world.words, "--scorer", "keywords"]
    words += ["--state-dir", str(tmp_path / "state"), "--no-open"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as review:
        assert review.stdout is not None
        assert review.stderr is not None
        try:
            said, address = review.stdout.readline().split()
            assert said == "Review:"
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=30) as page:  # noqa: S310  (our own loopback address)
                assert "tabs_again.md" in page.read().decode()
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"{address}x", timeout=30)  # noqa: S310
            second = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
            assert second.returncode == 5
            assert "A review of this store is open already" in second.stderr
        finally:
            review.send_signal(signal.SIGINT)
        assert review.wait(30) == 0
        assert "Review ended" in review.stderr.read()


def test_missing_parts_are_named_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "starlette" else object())
    done = CliRunner().invoke(main, ["review", "--store", "md", "--root", "."])
    told = "A review in the browser needs starlette; install with: pip install 'mem0-dream[web]'"
    assert (done.exit_code, done.stderr) == (8, f"mem0-dream: {told}\n")


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = ["review", "--store", "md", "--root", str(tmp_path), "--port", port]
        done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mem0-dream: Port {port} cannot be used")


def test_the_secret_is_no_word_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mem0_dream.pipeline.cli import pages

    sent: list[str] = []
    monkeypatch.setattr("webbrowser.open", sent.append)
    address = "http://127.0.0.1:1/?token=secret"
    pages._open(address, tmp_path)
    file = tmp_path / "review.html"
    assert sent == [file.as_uri()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert address in file.read_text(encoding="utf-8")
