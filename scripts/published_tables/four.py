"""The four configurations as the publication ran them: rows, gains by benchmark, beside what is quoted."""
from functools import reduce

from points import ENERGY_PARTS, add, mean, scaled

from .design import BENCHMARKS, COMPRESSED, MODELS, NAMES, ORDER, SOURCE, energy, point, whole_models
from .document import Column, Section, Table

GAIN_COLUMNS = [
    Column(f"{NAMES[c]} {what}", kind, "x")
    for c in ORDER[1:]
    for what, kind in (("latency", "measured"), ("energy", "modelled"))
]


def settings_of(options, model):
    """Of DAT-FFN, by benchmark."""
    return MODELS[model].settings if options.frozen is None else (options.frozen,) * len(BENCHMARKS)


def points_of(model, setting, change=None):
    """The four configurations at a setting; those without compression know of none, so that they are the same point
    for all.
    """
    return {c: point(model, c, change or {}, {"setting": setting} if c in COMPRESSED else {}) for c in ORDER}


def gains_at(figures, model, setting, change=None):
    """{configuration: (latency, energy)} over Baseline."""
    at = {c: figures[p] for c, p in points_of(model, setting, change).items()}
    return {
        c: (at["baseline"]["latency_us"] / at[c]["latency_us"], energy(at["baseline"], change) / energy(at[c], change))
        for c in ORDER[1:]
    }


def mean_gains(rows):
    return {c: tuple(mean(r[c][i] for r in rows) for i in (0, 1)) for c in ORDER[1:]}


def flat(gain):
    """One row's cells of GAIN_COLUMNS."""
    return [x for c in ORDER[1:] for x in gain[c]]


def seeds_of(options):
    """Changes, one for each seed of the decisions; the first is the program's own, 1."""
    return [{} if seed == 1 else {"seed": seed} for seed in range(1, options.seeds + 1)]


def rows_of(figures, model, settings, seeds):
    """[(configuration, setting, figures)], means over the seeds."""
    rows = []
    for configuration in ORDER:
        for setting in sorted(set(settings)) if configuration in COMPRESSED else (None,):
            summed = reduce(add, (figures[points_of(model, setting, seed)[configuration]] for seed in seeds))
            rows.append((configuration, setting, scaled(summed, 1 / len(seeds))))
    return rows


def label(configuration, setting):
    return NAMES[configuration] + ("" if setting is None else f", setting {setting}")


def stacked(subject, rows):
    """Charts of amounts made of parts: time, energy, bytes."""

    def chart(title, what, kind, unit, parts, values):
        return {
            "type": "stacked",
            "title": title,
            "subject": subject,
            "kind": kind,
            "what": what,
            "unit": unit,
            "parts": parts,
            "bars": [{"name": label(c, s), "values": values(f)} for c, s, f in rows],
        }

    precisions = list(dict.fromkeys(p for *_, f in rows for p in f["read"]))
    return [
        chart(
            "Time of an answer",
            "latency",
            "measured",
            "ms",
            ["prefill", "behind it"],
            lambda f: [f["prefill_us"] * 1e-3, (f["latency_us"] - f["prefill_us"]) * 1e-3],
        ),
        chart(
            "Energy of an answer by part",
            "energy",
            "modelled",
            "mJ",
            [p.replace("_", " ") for p in ENERGY_PARTS],
            lambda f: [f["energy_uj"][p] * 1e-3 for p in ENERGY_PARTS],
        ),
        chart(
            "Bytes read by precision",
            "bytes",
            "measured",
            "GB",
            precisions,
            lambda f: [f["read"].get(p, 0) * 1e-9 for p in precisions],
        ),
    ]


def figure_table(rows):
    columns = [
        Column(""),
        Column("time", "measured", "ms", 1),
        Column("energy", "modelled", "mJ", 1),
        *(Column(p.replace("_", " "), "modelled", "mJ", 1) for p in ENERGY_PARTS),
        *(Column(f"read {p}", "measured", "GB") for p in ("q8", "q4", "q2", "in all")),
        Column("forwards", "measured", digits=0),
        Column("prefill", "measured", "%", 0),
    ]
    cells = []
    for configuration, setting, f in rows:
        read = f["read"]
        cells.append(
            [
                label(configuration, setting),
                f["latency_us"] * 1e-3,
                energy(f) * 1e-3,
                *(f["energy_uj"][p] * 1e-3 for p in ENERGY_PARTS),
                *(read.get(p, 0) * 1e-9 for p in ("q8", "q4", "q2")),
                sum(read.values()) * 1e-9,
                float(f["forwards"]),
                100 * f["prefill_us"] / f["latency_us"],
            ]
        )
    return Table("Figures of the whole model", columns, cells)


def behind_prefill(figures):
    return figures["latency_us"] - figures["prefill_us"], energy(figures) - figures["prefill_uj"]


def behind_gains(figures, model, settings, seed):
    """(latency, energy) of Full over Baseline without the prefill, mean of the benchmarks."""
    ratios = []
    for setting in settings:
        base, full = (behind_prefill(figures[points_of(model, setting, seed)[c]]) for c in ("baseline", "full"))
        ratios.append([a / b for a, b in zip(base, full)])
    return [mean(r[i] for r in ratios) for i in (0, 1)]


def extremes_of(each):
    """[(which, {configuration: (latency, energy)})] of the seeds' mean gains; nothing where there is one."""
    if len(each) == 1:
        return []
    return [
        (f"{word} of {len(each)} seeds", {c: tuple(pick(e[c][i] for e in each) for i in (0, 1)) for c in ORDER[1:]})
        for word, pick in (("lowest", min), ("highest", max))
    ]


def section(options, runs, model):
    m, by_benchmark, seeds = MODELS[model], settings_of(options, model), seeds_of(options)
    points = [p for seed in seeds for s in set(by_benchmark) for p in points_of(model, s, seed).values()]
    figures = whole_models(options, runs, points)
    rows = rows_of(figures, model, by_benchmark, seeds)
    of_seeds = [[gains_at(figures, model, s, seed) for s in by_benchmark] for seed in seeds]
    by_name = [mean_gains(gains) for gains in zip(*of_seeds)]
    each = [mean_gains(gains) for gains in of_seeds]
    means = mean_gains(each)
    behind = [behind_gains(figures, model, by_benchmark, seed) for seed in seeds]
    extremes = extremes_of(each)
    spread = f"Gains are means over {len(seeds)} seeds of the decisions; lowest and highest are of a seed's mean."
    said = ", ".join(
        f"{what} {min(g['full'][i] for g in each):.2f} to {max(g['full'][i] for g in each):.2f}"
        for i, what in enumerate(("latency", "energy"))
    )
    tables = [
        figure_table(rows),
        Table(
            "Gain over Baseline",
            [Column("benchmark"), Column("setting", "quoted" if options.frozen is None else "choice"), *GAIN_COLUMNS],
            [
                *([b, s, *flat(g)] for b, s, g in zip(BENCHMARKS, by_benchmark, by_name)),
                ["mean", None, *flat(means)],
                *([name, None, *flat(g)] for name, g in extremes),
            ],
            (spread,) if extremes else (),
        ),
        Table(
            "Full over Baseline",
            [Column(""), Column("latency", "measured", "x"), Column("energy", "modelled", "x")],
            [
                ["mean of the benchmarks", *means["full"]],
                *([name, *g["full"]] for name, g in extremes),
                ["mean behind the prefill", *(mean(b[i] for b in behind) for i in (0, 1))],
            ],
        ),
        Table(
            "Beside the publication",
            [
                Column(""),
                Column("latency", "quoted", "x"),
                Column("energy", "quoted", "x"),
                Column("ours to theirs, latency", "computed", "x"),
                Column("ours to theirs, energy", "computed", "x"),
            ],
            [[SOURCE, m.latency, m.energy, means["full"][0] / m.latency, means["full"][1] / m.energy]],
        ),
    ]
    charts = [
        {
            "type": "headline",
            "title": "Full over Baseline, mean of the benchmarks",
            "subject": m.subject,
            "kind": "measured",
            "unit": "x",
            "notes": [f"{spread} Full: {said}."] if extremes else [],
            "rows": [
                {"name": what, "kind": kind, "ours": means["full"][i], "theirs": quoted, "source": SOURCE}
                for i, (what, kind, quoted) in enumerate(
                    (("latency", "measured", m.latency), ("energy", "modelled", m.energy))
                )
            ],
        }
    ]
    for i, (what, kind, quoted) in enumerate((("latency", "measured", m.latency), ("energy", "modelled", m.energy))):
        charts.append(
            {
                "type": "gains",
                "title": f"Gain over Baseline in {what}",
                "subject": m.subject,
                "kind": kind,
                "unit": "x",
                "what": what,
                "series": [NAMES[c] for c in ORDER[1:]],
                "quoted": quoted,
                "groups": [
                    {"name": f"{b}, setting {s}", "values": [g[c][i] for c in ORDER[1:]]}
                    for b, s, g in zip(BENCHMARKS, by_benchmark, by_name)
                ],
            }
        )
    return Section(m.subject, tables, [*charts, *stacked(m.subject, rows)])


def four(options, runs):
    from . import causes, what_if  # they stand on this module

    sections = []
    for model in options.models:
        sections.append(section(options, runs, model))
        if options.without:
            sections.append(causes.alone(options, runs, model, options.without))
        if options.causes and model == options.models[0]:
            sections.append(causes.put_back(options, runs, model))
        if options.what_if:
            sections.append(what_if.steps(options, runs, model))
        sections.append(what_if.limit(options, runs, model))
    return sections
