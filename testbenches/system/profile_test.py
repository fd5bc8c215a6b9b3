"""Latency tables: what is measured, whom it belongs to, and that drafts follow it."""
import json
import subprocess
import sys
import unittest

import jsonschema

import chip

CONFIGS = chip.ROOT / "tlm/platform/configs"
DUAL = ("--set", "decode.loop=fast_dllm_v1", "--set", "decode.cache=dual", "--set", "decode.rule=count")
SHIPPED = CONFIGS / "ladder/5-mbsd.latency.json"


class Profile(unittest.TestCase):
    def setUp(self):
        self.scratch = chip.scratch_folder()

    def profile(self, *arguments, name="table.json"):
        out = self.scratch / name
        done = chip.call("profile", "--out", out, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(out.read_text())
        jsonschema.validate(document, json.loads((CONFIGS / "latency.schema.json").read_text()))
        return document

    def refuse(self, phrases, *arguments, code=2):
        done = chip.call(*arguments, timeout=60)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)

    def test_it_measures_what_the_steps_of_a_decode_take(self):
        prompt = chip.read_lines(chip.task_file("arith"), 1)[0]["prompt"]
        keys = len(prompt) + 1 + 32
        table = self.profile("--config", "fixed", "--keys", keys, "--rows", "32")["tables"][0]
        self.assertEqual((table["keys"], len(table["ns"])), (keys, 32))
        # Every step but a block's first one works on the block's 32 rows; twice the steps are so many more of them.
        latency = {}
        for steps in (16, 32):
            run = chip.Run("--quiet", "--config", "fixed", "--model", "tiny-llada", *DUAL, "--generate", "32", "--steps", steps, "--prompt", prompt)
            self.assertEqual(run.code, 0, run.describe())
            latency[steps] = run.json("stats.json")["total"]["latency_us"]
        step_us = (latency[32] - latency[16]) / 16
        # The steps ask for the logits of ever fewer rows, the table is for all of them.
        self.assertAlmostEqual(step_us, table["ns"][31] * 1e-3, delta=0.1 * step_us)

    def test_stairs_follow_from_the_times(self):
        document = self.profile("--config", "fixed", "--keys", "48,100", "--rows", "100", "--tolerance", "0.02")
        self.assertEqual([t["keys"] for t in document["tables"]], [48, 100])
        for table in document["tables"]:
            self.assertEqual(len(table["ns"]), min(100, table["keys"]))
            risen = []
            for ns in table["ns"]:
                risen.append(max([ns, *risen[-1:]]))
            stairs = [tuple(s) for s in table["stairs"]]
            self.assertEqual(stairs[-1], (len(risen), risen[-1]))
            begin = 0
            for rows, ns in stairs:
                self.assertEqual(ns, risen[rows - 1])
                self.assertLessEqual(ns, risen[begin] * 1.02)
                if rows < len(risen):
                    self.assertGreater(risen[rows], risen[begin] * 1.02, "a stair ended early")
                begin = rows

    def test_without_data_it_takes_the_same_time(self):
        arguments = ("--config", "ladder/4-somr", "--keys", "64", "--rows", "40")
        real = self.profile(*arguments, name="real.json")
        shape = self.profile("--data", "shape", *arguments, name="shape.json")
        self.assertEqual(real, shape)

    def test_a_slice_is_served_by_the_table_of_the_whole(self):
        self.profile("--config", "fixed", "--model", "llada-8b", "--data", "shape", "--layers", "2", "--keys", "64", "--rows", "3")
        config = self.scratch / "drafting.json"
        config.write_text(json.dumps({"base": "fixed", "name": "drafting", "description": "", "set": {
            "decode.loop": "fast_dllm_v1", "decode.cache": "dual", "decode.mbsd.trigger": 16, "decode.mbsd.latency": "table.json"}}))
        arguments = ("--quiet", "--config", config, "--model", "llada-8b", "--data", "shape", "--trajectory", "every-token", "--prompt-tokens", "32", "--generate", "32")
        run = chip.Run(*arguments, "--layers", "1", "--context", "64")
        self.assertEqual(run.code, 0, run.describe())
        self.refuse(["table.json", "another model", "layers 2"], "run", *arguments)

    def test_the_same_again_is_the_same_bytes(self):
        for name in ("a.json", "b.json"):
            self.profile("--config", "reference", "--keys", "64", "--rows", "8", name=name)
        self.assertEqual((self.scratch / "a.json").read_bytes(), (self.scratch / "b.json").read_bytes())

    def test_without_out_the_file_lies_beside_the_configuration_or_here(self):
        own = self.scratch / "below" / "own.json"
        own.parent.mkdir()
        own.write_text(json.dumps({"base": "fixed", "name": "own", "description": "", "set": {}}))
        for config, written in ((own, own.parent / "own.latency.json"), ("ladder/1-cpu", self.scratch / "1-cpu.latency.json")):
            done = subprocess.run([chip.PROGRAM, "profile", "--config", config, "--keys", "8", "--rows", "9"], cwd=self.scratch,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("note: 8 keys have no more than 8 rows", done.stdout)
            self.assertTrue(written.exists(), done.stdout)
        self.assertFalse((CONFIGS / "ladder/1-cpu.latency.json").exists())

    def test_a_file_serves_whom_it_was_measured_for(self):
        self.profile("--config", "fixed", "--keys", "128", "--rows", "40")
        drafts = {"decode.loop": "fast_dllm_v1", "decode.cache": "dual", "decode.mbsd.trigger": 16, "decode.mbsd.latency": "table.json"}
        config = self.scratch / "drafting.json"

        def write(**changes):
            config.write_text(json.dumps({"base": "fixed", "name": "drafting", "description": "", "set": {**drafts, **changes}}))

        arguments = ("--model", "tiny-llada", "--config", config, "--prompts", chip.task_file("showcase"), "--limit", "1")
        write()
        run = chip.Run(*arguments)
        self.assertEqual(run.code, 0, run.describe())
        self.refuse(["table.json", "npu.vector.lanes 16", "here it is 32", "dllm-vp profile"], "run", *arguments, "--set", "npu.vector.lanes=32")
        write(**{"npu.vector.lanes": 32, "decode.mbsd.trigger": 0})  # without drafts nobody reads it
        self.assertEqual(chip.Run(*arguments).code, 0)
        document = json.loads((self.scratch / "table.json").read_text())
        write()
        bad = [
            ("{", ["table.json", "is not JSON"]),
            ("[]", ["table.json"]),
            (json.dumps({**document, "schema": "dllm-vp.latency.9"}), ["table.json", "schema"]),
            (json.dumps({**document, "tables": []}), ["table.json", "tables"]),
            (json.dumps({**document, "tables": [{**document["tables"][0], "stairs": [[2, 9], [1, 10]]}]}), ["table.json", "[1, 10]"]),
            (json.dumps({**document, "shape": {**document["shape"], "layers": 7}}), ["table.json", "another model", "layers 7"]),
        ]
        for text, phrases in bad:
            with self.subTest(text=text[:60]):
                (self.scratch / "table.json").write_text(text)
                self.refuse(phrases, "run", *arguments)
        (self.scratch / "table.json").unlink()
        self.refuse(["decode.mbsd.latency", "table.json", "no such file"], "run", *arguments)

    def test_wrong_command_lines(self):
        out = self.scratch / "none.json"
        model = chip.ROOT / "firmware/models/tiny-llada.gguf"
        table = [
            (["--keys", "0"], ["--keys 0"]),
            (["--keys", "128,64"], ["--keys 128,64", "rising"]),
            (["--keys", "128,"], ["--keys 128,"]),
            (["--keys", "99999"], ["--keys 99999", "context"]),
            (["--rows", "0"], ["--rows 0"]),
            (["--rows", "129"], ["--rows 129"]),
            (["--tolerance", "-1"], ["--tolerance -1"]),
            (["--model", "tiny-fdllm2"], ["tiny-fdllm2", "block-causal"]),
            (["--data", "fake"], ["--data fake"]),
            (["--layers", "2"], ["--layers", "--data shape"]),
            (["--data", "shape", "--layers", "2"], ["--layers", "config.json"]),
            (["--data", "shape", "--model", "llada-8c"], ["did you mean llada-8b?"]),
            (["--config", "fixd"], ["did you mean fixed?"]),
        ]
        for arguments, phrases in table:
            with self.subTest(arguments=arguments):
                self.refuse(phrases, "profile", "--out", out, *arguments)
                self.assertFalse(out.exists())
        self.refuse(["--out", "--model"], "profile", "--model", model, "--out", model)
        self.refuse(["384 keys", "window_too_small", "npu.window.bytes"], "profile", "--config", "ladder/5-mbsd", "--keys", "384", "--rows", "1",
                    "--out", out)
        self.assertFalse(out.exists())
        # Before the minutes that measuring takes.
        self.refuse(["--out /dev/null/x/y.json", "no folder /dev/null/x"], "profile", "--config", "fixed", "--out", "/dev/null/x/y.json")
        self.refuse([f"--out {self.scratch}", "is a folder"], "profile", "--config", "fixed", "--out", self.scratch)

    def test_the_shipped_table_is_what_is_measured(self):
        shipped = json.loads(SHIPPED.read_text())
        keys = shipped["tables"][0]["keys"]
        again = self.profile("--config", "ladder/5-mbsd", "--model", shipped["model"], "--keys", keys,
                             "--rows", len(shipped["tables"][0]["ns"]), "--tolerance", shipped["tolerance"])
        self.assertEqual(again["tables"], shipped["tables"][:1])
        for key in ("platform", "shape"):
            self.assertEqual(again[key], shipped[key])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
