"""What importing costs, and what the package offers."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import mem0_dream
import pytest

HEAVY = (
    "torch", "transformers", "sentence_transformers", "faiss", "mem0", "numpy", "pydantic", "openai",
    "qdrant_client", "chromadb", "psycopg", "sklearn", "rich", "yaml",
    "jinja2", "starlette", "uvicorn",
)  # fmt: skip
COMMANDS = (
    "status", "forget", "runs", "undo", "resume", "plan", "apply", "reject", "report", "review", "doctor", "schedule",
)  # fmt: skip


def loaded_by(code: str) -> list[str]:
    told = f"import sys\n{code}\nprint('LOADED', *(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()[-1].split()[1:]


def test_neither_importing_nor_help_loads_anything_heavy() -> None:
    assert loaded_by(f"""
import contextlib
from mem0_dream.pipeline.cli.main import main
for command in [[], *([name] for name in {COMMANDS!r})]:
    with contextlib.suppress(SystemExit):
        main([*command, "--help"])
""") == []  # fmt: skip


def test_a_wrong_command_line_loads_nothing_heavy() -> None:
    assert "mem0" not in loaded_by("""
import contextlib
from mem0_dream.pipeline.cli.main import main
with contextlib.suppress(SystemExit):
    main(["--all"])
""")


@pytest.mark.model
def test_a_look_with_the_defaults_loads_no_library_of_models(tmp_path: Path) -> None:
    texts = ("Likes green tea.", "She likes green tea a lot", "Runs every day", "Runs at dawn on most days")
    export = tmp_path / "memories.jsonl"

    def loaded_for(some: Sequence[str]) -> set[str]:
        rows = [json.dumps({"id": text[:12], "text": text}) for text in some]
        export.write_text("\n".join(rows))
        return set(loaded_by(f"""
import contextlib
from mem0_dream.pipeline.cli.main import main
with contextlib.suppress(SystemExit):
    main(["jsonl", {str(export)!r}, "--all", "--dry-run"])
"""))  # fmt: skip

    modules = loaded_for(texts)
    assert "torch" in modules
    assert not {"transformers", "sentence_transformers", "openai"} & modules
    # what was read once is read no more, though pairs stand elsewhere when one is gone
    assert "torch" not in loaded_for(texts[1:])


def test_every_public_name_can_be_imported() -> None:
    assert sorted(mem0_dream.__all__) == mem0_dream.__all__
    assert len(mem0_dream.__all__) <= 20
    for name in mem0_dream.__all__:
        assert getattr(mem0_dream, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mem0_dream.nonsense
