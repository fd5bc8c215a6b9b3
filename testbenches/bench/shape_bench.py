#!/usr/bin/env python3
"""What runs without data cost on this machine: by model, length and channels; and stream mode against every command, on slices.

CPU seconds and the most memory a run had. One run at a time.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SMALL = ("fast-dllm-v2-1.5b", "nano/baseline")
MODELS = (SMALL, ("fast-dllm-v2-1.5b", "nano/full"), ("fast-dllm-v2-7b", "nx/baseline"), ("fast-dllm-v2-7b", "nx/full"), ("llada-8b", "phone/4-somr"))
LENGTHS = ((128, 32), (128, 64), (128, 128), (128, 256), (1024, 64))
CHANNELS = (4, 8, 16, 32)
SLICES = (("fast-dllm-v2-1.5b", ("nano/baseline", "nano/compression", "nano/wifiv", "nano/full")), ("fast-dllm-v2-7b", ("nx/baseline", "nx/full")),
          ("llada-8b", ("phone/3-npu", "phone/4-somr")))


def run(program, model, config, prompt, reply, *more):
    """(total of stats.json, CPU seconds, MB)"""
    context = (prompt + reply + 31) // 32 * 32
    with tempfile.TemporaryDirectory() as out:
        command = [program, "run", "--data", "shape", "--quiet", "--timeline-prompts", "0", "--out", out, "--config", config, "--model", model, "--trajectory",
                   "fast-dllm-v2", "--prompt-tokens", str(prompt), "--generate", str(reply), "--context", str(context), *more]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        message = process.stderr.read().decode().strip()
        _, status, used = os.wait4(process.pid, 0)
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"shape_bench: {' '.join(map(str, command))}: {message}")
        total = json.loads((pathlib.Path(out) / "stats.json").read_text())["total"]
    return total, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print()


def costs(total, seconds, megabytes):
    counters = total["counters"]
    return (total["forwards"], f"{counters['memory']['bytes_read'] * 1e-9:.0f}", f"{counters['npu']['counters']['descriptors'] * 1e-6:.2f}", f"{seconds:.1f}",
            f"{megabytes:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=("models", "lengths", "channels", "error"), help="one of the tables")
    options = parser.parse_args()
    program = options.program
    wanted = lambda name: options.only in (None, name)
    head = ("forwards", "GB read", "million descriptors", "CPU s", "MB of host memory")
    if wanted("models"):
        print("Whole models, prompt and reply of 128 tokens:\n")
        table(("model", "configuration", *head), ((m, c, *costs(*run(program, m, c, 128, 128))) for m, c in MODELS))
    if wanted("lengths"):
        print(f"{SMALL[0]}, {SMALL[1]}, by length:\n")
        table(("prompt", "reply", *head), ((p, r, *costs(*run(program, *SMALL, p, r))) for p, r in LENGTHS))
    if wanted("channels"):
        print(f"{SMALL[0]}, {SMALL[1]}, prompt 128, reply 64, by channels of the memory:\n")
        table(("channels", *head), ((n, *costs(*run(program, *SMALL, 128, 64, "--set", f"memory.config.channels={n}"))) for n in CHANNELS))
    if wanted("error"):
        print("Slices of two layers, prompt 64, reply 8: stream mode less every command simulated, percent, and how many times as fast:\n")
        rows = []
        for model, configs in SLICES:
            for config in configs:
                slice_ = (program, model, config, 64, 8, "--layers", "2")
                (stream, fast, _), (cycle, slow, _) = (run(*slice_, "--set", f"memory.mode={mode}") for mode in ("stream", "cycle"))
                off = lambda figure: f"{100 * (figure(stream) / figure(cycle) - 1):+.2f}"
                rows.append((model, config, off(lambda t: t["latency_us"]), off(lambda t: t["energy"]["system_pj"]["value"]),
                             off(lambda t: t["counters"]["memory"]["bytes_read"]), f"{slow / fast:.0f}"))
        table(("model", "configuration", "latency", "energy", "bytes read", "speed"), rows)


if __name__ == "__main__":
    main()
