"""scripts/sensitivity with a sample a point: its figures are those of the runs, and it goes on where it was stopped."""
import csv
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import chip

SCRIPT = chip.ROOT / "scripts/sensitivity"
SHORT = ("--sweep", "dat-span", "--sweep", "rank", "--task", "arith", "--task", "code_long", "--samples", "1", "--scored", "2", "--quiet")
NAMES = ("sensitivity.md", "sensitivity.csv", "sensitivity.json")


def started(*arguments, out):
    return subprocess.Popen([sys.executable, SCRIPT, "--out", out, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "DLLM_VP": chip.PROGRAM}, start_new_session=True)


def script(*arguments, out):
    process = started(*arguments, out=out)
    process.stdout_text, process.stderr_text = process.communicate(timeout=300)
    return process


def run(config, task, *settings):
    """Figures of the first sample, from a run of its own."""
    overrides = [word for setting in settings for word in ("--set", setting)]
    return chip.Run("--quiet", "--config", config, "--model", "tiny-fdllm2", "--threshold", "0.9999", "--timeline-prompts", "0", "--prompts", chip.task_file(task),
                    "--limit", "1", *overrides).json("stats.json")["total"]


class Sensitivity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = chip.scratch_folder() / "out"
        # Killed as soon as a point is kept; what the tests look at is what the second start made of it.
        first = started(*SHORT, out=cls.out)
        deadline = time.monotonic() + 60
        while not list((cls.out / "points").glob("*.json")) and time.monotonic() < deadline and first.poll() is None:
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        cls.before = {p: p.stat().st_mtime_ns for p in (cls.out / "points").glob("*.json")}
        cls.done = script(*SHORT, out=cls.out)
        cls.after = {p: p.stat().st_mtime_ns for p in cls.before}
        if cls.done.returncode != 0:
            raise AssertionError(cls.done.stdout_text + cls.done.stderr_text)
        cls.document = json.loads((cls.out / "sensitivity.json").read_text())
        cls.rows = {(name, row["value"]): row for name, sweep in cls.document["sweeps"].items() for row in sweep["rows"]}

    def test_a_row_is_what_the_runs_alone_cost(self):
        self.assertEqual(set(self.rows), {("dat-span", "block"), ("dat-span", "sub_block"), *(("rank", r) for r in "0124")})
        row = self.rows["rank", "4"]
        total = run("small-nano/full", "code_long", "decode.compression.brq.rank=4")
        baseline, wide = run("small-nano/baseline", "code_long"), run("small-nano/wifiv", "code_long")
        energy = lambda t: t["energy"]["system_pj"]["value"] * 1e-6  # noqa: E731
        self.assertAlmostEqual(row["latency_us"], total["latency_us"])
        self.assertAlmostEqual(row["energy_uj"], energy(total))
        self.assertEqual(row["read_bytes"], sum(total["dram"]["bytes_read"].values()))
        self.assertAlmostEqual(row["gain"]["latency_over_baseline"], baseline["latency_us"] / total["latency_us"])
        self.assertAlmostEqual(row["gain"]["energy_over_wifiv"], energy(wide) / energy(total))
        self.assertAlmostEqual(row["bits"]["all"], total["compression"]["prefix"]["mean_bits"]["all"])
        self.assertAlmostEqual(row["bits"]["mapped"], total["compression"]["prefix"]["mean_bits"]["mapped"])
        self.assertEqual(row["channels"], total["compression"]["network"]["channels"])

    def test_sweeps_turn_around_the_configuration(self):
        for name, sweep in self.document["sweeps"].items():
            configured = [row["value"] for row in sweep["rows"] if row["as_configured"]]
            self.assertEqual(configured, [{"dat-span": "block", "rank": "2"}[name]])
            self.assertRegex(sweep["advice"], "^(Keep|Take|Leave|No value)")
        self.assertEqual({tuple(row["tasks"]) for (name, _), row in self.rows.items() if name == "rank"}, {("code_long",)})
        self.assertEqual({tuple(row["tasks"]) for (name, _), row in self.rows.items() if name == "dat-span"}, {("arith", "code_long")})
        self.assertEqual({(row["samples"], row["scored"]) for row in self.rows.values()}, {(2, 4), (1, 2)})
        drift = self.document["drift"]
        self.assertEqual(sum(part["answers"] for part in drift), 4)
        edges = [edge for part in drift for edge in part["drift"]]
        self.assertEqual(edges, sorted(edges))

    def test_forwards_before_a_map_are_those_of_the_reads(self):
        (at,) = self.document["before_map"]
        for part in at["rows"]:
            reads = part["reads"]
            self.assertAlmostEqual(part["before_map_of_forwards"], (reads["warm_up"] + reads["ranking"]) / sum(reads.values()))
            self.assertGreaterEqual(reads["warm_up"], reads["ranking"])

    def test_text_and_table_tell_the_same(self):
        text = (self.out / "sensitivity.md").read_text()
        self.assertIn(text, self.done.stdout_text)
        for word in ("measured", "modelled", "Newcombe", "**block**", "**2**"):
            self.assertIn(word, text)
        with open(self.out / "sensitivity.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), len(self.rows))
        for line in table:
            self.assertEqual(float(line["latency_us"]), self.rows[line["sweep"], line["value"]]["latency_us"])

    def test_what_was_kept_before_the_kill_was_not_done_again(self):
        self.assertTrue(self.before)
        self.assertEqual(self.after, self.before)

    def test_a_point_that_was_cut_off_is_decoded_again_and_the_bytes_are_the_same(self):
        whole = {n: (self.out / n).read_bytes() for n in NAMES}
        points = sorted((self.out / "points").glob("*.json"))
        content = points[0].read_text()
        points[0].write_text(content[: len(content) // 2])
        others = {p: p.stat().st_mtime_ns for p in points[1:]}
        again = script(*SHORT, "--jobs", 1, out=self.out)
        self.assertEqual(again.returncode, 0, again.stderr_text)
        self.assertEqual(points[0].read_text(), content)
        self.assertEqual({p: p.stat().st_mtime_ns for p in others}, others)
        self.assertEqual({n: (self.out / n).read_bytes() for n in NAMES}, whole)

    def test_what_is_wrong_is_one_sentence(self):
        out = chip.scratch_folder() / "none"
        for arguments, phrase in [
            (("--samples", 0), "--samples takes 1 to --scored"),
            (("--samples", 3), "--samples takes 1 to --scored"),
            (("--scored", 501), "--scored at most 500"),
            (("--jobs", 0), "--jobs takes 1 or more"),
            (("--threshold", 2), "--threshold takes 0 to 1"),
            (("--sweep", "gravity"), "--sweep gravity: takes one of parts, threshold"),
            (("--task", "arit"), "invalid choice: 'arit'"),
            (("--program", "/nowhere"), "/nowhere is not there"),
            (("--model", "tiny-llada"), "sensitivity: small-nano/full: "),
        ]:
            done = script(*SHORT, *arguments, out=out)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(phrase, done.stderr_text)
            self.assertNotIn("Traceback", done.stderr_text)
            self.assertFalse(out.exists(), arguments)
        done = script("--sweep", "rank", "--task", "arith", "--scored", 5, out=out)
        self.assertIn("--sweep rank: is about long prompts", done.stderr_text)
        done = script(*SHORT, "--set", "npu.vector.lane=3", out=out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean npu.vector.lanes?", done.stderr_text)
        self.assertEqual(len(done.stderr_text.strip().splitlines()), 1)
        self.assertEqual([p for p in out.iterdir() if p.is_file()], [])

    def test_the_list_names_sweeps_without_running_any(self):
        out = chip.scratch_folder() / "listed"
        done = script("--list", out=out)
        self.assertEqual(done.returncode, 0, done.stderr_text)
        self.assertIn("2 (as configured)", done.stdout_text)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
