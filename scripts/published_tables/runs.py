"""Runs of `dllm-vp run --data shape`, kept when they are finished: what a figure is made of."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from points import ENERGY_PARTS, ROOT, memory_reads

SHAPES = ROOT / "firmware/models/shapes"
DISTRIBUTIONS = ROOT / "tlm/platform/trajectories"
CONFIGURATIONS = ROOT / "tlm/platform/configs"


def reduced(stats):
    """What is kept of a run: times in us, energies in uJ by part, bytes read by precision."""
    total = stats["total"]
    counters = total["counters"]
    read = {}
    for by in memory_reads(counters).values():
        for precision, n in by.items():
            read[precision] = read.get(precision, 0) + n
    network = total.get("compression", {}).get("network", {})
    return {
        "latency_us": total["latency_us"],
        "prefill_us": total["phases"]["prefill"]["us"],
        "forwards": total["forwards"],
        "energy_uj": {p: total["energy"]["system_pj"]["parts"][p] * 1e-6 for p in ENERGY_PARTS},
        "prefill_uj": total["phases"]["prefill"]["system_pj"] * 1e-6,
        "read": read,
        "rows_opened": counters["memory"].get("commands", {}).get("act1", 0),
        "channels": network.get("channels", {}),
        "staged": total["mapping"]["bytes_staged"],
        "npu_work": counters["npu"].get("work", {}),
    }


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def revision():
    """Commit of the sources, with -dirty where they were changed."""

    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()

    return (git("rev-parse", "--short", "HEAD") or "no repository") + ("-dirty" if git("status", "--porcelain") else "")


def clock(seconds):
    return f"{int(seconds) // 60}m{int(seconds) % 60:02d}s"


class Runs:
    """options: program, out, jobs, quiet. A run that fails ends the program with its sentence; finished ones stay."""

    def __init__(self, options):
        self.options = options
        self.kept = options.out / "runs"
        self.kept.mkdir(parents=True, exist_ok=True)
        self.inputs = options.out / "inputs"
        self.inputs.mkdir(exist_ok=True)
        read = (
            options.program,
            *sorted(CONFIGURATIONS.rglob("*.json")),
            *sorted(SHAPES.glob("*.json")),
            *sorted(DISTRIBUTIONS.glob("*.json")),
            *sorted((ROOT / "firmware/models").glob("*.compression.gguf")),
        )
        self.fixed = [digest(p) for p in read]

    def file_of(self, document):
        """A document as a file, for words of a command line that are documents."""
        path = self.inputs / f"{hashlib.sha256(json.dumps(document).encode()).hexdigest()[:16]}.json"
        if not path.exists():
            unfinished = path.with_suffix(f".{os.getpid()}.part")
            unfinished.write_text(json.dumps(document))
            unfinished.rename(path)
        return str(path)

    def path_of(self, arguments):
        files = [
            digest(a) for a in arguments if isinstance(a, str) and a.endswith(".json") and pathlib.Path(a).is_file()
        ]
        return (
            self.kept / f"{hashlib.sha256(json.dumps([self.fixed, files, arguments]).encode()).hexdigest()[:24]}.json"
        )

    def read(self, path):
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):  # not run yet, or cut off by a full disk
            return None

    def run(self, arguments):
        words = [self.file_of(a) if isinstance(a, dict) else a for a in arguments]
        with tempfile.TemporaryDirectory(prefix="dllm-vp-published-") as out:
            command = [
                self.options.program,
                "run",
                "--data",
                "shape",
                "--quiet",
                "--timeline-prompts",
                "0",
                "--out",
                out,
                *words,
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(
                    f"published: dllm-vp run {' '.join(words)}: {(done.stderr.strip() or done.stdout.strip() or 'no output').splitlines()[-1]}"
                )
            result = reduced(json.loads((pathlib.Path(out) / "stats.json").read_text()))
        path = self.path_of(arguments)
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        unfinished.write_text(json.dumps(result))
        unfinished.rename(path)
        return result

    def all(self, wanted):
        """{name: reduced()} of {name: arguments}; an argument is a word or a document to be read from a file. Equal
        ones run once.
        """
        unique = {json.dumps(a): a for a in wanted.values()}
        results = {key: result for key, a in unique.items() if (result := self.read(self.path_of(a))) is not None}
        missing = {key: a for key, a in unique.items() if key not in results}
        begun, kept = time.monotonic(), len(results)
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        try:
            running = {pool.submit(self.run, a): key for key, a in missing.items()}
            for done in concurrent.futures.as_completed(running):
                results[running[done]] = done.result()
                made = len(results) - kept
                left = (time.monotonic() - begun) / made * (len(missing) - made)
                if not self.options.quiet:
                    label = " ".join(a for a in missing[running[done]][:6] if isinstance(a, str))
                    print(f"[{len(results)}/{len(unique)}, {clock(left)} left] {label}", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return {name: results[json.dumps(a)] for name, a in wanted.items()}
