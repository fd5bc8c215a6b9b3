"""Debugging the firmware image with gdb-multiarch while the platform answers prompts.

Oracle: the same run without a debugger, whose figures have to come out byte for byte; the image's own bytes; what the
debugger reads of one thing in two ways.
"""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import unittest

import chip
import gdb

FIRMWARE = pathlib.Path(os.environ["FIRMWARE_IMAGE"])  # set by CTest
RUN = ("--cpu", "rv64", "--firmware", FIRMWARE, "--config", "fixed", "--set", "cpu.rv64.harts=2")
BOOT_ROM = 0x1000
ROUNDS = 4  # of the five prompts: some seconds, long enough to be interrupted and found again


def prompts():
    path = chip.scratch_folder() / "prompts.jsonl"
    chip.write_lines(path, ROUNDS * chip.read_lines(chip.task_file("showcase")))
    return "--prompts", path


class Debugged:
    """`dllm-vp run` waiting for a debugger."""

    def __init__(self, *arguments):
        self.port = chip.free_port()
        self.folder = chip.scratch_folder()
        command = [chip.PROGRAM, "run", *map(str, RUN + arguments), "--gdb", str(self.port), "--out", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=chip.ROOT)
        self.said = []
        waits = threading.Event()
        self.listener = threading.Thread(target=self._listen, args=(waits,), daemon=True)
        self.listener.start()
        if not waits.wait(30):
            raise AssertionError("does not wait for a debugger:\n" + "".join(self.said))

    def _listen(self, waits):
        for line in self.process.stdout:
            self.said.append(line)
            if f"127.0.0.1:{self.port}" in line:
                waits.set()

    def end(self, timeout=60):
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.listener.join()
        self.process.stdout.close()


@unittest.skipIf(gdb.PROGRAM is None, "gdb-multiarch is not installed")
class Gdb(unittest.TestCase):
    def start(self, *arguments, debuggers=1):
        run = Debugged(*arguments)
        self.addCleanup(run.kill)
        opened = []
        for _ in range(debuggers):
            opened.append(gdb.Gdb(FIRMWARE))
            self.addCleanup(opened[-1].close)
        opened[0].do(f"-target-select remote 127.0.0.1:{run.port}")
        return run, *opened

    def test_a_whole_session_changes_nothing(self):
        asked = prompts()
        plain = chip.Run(*RUN, *asked)
        self.assertEqual(plain.code, 0, plain.describe())
        run, first, second = self.start(*asked, debuggers=2)

        # Before the first instruction, both harts.
        self.assertEqual(first.value("(unsigned long)$pc"), BOOT_ROM)
        threads = first.say("info threads")
        self.assertIn("hart 0", threads)
        self.assertIn("hart 1", threads)

        # The address map of gen/spec/system: GDB itself refuses what is in none of its windows.
        regions = first.say("info mem")
        for start in ("0x1000", "0x100000", "0x2000000", "0xc000000", "0x10000000", "0x10010000", "0x20000000", "0x80000000", "0x80100000"):
            self.assertRegex(regions, rf"0x0*{start[2:]}\s", start)
        self.assertRegex(regions, r"0x0*1000\s+0x0*2000\s+ro\b")  # the boot ROM
        with self.assertRaises(AssertionError):
            first.memory(0x4000_0000, 4)

        # Breakpoint, backtrace, and the image's bytes where it loaded them.
        first.do("-break-insert dvp::apps::server::serve_one")
        stop = first.go()
        self.assertIn('reason="breakpoint-hit"', stop)
        self.assertIn("serve_one", stop)
        trace = first.say("backtrace")
        self.assertRegex(trace, r"(?s)#0 .*serve_one.*#1 .*serve.*main \(\)")
        self.assertIn("matched", first.say("compare-sections .text"))
        self.assertEqual(first.value("(unsigned long)$pc"), first.value("(unsigned long)&'dvp::apps::server::serve_one()'"))

        # Registers: by name, in a list, of the other hart.
        listed = first.say("info registers")
        self.assertEqual(int(re.search(r"^sp\s+(0x[0-9a-f]+)", listed, re.M).group(1), 0), first.value("(unsigned long)$sp"))
        self.assertEqual(first.value("(unsigned long)$mhartid"), 0)
        self.assertEqual(first.value("(unsigned long)$ra") & 1, 0)
        first.do("-thread-select 2")
        self.assertEqual(first.value("(unsigned long)$mhartid"), 1)
        first.do("-thread-select 1")

        # One instruction, one line, over one line.
        before = first.value("(unsigned long)$pc")
        self.assertIn('reason="end-stepping-range"', first.go("-exec-step-instruction"))
        self.assertIn(first.value("(unsigned long)$pc") - before, (2, 4))
        counted = first.value("(unsigned long)$minstret")
        self.assertIn('reason="end-stepping-range"', first.go("-exec-step-instruction"))
        self.assertEqual(first.value("(unsigned long)$minstret"), counted + 1)
        for command in ("-exec-step", "-exec-next"):
            self.assertIn('reason="end-stepping-range"', first.go(command))

        # Memory below the stack, put back as it was; a register too.
        place = first.value("(unsigned long)$sp - 512")
        old = first.memory(place, 16)
        first.write_memory(place, bytes(range(16)))
        self.assertEqual(first.memory(place, 16), bytes(range(16)))
        self.assertEqual(first.value(f"*(unsigned long*){place}"), 0x0706050403020100)
        first.write_memory(place, old)
        t6 = first.value("(unsigned long)$t6")
        first.value("$t6 = 0x123456789abcdef0")
        self.assertEqual(first.value("(unsigned long)$t6"), 0x123456789ABCDEF0)
        first.value(f"$t6 = {t6}")

        # A watchpoint on the count of descriptors in the queue's ring.
        first.do("-break-delete")
        first.do("-break-insert dvp::drivers::npu::submit_bytes")
        self.assertIn('reason="breakpoint-hit"', first.go())
        first.do("-break-delete")
        written = first.value("this->written_")
        first.say("watch -location this->written_")
        stop = first.go()
        self.assertIn('reason="watchpoint-trigger"', stop)
        self.assertRegex(stop, rf'old="{written}",new="{written + 1}"')
        self.assertIn("hart 0", first.say("monitor harts"))
        first.do("-break-delete")

        # Out of the function, then interrupted somewhere.
        self.assertIn('reason="function-finished"', first.go("-exec-finish"))
        first.stops.clear()
        first.do("-exec-continue")
        time.sleep(0.2)  # gdb says that it runs before it does
        first.press_control_c()
        self.assertIn('signal-name="SIGINT"', first.stop())

        # Left alone, found again, and to the end.
        first.do("-break-insert dvp::apps::server::serve_one")
        first.do("-target-detach")
        second.do(f"-target-select remote 127.0.0.1:{run.port}")
        self.assertNotEqual(second.value("(unsigned long)$pc"), BOOT_ROM)
        self.assertIn("hart 1", second.say("info threads"))
        self.assertIn('reason="exited-normally"', second.go())
        self.assertEqual(run.end(), 0, "".join(run.said))
        self.assertEqual((run.folder / "stats.json").read_bytes(), (plain.folder / "stats.json").read_bytes())
        self.assertEqual((run.folder / "trajectory.json").read_bytes(), (plain.folder / "trajectory.json").read_bytes())

    def test_kill_ends_the_run(self):
        run, debugger = self.start("--prompt", "Compute 3*8+2")
        debugger.do("-break-insert main")
        self.assertIn('reason="breakpoint-hit"', debugger.go())
        debugger.say("kill")
        self.assertNotEqual(run.end(), 0)
        self.assertFalse((run.folder / "stats.json").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
