#!/usr/bin/env python3
"""Proves the assertions of one harness with Yosys and an SMT solver.

    prove.py --top T --work DIR [--param NAME=VALUE]... [--bound N] [--induction K] [--cover N] [--broken EDIT] FILE...

--bound N      no assertion fails in the first N cycles
--induction K  no assertion fails in any cycle: K cycles without a failure are never followed by one (with --bound,
               which is the base case, this is a proof for runs of any length)
--cover N      every cover statement is reached within N cycles, so that the assumptions do not rule out the interesting
               cases
--broken EDIT  "FILE: OLD => NEW": the proof is made of a copy of FILE with that edit and has to FAIL. OLD must occur
               exactly once. This is the control of the proof itself.

Exit code 0: as expected. 1: an assertion fails (or, with --broken, none does); the trace is DIR/<top>.vcd. 2: a tool
could not run.
"""
import argparse
import pathlib
import subprocess
import sys


def run(command, accepted):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in accepted:
        print(done.stdout)
        print(f"prove: {command[0]} ended with {done.returncode}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def broken_copy(edit, files, work):
    name, _, change = edit.partition(": ")
    old, _, new = change.partition(" => ")
    matches = [f for f in files if f.endswith(name)]
    text = pathlib.Path(matches[0]).read_text() if len(matches) == 1 else ""
    if text.count(old) != 1 or not new:
        print(f"prove: '{old}' is not found exactly once in {name}", file=sys.stderr)
        sys.exit(2)
    copy = work / pathlib.Path(name).name
    copy.write_text(text.replace(old, new))
    return [str(copy) if f == matches[0] else f for f in files]


def build(options, files, model):
    parameters = "".join(f" -set {p.replace('=', ' ', 1)}" for p in options.param)
    script = [
        f"read_verilog -formal -sv -defer {' '.join(files)}",
        f"chparam{parameters} {options.top}" if parameters else "",
        f"hierarchy -check -top {options.top}",
        "proc; flatten; opt_clean; check -assert; opt_expr; opt_clean",
        "async2sync; dffunmap; opt_clean",
        f"write_smt2 -wires {model}",
    ]
    run(["yosys", "-q", "-p", "; ".join(line for line in script if line)], (0,))


def prove(step, arguments, model, trace):
    """True when the step passes, False when an assertion fails or a cover statement is not reached."""
    solver = ["yosys-smtbmc", "-s", "z3", "--unroll", "--noprogress", "--dump-vcd", str(trace)]
    out = run([*solver, *arguments, str(model)], (0, 1))
    passed = "Status: PASSED" in out
    failed = "Status: FAILED" in out
    if passed == failed:
        print(out)
        print(f"prove: no verdict from the {step}", file=sys.stderr)
        sys.exit(2)
    print(f"{step}: {'passed' if passed else 'FAILED'}")
    for line in out.splitlines():
        if "Assert failed" in line or "Unreached" in line:
            print("  " + line.split(None, 2)[-1])
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("--bound", type=int, default=0)
    parser.add_argument("--induction", type=int, default=0)
    parser.add_argument("--cover", type=int, default=0)
    parser.add_argument("--broken")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    files = broken_copy(options.broken, options.files, options.work) if options.broken else options.files
    model = options.work / (options.top + ".smt2")
    trace = options.work / (options.top + ".vcd")
    build(options, files, model)

    passed = True
    if options.bound:
        passed &= prove(f"first {options.bound} cycles", ["-t", str(options.bound)], model, trace)
    if options.induction and passed:
        passed &= prove(f"induction over {options.induction}", ["-i", "-t", str(options.induction)], model, trace)
    if options.cover and passed:
        passed &= prove(f"cover within {options.cover} cycles", ["-c", "-t", str(options.cover)], model, trace)
    if options.broken:
        print("broken variant: " + ("NOT FOUND" if passed else "found, as it has to be"))
        return 1 if passed else 0
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
