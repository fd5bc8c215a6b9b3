"""Drafts of later sub-blocks on a block-causal model: they save forwards, cost no answer, and are accounted for."""
import unittest

import chip

PROMPTS = 8


def decode(trigger, *arguments):
    run = chip.Run("--prompts", chip.task_file("arith"), "--limit", str(PROMPTS), "--threshold", "0.999",
                   "--set", f"decode.mbsd.trigger={trigger}", *arguments)
    return run, run.json("stats.json")


class Drafts(unittest.TestCase):
    def test_drafts_save_forwards_and_cost_no_answer(self):
        plain, without = decode(0)
        drafting, drafted = decode(8)
        again, repeated = decode(8)
        for run in (plain, drafting, again):
            self.assertEqual(run.code, 0, run.describe())
        self.assertEqual(without["total"]["drafts"], {"offered": 0, "accepted": 0, "rejected": 0})
        self.assertGreaterEqual(drafted["total"]["score"]["right"], without["total"]["score"]["right"])
        self.assertLess(drafted["total"]["forwards"], without["total"]["forwards"])
        self.assertEqual([a["state_hash"] for a in drafted["answers"]], [a["state_hash"] for a in repeated["answers"]])
        for answer in drafted["answers"]:
            drafts = answer["drafts"]
            self.assertGreater(drafts["accepted"], 0)
            # The others belong to sub-blocks that the end of the answer made needless.
            self.assertLessEqual(drafts["accepted"] + drafts["rejected"], drafts["offered"])

    def test_without_look_ahead_nothing_is_drafted(self):
        _, plain = decode(0)
        _, none = decode(8, "--set", "decode.mbsd.look_ahead=0")
        self.assertEqual(none["total"]["drafts"]["offered"], 0)
        self.assertEqual([a["state_hash"] for a in none["answers"]], [a["state_hash"] for a in plain["answers"]])

    def test_a_loop_without_them_says_so(self):
        run = chip.Run("--model", "tiny-llada", "--set", "decode.mbsd.trigger=4")
        self.assertEqual(run.code, 2)
        self.assertIn("decode.mbsd.trigger: drafts on tiny-llada need decode.loop fast_dllm_v1", run.process.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
