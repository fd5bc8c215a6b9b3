"""What the firmware's own trap handler prints: cause in words, place, callers by name, registers, for every way to go wrong.

Expected lists are written by hand from the programs' sources. IMAGES: folder of the programs; FIRMWARE: the firmware's
image; DLLM_VP: the program that runs them.
"""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = pathlib.Path(os.environ["IMAGES"])
START = ["start_hart_here", "_start"]


class Report:
    """The console's text behind the boot message, taken apart."""

    def __init__(self, text):
        self.text = text
        found = re.search(r"^\*\*\* (.*)", text, re.M)
        self.cause = found[1] if found else None
        self.pc = self.word("pc")
        self.value = self.word("mtval")
        place = re.search(r"^ +pc +0x\w{16}  (\S+)\+0x", text, re.M)
        self.function = place[1] if place else None
        self.callers = []
        if "called from" in text:
            for line in text.split("called from\n")[1].splitlines():
                caller = re.fullmatch(r"  0x\w{16}  (\S+)\+0x\w+", line)
                if caller is None:
                    self.cut_off = line == "  ..."
                    break
                self.callers.append(caller[1])
        self.registers = {name: int(value, 16) for name, value in re.findall(r"\b([a-z]\w+) +0x(\w{16})", text)}

    def word(self, name):
        found = re.search(rf"^  {name} +0x(\w{{16}})", self.text, re.M)
        return int(found[1], 16) if found else None


class Reports(unittest.TestCase):
    def report(self, image, *arguments):
        done = subprocess.run([os.environ["DLLM_VP"], "boot", IMAGES / f"{image}.elf", "--quiet", "--uart", "stdio", *arguments],
                              capture_output=True, text=True, timeout=60, cwd=ROOT, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return Report(done.stdout)

    def check(self, report, cause, function, callers):
        self.assertEqual(report.cause, cause, report.text)
        self.assertEqual(report.function, function, report.text)
        self.assertEqual(report.callers, callers, report.text)

    def test_a_jump_to_nowhere_names_who_jumped(self):
        report = self.report("jump_to_nowhere")
        self.check(report, "hart 0: instruction access fault", None, ["call", "main", *START])
        self.assertEqual((report.pc, report.value), (0x40, 0x40))

    def test_stack_overflow_by_name(self):
        report = self.report("recurse_for_ever")
        guard = re.fullmatch(r"hart 0: stack overflow, guard page at 0x(\w{16})", report.cause)
        self.assertIsNotNone(guard, report.text)
        self.assertEqual(report.value >> 12, int(guard[1], 16) >> 12)
        self.assertEqual(report.callers, ["recurse"] * 24)
        self.assertTrue(report.cut_off)

    def test_the_second_hart_reports_about_itself(self):
        report = self.report("second_hart_overflows", "--harts", "2")
        self.assertRegex(report.cause, "^hart 1: stack overflow")
        self.assertEqual(report.callers, ["recurse"] * 24)
        first = self.report("recurse_for_ever")
        self.assertNotEqual(report.registers["sp"] >> 12, first.registers["sp"] >> 12, "each hart has its own stack")

    def test_faults_in_functions_without_a_frame_of_their_own(self):
        report = self.report("write_unmapped")
        self.check(report, "hart 0: store access fault", "dvp::hal::write32", ["main", *START])
        self.assertEqual(report.value, 0x18000000)
        self.assertEqual(report.registers["a0"], 0x18000000, "the register that held the address")

    def test_faults_in_main(self):
        for image, cause in (("write_read_only", "store access fault"), ("illegal_instruction", "illegal instruction"),
                             ("misaligned_register", "load address misaligned")):
            with self.subTest(image=image):
                self.check(self.report(image), f"hart 0: {cause}", "main", START)

    def test_a_port_that_was_never_started_gets_the_report(self):
        self.check(self.report("uart_turned_off"), "hart 0: illegal instruction", "main", START)

    def test_pure_virtual_call(self):
        report = self.report("pure_virtual")
        self.assertEqual(report.cause, "hart 0: pure virtual function called")
        self.assertEqual(report.callers, ["base::call", "main", *START])

    def test_watchdog_says_where_the_hart_hangs(self):
        self.check(self.report("watchdog_expires"), "hart 0: watch-dog expired, no progress for 100 us", "hang", ["main", *START])
        self.check(self.report("watchdog_asleep"), "hart 0: watch-dog expired, no progress for 200 us",
                   "dvp::hal::wait_for_interrupt", ["main", *START])

    def test_traps_in_the_trap_handler(self):
        once = self.report("fault_in_trap")
        self.assertEqual(once.cause, "trap in the trap handler: load access fault")
        self.assertEqual(once.value, 0x18000000)
        self.assertIsNone(self.report("uart_out_of_reach").cause)

    def test_a_watchdog_in_the_middle_of_a_decode(self):
        """Two microseconds of silence are too short for checking the image: the report leads from there to main."""
        done = subprocess.run([os.environ["DLLM_VP"], "run", "--cpu", "rv64", "--firmware", os.environ["FIRMWARE"], "--prompt",
                               "Sort 9, 4, 7", "--array", "model", "--set", "decode.watchdog_us=1"],
                              capture_output=True, text=True, timeout=60, cwd=ROOT)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        report = Report(done.stdout.replace("  uart | ", ""))
        self.assertEqual(report.cause, "hart 0: watch-dog expired, no progress for 2 us", report.text)
        self.assertEqual(report.callers[-5:], ["dvp::apps::server::serve_one", "dvp::apps::serve", "main", *START])


if __name__ == "__main__":
    unittest.main()
