"""A reader that ships whole says, read back from its folder, what it said when written; a damaged one is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mem0_dream.errors import ModelError
from mem0_dream.models.bundled import weights
from mem0_dream.models.bundled.reader_files import load_reader, write_reader
from mem0_dream.models.bundled.scorer import PairReader
from mem0_dream.scripts.train.scorer import build, write_sums

pytestmark = pytest.mark.model
TEXTS = ["Ana has a dog.", "Ana is a nurse in Leeds, and plays chess.", "Bo plays the oboe", "tea"]
PAIRS = [(a, b) for a in TEXTS for b in TEXTS]
FILE_BYTES = 50_000


def base_of(folder: Path, kind: str) -> Path:
    """A base of two narrow layers with random weights, MPNet or BERT, and a vocabulary of single letters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, PreTrainedTokenizerFast

    folder.mkdir()
    marks = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "[UNK]"}
    words = [*marks.values(), *map(chr, range(33, 127)), *(f"##{chr(at)}" for at in range(33, 127))]
    words = (
        words if kind == "mpnet" else [words[1], words[0], *words[2:]]
    )  # where the library expects the filler
    vocabulary = {word: at for at, word in enumerate(words)}
    pieces = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    pieces.normalizer, pieces.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    PreTrainedTokenizerFast(tokenizer_object=pieces, **marks).save_pretrained(folder)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    torch.manual_seed(5)
    config, network = {"mpnet": (MPNetConfig, MPNetModel), "bert": (BertConfig, BertModel)}[kind]
    network(config(vocab_size=len(words), max_position_embeddings=130, **shape)).save_pretrained(folder)
    return folder


def written(tmp_path: Path, kind: str = "mpnet", steps: int = 127):
    """A pair network over such a base, as training has it, and the folder that it was written to."""
    import torch

    base = base_of(tmp_path / "base", kind)
    network, tokenizer = build(str(base), max_length=64, dropout=False)
    torch.manual_seed(6)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "LayerNorm" not in name:
                parameter.copy_(torch.randn_like(parameter) * (0.06 if "head" in name else 0.4))
    folder = tmp_path / "weights" / "reader"
    write_reader(network, base, folder, steps=steps, max_length=64, file_bytes=FILE_BYTES)
    return PairReader(network, tokenizer), folder


def farthest(one, other) -> float:
    return max(float(abs(a - b).max()) for pair in PAIRS for a, b in zip(one[pair], other[pair], strict=True))


@pytest.mark.parametrize("kind", ["mpnet", "bert"])
def test_a_reader_read_back_says_nearly_what_it_said_and_less_nearly_with_fewer_steps(tmp_path, kind):
    before, folder = written(tmp_path, kind)
    said, apart = before.read(PAIRS), {}
    for steps in (127, 31, 6):
        write_reader(
            before.network, tmp_path / "base", folder, steps=steps, max_length=64, file_bytes=FILE_BYTES
        )
        apart[steps] = farthest(PairReader(*load_reader(folder)).read(PAIRS), said)
    assert 0 < apart[127] < 0.02
    assert apart[127] < apart[31] < apart[6]
    assert farthest(said, dict.fromkeys(PAIRS, said[PAIRS[0]])) > 0.1  # pairs tell different things


def test_every_file_is_small_and_those_of_another_writing_are_gone(tmp_path):
    before, folder = written(tmp_path)
    files = sorted(folder.glob("model-*.safetensors"))
    assert len(files) == 3
    assert all(file.stat().st_size <= FILE_BYTES for file in files)
    assert [file.name for file in files] == [f"model-0000{at}-of-00003.safetensors" for at in (1, 2, 3)]
    write_reader(before.network, tmp_path / "base", folder, steps=127, max_length=64)
    assert [file.name for file in folder.glob("model-*")] == ["model-00001-of-00001.safetensors"]


def test_fewer_steps_leave_fewer_bits_to_compress(tmp_path):
    from safetensors.torch import load_file

    _, folder = written(tmp_path, steps=31)
    stored = {}
    for file in folder.glob("model-*"):
        stored |= load_file(file)
    most = {
        name: int(some.abs().max()) for name, some in stored.items() if f"{name}{weights.SCALE}" in stored
    }
    coarse = {name for name in most if name.startswith("encoder.encoder.") or "word_embeddings" in name}
    assert len(coarse) == 2 * 6 + 1
    spread = {name: float(stored[name].float().square().mean(dim=1).sqrt().max()) for name in coarse}
    assert all(7.6 < spread[name] < 8.0 for name in coarse)  # a quarter of the steps
    assert {most[name] for name in most.keys() - coarse} == {127}


def test_a_pair_says_the_same_to_the_last_bit_beside_whatever_pairs(tmp_path):
    _, folder = written(tmp_path)
    reader = PairReader(*load_reader(folder))
    together = reader.read(PAIRS)
    for pair in PAIRS:
        for alone, among in zip(reader.read([pair])[pair], together[pair], strict=True):
            assert alone.tobytes() == among.tobytes()


def test_processors_without_products_of_whole_numbers_say_the_same(tmp_path, monkeypatch):
    from mem0_dream.models import bert_layers

    _, folder = written(tmp_path)
    said = PairReader(*load_reader(folder)).read(PAIRS)
    monkeypatch.setattr(bert_layers, "exact_in_int8", lambda: False)
    assert farthest(PairReader(*load_reader(folder)).read(PAIRS), said) == 0


def test_reading_imports_no_library_of_models(tmp_path):
    _, folder = written(tmp_path)
    program = (
        "import sys; from pathlib import Path; from mem0_dream.models.bundled.reader_files import load_reader;"
        f"load_reader(Path({str(folder)!r})); print('transformers' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_changed_byte_or_a_missing_file_of_the_inner_folder_is_told(tmp_path):
    _, folder = written(tmp_path)
    write_sums(folder.parent)
    weights.check_sums(folder.parent)
    part = folder / "model-00002-of-00003.safetensors"
    kept = part.read_bytes()
    part.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    with pytest.raises(ModelError, match=r"damaged.*reader/model-00002-of-00003"):
        weights.check_sums(folder.parent)
    part.unlink()
    with pytest.raises(ModelError, match="incomplete"):
        weights.check_sums(folder.parent)
    with pytest.raises(ModelError, match="reinstall"):
        load_reader(folder)


def cut(folder: Path) -> None:
    part = folder / "model-00001-of-00003.safetensors"
    part.write_bytes(part.read_bytes()[:-100])


def changed(**values: object):
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(config | values), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, "cannot be built"),
        (changed(num_hidden_layers=3), "16 tensors do not fit"),
        (changed(hidden_size=64), "tensors do not fit"),
        (changed(model_type="deberta"), "names an encoder"),
        (changed(weights=["model-00001-of-00003.safetensors"]), "tensors do not fit"),
        (changed(weights=None), "cannot be built"),
        (lambda folder: (folder / "tokenizer.json").write_text("{", encoding="utf-8"), "cannot be built"),
        (lambda folder: (folder / "tokenizer_config.json").unlink(), "cannot be built"),
        (lambda folder: (folder / "config.json").unlink(), "cannot be read"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused_in_a_sentence(tmp_path, damage, told):
    _, folder = written(tmp_path)
    damage(folder)
    with pytest.raises(ModelError, match=told):
        load_reader(folder)
