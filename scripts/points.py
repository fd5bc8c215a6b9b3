"""Samples of the held-out tasks decoded by dllm-vp, and what is kept of a run: what four_configurations and sensitivity stand on."""

import concurrent.futures
import hashlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLES_AT_A_TIME = 10
SAMPLES_OF_A_TASK = 500
ENERGY_PARTS = ("dram_array", "dram_io", "conversion", "compute", "sram", "static", "cpu")


def load_script(name):
    """A script of this folder as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


quality = load_script("quality")
TASKS = (*quality.TASKS, *(f"{t}_long" for t in quality.TASKS))
# The memory and the array decide no token, so scores come from the platform that simulates fastest, with the decode of the others.
SCORED_ON = "fixed"
SCORED_AS = {"baseline": {"decode.compression.kv": "q8"}, "full": {"decode.compression.kv": "brq", "decode.compression.ffn": "dat"}}


def family(task):
    return task.removesuffix("_long")


def add(a, b):
    """Sums two results leaf by leaf; lists are put together."""
    if isinstance(a, dict):
        return {k: add(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k)) for k in (*a, *(k for k in b if k not in a))}
    return a + b


def scaled(value, factor):
    if isinstance(value, dict):
        return {k: scaled(v, factor) for k, v in value.items()}
    return value * factor


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def memory_reads(counters):
    """Bytes as delivered, by purpose and precision."""
    return {purpose: {p.removesuffix("_bytes"): n for p, n in by.items()} for purpose, by in counters["memory"]["traffic"]["read"].items()}


def each_answer(stats, trajectory):
    """Per answer: whether it is right, which tokens came when (a digest), what it took, how its forwards read the prefix and moved the network."""
    kept = []
    for answer, decoded in zip(stats["answers"], trajectory["answers"]):
        network = answer.get("compression", {}).get("network", {})
        kept.append({"id": answer["id"], "right": bool(answer["right"]), "forwards": answer["forwards"],
                     "decoded": hashlib.sha256(json.dumps(decoded).encode()).hexdigest()[:16],
                     "latency_us": answer["latency_us"], "energy_uj": answer["energy"]["system_pj"]["value"] * 1e-6,
                     "denoise": answer["phases"]["denoise"], "prefix": answer["phases"].get("prefix", {}),
                     **{k: network[k] for k in ("mean_drift", "largest_drift", "channels") if k in network}})
    return kept


def reduced(stats, trajectory):
    """What is kept of a run: sums over its answers, and a list of these."""
    total = stats["total"]
    counters = total["counters"]
    phases = total["phases"]
    result = {
        "answers": each_answer(stats, trajectory),
        "latency_us": total["latency_us"],
        "forwards": total["forwards"],
        "committed": sum(a["tokens"]["committed"] for a in stats["answers"]),
        "denoising": sum(a["tokens"]["committed"] / a["tokens_per_forward"] for a in stats["answers"] if a["tokens_per_forward"]),
        "energy_pj": {part: total["energy"]["system_pj"]["parts"][part] for part in ENERGY_PARTS},
        "read": memory_reads(counters),
        "written": sum(n for by in counters["memory"]["traffic"]["write"].values() for n in by.values()),
        "macs": {p: counters["npu"]["work"][f"macs_{p}"] for p in ("bf16", "q8", "q4", "q2")},
        "rows_opened": counters["memory"].get("commands", {}).get("act1", 0),
        "prefill_pj": phases["prefill"]["system_pj"],
        "phase_us": {"prefill": phases["prefill"]["us"], "denoise": phases["denoise"]["us"], "fill": phases["fill"]["us"]},
    }
    for what in ("prefix", "network"):
        if what in phases:
            result[f"{what}_us"] = {part: phases[what][part]["us"] for part in phases[what]}
    compression = total.get("compression", {})
    if "prefix" in compression:
        prefix = compression["prefix"]
        reads = prefix["reads"]
        result["entries"] = {**reads["mapped"], "other q8": reads["plain"] + reads["unmapped"]}
        result["made"] = {"maps": prefix["maps"], "bases": prefix["bases"]}
    if "network" in compression:
        result["channels"] = compression["network"]["channels"]
    return result


class Bench:
    """Runs samples, or takes what earlier runs left under a key made of everything that decides them.

    options: program, model, threshold (or None), set (assignments for all runs), jobs, quiet, out. `script` is who complains when a run fails.
    """

    def __init__(self, options, script):
        self.options, self.script = options, script
        self.points = options.out / "points"
        self.points.mkdir(parents=True, exist_ok=True)
        model = ROOT / f"firmware/models/{options.model}.gguf"
        model = model if model.exists() else pathlib.Path(options.model)
        sidecar = model.with_suffix(".compression.gguf")
        self.fixed = [quality.digest(options.program), inspect.getsource(each_answer), inspect.getsource(reduced)]
        shipped = ROOT / "tlm/platform/configs"
        configurations = sorted((*shipped.glob("*.json"), *shipped.glob("small-*/*.json")))
        self.fixed += [quality.digest(p) for p in (model, sidecar, *configurations) if p.exists()]

    def part(self, config, settings, task, first, last):
        """What became of the samples [first, last): reduced() or {"trouble": sentence}. settings: --set by path, and "threshold"."""
        options = self.options
        arguments = ["--config", config, "--model", options.model, "--timeline-prompts", "0"]
        threshold = settings.get("threshold", options.threshold)
        if threshold is not None:
            arguments += ["--threshold", str(threshold)]
        for path, value in settings.items():
            if path != "threshold":
                arguments += ["--set", f"{path}={json.dumps(value)}"]
        for assignment in options.set:
            if config != SCORED_ON or assignment.startswith("decode."):
                arguments += ["--set", assignment]
        lines = (ROOT / "testbenches/vectors/tasks" / f"{task}.jsonl").read_text().splitlines(keepends=True)
        samples = "".join(lines[first:last])
        key = hashlib.sha256(json.dumps([self.fixed, arguments, samples]).encode()).hexdigest()
        kept = self.points / f"{key[:24]}.json"
        if kept.exists():
            try:
                return json.loads(kept.read_text())
            except ValueError:
                pass  # cut off by a full disk, or edited: decoded again
        with tempfile.TemporaryDirectory(prefix="dllm-vp-points-") as out:
            out = pathlib.Path(out)
            prompts = out / "samples.jsonl"
            prompts.write_text(samples)
            done = subprocess.run([options.program, "run", "--quiet", "--out", out, "--prompts", prompts, *arguments], capture_output=True, text=True)
            if done.returncode != 0:
                return {"trouble": (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["no output"])[-1]}
            result = reduced(*(json.loads((out / name).read_text()) for name in ("stats.json", "trajectory.json")))
        unfinished = kept.with_suffix(f".{os.getpid()}.part")
        unfinished.write_text(json.dumps(result))
        unfinished.rename(kept)
        return result

    def all(self, wanted):
        """{point: result} of points (config, settings as items, task, first, last); ends the program when one fails."""
        parts = {}
        for point in wanted:
            config, settings, task, first, last = point
            for begin in range(first, last, SAMPLES_AT_A_TIME):
                parts[point, begin] = (config, dict(json.loads(settings)), task, begin, min(begin + SAMPLES_AT_A_TIME, last))
        done = {}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            running = {pool.submit(self.part, *arguments): key for key, arguments in parts.items()}
            for ready in concurrent.futures.as_completed(running):
                key = running[ready]
                result = done[key] = ready.result()
                if "trouble" in result:
                    pool.shutdown(wait=False, cancel_futures=True)
                    sys.exit(f"{self.script}: {key[0][0]}, {key[0][2]} from {key[1]}: {result['trouble']}")
                if not self.options.quiet:
                    print(f"[{len(done)}/{len(parts)}] {key[0][0]} {key[0][1]} {key[0][2]} from {key[1]}", file=sys.stderr, flush=True)
        results = {}
        for key in parts:
            point = key[0]
            results[point] = add(results[point], done[key]) if point in results else done[key]
        return results


def point(config, settings, task, first, last):
    return config, json.dumps(sorted(settings.items())), task, first, last


def right(result):
    """Whether each answer is right, in order."""
    return [a["right"] for a in result["answers"]]


def per_answer(result):
    """Figures of an answer on average, energies in microjoules; `answers` as they are."""
    n = len(result["answers"])
    figures = {k: v if k == "answers" else scaled(v, 1 / n) for k, v in result.items()}
    figures["energy_uj"] = {k: v * 1e-6 for k, v in figures.pop("energy_pj").items()}
    figures["total_uj"] = sum(figures["energy_uj"].values())
    figures["prefill_uj"] = figures.pop("prefill_pj") * 1e-6
    figures["decode_us"] = figures["latency_us"] - figures["phase_us"]["prefill"]
    figures["decode_uj"] = figures["total_uj"] - figures["prefill_uj"]
    figures["tokens_per_forward"] = result["committed"] / result["denoising"] if result["denoising"] else 0
    return figures


def mean_figures(list_of_figures):
    """Arithmetic mean over tasks, leaf by leaf; a leaf that a task lacks is 0 there."""
    whole = list_of_figures[0]
    for figures in list_of_figures[1:]:
        whole = add(whole, figures)
    averaged = scaled({k: v for k, v in whole.items() if k != "answers"}, 1 / len(list_of_figures))
    return {**averaged, "answers": whole["answers"]}


def bits_of_entries(figures):
    """(mean bits of a residual over the reads by a tier map, over all reads of the prefix); None without such reads."""
    entries = figures.get("entries", {})
    bits = sum({"q8": 8, "q4": 4, "q2": 2, "q0": 0}[tier] * n for tier, n in entries.items() if tier != "other q8")
    whole = sum(entries.values())
    mapped = whole - entries.get("other q8", 0)
    return bits / mapped if mapped else None, (bits + 8 * entries["other q8"]) / whole if whole else None


def shares_of(counts):
    """Percent of each, in order, divided by strokes."""
    whole = sum(counts.values())
    return "/".join(f"{100 * n / whole:.0f}" for n in counts.values()) if whole else ""


def markdown(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "| --- |" + " --- |" * (len(header) - 1), *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def flat(row, prefix=""):
    """A row of a table out of nested dictionaries; names joined by points."""
    cells = {}
    for key, value in row.items():
        cells.update(flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return cells
