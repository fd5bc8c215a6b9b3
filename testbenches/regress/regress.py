#!/usr/bin/env python3
"""The verification regression: CTest's cases, and seeded random cases of every array configuration and the converter.

    scripts/regress [smoke|quick|nightly|full] [--coverage] [--seed N] [--seeds N] [--only NAME]... [--waves]

smoke     one short random case of every design; seconds
quick     every CTest case but the long ones of whole programs, a few hundred random cases; minutes
nightly   every CTest case, thousands of random cases, millions of additions
full      more of both, a hundred million additions, tens of millions of memory accesses; hours
--coverage    also runs the random cases with line and toggle counters (three configurations and the converter)
--seed N      first seed of the random cases; with --only of a design and no --seeds, that seed alone
--seeds N     random cases per design
--only NAME   a design (array/tiny_4x4, converter), or a CTest label or case
--waves       waveforms of the whole random cases that run

A random case is a design and a seed and always the same. On failure the first mismatch is printed, a waveform of the
cycles around it is written, and the command that runs the case alone. Results: OUT/junit.xml, functional cover points in
OUT/coverage (report.txt, index.html), OUT being out/regress.

Exit code 0: everything passed and, with --coverage, every cover point was reached, at least 98 % of the lines were, and
every hole is explained in testbenches/regress/waivers.txt. 1: not. 2: a wrong argument.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import coverage

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Seeds per design, cycles of a case, CTest's exclusions, and further programs.
MODES = {
    "smoke": {"seeds": 1, "cycles": 2000, "exclude": None, "soak": []},
    "quick": {"seeds": 150, "cycles": 4000, "exclude": "^system_", "soak": []},
    "nightly": {"seeds": 3000, "cycles": 8000, "exclude": "", "soak": [
        ["testbenches/rtl/rtl_numeric_soak", "--vectors", "20000000", "--seed", "1"]]},
    "full": {"seeds": 20000, "cycles": 16000, "exclude": "", "soak": [
        ["testbenches/rtl/rtl_numeric_soak", "--vectors", "100000000", "--seed", "2"],
        ["testbenches/soak/lpddr5_soak", "--requests", "50000000", "--seed", "1"]]},
}
CASE = re.compile(r"^(PASS|FAIL) (\S+)/seed=(\d+) ([\d.]+) s, (\d+) cycles, (\d+) compared$")


class Case:
    def __init__(self, suite, name, seconds, verdict="passed", text=""):
        self.suite, self.name, self.seconds, self.verdict, self.text = suite, name, seconds, verdict, text


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def random_cases(program, design, first, count, options, extra):
    """Cases of one design in one process."""
    command = [str(program), "--only", design, "--seeds", f"{first}:{count}", "--cycles", str(options.cycles), "--out",
               os.path.relpath(options.out, ROOT) if options.out.is_relative_to(ROOT) else str(options.out), *extra]
    done = run(command, cwd=ROOT)
    cases, seen = [], 0
    for line in done.stdout.splitlines():
        match = CASE.match(line)
        if match:
            verdict = "passed" if match.group(1) == "PASS" else "failed"
            cases.append(Case("rtl_regress", f"{match.group(2)}/seed={match.group(3)}", float(match.group(4)), verdict))
            seen += 1
        elif cases and line.startswith("  "):
            cases[-1].text += line.strip() + "\n"
    if seen != count:
        cases.append(Case("rtl_regress", f"{design}/seeds={first}:{count}", 0, "failed",
                          f"ended with {done.returncode} after {seen} cases\n{done.stdout[-2000:]}"))
    return cases


def all_random_cases(program, designs, options, tag, extra):
    """Designs in parallel, each in as many processes as keep the cores busy. `extra` makes a process's own arguments."""
    jobs = []
    block = max(1, -(-options.seeds // 4))
    for design in designs:
        for first in range(options.seed, options.seed + options.seeds, block):
            count = min(block, options.seed + options.seeds - first)
            jobs.append((design, first, count, extra(f"{tag}-{design.replace('/', '-')}-{first}")))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: random_cases(program, job[0], job[1], job[2], options, job[3]), jobs)
        return [case for cases in results for case in cases]


def ctest_cases(build, selection, options):
    junit = options.out / "ctest.xml"
    junit.unlink(missing_ok=True)
    done = run(["ctest", "--test-dir", str(build), "--parallel", str(options.jobs), "--output-junit", str(junit),
                "--no-tests=ignore", *selection])
    if not junit.exists():
        return [Case("ctest", " ".join(selection), 0, "failed", done.stdout[-2000:])]
    cases = []
    for item in xml.parse(junit).getroot().iter("testcase"):
        verdict = {"run": "passed", "fail": "failed"}.get(item.get("status"), "skipped")
        output = item.findtext("system-out") or ""
        again = f"again ctest --test-dir {os.path.relpath(build, ROOT)} -R '^{item.get('name')}$' --output-on-failure"
        text = "\n".join(output.splitlines()[-15:] + [again]) if verdict == "failed" else ""
        cases.append(Case("ctest", item.get("name"), float(item.get("time")), verdict, text))
    return cases


def write_junit(cases, path):
    root = xml.Element("testsuites")
    for suite in sorted({case.suite for case in cases}):
        mine = [case for case in cases if case.suite == suite]
        element = xml.SubElement(root, "testsuite", name=suite, tests=str(len(mine)),
                                 failures=str(sum(c.verdict == "failed" for c in mine)),
                                 skipped=str(sum(c.verdict == "skipped" for c in mine)),
                                 time=f"{sum(c.seconds for c in mine):.3f}")
        for case in mine:
            item = xml.SubElement(element, "testcase", classname=suite, name=case.name, time=f"{case.seconds:.3f}")
            if case.verdict == "failed":
                # Control characters are not allowed in XML.
                text = re.sub(r"[^\t\n\x20-\ufffd]", "?", case.text)
                xml.SubElement(item, "failure", message=text.split("\n", 1)[0]).text = text
            elif case.verdict == "skipped":
                xml.SubElement(item, "skipped")
    xml.indent(root)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", default="quick", choices=sorted(MODES))
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--cycles", type=int, default=None)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--waves", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build directory (scripts/regress gives it)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/regress")
    options = parser.parse_args(words)
    options.build, options.out = options.build.resolve(), options.out.resolve()
    mode = MODES[options.mode]
    if options.seeds is None:
        options.seeds = 1 if options.seed is not None and options.only else mode["seeds"]
    if options.seed is None:
        options.seed = 1
    if options.cycles is None:
        options.cycles = mode["cycles"]
    return options, mode


def main(words):
    options, mode = parse(words)
    start = time.monotonic()
    programs = options.build / "testbenches/regress"
    options.out.mkdir(parents=True, exist_ok=True)
    for old in [*options.out.glob("points-*"), *options.out.glob("counters-*.dat")]:
        old.unlink()
    designs = run([str(programs / "rtl_regress"), "--list"]).stdout.split()
    chosen = [name for name in options.only if name in designs] if options.only else designs
    others = [name for name in options.only if name not in designs]

    cases = []
    if others:
        for name in others:
            labels = run(["ctest", "--test-dir", str(options.build), "--print-labels"]).stdout.split()
            found = ctest_cases(options.build, ["-L", f"^{name}$"] if name in labels else ["-R", name], options)
            if not found:
                print(f"regress: no design, label or test {name}; designs: {', '.join(designs)}", file=sys.stderr)
                return 2
            cases += found
    elif not options.only and mode["exclude"] is not None:
        cases += ctest_cases(options.build, ["-E", mode["exclude"]] if mode["exclude"] else [], options)
        for command in mode["soak"]:
            begin = time.monotonic()
            done = run([str(options.build / command[0]), *command[1:]])
            cases.append(Case("soak", " ".join(command), time.monotonic() - begin,
                              "passed" if done.returncode == 0 else "failed", done.stdout[-2000:]))
    if chosen:
        waves = ["--waves"] if options.waves else []
        cases += all_random_cases(programs / "rtl_regress", chosen, options, "points",
                                  lambda tag: ["--points", str(options.out / tag), *waves])
    if options.coverage:
        counted = run([str(programs / "rtl_regress_coverage"), "--list"]).stdout.split()
        for case in all_random_cases(programs / "rtl_regress_coverage", [d for d in chosen if d in counted], options,
                                     "counters", lambda tag: ["--variant", str(options.out / tag)]):
            case.name += "/coverage"
            cases.append(case)

    write_junit(cases, options.out / "junit.xml")
    number = {v: sum(case.verdict == v for case in cases) for v in ("passed", "failed", "skipped")}
    seconds = round(time.monotonic() - start)
    waivers = coverage.read_waivers(HERE / "waivers.txt") if options.coverage and not options.only else []
    result = coverage.Coverage(coverage.read_points(options.out.glob("points-*")),
                               coverage.read_verilator(options.out.glob("counters-*.dat")), waivers)
    print(f" {number['passed']} passed, {number['failed']} failed, {number['skipped']} skipped   "
          f"{seconds // 60}m{seconds % 60:02}s   {result.summary()}")
    for case in cases:
        if case.verdict == "failed":
            print(f"FAIL {case.name}\n" + "\n".join("     " + line for line in case.text.splitlines()))
    result.write(options.out / "coverage", f"RTL regression, {options.mode}, seeds {options.seed} to "
                 f"{options.seed + options.seeds - 1}")
    where = os.path.relpath(options.out, ROOT) if options.out.is_relative_to(ROOT) else options.out
    print(f"junit {where}/junit.xml   coverage {where}/coverage/index.html")
    # A part of the designs, or a few seeds, cannot reach every point.
    if options.coverage and not options.only and options.mode != "smoke" and not result.ok():
        for name in result.open_points:
            print(f"     never reached: {name}")
        for kind, file, line, what, _ in result.unexplained[:20]:
            print(f"     hole without explanation: {kind} {file}:{line} {what}")
        for place in result.stale:
            print(f"     waiver without a hole: {place}")
        return 1
    return 1 if number["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
