"""What the method costs in accuracy: slices against whole runs, stream mode against every command, on what is small
enough for both.
"""
from .design import MODELS, NAMES, arguments, energy, line, point
from .document import Column, Section, Table

WHOLE = 8  # layers


def check(options, runs):
    model = options.models[0]
    first, second = options.slices
    wanted = {}
    for c in ("baseline", "full"):
        for layers in (first, second, WHOLE):
            wanted[c, layers, "stream"] = arguments(options, point(model, c), layers)
        wanted[c, first, "cycle"] = arguments(options, point(model, c, {"set": ["memory.mode=cycle"]}), first)
    results = runs.all(wanted)
    rows = []
    for c in ("baseline", "full"):
        told = line((first, results[c, first, "stream"]), (second, results[c, second, "stream"]), WHOLE)
        for what, ours, whole in (
            (
                f"{WHOLE} layers from slices of {first} and {second}, against {WHOLE} simulated",
                told,
                results[c, WHOLE, "stream"],
            ),
            (
                f"stream mode against every command, {first} layers",
                results[c, first, "stream"],
                results[c, first, "cycle"],
            ),
        ):
            rows.append(
                [
                    NAMES[c],
                    what,
                    *(
                        100 * (f(ours) / f(whole) - 1)
                        for f in (lambda x: x["latency_us"], energy, lambda x: sum(x["read"].values()))
                    ),
                ]
            )
    columns = [
        Column(""),
        Column("compared"),
        *(Column(n, "measured", "%") for n in ("latency", "energy", "bytes read")),
    ]
    return [Section(MODELS[model].subject, [Table("Errors of the method", columns, rows)], [])]
