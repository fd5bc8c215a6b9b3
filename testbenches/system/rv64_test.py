"""The bare-metal RV64 image on the instruction-set simulator, inside the platform.

Oracle of the answers: the same firmware compiled for the host. Of the programs in testbenches/firmware_images: what each
file says it does.
"""
import csv
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time
import unittest

import chip

IMAGES = pathlib.Path(os.environ["FIRMWARE_IMAGES"])  # set by CTest, as is the image of the firmware
FIRMWARE = pathlib.Path(os.environ["FIRMWARE_IMAGE"])
SHOWCASE = ("--prompts", chip.task_file("showcase"))


def boot(image, *arguments, timeout=60):
    return chip.call("boot", IMAGES / f"{image}.elf", *arguments, timeout=timeout)


def one_sentence(process):
    """What the program says at its end, which must be one line."""
    lines = [line for line in process.stderr.splitlines() if line]
    assert len(lines) == 1, process.stderr
    return lines[0]


def executable(path, address, words):
    """A program of these instructions, as an ELF file of one segment."""
    code = b"".join(word.to_bytes(4, "little") for word in words)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, address, 64, 0, 4, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 120, address, address, len(code), len(code), 4)
    path.write_bytes(header + segment + code)
    return path


class Answers(unittest.TestCase):
    """Ten prompts with each model, two per task."""

    def same_as_native(self, model, *arguments):
        prompts = [item for task in chip.TASKS for item in chip.read_lines(chip.task_file(task), 2)]
        lines = chip.scratch_folder() / "prompts.jsonl"
        chip.write_lines(lines, prompts)
        common = ("--quiet", "--config", "fixed", "--timeline-prompts", "0", "--model", model, "--prompts", lines, *arguments)
        native, rv64 = chip.Run(*common), chip.Run(*common, "--cpu", "rv64", "--firmware", FIRMWARE)
        for run in (native, rv64):
            self.assertEqual(run.code, 0, run.describe())
        ours, theirs = rv64.json("stats.json"), native.json("stats.json")
        self.assertEqual((ours["cpu_seat"], theirs["cpu_seat"]), ("rv64", "native"))
        self.assertEqual(len(ours["answers"]), len(prompts))
        same = ("id", "answer", "result", "tokens", "rows", "blocks", "forwards", "descriptors", "descriptor_hashes", "state_hash")
        for a, b in zip(ours["answers"], theirs["answers"], strict=True):
            self.assertEqual({k: a[k] for k in same}, {k: b[k] for k in same})
            self.assertEqual(a["array"]["macs"], b["array"]["macs"])
            self.assertEqual(a["dram"]["bytes_read"], b["dram"]["bytes_read"])
        hashes = [a["descriptor_hashes"][0] for a in ours["answers"]]
        self.assertGreater(len(set(hashes)), len(hashes) // 2, "a hash that does not depend on the work is none")
        paths = [[(f["kind"], f["first"], f["commits"]) for f in a["forwards"]]
                 for r in (rv64, native) for a in r.json("trajectory.json")["answers"]]
        self.assertEqual(paths[:len(prompts)], paths[len(prompts):])

    def test_fast_dllm_v2(self):
        self.same_as_native("tiny-fdllm2")

    def test_llada(self):
        self.same_as_native("tiny-llada", "--generate", "32", "--steps", "4")

    def test_random_sampling(self):
        self.same_as_native("tiny-fdllm2", "--temperature", "0.8", "--seed", "11")


class CpuEngine(unittest.TestCase):
    """decode.engine=cpu: the tokens of the NPU, by either seat and without a descriptor."""

    def same_as_npu(self, model, *arguments):
        common = ("--quiet", "--config", "fixed", "--model", model, *SHOWCASE, "--limit", 1, *arguments)
        cpu = ("--set", "decode.engine=cpu")
        npu, native, rv64 = chip.Run(*common), chip.Run(*common, *cpu), chip.Run(*common, *cpu, "--cpu", "rv64", "--firmware", FIRMWARE)
        for run in (npu, native, rv64):
            self.assertEqual(run.code, 0, run.describe())
        expected, ours, theirs = (run.json("stats.json")["answers"][0] for run in (npu, native, rv64))
        for answer in (ours, theirs):
            for key in ("answer", "result", "tokens", "rows", "blocks", "forwards", "state_hash"):
                self.assertEqual(answer[key], expected[key], key)
            self.assertEqual((answer["descriptors"], answer["array"]["macs"]), (0, 0))
        self.assertGreater(expected["descriptors"], 0)
        # What the harts read by pointer the DRAM never saw: no figure rather than a wrong one.
        self.assertIn("CPU accesses not simulated, nor their energy (cpu.rv64.direct_memory)", rv64.process.stdout)
        self.assertNotIn("DRAM movement", rv64.process.stdout)
        self.assertIn("DRAM movement", native.process.stdout)

    def test_llada(self):
        self.same_as_npu("tiny-llada", "--generate", "32", "--steps", "1")

    def test_fast_dllm_v2(self):
        self.same_as_npu("tiny-fdllm2", "--generate", "8")


class DualPath(unittest.TestCase):
    """Staged stabilisation with the CPU path, waited for: the same decisions by either seat, on one hart and on two."""

    def test_same_on_every_seat(self):
        settings = {"loop": "fast_dllm_v1", "cache": "dual", "dppr.visibility": 0.9, "dppr.stability": 1,
                    "dppr.revisions": 1, "dppr.sweep_steps": 1, "dppr.wait": "true"}
        common = ["--quiet", "--config", "fixed", "--model", "tiny-llada", *SHOWCASE, "--limit", "1", "--generate", "32", "--steps", "32"]
        for key, value in settings.items():
            common += ["--set", f"decode.{key}={value}"]
        rv64 = ("--cpu", "rv64", "--firmware", FIRMWARE)
        # Harts that spin for one another are slow to simulate in small steps.
        runs = [chip.Run(*common, "--set", "cpu.harts=1"), chip.Run(*common, "--set", "cpu.harts=2"),
                chip.Run(*common, *rv64, "--harts", "1"),
                chip.Run(*common, *rv64, "--harts", "2", "--set", "cpu.rv64.quantum_ns=100000")]
        for run in runs:
            self.assertEqual(run.code, 0, run.describe())
        expected, *others = (run.json("stats.json")["answers"][0] for run in runs)
        # One beside a forward, one behind the last.
        self.assertGreater(expected["revisions"]["rows"], expected["revisions"]["picked"])
        self.assertGreater(expected["revisions"]["picked"], 1)
        self.assertNotEqual(int(expected["revision_hash"], 16), 0)
        for answer in others:
            for key in ("answer", "tokens", "rows", "blocks", "forwards", "state_hash", "revision_hash"):
                self.assertEqual(answer[key], expected[key], key)
            for key, value in expected["revisions"].items():
                if key != "waited_us":
                    self.assertEqual(answer["revisions"][key], value, key)


class Seat(unittest.TestCase):
    maxDiff = 2000

    def run_one(self, *arguments, limit=1):
        run = chip.Run("--cpu", "rv64", "--firmware", FIRMWARE, *SHOWCASE, "--limit", limit, *arguments)
        self.assertEqual(run.code, 0, run.describe())
        return run

    @staticmethod
    def figures(run):
        stats = run.json("stats.json")
        return stats["answers"], stats["total"]

    def test_same_bytes_again_and_all_reports_there(self):
        first, second = self.run_one(limit=2), self.run_one(limit=2)
        for name in ("stats.json", "timeline.json", "trajectory.json"):
            self.assertEqual(first.text(name), second.text(name), name)
        counters = first.json("stats.json")["total"]["counters"]["cpu0"]
        self.assertGreater(counters["instructions"], 1_000_000)
        self.assertGreater(counters["register_writes"], 100)
        names = {e["args"]["name"] for e in first.json("timeline.json")["traceEvents"] if e["name"] == "thread_name"}
        self.assertIn("cpu0", names)
        self.assertIn("cpu         rv64", first.process.stdout)

    def test_the_quantum_changes_no_figure(self):
        one_us, one_ms, none = (self.figures(self.run_one("--set", f"cpu.rv64.quantum_ns={q}")) for q in (1000, 1000000, 0))
        self.assertEqual(one_us, one_ms)
        self.assertEqual(one_us, none)

    def test_core_and_clock_change_time_and_not_tokens(self):
        jetson = self.figures(self.run_one("--config", "fixed"))[0][0]
        for extra in ("cpu.rv64.core=phone", "cpu.rv64.clock_hz=500000000", "cpu.rv64.core.cycles.alu=4"):
            other = self.figures(self.run_one("--config", "fixed", "--set", extra))[0][0]
            self.assertEqual((other["answer"], other["state_hash"], other["descriptor_hashes"]),
                             (jetson["answer"], jetson["state_hash"], jetson["descriptor_hashes"]), extra)
            self.assertGreater(other["latency_us"], 1.01 * jetson["latency_us"], extra)

    def test_registers_by_both_seats(self):
        """The driver makes the same accesses to NPU and mailbox, as far as time does not decide."""
        folder = chip.scratch_folder()
        seen = {}
        for cpu in ("native", "rv64"):
            path = folder / f"{cpu}.csv"
            firmware = ("--firmware", FIRMWARE) if cpu == "rv64" else ()
            run = chip.Run("--cpu", cpu, *firmware, *SHOWCASE, "--limit", "1", "--trace-registers", path)
            self.assertEqual(run.code, 0, run.describe())
            with open(path, newline="") as lines:
                rows = list(csv.DictReader(lines))
            times = [float(r["ns"]) for r in rows]
            self.assertEqual(times, sorted(times))
            self.assertEqual({r["who"] for r in rows}, {"hart 0" if cpu == "rv64" else "cpu"})
            seen[cpu] = [(r["block"], r["register"], r["value"]) for r in rows
                         if r["access"] == "write" and (r["block"] == "mailbox" or "queue" in r["register"])]
        self.assertEqual(seen["native"], seen["rv64"])
        self.assertGreater(len(seen["rv64"]), 100)

    def test_traces_profile_and_coverage_can_be_read(self):
        folder = chip.scratch_folder()
        run = self.run_one("--config", "fixed", "--trace-functions", folder / "calls.txt", "--trace-instructions", folder / "code.txt",
                           "--trace-filter", "dvp::drivers::mailbox::finish", "--profile", folder / "callgrind.out",
                           "--coverage", folder / "lines.info")
        plain = self.run_one("--config", "fixed")
        self.assertEqual(run.text("stats.json"), plain.text("stats.json"), "watching changed the run")

        calls = (folder / "calls.txt").read_text().splitlines()[1:]
        entered = sum(" > " in line for line in calls)
        self.assertEqual(entered, sum(" < " in line for line in calls))
        self.assertTrue(any("dvp::dllm::decode" in line for line in calls))

        code = (folder / "code.txt").read_text().splitlines()[1:]
        self.assertTrue(code and all("dvp::drivers::mailbox::finish" in line for line in code))

        profile = (folder / "callgrind.out").read_text()
        totals = [int(t) for t in re.search(r"^(?:summary|totals): (.*)$", profile, re.M)[1].split()]
        counters = run.json("stats.json")["total"]["counters"]["cpu0"]
        self.assertGreaterEqual(totals[0], counters["instructions"])  # boot comes before the first request
        self.assertIn("dvp::kernels::forward", profile)
        self.assertIn("dvp::kernels", run.process.stdout)

        hits = {}
        for line in (folder / "lines.info").read_text().splitlines():
            if line.startswith("SF:"):
                source = line[3:]
            if line.startswith("DA:"):
                number, count = line[3:].split(",")[:2]
                hits.setdefault(source, {})[int(number)] = int(count)
        decode = next(v for k, v in hits.items() if k.endswith("firmware/dllm/decode.cpp"))
        self.assertGreater(sum(count > 0 for count in decode.values()), 10)
        self.assertTrue(any(count == 0 for counts in hits.values() for count in counts.values()))

    def test_functions_on_the_timeline(self):
        """The same calls as --trace-functions tells, in the time of one prompt and closed before the second."""
        calls = chip.scratch_folder() / "calls.txt"
        run = self.run_one("--config", "fixed", "--timeline-functions", "--timeline-prompts", "1", "--trace-functions", calls, limit=2)
        plain = self.run_one("--config", "fixed", "--timeline-prompts", "1", limit=2)
        self.assertEqual(run.text("stats.json"), plain.text("stats.json"), "watching changed the run")
        events = run.json("timeline.json")["traceEvents"]
        tracks = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
        ours = [e for e in events if e.get("tid") == tracks["hart 0 functions"] and e["ph"] == "X"]
        others = [e for e in events if e.get("tid") != tracks["hart 0 functions"]]
        self.assertEqual(len(others) - 1, len(plain.json("timeline.json")["traceEvents"]) - 1)
        entered = [line.split(" > ")[1].split()[0] for line in calls.read_text().splitlines() if " > " in line]
        names = [e["name"] for e in ours]
        self.assertGreater(len(names), 1000)
        for name in ("main", "dvp::apps::serve", "dvp::drivers::mailbox::finish"):  # the outer ones were active at the end
            self.assertEqual(sum(n.split("(")[0] == name for n in names), 1, name)
        self.assertLess(len(names), len(entered))
        open_ends = []  # slices nest
        for e in sorted(ours, key=lambda e: (e["ts"], -e["dur"])):
            while open_ends and open_ends[-1] <= e["ts"] + 1e-7:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(e["ts"] + e["dur"], open_ends[-1] + 1e-6, e)
            open_ends.append(e["ts"] + e["dur"])

    def test_console_of_a_run(self):
        path = chip.scratch_folder() / "console.txt"
        self.run_one("--config", "fixed", "--uart", path)
        self.assertIn("firmware", path.read_text())

    def test_time_limit_ends_a_run(self):
        run = chip.Run("--cpu", "rv64", "--firmware", FIRMWARE, *SHOWCASE, "--limit", "1", "--limit-us", "900")
        self.assertEqual(run.code, 1)
        said = one_sentence(run.process)
        self.assertRegex(said, r"time limit of \d+ us ended the run; the last event was at \d+\.\d+ us; hart 0 (asleep )?in \w+")
        native = chip.Run(*SHOWCASE, "--limit", "1", "--limit-us", "900")
        self.assertIn("time limit", one_sentence(native.process))
        self.assertEqual(native.code, 1)
        self.assertFalse((native.folder / "stats.json").exists())


class Images(unittest.TestCase):
    def check(self, image, code, said, *arguments, sentence=None):
        done = boot(image, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for phrase in said:
            self.assertIn(phrase, done.stdout)
        if sentence is not None:
            self.assertRegex(one_sentence(done), sentence)
        else:
            self.assertEqual(done.stderr, "")
        return done

    def test_programs_that_pass(self):
        self.check("hello", 0, ["hello", "passed", "hart 0"])
        self.check("divide_by_zero", 0, ["42 / 0 = 0xffffffffffffffff, 42 % 0 = 42"])
        self.check("timer_ticks", 0, ["tick 9"])
        flood = self.check("flood_uart", 0, ["line 63 of the flood"])
        lines = [line for line in flood.stdout.splitlines() if "of the flood" in line]
        self.assertEqual([int(re.search(r"\d+", line)[0]) for line in lines], list(range(64)))

    def test_numbers_are_those_of_the_host(self):
        """Printed by the image, expected by numerics_fingerprint: read from its source, not from our own library."""
        done = self.check("numerics", 0, [])
        expected = (chip.ROOT / "testbenches/unit/numerics/fingerprint_test.cpp").read_text().replace("'", "")
        numbers = re.findall(r"0x[0-9a-f]{16}", done.stdout)
        numbers = [n for n in numbers if n in expected]
        self.assertEqual(len(set(numbers)), 6, done.stdout)

    def test_two_harts(self):
        self.check("two_harts", 0, ["hart 0: 50005000, hart 1: 150005000", "hart 1 "], "--harts", "2")
        self.check("two_harts", 1, ["nobody waits for it again"], "--harts", "1", sentence=r"failed at .* with code 2")
        self.check("second_hart_overflows", 1, ["hart 1"], "--harts", "2",
                   sentence=r"code 255; hart 1: store access fault at pc .*recurse.*, value 0x8\w+")
        self.check("rung_at_work", 0, ["hart 1 worked 3 times"], "--harts", "2")
        # The race is about single instructions of two harts: they take turns at each one.
        self.check("two_callers", 0, ["mixed 0"], "--harts", "3", "--set", "cpu.rv64.quantum_ns=0")

    def test_mistakes_are_told_with_hart_place_cause_and_address(self):
        place = r"at pc \S.* \(0x8000\w{4}\)"
        table = {
            "write_unmapped": rf"code 255; hart 0: store access fault {place}, value 0x18000000",
            "write_read_only": rf"code 255; hart 0: store access fault {place}, value 0x8000\w+",
            "recurse_for_ever": rf"code 255; hart 0: store access fault {place}, value 0x8\w+",
            "jump_to_nowhere": r"code 255; hart 0: instruction access fault at pc 0x40, value 0x40",
            "illegal_instruction": rf"code 255; hart 0: illegal instruction {place}, value 0x0",
            "misaligned_register": rf"code 255; hart 0: misaligned load {place}, value 0x10010016",
            "fault_in_trap": rf"code 255; hart 0: load access fault {place}",
            "uart_out_of_reach": r"code 255; hart 0: ",
            "pure_virtual": r"code 255$",
            "watchdog_expires": rf"code 254; hart 0: timer interrupt {place}",
            "watchdog_asleep": rf"code 254; hart 0: timer interrupt {place}",
            "return_code": r"failed at \d+\.\d+ us with code 3$",
        }
        for image, sentence in table.items():
            with self.subTest(image=image):
                self.check(image, 1, [], "--uart", "none", sentence=sentence)

    def test_no_end(self):
        self.check("never_finish", 1, [], "--uart", "none", "--limit-us", "5000",
                   sentence=r"time limit of \d+ us ended the run; the last event was at \d+\.\d+ us; hart 0 in .*spin")

    def test_firmware_without_requests_sleeps_for_ever(self):
        done = chip.call("boot", FIRMWARE, "--uart", "none", timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(one_sentence(done), "waits for something that never comes; hart 0 asleep in dvp::hal::wait_for_interrupt")

    def test_programs_written_word_by_word(self):
        """Encodings worked out by hand from the ISA manual: finisher = 0x5555 or 0x93333; load from 0 without a handler."""
        scratch = chip.scratch_folder()
        finish = [0x001002b7, 0x00005337, 0x55530313, 0x0062a023, 0x0000006f]  # lui t0; lui t1; addi t1; sw t1,(t0); j .
        for quantum in (0, 1000):
            for address in (0x8000_0000, 0x8020_0000):  # SRAM, DRAM
                done = chip.call("boot", executable(scratch / "pass.elf", address, finish), "--set", f"cpu.rv64.quantum_ns={quantum}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"hart 0 +\d{1,2} instructions in \d{1,2} cycles, 1 register accesses, 0 exceptions")
        failing = [0x001002b7, 0x00093337, 0x33330313, 0x0062a023, 0x0000006f]
        failed = chip.call("boot", executable(scratch / "fail.elf", 0x8000_0000, failing))
        self.assertEqual(failed.returncode, 1)
        self.assertRegex(one_sentence(failed), r"failed at 0\.\d+ us with code 9$")
        lost = chip.call("boot", executable(scratch / "lost.elf", 0x8000_0000, [0x00002283]))  # lw t0,0(zero)
        self.assertEqual(lost.returncode, 1)
        self.assertRegex(one_sentence(lost), "hart 0: its trap handler cannot go on: instruction access fault at pc 0x0, value 0x0, "
                         "again and again; before it came: load access fault at pc 0x80000000, value 0x0")

    def test_a_hart_is_interrupted_by_another_at_the_same_instruction_whatever_the_quantum(self):
        """Hart 0 enables its timer and counts; hart 1 counts down from 0x4000, then sets mtimecmp of hart 0 to 0. Hart 0 fails
        with the low 16 bits of its count."""
        image = executable(chip.scratch_folder() / "pull.elf", 0x8000_0000, [
            0xf14022f3, 0x02029263, 0x00000297, 0x03c28293, 0x30529073, 0x08000293, 0x30429073, 0x30046073,  # mhartid; mtvec, mie, MIE
            0x00140413, 0xffdff06f,                                                                          # addi s0,s0,1; j .-4
            0x00004437, 0xfff40413, 0xfe041ee3, 0x020042b7, 0x0002b023, 0x10500073, 0xffdff06f,              # hart 1
            0x001002b7, 0x01041413, 0x00003337, 0x3333031b, 0x00836333, 0x0062a023, 0x0000006f])             # handler
        ends = set()
        for quantum in (0, 10, 1000, 100_000):
            done = chip.call("boot", image, "--harts", "2", "--set", f"cpu.rv64.quantum_ns={quantum}")
            self.assertEqual(done.returncode, 1)
            ends.add(one_sentence(done))
        self.assertEqual(len(ends), 1, ends)
        self.assertRegex(ends.pop(), r"failed at \d+\.\d+ us with code \d+; hart 0: timer interrupt at pc 0x8000002[04]")

    def test_the_time_of_a_hart_is_that_of_the_timer(self):
        """mtime is set to 1000000000; rdtime must not be below it, nor above the mtime that is read behind it."""
        image = executable(chip.scratch_folder() / "clock.elf", 0x8000_0000, [
            0x0200c2b7, 0x3b9ad337, 0xa003031b, 0xfe62bc23, 0xc01023f3, 0xff82be03, 0x001002b7, 0x0063ec63, 0x007e6a63,
            0x00005337, 0x5553031b, 0x0062a023, 0x0000006f,    # 0x5555: passed
            0x00003337, 0x3333031b, 0x0062a023, 0x0000006f])   # 0x3333: failed
        for quantum in (0, 1000):
            done = chip.call("boot", image, "--set", f"cpu.rv64.quantum_ns={quantum}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_trap_in_a_run_is_told_with_the_console(self):
        run = chip.Run("--cpu", "rv64", "--firmware", IMAGES / "write_unmapped.elf", *SHOWCASE, "--limit", "1")
        self.assertEqual(run.code, 1)
        self.assertRegex(one_sentence(run.process), r"trapped; hart 0: store access fault at pc .*, value 0x18000000")
        self.assertIn("  uart | ", run.process.stdout)
        self.assertFalse((run.folder / "stats.json").exists())

    def test_a_program_that_ends_before_it_answered(self):
        run = chip.Run("--cpu", "rv64", "--firmware", IMAGES / "hello.elf", *SHOWCASE, "--limit", "1")
        self.assertEqual(run.code, 1)
        self.assertIn("before every prompt was answered", one_sentence(run.process))


class Protocol(unittest.TestCase):
    """Firmware that breaks the mailbox's protocol, word by word; offsets from the records in gen/spec/formats/request.json."""

    ACCEPT = [0x10000437, 0x00446483, 0x00100293, 0x00542a23]  # lui s0; lwu s1,4(s0); li t0,1; sw t0,20(s0)
    RESULT = [0x0604b903, 0x00091023]  # ld s2,96(s1); sh zero,0(s2)
    BAD_TOKEN = [0x0104b983, 0x01c4ea03, 0x002a1313, 0x01330333,  # ld s3,16(s1); lwu s4,28(s1); slli t1,s4,2; add t1,t1,s3
                 0xfff00393, 0x00732023, 0x001a0a13]  # li t2,-1; sw t2,0(t1); addi s4,s4,1
    RING_FOR_EVER = [0x00542623, 0xffdff06f]  # sw t0,12(s0); j back

    @staticmethod
    def finish(code):
        return [code << 20 | 0x293, 0x00542823, 0x0000006f]  # li t0,code; sw t0,16(s0); j .

    def run_of(self, words):
        image = executable(chip.scratch_folder() / "x.elf", 0x8000_0000, words)
        return chip.Run("--cpu", "rv64", "--firmware", image, *SHOWCASE, "--limit", "1", "--limit-us", "1000000", "--quiet",
                        timeout=60)

    def test_what_ends_the_run(self):
        lui = self.ACCEPT[:1]
        total_of_result, total_of_progress = [0x01492623], [0x0684ba83, 0x014aaa23]  # sw s4,12(s2); ld s5,104(s1); sw s4,20(s5)
        no_token = r"token 4294967295 at position \d+ is not in the vocabulary"
        table = [
            (lui + self.finish(0), "code 0 without having accepted it"),
            (lui + self.finish(256), "code 0 without having accepted it"),  # a field of 8 bits
            (lui + [0x00000293, 0x00542823, 0xffdff06f], "code 0 without having accepted it"),  # again and again
            (lui + self.finish(77), "unknown code 77"),
            (self.ACCEPT + self.finish(78), "unknown code 78"),
            (self.ACCEPT + self.finish(254), "unknown code 254"),
            (self.ACCEPT + self.finish(255), "the firmware trapped"),
            (self.ACCEPT + self.RESULT + self.BAD_TOKEN + total_of_result + self.finish(0), no_token),
            (self.ACCEPT + self.BAD_TOKEN + total_of_progress + self.RING_FOR_EVER, no_token),
            (self.ACCEPT + self.RING_FOR_EVER, r"more than the \d+ events"),
            (lui + self.RING_FOR_EVER, r"more than the \d+ events"),
        ]
        for words, sentence in table:
            with self.subTest(sentence=sentence, words=[hex(w) for w in words]):
                run = self.run_of(words)
                self.assertEqual(run.code, 1, run.describe())
                self.assertRegex(one_sentence(run.process), sentence)
                self.assertFalse((run.folder / "stats.json").exists())

    def test_what_spoils_one_answer(self):
        table = [
            (self.ACCEPT + self.finish(0), "finished with code 0 and left no result"),
            (self.ACCEPT + self.finish(256), "finished with code 0 and left no result"),
            (self.ACCEPT + self.RESULT + self.finish(3), "finished with code 3 and left code 0 in its result"),
            (self.ACCEPT + self.RESULT + self.finish(0), "finished with 0 tokens and the prompt has"),
            (self.ACCEPT + self.finish(1), "the firmware ended with bad_request"),  # where a result would be is not known then
        ]
        for words, sentence in table:
            with self.subTest(sentence=sentence):
                run = self.run_of(words)
                self.assertEqual(run.code, 1, run.describe())
                self.assertIn(sentence, run.process.stdout)
                self.assertEqual(run.json("stats.json")["total"]["answered"], 0)


class Console(unittest.TestCase):
    def start(self, *arguments):
        process = subprocess.Popen([chip.PROGRAM, "boot", IMAGES / "never_finish.elf", *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, cwd=chip.ROOT)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_tcp(self):
        process = self.start("--uart", "tcp:0")
        port = int(re.fullmatch(r"uart: 127\.0\.0\.1:(\d+)", process.stderr.readline().strip())[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            text = b""
            while b"for ever" not in text:
                part = client.recv(4096)
                self.assertTrue(part, text)
                text += part
        self.assertIn(b"never_finish", text)

    def test_pty(self):
        process = self.start("--uart", "pty")
        path = process.stderr.readline().strip().removeprefix("uart: ")
        line = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self.addCleanup(os.close, line)
        text, end = b"", time.monotonic() + 20
        while b"for ever" not in text and time.monotonic() < end:
            try:
                text += os.read(line, 4096)
            except BlockingIOError:
                time.sleep(0.01)
        self.assertIn(b"for ever", text)

    def test_file_and_none(self):
        path = chip.scratch_folder() / "console.txt"
        done = boot("hello", "--uart", path, "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("hello", path.read_text())
        stdio = boot("hello", "--quiet")
        self.assertEqual(stdio.stdout, path.read_text())
        self.assertEqual(boot("hello", "--uart", "none", "--quiet").stdout, "")

    def test_lost_output_is_told(self):
        lost = boot("hello", "--uart", "/dev/full")
        self.assertEqual(lost.returncode, 1)
        self.assertEqual(one_sentence(lost), "dllm-vp: /dev/full: could not be written whole; is the disk full?")
        for arguments in (["boot", IMAGES / "hello.elf"], ["boot", IMAGES / "hello.elf", "--uart", "none"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([chip.PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, cwd=chip.ROOT)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertEqual(one_sentence(done), "dllm-vp: standard output: could not be written whole; is the disk full?")


class BadInput(unittest.TestCase):
    def refuse(self, code, phrases, *arguments):
        done = chip.call(*arguments, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        said = one_sentence(done)
        for phrase in phrases:
            self.assertIn(phrase, said)

    def test_options(self):
        p = ("run", "--prompt", "Compute 1+2")
        hello = IMAGES / "hello.elf"
        table = [
            ([*p, "--cpu", "arm"], ["--cpu arm", "native or rv64"]),
            ([*p, "--firmware", hello], ["--firmware", "--cpu rv64"]),
            ([*p, "--gdb", "1234"], ["--gdb", "--cpu rv64"]),
            ([*p, "--profile", "x"], ["--profile", "--cpu rv64"]),
            ([*p, "--timeline-functions"], ["--timeline-functions", "without a timeline"]),
            ([*p, "--timeline-functions", "--out", chip.scratch_folder()], ["--timeline-functions", "--cpu rv64"]),
            ([*p, "--timeline-functions", "--out", chip.scratch_folder(), "--timeline-prompts", "0"], ["--timeline-functions", "without"]),
            (["boot", hello, "--timeline-functions"], ["timeline-functions"]),
            ([*p, "--cpu", "rv64", "--gdb", "70000"], ["--gdb 70000", "port"]),
            ([*p, "--cpu", "rv64", "--uart", "tcp:x"], ["--uart tcp:x", "port"]),
            ([*p, "--cpu", "rv64", "--trace-filter", "main"], ["--trace-filter", "--trace-instructions"]),
            ([*p, "--limit-us", "0"], ["--limit-us 0"]),
            ([*p, "--set", "cpu.rv64.core=phnoe"], ["phnoe", "phone"]),
            ([*p, "--set", "cpu.rv64.core.cycles.laod=2"], ["cpu.rv64.core.cycles.laod", "load"]),
            ([*p, "--set", "cpu.rv64.core.cycles.alu=0"], ["cpu.rv64.core.cycles", "alu"]),
            ([*p, "--set", "cpu.rv64.harts=5"], ["cpu.rv64.harts"]),
            ([*p, "--set", "cpu.rv64.quantum=5"], ["cpu.rv64.quantum", "quantum_ns"]),
            ([*p, "--set", "cpu.seat=arm"], ["cpu.seat"]),
            ([*p, "--set", "uart.bits_per_second=1"], ["uart.bits_per_second"]),
            (["boot"], ["name the image"]),
            (["boot", hello, hello], ["too many"]),
            (["boot", hello, "--harts", "9"], ["--harts 9", "1 to 4"]),
            (["boot", hello, "--trace-instructions", chip.scratch_folder() / "x", "--trace-filter", "nain"], ["nain", "main"]),
        ]
        for arguments, phrases in table:
            with self.subTest(arguments=arguments):
                self.refuse(2, phrases, *arguments)
        self.refuse(1, ["/nowhere/x"], "boot", hello, "--profile", "/nowhere/x")

    def test_images(self):
        scratch = chip.scratch_folder()
        good = (IMAGES / "hello.elf").read_bytes()

        def file(name, content):
            path = scratch / name
            path.write_bytes(content)
            return path

        def at(offset, value, count):
            return good[:offset] + value.to_bytes(count, "little") + good[offset + count:]

        first = int.from_bytes(good[32:40], "little")  # the program headers
        loads = [o for o in range(first, first + 56 * int.from_bytes(good[56:58], "little"), 56) if good[o] == 1]
        table = [
            (file("cut.elf", good[:len(good) // 2]), ["cut.elf", "cut off"]),
            (file("head.elf", good[:40]), ["head.elf", "cut off"]),
            (file("empty.elf", b""), ["empty.elf", "is empty"]),
            (file("text.elf", b"hello, this is no program at all, only some text that is long enough"), ["not an ELF"]),
            (file("x86.elf", at(18, 62, 2)), ["machine 62"]),
            (file("elsewhere.elf", at(loads[0] + 24, 0x4000_0000, 8)), ["elsewhere.elf"]),
            (file("entry.elf", at(24, 0x1000, 8)), ["entry 0x1000"]),
            (scratch / "nowhere.elf", ["no such file"]),
            (scratch, ["is a directory"]),
        ]
        for path, phrases in table:
            with self.subTest(path=path):
                self.refuse(3, phrases, "boot", path)
        self.refuse(3, ["cut.elf"], "run", "--prompt", "Compute 1+2", "--cpu", "rv64", "--firmware", scratch / "cut.elf")
        # DRAM holds the model in a run: a program may not be loaded there.
        moved = bytearray(good)
        for offset in loads:
            address = int.from_bytes(good[offset + 24:offset + 32], "little") + 0x10_0000
            moved[offset + 24:offset + 32] = address.to_bytes(8, "little")
        moved[24:32] = (int.from_bytes(good[24:32], "little") + 0x10_0000).to_bytes(8, "little")
        self.refuse(3, ["outside of memory", "firmware 0x80000000"], "run", "--prompt", "Compute 1+2", "--cpu", "rv64",
                    "--firmware", file("dram.elf", bytes(moved)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
