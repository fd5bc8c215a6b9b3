"""Writes the held-out samples of every task, short and long-prefix, one JSON object a line: id, prompt (without suffix), answer."""

import argparse
import json
import os

import tasks


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for task in tasks.TASKS:
        for suffix in ("", "_long"):
            samples = tasks.held_out_set(task, args.count, args.seed, long=bool(suffix))
            with open(os.path.join(args.out, f"{task}{suffix}.jsonl"), "w") as file:
                for n, (prompt, answer) in enumerate(samples):
                    file.write(json.dumps({"id": f"{task}{suffix}-{n:03}", "prompt": prompt, "answer": answer}) + "\n")


if __name__ == "__main__":
    main()
