"""scripts/calibrate and scripts/basis_error: same bytes again, the arithmetic against its definitions, and bad input."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALIBRATE, MODELS = ROOT / "scripts/calibrate", ROOT / "firmware/models"
sys.path.insert(0, str(CALIBRATE.parent / "train"))
import calibration as cal  # noqa: E402
import gguf_reader  # noqa: E402

sys.path.insert(0, str(CALIBRATE.parent))
import points  # noqa: E402


def run(*arguments, threads=2):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    return subprocess.run([str(CALIBRATE), *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)


class Arithmetic(unittest.TestCase):
    def test_views_are_the_converter_s_formulas(self):
        for q in range(-128, 128):
            code = np.array([q], np.int8)
            for p, shift in ((4, 4), (2, 6)):
                view = {"precision": p, "mode": "midpoint"}
                self.assertEqual(int(cal.convert(view, code)[0]), q // 2**shift)
                self.assertEqual(int(cal.delivered_value(view, code)[0]), q // 2**shift * 2**shift + 2**shift // 2)
            for clip in (0, 60, 100, 127):
                for shift in (0, 3, 4, 7):
                    clipped = max(-clip, min(clip, q))
                    low = clipped // 2**shift
                    rest = clipped - low * 2**shift
                    even = low + (rest * 2 > 2**shift or (rest * 2 == 2**shift and low % 2 == 1))
                    view = {"precision": 4, "mode": "fitted", "clip": clip, "shift": shift}
                    self.assertEqual(int(cal.convert(view, code)[0]), max(-8, min(7, even)), (q, clip, shift))
            for threshold in (0, 12, 127):
                view = {"precision": 2, "mode": "fitted", "threshold": threshold}
                self.assertEqual(int(cal.convert(view, code)[0]), 1 if q > threshold else -1 if q < -threshold else 0)

    def test_gptq_is_no_worse_than_rounding(self):
        rng = np.random.default_rng(5)
        for _ in range(5):
            inputs = rng.normal(size=(200, 24)) @ rng.normal(size=(24, 24))
            moments = inputs.T @ inputs
            weight = rng.normal(size=(16, 24))
            scale = np.abs(weight).max() / 20  # coarse, so that the difference shows
            codes, scales = cal.gptq(weight, moments, lambda j, values: scale)
            rounded = np.clip(np.rint(weight / scale), -127, 127) * scale
            self.assertLess(cal.output_error(weight - codes * scales, moments), cal.output_error(weight - rounded, moments))

    def test_gptq_keeps_what_is_on_its_grid(self):
        rng = np.random.default_rng(6)
        codes = rng.integers(-127, 128, size=(8, 32))
        inputs = rng.normal(size=(64, 32))
        again, _ = cal.gptq(codes * 0.25, inputs.T @ inputs, lambda j, values: 0.25)
        np.testing.assert_array_equal(again, codes)

    def test_corrections_get_nearer_with_rank(self):
        rng = np.random.default_rng(7)
        difference = rng.normal(size=(20, 12))
        inputs = rng.normal(size=(50, 12)) * np.linspace(0.1, 3, 12)
        moments = inputs.T @ inputs
        errors = []
        for rank in range(1, 13):
            left, right = cal.low_rank(difference, moments, rank)
            errors.append(cal.output_error(difference - left @ right, moments))
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertLess(errors[-1], 1e-6 * errors[0])


class Basis(unittest.TestCase):
    """What a basis loses, one entry and one element after the other."""

    @classmethod
    def setUpClass(cls):
        cls.script = points.load_script("basis_error")

    def test_a_basis_is_the_leading_directions(self):
        entries = np.random.default_rng(8).normal(size=(40, 6)) * np.linspace(3, 0.1, 6)
        for rank in range(7):
            basis = self.script.basis_of(entries, rank)
            singular = np.linalg.svd(entries, compute_uv=False)
            self.assertAlmostEqual(float(self.script.lost(entries, basis)[0].sum()), float((singular[rank:] ** 2).sum()))

    def test_what_a_tier_loses(self):
        entries = np.random.default_rng(9).normal(size=(5, 8))
        basis = self.script.basis_of(entries, 2)
        errors = self.script.lost(entries, basis)
        for row, entry in enumerate(entries):
            residual = [float(x) - sum(float(entry @ u) * float(u[i]) for u in basis) for i, x in enumerate(entry)]
            scale = max(map(abs, residual)) / 127
            codes = [round(r / scale) for r in residual]
            for tier, shift in ((8, 0), (4, 4), (2, 6)):
                stands_for = [code // 2**shift * 2**shift + (2 ** (shift - 1) if shift else 0) for code in codes]
                self.assertAlmostEqual(float(errors[tier][row]), sum((r - v * scale) ** 2 for r, v in zip(residual, stands_for)))

    def test_entries_without_anything_lose_nothing(self):
        for error in self.script.lost(np.zeros((3, 4)), np.zeros((0, 4))).values():
            self.assertEqual(error.tolist(), [0, 0, 0])

    def test_bad_input_is_one_sentence(self):
        for arguments, expected in ((("--samples", "0"), "--samples 1 to 500"), (("--model", "/nowhere"), "No such file"), (("--model", MODELS / "tiny-llada.gguf"), "block-causal")):
            done = subprocess.run([str(CALIBRATE.parent / "basis_error"), *map(str, arguments)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


class Program(unittest.TestCase):
    def test_the_same_again_is_the_same_bytes_and_belongs_to_the_model(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("a.gguf", "b.gguf")]
            for threads, file in enumerate(files, 1):
                done = run("--samples", 8, "--rank", 2, "--out", file, threads=threads)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(files[0].read_bytes(), files[1].read_bytes())
            metadata = gguf_reader.Reader(files[0].read_bytes()).metadata
            self.assertEqual(metadata["dvp.compression.model"], "tiny-fdllm2")
            shares = metadata["dvp.compression.shares"]
            self.assertAlmostEqual(8 * shares[0] + 4 * shares[1] + 2 * shares[2], 4.6861, places=4)
            self.assertLessEqual(sum(shares), 1)

    def test_bad_input_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "broken.gguf"
            whole = (MODELS / "tiny-fdllm2.gguf").read_bytes()
            cases = [(("--rank", 9), "--rank 9"), (("--samples", 0), "--samples 0"), (("--seed", -1), "--seed -1"), (("--model", folder + "/none"), "No such file")]
            for arguments, expected in cases:
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)
            for content, expected in ((b"", "GGUF"), (b"nonsense" * 10, "not a GGUF"), (whole[:1000], "whole"), (whole[: len(whole) // 2], "leaves the file"), ((MODELS / "tiny-llada.gguf").read_bytes(), "no block-causal model")):
                broken.write_bytes(content)
                out = pathlib.Path(folder) / "out.gguf"
                done = run("--model", broken, "--samples", 4, "--out", out)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertFalse(out.exists())
            done = run("--samples", 4, "--rank", 0, "--out", folder + "/missing/out.gguf")
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing was written", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
