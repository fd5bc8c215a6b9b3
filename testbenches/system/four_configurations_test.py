"""scripts/four_configurations on a sample or two: its figures are those of the runs, and its sums are right."""
import csv
import json
import math
import os
import re
import subprocess
import sys
import unittest

import chip

SCRIPT = chip.ROOT / "scripts/four_configurations"
NAMES = ("Baseline", "Compression", "WIFiV-LPDDR", "Full")
TASKS = ("arith", "code", "math_long")
GROUPS = {"mean": TASKS, "mean, short": TASKS[:2], "mean, long": TASKS[2:]}
SHORT = ("--class", "small-nano", *(word for task in TASKS for word in ("--task", task)), "--samples", "1", "--quiet")


def script(*arguments, out):
    return subprocess.run([sys.executable, SCRIPT, "--out", out, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "DLLM_VP": chip.PROGRAM})


class FourConfigurations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = chip.scratch_folder() / "out"
        cls.done = script(*SHORT, "--choose", 0, "--frozen", 1, "--without", "refresh", out=cls.out)
        if cls.done.returncode != 0:
            raise AssertionError(cls.done.stdout + cls.done.stderr)
        cls.document = json.loads((cls.out / "four_configurations.json").read_text())
        cls.rows = {(r["configuration"], r["task"]): r for r in cls.document["classes"][0]["rows"]}

    def test_a_row_is_what_the_run_alone_costs(self):
        self.assertEqual(set(self.rows), {(n, t) for n in NAMES for t in (*TASKS, *GROUPS)})
        alone = chip.Run("--quiet", "--config", "small-nano/full", "--model", "tiny-fdllm2", "--timeline-prompts", "0", "--prompts", chip.task_file("code"),
                         "--limit", "1", "--set", "decode.compression.dat.setting=1")
        total = alone.json("stats.json")["total"]
        row = self.rows["Full", "code"]
        self.assertAlmostEqual(row["latency_us"], total["latency_us"])
        self.assertAlmostEqual(row["total_uj"], total["energy"]["system_pj"]["value"] * 1e-6)
        self.assertAlmostEqual(sum(row["energy_uj"].values()), row["total_uj"])
        self.assertEqual(sum(sum(by.values()) for by in row["read"].values()), sum(total["dram"]["bytes_read"].values()))
        self.assertEqual(sum(row["macs"].values()), total["array"]["macs"])
        self.assertEqual(row["forwards"], total["forwards"])
        prefill = total["phases"]["prefill"]
        self.assertTrue(0 < prefill["system_pj"] < total["energy"]["system_pj"]["value"])
        self.assertAlmostEqual(row["decode_uj"] * 1e6, total["energy"]["system_pj"]["value"] - prefill["system_pj"], delta=1)
        self.assertAlmostEqual(row["decode_us"], total["latency_us"] - prefill["us"])
        self.assertEqual((row["score"], row["setting"]), (100 * total["score"]["right"], 1))

    def test_gains_are_to_baseline_and_the_means_are_of_tasks(self):
        for name in NAMES:
            for group, tasks in GROUPS.items():
                gains = [self.rows["Baseline", t]["latency_us"] / self.rows[name, t]["latency_us"] for t in tasks]
                self.assertAlmostEqual(self.rows[name, group]["gain"]["latency_us"], sum(gains) / len(tasks))
                self.assertAlmostEqual(self.rows[name, group]["total_uj"], sum(self.rows[name, t]["total_uj"] for t in tasks) / len(tasks))
        self.assertGreater(self.rows["WIFiV-LPDDR", "mean"]["gain"]["latency_us"], 1.5, "the baseline is bound by its memory")

    def test_both_orders_of_factors_come_to_the_same(self):
        for factors in self.document["classes"][0]["factors"].values():
            for order in ("wide first", "compression first"):
                self.assertAlmostEqual(math.prod(factors[order]), factors["full"])
            self.assertAlmostEqual(factors["wide first"][0] * factors["compression first"][0] * factors["interaction"], factors["full"])

    def test_text_and_table_tell_the_same(self):
        text = (self.out / "four_configurations.md").read_text()
        self.assertIn(text, self.done.stdout)
        for word in ("modelled", "measured", "no refresh", "quoted", "comes from bandwidth"):
            self.assertIn(word, text)
        with open(self.out / "four_configurations.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), len(self.rows))
        for line in table:
            row = self.rows[line["configuration"], line["task"]]
            self.assertEqual(float(line["latency_us"]), row["latency_us"])
            self.assertEqual(float(line["energy_uj.dram_io"]), row["energy_uj"]["dram_io"])

    def test_a_second_time_nothing_is_run_and_the_bytes_are_the_same(self):
        names = ("four_configurations.md", "four_configurations.csv", "four_configurations.json")
        before = {n: (self.out / n).read_bytes() for n in names}
        finished = {p: p.stat().st_mtime_ns for p in (self.out / "points").iterdir()}
        again = script(*SHORT, "--choose", 0, "--frozen", 1, "--without", "refresh", "--jobs", 1, out=self.out)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual({n: (self.out / n).read_bytes() for n in names}, before)
        self.assertEqual({p: p.stat().st_mtime_ns for p in (self.out / "points").iterdir()}, finished)

    def test_settings_are_chosen_on_other_samples(self):
        out = chip.scratch_folder() / "chosen"
        done = script("--class", "small-nano", "--task", "arith", "--samples", 1, "--choose", 1, out=out)
        self.assertEqual(done.returncode, 0, done.stderr)
        chosen = json.loads((out / "four_configurations.json").read_text())["classes"][0]["settings"]
        self.assertEqual(list(chosen["per task"]), ["arith"])
        self.assertEqual(chosen["frozen"], chosen["per task"]["arith"])
        self.assertEqual((len(chosen["right"]["arith"]), chosen["answers"]), (1 + 7, {"arith": 1}))
        self.assertIn("| arith | 1 | " + " | ".join(map(str, chosen["right"]["arith"])) + " |", done.stdout)
        runs = re.findall(r"^\[\d+/\d+\] (\S+) \S*.* arith from (\d+)$", done.stderr, re.MULTILINE)
        self.assertEqual({first for name, first in runs if name == "fixed"}, {"499"})
        self.assertEqual({first for name, first in runs if name != "fixed"}, {"0"})
        self.assertEqual(sum(name == "fixed" for name, _ in runs), 1 + 7)

    def test_what_is_wrong_is_one_sentence(self):
        out = chip.scratch_folder() / "none"
        for arguments, phrase in [
            (("--samples", 0), "--samples takes 1 or more"),
            (("--samples", 490), "together at most 500"),
            (("--jobs", 0), "--jobs takes 1 or more"),
            (("--task", "arit"), "invalid choice: 'arit'"),
            (("--per-task", "1,2"), "--per-task"),
            (("--frozen", 7), "--frozen"),
            (("--without", "gravity"), "--without"),
            (("--program", "/nowhere"), "/nowhere is not there"),
        ]:
            done = script(*SHORT, *arguments, out=out)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(phrase, done.stderr)
            self.assertFalse(out.exists(), arguments)
        done = script(*SHORT, "--choose", 0, "--set", "npu.vector.lane=3", out=out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean npu.vector.lanes?", done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertEqual([p for p in out.iterdir() if p.is_file()], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
