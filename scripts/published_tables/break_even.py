"""Where something stops to pay: the value of a parameter at which a gain becomes 1."""
from typing import NamedTuple

from points import ENERGY_PARTS

from .choices import ROOMY
from .crossing import MOST, middle, price_said, priced, said, verdict
from .design import MODELS, NAMES, ORDER, energy, gains, point, whole_models
from .document import Column, Section, Table, resolved, trajectory, value_at
from .ladder import MODEL
from .swaps import FIGURES, swaps

COMPRESSION_WIDE, COMPRESSION_PLAIN = ("full", "wifiv"), ("compression", "baseline")
WIDE_PLAIN, WIDE_COMPRESSED = ("wifiv", "baseline"), ("full", "compression")
EVERY = (COMPRESSION_WIDE, COMPRESSION_PLAIN, WIDE_PLAIN, WIDE_COMPRESSED)


def value(path, chip, configuration="full"):
    return value_at(resolved(f"{chip}/{configuration}"), path)


class Parameter(NamedTuple):
    name: str
    unit: str
    configured: object  # options, class -> value
    values: tuple  # simulated, rising
    change: object  # value -> change of design.merged()
    compares: tuple  # pairs (of, over)
    step: int  # refined to multiples of it; 0: to none between the values


PARAMETERS = (
    Parameter(
        "wide memory's bandwidth",
        "x plain",
        lambda o, chip: value("memory.config.channels", chip) / value("memory.config.channels", chip, "baseline"),
        (1, 2, 4, 8),
        lambda v: {"bandwidth": v},
        EVERY,
        0,
    ),
    Parameter(
        "core feed",
        "columns per slot",
        lambda o, chip: value("memory.config.tagged.core_feed", chip),
        (1, 2, 3, 4),
        lambda v: {"wide": [f"memory.config.tagged.core_feed={v}"]},
        (COMPRESSION_WIDE, WIDE_COMPRESSED),
        0,
    ),
    Parameter(
        "conversion",
        "clocks",
        lambda o, chip: value("memory.config.tagged.convert_cycles", chip),
        (0, 16, 255),
        lambda v: {"set": [f"memory.config.tagged.convert_cycles={v}"]},
        (COMPRESSION_WIDE, COMPRESSION_PLAIN, WIDE_COMPRESSED),
        1,
    ),
    Parameter(
        "CPU per descriptor",
        "cycles",
        lambda o, chip: value("cpu.work_cycles.descriptor", chip),
        (0, 355, 710, 1420),
        lambda v: {"set": [f"cpu.work_cycles.descriptor={v}"]},
        (COMPRESSION_WIDE, COMPRESSION_PLAIN),
        10,
    ),
    Parameter("prompt", "tokens", lambda o, _: o.prompt, (16, 160, 512, 1536), lambda v: {"prompt": v}, EVERY, 32),
    Parameter("reply", "tokens", lambda o, _: o.reply, (8, 32, 64, 256), lambda v: {"reply": v}, EVERY, 8),
    Parameter("block", "tokens", lambda o, _: 32, (8, 16, 32, 64), lambda v: {"block": v, **(ROOMY if v > 32 else {})}, EVERY, 0),
    Parameter(
        "tokens per forward",
        "tokens",
        lambda o, _: trajectory(o.trajectory).get("tokens_per_forward"),
        (1, 2, 4, 8),
        lambda v: {"distribution": {"tokens_per_forward": v}},
        EVERY,
        0,
    ),
    Parameter(
        "setting of DAT-FFN",
        "",
        lambda o, _: None,
        (0, 2, 3, 4, 6),
        lambda v: {"setting": v},
        (COMPRESSION_WIDE, COMPRESSION_PLAIN, WIDE_COMPRESSED),
        1,
    ),
)


def row_points(figures, options, model, parameter, values, pair, i):
    return [(v, gains(figures, model, parameter.change(v), *pair)[i]) for v in values]


def simulated(options, runs, model):
    """[(parameter, pair, figure, points)], values added where a gain crosses 1, options.refine times."""
    chosen = [p for p in PARAMETERS if not options.choices or any(part in p.name for part in options.choices)]
    values = {p.name: list(p.values) for p in chosen}
    for turn in range(options.refine + 1):
        figures = whole_models(
            options,
            runs,
            [
                point(model, c, p.change(v))
                for p in chosen
                for v in values[p.name]
                for c in dict.fromkeys(c for pair in p.compares for c in pair)
            ],
        )
        rows = [
            (p, pair, i, row_points(figures, options, model, p, values[p.name], pair, i))
            for p in chosen
            for pair in p.compares
            for i in (0, 1)
        ]
        added = {}
        for p, _, _, points in rows:
            v = verdict(points)
            if v.kind == "crosses" and p.step and (m := middle(*v.bracket, p.step)) is not None:
                added.setdefault(p.name, set()).add(m)
        if turn == options.refine or not added:
            return rows
        for name, more in added.items():
            values[name] = sorted({*values[name], *more})
    return rows


def compares(pair):
    return f"{NAMES[pair[0]]} / {NAMES[pair[1]]}"


def price_rows(options, runs, model):
    """Of every price: the factor at which a gain in energy becomes 1; energies are linear in prices, so no run is
    needed but the configured ones.
    """
    figures = whole_models(options, runs, [point(model, c) for c in ORDER])
    rows = []
    for part in ENERGY_PARTS:
        for of, over in EVERY:
            base, own = figures[point(model, over)], figures[point(model, of)]
            b, o = base["energy_uj"][part], own["energy_uj"][part]
            if b == 0 and o == 0:
                continue
            rows.append(
                (part, (of, over), *priced(energy(base) - b, energy(own) - o, b, o), energy(base) / energy(own))
            )
    return rows


def break_even(options, runs):
    sections = []
    for model in options.models:
        if model == MODEL:
            sections.append(swaps(options, runs))
            continue
        m = MODELS[model]
        rows = simulated(options, runs, model)
        cells, drawn = [], []
        for p, pair, i, points in rows:
            v, (what, kind) = verdict(points), FIGURES[i]
            cells.append(
                [p.name, p.unit, p.configured(options, m.chip), compares(pair), what, said(v, points, p.unit), v.value]
            )
            drawn.append(
                {
                    "name": p.name,
                    "what": what,
                    "kind": kind,
                    "unit": p.unit,
                    "compares": compares(pair),
                    "configured": p.configured(options, m.chip),
                    "points": [list(x) for x in points],
                    "verdict": v.kind,
                    "value": v.value,
                    "bracket": None if v.bracket is None else list(v.bracket),
                }
            )
        simulated_table = Table(
            "Parameters that are simulated",
            [
                Column("parameter"),
                Column("unit"),
                Column("as configured", "choice"),
                Column("gain of"),
                Column("in"),
                Column("pays"),
                Column("gain is 1 at", "computed", "", 3),
            ],
            cells,
            (
                "Latency is measured, energy modelled; between simulated values the gain is taken to be straight in its logarithm.",
            ),
        )
        prices, priced_cells = price_rows(options, runs, model), []
        for part, pair, v, at_none, at_most, now in prices:
            priced_cells.append(
                [f"price of {part.replace('_', ' ')}", compares(pair), price_said(v, at_none, at_most, now), v.value]
            )
            drawn.append(
                {
                    "name": f"price of {part.replace('_', ' ')}",
                    "what": "energy",
                    "kind": "modelled",
                    "unit": "x configured",
                    "compares": compares(pair),
                    "configured": 1,
                    "points": [[0, at_none], [1, now], [MOST, at_most]],
                    "verdict": v.kind,
                    "value": v.value,
                    "bracket": None,
                }
            )
        price_table = Table(
            "Prices, solved",
            [
                Column("price"),
                Column("gain in energy of"),
                Column("pays"),
                Column("gain is 1 at times the configured price", "modelled", "x", 3),
            ],
            priced_cells,
            ("Energy is counts times prices, so the factor follows from the configured runs.",),
        )
        charts = [
            {
                "type": "break_even",
                "title": "Where it stops to pay",
                "subject": m.subject,
                "kind": "measured",
                "unit": "x",
                "rows": drawn,
            }
        ]
        sections.append(Section(m.subject, [simulated_table, price_table], charts, title="Where it stops to pay"))
    return sections
