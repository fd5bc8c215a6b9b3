"""What the traces of the RV64 seat say adds up to what the run itself reports.

Oracle: the counters that the seat prints at the end of a run, which no observer takes part in.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import chip

IMAGES = pathlib.Path(os.environ["FIRMWARE_IMAGES"])  # set by CTest


class Traces(unittest.TestCase):
    def check(self, image, *arguments):
        folder = chip.scratch_folder()
        kinds = ("trace-instructions", "trace-functions", "profile", "coverage")
        files = {kind: folder / kind for kind in kinds}
        plain = chip.call("boot", IMAGES / f"{image}.elf", "--uart", "none", *arguments, timeout=60)
        run = chip.call("boot", IMAGES / f"{image}.elf", "--uart", "none", *arguments,
                        *(part for kind in kinds for part in (f"--{kind}", files[kind])), timeout=60)
        self.assertEqual((plain.returncode, run.returncode), (0, 0), run.stderr)
        self.assertTrue(run.stdout.endswith(plain.stdout), f"watching changed the run:\n{plain.stdout}\n{run.stdout}")

        harts = re.findall(r"hart (\d)\s+(\d+) instructions in (\d+) cycles, .* (\d+) exceptions", run.stdout)
        self.assertTrue(harts, run.stdout)
        self.assertEqual({h[3] for h in harts}, {"0"}, "an instruction that traps is traced but not counted")
        end_us = float(re.search(r"passed\s+at ([\d.]+) us", run.stdout).group(1))

        # Every instruction once, in the order of time for each hart.
        lines = [line.split(maxsplit=3) for line in files["trace-instructions"].read_text().splitlines()[1:]]
        executed = [line for line in lines if line[2] != "trap:"]
        for hart, instructions, _, _ in harts:
            times = [float(line[0]) for line in executed if line[1] == hart]
            # The counters are those at the write to the finisher, whose time is told to the nanosecond; the store that
            # wrote began a bus latency earlier, and what began afterwards is traced and not counted.
            self.assertEqual(sum(time < 1000 * end_us - 1 for time in times), int(instructions))
            self.assertEqual(times, sorted(times))

        summary = re.search(r"^summary: (\d+) (\d+) (\d+)$", files["profile"].read_text(), re.M)
        instructions, cycles, waiting = map(int, summary.groups())
        self.assertEqual(instructions, len(executed))
        # The end of a run cuts off what the last instruction of a hart waits for.
        self.assertAlmostEqual(cycles + waiting, sum(int(h[2]) for h in harts), delta=100 * len(harts))

        # Entries and exits are balanced, and the last exit is the end of the run.
        depth, last = {}, 0.0
        for line in files["trace-functions"].read_text().splitlines()[1:]:
            time, hart, sign, name = line.split(maxsplit=3)
            stack = depth.setdefault(hart, [])
            if sign == ">":
                stack.append(re.sub(r"  \((?:tail call|trap: .*)\)$", "", name))
            else:
                self.assertEqual(stack.pop(), name)
            last = max(last, float(time))
        self.assertTrue(all(not stack for stack in depth.values()))
        self.assertEqual(len(depth), len(harts))
        self.assertAlmostEqual(last / 1000, end_us, delta=1)

        coverage = files["coverage"].read_text()
        self.assertIn("FNDA:1,main\n", coverage)
        self.assertIn(f"{image}.cpp", coverage)

    def wait_for_text(self, path):
        for _ in range(600):
            if path.exists() and path.stat().st_size > 1000:
                return
            time.sleep(0.05)
        self.fail(f"{path} was not written to in 30 s")

    def test_signals_end_a_run_in_order(self):
        for number, waits in [(signal.SIGINT, []), (signal.SIGTERM, ["--gdb", str(chip.free_port())])]:
            trace = chip.scratch_folder() / "functions"
            run = subprocess.Popen([chip.PROGRAM, "boot", IMAGES / "never_finish.elf", "--uart", "none",
                                    "--trace-functions", trace, *waits], stderr=subprocess.PIPE, text=True)
            if waits:
                self.assertIn("gdb: waiting", run.stderr.readline())
                time.sleep(1)  # from the message to the wait itself
            else:
                self.wait_for_text(trace.with_name("functions.part"))
            run.send_signal(number)
            said = run.communicate(timeout=30)[1]
            self.assertEqual(run.returncode, 128 + number, said)
            self.assertIn(f"{number.name} ended the run at", said)
            self.assertIn("hart 0", said)
            self.assertTrue(trace.exists())

    def test_one_hart(self):
        self.check("timer_ticks")

    def test_two_harts(self):
        self.check("two_harts", "--harts", "2")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
