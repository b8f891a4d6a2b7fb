"""From names to scorers."""

import subprocess
import sys

import pytest
from mem0_dream.errors import ModelError, UsageError
from mem0_dream.models.encoder import SentenceEncoder
from mem0_dream.models.keywords import LexicalEncoder
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer, split_revision


def test_rules_load_without_a_model_and_an_unknown_name_lists_the_choices():
    assert [load_scorer(spec).name for spec in ("keywords", "cosine")] == ["keywords-1", "cosine-1"]
    for spec in ("", "keyword", "nli:", "NLI:x", "bundled "):
        with pytest.raises(UsageError) as caught:
            load_scorer(spec)
        assert all(choice in str(caught.value) for choice in CHOICES)


def test_what_is_missing_is_said_and_a_folder_not_looked_for_on_the_hub(monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0_dream.models.bundled.scorer", None)
    with pytest.raises(ModelError, match="not part of this installation"):
        load_scorer("bundled")
    with pytest.raises(ModelError, match="no model folder"):
        load_scorer("nli:./nowhere")


def test_revision_is_what_follows_the_last_at_unless_it_is_a_folder(tmp_path):
    split = {"a/b@v1": ("a/b", "v1"), "a@b@c": ("a@b", "c")}
    (tmp_path / "mine@home").mkdir()
    for model in ("a/b", "a/b@v1", "a@b@c", "a@", "@a", str(tmp_path / "mine@home")):
        assert split_revision(model) == split.get(model, (model, None))


def test_keyword_rule_needs_no_model_and_a_named_encoder_is_taken(tmp_path):
    assert isinstance(load_encoder(scorer="keywords"), LexicalEncoder)
    assert isinstance(load_encoder(scorer="cosine"), SentenceEncoder)
    assert load_encoder(scorer="cosine").name.startswith("all-MiniLM-L6-v2@")
    (tmp_path / "mine").mkdir()
    assert load_encoder(str(tmp_path / "mine"), scorer="keywords").name.startswith("mine@")


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("from mem0_dream.models.encoder import SentenceEncoder as made; made().name", "transformers"),
        (
            "from mem0_dream.models.bundled.scorer import BundledScorer as made; made()",
            "transformers sklearn",
        ),
        ("import mem0_dream.models.guards", "transformers numpy dateparser pint"),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code, heavy):
    code = f"import sys; {code}; print({{*'torch sentence_transformers {heavy}'.split()}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
