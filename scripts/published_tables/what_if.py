"""How far towards the publication's energy: by choices of ours, step by step, and what the formula of a read can give
at best.
"""
import json

from points import ROOT

from .causes import EFFECTS, WITHOUT, setting_of
from .design import MODELS, NAMES, SOURCE, WIDE, energy, merged, point, whole_models
from .document import Column, Section, Table
from .energy_limit import Prices, gain, mixed, scale_for, share_left
from .four import GAIN_COLUMNS, flat, gains_at, points_of
from .runs import DISTRIBUTIONS, SHAPES
from .svg import waterfall

DRAM = ROOT / "gen/spec/dram/lpddr5.json"
AGGRESSIVE, LONG = 6, 128
MEAN_BITS = 4.6861  # of a prefix entry's residual, quoted
VENDOR_WIDE = 1.9  # pJ/bit of a wide mobile DRAM, quoted (Samsung, LPW; gen/spec/dram/lpddr5.json has the plain one's)


def steady():
    """The distribution that compression is made for, as replaced keys."""
    document = json.loads((DISTRIBUTIONS / "steady.json").read_text())
    return {k: document[k] for k in ("tokens_per_forward", "drift")}


def towards(options, model):
    """[(what is assumed on top of the row before, setting, change)]"""
    start = setting_of(options, model)
    steps = [
        ("as configured", start, {}),
        (f"setting {AGGRESSIVE} of DAT-FFN for every benchmark", AGGRESSIVE, {}),
        ("one token per forward, drift below 0.05 (distribution steady)", AGGRESSIVE, {"distribution": steady()}),
        (f"replies of {LONG} tokens, so that the prefill is small", AGGRESSIVE, {"reply": LONG}),
        ("no corrections of q4 and q2", AGGRESSIVE, {"compressed": ["decode.compression.dat.corrections=0"]}),
        (
            "none of the effects of a real memory, CPU issues at once",
            AGGRESSIVE,
            merged(*(WITHOUT[n][2] for n in EFFECTS)),
        ),
        ("memory's energy alone", AGGRESSIVE, WITHOUT["prices"][2]),
    ]
    changes = []
    for _, _, change in steps:
        changes.append(merged(changes[-1] if changes else {}, change))
    return [(name, setting, change) for (name, setting, _), change in zip(steps, changes)]


def steps(options, runs, model):
    m, rows = MODELS[model], towards(options, model)
    figures = whole_models(
        options, runs, [p for _, setting, change in rows for p in points_of(model, setting, change).values()]
    )
    at = [(name, gains_at(figures, model, setting, change)) for name, setting, change in rows]
    cost = prices()
    cheaper = (cost.core + cost.down) / VENDOR_WIDE
    at.append(
        (
            f"a bit of the wide memory at {VENDOR_WIDE} pJ (quoted of a vendor's), of plain LPDDR5 at {cost.core + cost.down:.1f}",
            {c: (t, e * cheaper if c in WIDE else e) for c, (t, e) in at[-1][1].items()},
        )
    )
    last = at[-1][1]["full"]
    note = f"Each row keeps the assumptions of the rows before. Quoted for Full ({SOURCE}): {m.latency} in latency, {m.energy} in energy; the last row comes to {last[1]:.2f}."
    gained = [(name, g["full"][1]) for name, g in at]
    table = Table(
        "Assumptions added one after another",
        [Column("assumed"), *GAIN_COLUMNS],
        [[n, *flat(g)] for n, g in at],
        (note,),
    )
    drawing = waterfall(
        f"Energy gain of Full towards the publication's, {m.subject}",
        gained[0],
        [*gained[1:], ("all of them", last[1])],
    )
    return Section(m.subject, [table], [], {f"what_if_{model}.svg": drawing}, "Towards the publication")


def prices():
    """Of a read, as configured: choices of gen/spec/dram."""
    values = {v["name"]: v["value"] for v in json.loads(DRAM.read_text())["energy"]}
    return Prices(values["core_read_pj_per_bit"], values["down_read_pj_per_bit"], values["convert_q4_pj_per_element"])


def weights(model):
    """Elements that a denoising forward reads: {part: n}."""
    shape = json.loads((SHAPES / f"{MODELS[model].shape}.json").read_text())
    width, layers = shape["hidden_size"], shape["num_hidden_layers"]
    return {
        "feed-forward": 3 * width * shape["intermediate_size"] * layers,
        "attention": width * (2 * width + 2 * shape["num_key_value_heads"] * shape["head_dim"]) * layers,
        "vocabulary": width * shape["vocab_size"],
    }


def touched(figures):
    """Shares of the channels of interior steps, by bits."""
    channels = figures["channels"]
    whole = sum(channels.values())
    return {int(name[1:]): n / whole for name, n in channels.items()} if whole else None


def limit(options, runs, model):
    """What E(p) gives at best, and what would have to hold for the quoted gain."""
    m, setting, cost, read = MODELS[model], setting_of(options, model), prices(), weights(model)
    share = read["feed-forward"] / sum(read.values())
    figures = whole_models(
        options, runs, [point(model, c, {"setting": setting}) for c in ("baseline", "full")] + [point(model, "wifiv")]
    )
    base, full = (figures[point(model, c, {"setting": setting})] for c in ("baseline", "full"))
    cases = [
        ("all weights at q4", 1.0, {4: 1}),
        ("all weights at q2", 1.0, {2: 1}),
        ("feed-forward at q4, the rest at 8 bits", share, {4: 1}),
        ("feed-forward at q2, the rest at 8 bits", share, {2: 1}),
        ("feed-forward carried whole, the rest at 8 bits", share, {0: 1}),
    ]
    if by_bits := touched(full):
        cases.insert(
            2, (f"feed-forward as interior steps read it at setting {setting}, the rest at 8 bits", share, by_bits)
        )
    entry = (
        {4: (MEAN_BITS - 2) / 2, 2: 1 - (MEAN_BITS - 2) / 2}
        if MEAN_BITS < 4
        else {8: (MEAN_BITS - 4) / 4, 4: 1 - (MEAN_BITS - 4) / 4}
    )
    cases.append((f"a prefix entry of {MEAN_BITS} bits on average (quoted), as q8 and q4", 1.0, entry))
    rows = [
        [
            name,
            100.0 * compressible,
            *(100.0 * shares.get(b, 0) for b in (8, 4, 2, 0)),
            mixed(cost, shares) / cost.read(8),
            gain(cost, shares, compressible),
        ]
        for name, compressible, shares in cases
    ]
    columns = [
        Column("read"),
        Column("of all reads", "modelled", "%", 1),
        *(Column(f"at {b}" if b else "carried", "modelled", "%", 1) for b in ("q8", "q4", "q2", 0)),
        Column("its cost to q8's", "modelled", ""),
        Column("gain in energy of reads", "modelled", "x"),
    ]
    formula = (
        f"E(p) = 8 x {cost.core} + p x {cost.down} + {cost.convert} pJ per element, E(0) = 0; energy of reads alone: no rows opened, refresh, chip or CPU. Shares by the shape: "
        + ", ".join(f"{part} {100 * n / sum(read.values()):.1f} %" for part, n in read.items())
        + " of the weights that a denoising forward reads."
    )
    needed = share_left(m.energy, share)
    memory = full["energy_uj"]["dram_array"] + full["energy_uj"]["dram_io"]
    factor = scale_for(m.energy, energy(base), energy(full) - memory, memory)
    bit = cost.core + cost.down
    claims = [
        [
            "share of its 8-bit cost that the feed-forward network may take, memory's reads alone counted",
            None if needed is None else 100 * needed,
            "%",
        ],
        [
            "channels that have to be carried, the others at q2",
            None if needed is None else 100 * (1 - needed * cost.read(8) / cost.read(2)),
            "%",
        ],
        ["energy of a bit of the wide memory to plain LPDDR5's, all else as simulated", factor, "x"],
        [
            f"the same in pJ/bit (a vendor of wide mobile DRAM states {VENDOR_WIDE})",
            None if factor is None else factor * bit,
            "pJ/bit",
        ],
        ["gain if reading cost Full nothing, all else as simulated", energy(base) / (energy(full) - memory), "x"],
    ]
    tables = [
        Table("What the energy of a read gives at best", columns, rows, (formula,)),
        Table(
            f"What would have to hold for a gain of {m.energy}",
            [Column("figure"), Column("value", "modelled", "", 3), Column("unit")],
            claims,
            (f"{NAMES['full']} at setting {setting}. An empty value: no such value exists.",),
        ),
    ]
    return Section(m.subject, tables, [], title="The limit of the energy")
