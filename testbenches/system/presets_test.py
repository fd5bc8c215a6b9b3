"""The classes at the publications' scale (tlm/platform/configs/nano, nx, phone), with the shipped models and their memories alone."""
import json
import math
import unittest

import chip

# What refresh of all banks leaves of the peak: a read's row closes, all are refreshed, one opens again; ns.
CLOSE, PRECHARGE, OPEN, INTERVAL = 10, 21, 18, 3906


def answer(config, model, *more):
    run = chip.Run("--quiet", "--timeline-prompts", "0", "--config", config, "--model", model, "--prompt", "Compute 12+34", *more)
    if run.code != 0:
        raise AssertionError(run.describe())
    return run.json("stats.json")


class Presets(unittest.TestCase):
    def test_the_memory_alone_is_as_fast_as_the_class(self):
        for config, peak, refresh_ns in (("nano/baseline", 51.2, 210), ("nano/wifiv", 204.8, 210), ("nx/baseline", 102.4, 280),
                                         ("nx/wifiv", 409.6, 280), ("phone/6-dppr", 68.267, 380)):
            folder = chip.scratch_folder()
            memory = folder / "memory.json"
            memory.write_text(json.dumps(chip.configuration(config)["memory"]["config"]))
            done = chip.call("dram", "--config", memory, "-n", "400k", "-q", "--out", folder, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            bandwidth = json.loads((folder / "stats.json").read_text())["bandwidth"]
            self.assertTrue(math.isclose(bandwidth["peak_bytes_per_second"], peak * 1e9, rel_tol=1e-4), config)
            expected = peak * (1 - (CLOSE + PRECHARGE + refresh_ns + OPEN) / INTERVAL)
            self.assertTrue(math.isclose(bandwidth["bytes_per_second"], expected * 1e9, rel_tol=0.01), (config, bandwidth, expected))

    def test_memory_changes_no_token_and_nothing_falls_back_to_another_configuration(self):
        for folder in ("nano", "nx"):
            stats = {name: answer(f"{folder}/{name}", "tiny-fdllm2") for name in ("baseline", "compression", "wifiv", "full")}
            for name, found in stats.items():
                self.assertEqual(found["configuration"]["name"], f"{folder}-{name}")
            for plain, wide in (("baseline", "wifiv"), ("compression", "full")):
                self.assertEqual(*(stats[name]["answers"][0]["state_hash"] for name in (plain, wide)), (folder, plain))

    def test_rungs_that_change_no_decision_commit_the_same_tokens(self):
        names = [path.stem for path in sorted((chip.CONFIGS / "phone").glob("*.json")) if not path.name.endswith(".latency.json")]
        without_table = ("--set", "decode.mbsd.latency=[]")  # it is of LLaDA-8B
        rungs = {name: answer(f"phone/{name}", "tiny-llada", "--generate", "32", "--steps", "32", *without_table) for name in names}
        self.assertEqual(len(rungs), 6)
        hashes = {name: stats["answers"][0]["state_hash"] for name, stats in rungs.items()}
        self.assertEqual(hashes["2-prefix"], hashes["3-npu"])
        self.assertEqual(hashes["3-npu"], hashes["4-somr"])
        latency = [rungs[name]["total"]["latency_us"] for name in sorted(rungs)]
        self.assertEqual(latency, sorted(latency, reverse=True))


if __name__ == "__main__":
    unittest.main()
