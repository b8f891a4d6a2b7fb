"""What a training has changed so far, small enough for the repository: a later machine goes on from there.

    python -m mem0_dream.scripts.train.progress keep --work WORK --start reader --name long --file FILE
    python -m mem0_dream.scripts.train.progress restore --work WORK --start reader --name long --file FILE

The differences from the checkpoint `--start` are kept as whole numbers of four bits with one scale for each
`GROUP` of a row. `restore` writes a checkpoint without the optimizer's state, which takes six times as much:
training goes on at its step and warms up once more.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

GROUP = 64
LEVELS = 7  # four bits hold -7 to 7
SCALE = "|scale"
VERSION = "1"


def main(arguments: list[str] | None = None) -> int:
    """Keep or restore; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("keep", "restore"))
    parser.add_argument("--work", type=Path, required=True, help="folder of the checkpoints")
    parser.add_argument("--start", required=True, help="checkpoint that the training began with")
    parser.add_argument("--name", required=True, help="checkpoint of the training")
    parser.add_argument("--file", type=Path, required=True, help="what is kept")
    options = parser.parse_args(arguments)
    first = torch.load(options.work / f"{options.start}.pt", weights_only=True)["network"]
    checkpoint = options.work / f"{options.name}.pt"
    if options.verb == "keep":
        state = torch.load(checkpoint, weights_only=True)
        told = {"version": VERSION, "step": str(state["step"])}
        save_file(differences(first, state["network"]), options.file, metadata=told)
        return 0
    with safe_open(options.file, framework="pt") as file:
        said = file.metadata()
        if said.get("version") != VERSION:
            parser.error(f"{options.file} is of version {said.get('version')}, and this reads {VERSION}")
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    torch.save({"network": added(first, kept), "step": int(said["step"])}, checkpoint)
    return 0


def differences(first: dict[str, Tensor], now: dict[str, Tensor]) -> dict[str, Tensor]:
    """By name what has changed: uint8 [n / 2] with bfloat16 scales, of vectors float32 as they are."""
    kept: dict[str, Tensor] = {}
    for name, tensor in now.items():
        change = (tensor - first[name]).float()
        if not change.any():
            continue
        if change.ndim < 2:
            kept[name] = change.contiguous()
            continue
        groups = torch.nn.functional.pad(change.flatten(), (0, -change.numel() % GROUP)).view(-1, GROUP)
        scale = (groups.abs().amax(dim=1) / LEVELS).clamp(min=1e-12).bfloat16()
        steps = (groups / scale.float()[:, None]).round().clamp(-LEVELS, LEVELS).to(torch.int16) + LEVELS + 1
        even, odd = steps.flatten()[::2], steps.flatten()[1::2]
        kept |= {name: (even * 16 + odd).to(torch.uint8), name + SCALE: scale}
    return kept


def added(first: dict[str, Tensor], kept: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of `first` with the differences put on top."""
    now = dict(first)
    for name in (name for name in kept if not name.endswith(SCALE)):
        change = kept[name]
        if name + SCALE in kept:
            both = torch.stack([change // 16, change % 16], dim=1).flatten().float() - LEVELS - 1
            change = (both.view(-1, GROUP) * kept[name + SCALE].float()[:, None]).flatten()
        now[name] = first[name] + change.flatten()[: first[name].numel()].view_as(first[name]).to(first[name])
    return now


if __name__ == "__main__":
    raise SystemExit(main())
