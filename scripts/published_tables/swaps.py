"""Where planned swaps of the phone class stop to pay against naive mapping: by the window, and by what a page costs."""

from .crossing import said, verdict
from .design import energy
from .document import Column, Section, Table, resolved
from .ladder import PLANNED, SUBJECT, whole_decodes, window_share

FIGURES = (("latency", "measured"), ("energy", "modelled"))
# Window to weights of the whole model, beside what is configured; factors on what mapping and unmapping a page costs.
WINDOWS, PAGES = (0.25, 0.5, 1.2), (0.01, 0.1, 1)


def page_cost(factor):
    window = resolved(f"phone/{PLANNED}")["npu"]["window"]
    costs = {f"npu.window.{k}": factor * window[k] for k in ("map_page_ns", "unmap_page_ns")}
    return () if factor == 1 else tuple(f"{k}={v}" for k, v in costs.items())


def swaps(options, runs):
    """Planned swaps against naive mapping, by size of the window and cost of a page."""
    configured = window_share()
    windows = sorted((*WINDOWS, configured))
    wanted = {("window", w): (PLANNED, (), w) for w in windows}
    wanted |= {("naive", f): ("3-npu", page_cost(f), configured) for f in PAGES}
    wanted |= {("planned", f): (PLANNED, page_cost(f), configured) for f in PAGES}
    figures = whole_decodes(options, runs, wanted)
    by_name = {
        "window to weights": (configured, [(w, figures["naive", 1], figures["window", w]) for w in windows]),
        "cost of a page": (1, [(f, figures["naive", f], figures["planned", f]) for f in PAGES]),
    }
    cells, drawn = [], []
    for name, (as_configured, rows) in by_name.items():
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
                    "configured": as_configured,
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
    chart = {
        "type": "break_even",
        "title": "Where planned swaps stop to pay",
        "subject": SUBJECT,
        "kind": "measured",
        "unit": "x",
        "rows": drawn,
    }
    return Section(SUBJECT, [table], [chart], title="Where it stops to pay")
