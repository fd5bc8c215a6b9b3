"""An NPU with an address window on the whole platform: every swap policy answers as without a window, tells what it did,
and what cannot be is refused with the numbers to change."""
import re
import sys
import unittest

import chip

# A window a little smaller than the weights of the layers: 3.5 to 3.66.
WINDOW = 1298432
QUICK = ("--quiet", "--timeline-prompts", "0", "--config", "fixed", "--model", "tiny-llada", "--prompt", "3+4=",
         "--generate", "32", "--steps", "2")


def with_window(size, *overrides):
    return [f"--set=npu.window.bytes={size}", *(f"--set={o}" for o in overrides)]


class Policies(unittest.TestCase):
    def test_every_policy_answers_alike_and_says_what_it_did(self):
        whole = chip.Run(*QUICK)
        expected = whole.json("stats.json")["answers"][0]
        self.assertEqual(expected["mapping"]["maps"], 0)
        self.assertFalse((whole.folder / "plan.txt").exists())
        latency = {}
        for policy in ("naive", "lru", "somr"):
            run = chip.Run(*QUICK, *with_window(WINDOW, f"decode.swap={policy}"))
            self.assertEqual(run.code, 0, run.describe())
            answer = run.json("stats.json")["answers"][0]
            for key in ("answer", "state_hash", "forwards"):
                self.assertEqual(answer[key], expected[key], policy)
            self.assertEqual(answer["array"]["macs"], expected["array"]["macs"], policy)
            latency[policy] = answer["latency_us"]
            mapping = answer["mapping"]
            self.assertGreater(mapping["waited_us"], 0)
            self.assertEqual(mapping["bytes_staged"] != 0, policy == "somr")
            self.assertEqual(mapping["unmaps"] != 0, policy != "somr")
            shares = answer["bound"]["shares"]
            self.assertAlmostEqual(shares["mapping"], mapping["waited_us"] / answer["latency_us"])
            staging = run.json("stats.json")["total"]["counters"]["npu"]["engines"]["stage"]["busy_cycles"]
            self.assertEqual(answer["busy_cycles"]["stage"], staging)
            self.assertEqual(shares["stage"], staging / answer["npu_cycles"])
            self.assertEqual(staging != 0, policy == "somr")
            plan = run.text("plan.txt")
            self.assertIn(f"swap policy {policy}, window of {WINDOW} bytes", plan)
            ends = [int(end, 16) for end in re.findall(r"0x[0-9a-f]+ - (0x[0-9a-f]+)", plan)]
            self.assertTrue(ends and max(ends) < WINDOW)
            self.assertIn("KV cache", plan)
        self.assertGreater(latency["naive"], latency["lru"])
        self.assertGreater(latency["lru"], latency["somr"])
        self.assertGreater(latency["somr"], expected["latency_us"])

    def test_every_prompt_counts_its_own_maps(self):
        run = chip.Run(*QUICK, "--prompt", "5+6=", "--prompt", "7+8=", *with_window(WINDOW, "decode.swap=lru"))
        self.assertEqual(run.code, 0, run.describe())
        total = run.json("stats.json")["total"]
        window = total["counters"]["npu"]["window"]
        self.assertEqual((window["map_calls"], window["unmap_calls"], window["pages_mapped"]),
                         tuple(total["mapping"][key] for key in ("maps", "unmaps", "pages")))

    def test_what_does_not_fit_says_how_much_would(self):
        need = enough_for_all = None
        for policy in ("none", "naive", "somr"):
            overrides = [] if policy == "none" else [f"decode.swap={policy}"]
            run = chip.Run(*QUICK, *with_window(65536, *overrides))
            self.assertEqual(run.code, 2)  # the configuration's fault
            self.assertIn("answered    0 of 1\n", run.process.stdout)
            self.assertNotIn("tokens/s", run.process.stdout)
            found = re.search(r"window_too_small: .* needs a window of (\d+) bytes and there are 65536; raise npu.window.bytes",
                              run.process.stdout)
            self.assertTrue(found, run.describe())
            self.assertEqual("or set decode.swap" in run.process.stdout, policy == "none")
            self.assertRegex(run.process.stdout, r"window_too_small: (operator [a-z_]+ of layer \d+|what every operator needs)")
            need = int(found[1])
            enough_for_all = need if policy == "none" else enough_for_all
            enough = chip.Run(*QUICK, *with_window(need, *overrides))
            self.assertEqual(enough.code, 0, enough.describe())
            self.assertNotEqual(chip.Run(*QUICK, *with_window(need - 4096, *overrides)).code, 0)
        # One sentence for all prompts, which is enough for the longest of them.
        run = chip.Run(*QUICK, "--prompt", 40 * "1+", "--prompt", "7+8=", *with_window(65536, "decode.swap=naive"))
        self.assertEqual(run.process.stdout.count("window_too_small"), 1)
        need = re.search(r"prompt-1 and 2 more: .* needs a window of (\d+) bytes", run.process.stdout)
        self.assertTrue(need, run.describe())
        self.assertEqual(max(int(re.search(r"window of (\d+)", a["trouble"])[1]) for a in run.json("stats.json")["answers"]), int(need[1]))
        # All but a page of it: the last product of the forward is the first without room.
        run = chip.Run(*QUICK, *with_window(enough_for_all - 4096))
        self.assertRegex(run.process.stdout, r"operator (ffn_down|head) of layer \d+ is the first that finds no room")
        few = chip.Run(*QUICK, *with_window(WINDOW, "npu.window.entries=1", "decode.swap=somr"))
        self.assertIn("needs more map entries than there are; raise npu.window.entries", few.process.stdout)

    def test_a_policy_without_a_window_is_refused_before_anything_runs(self):
        run = chip.Run(*QUICK, "--set", "decode.swap=somr")
        self.assertNotEqual(run.code, 0)
        self.assertIn("decode.swap", run.process.stderr)
        self.assertIn("npu.window.bytes", run.process.stderr)
        self.assertFalse((run.folder / "stats.json").exists())


class Rv64(unittest.TestCase):
    def test_the_firmware_image_swaps_alike(self):
        for policy in ("lru", "somr"):
            native, image = (chip.Run(*QUICK, "--cpu", seat, *with_window(WINDOW, f"decode.swap={policy}"))
                             for seat in ("native", "rv64"))
            self.assertEqual(image.code, 0, image.describe())
            a, b = (r.json("stats.json")["answers"][0] for r in (native, image))
            self.assertEqual(a["state_hash"], b["state_hash"], policy)
            # The first request of a run: the planner's time, which the native seat takes by its steps, is part of it.
            self.assertLess(abs(a["latency_us"] / b["latency_us"] - 1), 0.1, policy)
            if policy == "somr":  # lru waits, with a fence, only for what the NPU has not done yet
                self.assertEqual(a["descriptor_hashes"], b["descriptor_hashes"])
            for key in ("maps", "unmaps", "pages", "bytes_staged"):
                self.assertEqual(a["mapping"][key], b["mapping"][key], policy)
            self.assertEqual(native.text("plan.txt"), image.text("plan.txt"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
