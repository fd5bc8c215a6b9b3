"""Faults on purpose in whole runs: answers stay right or the run says what happened, and nothing changes without one."""
import json
import sys
import unittest

import chip

PROMPTS = ("--prompt", "Compute 1+2", "--prompt", "Compute 30+11", "--config", "fixed", "--quiet")
QUICK = ("--set", "decode.watchdog_us=2000")


def faults(program=(), **means):
    return ("--set", "faults=" + json.dumps({"seed": 5, "mean_events": means, "correction_ns": 20,
                                             "program": list(program)}))


MIXED = faults(lost_interrupt=4, bus_error=50000, stuck=50000, descriptor=700, record=60, ecc_uncorrectable=50000,
               ecc_corrected=500)


class Faults(unittest.TestCase):
    def run_with(self, *arguments, code=0):
        run = chip.Run(*PROMPTS, *QUICK, *arguments)
        self.assertEqual(run.code, code, run.describe())
        return run

    def test_without_an_injection_nothing_changes(self):
        plain, armed = (self.run_with(*more).json("stats.json") for more in ((), faults()))
        self.assertIn("faults", armed["configuration"])
        for stats in (plain, armed):
            del stats["configuration"]
        self.assertEqual(plain, armed)

    def test_retries_keep_the_answers(self):
        plain = self.run_with()
        run = self.run_with(*MIXED, "--set", "decode.retries=6")
        self.assertEqual(run.text("trajectory.json"), plain.text("trajectory.json"))
        total = run.json("stats.json")["total"]
        self.assertGreater(total["recovery"]["retried"], 0)
        self.assertGreater(total["recovery"]["lost_interrupts"], 0)
        injected = total["counters"]["faults"]["injected"]
        for kind in ("bus_error", "stuck", "descriptor", "lost_interrupt", "ecc_corrected"):
            self.assertGreater(injected[kind], 0, injected)
        told = [e for e in run.json("timeline.json")["traceEvents"] if e["ph"] == "i" and e["name"] in injected]
        first = run.json("stats.json")["answers"][0]
        self.assertGreater(len(told), first["recovery"]["retried"])
        self.assertEqual(self.run_with(*MIXED, "--set", "decode.retries=6").text("stats.json"), run.text("stats.json"))

    def test_failures_right_behind_each_other(self):
        # Each retry meets the next one with its first accesses: the NPU makes no progress for three watch-dog times.
        in_a_row = faults([{"kind": "stuck", "where": "fetch", "number": n} for n in (20, 21, 22)])
        run = self.run_with(*in_a_row, "--set", "decode.retries=3")
        self.assertEqual(run.json("stats.json")["total"]["recovery"]["retried"], 3)
        plain = self.run_with()
        self.assertEqual(run.text("trajectory.json"), plain.text("trajectory.json"))
        # What the NPU did before a retry is counted too: the work of a whole run at least, in nearly all of its time.
        tried, whole = (r.json("stats.json")["total"] for r in (run, plain))
        self.assertGreaterEqual(tried["array"]["macs"], whole["array"]["macs"])
        clock_hz = run.json("stats.json")["configuration"]["npu"]["clock_hz"]
        self.assertGreater(tried["npu_cycles"] / clock_hz, 0.95e-6 * tried["latency_us"])

    def test_without_retries_the_user_reads_what_it_was(self):
        sentences = {
            "bus_error": "npu_error bus_error at descriptor",
            "stuck": "npu_timeout",
            "descriptor": "npu_error bad_check at descriptor",
            "ecc_uncorrectable": "memory_error at descriptor",
        }
        for kind, sentence in sentences.items():
            with self.subTest(kind):
                run = self.run_with(*faults([{"kind": kind, "number": 40}]), code=1)
                self.assertIn(f"prompt-1: the firmware ended with {sentence}", run.process.stdout)
                if kind in ("bus_error", "ecc_uncorrectable"):
                    self.assertRegex(run.process.stdout, r"at descriptor \d+, bus address 0x[0-9a-f]+\n")
                answers = run.json("stats.json")["answers"]
                self.assertEqual([a["result"] == "ok" for a in answers], [False, True], "the next prompt is answered")
                # What failed is no throughput.
                self.assertIn("answered    1 of 2", run.process.stdout)
                self.assertIn(f"faults      1 injected: {kind} 1\n", run.process.stdout)
                total = run.json("stats.json")["total"]
                for key in ("latency_us", "tokens_per_second", "forwards", "energy"):
                    self.assertEqual(total[key], answers[1][key], key)


class Rv64(Faults):
    """The same on the instruction-set simulator, and the same as on the other seat."""

    def run_with(self, *arguments, code=0):
        return super().run_with("--cpu", "rv64", *arguments, code=code)

    def test_both_seats_recover_alike(self):
        here = self.run_with(*MIXED, "--set", "decode.retries=6").json("trajectory.json")
        there = super().run_with(*MIXED, "--set", "decode.retries=6").json("trajectory.json")
        self.assertEqual(here, there)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
