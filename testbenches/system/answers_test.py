"""The main job: prompts answered on the platform are right, repeatable, and complete in what they report."""
import json
import sys
import unittest

import jsonschema

import chip

HELD_OUT_PER_TASK = 20
RIGHT_SHARE = 0.9


class Answers(unittest.TestCase):
    maxDiff = 2000

    def test_built_in_prompts_are_right_with_both_models_and_shown(self):
        for model in ("tiny-fdllm2", "tiny-llada"):
            run = chip.Run("--model", model)
            self.assertEqual(run.code, 0, run.describe())
            stats = run.json("stats.json")
            self.assertEqual(stats["total"]["score"], {"right": 5, "of": 5}, run.describe())
            for answer in stats["answers"]:
                self.assertIn(f" {answer['answer']}\n", run.process.stdout)

    def test_a_shorter_context_changes_nothing_but_the_room(self):
        usual = chip.Run("--limit", "1", "--prompts", chip.task_file("showcase"))
        short = chip.Run("--limit", "1", "--prompts", chip.task_file("showcase"), "--context", "200")
        a, b = (r.json("stats.json")["answers"][0] for r in (usual, short))
        self.assertEqual((a["answer"], a["state_hash"], a["array"]["macs"]), (b["answer"], b["state_hash"], b["array"]["macs"]))

    def test_figures_are_those_of_each_request_alone(self):
        lines = chip.scratch_folder() / "same.jsonl"
        chip.write_lines(lines, 3 * chip.read_lines(chip.task_file("showcase"), 1))
        run = chip.Run("--prompts", lines)
        stats = run.json("stats.json")
        one, *others = stats["answers"]
        for other in others:
            self.assertEqual((other["state_hash"], other["descriptors"], other["array"]["macs"]),
                             (one["state_hash"], one["descriptors"], one["array"]["macs"]))
            self.assertEqual(other["dram"]["bytes_read"], one["dram"]["bytes_read"])
        npu = stats["total"]["counters"]["npu"]
        alone = chip.Run("--prompts", lines, "--limit", "1").json("stats.json")["total"]["counters"]["npu"]
        self.assertEqual(npu["array_jobs"], 3 * alone["array_jobs"])
        self.assertEqual(npu["descriptors"]["gemm"], 3 * alone["descriptors"]["gemm"])

    def test_nine_in_ten_held_out_prompts_are_right(self):
        for model in ("tiny-fdllm2", "tiny-llada"):
            right = asked = 0
            for task in chip.TASKS:
                # The memory does not decide an answer; the fixed one is the fastest to simulate.
                run = chip.Run("--quiet", "--timeline-prompts", "0", "--config", "fixed", "--model", model, "--prompts",
                               chip.task_file(task), "--limit", HELD_OUT_PER_TASK)
                self.assertEqual(run.code, 0, run.describe())
                score = run.json("stats.json")["total"]["score"]
                print(f"{model} {task}: {score['right']} of {score['of']} right")
                right += score["right"]
                asked += score["of"]
            self.assertEqual(asked, HELD_OUT_PER_TASK * len(chip.TASKS))
            self.assertGreaterEqual(right, RIGHT_SHARE * asked, model)

    def test_same_seed_same_bytes(self):
        for extra in ((), ("--temperature", "0.8", "--seed", "7")):
            arguments = ("--prompts", chip.task_file("showcase"), "--limit", "2", *extra)
            first, second = chip.Run(*arguments), chip.Run(*arguments)
            self.assertEqual(first.code, 0, first.describe())
            for name in ("stats.json", "timeline.json", "trajectory.json"):
                self.assertEqual(first.text(name), second.text(name), name)

    def test_other_seed_other_samples(self):
        hashes = set()
        for seed in (1, 2, 3):
            run = chip.Run("--prompts", chip.task_file("showcase"), "--limit", "2", "--temperature", "5", "--seed", seed)
            self.assertEqual(run.code, 0, run.describe())
            hashes.add(tuple(a["state_hash"] for a in run.json("stats.json")["answers"]))
        self.assertEqual(len(hashes), 3)

    def test_memory_speed_changes_time_and_not_tokens(self):
        one = ("--prompts", chip.task_file("showcase"), "--limit", "1")
        fast = chip.Run(*one, "--config", "fixed")
        slow = chip.Run(*one, "--config", "fixed", "--set", "memory.bytes_per_second=2000000000")
        a, b = (r.json("stats.json")["answers"][0] for r in (fast, slow))
        self.assertEqual((a["answer"], a["state_hash"]), (b["answer"], b["state_hash"]))
        self.assertGreater(b["latency_us"], 1.5 * a["latency_us"])

    def test_memory_models_change_time_and_not_tokens(self):
        one = ("--prompts", chip.task_file("showcase"), "--limit", "1")
        runs = [chip.Run(*one, *extra) for extra in ((), ("--config", "fixed"), ("--set", "memory.mode=stream"),
                                                     ("--set", "memory.config=lpddr5-6400-x16"))]
        for run in runs:
            self.assertEqual(run.code, 0, run.describe())
        lpddr5, fixed, stream, narrow = (r.json("stats.json")["answers"][0] for r in runs)
        for other in (fixed, stream, narrow):
            self.assertEqual((other["answer"], other["state_hash"], other["dram"]["bytes_read"]),
                             (lpddr5["answer"], lpddr5["state_hash"], lpddr5["dram"]["bytes_read"]))
        self.assertGreater(narrow["latency_us"], 1.05 * lpddr5["latency_us"])
        self.assertNotIn("lpddr5", fixed["dram"])
        shares = lpddr5["dram"]["lpddr5"]
        self.assertLessEqual(shares["bus_busy"] + sum(shares["idle"].values()), 1.0001)
        parts = lpddr5["energy"]["dram_total_pj"]
        self.assertAlmostEqual(sum(parts["parts"].values()) / parts["value"], 1)
        stats = runs[0].json("stats.json")
        prices, work = stats["configuration"]["energy"], stats["total"]["counters"]["npu"]["work"]
        system = lpddr5["energy"]["system_pj"]["parts"]
        self.assertAlmostEqual(system["compute"], sum(prices["mac_pj"][p] * work[f"macs_{p}"] for p in prices["mac_pj"])
                               + prices["vector_pj"] * work["vector_passes"] + prices["sampling_pj"] * work["sampling_elements"], delta=1)
        self.assertAlmostEqual(system["sram"], prices["scratchpad_pj_per_byte"] * work["scratchpad_bytes"], delta=1)
        self.assertEqual(sum(work[f"macs_{p}"] for p in prices["mac_pj"]), lpddr5["array"]["macs"])
        self.assertAlmostEqual(lpddr5["energy"]["system_pj"]["value"] / (parts["value"] + lpddr5["energy"]["npu_pj"]["value"] + lpddr5["energy"]["cpu_pj"]["value"]), 1)
        self.assertIn("bound", runs[0].process.stdout)

    def test_with_the_npu_off_there_is_no_page_of_zeros(self):
        run = chip.Run("--quiet", "--config", "fixed", "--prompts", chip.task_file("showcase"), "--limit", "1", "--set", "decode.engine=cpu")
        self.assertEqual(run.code, 0, run.describe())
        said = run.process.stdout
        self.assertTrue(said.startswith("  model"), said)
        self.assertIn("NPU off (decode.engine cpu)", said)
        self.assertNotIn("idle array", said)
        self.assertRegex(said, r"bound       cpu   \(cpu [0-9.]+ % of the time\)\n")
        self.assertRegex(said, r"simulated : wall = \d+\.\d : 1\)")  # seconds of simulated time, and less to simulate them
        for name in ("stats.json", "trajectory.json", "timeline.json", "summary.txt"):
            self.assertIn(str(run.folder / name), said.splitlines()[-1])

    def test_reports_agree_with_each_other(self):
        run = chip.Run("--prompts", chip.task_file("showcase"))
        stats, timeline, trajectory = (run.json(n) for n in ("stats.json", "timeline.json", "trajectory.json"))
        total = stats["total"]
        self.assertEqual(total["forwards"], sum(a["forwards"] for a in stats["answers"]))
        self.assertAlmostEqual(total["latency_us"], sum(a["latency_us"] for a in stats["answers"]), places=3)
        busy, stalls = total["busy_cycles"], total["stall_cycles"]
        self.assertLessEqual(busy["array"] + stalls["dependency"] + stalls["no_work"], total["npu_cycles"])
        self.assertTrue(0 < total["array"]["utilisation"] <= total["array"]["busy"] <= 1)
        shares = total["bound"]["shares"]
        self.assertAlmostEqual(shares["cpu"], total["counters"]["cpu"]["busy_ps"] * 1e-6 / total["latency_us"])
        self.assertEqual((shares["stage"], shares["mapping"]), (0, 0))
        moved = sum(total["dram"]["bytes_read"].values()) + sum(total["dram"]["bytes_written"].values())
        self.assertAlmostEqual(moved, total["dram"]["bytes_per_second"] * total["latency_us"] * 1e-6, delta=1)
        self.assertLess(total["dram"]["bytes_per_second"], total["dram"]["peak_bytes_per_second"])
        names = {e["args"]["name"] for e in timeline["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
        for track in ("cpu", "memory", "array", "vector", "dma_load", "dma_store", "sampling"):
            self.assertTrue(any(track in n for n in names), f"no timeline track for {track}: {names}")
        for answer, path in zip(stats["answers"], trajectory["answers"]):
            commits = [c for f in path["forwards"] for c in f["commits"]]
            self.assertGreaterEqual(len(commits), answer["tokens"]["committed"])
            for c in commits:
                if c["position"] < len(path["tokens"]):
                    self.assertEqual(path["tokens"][c["position"]], c["token"])

    def test_stats_follow_their_schema(self):
        schema = json.loads((chip.ROOT / "tlm/platform/configs/stats.schema.json").read_text())
        run = chip.Run("--prompts", chip.task_file("showcase"))
        jsonschema.validate(run.json("stats.json"), schema)

    def test_visual_shows_masks_and_ends_with_the_answer(self):
        run = chip.Run("--visual", "--prompts", chip.task_file("showcase"), "--limit", "1")
        self.assertIn("·", run.process.stdout)
        answer = run.json("stats.json")["answers"][0]["answer"]
        self.assertIn(answer.split(" ")[0], run.process.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
