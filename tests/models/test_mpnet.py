"""MPNet in layers of our own says what the library's says, whatever fills a row and lies beside it."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.model
WORDS = 40


def tiny(folder: Path, **changed: object) -> Path:
    """A real MPNet of two narrow layers with random weights, its biases large enough to matter."""
    import torch
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(3)
    shape = {
        "vocab_size": WORDS, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 40, "max_position_embeddings": 330, "layer_norm_eps": 1e-5,
    }  # fmt: skip
    network = MPNetModel(MPNetConfig(**(shape | changed)))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    network.save_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    return folder


def rows(lengths: list[int]):
    """Ids of rows of these lengths, filled up, and their mask."""
    import torch

    ids = torch.randint(2, WORDS, (len(lengths), max(lengths)))
    mask = (torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]).long()
    return torch.where(mask.bool(), ids, 1), mask


@pytest.mark.parametrize("lengths", [[7], [9, 9, 9], [5, 12, 1, 9], [320, 150, 33]])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_the_layers_say_what_the_library_says(tmp_path, lengths, eps):
    import torch
    from mem0_dream.models.bert import load_encoder, readable
    from transformers import MPNetModel

    folder = tiny(tmp_path / "model", layer_norm_eps=eps)
    library, own = (
        MPNetModel.from_pretrained(folder, attn_implementation="eager").eval(),
        load_encoder(folder),
    )
    ids, mask = rows(lengths)
    with torch.inference_mode():
        wanted = library(input_ids=ids, attention_mask=mask).last_hidden_state
        said = own(ids, mask).last_hidden_state
    assert readable(folder)
    assert said[mask.bool()].std() > 0.01
    assert float((said - wanted)[mask.bool()].abs().max()) < 1e-5


def test_a_row_says_the_same_without_a_mask_and_nearly_the_same_however_far_it_is_filled(tmp_path):
    import torch
    from mem0_dream.models.bert import load_encoder

    own, (ids, mask) = load_encoder(tiny(tmp_path / "model")), rows([11])
    with torch.inference_mode():
        alone = own(ids, mask).last_hidden_state
        assert torch.equal(own(ids).last_hidden_state, alone)
        for more in (1, 8, 100):
            filled = torch.cat([ids, ids.new_ones(1, more)], 1), torch.cat([mask, mask.new_zeros(1, more)], 1)
            assert float((own(*filled).last_hidden_state[:, :11] - alone).abs().max()) < 1e-5


@pytest.mark.parametrize("changed", [{"hidden_act": "relu"}, {"model_type": "deberta"}])
def test_another_kind_of_network_is_left_to_the_library(tmp_path, changed):
    from mem0_dream.models.bert import readable

    folder = tiny(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changed), encoding="utf-8")
    assert not readable(folder)
