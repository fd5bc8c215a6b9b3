"""The platform against the double-precision reference decoder.

The oracle replays the platform's own trajectory: before every forward it takes the platform's tokens, computes the
logits in double precision, and checks which tokens were chosen and which positions were committed. A disagreement is
allowed only as a near-tie, and its margin is printed; anything else fails.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chip

PROMPTS_PER_TASK = 20


class Oracle(unittest.TestCase):
    def replay(self, model):
        prompts = [item for task in chip.TASKS for item in chip.read_lines(chip.task_file(task), PROMPTS_PER_TASK)]
        with tempfile.TemporaryDirectory(prefix="dllm-vp-oracle-") as scratch:
            lines = pathlib.Path(scratch) / "prompts.jsonl"
            chip.write_lines(lines, prompts)
            run = chip.Run("--quiet", "--model", model, "--prompts", lines)
        self.assertEqual(run.code, 0, run.describe())
        done = subprocess.run([os.environ["ORACLE_DECODE"], "--model",
                               str(chip.ROOT / "firmware/models" / f"{model}.gguf"), "--replay",
                               str(run.folder / "trajectory.json")], capture_output=True, text=True, timeout=1800)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])

    def test_fast_dllm_v2(self):
        self.replay("tiny-fdllm2")

    def test_llada(self):
        self.replay("tiny-llada")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
