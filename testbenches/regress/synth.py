#!/usr/bin/env python3
"""Synthesis of the RTL with Yosys, and an estimate of area and power for every array configuration.

    scripts/synth [--only DESIGN]... [--fresh] [--write]

Designs: the array configurations tiny_4x4, lean_8x4 and edge_8x8; the converter; the blocks of rtl/common; small arrays
of many shapes, from which a linear model is fitted. Each is synthesised to simple gates without a warning, a latch or a
combinational loop; anything else is an error. Results are kept in OUT (out/synth) as long as the sources stay the same:
an interrupted run goes on where it stopped.

OUT/report.txt has the cells by module and the estimates. OUT/synthesis.json is the same for programs, in the form of
testbenches/regress/synthesis.schema.json; --write also puts it into testbenches/regress/synthesis.json.

Area is in gate equivalents (GE, one NAND2), the sum of the cells by the weights in the file. Power is a proxy, the
sum of the same cells times how often they switch in a cycle with every element busy: clocked cells weigh more. Neither is
a promise of a technology: they compare configurations. Estimates of configurations too large to synthesise here come
from the model; its error is that on the configurations that are synthesised, none of which is in the fit.

Exit code 0: all clean. 1: a design is not clean. 2: a wrong argument.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RTL = ROOT / "rtl"
ARRAY_SOURCES = [RTL / "numeric/numeric_pkg.sv", RTL / "array/systolic_array.sv"]
CONVERTER_SOURCES = [RTL / "common/stream_fifo.sv", RTL / "converter/converter_pkg.sv",
                     RTL / "converter/precision_converter.sv"]
WHOLE = ("tiny_4x4", "lean_8x4", "edge_8x8")
ESTIMATED = ("tiny_4x4", "lean_8x4", "edge_8x8", "ref_16x16", "block_32x32", "nano", "nx")

# Gate equivalents, and switches per cycle with every element busy: (area, activity).
WEIGHTS = {"$_NOT_": (0.67, 0.2), "$_AND_": (1.33, 0.2), "$_OR_": (1.33, 0.2), "$_NAND_": (1.0, 0.2),
           "$_NOR_": (1.0, 0.2), "$_XOR_": (2.33, 0.2), "$_XNOR_": (2.33, 0.2), "$_ANDNOT_": (1.33, 0.2),
           "$_ORNOT_": (1.33, 0.2), "$_MUX_": (2.33, 0.2), "$_DFF": (4.67, 0.5), "$_DFFE": (7.0, 0.5),
           "$_SDFF": (6.0, 0.5), "$_SDFFE": (8.33, 0.5), "$_SDFFCE": (8.33, 0.5)}

# Shapes of the fit: rows, columns, lane bits, packing, stages, banks, output buffer.
FIT = [(2, 2, 16, 0, 1, 2, 0), (2, 2, 16, 0, 2, 2, 0), (2, 2, 16, 0, 3, 2, 0), (2, 2, 16, 0, 1, 1, 0),
       (2, 2, 16, 0, 1, 2, 1), (2, 2, 8, 0, 1, 2, 0), (2, 3, 16, 0, 1, 2, 0), (3, 2, 16, 0, 1, 2, 0),
       (2, 5, 16, 0, 1, 2, 0), (5, 2, 16, 0, 1, 2, 0), (2, 2, 16, 1, 1, 2, 0), (2, 2, 8, 1, 2, 2, 1),
       (3, 3, 8, 0, 3, 1, 0), (4, 2, 8, 0, 2, 1, 0), (2, 4, 8, 1, 1, 2, 1), (4, 3, 16, 0, 2, 2, 1)]
PARAMETERS = ("Rows", "Columns", "LaneBits", "Packing", "AdderStages", "Banks", "OutputBuffer")


def shape_of(name):
    spec = json.loads((ROOT / f"gen/spec/arrays/{name}.json").read_text())
    return (spec["rows"], spec["columns"], spec["lane_bits"], int(spec["packing"]), spec["adder_stages"],
            2 if spec["double_buffered"] else 1, int(spec["back_pressure"] == "buffered"))


def fit_name(shape):
    return "fit_" + "_".join(map(str, shape))


# What the area of a shape is made of, in words that each cost about the same.
TERMS = ("element and slot", "stationary value", "element and slot, second stage", "element and slot, third stage",
         "skew word", "preset and deskew word", "result word", "row and slot", "byte lane", "array")


def terms_of(shape):
    rows, columns, lane_bits, packing, stages, banks, buffer = shape
    slots = 4 if packing else 1
    return (rows * columns * slots, rows * columns * banks, rows * columns * slots * (stages >= 2),
            rows * columns * slots * (stages >= 3), slots * stages * rows * (rows + 1) / 2, slots * columns * columns,
            slots * columns * (1 + 2 * buffer), rows * slots, rows * (lane_bits == 8), 1)


def least_squares(rows, values):
    """Coefficients by the normal equations, with a touch of damping: the terms of so small shapes are much alike."""
    n = len(rows[0])
    matrix = [[sum(r[i] * r[j] for r in rows) + (1e-6 if i == j else 0) for j in range(n)]
              + [sum(r[i] * v for r, v in zip(rows, values))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(n):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i])]
    return [matrix[i][n] / matrix[i][i] for i in range(n)]


class Design:
    def __init__(self, name, top, sources, parameters=()):
        self.name, self.top, self.sources, self.parameters = name, top, [str(s) for s in sources], parameters

    def key(self):
        text = "".join(pathlib.Path(f).read_text() for f in self.sources) + str(self.parameters) + self.top
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def synthesise(self, out):
        """{"cells": {module: {type: count}}, "seconds": s}, or {"error": text}."""
        kept = out / f"{self.name}-{self.key()}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        values = " ".join(f"-set {name} {value}" for name, value in self.parameters)
        chparam = f"chparam {values} {self.top}" if values else ""
        stat = out / f"{self.name}.stat"
        # -e: every warning is an error. share would try to merge the adders of different elements, one by one.
        commands = [f"read_verilog -sv -defer {' '.join(self.sources)}", chparam, f"hierarchy -check -top {self.top}",
                    f"synth -noshare -top {self.top}", "check -assert",
                    "select -assert-none t:$_DLATCH* t:$_SR_* t:$_DLATCHSR* t:$mem*",
                    f"tee -q -o {stat} stat -tech cmos"]
        start = time.monotonic()
        done = subprocess.run(["yosys", "-q", "-e", ".", *[w for c in commands if c for w in ("-p", c)]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return {"error": "\n".join(done.stdout.splitlines()[-5:])}
        cells, module = {}, None
        for line in stat.read_text().splitlines():
            header = re.match(r"=== (.*) ===", line)
            if header:
                module = None if header.group(1) == "design hierarchy" else header.group(1).split("\\")[-1]
            cell = re.match(r"\s+(\$_\w+)\s+(\d+)$", line)
            if cell and module:
                cells.setdefault(module, {})[cell.group(1)] = int(cell.group(2))
        result = {"cells": cells, "seconds": round(time.monotonic() - start, 1)}
        kept.write_text(json.dumps(result) + "\n")
        return result


def weight_of(kind):
    # Flip-flops: $_DFF_P_ and the like; the letters after the family say which edge and level.
    family = kind if kind in WEIGHTS else kind[:kind.index("_", 2)]
    return WEIGHTS[family]


def figures(cells):
    merged = {}
    for kinds in cells.values():
        for kind, count in kinds.items():
            merged[kind] = merged.get(kind, 0) + count
    area = sum(weight_of(k)[0] * n for k, n in merged.items())
    power = sum(weight_of(k)[0] * weight_of(k)[1] * n for k, n in merged.items())
    flops = sum(n for k, n in merged.items() if "DFF" in k)
    return {"cells": sum(merged.values()), "flip_flops": flops, "gate_equivalents": round(area),
            "power_proxy": round(power)}


def designs(generated):
    made = [Design(fit_name(s), "systolic_array", ARRAY_SOURCES, tuple(zip(PARAMETERS, s))) for s in FIT]
    made += [Design(name, f"systolic_array_{name}", [*ARRAY_SOURCES, generated / f"sv/systolic_array_{name}.sv"])
             for name in WHOLE]
    made += [Design("converter", "precision_converter", CONVERTER_SOURCES),
             Design("stream_fifo", "stream_fifo", [RTL / "common/stream_fifo.sv"]),
             Design("axi_lite_port", "axi_lite_port", [RTL / "common/axi_lite_port.sv"])]
    for block in ("npu", "mailbox"):
        made.append(Design(f"{block}_axi_lite", f"{block}_axi_lite", [
            RTL / "common/axi_lite_port.sv", generated / f"sv/{block}_regs.sv", generated / f"sv/{block}_axi_lite.sv"]))
    return made


def estimates(results):
    """Per configuration its figures: synthesised where it was, by the model else; and the model's error."""
    fitted = {}
    shapes = [s for s in FIT if fit_name(s) in results]
    if len(shapes) < len(FIT):
        return [], None
    for figure in ("flip_flops", "gate_equivalents", "power_proxy"):
        values = [figures(results[fit_name(s)]["cells"])[figure] for s in shapes]
        fitted[figure] = least_squares([terms_of(s) for s in shapes], values)
    rows, error = [], 0.0
    for name in ESTIMATED:
        terms = terms_of(shape_of(name))
        model = {f: round(sum(c * t for c, t in zip(coefficients, terms))) for f, coefficients in fitted.items()}
        row = {"configuration": name, "model": model}
        if name in results:
            row["synthesised"] = figures(results[name]["cells"])
            row["model_error_percent"] = {f: round(100 * (model[f] / row["synthesised"][f] - 1), 1) for f in model}
            error = max([error, *map(abs, row["model_error_percent"].values())])
        rows.append(row)
    return rows, {"terms": list(TERMS), "coefficients": {f: [round(c, 2) for c in v] for f, v in fitted.items()},
                  "worst_error_percent": error}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a design; may be repeated")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--generated", type=pathlib.Path, required=True,
                        help="<build>/generated (scripts/synth gives it)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/synth")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    everything = designs(options.generated)
    unknown = set(options.only) - {d.name for d in everything}
    if unknown:
        print(f"synth: no design {', '.join(sorted(unknown))}; there are {', '.join(d.name for d in everything)}",
              file=sys.stderr)
        return 2
    chosen = [d for d in everything if not options.only or d.name in options.only]
    if options.fresh:
        for design in chosen:
            (options.out / f"{design.name}-{design.key()}.json").unlink(missing_ok=True)
    # The longest last: what is done by then is kept.
    chosen.sort(key=lambda d: WHOLE.index(d.name) + 1 if d.name in WHOLE else 0)
    results, failed, lines = {}, False, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for design, result in zip(chosen, pool.map(lambda d: d.synthesise(options.out), chosen)):
            if "error" in result:
                failed = True
                print(f"FAIL {design.name}\n{result['error']}")
                continue
            results[design.name] = result
            total = figures(result["cells"])
            lines.append(f"{design.name}: {total['cells']} cells, {total['flip_flops']} of them flip-flops, "
                         f"{total['gate_equivalents']} GE, power {total['power_proxy']}; no latch, loop or warning; "
                         f"{result['seconds']} s")
            print(lines[-1], flush=True)
            for module, cells in result["cells"].items():
                kinds = [f"{kind.strip('$_')} {count}" for kind, count in sorted(cells.items())]
                lines.append(f"    {module}: " + ", ".join(kinds))
    rows, model = estimates(results)
    if model:
        lines += ["", "configuration     GE synthesised   GE by model     error   power proxy (synthesised or by model)"]
        for row in rows:
            synthesised = row.get("synthesised")
            lines.append(f"{row['configuration']:16} {synthesised['gate_equivalents'] if synthesised else '-':>15} "
                         f"{row['model']['gate_equivalents']:>13} "
                         f"{str(row['model_error_percent']['gate_equivalents']) + ' %' if synthesised else '-':>9} "
                         f"{(synthesised or row['model'])['power_proxy']:>13}")
        costs = zip(TERMS, model["coefficients"]["gate_equivalents"])
        lines.append("cost of a term, GE: " + ", ".join(f"{term} {cost}" for term, cost in costs))
        print("\n".join(lines[-len(rows) - 2:]))
        text = json.dumps({"$schema": "synthesis.schema.json", "command": "scripts/synth --write",
                           "weights": {k: {"gate_equivalents": a, "activity": b} for k, (a, b) in WEIGHTS.items()},
                           "model": model, "configurations": rows}, indent=1) + "\n"
        (options.out / "synthesis.json").write_text(text)
        if options.write:
            (HERE / "synthesis.json").write_text(text)
    (options.out / "report.txt").write_text("\n".join(lines) + "\n")
    print(f"report {options.out / 'report.txt'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
