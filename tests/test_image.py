"""The image is what it says; without a registry at hand the steps of the Dockerfile run as a script."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from environments import OFFLINE, see_what_is_installed_here
from graph_world import entity, write
from mem0_dream.pipeline.cli.main import main
from mem0_dream.settings import read_settings
from mem0_stores import Place, build_place

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = ROOT / "integrations" / "compose"
LINES = [
    line
    for line in re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
    if line and not line.startswith("#")
]


def steps(word: str) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in LINES if line.startswith(f"{word} ")]


def test_it_does_not_run_as_root_and_keeps_its_state_on_a_volume() -> None:
    last = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM ")) :]
    assert "USER 10001" in last
    assert "VOLUME /state" in last
    assert 'ENTRYPOINT ["mem0-dream"]' in last
    environment = next(line for line in last if line.startswith("ENV "))
    for setting in ("MEM0_DREAM_STATE_DIR=/state", "MEM0_TELEMETRY=False", "HF_HUB_OFFLINE=1"):
        assert setting in environment
    assert all(image.split()[0].endswith("-slim") for image in steps("FROM"))


def test_its_extras_are_the_packages_own_and_its_context_leaves_out_what_it_does_not_need() -> None:
    """An installer only warns of an extra that no longer exists, and the image would lack what it names."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (wanted,) = re.findall(r'"\.\[([a-z,]+)\]"', " ".join(steps("RUN")))
    assert set(wanted.split(",")) <= extras.keys()
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "node_modules", "tests"} <= set(left_out)
    assert not {"models", "pipeline", "constraints.txt", "pyproject.toml", "README.md"} & set(left_out)


def test_the_example_of_compose_is_a_night_that_parses() -> None:
    services = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]
    dream = services["dream"]
    context = main.make_context("mem0-dream", list(dream["command"]))
    assert (context.params["auto"], context.params["if_due"], context.params["retire"]) == (True, True, True)
    assert dream["depends_on"]["db"]["condition"] == "service_healthy"
    assert dream["read_only"] is True
    assert "state:/state" in dream["volumes"]
    assert services["db"]["image"].startswith("pgvector/pgvector:")
    section = yaml.safe_load((COMPOSE / "mem0.yaml").read_text())["mem0_dream"]
    assert read_settings(section).hygiene_auto == ("greeting", "chatter", "heartbeat", "tool-output")


@pytest.mark.e2e
def test_the_steps_of_the_build_make_a_program_that_works(tmp_path: Path) -> None:
    source, venv = tmp_path / "src", tmp_path / "venv"
    left_out = shutil.ignore_patterns(
        *(line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().split())
    )
    shutil.copytree(ROOT, source, ignore=left_out)
    own = {"TORCH_INDEX": "", "MEM0_DREAM_STATE_DIR": str(tmp_path / "state")}
    environment = os.environ | OFFLINE | own
    build = [step for step in steps("RUN") if "/opt/venv" in step]
    assert len(build) == 4
    for step in build:
        command = step.replace("/opt/venv", str(venv)).replace("python -m venv", f"{sys.executable} -m venv")
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=source, env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if "-m venv" in step:
            see_what_is_installed_here(venv)
    graph = tmp_path / "memory.jsonl"
    write(graph, [entity("a", "Likes tea")])
    words = [str(venv / "bin" / "mem0-dream"), "graph", str(graph), "--auto", "--json"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert json.loads(done.stdout)["plan"]["scorer"].startswith("bundled"), done.stderr
    inside = subprocess.run(
        [str(venv / "bin" / "python"), "-c", "import mem0_dream; print(mem0_dream.__file__)"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert inside.stdout.startswith(str(venv))


@pytest.mark.store
@pytest.mark.postgres
def test_the_night_of_compose_runs_over_postgresql(tmp_path, postgres, shared_encoder, monkeypatch):
    config = yaml.safe_load((COMPOSE / "mem0.yaml").read_text())
    embedder = build_place("pgvector", tmp_path, postgres).config["embedder"]
    table = {"connection_string": postgres, "embedding_model_dims": 384, "collection_name": "compose"}
    config["vector_store"]["config"] |= table
    config |= {"embedder": embedder, "history_db_path": str(tmp_path / "history.db")}
    config["llm"]["config"]["api_key"] = "unused"
    own = {name: value for name, value in config.items() if name != "mem0_dream"}
    texts = ["Takes the night train to Basel", "Takes the night train to Basel.", "Hello!", "Has a cat"]
    Place("pgvector", own).fill(texts)
    (tmp_path / "mem0.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.setenv("MEM0_DREAM_STATE_DIR", str(tmp_path / "state"))
    given = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]["dream"]["command"]
    words = [w.replace("/config/", f"{tmp_path}/").replace("/state/", f"{tmp_path}/state/") for w in given]
    done = CliRunner().invoke(main, [*words, "--scorer", "keywords", "--encoder", "words"])
    assert done.exit_code == 0, done.output
    assert "merged=1 pruned=1" in done.stdout
    assert "mem0_dream_merged 1.0" in (tmp_path / "state" / "night.prom").read_text()
    last = CliRunner().invoke(main, ["runs", "--last", "--config", str(tmp_path / "mem0.yaml")])
    assert last.exit_code == 0, last.output
