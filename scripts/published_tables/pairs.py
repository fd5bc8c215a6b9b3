"""Two choices at once: whether what they do to the gain multiplies."""
import itertools

from .design import MODELS, merged
from .document import Column, Section, Table
from .sensitivity import FIGURES, chosen, measured, swept, widest_first
from .svg import heat_map

NOTED = 0.02  # an interaction is named from two percent on


def interaction(both, first, second, centre):
    """1 where the factors of two choices multiply; above, together they gain more than that."""
    return both * centre / (first * second)


def label(name, value):
    return f"{name} {value}"


def pairs(options, runs):
    sections = []
    for model in options.models:
        m = MODELS[model]
        centre, rows = swept(options, runs, model)
        i = [what for what, _ in FIGURES].index(options.by)
        names = [name for name, _ in widest_first(rows, centre, i)[: options.widest]]
        changes = {name: values for name, values, _ in chosen(options)}
        alone = {(name, value): g for name, values in rows for value, g in values}
        wanted = [
            ((a, x), (b, y), merged(cx, cy))
            for a, b in itertools.combinations(names, 2)
            for x, cx in changes[a]
            for y, cy in changes[b]
        ]
        found = measured(options, runs, model, [change for *_, change in wanted])
        tables, charts, drawings = [], [], {}
        for k, (what, kind) in enumerate(FIGURES):
            results = [
                (a, b, g[k], interaction(g[k], alone[a][k], alone[b][k], centre[k]))
                for (a, b, _), g in zip(wanted, found)
            ]
            results.sort(key=lambda r: -abs(r[3] - 1))
            cells = [
                [label(*a), label(*b), alone[a][k], alone[b][k], gain, alone[a][k] * alone[b][k] / centre[k], f]
                for a, b, gain, f in results
            ]
            strong = [r for r in results if abs(r[3] - 1) >= NOTED]
            note = (
                f"{len(strong)} of {len(results)} pairs are off the product of the two by {100 * NOTED:.0f} % or more."
                + (
                    f" The farthest: {label(*strong[0][0])} with {label(*strong[0][1])}, {100 * (strong[0][3] - 1):+.0f} %."
                    if strong
                    else " The choices multiply."
                )
            )
            tables.append(
                Table(
                    f"Gain in {what}; {centre[k]:.2f} as configured",
                    [
                        Column("first"),
                        Column("second"),
                        Column("first alone", kind, "x"),
                        Column("second alone", kind, "x"),
                        Column("both", kind, "x"),
                        Column("product", "computed", "x"),
                        Column("both to product", "computed", "x", 3),
                    ],
                    cells,
                    (note,),
                )
            )
            kinds = [(name, [v for v, _ in changes[name]]) for name in names]
            title = f"Two choices at once, gain in {what}"
            charts.append(
                {
                    "type": "pairs",
                    "title": title,
                    "subject": m.subject,
                    "kind": kind,
                    "unit": "x",
                    "what": what,
                    "centre": centre[k],
                    "choices": [{"name": n, "ends": values} for n, values in kinds],
                    "cells": [
                        {
                            "a": names.index(a[0]),
                            "a_end": dict(kinds)[a[0]].index(a[1]),
                            "b": names.index(b[0]),
                            "b_end": dict(kinds)[b[0]].index(b[1]),
                            "value": gain,
                            "interaction": f,
                        }
                        for a, b, gain, f in results
                    ],
                }
            )
            at = [(n, v) for n, values in kinds for v in values]
            drawn = {(at.index(b), at.index(a)): (f, f"{gain:.2f}") for a, b, gain, f in results}
            drawings[f"pairs_{model}_{what}.svg"] = heat_map(
                f"{title}, {m.subject} (colour: above or below the product)", [label(*x) for x in at], drawn
            )
        title = f"Pairs of the {len(names)} choices with the widest bars in {options.by}"
        sections.append(Section(m.subject, tables, charts, drawings, title))
    return sections
