"""A whole decode with every array job on the Verilated RTL and the model, compared bit by bit and cycle by cycle."""
import sys
import unittest

import chip


class Lockstep(unittest.TestCase):
    def test_whole_decode_in_lockstep_equals_the_model_run(self):
        one = ("--prompts", chip.task_file("showcase"), "--limit", "1")
        both, model = chip.Run("--array", "both", *one, timeout=900), chip.Run(*one)
        self.assertEqual(both.code, 0, both.describe())
        a, b = both.json("stats.json"), model.json("stats.json")
        self.assertEqual(a["array_seat"], "both")
        self.assertEqual(a["answers"], b["answers"])
        self.assertEqual(both.text("timeline.json"), model.text("timeline.json"))

    def test_waveform_of_the_first_jobs(self):
        path = chip.scratch_folder() / "array.fst"
        run = chip.Run("--array", "both", "--lockstep-every", "100", "--waves", path,
                       "--prompts", chip.task_file("showcase"), "--limit", "1", timeout=900)
        self.assertEqual(run.code, 0, run.describe())
        with open(path, "rb") as wave:
            header = wave.read(329)
            rest = wave.read()
        # FST header block: type 0, section length, then start and end time as big-endian 64-bit numbers.
        start, end = (int.from_bytes(header[o:o + 8], "big") for o in (9, 17))
        self.assertEqual(header[0], 0)
        self.assertGreater(end, start + 50)
        self.assertGreater(len(rest), 1000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
