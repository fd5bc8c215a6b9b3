"""Wrong command lines, configurations, prompts and models: one sentence, the right exit code, nothing written."""
import json
import sys
import unittest

import chip

USAGE, MODEL = 2, 3


class BadInput(unittest.TestCase):
    def setUp(self):
        self.scratch = chip.scratch_folder()

    def refuse(self, code, phrases, *arguments):
        done = chip.call(*arguments, timeout=60)
        said = done.stderr
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{said}")
        for phrase in phrases:
            self.assertIn(phrase, said)
        self.assertEqual(len(said.strip().splitlines()), 1, f"more than one sentence for {arguments}:\n{said}")

    def config(self, change, base="fixed"):
        document = chip.configuration(base)
        change(document)
        path = self.scratch / "changed.json"
        path.write_text(json.dumps(document))
        return path

    def test_command_line(self):
        p = ("--prompt", "Compute 1+2")
        table = [
            (["rnu"], ["rnu", "did you mean run?"]),
            (["run", *p, "--context", "0"], ["--context 0"]),
            (["run", *p, "--arr", "rtl"], ["--arr", "unknown option"]),
            (["run", *p, "--limit", "3"], ["--limit", "without --prompts"]),
            (["run", *p, "--lockstep-every", "3"], ["--lockstep-every", "--array both"]),
            (["run", *p, "--visual", "--quiet"], ["--visual", "--quiet"]),
            (["run", *p, "--steps", "8"], ["--steps", "tiny-fdllm2"]),
            (["run", *p, "--model", "tiny-llada", "--generate", "40"], ["--generate 40", "blocks of 32"]),
            (["run", *p, "--model", "tiny-llada", "--steps", "7"], ["--steps 7", "2 blocks"]),
            (["run", *p, "--model", "tiny-llada", "--threshold", "0.5"], ["--threshold", "tiny-llada"]),
            (["run", *p, "--threshold", "0.5", "--set", "decode.rule=factor"], ["--threshold", "decode.rule factor"]),
            (["run", *p, "--model", "tiny-llada", "--threshold", "0.5", "--set", "decode.loop=fast_dllm_v1", "--set", "decode.cache=dual",
              "--set", "decode.dppr.visibility=0.7"], ["--threshold", "decode.dppr.visibility"]),
            (["run", *p, "--out", "/dev/null/x"], ["--out /dev/null/x"]),
            (["check-array", "--tiles", "0"], ["--tiles 0"]),
            (["check-array", "--tiles", "-1"], ["--tiles -1"]),
            (["run", *p, "--modle", "x"], ["--modle", "did you mean --model?"]),
            (["run", *p, "--array", "fast"], ["--array fast", "model, rtl or both"]),
            (["run", *p, "--seed", "-1"], ["--seed -1", "whole number"]),
            (["run", *p, "--threshold", "1.5"], ["--threshold 1.5", "0 to 1"]),
            (["run", *p, "--temperature", "nan"], ["--temperature nan"]),
            (["run", *p, "--temperature", "warm"], ["--temperature warm"]),
            (["run", *p, "--generate", "0"], ["--generate 0"]),
            (["run", *p, "--array", "both", "--lockstep-every", "0"], ["--lockstep-every 0"]),
            (["run", *p, "--waves", "x.fst"], ["--waves", "--array rtl"]),
            (["run", *p, "--set", "decode.engine=cpu", "--array", "rtl"], ["--array rtl", "decode.engine", "--array model"]),
            (["run", *p, "--config", "ladder/5-mbsd"], ["decode.loop", "block-causal", "--model tiny-llada"]),
            (["run", *p, "--set", "faults.seed=1"], ["faults is not in this configuration", "faults={"]),
            (["run", *p, "--set", "faults={seed:1}"], ["--set faults={seed:1}", "JSON"]),
            (["run", *p, "--set", "decode.mbsd.latency=[[1,2]"], ["decode.mbsd.latency=[[1,2]", "JSON"]),
            (["run", "--prompt", ""], ["--prompt", "empty"]),
            (["run", *p, "--model", "tiny-lada"], ["tiny-lada", "did you mean tiny-llada?"]),
            (["run", *p, "--config", "refrence"], ["refrence", "did you mean reference?"]),
            (["check-array", "--array", "huge"], ["--array huge"]),
        ]
        for arguments, phrases in table:
            with self.subTest(arguments=arguments):
                self.refuse(USAGE, phrases, *arguments)

    def test_configuration(self):
        def put(path, value):
            def change(document):
                *parents, last = path.split(".")
                for key in parents:
                    document = document[key]
                document[last] = value
            return change

        def drop(path):
            def change(document):
                *parents, last = path.split(".")
                for key in parents:
                    document = document[key]
                del document[last]
            return change

        table = [
            (put("memory.latnecy_ns", 5), ["memory.latnecy_ns", "did you mean memory.latency_ns?"]),
            (put("npu.array", "ref_17x17"), ["npu.array", "ref_17x17", "ref_16x16"]),
            (put("npu.clock_hz", "fast"), ["npu.clock_hz"]),
            (put("npu.clock_hz", 10), ["npu.clock_hz"]),
            (put("npu.scratchpad.banks", 7), ["scratchpad_bytes"]),
            (put("cpu.register_access_cycles", 0), ["cpu.register_access_cycles"]),
            (put("npu.dma.max_burst_bytes", 100), ["dma_max_burst_bytes", "power of two"]),
            (put("cpu.work_cycles.tokens", 3), ["cpu.work_cycles.tokens", "did you mean token?"]),
            (drop("cpu.work_cycles.token"), ["cpu.work_cycles.token", "missing"]),
            (drop("bus"), ["bus"]),
            (put("memory", []), ["memory"]),
            (put("memory.model", "lpddr4"), ["memory.model"]),
            (put("memory.config", "nano-64dq"), ["memory.config", "lpddr5"]),
            (drop("memory.latency_ns"), ["memory.latency_ns", "missing"]),
        ]
        for change, phrases in table:
            with self.subTest(phrases=phrases):
                path = self.config(change)
                self.refuse(USAGE, ["changed.json", *phrases], "run", "--prompt", "Compute 1+2", "--config", path)

    def test_lpddr5_configuration(self):
        table = [
            ({"config": "nano-64qd"}, ["memory.config", "nano-64qd", "nano-64dq"]),
            ({"config": {"device": "lpddr5-6400", "chanels": 2}}, ["memory.config", "chanels", "channels"]),
            ({"config": 4}, ["memory.config"]),
            ({"mode": "cycles"}, ["memory.mode"]),
            ({"latency_ns": 60}, ["memory.latency_ns", "fixed"]),
        ]
        for change, phrases in table:
            with self.subTest(phrases=phrases):
                path = self.config(lambda document: document["memory"].update(change), base="reference")
                self.refuse(USAGE, ["changed.json", *phrases], "run", "--prompt", "Compute 1+2", "--config", path)

    def test_faults_that_cannot_work(self):
        def faults(program=(), **means):
            return ("--set", "faults=" + json.dumps({"seed": 1, "mean_events": means, "correction_ns": 0, "program": list(program)}))
        run = ("run", "--prompt", "Compute 1+2", "--config", "fixed")
        without = ("--set", "decode.watchdog_us=0")
        self.refuse(USAGE, ["faults", "stuck", "decode.watchdog_us"], *run, *without, *faults([{"kind": "stuck"}]))
        self.refuse(USAGE, ["faults", "stuck", "decode.watchdog_us"], *run, *without, *faults(stuck=1000))
        self.refuse(USAGE, ["faults", "decode.engine"], *run, "--set", "decode.engine=cpu", *faults(bus_error=1000))
        self.assertEqual(chip.call(*run, *without, *faults(ecc_corrected=1000), timeout=60).returncode, 0)

    def test_decode_settings(self):
        llada, fdllm2, v1 = "tiny-llada", "tiny-fdllm2", "decode.loop=fast_dllm_v1"
        dual = (v1, "decode.cache=dual")
        table = [
            (llada, ["decode.cache=dual"], ["decode.cache", "fast_dllm_v1"]),
            (llada, ["decode.loop=fast_dllm_v3"], ["decode.loop"]),
            (llada, ["decode.rule=factor"], ["decode.rule", "fast_dllm_v1"]),
            (llada, [v1, "decode.mbsd.trigger=4"], ["decode.mbsd.trigger", "dual"]),
            (llada, [*dual, "decode.mbsd.trigger=65"], ["decode.mbsd.trigger"]),
            (llada, [*dual, "decode.mbsd.look_ahead=33"], ["decode.mbsd.look_ahead"]),
            (llada, [*dual, "decode.mbsd.latency=[[8,5],[8,6]]"], ["decode.mbsd.latency", "[8, 6]"]),
            (llada, [*dual, "decode.mbsd.latency=[[8,5],[9,4]]"], ["decode.mbsd.latency", "[9, 4]"]),
            (llada, ["decode.edit.steps=65"], ["decode.edit.steps"]),
            (llada, ["decode.dppr.visibility=0.7"], ["decode.dppr.visibility", "decode.loop fast_dllm_v1", "decode.cache dual"]),
            (llada, [*dual, "decode.dppr.visibility=0.95"], ["decode.dppr.stability", "below"]),
            (llada, [*dual, "decode.dppr.visibility=0.7", "decode.edit.threshold=0.9"], ["decode.dppr.visibility", "decode.edit"]),
            (llada, [*dual, "decode.dppr.visibility=0.7", "decode.dppr.refresh.first_layer=6"], ["decode.dppr.refresh", "6 layers of tiny-llada"]),
            (llada, [*dual, "decode.dppr.visibility=0.7", "decode.dppr.refresh.layers=7"], ["decode.dppr.refresh", "6 layers of tiny-llada"]),
            (llada, [*dual, "decode.dppr.revisions=17"], ["decode.dppr.revisions"]),
            (llada, [*dual, "decode.dppr.order=youngest"], ["decode.dppr.order"]),
            (fdllm2, [v1], ["decode.loop", "tiny-fdllm2 is block-causal"]),
            (fdllm2, ["decode.rule=count"], ["decode.rule", "block-causal"]),
            (fdllm2, ["decode.edit.threshold=0.9"], ["decode.edit.threshold", "block-causal"]),
            (llada, ["decode.compression.kv=brq"], ["decode.compression.kv", "tiny-llada is bidirectional"]),
            (fdllm2, ["decode.compression.kv=q4"], ["decode.compression.kv"]),
            (fdllm2, ["decode.compression.kv=brq", "decode.compression.brq.shares=[1,1,0]"], ["decode.compression.brq.shares", "more than 1"]),
            (fdllm2, ["decode.compression.kv=brq", "decode.compression.brq.basis_tokens=40"], ["decode.compression.brq.basis_tokens: 40", "32"]),
            (fdllm2, ["decode.compression.ffn=dat", "decode.compression.dat.setting=7"], ["decode.compression.dat.setting"]),
            (fdllm2, ["decode.compression.ffn=dat", "decode.compression.sidecar=nowhere.gguf"], ["decode.compression.sidecar: nowhere.gguf"]),
            (fdllm2, ["decode.compression.ffn=dat", "decode.engine=cpu"], ["decode.engine cpu", "decode.compression.ffn dat"]),
        ]
        for model, settings, phrases in table:
            with self.subTest(settings=settings):
                overrides = [word for setting in settings for word in ("--set", setting)]
                self.refuse(USAGE, phrases, "run", "--prompt", "Compute 1+2", "--config", "fixed", "--model", model, *overrides)

    def test_overrides_and_files(self):
        prompt = ("run", "--prompt", "Compute 1+2")
        broken = self.scratch / "broken.json"
        broken.write_text('{"name": "x", ')
        lines = self.scratch / "prompts.jsonl"
        lines.write_text('{"prompt": "Compute 1+2"}\n{"prompt": 5}\n')
        misspelt = self.scratch / "misspelt.jsonl"
        misspelt.write_text('{"prompt": "Compute 1+2", "answr": "1+2=3"}\n')
        empty = self.scratch / "empty.jsonl"
        empty.write_text("")
        self.refuse(USAGE, ["memory.latncy_ns", "did you mean memory.latency_ns?"], *prompt, "--config", "fixed", "--set",
                    "memory.latncy_ns=4")
        self.refuse(USAGE, ["expected path=value"], *prompt, "--set", "memory")
        self.refuse(USAGE, ["broken.json", "not JSON"], *prompt, "--config", broken)
        self.refuse(USAGE, ["is a directory"], *prompt, "--config", self.scratch)
        self.refuse(USAGE, ["line 2", '"prompt" is not a string'], "run", "--prompts", lines)
        self.refuse(USAGE, ["line 1", "answr"], "run", "--prompts", misspelt)
        self.refuse(USAGE, ["has no prompts"], "run", "--prompts", empty)
        self.refuse(USAGE, ["nowhere.jsonl"], "run", "--prompts", "nowhere.jsonl")

    def test_models(self):
        good = (chip.ROOT / "firmware/models/tiny-fdllm2.gguf").read_bytes()
        for name, content, phrases in [
            ("cut.gguf", good[:len(good) // 2], ["cut.gguf", "but the file has"]),
            ("empty.gguf", b"", ["empty.gguf", "empty"]),
            ("text.gguf", b"hello, this is no model file at all, only text", ["text.gguf", "GGUF"]),
        ]:
            path = self.scratch / name
            path.write_bytes(content)
            with self.subTest(name=name):
                self.refuse(MODEL, phrases, "run", "--prompt", "Compute 1+2", "--model", path)

    def test_sidecars(self):
        good = (chip.ROOT / "firmware/models/tiny-fdllm2.compression.gguf").read_bytes()
        cut, other = self.scratch / "cut.gguf", self.scratch / "other.gguf"
        cut.write_bytes(good[:len(good) // 2])
        sha = good.index(b"model_sha256") + len(b"model_sha256") + 4 + 8
        other.write_bytes(good[:sha] + 64 * b"0" + good[sha + 64:])
        for sidecar, phrases in [
            (cut, ["cut.gguf", "but the file has"]),
            (other, ["other.gguf", "SHA-256 " + 64 * "0", "scripts/calibrate"]),
            (chip.ROOT / "firmware/models/tiny-fdllm2.gguf", ["tiny-fdllm2.gguf", "no compression sidecar"]),
        ]:
            with self.subTest(sidecar=sidecar.name):
                self.refuse(MODEL, phrases, "run", "--prompt", "Compute 1+2", "--set", "decode.compression.ffn=dat", "--set",
                            f"decode.compression.sidecar={sidecar}")
        self.refuse(MODEL, ["cut.gguf"], "inspect", cut)

    def test_prompt_characters_and_length(self):
        self.refuse(USAGE, ["prompt", "ï"], "run", "--prompt", "naïve")
        out = self.scratch / "long"
        long = chip.call("run", "--quiet", "--out", out, "--prompt", "a" * 5000, "--prompt", "Compute 1+2", timeout=60)
        self.assertEqual(long.returncode, 1, long.stdout)
        self.assertIn("context of 1024", long.stdout)
        refused, answered = json.loads((out / "stats.json").read_text())["answers"]
        self.assertEqual((refused["tokens"]["generated"], refused["array"]["macs"]), (0, 0))
        self.assertGreater(answered["array"]["macs"], 0)

    def test_a_scratchpad_too_small_for_compression(self):
        small = chip.call("run", "--quiet", "--config", "fixed", "--prompt", "Compute 1+2", "--set", "npu.scratchpad.bytes=262144", "--set",
                          "decode.compression.ffn=dat", timeout=60)
        self.assertEqual(small.returncode, 1, small.stdout)
        self.assertRegex(small.stdout, "scratchpad_too_small: .*anchors.* 262144 bytes; raise npu.scratchpad.bytes")

    def test_a_file_named_twice(self):
        prompts = self.scratch / "prompts.jsonl"
        prompts.write_text('{"prompt": "Compute 1+2"}\n')
        self.refuse(USAGE, ["--trace-registers", "--prompts"], "run", "--prompts", prompts, "--trace-registers",
                    self.scratch / "." / "prompts.jsonl")
        self.assertIn("Compute", prompts.read_text())
        self.refuse(USAGE, ["--out", "--trace-registers"], "run", "--prompts", prompts, "--out", self.scratch,
                    "--trace-registers", self.scratch / "stats.json")

    def test_nothing_half_written(self):
        out = self.scratch / "out"
        self.refuse(USAGE, ["npu.arry"], "run", "--prompt", "x", "--out", out, "--set", "npu.arry=1")
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
