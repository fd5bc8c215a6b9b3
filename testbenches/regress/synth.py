#!/usr/bin/env python3
"""Synthesis of the RTL with Yosys, and an estimate of area and power for every array configuration.

    scripts/synth [--only DESIGN]... [--fresh] [--write]

Designs: the array configurations tiny_4x4, lean_8x4 and edge_8x8; the converter; the blocks of rtl/common; small arrays
of many shapes. Each is synthesised to simple gates without a warning, a latch or a
combinational loop; anything else is an error. Results are kept in OUT (out/synth) as long as the sources stay the same:
an interrupted run goes on where it stopped.

OUT/report.txt has the cells by module and the estimates. OUT/synthesis.json is the same for programs, in the form of
testbenches/regress/synthesis.schema.json; --write also puts it into testbenches/regress/synthesis.json.

Area is in gate equivalents (GE, one NAND2), the sum of the cells by the weights in the file. Power is a proxy, the
sum of the same cells times how often they switch in a cycle with every element busy: clocked cells weigh more.
Neither is a promise of a technology: they compare configurations.

Configurations too large to synthesise here are modelled. The flip-flops of a shape are counted, exactly: a difference
from the synthesised number is an error. Area and power are a sum of costs, none negative: one per flip-flop, per
element and slot, per choice between two banks, per further adder stage, per row and slot, per column and slot, and one
for the control. The costs are fitted to all arrays synthesised, by relative error. Two errors are stated: leave-one-out
(each array predicted by a fit to all others), and that of the three configurations predicted from the small shapes
alone.

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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RTL = ROOT / "rtl"
ARRAY_SOURCES = [RTL / "numeric/numeric_pkg.sv", RTL / "common/stream_fifo.sv", RTL / "array/systolic_array.sv"]
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


def slots_of(shape):
    return 4 if shape[3] else 1


def flip_flops_of(shape):
    """The registers of rtl/array/systolic_array.sv that are read, without bits that are constant or doubled."""
    rows, columns, lane_bits, packing, stages, banks, buffer = shape
    slots = slots_of(shape)
    stationary = banks * rows * (16 * columns + 1)
    # Element, bank tag, valid: a row's words wait for the rows above it, then move right. Equal delays share a tag.
    streamed = slots * 16 * (stages * rows * (rows - 1) // 2 + rows * (columns - 1))
    tags = (stages * (rows - 1) + columns - 1) * (banks - 1) + slots * (rows * stages + columns)
    # Product and sum; between the stages two words each, less the zeros at the top of the second.
    element = 64 + {1: 0, 2: 61, 3: 120}[stages]
    presets_and_deskew = slots * 32 * columns * columns
    # The buffer is a module of its own, which has the number of vectors even where it is constant.
    result = slots * 32 * columns + 2 * packing + 1 + buffer * 2 * (slots * 32 * columns + 2 + 1)
    halves = (8 * rows + 1) * (lane_bits == 8)
    return stationary + streamed + tags + slots * rows * columns * element + presets_and_deskew + result + halves


TERMS = ("flip-flop", "element and slot", "element and slot, choice of bank", "element and slot, second stage",
         "element and slot, third stage", "row and slot", "column and slot", "array")


def terms_of(shape):
    rows, columns, _, _, stages, banks, _ = shape
    slots = slots_of(shape)
    elements = rows * columns * slots
    return (flip_flops_of(shape), elements, elements * (banks == 2), elements * (stages >= 2), elements * (stages == 3),
            rows * slots, columns * slots, 1)


def fit(rows, values):
    """Costs of the terms, none negative, with the least sum of squares of relative errors; by coordinate descent."""
    scale = [max(row[i] / value for row, value in zip(rows, values)) for i in range(len(rows[0]))]
    scaled = [[term / value / s for term, s in zip(row, scale)] for row, value in zip(rows, values)]
    n = len(scale)
    square = [[sum(row[i] * row[k] for row in scaled) for k in range(n)] for i in range(n)]
    right = [sum(row[i] for row in scaled) for i in range(n)]
    costs = [0.0] * n
    for _ in range(5000):
        for i in range(n):
            rest = right[i] - sum(square[i][k] * costs[k] for k in range(n) if k != i)
            costs[i] = max(0.0, rest / square[i][i])
    return [cost / s for cost, s in zip(costs, scale)]


def predicted(costs, shape):
    return sum(cost * term for cost, term in zip(costs, terms_of(shape)))


class Design:
    def __init__(self, name, top, sources, parameters=(), shape=None):
        self.name, self.top, self.sources, self.parameters = name, top, [str(s) for s in sources], parameters
        self.shape = shape  # of an array

    def key(self):
        text = "".join(pathlib.Path(f).read_text() for f in self.sources) + str(self.parameters) + self.top
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def synthesise(self, out):
        """{"cells": {module: {type: count}}, "cpu_seconds": s}, or {"error": text}."""
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
        log = out / f"{self.name}.log"
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(["yosys", "-q", "-e", ".", *[w for c in commands if c for w in ("-p", c)]],
                                       stdout=file, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return {"error": "\n".join(log.read_text().splitlines()[-5:])}
        cells, module = {}, None
        for line in stat.read_text().splitlines():
            header = re.match(r"=== (.*) ===", line)
            if header:
                module = None if header.group(1) == "design hierarchy" else header.group(1).split("\\")[-1]
            cell = re.match(r"\s+(\$_\w+)\s+(\d+)$", line)
            if cell and module:
                cells.setdefault(module, {})[cell.group(1)] = int(cell.group(2))
        result = {"cells": cells, "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1)}
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
    made = [Design(fit_name(s), "systolic_array", ARRAY_SOURCES, tuple(zip(PARAMETERS, s)), s) for s in FIT]
    made += [Design(name, f"systolic_array_{name}", [*ARRAY_SOURCES, generated / f"sv/systolic_array_{name}.sv"],
                    shape=shape_of(name)) for name in WHOLE]
    made += [Design("converter", "precision_converter", CONVERTER_SOURCES),
             Design("stream_fifo", "stream_fifo", [RTL / "common/stream_fifo.sv"]),
             Design("axi_lite_port", "axi_lite_port", [RTL / "common/axi_lite_port.sv"])]
    for block in ("npu", "mailbox"):
        made.append(Design(f"{block}_axi_lite", f"{block}_axi_lite", [
            RTL / "common/axi_lite_port.sv", generated / f"sv/{block}_regs.sv", generated / f"sv/{block}_axi_lite.sv"]))
    return made


MODELLED = ("gate_equivalents", "power_proxy")


def percent(model, actual):
    return round(100 * (model / actual - 1), 1)


def estimates(results):
    """Per configuration its figures, and the model; (None, None) unless all arrays were synthesised."""
    shapes = {fit_name(s): s for s in FIT} | {name: shape_of(name) for name in WHOLE}
    if not shapes.keys() <= results.keys():
        return None, None
    actual = {name: figures(results[name]["cells"]) for name in shapes}
    costs, leave_one_out, from_small = {}, {}, {}
    for figure in MODELLED:
        def fit_to(names):
            return fit([terms_of(shapes[n]) for n in names], [actual[n][figure] for n in names])
        costs[figure] = fit_to(shapes)
        errors = [percent(predicted(fit_to([n for n in shapes if n != name]), shapes[name]), actual[name][figure])
                  for name in shapes]
        leave_one_out[figure] = {"worst_percent": max(map(abs, errors)),
                                 "mean_percent": round(sum(map(abs, errors)) / len(errors), 1)}
        small = fit_to([fit_name(s) for s in FIT])
        from_small[figure] = {n: percent(predicted(small, shapes[n]), actual[n][figure]) for n in WHOLE}
    rows = []
    for name in ESTIMATED:
        shape = shape_of(name)
        if name in WHOLE:
            rows.append({"configuration": name, "source": "synthesised", **actual[name]})
        else:
            rows.append({"configuration": name, "source": "modelled", "flip_flops": flip_flops_of(shape),
                         **{f: round(predicted(costs[f], shape)) for f in MODELLED},
                         "error_percent": {f: leave_one_out[f]["worst_percent"] for f in MODELLED}})
    largest = max(terms_of(shape)[1] for shape in shapes.values())
    return rows, {"terms": list(TERMS), "costs": {f: [round(c, 3) for c in v] for f, v in costs.items()},
                  "arrays": len(shapes), "largest_elements_and_slots": largest, "leave_one_out": leave_one_out,
                  "configurations_from_small_shapes_percent": from_small}


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
                         f"{result['cpu_seconds']} s of CPU time")
            print(lines[-1], flush=True)
            for module, cells in result["cells"].items():
                kinds = [f"{kind.strip('$_')} {count}" for kind, count in sorted(cells.items())]
                lines.append(f"    {module}: " + ", ".join(kinds))
            if design.shape and flip_flops_of(design.shape) != total["flip_flops"]:
                failed = True
                print(f"FAIL {design.name}: {total['flip_flops']} flip-flops, {flip_flops_of(design.shape)} by "
                      "flip_flops_of in synth.py: correct it")
    rows, model = estimates(results)
    if model:
        first = len(lines)
        lines += ["", f"{'configuration':16} {'flip-flops':>11} {'GE':>11} {'power proxy':>12}"]
        for row in rows:
            lines.append(f"{row['configuration']:16} {row['flip_flops']:>11} {row['gate_equivalents']:>11} "
                         f"{row['power_proxy']:>12}  {row['source']}" + (
                             f", GE +-{row['error_percent']['gate_equivalents']} %" if "error_percent" in row else ""))
        for figure in MODELLED:
            lines.append(f"{figure}: " + ", ".join(f"{c:g} per {t}" for t, c in zip(TERMS, model["costs"][figure])))
            lines.append(f"    leave-one-out {model['leave_one_out'][figure]}, from small shapes "
                         f"{model['configurations_from_small_shapes_percent'][figure]}")
        print("\n".join(lines[first:]))
        text = json.dumps({"$schema": "synthesis.schema.json", "command": "scripts/synth --write",
                           "weights": {k: {"gate_equivalents": a, "activity": b} for k, (a, b) in WEIGHTS.items()},
                           "model": model, "configurations": rows}, indent=1) + "\n"
        (options.out / "synthesis.json").write_text(text)
        if options.write and not failed:
            (HERE / "synthesis.json").write_text(text)
    elif options.write:
        print("synth: --write needs all arrays synthesised", file=sys.stderr)
        failed = True
    (options.out / "report.txt").write_text("\n".join(lines) + "\n")
    print(f"report {options.out / 'report.txt'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
