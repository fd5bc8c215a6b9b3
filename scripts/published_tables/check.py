"""What the method costs in accuracy: slices against the whole model, and stream mode against every command on a slice."""
from .design import MODELS, NAMES, arguments, energy, line, point
from .document import Column, Section, Table


def check(options, runs):
    model = options.models[0]
    first, second = options.slices or (1, 2)
    whole = MODELS[model].layers
    wanted = {}
    for c in ("baseline", "full"):
        for layers in (first, second, whole):
            wanted[c, layers, "stream"] = arguments(options, point(model, c), None if layers == whole else layers)
        wanted[c, first, "cycle"] = arguments(options, point(model, c, {"set": ["memory.mode=cycle"]}), first)
    results = runs.all(wanted)
    rows = []
    for c in ("baseline", "full"):
        told = line((first, results[c, first, "stream"]), (second, results[c, second, "stream"]), whole)
        for what, ours, simulated in (
            (
                f"{whole} layers from slices of {first} and {second}, against {whole} simulated",
                told,
                results[c, whole, "stream"],
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
                        100 * (f(ours) / f(simulated) - 1)
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
