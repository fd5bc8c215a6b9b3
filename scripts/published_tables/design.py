"""Design points of the four configurations: what is changed, as a command line, and the figures of the whole model."""
import json
import pathlib
import sys
from typing import NamedTuple

from points import add, scaled

from .document import resolved
from .runs import DISTRIBUTIONS, SHAPES

ORDER = ("baseline", "compression", "wifiv", "full")
COMPRESSED, WIDE = ("compression", "full"), ("wifiv", "full")
NAMES = {"baseline": "Baseline", "compression": "Compression", "wifiv": "WIFiV-LPDDR", "full": "Full"}
BENCHMARKS = ("HumanEval", "MBPP", "GSM8K", "MATH", "IFEval")
SOURCE = "arXiv 2609.01084"


class Model(NamedTuple):
    name: str  # for people
    shape: str
    chip: str  # class of configurations
    layers: int
    settings: tuple  # of DAT-FFN by benchmark, quoted
    latency: float  # gain of Full over Baseline, quoted
    energy: float

    @property
    def subject(self):
        return f"{self.name} on the {'NX' if self.chip == 'nx' else 'Nano'} class"

    @property
    def middle(self):
        """The setting in the middle of the benchmarks': where one setting stands for all."""
        return sorted(self.settings)[len(self.settings) // 2]


MODELS = {
    "1.5b": Model("Fast-dLLM v2 1.5B", "fast-dllm-v2-1.5b", "nano", 28, (0, 3, 2, 3, 4), 2.88, 3.79),
    "7b": Model("Fast-dLLM v2 7B", "fast-dllm-v2-7b", "nx", 28, (4, 2, 6, 4, 5), 4.44, 3.96),
}


class Point(NamedTuple):
    model: str
    configuration: str
    change: str  # canonical JSON of merged()


def merged(*changes):
    """One change out of several, later ones last. Keys of a change, all optional:

    prompt, reply, setting, block, seed    a number instead of the options', the benchmark's, the model's
    clock                                  factor on the NPU's clock
    bandwidth                              of wide memory, times plain memory's
    distribution                           keys of the distribution of decisions that are replaced
    set                                    assignments of all configurations
    wide, compressed, uncompressed         of those with wide memory, with compression, without it
    price                                  factor on a part of the energy, by part
    """
    result = {}
    for change in changes:
        for key, value in change.items():
            if key in ("set", "wide", "compressed", "uncompressed"):
                result[key] = [*result.get(key, []), *value]
            elif key == "distribution":
                result[key] = {**result.get(key, {}), **value}
            elif key == "clock":
                result[key] = value * result.get(key, 1)
            elif key == "price":
                result[key] = {
                    **result.get(key, {}),
                    **{p: f * result.get(key, {}).get(p, 1) for p, f in value.items()},
                }
            else:
                result[key] = value
    return result


def point(model, configuration, *changes):
    return Point(model, configuration, json.dumps(merged(*changes), sort_keys=True))


def context(tokens, block=32):
    """Positions for so many tokens, in whole blocks."""
    return str((tokens + block - 1) // block * block)


def distribution_of(options, replaced):
    """--trajectory as a word, or as a document with keys replaced."""
    if not replaced:
        return options.trajectory
    path = DISTRIBUTIONS / f"{options.trajectory}.json"
    path = path if path.exists() else pathlib.Path(options.trajectory)
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as trouble:
        sys.exit(
            f"published: --trajectory {options.trajectory}: {trouble}; give one of {', '.join(sorted(p.stem for p in DISTRIBUTIONS.glob('*.json')))}"
        )
    if document.get("schema") != "dllm-vp.distribution.1":
        sys.exit(
            f"published: --trajectory {options.trajectory}: is not a distribution, and its {', '.join(replaced)} cannot be varied; name a distribution"
        )
    return {**document, **replaced}


def wide_memory(chip, bandwidth):
    """Assignments: so many times plain memory's channels, with the class's capacity behind them, so that refresh and
    standby of all channels together stay what they are.
    """
    plain, wide = (resolved(f"{chip}/{c}")["memory"]["config"] for c in ("baseline", "wifiv"))
    channels = plain["channels"] * bandwidth
    energies = {key: value * wide["channels"] / channels for key, value in wide["energy"].items()}
    return [f"memory.config.channels={channels}", *(f"memory.config.energy.{k}={v}" for k, v in energies.items())]


def arguments(options, wanted, layers=None):
    """Of dllm-vp run --data shape for a point, or a slice of it."""
    model, change = MODELS[wanted.model], json.loads(wanted.change)
    prompt, reply, block = (
        change.get("prompt", options.prompt),
        change.get("reply", options.reply),
        change.get("block", 32),
    )
    shape = (
        model.shape if block == 32 else {**json.loads((SHAPES / f"{model.shape}.json").read_text()), "bd_size": block}
    )
    words = [
        "--config",
        f"{model.chip}/{wanted.configuration}",
        "--model",
        shape,
        "--trajectory",
        distribution_of(options, change.get("distribution")),
        "--prompt-tokens",
        str(prompt),
        "--generate",
        str(reply),
        "--context",
        context(prompt + reply, block),
    ]
    if layers is not None:
        words += ["--layers", str(layers)]
    if "seed" in change:
        words += ["--seed", str(change["seed"])]
    assignments = list(change.get("set", ()))
    if wanted.configuration in WIDE:
        assignments += change.get("wide", ())
        assignments += wide_memory(model.chip, change["bandwidth"]) if "bandwidth" in change else ()
    assignments += change.get("compressed" if wanted.configuration in COMPRESSED else "uncompressed", ())
    if wanted.configuration in COMPRESSED:
        assignments.append(
            f"decode.compression.dat.setting={change.get('setting', model.middle if options.frozen is None else options.frozen)}"
        )
    if "clock" in change:
        assignments.append(
            f"npu.clock_hz={int(resolved(f'{model.chip}/baseline')['npu']['clock_hz'] * change['clock'])}"
        )
    return [*words, *(word for a in assignments for word in ("--set", a))]


def line(first, second, at):
    """The straight line through (x, figures) twice, at `at`; leaf by leaf, a leaf that one side lacks is 0 there."""
    (x0, y0), (x1, y1) = first, second
    share = (at - x0) / (x1 - x0)
    return add(scaled(y0, 1 - share), scaled(y1, share))


def whole_models(options, runs, points):
    """{point: figures of the whole model}, or of the straight line through two slices."""
    points = list(dict.fromkeys(points))
    if not options.slices:
        return runs.all({p: arguments(options, p) for p in points})
    results = runs.all({(p, layers): arguments(options, p, layers) for p in points for layers in options.slices})
    first, second = options.slices
    return {p: line((first, results[p, first]), (second, results[p, second]), MODELS[p.model].layers) for p in points}


def energy(figures, change=None):
    """In uJ, parts at the prices of a change."""
    factors = (change or {}).get("price", {})
    return sum(v * factors.get(part, 1) for part, v in figures["energy_uj"].items())


def gains(figures, model, change, of="full", over="baseline"):
    """(latency, energy) of configuration `over` divided by those of `of`, at a change."""
    a, b = figures[point(model, over, change)], figures[point(model, of, change)]
    return a["latency_us"] / b["latency_us"], energy(a, change) / energy(b, change)
