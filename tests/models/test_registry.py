"""From names to scorers."""

import sys

import pytest
from mem0_dream.errors import ModelError, UsageError
from mem0_dream.models.encoder import SentenceEncoder
from mem0_dream.models.keywords import LexicalEncoder
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer, split_revision


@pytest.mark.parametrize(("spec", "name"), [("keywords", "keywords-1"), ("cosine", "cosine-1")])
def test_rules_load_without_a_model(spec, name):
    assert load_scorer(spec).name == name


@pytest.mark.parametrize("spec", ["", "keyword", "nli:", "NLI:x", "bundled "])
def test_unknown_name_lists_the_choices(spec):
    with pytest.raises(UsageError) as caught:
        load_scorer(spec)
    assert all(choice in str(caught.value) for choice in CHOICES)


def test_missing_bundled_module_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0_dream.models.bundled.scorer", None)
    with pytest.raises(ModelError, match="not part of this installation"):
        load_scorer("bundled")


def test_missing_folder_is_not_looked_for_on_the_hub():
    with pytest.raises(ModelError, match="no model folder"):
        load_scorer("nli:./nowhere")


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("a/b", ("a/b", None)),
        ("a/b@v1", ("a/b", "v1")),
        ("a@b@c", ("a@b", "c")),
        ("a@", ("a@", None)),
        ("@a", ("@a", None)),
    ],
)
def test_revision_is_what_follows_the_last_at(model, parts):
    assert split_revision(model) == parts


def test_existing_folder_is_not_split(tmp_path):
    folder = tmp_path / "mine@home"
    folder.mkdir()
    assert split_revision(str(folder)) == (str(folder), None)


def test_keyword_rule_needs_no_model():
    assert isinstance(load_encoder(scorer="keywords"), LexicalEncoder)
    assert isinstance(load_encoder(scorer="cosine"), SentenceEncoder)
    assert load_encoder(scorer="cosine").name.startswith("all-MiniLM-L6-v2@")


def test_named_encoder_is_taken(tmp_path):
    (tmp_path / "mine").mkdir()
    assert load_encoder(str(tmp_path / "mine"), scorer="keywords").name.startswith("mine@")
