"""Speed of `dllm-vp dram` on this machine.

Two tables: requests per second of wall time by channels and queue depth, for sequential and random reads; and, with
--peer, whole processes against each other on the same trace, taking turns in the same run.

    scripts/bench dram
    scripts/bench dram --peer "other=/path/to/other --config other.ini {ldst}"

In a peer's command {stl}, {ldst} (Ramulator's LD/ST) and {ds3} (DRAMsim3's) stand for the trace in that form. Each
process reads its trace and simulates it; the best of the rounds counts.
"""
import argparse
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

BURST = 32
SPAN = 1 << 30  # bytes of addresses in the traces


def speed(program, *arguments):
    """Millions of requests per second, as the program says itself: without reading the configuration."""
    done = subprocess.run([program, "dram", "--quiet", "--no-check", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {done.stderr.strip()}")
    return float(re.search(r"([\d.]+) M requests/s", done.stdout).group(1))


def scaling_table(program, requests, rounds):
    channels, depths = (1, 2, 4, 8, 16, 32), (8, 32, 64, 128)
    for pattern in ("stream", "random"):
        print(f"{pattern}, M requests/s ({requests:,} reads of {BURST} B, one thread)")
        print("  queue   " + "".join(f"{f'{c} ch':>9}" for c in channels))
        for depth in depths:
            cells = []
            for count in channels:
                options = ["--generate", pattern, "-n", requests, "--set", f"channels={count}",
                           "--set", f"controller.read_queue={depth}"]
                cells.append(max(speed(program, *options) for _ in range(rounds)))
            print(f"  {depth:>5}   " + "".join(f"{cell:9.2f}" for cell in cells), flush=True)


def write_traces(folder, pattern, requests):
    numbers = random.Random(1)
    paths = {form: folder / f"{pattern}.{form}" for form in ("stl", "ldst", "ds3")}
    files = {form: open(path, "w") for form, path in paths.items()}
    for i in range(requests):
        address = i * BURST % SPAN if pattern == "stream" else numbers.randrange(SPAN // BURST) * BURST
        files["stl"].write(f"0: read 0x{address:x}\n")
        files["ldst"].write(f"LD 0x{address:x}\n")
        files["ds3"].write(f"0x{address:x} READ 0\n")
    for file in files.values():
        file.close()
    return paths


def seconds(command):
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"bench: {shlex.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return took


def peer_table(program, peers, requests, rounds):
    contestants = {"dllm-vp": f"{shlex.quote(str(program))} dram --quiet --no-check --trace {{ldst}} --format ramulator",
                   "dllm-vp, checked": f"{shlex.quote(str(program))} dram --quiet --check --trace {{ldst}} --format ramulator",
                   **peers}
    with tempfile.TemporaryDirectory(prefix="dllm-vp-bench-") as name:
        folder = pathlib.Path(name)
        traces = {pattern: write_traces(folder, pattern, requests) for pattern in ("stream", "random")}
        best = {}
        for _ in range(rounds):
            for who, form in contestants.items():
                for pattern, paths in traces.items():
                    command = shlex.split(form)
                    command = [re.sub(r"\{(stl|ldst|ds3)\}", lambda m: str(paths[m.group(1)]), word) for word in command]
                    took = seconds(command)
                    best[who, pattern] = min(took, best.get((who, pattern), took))
    print(f"whole processes, {requests:,} reads of {BURST} B, best of {rounds}")
    print(f"  {'':20}{'stream s':>10}{'M req/s':>9}{'random s':>11}{'M req/s':>9}")
    for who in contestants:
        cells = "".join(f"{best[who, p]:{10 + (p == 'random')}.2f}{requests * 1e-6 / best[who, p]:9.2f}" for p in traces)
        print(f"  {who:20}{cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of each run (default 1000000)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts (default 3)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="another simulator, on the same trace")
    given = parser.parse_args()
    peers = {}
    for peer in given.peer:
        name, equals, command = peer.partition("=")
        if not equals or not name or not command:
            parser.error(f"--peer {peer}: expected NAME=COMMAND")
        peers[name] = command
    if peers:
        peer_table(given.program, peers, given.requests, given.rounds)
    else:
        scaling_table(given.program, given.requests, given.rounds)


if __name__ == "__main__":
    main()
