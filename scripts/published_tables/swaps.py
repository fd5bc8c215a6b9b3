"""Where planned swaps of the phone class stop to pay against naive mapping: by the window, and by what a page costs."""

from .crossing import said, verdict
from .design import energy
from .document import Column, Section, Table, resolved
from .ladder import PLANNED, SUBJECT, whole_decodes

FIGURES = (("latency", "measured"), ("energy", "modelled"))
# Window to weights of the whole model, and what mapping and unmapping a page costs to what is configured.
WINDOWS, PAGES = (0.25, 0.5, 0.75, 0.89, 1.2), (0.01, 0.1, 1, 2)


def page_cost(factor):
    window = resolved(f"phone/{PLANNED}")["npu"]["window"]
    return tuple(f"npu.window.{k}={factor * window[k]}" for k in ("map_page_ns", "unmap_page_ns"))


def swaps(options, runs):
    """Planned swaps against naive mapping, by size of the window and cost of a page."""
    wanted = {("window", w): (PLANNED, (), w) for w in WINDOWS}
    wanted |= {("naive", f): ("3-npu", page_cost(f), None) for f in PAGES} | {
        ("page", f): (PLANNED, page_cost(f), None) for f in PAGES
    }
    figures = whole_decodes(options, runs, wanted)
    by_name = {
        "window to weights": [(w, figures["naive", 1], figures["window", w]) for w in WINDOWS],
        "cost of a page": [(f, figures["naive", f], figures["page", f]) for f in PAGES],
    }
    cells, drawn = [], []
    for name, rows in by_name.items():
        for i, (what, kind) in enumerate(FIGURES):
            points = [(x, (a["latency_us"] / b["latency_us"], energy(a) / energy(b))[i]) for x, a, b in rows]
            v = verdict(points)
            cells.append([name, "x", what, said(v, points, ""), v.value])
            drawn.append(
                {
                    "name": name,
                    "what": what,
                    "kind": kind,
                    "unit": "x",
                    "compares": "planned swaps / naive mapping",
                    "configured": 0.89 if name[0] == "w" else 1,
                    "points": [list(p) for p in points],
                    "verdict": v.kind,
                    "value": v.value,
                    "bracket": None if v.bracket is None else list(v.bracket),
                }
            )
    table = Table(
        "Planned swaps against naive mapping, 128 tokens",
        [Column("parameter"), Column("unit"), Column("in"), Column("pays"), Column("gain is 1 at", "computed", "", 3)],
        cells,
    )
    return Section(
        f"Where it stops to pay: {SUBJECT}",
        [table],
        [
            {
                "type": "break_even",
                "title": "Where planned swaps stop to pay",
                "subject": SUBJECT,
                "kind": "measured",
                "unit": "x",
                "rows": drawn,
            }
        ],
    )
