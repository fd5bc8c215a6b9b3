"""Picks one held-out prompt per task that every given model answers right, for first demonstrations."""

import argparse
import json
import os

import torch

import decode
import evaluate
import tasks
from model import CONFIGS, Model

CANDIDATES = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", action="append", nargs=2, metavar=("MODEL", "FILE"), required=True)
    parser.add_argument("--held-out", required=True, help="folder of the task files; showcase.jsonl is written there")
    args = parser.parse_args()
    torch.set_num_threads(1)
    networks = []
    for name, path in args.checkpoint:
        network = Model(CONFIGS[name])
        network.load_state_dict(torch.load(path, map_location="cpu")["network"])
        evaluate.store_as_q8(network)
        networks.append(network)
    with open(os.path.join(args.held_out, "showcase.jsonl"), "w") as out:
        for task in tasks.TASKS:
            # Longer answers show more of the decoding, so they are tried first.
            samples = sorted(evaluate.read_set(args.held_out, task), key=lambda s: -len(s["answer"]))[:CANDIDATES]
            got = [decode.answers(network, [s["prompt"] for s in samples]) for network in networks]
            right = [s for n, s in enumerate(samples) if all(g[n] == s["answer"] for g in got)]
            out.write(json.dumps(right[0]) + "\n")


if __name__ == "__main__":
    main()
