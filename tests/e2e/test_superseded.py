"""A conflict on real mem0 stores, settled: what lost is readable, no longer found, and asked about what it touches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_stores import build_place

pytestmark = [pytest.mark.e2e, pytest.mark.store, pytest.mark.model]
PORTO, FARO, TRAM = "User lives in Porto.", "User lives in Faro.", "Takes the tram to the office in Porto."


@pytest.mark.parametrize("provider", ["qdrant", "faiss"])
def test_what_lost_has_a_past_and_leads_to_questions(
    provider: str, tmp_path: Path, shared_encoder: None
) -> None:
    place = build_place(provider, tmp_path)
    porto, faro, tram = place.fill([PORTO, FARO, TRAM])
    config = tmp_path / "mem0.yaml"
    config.write_text(yaml.safe_dump(place.config))
    runner = CliRunner(env={"MEM0_DREAM_STATE_DIR": str(tmp_path / "state")})

    def dream(*words: str, answers: str = "") -> str:
        done = runner.invoke(main, [*words, "--config", str(config), "--user-id", "alice"], input=answers)
        assert done.exit_code == 0, done.output
        return done.stdout

    def found(text: str) -> set[str]:
        memory = place.memory()
        try:
            hits = memory.search(text, filters={"user_id": "alice"}, top_k=5)["results"]
            return {hit["id"] for hit in hits}
        finally:
            Mem0Store(memory, owned=True).close()

    assert {porto, faro} <= found("Where does the user live?")
    sides = dream("--dry-run")
    letter = "B" if f"B: [mem0:{faro[:8]}]" in sides else "A"
    assert "conflicts resolved: 1" in dream(answers=f"{letter}\ny\n")
    assert {porto, faro} & found("Where does the user live?") == {faro}
    (chain,) = {
        each["how"]
        for each in json.loads(dream("history", porto[:8], "--json"))["versions"]
        if each["id"] == porto
    }
    assert chain == "contradicted"
    asked = dream("--dry-run")
    assert f"[mem0:{tram[:8]}]" in asked
    assert "out of date" in asked
    runner.invoke(main, ["undo", "--config", str(config)], catch_exceptions=False)
    assert {porto, faro} <= found("Where does the user live?")
