"""What a figure leaves: tables and charts with the kind of each column, as Markdown for people and JSON for dllm-vp
report.
"""
import json
import pathlib
import subprocess
import sys
from typing import NamedTuple

from points import markdown

from .runs import CONFIGURATIONS, DISTRIBUTIONS, digest, revision

SCHEMA = "dllm-vp.published.1"


class Column(NamedTuple):
    """kind: label, choice, measured (simulated), modelled (a formula), quoted (a publication) or computed
    (ratio of kinds).
    """

    name: str
    kind: str = "label"
    unit: str = ""
    digits: int = 2

    def head(self):
        return (
            self.name
            + (f", {self.unit}" if self.unit not in ("", "x") else "")
            + ("" if self.kind == "label" else f" ({self.kind})")
        )

    def cell(self, value):
        if value is None:
            return ""
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


class Table(NamedTuple):
    title: str
    columns: list
    rows: list  # cells: str, number or None
    notes: tuple = ()  # sentences below it

    def text(self):
        lines = [[c.cell(v) for c, v in zip(self.columns, row)] for row in self.rows]
        return (
            f"### {self.title}\n\n"
            + markdown([c.head() for c in self.columns], lines)
            + "".join(f"\n{note}\n" for note in self.notes)
        )

    def document(self, subject):
        return {
            "title": f"{self.title}: {subject}",
            "columns": [{"name": c.name, "kind": c.kind, "unit": c.unit} for c in self.columns],
            "rows": self.rows,
            "notes": list(self.notes),
        }


class Section(NamedTuple):
    subject: str  # what its figures are of: a model on a class of device
    tables: list
    charts: list  # of configs/published.schema.json, one shape per type
    drawings: dict = {}  # name of file: SVG
    title: str = ""

    def heading(self):
        return f"{self.title}: {self.subject}" if self.title else self.subject


def resolved(configuration):
    """A shipped configuration with its values and their reasons; what is replaced goes with its reason."""
    document = json.loads((CONFIGURATIONS / f"{configuration}.json").read_text())
    if "base" not in document:
        return document
    beside = pathlib.Path(configuration).parent / document["base"]
    whole = resolved(beside if (CONFIGURATIONS / f"{beside}.json").exists() else pathlib.Path(document["base"]))
    for path, value in document["set"].items():
        *folders, name = path.split(".")
        at = whole
        for folder in folders:
            at = at.setdefault(folder, {})
        at[name] = value
        whole["why"] = {p: why for p, why in whole["why"].items() if p != path and not p.startswith(path + ".")}
    whole["why"].update(document.get("why", {}))
    return whole


def value_at(document, path):
    """None where a reason is of no single value."""
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def assumption(where, key, value, why):
    kind, _, reason = why.partition(":")
    known = kind in ("choice", "quoted", "computed", "measured")
    return {
        "configuration": where,
        "key": key,
        "value": value,
        "kind": kind if known else "unstated",
        "reason": reason.strip() if known else why,
    }


def assumed(options, configurations, decisions):
    """Everything the figures take as given: configurations, distribution, and the lengths that the command line
    decides.
    """
    rows = []
    for configuration in configurations:
        document = resolved(configuration)
        rows += [
            assumption(configuration, path, value_at(document, path), why) for path, why in document["why"].items()
        ]
    rows += [
        assumption(f"trajectory {decisions['name']}", k, decisions[k], decisions.get("why", ""))
        for k in ("tokens_per_forward", "drift", "run")
        if k in decisions
    ]
    return rows + [
        assumption("scripts/published", k, v, f"choice: {options.why.get(k, 'as on the command line')}")
        for k, v in options.parameters.items()
    ]


def trajectory(name):
    """A distribution or recorded trajectory as it is, with a name."""
    path = DISTRIBUTIONS / f"{name}.json"
    path = path if path.exists() else pathlib.Path(name)
    document = json.loads(path.read_text())
    return {"name": path.stem, **document}


def write(options, sections, configurations, decided_by, sources):
    """FIGURE.md, FIGURE.json and the drawings to --out, the Markdown to the terminal."""
    figure, out = options.figure, options.out
    said = subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.split()
    decisions = trajectory(decided_by)
    build = {"version": said[-1] if said else "", "revision": f"{revision()}, program {digest(options.program)[:12]}"}
    document = {
        "schema": SCHEMA,
        "figure": figure,
        "title": options.title,
        "program": build,
        "command": ["scripts/published", *options.words],
        "trajectory": {"name": decisions["name"], "why": decisions.get("why", "")},
        "parameters": options.parameters,
        "sources": list(sources),
        "assumed": assumed(options, configurations, decisions),
        "tables": [t.document(s.subject) for s in sections for t in s.tables],
        "charts": [c for s in sections for c in s.charts],
    }
    text = (
        f"# {options.title}\n\nDecisions: distribution {decisions['name']}; "
        + "; ".join(f"{k} {v}" for k, v in options.parameters.items())
        + f". dllm-vp {build['version']}, revision {build['revision']}.\n"
    )
    for section in sections:
        text += f"\n## {section.heading()}\n\n" + "\n".join(t.text() for t in section.tables)
    files = {
        f"{figure}.md": text,
        f"{figure}.json": json.dumps(document, indent=1, allow_nan=False) + "\n",
        **{name: drawing for s in sections for name, drawing in s.drawings.items()},
    }
    for name, content in files.items():
        part = out / f"{name}.part"
        part.write_text(content)
        part.rename(out / name)
    sys.stdout.write(text + "\nwritten  " + "   ".join(str(out / name) for name in files) + "\n")
