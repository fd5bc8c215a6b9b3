"""The platform against the double-precision reference decoder.

The oracle replays the platform's own trajectory: before every forward it takes the platform's tokens, computes the
logits in double precision, and checks which tokens were chosen and which positions were committed. A disagreement is
allowed only as a near-tie, and its margin is printed; anything else fails. How many answers come out with the same
tokens when the oracle decodes by itself is printed beside it.
"""
import json
import os
import subprocess
import sys
import unittest

import chip

PROMPTS_PER_TASK = 20


class Oracle(unittest.TestCase):
    def replay(self, model, settings=(), loop=(), per_task=PROMPTS_PER_TASK):
        prompts = [item for task in chip.TASKS for item in chip.read_lines(chip.task_file(task), per_task)]
        lines = chip.scratch_folder() / "prompts.jsonl"
        chip.write_lines(lines, prompts)
        run = chip.Run("--quiet", "--timeline-prompts", "0", "--config", "fixed", "--model", model, "--prompts", lines,
                       *settings)
        self.assertEqual(run.code, 0, run.describe())
        own = run.folder / "oracle.json"
        self.oracle(model, *loop, "--prompts", lines, "--json", own)
        ours = run.json("trajectory.json")["answers"]
        theirs = json.loads(own.read_text())["answers"]
        same = sum(a["tokens"] == b["tokens"] for a, b in zip(ours, theirs, strict=True))
        print(f"{model}: {same} of {len(ours)} answers have the oracle's tokens; every decision that differs:")
        print(self.oracle(model, *loop, "--replay", run.folder / "trajectory.json"))

    def oracle(self, model, *arguments):
        done = subprocess.run([os.environ["ORACLE_DECODE"], "--model",
                               str(chip.ROOT / "firmware/models" / f"{model}.gguf"), *map(str, arguments)],
                              capture_output=True, text=True, timeout=1800)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])
        return done.stdout

    def test_fast_dllm_v1(self):
        for cache, rule, per_task in (("none", "threshold", 4), ("prefix", "threshold", 4), ("dual", "factor", 4),
                                      ("prefix", "count", 1), ("dual", "count", 1)):
            with self.subTest(cache=cache, rule=rule):
                self.replay("tiny-llada",
                            ("--set", "decode.loop=fast_dllm_v1", "--set", f"decode.cache={cache}",
                             "--set", f"decode.rule={rule}", "--set", "decode.factor=0.5"),
                            ("--loop", "fast_dllm_v1", "--cache", cache, "--rule", rule, "--factor", "0.5",
                             "--inclusive"), per_task)

    def test_fast_dllm_v2(self):
        self.replay("tiny-fdllm2")

    def test_llada(self):
        # 64 full forwards an answer, in double precision.
        self.replay("tiny-llada", per_task=10)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
