"""What the gain of Full rests on: one choice at a time, everything else as configured."""
import sys

from .choices import CHOICES, LEFT_OUT, SEED
from .design import MODELS, gains, point, whole_models
from .document import Column, Section, Table
from .svg import tornado

FIGURES = (("latency", "measured"), ("energy", "modelled"))


def chosen(options):
    """Of CHOICES, those that --choice names by a part of their name."""
    if not options.choices:
        return CHOICES
    for part in options.choices:
        if not any(part in name for name, *_ in CHOICES):
            sys.exit(
                f"published: --choice {part}: is no part of a choice's name; these are {'; '.join(name for name, *_ in CHOICES)}"
            )
    return tuple(c for c in CHOICES if any(part in c[0] for part in options.choices))


def measured(options, runs, model, changes):
    """Gains of Full over Baseline, (latency, energy), at each change."""
    figures = whole_models(
        options,
        runs,
        [
            point(model, c, {k: v for k, v in change.items() if k != "price"})
            for change in changes
            for c in ("baseline", "full")
        ],
    )
    return [
        gains(
            {
                point(model, c, change): figures[point(model, c, {k: v for k, v in change.items() if k != "price"})]
                for c in ("baseline", "full")
            },
            model,
            change,
        )
        for change in changes
    ]


def swept(options, runs, model):
    """(gains as configured, [(choice, [(value, (latency, energy))])])"""
    choices = chosen(options)
    found = iter(measured(options, runs, model, [{}, *(change for _, values, _ in choices for _, change in values)]))
    centre = next(found)
    return centre, [(name, [(label, next(found)) for label, _ in values]) for name, values, _ in choices]


def spread(values, centre, i):
    """How far the gain moves, as a ratio."""
    reached = [centre[i], *(g[i] for _, g in values)]
    return max(reached) / min(reached)


def widest_first(rows, centre, i):
    return sorted(rows, key=lambda row: -spread(row[1], centre, i))


def seed_note(rows, centre, i):
    """How far the draw of the decisions alone moves a gain, where it was varied."""
    moved = [spread(values, centre, i) for name, values in rows if name == SEED]
    return tuple(
        f"All of one seed; other seeds alone move the gain by up to {100 * (m - 1):.1f} % (row {SEED}), and so may what "
        "stands in rows that change what is decided: prompt, reply, block, tokens per forward."
        for m in moved
    )


def sensitivity(options, runs):
    sections = []
    for model in options.models:
        m = MODELS[model]
        centre, rows = swept(options, runs, model)
        tables, charts, drawings = [], [], {}
        paths = {name: path for name, _, path in chosen(options)}
        prices = {name for name, values, _ in chosen(options) if all("price" in change for _, change in values)}
        for i, (what, kind) in enumerate(FIGURES):
            ordered = [row for row in widest_first(rows, centre, i) if what == "energy" or row[0] not in prices]
            cells = [
                [
                    name,
                    paths[name],
                    *(c for label, g in (*values, (None, None))[:2] for c in (label, None if g is None else g[i])),
                    spread(values, centre, i),
                ]
                for name, values in ordered
            ]
            tables.append(
                Table(
                    f"Gain in {what}, widest first; {centre[i]:.2f} as configured",
                    [
                        Column("choice"),
                        Column("key"),
                        Column("at"),
                        Column("gain", kind, "x"),
                        Column("at"),
                        Column("gain", kind, "x"),
                        Column("highest to lowest", kind, "x"),
                    ],
                    cells,
                    seed_note(rows, centre, i),
                )
            )
            bars = [(name, [(label, g[i]) for label, g in values]) for name, values in ordered]
            title = f"Gain in {what}, Full over Baseline"
            charts.append(
                {
                    "type": "tornado",
                    "title": title,
                    "subject": m.subject,
                    "kind": kind,
                    "unit": "x",
                    "what": what,
                    "centre": centre[i],
                    "bars": [
                        {"name": name, "ends": [{"at": label, "value": g} for label, g in values]}
                        for name, values in bars
                    ],
                }
            )
            drawings[f"tornado_{model}_{what}.svg"] = tornado(f"{title}, {m.subject}", bars, centre[i])
        tables.append(
            Table(
                "Choices that are not in the list",
                [Column("key"), Column("why it cannot matter")],
                [[", ".join(paths), why] for paths, why in LEFT_OUT],
            )
        )
        sections.append(Section(m.subject, tables, charts, drawings, "What Full over Baseline rests on"))
    return sections
