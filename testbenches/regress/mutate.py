#!/usr/bin/env python3
"""Mutation score of the RTL regression.

    scripts/mutate [--count N] [--seed S] [--only DESIGN] [--cases N] [--cycles N] [--jobs N] [--fresh]

Yosys makes N mutants (a bit of a cell inverted, held, or mixed up with another) of the array tiny_4x4 and of the
precision converter, as one netlist of each design in which a control input selects the mutant; Verilator compiles it
once. Every mutant then meets the cases of the regression until one fails (killed) or all pass (survived).

A survivor is compared with the original by a SAT solver: if no state and no input make an output or a next state
differ, it is no fault at all and leaves the score. States are those that the contracts of numeric_pkg allow; where a
mutant only touches one of the array's slots 1 to 3, the slot's elements are q4 or q2 codes in slot 1, q2 codes in slots
2 and 3 (a slot without a vector may hold anything, but its sums reach no result). Where only an addition reads a word,
one NaN is as good as another.

Bits that nothing reads get no mutants: the source computes in words of equal width. They are found by taking the
netlist apart into bits and removing what is unused. Everything else may get one.

Everything is kept in OUT (out/mutate): a run that was interrupted goes on where it stopped, the same command again only
reports. --fresh starts over. The report is OUT/report.txt (and .json): score, in all and by source file, and every
survivor with its place in the sources and its explanation from testbenches/regress/survivors.txt.

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
# Cases before a survivor is compared with the original; the others follow if that says nothing.
FIRST_CASES = 40
# Name, part of the mutants, top module; the array first.
ARRAY = "tiny_4x4"
# Files that mutants are counted by, lowest level first.
FILES = ("numeric_pkg.sv", "converter_pkg.sv", "stream_fifo.sv", "precision_converter.sv", "systolic_array.sv")
# What the words of the array's planes can be, by the contracts of numeric_pkg's functions: every NaN is canonical, a
# product that is not subnormal has 16 bits of significand, what is between the stages of an addition has three zeros.
# And what the elements of slot 1, and of slots 2 and 3, can be: formats, and bf16 numbers that stand for codes.
KNOWN_STATES = """
module product_word(input [31:0] value);
  assume property ((value[30:0] <= 31'h7f800000 && (value[30:23] == 8'd0 || value[7:0] == 8'd0)) ||
                   value == 32'h7fc00000);
endmodule
module sum_word(input [31:0] value);
  assume property (value[30:0] <= 31'h7f800000 || value == 32'h7fc00000);
endmodule
module larger_word(input [31:0] value);
  assume property (value[30:0] <= 31'h7f800000 || value == 32'h7fc00000);
endmodule
module second_word(input [31:0] value);
  assume property (value[30:28] == 3'd0);
endmodule
module bank_word(input [15:0] value);
  assume property (value[15:1] == 15'd0);
endmodule
module any_nan(input [31:0] value, output [31:0] same);
  assign same = value[30:0] > 31'h7f800000 ? 32'h7fc00000 : value;
endmodule
module any_zeros(input [31:0] value, output [31:0] same);
  assign same = value & 32'h8fffffff;
endmodule
module slot_1_format(input [1:0] value);
  assume property (value[1]);
endmodule
module slot_2_format(input [1:0] value);
  assume property (value == 2'd3);
endmodule
module slot_1_element(input [15:0] value);
  assume property (value == 16'd0 || (value[14:7] >= 8'd127 && value[14:7] <= 8'd133 && value[3:0] == 4'd0));
endmodule
module slot_2_element(input [15:0] value);
  assume property (value == 16'd0 || value[14:0] == 15'h3f80 || value[14:0] == 15'h4000 || value[14:0] == 15'h4200 ||
                   value[14:0] == 15'h42c0);
endmodule
"""
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
        self.rows, self.columns = spec["rows"], spec["columns"]
        elements = spec["rows"] * spec["columns"]
        # Words of one slot in each plane.
        self.planes = {"skew_q": spec["rows"] ** 2 * spec["adder_stages"], "preset_q": spec["columns"] ** 2,
                       "deskew_q": spec["columns"] ** 2, **{plane: elements for plane in (
                           "stream_q", "product_q", "larger_q", "second_q", "base_q", "normal_q", "sum_q")}}
        if name == "converter":
            self.sources = link["converter_sources"]
        else:
            self.sources = link["array_sources"] + [f"{link['generated']}/sv/{self.top}.sv"]
        # What the mutants are made of, and what they are tried with: another content, another folder of results.
        digest = lambda *texts: hashlib.sha256("".join(texts).encode()).hexdigest()
        rtl = digest(*(pathlib.Path(f).read_text() for f in self.sources), inspect.getsource(Design.make_netlist))
        self.netlist = self.work / f"netlist-{rtl[:12]}.il"
        self.base = self.work / f"base-{rtl[:12]}.il"
        tests = hashlib.sha256(b"".join(pathlib.Path(f).read_bytes() for f in link["objects"])).hexdigest()
        made = digest(rtl, f"{count} {options.seed}", *map(inspect.getsource, RECIPE))[:12]
        self.list = self.work / f"mutants-{made}.txt"
        self.proofs = self.work / f"proofs-{made}.jsonl"
        self.model = self.work / f"mutants-{made}.o"
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

    def make_mutants(self):
        """The list of mutants and the netlist with all of them, compiled."""
        if self.model.exists():
            return
        bits = max(1, (3 * self.count).bit_length())
        drawn = self.work / "drawn.txt"
        self.yosys(f"read_ilang {self.netlist}",
                   f"mutate -list {3 * self.count} -seed {self.options.seed} -ctrl mutant_i {bits} 1 -o {drawn}")
        lines = drawn.read_text().splitlines()
        alive = self.alive(drawn)
        kept = [line for line in lines if int(re.search(r"-ctrl \S+ \d+ (\d+)", line).group(1)) in alive][:self.count]
        if len(kept) < self.count:
            print(f"mutate: only {len(kept)} of {len(lines)} mutants of {self.name} are in use", file=sys.stderr)
            sys.exit(2)
        numbered = [re.sub(r"-ctrl \S+ \d+ \d+", f"-ctrl mutant_i {bits} {n}", line) for n, line in enumerate(kept, 1)]
        self.list.write_text("\n".join(numbered) + "\n")
        verilog = self.work / "mutants.v"
        # A result of which one bit depends on another goes in bits: Verilator 5.006 computes a word that depends on
        # itself wrong. So does the result of an arithmetic shift that is partly assigned elsewhere.
        split = self.work / "split.txt"
        split.write_text("".join(f"{self.top}/{re.search('-cell (.+?) -port', line).group(1)}\n" for line in numbered
                                 if re.search(r"-mode cnot.* -port [YQ] |\$sshr\$.* -port Y ", line)))
        self.yosys(f"read_ilang {self.netlist}", f"script {self.list}", f"select -read {split}", "select -set split %",
                   "select -clear", "splitnets @split %co1:+[Y,Q] w:* %i", "opt_clean",
                   f"write_verilog -noattr {verilog}")
        made = self.work / "model"
        run(["rm", "-rf", str(made)])
        # A netlist of wires only: Verilator's notes on style do not apply to it.
        run([self.link["verilator"], "--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "--trace-fst",
             "--trace-depth", "1", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", self.top, "--prefix",
             "Vmutants", "--Mdir", str(made), str(verilog)])
        unit = made / "all.cpp"
        sources = [*sorted(made.glob("Vmutants*.cpp")), HERE / "mutant_designs.cpp"]
        unit.write_text("".join(f'#include "{f}"\n' for f in sources))
        array = [f'-DDVP_MUTANT_ARRAY="{ARRAY}"'] if self.name != "converter" else []
        include = [f"-I{d}" for d in self.link["include"]] + [f"-isystem{d}" for d in self.link["system_include"]]
        flags = ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", f"-isystem{made}"]
        part = self.model.with_suffix(".part")
        run([self.link["compiler"], *flags, *include, *array, "-c", str(unit), "-o", str(part)])
        part.rename(self.model)

    def make_program(self):
        """The mutants with the cases of the regression."""
        if self.program.exists():
            return
        part = self.program.with_suffix(".part")
        run([self.link["compiler"], str(self.model), *self.link["objects"], *self.link["archives"], "-lz", "-pthread",
             "-o", str(part)])
        part.rename(self.program)

    def command(self, mutant, first=1, last=None):
        return [str(self.program), "--brief", "--variant", str(mutant), "--seeds",
                f"{first}:{(last or self.options.cases) - first + 1}", "--cycles", str(self.options.cycles)]

    def try_mutant(self, mutant, first=1, last=None):
        start = time.monotonic()
        try:
            done = subprocess.run(self.command(mutant, first, last), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=120)
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

    def make_proof_base(self):
        """The netlist with every register as ports: what it holds is an input, what it takes next an output. A cell at
        each of its ports stands for the port, as the register itself goes."""
        if self.base.exists():
            return
        declared, cells = [], []

        def buffered(match):
            name, text = match.group(1), match[0]
            for port, signal in re.findall(r"    connect \\(D|EN|SRST|Q) (.*)\n", text):
                width = int(re.search(r"parameter \\WIDTH (\d+)", text).group(1)) if port in "DQ" else 1
                wire = f"\\wire_{port}_{name}"
                declared.append(f"  wire width {width} {wire}\n")
                ends = (wire, signal) if port == "Q" else (signal, wire)
                # Not $pos, which opt_clean takes for a wire.
                lines = [f"  cell $or \\{port}_of_{name}", "parameter \\A_SIGNED 0", f"parameter \\A_WIDTH {width}",
                         "parameter \\B_SIGNED 0", "parameter \\B_WIDTH 1", f"parameter \\Y_WIDTH {width}",
                         f"connect \\A {ends[0]}", "connect \\B 1'0", f"connect \\Y {ends[1]}"]
                cells.append("\n    ".join(lines) + "\n  end\n")
                text = text.replace(f"    connect \\{port} {signal}\n", f"    connect \\{port} {wire}\n")
            return text

        text = re.sub(r"  cell \$\w*dff\w* (\S+)\n.*?\n  end\n", buffered, self.netlist.read_text(), flags=re.DOTALL)
        head = f"module \\{self.top}\n"
        text = text.replace(head, head + "".join(declared), 1)
        end = text.rindex("end\n")
        with_buffers = self.work / "buffers.il"
        with_buffers.write_text(text[:end] + "".join(cells) + text[end:])
        part = self.base.with_suffix(".part")
        # A selection follows whole wires: those that have the words of every element go in bits.
        self.yosys(f"read_ilang {with_buffers}", "splitnets w:u_array.*_w", "dffunmap",
                   "expose -dff -evert-dff", "opt_clean", f"write_ilang {part}")
        part.rename(self.base)

    def slot_of(self, signal):
        """The slot of the plane that the signal is a word of, 0 for everything else."""
        word = re.match(r"\\u_array\.(\w+)\[(\d+)\](\.\S*)?$", signal)
        if self.name == "converter" or not word:
            return 0
        per_slot = {**self.planes, "gen_wires": self.rows}
        return int(word.group(2)) // per_slot[word.group(1)] if word.group(1) in per_slot else 0

    def words_of(self, reached):
        """Of the outputs that a mutant reaches: output -> the words it is the next state of, none for a port."""
        registers = dict(re.findall(r"  cell \$\w*dff\w* (\S+)\n(?:(?!  end\n).*\n)*?    connect \\Q (.*)\n",
                                    self.netlist.read_text()))
        words = {}
        for line in reached.read_text().splitlines():
            register = re.search(r"/\\?(wire_Q_(\S+?)\.d)$", line)
            words[register.group(1) if register else ""] = (
                re.findall(r"\\\S+", registers[register.group(2)]) if register else [])
        return words

    def nan_is_nan(self, text, words):
        """The netlist in which products, and sums that another addition reads, only count as NaN or not, as the addition
        makes any NaN canonical; and the zeros between its stages do not count, as nothing reads them."""
        cells = ""
        for output, signals in words.items():
            word = re.match(r"\\u_array\.(product_q|sum_q|second_q)\[(\d+)\]$", signals[0]) if len(signals) == 1 else None
            bottom = word and int(word.group(2)) % self.planes["sum_q"] >= self.planes["sum_q"] - self.columns
            found = re.search(rf"  wire width 32 (output \d+) (\\{re.escape(output)})\n", text)
            if word and found and not (word.group(1) == "sum_q" and bottom):
                port, wire = found.groups()
                text = text.replace(found[0], f"  wire width 32 {wire}\n  wire width 32 {port} {wire}.same\n")
                module = "any_zeros" if word.group(1) == "second_q" else "any_nan"
                cells += (f"  cell \\{module} \\{output}.cell\n    connect \\value {wire}\n"
                          f"    connect \\same {wire}.same\n  end\n")
        end = text.rindex("end\n")
        return text[:end] + cells + text[end:]

    def known_states(self, text, slot):
        """The netlist with assumptions on what the words of its planes can be."""
        known = [(f"slot_{min(slot, 2)}_format", "\\stream_format_i")] if slot else []
        for width, wire in re.findall(r"  wire width (16|32) (?:\w+ \d+ )*(\\\S+)\n", text):
            word = re.match(r"\\u_array\.(skew_q|stream_q|product_q|larger_q|second_q|sum_q)\[\d+\]$", wire)
            if re.match(r"\\u_array\.(gen_wires\[\d+\]\S*\.bank|(skew|stream)_bank_q\[\d+\])$", wire):
                known.append(("bank_word", wire))
            elif re.match(r"\\u_array\.gen_wires\[\d+\]\S*\.streamed$", wire) or (word and width == "16"):
                if slot and self.slot_of(wire) == slot:
                    known.append((f"slot_{min(slot, 2)}_element", wire))
            elif word:
                known.append((word.group(1)[:-2] + "_word", wire))
        cells = "".join(f"  cell \\{module} \\known_{n}\n    connect \\value {wire}\n  end\n"
                        for n, (module, wire) in enumerate(known))
        end = text.rindex("end\n")
        return text[:end] + cells + text[end:]

    def is_equal(self, mutant):
        """Whether the mutant and the original have the same outputs and next states in every state, by SAT."""
        line = next(l for l in self.list.read_text().splitlines() if f" {mutant} -mode" in l)
        line = re.sub(r"-ctrl \S+ \d+ \d+ ", "", line).replace(f"-module {self.top} ", "-module gate ")
        cell, port = re.search(r"-cell (.+?) -port (\w+)", line).groups()
        if port == "CLK":
            return False
        if port in ("D", "EN", "SRST", "Q"):
            stand_in = f"{port}_of_{cell}"
            line = line.replace(f"-cell {cell} -port {port}", f"-cell {stand_in} -port {'Y' if port == 'Q' else 'A'}")
            cell = stand_in
        file = lambda end: self.work / f"equal-{mutant}.{end}"
        start, reached, cone, gold = file("start"), file("reached"), file("cone.il"), file("gold.il")
        start.write_text(f"{self.top}/{cell if cell.startswith('$') else chr(92) + cell}\n")
        # What the mutant can reach within a cycle, and all that this depends on.
        self.yosys(f"read_ilang {self.base}", f"select -read {start}", "select -assert-count 1 %",
                   "select -set reached % %co* o:* %i", "select -clear",
                   f"select -write {reached} @reached", "delete -output o:* @reached %d", "opt_clean",
                   f"write_ilang {cone}")
        if not reached.read_text():
            return True
        text = cone.read_text()
        if self.name != "converter":
            words = self.words_of(reached)
            slots = {self.slot_of(signal) for signals in words.values() for signal in signals or [""]}
            text = self.nan_is_nan(text, words)
            cone.write_text(text)
            text = self.known_states(text, slots.pop() if len(slots) == 1 else 0)
        gold.write_text(text)
        states = self.work / "known_states.sv"
        states.write_text(KNOWN_STATES)
        script, log = file("ys"), file("log")
        script.write_text("\n".join([
            f"read_ilang {cone}", f"rename {self.top} gate", f"read_ilang {gold}", f"rename {self.top} gold",
            f"read_verilog -formal {states}", line, "miter -equiv -flatten -make_assert gold gate miter",
            "hierarchy -top miter", "opt -fast", "opt_merge", "opt -fast",
            "sat -prove-asserts -set-assumes -verify -timeout 60 miter"]) + "\n")
        done = subprocess.run(["yosys", "-q", "-l", str(log), "-s", str(script)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 and not re.search("proof did (fail|time out)", log.read_text()):
            print(f"mutate: no verdict on mutant {mutant}: {done.stdout[-500:]}", file=sys.stderr)
            sys.exit(2)
        return done.returncode == 0 and "SUCCESS" in log.read_text()

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
            few = min(FIRST_CASES, self.options.cases)
            for result in pool.map(lambda n: self.try_mutant(n, 1, few), left):
                file.write(json.dumps(result) + "\n")
                file.flush()
                done[result["mutant"]] = result
                if sys.stdout.isatty():
                    print(f"\r{self.name}: {len(done)}/{self.count} ", end="", flush=True)
            survivors = [n for n, result in done.items() if result["verdict"] == "survived"]
            proofs = self.read_results(self.proofs)
            unproved = [n for n in survivors if n not in proofs]
            if unproved:
                self.make_proof_base()
            with open(self.proofs, "a", encoding="utf-8") as proof_file:
                for n, equal in zip(unproved, pool.map(self.is_equal, unproved)):
                    proofs[n] = {"mutant": n, "equal": equal}
                    proof_file.write(json.dumps(proofs[n]) + "\n")
                    proof_file.flush()
            # The other cases, for what may be a fault.
            again = [n for n in survivors if not proofs[n]["equal"] and "last" not in done[n]]
            if few < self.options.cases:
                for result in pool.map(lambda n: self.try_mutant(n, few + 1), again):
                    done[result["mutant"]] = {**result, "last": self.options.cases}
                    file.write(json.dumps(done[result["mutant"]]) + "\n")
                    file.flush()
            for n in survivors:
                done[n]["equal"] = proofs[n]["equal"] and done[n]["verdict"] == "survived"
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
            places, texts, files = [], [], {pathlib.Path(source.split(":")[0]).name for source in field("src")}
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
            # A function is inlined where it is called, a module where it is used: the cell is from the lowest level.
            file = next((f for f in FILES if f in files), FILES[-1] if self.name != "converter" else FILES[-2])
            mutants[number] = {"file": file, "kind": field("mode")[0], "signal": signal,
                               "cell": field("cell")[0].split("$")[1:2],
                               "port": f"{field('port')[0]}[{field('portbit')[0]}]", "places": places, "texts": texts}
        return mutants


# What decides how mutants come about.
RECIPE = (Design.make_mutants, Design.alive)


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
    parser.add_argument("--cases", type=int, default=150,
                        help="seeds of the regression each mutant meets; as many as `scripts/regress quick` runs")
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
    report, survivors, total, killed, by_file = [], [], 0, 0, {}
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
        design.make_mutants()
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
            if not result.get("equal"):
                counts = by_file.setdefault(f"{mutants[number]['file']} in {name}", [0, 0])
                counts[0] += result["verdict"] == "killed"
                counts[1] += 1
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
    report += [f"{place}: {dead} of {faults}, {100 * dead / faults:.1f} %" for place, (dead, faults) in by_file.items()]
    score = 100 * killed / total
    unexplained = sum(not reason for reason in survivors)
    report.append(f"all: {killed} of {total} killed, {score:.1f} %; {len(survivors)} survivors, {unexplained} of them "
                  f"without an explanation; {time.monotonic() - start:.0f} s")
    (options.out / "report.txt").write_text("\n".join(report) + "\n")
    data |= {"by_file": by_file, "killed": killed, "mutants": total}
    (options.out / "report.json").write_text(json.dumps(data, indent=1) + "\n")
    print(report[-1] + f"; report {options.out / 'report.txt'}")
    return 0 if score >= options.goal and (unexplained == 0 or options.goal < GOAL) else 1


if __name__ == "__main__":
    sys.exit(main())
