"""An entry of a scheduler reaches the same memories, in every scheduler's own words."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.cli.night import KINDS


def printed(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, ["schedule", *words])
    assert done.exit_code == code, done.output
    return done


def test_an_entry_for_mem0_names_configuration_and_scopes(tmp_path: Path) -> None:
    line = printed("--print", "cron", "--config", str(tmp_path / "m.yaml"), "--user-id", "al ice").stdout
    words = shlex.split(line.splitlines()[1].partition("* * * ")[2])[1:]
    assert words == ["--config", str(tmp_path / "m.yaml"), "--user-id", "al ice", "--if-due", "--auto"]
    main.make_context("mem0-dream", words)


def test_an_entry_for_mem0_without_scopes_or_configuration_is_refused(tmp_path: Path) -> None:
    done = printed("--print", "cron", "--config", str(tmp_path / "m.yaml"), code=2)
    assert "Say whose memories" in done.stderr
    assert "No configuration" in printed("--print", "cron", "--all", code=2).stderr


def test_an_entry_for_files_names_them(tmp_path: Path) -> None:
    line = printed("--print", "cron", "--root", str(tmp_path), "--memory-dir", str(tmp_path / "m")).stdout
    assert f" md {tmp_path} --memory-dir {tmp_path / 'm'} --if-due --auto" in line


def test_an_entry_for_the_platform_and_a_server_names_them() -> None:
    line = printed("--print", "cron", "--store", "platform", "--org", "o1", "--all").stdout
    assert " platform --org o1 --all --if-due --auto" in line
    line = printed("--print", "cron", "--store", "server", "--url", "http://m:8000", "--user-id", "al").stdout
    assert " server http://m:8000 --user-id al --if-due --auto" in line


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("store", "variable"), [("platform", "MEM0_API_KEY"), ("server", "MEM0_SERVER_API_KEY"), ("mem0", "")]
)
def test_an_entry_says_where_its_key_comes_from(kind: str, store: str, variable: str, tmp_path: Path) -> None:
    place = {"platform": (), "server": ("--url", "http://m:8000"), "mem0": ("--config", str(tmp_path / "m"))}
    text = printed("--print", kind, "--store", store, *place[store], "--all").stdout
    assert (variable in text) if variable else ("API_KEY" not in text)
    if kind == "k8s" and variable:
        pod = yaml.safe_load(text)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        reference = pod["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]
        assert reference == {"name": "mem0-dream", "key": variable}


@pytest.mark.parametrize("kind", KINDS)
def test_further_options_are_carried(tmp_path: Path, kind: str) -> None:
    text = printed("--print", kind, "--config", str(tmp_path / "m.yaml"), "--all", "--", "--retire").stdout
    assert text.index("--all") < text.index("--retire") < text.index("--if-due") < text.index("--auto")


def test_an_option_that_does_not_exist_is_refused_at_once(tmp_path: Path) -> None:
    words = ("--print", "cron", "--config", str(tmp_path / "m.yaml"), "--all", "--", "--retyre")
    done = printed(*words, code=2)
    assert "No such option" in done.stderr
    assert not done.stdout


def test_the_entry_for_kubernetes_is_a_cron_job_that_cannot_overlap(tmp_path: Path) -> None:
    config = str(tmp_path / 'a"b.yaml')
    words = ("--print", "k8s", "--config", config, "--all", "--time-zone", "Europe/Berlin")
    job = yaml.safe_load(printed(*words).stdout)
    assert (job["kind"], job["spec"]["timeZone"]) == ("CronJob", "Europe/Berlin")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["containers"][0]["volumeMounts"] == [{"name": "state", "mountPath": "/state"}]
    assert pod["containers"][0]["command"][:3] == ["mem0-dream", "--config", config]
