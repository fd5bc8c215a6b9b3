#!/usr/bin/env python3
"""Mutation score of the RTL regression.

    scripts/mutate [--count N] [--seed S] [--only DESIGN] [--cases N] [--cycles N] [--jobs N] [--fresh]

Yosys makes N mutants (a bit of a cell inverted, held, or mixed up with another) of the array tiny_4x4 and of the
precision converter, as one netlist of each design in which a control input selects the mutant; Verilator compiles it
once. Every mutant then meets the cases of the regression until one fails (killed) or all pass (survived).

A survivor is then compared with the original by a SAT solver: if no state and no input make an output or a next state
differ, it is no fault at all and leaves the score.

Two kinds of cells get no mutants. Bits that nothing reads, found by taking the netlist apart into bits and removing
what is unused: the source computes in words of equal width. And the arithmetic of the array's slots 1 to 3, which are
copies of slot 0's by the same loop but only ever see narrow codes, so that much of their logic never matters; their
registers, their share of the control and the paths of their operands are in.

Everything is kept in OUT (out/mutate): a run that was interrupted goes on where it stopped, the same command again only
reports. --fresh starts over. The report is OUT/report.txt (and .json): score, and every survivor with its place in the
sources and its explanation from testbenches/regress/survivors.txt.

Exit code 0: at least 95 % killed and every survivor explained. 1: not. 2: a tool could not run.
"""
import argparse
import concurrent.futures
import hashlib
import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
GOAL = 95.0
# Name, part of the mutants, top module; the array first.
ARRAY = "tiny_4x4"
DESIGNS = {"array/" + ARRAY: (0.75, "systolic_array_" + ARRAY), "converter": (0.25, "precision_converter")}


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-20:]), file=sys.stderr)
        print(f"mutate: {shlex.join(map(str, command))[:200]} ended with {done.returncode}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


class Design:
    def __init__(self, name, count, options, link):
        self.name, self.count, self.options, self.link = name, count, options, link
        self.top = DESIGNS[name][1]
        self.work = options.out / name.replace("/", "-")
        self.work.mkdir(parents=True, exist_ok=True)
        spec = json.loads((HERE.parents[1] / f"gen/spec/arrays/{ARRAY}.json").read_text())
        self.elements = spec["rows"] * spec["columns"]
        if name == "converter":
            self.sources = link["converter_sources"]
        else:
            self.sources = link["array_sources"] + [f"{link['generated']}/sv/{self.top}.sv"]
        # What the mutants are made of, and what they are tried with: another content, another folder of results.
        rtl = hashlib.sha256("".join(pathlib.Path(f).read_text() for f in self.sources).encode()
                             + "".join(map(inspect.getsource, RECIPE)).encode()).hexdigest()
        self.netlist = self.work / f"netlist-{rtl[:12]}.il"
        tests = hashlib.sha256(b"".join(pathlib.Path(f).read_bytes() for f in link["objects"])).hexdigest()
        made = hashlib.sha256(f"{rtl} {count} {options.seed}".encode()).hexdigest()[:12]
        self.list = self.work / f"mutants-{made}.txt"
        self.proofs = self.work / f"proofs-{made}.jsonl"
        self.program = self.work / f"mutants-{made}-{tests[:12]}"
        self.results = self.work / f"results-{made}-{tests[:12]}-{options.cases}x{options.cycles}.jsonl"

    def make_netlist(self):
        if self.netlist.exists():
            return
        part = self.netlist.with_suffix(".part")
        run(["yosys", "-q", "-p", f"read_verilog -sv -defer {' '.join(self.sources)}",
             "-p", f"hierarchy -check -top {self.top}", "-p", "proc; flatten; opt; wreduce; opt_clean",
             "-p", f"write_ilang {part}"])
        part.rename(self.netlist)

    def yosys(self, *commands):
        run(["yosys", "-q", *[word for command in commands for word in ("-p", command)]])

    def without_copies(self):
        """Commands that select what may be mutated: all cells but those that only slots 1 to 3 compute with."""
        if self.name == "converter":
            return ["select -set mutable t:*"]
        # splitnets names a bit after its wire: u_array.product_q[17] [3].
        first, last = self.elements, 4 * self.elements
        copies = " ".join(f"w:u_array.{plane}\\[{n}\\]*" for plane in ("product_q", "larger_q", "second_q", "sum_q")
                          for n in range(first, last))
        into = "%ci*:-$dff,$dffe,$sdff,$sdffe,$sdffce t:* %i"
        return ["select -set registers t:$*dff*", f"select -set copies {copies}",
                "select -set copied @copies %ci1:+[Q] @registers %i", "select -set others @registers @copied %d",
                f"select -set copied_cone @copied %ci1:+[D] {into}",
                f"select -set other_cone @others %ci1 o:* %u {into}",
                "select -set left_out @copied_cone @other_cone %d @copied %d", "select -set mutable t:* @left_out %d"]

    def alive(self, drawn):
        """Numbers of the mutants that are still there when every unused bit has gone."""
        bits = self.work / "bits.il"
        self.yosys(f"read_ilang {self.netlist}", f"script {drawn}", "pmuxtree", "simplemap t:$eq %n", "opt_clean",
                   f"write_ilang {bits}")
        found = set()
        for cell in re.findall(r"  cell \$eq .*?\n  end", bits.read_text(), re.DOTALL):
            if re.search(r"connect \\A \\mutant_i$", cell, re.MULTILINE):
                found.add(int(re.search(r"connect \\B \d+'([01]+)$", cell, re.MULTILINE).group(1), 2))
        return found

    def make_program(self):
        if self.program.exists():
            return
        bits = max(1, (3 * self.count).bit_length())
        drawn = self.work / "drawn.txt"
        mutable = self.work / "mutable.txt"
        # A selection follows whole wires, and some have the words of every element: taken apart, they tell them apart.
        self.yosys(f"read_ilang {self.netlist}", "splitnets", *self.without_copies(),
                   f"select -write {mutable} @mutable")
        self.yosys(f"read_ilang {self.netlist}", f"select -read {mutable}", "select -set mutable %", "select -clear",
                   f"mutate -list {3 * self.count} -seed {self.options.seed} -ctrl mutant_i {bits} 1 -o {drawn} "
                   "@mutable")
        # Not the mixing of one bit of a cell's result with another, nor a mutant in the result of an arithmetic shift: with
        # Yosys 0.23 and Verilator 5.006 such a netlist computes something else even while the mutant is off. Inputs, and
        # results held or inverted, stay.
        lines = [line for line in drawn.read_text().splitlines()
                 if not re.search(r"-mode cnot.* -port [YQ] |\$sshr\$.* -port Y ", line)]
        drawn.write_text("\n".join(lines) + "\n")
        alive = self.alive(drawn)
        kept = [line for line in lines if int(re.search(r"-ctrl \S+ \d+ (\d+)", line).group(1)) in alive][:self.count]
        if len(kept) < self.count:
            print(f"mutate: only {len(kept)} of {len(lines)} mutants of {self.name} are in use", file=sys.stderr)
            sys.exit(2)
        numbered = [re.sub(r"-ctrl \S+ \d+ \d+", f"-ctrl mutant_i {bits} {n}", line) for n, line in enumerate(kept, 1)]
        self.list.write_text("\n".join(numbered) + "\n")
        verilog = self.work / "mutants.v"
        self.yosys(f"read_ilang {self.netlist}", f"script {self.list}", "opt_clean", f"write_verilog -noattr {verilog}")
        model = self.work / "model"
        run(["rm", "-rf", str(model)])
        # A netlist of wires only: Verilator's notes on style do not apply to it.
        run([self.link["verilator"], "--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "--trace-fst",
             "--trace-depth", "1", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", self.top, "--prefix",
             "Vmutants", "--Mdir", str(model), str(verilog)])
        unit = model / "all.cpp"
        unit.write_text("".join(f'#include "{f}"\n' for f in sorted(model.glob("Vmutants*.cpp"))))
        array = [f'-DDVP_MUTANT_ARRAY="{ARRAY}"'] if self.name != "converter" else []
        include = [f"-I{d}" for d in self.link["include"]] + [f"-isystem{d}" for d in self.link["system_include"]]
        flags = ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", f"-isystem{model}"]
        part = self.program.with_suffix(".part")
        run([self.link["compiler"], *flags, *include, *array, str(unit), str(HERE / "mutant_designs.cpp"),
             *self.link["objects"], *self.link["archives"], "-lz", "-pthread", "-o", str(part)])
        part.rename(self.program)

    def command(self, mutant):
        return [str(self.program), "--brief", "--variant", str(mutant), "--seeds", f"1:{self.options.cases}",
                "--cycles", str(self.options.cycles)]

    def try_mutant(self, mutant):
        start = time.monotonic()
        try:
            done = subprocess.run(self.command(mutant), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=120)
        except subprocess.TimeoutExpired:
            return {"mutant": mutant, "verdict": "killed", "by": "no end after 120 s", "seconds": 120}
        lines = done.stdout.splitlines()
        found = next((n for n, line in enumerate(lines) if line.startswith("FAIL")), None)
        if done.returncode == 1 and found is not None:
            by = lines[found].split()[1] + ": " + " ".join(line.strip() for line in lines[found + 1:found + 3])
            verdict = "killed"
        elif done.returncode == 0:
            verdict, by = "survived", ""
        else:
            print(done.stdout[-2000:], file=sys.stderr)
            print(f"mutate: {shlex.join(self.command(mutant))} ended with {done.returncode}", file=sys.stderr)
            sys.exit(2)
        return {"mutant": mutant, "verdict": verdict, "by": by, "seconds": round(time.monotonic() - start, 2)}

    def is_equal(self, mutant):
        """Whether the mutant and the original have the same outputs and next states in every state, by SAT."""
        line = next(l for l in self.list.read_text().splitlines() if f" {mutant} -mode" in l)
        line = re.sub(r"-ctrl \S+ \d+ \d+ ", "", line).replace(f"-module {self.top} ", "-module gate ")
        script = self.work / f"equal-{mutant}.ys"
        script.write_text("\n".join([
            f"read_ilang {self.netlist}", "dffunmap", f"rename {self.top} gold", "copy gold gate", line,
            # Registers become inputs and outputs; what the two have in common is then merged. A register whose output
            # is mutated stays one or has another name, which ends the comparison: not proved.
            "expose -dff -evert-dff gold gate", "miter -equiv -flatten -make_assert gold gate miter",
            "hierarchy -top miter", "opt -fast", "opt_merge", "opt -fast",
            "sat -prove-asserts -verify -timeout 60 miter"]) + "\n")
        done = subprocess.run(["yosys", "-q", "-l", str(script.with_suffix(".log")), "-s", str(script)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log = script.with_suffix(".log").read_text()
        if done.returncode != 0 and not re.search("proof did fail|Failed to import cell|No matching port|timeout", log):
            print(f"mutate: no verdict on mutant {mutant}: {done.stdout[-500:]}", file=sys.stderr)
            sys.exit(2)
        return done.returncode == 0 and "SUCCESS" in log

    @staticmethod
    def read_results(path):
        """What has been written so far, by mutant."""
        if not path.exists():
            return {}
        found = {}
        for line in path.read_text().splitlines():
            try:
                result = json.loads(line)
                found[result["mutant"]] = result
            except json.JSONDecodeError:  # the line being written when a run was interrupted
                pass
        return found

    def try_all(self):
        if self.try_mutant(0)["verdict"] != "survived":
            print(f"mutate: {self.name} without a mutant fails the regression: {shlex.join(self.command(0))}",
                  file=sys.stderr)
            sys.exit(2)
        done = self.read_results(self.results)
        left = [n for n in range(1, self.count + 1) if n not in done]
        with open(self.results, "a", encoding="utf-8") as file, \
                concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for number, result in enumerate(pool.map(self.try_mutant, left), 1):
                file.write(json.dumps(result) + "\n")
                file.flush()
                done[result["mutant"]] = result
                if sys.stdout.isatty():
                    print(f"\r{self.name}: {len(done)}/{self.count} ", end="", flush=True)
            survivors = [n for n, result in done.items() if result["verdict"] == "survived"]
            proofs = self.read_results(self.proofs)
            unproved = [n for n in survivors if n not in proofs]
            with open(self.proofs, "a", encoding="utf-8") as proof_file:
                for n, equal in zip(unproved, pool.map(self.is_equal, unproved)):
                    proofs[n] = {"mutant": n, "equal": equal}
                    proof_file.write(json.dumps(proofs[n]) + "\n")
                    proof_file.flush()
            for n in survivors:
                done[n]["equal"] = proofs[n]["equal"]
        if sys.stdout.isatty():
            print("\r\033[K", end="")
        return done

    def describe(self):
        """Number -> kind, signal, source lines of every mutant."""
        mutants = {}
        for line in self.list.read_text().splitlines():
            number = int(re.search(r"-ctrl \S+ \d+ (\d+)", line).group(1))
            field = lambda key: (re.findall(rf"-{key} (\S+)", line) or [""])
            signal = field("wire")[0] + (f"[{field('wirebit')[0]}]" if field("wire")[0] else "")
            places, texts = [], []
            for source in field("src"):
                match = re.match(r"(.*):(\d+)\.", source)
                if not match or "/generated/" in match.group(1):
                    continue
                # The narrowest: a block of many lines says little.
                first, last = re.search(r":(\d+)\.\d+-(\d+)\.", source).groups()
                if int(last) - int(first) > 8:
                    continue
                places.append(f"{pathlib.Path(match.group(1)).name}:{match.group(2)}")
                texts.append(pathlib.Path(match.group(1)).read_text().splitlines()[int(match.group(2)) - 1].strip())
            mutants[number] = {"kind": field("mode")[0], "signal": signal, "cell": field("cell")[0].split("$")[1:2],
                               "port": f"{field('port')[0]}[{field('portbit')[0]}]", "places": places, "texts": texts}
        return mutants


# What decides how a netlist and its mutants come about.
RECIPE = (Design.make_netlist, Design.make_program, Design.without_copies, Design.alive)


def explanations():
    """Blocks of survivors.txt: 'design | part of a source line or signal | ports', then the indented reason."""
    rules, path = [], HERE / "survivors.txt"
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#") or not line.strip():
            continue
        if line[0] != " ":
            rules.append([*(part.strip() for part in line.split(" | ")), ""])
        else:
            rules[-1][3] = (rules[-1][3] + " " + line.strip()).strip()
    return rules


def explain(rules, design, mutant):
    """The reason of the rule for the mutant's source line, or signal, and its port: 'Y[28-31]'."""
    port, bit = re.match(r"(\w+)\[(\d+)\]", mutant["port"]).groups()
    for rule_design, pattern, ports, reason in rules:
        rule_port, first, last = re.match(r"(\w+|\*)\[(\d+)-(\d+)\]", ports).groups()
        if (rule_design == design and any(pattern in text for text in [*mutant["texts"], mutant["signal"]])
                and rule_port in (port, "*") and int(first) <= int(bit) <= int(last)):
            return reason
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=240,
                        help="mutants in all, those that turn out to be no fault included")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of mutants")
    parser.add_argument("--only", choices=sorted(DESIGNS), help="all mutants of one design")
    parser.add_argument("--cases", type=int, default=60, help="seeds of the regression each mutant meets")
    parser.add_argument("--cycles", type=int, default=4000, help="cycles of a case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--goal", type=float, default=GOAL,
                        help="percent to be killed; below %(default)s survivors need no explanation")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--link", type=pathlib.Path, required=True,
                        help="mutate_link.json of a build (scripts/mutate gives it)")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "out/mutate")
    options = parser.parse_args()
    link = json.loads(options.link.read_text())
    rules = explanations()
    start = time.monotonic()
    report, survivors, total, killed = [], [], 0, 0
    data = {"seed": options.seed, "cases": options.cases, "cycles": options.cycles, "designs": {}}
    left = options.count
    for name, (share, _) in DESIGNS.items():
        if options.only and name != options.only:
            continue
        last = options.only or name == list(DESIGNS)[-1]
        design = Design(name, left if last else max(1, round(options.count * share)), options, link)
        left -= design.count
        if options.fresh:
            design.results.unlink(missing_ok=True)
            design.proofs.unlink(missing_ok=True)
        design.make_netlist()
        design.make_program()
        results, mutants = design.try_all(), design.describe()
        dead = sum(r["verdict"] == "killed" for r in results.values())
        equal = sum(r.get("equal", False) for r in results.values())
        faults = design.count - equal
        report.append(f"{name}: {dead} of {faults} mutants killed, {100 * dead / faults:.1f} %; "
                      f"{equal} more are proved to be no fault")
        print(report[-1])
        total, killed = total + faults, killed + dead
        data["designs"][name] = {"mutants": faults, "killed": dead, "proved_equal": equal, "survivors": []}
        for number, result in sorted(results.items()):
            if result["verdict"] == "killed" or result.get("equal"):
                continue
            mutant = mutants[number]
            reason = explain(rules, name, mutant)
            data["designs"][name]["survivors"].append({"mutant": number, **mutant, "reason": reason})
            survivors.append(reason)
            report.append(f"  survivor {number}: {mutant['kind']} at {mutant['signal']} {mutant['port']}, "
                          + ", ".join(mutant["places"]))
            report += [f"    {text}" for text in mutant["texts"]]
            report += [f"    {'because ' + reason if reason else 'NOT EXPLAINED'}",
                       f"    again: {shlex.join(design.command(number))}"]
    score = 100 * killed / total
    unexplained = sum(not reason for reason in survivors)
    report.append(f"all: {killed} of {total} killed, {score:.1f} %; {len(survivors)} survivors, {unexplained} of them "
                  f"without an explanation; {time.monotonic() - start:.0f} s")
    (options.out / "report.txt").write_text("\n".join(report) + "\n")
    (options.out / "report.json").write_text(json.dumps({**data, "killed": killed, "mutants": total}, indent=1) + "\n")
    print(report[-1] + f"; report {options.out / 'report.txt'}")
    return 0 if score >= options.goal and (unexplained == 0 or options.goal < GOAL) else 1


if __name__ == "__main__":
    sys.exit(main())
