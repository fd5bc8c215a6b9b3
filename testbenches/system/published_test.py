"""scripts/published on slices that are quick: its tables add up, finished slices are not run again, wrong options are refused."""
import json
import os
import subprocess
import sys
import unittest

import chip

SCRIPT = chip.ROOT / "scripts/published"


def published(*arguments):
    return subprocess.run([SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=280, cwd=chip.ROOT,
                          env={**os.environ, "DLLM_VP": str(chip.PROGRAM)})


class Four(unittest.TestCase):
    def test_slices_make_a_table(self):
        out = chip.scratch_folder()
        arguments = ("four", "--model", "1.5b", "--frozen", "3", "--slices", "1,2", "--prompt", "16", "--reply", "32", "--trajectory", "every-token",
                     "--without", "prices", "--out", out)
        first = published(*arguments)
        self.assertEqual(first.returncode, 0, first.stderr)
        kept = sorted((out / "slices").iterdir())
        self.assertEqual(len(kept), 8)
        document = json.loads((out / "four.json").read_text())["1.5b"]
        rows = {row["configuration"]: row for row in document["rows"]}
        self.assertEqual(list(rows), ["baseline", "compression", "wifiv", "full"])
        # Bytes of all 28 layers and the head, whatever the slices: forwards times codes, and scales of two bytes a group.
        layer, head = 1536 * (2 * 1536 + 2 * 256 + 3 * 8960), 1536 * 151936
        base = rows["baseline"]
        whole = base["forwards"] * (28 * layer + head) * (1 + 2 / 32)
        self.assertLess(abs(base["read"]["q8"] / whole - 1), 0.2, (base["read"], whole))
        for gain, figure in enumerate(("latency_us", None)):
            for name in ("compression", "wifiv", "full"):
                a, b = (r[figure] if figure else sum(r["energy_uj"].values()) for r in (base, rows[name]))
                self.assertAlmostEqual(document["mean"][name][gain], a / b, places=9)
        self.assertLess(rows["wifiv"]["latency_us"], base["latency_us"])
        for said in ("measured", "modelled", "quoted", "2.88", "3.79"):
            self.assertIn(said, first.stdout)
        before = [p.stat().st_mtime_ns for p in kept]
        again = published(*arguments, "--quiet")
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual([p.stat().st_mtime_ns for p in sorted((out / "slices").iterdir())], before)

    def test_wrong_options(self):
        for arguments, said in ((["four", "--slices", "3,1"], "--slices"), (["four", "--slices", "1,99"], "--slices"), (["four", "--reply", "0"], "--reply"),
                                (["four", "--program", "/nowhere/vp"], "/nowhere/vp"), (["five"], "five"),
                                (["four", "--model", "1.5b", "--trajectory", "nowhere", "--quiet", "--out", str(chip.scratch_folder())], "nowhere")):
            done = published(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
