"""Runs without data: decided by a real run's trajectory they have its costs exactly; shapes of models that are not here,
distributions, and what is refused."""
import json
import struct
import sys
import unittest

import chip

USAGE, MODEL = 2, 3
# What a run without data cannot say, and what says that it had none.
ABOUT_DATA = ("data", "trajectory", "score", "prompt", "expected", "right")
ROOT = chip.ROOT
TRAJECTORIES = ROOT / "tlm/platform/trajectories"
REVISION = ("--set", "decode.loop=fast_dllm_v1", "--set", "decode.cache=dual", "--set", "decode.dppr.visibility=0.7")
DRAFTS = ("--set", "decode.loop=fast_dllm_v1", "--set", "decode.cache=dual", "--set", "decode.rule=count", "--set", "decode.mbsd.trigger=24")


def without(stats):
    if isinstance(stats, dict):
        return {k: without(v) for k, v in stats.items() if k not in ABOUT_DATA or k == "prompt" and isinstance(v, int)}
    return [without(v) for v in stats] if isinstance(stats, list) else stats


class Replay(unittest.TestCase):
    maxDiff = 2000

    def expect_equal(self, *arguments, task="arith_long", on_cpu=False):
        prompts = chip.scratch_folder() / "prompts.jsonl"
        chip.write_lines(prompts, chip.read_lines(chip.task_file(task), 2))
        real = chip.Run("--quiet", "--timeline-prompts", "0", "--replayable", "--prompts", prompts, *arguments)
        self.assertEqual(real.code, 0, real.describe())
        shape = chip.Run("--quiet", "--timeline-prompts", "0", "--data", "shape", "--trajectory", real.folder / "trajectory.json", *arguments)
        self.assertEqual(shape.code, 0, shape.describe())
        a, b = real.json("stats.json"), shape.json("stats.json")
        self.assertEqual(b["data"], "shape")
        self.assertEqual(b["trajectory"], {"name": "trajectory", "kind": "recorded", "model": a["model"]["name"]})
        worked = a["total"]["counters"]["cpu"]["work"]["mac"] if on_cpu else a["total"]["counters"]["npu"]["work"]["macs_q8"]
        self.assertGreater(worked, 0)
        self.assertEqual(without(a), without(b))

    def test_block_causal_on_simple_memory(self):
        self.expect_equal("--config", "fixed")

    def test_compressed_on_wide_memory(self):
        self.expect_equal("--config", "small-nano/full", "--threshold", "0.9999")

    def test_compressed_prefix_alone(self):
        self.expect_equal("--config", "small-nx/full", "--set", "decode.compression.ffn=whole", "--threshold", "0.9999")

    def test_block_causal_with_drafts(self):
        self.expect_equal("--config", "small-nano/wifiv", "--set", "decode.mbsd.trigger=4", "--threshold", "0.999")

    def test_bidirectional_with_drafts_and_swaps(self):
        self.expect_equal("--config", "ladder/5-mbsd", "--model", "tiny-llada", "--generate", "32", "--steps", "8", task="arith")

    def test_on_the_cpu(self):
        self.expect_equal("--config", "ladder/1-cpu", "--model", "tiny-llada", "--generate", "32", "--steps", "2", task="arith", on_cpu=True)

    def test_on_the_cpu_with_a_cache(self):
        self.expect_equal("--config", "ladder/2-prefix", "--model", "tiny-llada", "--generate", "32", "--steps", "8", task="arith", on_cpu=True)

    def test_block_causal_on_the_cpu(self):
        self.expect_equal("--config", "fixed", "--set", "decode.engine=cpu", "--threshold", "0.9", on_cpu=True)

    def test_revision_on_another_hart(self):
        self.expect_equal("--config", "ladder/6-dppr", "--model", "tiny-llada", "--generate", "64", task="arith")

    def test_revision_on_the_same_hart_and_waited_for(self):
        self.expect_equal("--config", "fixed", "--model", "tiny-llada", "--generate", "64", *REVISION, "--set", "decode.dppr.wait=true", "--set",
                          "decode.dppr.refresh.layers=3", task="arith", on_cpu=True)

    def test_bidirectional_without_a_cache(self):
        self.expect_equal("--config", "fixed", "--model", "tiny-llada", "--generate", "32", "--steps", "8", task="arith")


class Shapes(unittest.TestCase):
    def stats(self, *arguments):
        made = chip.Run("--quiet", "--timeline-prompts", "0", "--data", "shape", *arguments)
        self.assertEqual(made.code, 0, made.describe())
        return made.json("stats.json")

    def test_the_header_of_a_file_is_enough(self):
        whole = ROOT / "firmware/models/tiny-fdllm2.gguf"
        header = chip.scratch_folder() / "tiny-fdllm2.gguf"
        bytes_ = whole.read_bytes()
        header.write_bytes(bytes_[:header_bytes(bytes_)])
        arguments = ("--config", "fixed", "--trajectory", "one-token", "--prompt-tokens", "40", "--generate", "32")
        a, b = (self.stats("--model", m, *arguments) for m in (whole, header))
        self.assertEqual(a, b)

    def test_published_shapes(self):
        """Weight bytes of forwards through one layer and the head against the shape's own numbers."""
        for name, width, kv, ffn, vocabulary in (("llada-8b", 4096, 4096, 12288, 126464), ("dream-7b", 3584, 512, 18944, 152064),
                                                 ("fast-dllm-v2-1.5b", 1536, 256, 8960, 151936), ("fast-dllm-v2-7b", 3584, 512, 18944, 152064)):
            with self.subTest(model=name):
                loop = () if "fast" in name else ("--steps", "1")
                config = ("--config", "nano/baseline", "--set", "decode.compression.kv=bf16")
                stats = self.stats("--model", name, "--layers", "1", "--context", "256", "--prompt-tokens", "32", "--generate", "32", "--trajectory",
                                   "every-token", *loop, *config)
                read = stats["total"]["dram"]["bytes_read"]["weights"]
                keys = 2 * kv * width
                whole = width * (2 * width + 3 * ffn + vocabulary) + keys
                # Rows without logits need no more of the last layer, here the only one, than its keys and values.
                fits = [(n, p) for n in range(1, 8) for p in range(8) if n * whole + p * keys == read]
                self.assertEqual(len(fits), 1, f"{read} bytes are no whole number of layers and heads ({whole})")
                self.assertLessEqual(fits[0][0], stats["total"]["forwards"])
                self.assertLess(stats["total"]["forwards"], 8)

    def test_a_distribution_commits_what_it_states(self):
        arguments = ("--config", "fixed", "--model", "tiny-fdllm2", "--generate", "160", *(["--prompt-tokens", "40"] * 4))
        for tokens, name in ((1, "one-token"), (2.8, "fast-dllm-v2"), (8, "every-token")):
            stats = self.stats("--trajectory", name, *arguments)
            self.assertEqual(stats["trajectory"]["tokens_per_forward"], tokens)
            answers = stats["answers"]
            committed = sum(a["tokens"]["committed"] for a in answers)
            forwards = sum(a["tokens"]["committed"] / a["tokens_per_forward"] for a in answers)
            self.assertLess(abs(committed / forwards / tokens - 1), 0.06, f"{name}: {committed} tokens in {forwards} forwards")

    def test_drafts_are_confirmed_as_often_as_stated(self):
        arguments = ("--config", "fixed", "--model", "tiny-llada", *DRAFTS, "--generate", "128", "--steps", "32", *(["--prompt-tokens", "40"] * 6))
        shipped = json.loads((TRAJECTORIES / "llada-drafts.json").read_text())
        for rate in (0.3, 1):
            path = chip.scratch_folder() / "drafts.json"
            path.write_text(json.dumps({**shipped, "tokens_per_forward": 6, "draft_acceptance": rate}))
            drafts = self.stats("--trajectory", path, *arguments)["total"]["drafts"]
            decided = drafts["accepted"] + drafts["rejected"]
            self.assertGreater(decided, 100)
            # Four standard deviations; a rejected draft meets the fresh token by chance once in a hundred times.
            bound = 4 * (decided * rate * (1 - rate)) ** 0.5 + decided * 0.02 * (1 - rate)
            self.assertLessEqual(abs(drafts["accepted"] - rate * decided), bound, f"{rate}: {drafts}")

    def test_revisions_find_what_is_stated(self):
        arguments = ("--config", "fixed", "--model", "tiny-llada", *REVISION, "--generate", "128", *(["--prompt-tokens", "40"] * 6))
        shipped = json.loads((TRAJECTORIES / "llada-drafts.json").read_text())
        for agreement in (0, 0.6, 1):
            path = chip.scratch_folder() / "revisions.json"
            path.write_text(json.dumps({**shipped, "revision": {"agreement": agreement, "confident": 0.5}}))
            found = self.stats("--trajectory", path, *arguments)["total"]["revisions"]
            self.assertGreater(found["applied"], 60)
            # Four standard deviations.
            bound = 4 * (found["applied"] * agreement * (1 - agreement)) ** 0.5
            self.assertLessEqual(abs(found["applied"] - found["replaced"] - agreement * found["applied"]), bound, f"{agreement}: {found}")

    def test_memory_compression_and_layers_do_not_change_what_is_committed(self):
        arguments = ("--model", "fast-dllm-v2-1.5b", "--trajectory", "fast-dllm-v2", "--prompt-tokens", "20", "--generate", "32", "--context", "64")
        forwards = {c + layers: self.stats("--config", c, "--layers", layers, *arguments)["total"]["forwards"]
                    for c in ("nano/baseline", "nano/full") for layers in ("1", "2")}
        self.assertEqual(len(set(forwards.values())), 1, forwards)

    def test_seeds(self):
        arguments = ("--config", "fixed", "--trajectory", "fast-dllm-v2", "--prompt-tokens", "40", "--generate", "64")
        first, again, other = (self.stats("--seed", seed, *arguments) for seed in ("7", "7", "8"))
        self.assertEqual(first, again)
        self.assertNotEqual(first["answers"], other["answers"])


def header_bytes(file):
    """Where the data of a GGUF file begins: behind the last tensor's entry, found by its name."""
    last = max(file.rfind(name) for name in (b"output_norm.weight", b"output.weight", b"ffn_down.weight"))
    dimensions = struct.unpack_from("<I", file, file.index(b"weight", last) + 6)[0]
    return file.index(b"weight", last) + 6 + 4 + 8 * dimensions + 4 + 8


class BadInput(unittest.TestCase):
    def setUp(self):
        self.scratch = chip.scratch_folder()

    def refuse(self, code, phrases, *arguments):
        done = chip.call("run", "--config", "fixed", "--quiet", *arguments, timeout=60)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)

    def written(self, name, content):
        path = self.scratch / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def test_command_lines(self):
        shape = ("--data", "shape")
        one = ("--trajectory", "one-token")
        for phrases, arguments in (
            (["--data fake", "real or shape"], ["--data", "fake"]),
            (["--data shape", "--trajectory"], shape),
            (["--trajectory nowhere", "one-token"], [*shape, "--trajectory", "nowhere"]),
            (["one-token", "--prompt-tokens"], [*shape, *one]),
            (["--trajectory", "without --data shape"], one),
            (["--prompt-tokens", "without --data shape"], ["--prompt-tokens", "3"]),
            (["--prompt-tokens 0"], [*shape, *one, "--prompt-tokens", "0"]),
            (["--array"], [*shape, *one, "--prompt-tokens", "3", "--array", "rtl"]),
            (["--replayable"], ["--replayable"]),
            (["--layers"], [*shape, *one, "--prompt-tokens", "3", "--layers", "2"]),
            (["--layers 99", "28"], [*shape, *one, "--prompt-tokens", "3", "--layers", "99", "--model", "fast-dllm-v2-1.5b"]),
            (["decode.engine", "cpu", "--cpu native"], [*shape, *one, "--prompt-tokens", "3", "--set", "decode.engine=cpu", "--model", "tiny-llada", "--cpu", "rv64"]),
            (["decode.dppr", "--cpu native"], [*shape, *one, "--prompt-tokens", "3", *REVISION, "--model", "tiny-llada", "--cpu", "rv64"]),
            (["one-token", "revision", "decode.dppr"], [*shape, *one, "--prompt-tokens", "3", *REVISION, "--model", "tiny-llada"]),
            (["llada-8b"], ["--model", "llada-8b", "--prompt", "x"]),
            (["llada-8c", "did you mean llada-8b?"], [*shape, *one, "--prompt-tokens", "3", "--model", "llada-8c"]),
        ):
            with self.subTest(arguments=arguments):
                self.refuse(USAGE, phrases, *arguments)

    def test_trajectories(self):
        good = {"schema": "dllm-vp.distribution.1", "tokens_per_forward": 2, "drift": {"least": 0.1, "most": 0.2}, "run": 1}
        recorded = {"schema": "dllm-vp.trajectory.1", "model": "tiny-fdllm2",
                    "answers": [{"id": "a", "prompt_tokens": 2, "tokens": [5, 6, 7], "decisions": {"sample": [], "drift": [], "activity": [], "ranking": []}}]}

        def changed(document, **changes):
            return {**document, **changes}

        def answer(**changes):
            return changed(recorded, answers=[changed(recorded["answers"][0], **changes)])

        for phrases, document in (
            (["line 1"], "{"),
            (["schema"], {}),
            (["schema", "dllm-vp.trajectory.2", "dllm-vp.trajectory.1"], changed(recorded, schema="dllm-vp.trajectory.2")),
            (["tokens_per_forward"], changed(good, tokens_per_forward=0.5)),
            (["tokens_per_forward"], changed(good, tokens_per_forward="two")),
            (["drift.most"], changed(good, drift={"least": 0.3, "most": 0.2})),
            (["runs", "run"], changed(good, runs=2)),
            (["draft_acceptance"], changed(good, draft_acceptance=1.5)),
            (["draft_acceptance"], changed(good, draft_acceptance="often")),
            (["revision.confident"], changed(good, revision={"agreement": 1})),
            (["revision.agreement"], changed(good, revision={"agreement": -1, "confident": 1})),
            (["answers"], changed(recorded, answers=[])),
            (["answers[0]", "--replayable"], changed(recorded, answers=[{"id": "a", "prompt_tokens": 1, "tokens": [5]}])),
            (["answers[0].tokens"], answer(prompt_tokens=9)),
            (["answers[0].tokens"], answer(tokens=[-1, 2, 3])),
            (["answers[0].decisions.drift"], answer(decisions={"sample": [], "drift": 3, "activity": [], "ranking": []})),
            (["answers[0].decisions.drift", "much"], answer(decisions={"sample": [], "drift": [["much"]], "activity": [], "ranking": []})),
            (["answers[0].decisions.sample"], answer(decisions={"sample": [[1.5, 0.2]], "drift": [], "activity": [], "ranking": []})),
            (["token 100000"], answer(tokens=[100000, 2, 3])),
        ):
            with self.subTest(document=str(document)[:90]):
                given = () if "answers" in str(document) else ("--prompt-tokens", "4")
                self.refuse(USAGE, phrases, "--data", "shape", "--trajectory", self.written("t.json", document), *given)

    def test_another_decode(self):
        recorded = {"schema": "dllm-vp.trajectory.1", "model": "tiny-fdllm2",
                    "answers": [{"id": "a", "prompt_tokens": 2, "tokens": [5, 6, 7], "decisions": {"sample": [], "drift": [], "activity": [], "ranking": []}}]}
        path = self.written("t.json", recorded)
        self.refuse(1, ["the trajectory ends before this decode", "sample number 1 of a"], "--data", "shape", "--trajectory", path)
        recorded["answers"][0]["decisions"]["sample"] = [[3, 0.5]]
        path = self.written("t.json", recorded)
        self.refuse(1, ["of another decode", "sample number 1 of a has 2 words"], "--data", "shape", "--trajectory", path)

    def test_shapes(self):
        good = json.loads((ROOT / "firmware/models/shapes/llada-8b.json").read_text())
        for phrases, changes in ((["model_type"], {"model_type": "gpt2"}), (["n_kv_heads"], {"n_kv_heads": 5}), (["d_model"], {"d_model": 0}),
                                 (["d_model"], {"d_model": "wide"}), (["mask_token_id"], {"mask_token_id": 10**9}),
                                 (["mlp_hidden_size"], {"mlp_hidden_size": 100}), (["rms_norm_eps"], {"rms_norm_eps": -1})):
            with self.subTest(changes=changes):
                path = self.written("shape.json", {**good, **changes})
                self.refuse(USAGE, phrases, "--data", "shape", "--trajectory", "one-token", "--prompt-tokens", "3", "--model", path)
        del good["mask_token_id"]
        self.refuse(USAGE, ["mask_token_id"], "--data", "shape", "--trajectory", "one-token", "--prompt-tokens", "3", "--model", self.written("shape.json", good))
        truncated = self.scratch / "cut.gguf"
        truncated.write_bytes((ROOT / "firmware/models/tiny-fdllm2.gguf").read_bytes()[:500])
        self.refuse(MODEL, ["cut.gguf"], "--data", "shape", "--trajectory", "one-token", "--prompt-tokens", "3", "--model", truncated)


if __name__ == "__main__":
    sys.exit(unittest.main())
