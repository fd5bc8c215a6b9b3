"""Which part of the gain survives on a real memory: effects switched off one at a time, and all of them put back one
after another.
"""
from .design import MODELS, NAMES, SOURCE, merged, whole_models
from .document import Column, Section, Table
from .four import GAIN_COLUMNS, flat, gains_at, points_of
from .svg import waterfall

REFRESH_OFF = ["memory.config.controller.refresh=none"]
ROWS_OFF = [
    f"memory.config.timing.{k}={v}"
    for k, v in {"RCD": 2, "RPpb": 1, "RPab": 1, "RAS": 3, "RCpb": 4, "RCab": 4, "FAW": 4, "RRD": 1}.items()
]
CONVERSION_OFF = [
    "memory.config.tagged.convert_cycles=0",
    "memory.config.energy.convert_q4_pj_per_element=0",
    "memory.config.energy.convert_q2_pj_per_element=0",
]

# name: (what a run without it is, what it is called when it is put back, change)
WITHOUT = {
    "refresh": ("no refresh", "refresh", {"set": REFRESH_OFF}),
    "rows": ("rows that open and close at once", "banks and rows", {"set": ROWS_OFF}),
    "banks": (
        "no refresh, rows that open and close at once: the data bus alone",
        None,
        {"set": [*REFRESH_OFF, *ROWS_OFF]},
    ),
    "conversion": ("conversion that takes no time and no energy", "conversion", {"set": CONVERSION_OFF}),
    "scatter": (
        "channels and entries in order instead of scattered",
        "scattered channels and entries",
        {"distribution": {"run": 1 << 20}},
    ),
    "cpu": (
        "a CPU that takes no time to issue a descriptor",
        "the CPU's work",
        {"set": ["cpu.work_cycles.descriptor=0"]},
    ),
    "prices": (
        "energy of chip, CPU and leakage left out: memory alone",
        None,
        {"price": {"compute": 0, "sram": 0, "static": 0, "cpu": 0}},
    ),
}
# In the order in which they are put back: the memory's own first, then what compression asks of it, then the CPU.
EFFECTS = ("refresh", "rows", "conversion", "scatter", "cpu")


def survives(gain, ideal):
    """Percent of what a gain is above 1; nothing where there is none to survive."""
    return None if ideal == 1 else 100 * (gain - 1) / (ideal - 1)


def setting_of(options, model):
    return MODELS[model].middle if options.frozen is None else options.frozen


def alone(options, runs, model, names):
    """Each of the effects off by itself, in all configurations."""
    m, setting = MODELS[model], setting_of(options, model)
    changes = {"as configured": {}, **{WITHOUT[n][0]: WITHOUT[n][2] for n in dict.fromkeys(names)}}
    figures = whole_models(options, runs, [p for c in changes.values() for p in points_of(model, setting, c).values()])
    rows = {name: gains_at(figures, model, setting, c) for name, c in changes.items()}
    table = Table(
        "Gain over a Baseline that lacks the same",
        [Column("with"), *GAIN_COLUMNS],
        [[name, *flat(g)] for name, g in rows.items()],
        (f"DAT-FFN at setting {setting}, one seed of the decisions.",),
    )
    return Section(m.subject, [table], [], title="Effects switched off one at a time")


def put_back(options, runs, model):
    """From a memory without any of the effects to the one that is configured."""
    m, setting = MODELS[model], setting_of(options, model)
    changes = {"none of the effects": merged(*(WITHOUT[n][2] for n in EFFECTS))}
    for i, name in enumerate(EFFECTS):
        changes[f"+ {WITHOUT[name][1]}"] = merged(*(WITHOUT[n][2] for n in EFFECTS[i + 1 :]))
    figures = whole_models(options, runs, [p for c in changes.values() for p in points_of(model, setting, c).values()])
    rows = {name: gains_at(figures, model, setting, c) for name, c in changes.items()}
    ideal = next(iter(rows.values()))["full"]
    columns = [
        Column("with"),
        *GAIN_COLUMNS,
        Column("Full, of its gain without the effects: latency", "measured", "%", 1),
        Column("energy", "modelled", "%", 1),
    ]
    cells = [[name, *flat(g), *(survives(g["full"][i], ideal[i]) for i in (0, 1))] for name, g in rows.items()]
    real = list(rows.values())[-1]["full"]
    left = ["all" if share is None else f"{share:.0f} %" for share in map(survives, real, ideal)]
    note = (
        f"DAT-FFN at setting {setting}, one seed of the decisions. Of Full's gain on a memory without these effects, counted from 1, {left[0]} in latency and "
        f"{left[1]} in energy are left on the configured one. Quoted ({SOURCE}, whose memory model has no bank conflicts, refresh or bank groups): "
        f"{m.latency} and {m.energy}."
    )
    charts, drawings = [], {}
    for c in ("full", "wifiv"):
        for i, (what, kind, quoted) in enumerate(
            (("latency", "measured", m.latency), ("energy", "modelled", m.energy))
        ):
            gains = [g[c][i] for g in rows.values()]
            names = [WITHOUT[n][1] for n in EFFECTS]
            title = f"Gain of {NAMES[c]} in {what} as effects are put back"
            charts.append(
                {
                    "type": "waterfall",
                    "title": title,
                    "subject": m.subject,
                    "kind": kind,
                    "unit": "x",
                    "what": what,
                    "compares": f"{NAMES[c]} / Baseline",
                    "start": {"name": "none of the effects", "value": gains[0]},
                    "steps": [{"name": n, "value": v} for n, v in zip(names, gains[1:])],
                    "end": {"name": "as configured", "value": gains[-1]},
                    "quoted": quoted if c == "full" else None,
                    "notes": [f"DAT-FFN at setting {setting} for all benchmarks, one seed of the decisions."],
                }
            )
            if c == "full":
                drawings[f"causes_{model}_{what}.svg"] = waterfall(
                    f"{title}, {m.subject}",
                    ("none of the effects", gains[0]),
                    [*zip(names, gains[1:]), ("as configured", gains[-1])],
                )
    table = Table("Effects put back one after another", columns, cells, (note,))
    return Section(m.subject, [table], charts, drawings, "What survives on a real memory")
