#!/usr/bin/env python3
"""How many million instructions per second of processor time the RV64 seat executes inside the platform.

While the NPU runs: whole answers with the firmware's image, less what the same answers take with the firmware compiled
for the host. By register traffic: bare-metal programs, from hardly any to one register access in some thirty
instructions.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"rv64_platform_bench: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def answers(program, image, prompts, seat, quantum_ns, folder):
    """Processor seconds and instructions of so many answers."""
    command = [program, "run", "--quiet", "--config", "fixed", "--timeline-prompts", "0", "--out", folder, "--limit", prompts,
               "--prompts", ROOT / "testbenches/vectors/tasks/arith.jsonl", "--cpu", seat]
    if seat == "rv64":
        command += ["--firmware", image, "--set", f"cpu.rv64.quantum_ns={quantum_ns}"]
    seconds, _ = processor_seconds(command)
    counters = json.loads((pathlib.Path(folder) / "stats.json").read_text())["total"]["counters"]
    return seconds, counters["cpu0"]["instructions"] if seat == "rv64" else 0


def best(measure, rounds):
    """The fastest of so many: what disturbs a measurement makes it slower."""
    return min((measure() for _ in range(rounds)), key=lambda result: result[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build directory with dllm-vp and the images")
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    program = build / "tlm/platform/dllm-vp"
    firmware = build / "firmware/firmware_rv64.elf"

    with tempfile.TemporaryDirectory() as folder:
        native, _ = best(lambda: answers(program, firmware, options.prompts, "native", 0, folder), options.rounds)
        print(f"{options.prompts} answers, native: {native:.2f} s of processor time")
        for quantum_ns in (100, 1000, 100000):
            seconds, instructions = best(
                lambda q=quantum_ns: answers(program, firmware, options.prompts, "rv64", q, folder), options.rounds)
            print(f"{options.prompts} answers, rv64, quantum {quantum_ns:6d} ns: {seconds:.2f} s, {instructions * 1e-6:.0f} M "
                  f"instructions, {instructions * 1e-6 / (seconds - native):.0f} MIPS while the NPU runs")

    def boot(image):
        elf = build / f"testbenches/firmware_images/{image}.elf"
        seconds, said = best(lambda: processor_seconds([program, "boot", elf, "--uart", "none"]), options.rounds)
        instructions, accesses = map(int, re.search(r"(\d+) instructions.* (\d+) register accesses", said).groups())
        return seconds, instructions, accesses

    start = boot("hello")
    for image in ("numerics", "flood_uart"):
        seconds, instructions, accesses = (a - b for a, b in zip(boot(image), start, strict=True))
        print(f"{image:12s} {instructions * 1e-6:6.1f} M instructions, one register access in {instructions / accesses:7.0f}: "
              f"{instructions * 1e-6 / seconds:.0f} MIPS, less what hello takes")


if __name__ == "__main__":
    main()
