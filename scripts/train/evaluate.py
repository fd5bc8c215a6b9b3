"""Exact match of a checkpoint on the held-out files, with FP32 weights or with weights as the Q8_0 file stores them.

Both operands of every matrix product are rounded to BF16 in both cases. The NPU multiplies the stored codes themselves and applies the scales
afterwards, so its weights are the more exact ones.
"""

import argparse
import json
import os

import torch

import decode
import gguf
import tasks
from model import CONFIGS, Model


def read_set(folder, name):
    with open(os.path.join(folder, name + ".jsonl")) as file:
        return [json.loads(line) for line in file]


def store_as_q8(network):
    """Replaces every matrix by what a reader of the Q8_0 file gets back."""
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 2:
                parameter.copy_(torch.from_numpy(gguf.dequantise(*gguf.quantise(parameter.numpy()))))


def score(network, samples):
    """(exact matches, the samples that failed with what came out)."""
    got = decode.answers(network, [s["prompt"] for s in samples])
    failed = [(s, g) for s, g in zip(samples, got) if g != s["answer"]]
    return len(samples) - len(failed), failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=CONFIGS)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--held-out", required=True, help="folder of the task files")
    parser.add_argument("--limit", type=int, default=500, help="samples per set")
    parser.add_argument("--sets", nargs="*", default=[t + s for s in ("", "_long") for t in tasks.TASKS])
    parser.add_argument("--weights", choices=["f32", "q8"], nargs="*", default=["f32", "q8"])
    parser.add_argument("--failures", type=int, default=0, help="failed samples to print per set")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for weights in args.weights:
        network = Model(CONFIGS[args.model])
        network.load_state_dict(torch.load(args.checkpoint, map_location="cpu")["network"])
        if weights == "q8":
            store_as_q8(network)
        for name in args.sets:
            samples = read_set(args.held_out, name)[: args.limit]
            right, failed = score(network, samples)
            print(f"{args.model} {weights} {name} {right}/{len(samples)} {100 * right / len(samples):.1f}", flush=True)
            for sample, got in failed[: args.failures]:
                print(f"  {sample['prompt'][-60:]!r} wanted {sample['answer']!r} got {got!r}")


if __name__ == "__main__":
    main()
