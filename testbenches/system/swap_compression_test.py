"""Compressed decoding through the NPU's address window: every swap policy answers as without a window, counts the same tiers
and channels, and reads the same bytes but for what it stages; alone, with drafts, and on the RV64 image."""
import os
import re
import sys
import unittest

import chip

FIRMWARE = os.environ["FIRMWARE_IMAGE"]  # set by CTest
COMPRESSED = ("decode.compression.kv=brq", "decode.compression.brq.shares=[0.375,0.25,0.125]", "decode.compression.brq.basis_tokens=64",
              "decode.compression.ffn=dat", "decode.compression.dat.corrections=4")
PAGE = 4096
STAGED = {"weights", "scales", "corrections"}


def run(*settings, extra=()):
    overrides = [word for setting in (*COMPRESSED, *settings) for word in ("--set", setting)]
    prompts = chip.scratch_folder() / "prompts.jsonl"
    chip.write_lines(prompts, chip.read_lines(chip.task_file("code_long"), 1))
    return chip.Run("--quiet", "--timeline-prompts", "0", "--config", "fixed", "--threshold", "0.9999", "--prompts", prompts, *overrides, *extra)


def through(size, policy, *settings, **options):
    return run(f"npu.window.bytes={size}", f"decode.swap={policy}", *settings, **options)


def enough(policy):
    """The smallest window that a policy can do with, as its refusal names it."""
    refused = through(65536, policy)
    assert refused.code == 2, refused.describe()
    return int(re.search(r"window_too_small: .* needs a window of (\d+) bytes and there are 65536; raise npu.window.bytes",
                         refused.process.stdout)[1])


def half():
    """Half of what policy none maps."""
    return enough("none") // 2 // PAGE * PAGE


class Policies(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.window = half()

    def expect_the_same(self, made, whole, staging):
        for one in (made, whole):
            self.assertEqual(one.code, 0, one.describe())
        a, b = (one.json("stats.json")["answers"][0] for one in (made, whole))
        for key in ("answer", "tokens", "forwards", "state_hash", "compression", "drafts"):
            self.assertEqual(a.get(key), b.get(key), key)
        self.assertEqual(a["array"]["macs"], b["array"]["macs"])
        self.assertEqual(made.text("trajectory.json"), whole.text("trajectory.json"))
        read, expected = (one.json("stats.json")["total"]["dram"]["bytes_read"] for one in (made, whole))
        for purpose in read:
            if purpose == "commands":  # fences and copies come and go with the policy
                continue
            if staging and purpose in STAGED:
                self.assertGreaterEqual(read[purpose], expected[purpose], purpose)
            else:
                self.assertEqual(read[purpose], expected[purpose], purpose)
        more = sum(read[p] - expected[p] for p in STAGED)
        self.assertEqual(more, a["mapping"]["bytes_staged"])

    def test_every_policy_answers_alike(self):
        whole = run()
        for policy in ("naive", "lru", "somr"):
            with self.subTest(policy):
                self.expect_the_same(through(self.window, policy), whole, policy == "somr")
        self.expect_the_same(through(enough("none"), "none"), whole, False)

    def test_drafts_come_with_both(self):
        drafts = ("decode.mbsd.trigger=4", "decode.mbsd.look_ahead=8")
        self.expect_the_same(through(self.window, "somr", *drafts), run(*drafts), True)

    def test_the_plan_shows_both_kinds_of_forwards(self):
        least = enough("somr")
        plan = through(least, "somr").text("plan.txt")
        self.assertRegex(plan, r"ffn_down +\d+ +staged +whole")
        self.assertRegex(plan, r"ffn_update +\d+ +staged +whole .* ffn_channels")
        self.assertEqual(through(least - PAGE, "somr").code, 2)


class Rv64(unittest.TestCase):
    def test_the_firmware_image_swaps_alike(self):
        window = half()
        native, image = (through(window, "somr", extra=("--cpu", *seat)) for seat in (("native",), ("rv64", "--firmware", FIRMWARE)))
        for one in (native, image):
            self.assertEqual(one.code, 0, one.describe())
        a, b = (one.json("stats.json")["answers"][0] for one in (native, image))
        for key in ("answer", "tokens", "forwards", "descriptors", "descriptor_hashes", "state_hash", "compression"):
            self.assertEqual(a[key], b[key], key)
        for key in ("maps", "unmaps", "pages", "bytes_staged"):
            self.assertEqual(a["mapping"][key], b["mapping"][key])
        self.assertEqual(native.text("plan.txt"), image.text("plan.txt"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
