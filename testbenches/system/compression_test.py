"""Compressed decoding as a whole: the shipped model and sidecar, the prefix by tiers and the network from anchors.

Oracle of the counts: the trajectory. It says which positions were finished before each forward and how the forward read
them; the entries of every tier follow from the shares by arithmetic done again here.
"""
import collections
import json
import math
import os
import sys
import unittest

import jsonschema

import chip

FIRMWARE = os.environ["FIRMWARE_IMAGE"]  # set by CTest
SHARES = (0.375, 0.25, 0.125)
BASIS = 64
LAYERS, CHANNELS = 6, 384  # of tiny-fdllm2
BRQ = ("decode.compression.kv=brq", f"decode.compression.brq.shares={list(SHARES)}", f"decode.compression.brq.basis_tokens={BASIS}")
DAT = ("decode.compression.ffn=dat",)


def run(prompts, *settings, config="fixed", extra=()):
    # Few tokens a forward, so that blocks have forwards enough to rank and to read by the map.
    overrides = [word for setting in settings for word in ("--set", setting)]
    return chip.Run("--quiet", "--config", config, "--threshold", "0.9999", "--prompts", prompts, *overrides, *extra)


def long_prompts(count):
    lines = chip.scratch_folder() / "prompts.jsonl"
    chip.write_lines(lines, [item for task in ("arith", "code") for item in chip.read_lines(chip.task_file(f"{task}_long"), count)])
    return lines


def tiers(entries):
    """Entries of q8, q4, q2, q0 that a map of so many has."""
    counts = []
    for share in SHARES:
        counts.append(min(math.floor(share * entries + 0.5), entries - sum(counts)))
    return (*counts, entries - sum(counts))


def added(*trees):
    """The sum, leaf by leaf, of what is counted; means and maxima are left out."""
    if not isinstance(trees[0], dict):
        return sum(trees)
    return {key: added(*(t[key] for t in trees)) for key in trees[0]
            if key not in ("mean_bits", "mean_drift", "largest_drift", "mean_budget", "layers")}


class Statistics(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.made = run(long_prompts(2), *BRQ, *DAT, extra=("--timeline-prompts", "1"))
        assert cls.made.code == 0, cls.made.describe()
        cls.stats = cls.made.json("stats.json")
        cls.paths = cls.made.json("trajectory.json")["answers"]

    def forwards(self, answer):
        return [f for f in self.paths[answer]["forwards"] if f["kind"] in ("prefill", "forward")]

    def test_most_answers_are_right(self):
        score = self.stats["total"]["score"]
        self.assertGreaterEqual(score["right"], score["of"] - 1, self.made.describe())

    def test_the_first_forwards_of_a_block_prepare_the_map_and_the_anchor(self):
        longest = 0
        for number in range(len(self.paths)):
            blocks = collections.defaultdict(list)
            for f in self.forwards(number):
                if f["kind"] == "forward":
                    blocks[f["first"]].append((f["prefix"], f["network"]))
                else:
                    self.assertNotIn("prefix", f)
                    self.assertNotIn("network", f)
            longest = max(longest, *map(len, blocks.values()))
            for ways in blocks.values():
                expected = [("warm_up", "anchor"), ("ranking", "interior")] + [("mapped", "interior")] * len(ways)
                self.assertEqual(ways, expected[:len(ways)])
        self.assertGreater(longest, 3)

    def test_every_read_of_an_entry_is_counted_once(self):
        mapped_reads = 0
        for number, answer in enumerate(self.stats["answers"]):
            for layer, figures in enumerate(answer["compression"]["layers"]):
                plain, unmapped, mapped, blocks = 0, 0, [0] * 4, set()
                for f in self.forwards(number):
                    if layer == LAYERS - 1 and not f["commits"]:
                        continue  # without a token to choose, the last layer ends with its keys and values
                    behind = max(f["first"] - BASIS, 0)
                    plain += f["first"] - behind
                    if f.get("prefix") == "mapped":
                        mapped = [a + b for a, b in zip(mapped, tiers(behind))]
                        blocks.add(f["first"])
                    else:
                        unmapped += behind
                prefix = figures["prefix"]
                self.assertEqual(prefix["reads"], {"mapped": dict(zip(("q8", "q4", "q2", "q0"), mapped)), "plain": plain, "unmapped": unmapped})
                self.assertEqual((prefix["maps"], prefix["bases"]), (len(blocks), 1))  # a map is made when a forward wants it
                whole = plain + unmapped
                bits = 8 * mapped[0] + 4 * mapped[1] + 2 * mapped[2]
                self.assertAlmostEqual(prefix["mean_bits"]["mapped"], bits / sum(mapped))
                self.assertAlmostEqual(prefix["mean_bits"]["all"], (bits + 8 * whole) / (sum(mapped) + whole))
                mapped_reads += sum(mapped)
        self.assertGreater(mapped_reads, 1000)

    def test_every_channel_of_a_step_is_counted_once(self):
        for number, answer in enumerate(self.stats["answers"]):
            ways = collections.Counter(f.get("network") for f in self.forwards(number))
            for layer in answer["compression"]["layers"]:
                network = layer["network"]
                self.assertEqual((network["anchor_passes"], network["interior_passes"]), (ways["anchor"], ways["interior"]))
                self.assertEqual(sum(network["channels"].values()), ways["interior"] * CHANNELS)
                self.assertLessEqual(network["crossings"], sum(n for tier, n in network["channels"].items() if tier != "q0"))
                self.assertTrue(0 < network["mean_drift"] <= network["largest_drift"])
                self.assertTrue(0 < network["mean_budget"] <= 1)

    def test_sums_over_layers_and_answers(self):
        total = self.stats["total"]["compression"]
        self.assertEqual(len(total["layers"]), LAYERS)
        self.assertEqual(added(total), added(*total["layers"]))
        self.assertEqual(added(total), added(*(a["compression"] for a in self.stats["answers"])))

    def test_phases_hold_the_whole_time(self):
        for number, answer in enumerate(self.stats["answers"]):
            phases = answer["phases"]
            ways = self.forwards(number)
            denoising = [f for f in ways if f["kind"] == "forward"]
            self.assertAlmostEqual(sum(phases[p]["us"] for p in ("prefill", "denoise", "fill", "rest")), answer["latency_us"], places=3)
            self.assertEqual(phases["denoise"]["forwards"], len(denoising))
            self.assertEqual(phases["prefill"]["forwards"], ways.index(denoising[0]))
            self.assertEqual(sum(phases[p]["forwards"] for p in ("prefill", "denoise", "fill")), answer["forwards"])
            for part in ("prefix", "network"):
                for figure in ("forwards", "us"):
                    self.assertAlmostEqual(sum(p[figure] for p in phases[part].values()), phases["denoise"][figure], places=3)

    def test_low_precision_is_seen_everywhere(self):
        total = self.stats["total"]
        dram = total["dram"]
        self.assertEqual(sum(dram["bytes_read"].values()), sum(dram["bytes_read_by_precision"].values()))
        for precision in ("q8", "q4", "q2"):
            self.assertGreater(dram["bytes_read_by_precision"][precision], 0)
        for purpose in ("prefix_kv", "kv_metadata", "ffn_state"):
            self.assertGreater(dram["bytes_read"][purpose], 0)
        # Codes of keys and values of every entry read; q4 and q2 only of mapped ones.
        mapped = total["compression"]["prefix"]["reads"]["mapped"]
        traffic = total["counters"]["memory"]["traffic"]["read"]["prefix_kv"]
        row = 2 * 2 * 32  # keys and values, two heads of 32
        self.assertEqual((traffic["q4_bytes"], traffic["q2_bytes"]), (mapped["q4"] * row * 4 // 8, mapped["q2"] * row * 2 // 8))
        names = {e["name"] for e in self.made.json("timeline.json")["traceEvents"] if e.get("ph") in "XC"}
        for name in ("prefix_kv q4", "prefix_kv q2", "weights q4", "memory read q4 GB/s", "memory read q2 GB/s"):
            self.assertIn(name, names)

    def test_the_summary_and_the_schema(self):
        said = self.made.process.stdout
        for phrase in ("phases      prefill", "prefix read: warm-up", "sidecar     tiny-fdllm2.compression.gguf: ", "prefix      brq: ", "network     dat: "):
            self.assertIn(phrase, said)
        sidecar = self.stats["compression"]["sidecar"]
        self.assertEqual((sidecar["name"], sidecar["model"]), ("tiny-fdllm2.compression.gguf", "tiny-fdllm2"))
        self.assertEqual(self.stats["compression"]["shares"], list(SHARES))
        jsonschema.validate(self.stats, json.loads((chip.ROOT / "tlm/platform/configs/stats.schema.json").read_text()))

    def test_inspect_says_what_the_sidecar_holds(self):
        said = chip.call("inspect", "tiny-fdllm2.compression").stdout
        for phrase in (f"{LAYERS} layers", f"{CHANNELS} channels", self.stats["compression"]["sidecar"]["model_sha256"], "setting 6"):
            self.assertIn(phrase, said)


class Equal(unittest.TestCase):
    """Runs that must agree."""

    def same(self, a, b, keys):
        for one in (a, b):
            self.assertEqual(one.code, 0, one.describe())
        for x, y in zip(a.json("stats.json")["answers"], b.json("stats.json")["answers"], strict=True):
            for key in keys:
                self.assertEqual(x[key], y[key], (x["id"], key))

    def test_twice_the_same_bytes(self):
        prompts = long_prompts(1)
        a, b = (run(prompts, *BRQ, *DAT, config="reference") for _ in range(2))
        for name in ("stats.json", "timeline.json", "trajectory.json"):
            self.assertEqual(a.text(name), b.text(name), name)

    def test_a_map_of_q8_alone_is_the_q8_store(self):
        """Without a basis vector the residual is the entry itself."""
        prompts = long_prompts(1)
        store = run(prompts, "decode.compression.kv=q8")
        mapped = run(prompts, *BRQ, "decode.compression.brq.rank=0", "decode.compression.brq.shares=[1,0,0]")
        self.same(store, mapped, ("answer", "state_hash", "forwards"))
        self.assertGreater(mapped.json("stats.json")["total"]["compression"]["prefix"]["reads"]["mapped"]["q8"], 1000)


class Rv64(unittest.TestCase):
    def test_the_image_decodes_the_same(self):
        prompts = long_prompts(1)
        native, rv64 = (run(prompts, *BRQ, *DAT, extra=extra) for extra in ((), ("--cpu", "rv64", "--firmware", FIRMWARE)))
        Equal.same(self, native, rv64, ("answer", "tokens", "forwards", "descriptors", "descriptor_hashes", "state_hash", "compression"))
        self.assertEqual(native.text("trajectory.json"), rv64.text("trajectory.json"))


class Lockstep(unittest.TestCase):
    def test_every_array_job_on_rtl_and_model(self):
        prompts = long_prompts(1)
        both, model = (run(prompts, *BRQ, *DAT, config="reference", extra=("--limit", "1", *extra)) for extra in (("--array", "both"), ()))
        Equal.same(self, both, model, ("answer", "state_hash", "latency_us", "array", "compression"))
        self.assertEqual(both.text("timeline.json"), model.text("timeline.json"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
