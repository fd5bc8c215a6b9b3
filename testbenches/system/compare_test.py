"""Configurations that derive from others, and runs side by side."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import jsonschema

import chip

CONFIGS = chip.ROOT / "tlm/platform/configs"
USAGE = 2
SHORT = ("--model", "tiny-llada", "--generate", "32", "--steps", "8")
ONE = (*SHORT, "--prompts", chip.task_file("showcase"), "--limit", "1")


class Scratch(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.scratch = chip.scratch_folder()

    def write(self, name, content):
        path = self.scratch / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def derive(self, name, base, changes, **more):
        return self.write(f"{name}.json", {"base": base, "name": name, "description": "For a test.", "set": changes, **more})

    def refuse(self, phrases, *arguments):
        done = chip.call(*arguments, timeout=60)
        self.assertEqual(done.returncode, USAGE, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, f"more than one sentence for {arguments}:\n{done.stderr}")
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)


class Derived(Scratch):
    def resolved(self, config, *more):
        run = chip.Run("--quiet", "--timeline-prompts", "0", "--config", config, *ONE, *more)
        self.assertEqual(run.code, 0, run.describe())
        return run.json("stats.json")["configuration"]

    def test_a_chain_comes_to_the_base_with_the_changes_on_top(self):
        self.derive("first", "reference", {"npu.vector.lanes": 64, "bus.latency_ns": 7, "decode.edit": {"threshold": 0, "steps": 1}},
                    why={"npu.vector.lanes": "choice: four times as many"})
        second = self.derive("second", "first", {"bus.latency_ns": 9, "npu.sampling.lanes": 8}, why={"npu.clock_hz": "choice: round"})
        expected = json.loads((CONFIGS / "reference.json").read_text())
        expected["name"], expected["description"] = "second", "For a test."
        expected["npu"]["vector"]["lanes"] = 64
        expected["npu"]["sampling"]["lanes"] = 8
        expected["decode"]["edit"] = {"threshold": 0, "steps": 1}
        expected["bus"]["latency_ns"] = 11  # --set comes last
        del expected["why"]["decode.edit.threshold"]  # with the object it is in
        expected["why"].update({"npu.vector.lanes": "choice: four times as many", "npu.clock_hz": "choice: round",
                                "npu.sampling.lanes": "choice: set by second.json", "decode.edit": "choice: set by first.json",
                                "bus.latency_ns": "choice: set by --set"})
        found = self.resolved(second, "--set", "bus.latency_ns=11")
        for document in (found, expected):
            document["cpu"]["rv64"].pop("core")  # written out in full by the program
        self.assertEqual(found, expected)

    def test_a_base_may_be_a_path_from_the_file(self):
        (self.scratch / "below").mkdir()
        self.derive("top", "fixed", {"bus.latency_ns": 6})
        inner = self.derive("below/inner", "../top.json", {})
        self.assertEqual(self.resolved(inner)["bus"]["latency_ns"], 6)

    def test_shipped_families_are_found_by_name(self):
        names = [p.stem for p in sorted((CONFIGS / "ladder").glob("*.json")) if not p.name.endswith(".latency.json")]
        self.assertEqual(len(names), 6)
        self.refuse(["ladder/1-cpuu", "did you mean ladder/1-cpu?"], "run", "--config", "ladder/1-cpuu", *ONE)
        self.refuse(["cores/phone", "no such configuration"], "run", "--config", "cores/phone", *ONE)

    def test_every_rung_of_a_ladder_changes_one_key_of_the_one_before(self):
        for ladder in ("ladder", "phone"):
            before = None
            for path in sorted(p for p in (CONFIGS / ladder).glob("[1-6]-*.json") if not p.name.endswith(".latency.json")):
                document = json.loads(path.read_text())
                if before:
                    self.assertEqual(document["base"], before)
                    self.assertEqual(len(document["set"]), 1, path.name)
                before = path.stem
            self.assertEqual(before, "6-dppr")

    def test_every_shipped_file_fits_its_schema_and_says_why_it_sets_what(self):
        for path in sorted([*CONFIGS.glob("*.json"), *CONFIGS.glob("*/*.json")]):
            document = json.loads(path.read_text())
            if "base" not in document:
                continue
            jsonschema.validate(document, json.loads((path.parent / document["$schema"]).read_text()))
            self.assertTrue(set(document["set"]) <= set(document["why"]), path)

    def test_what_is_wrong_is_said_with_file_and_key(self):
        base = {"base": "fixed", "name": "x", "description": "y"}
        table = [
            ("{", ["x.json", "is not JSON"]),
            ("", ["x.json", "is not JSON"]),
            ('{"base": "fixed", "base": "fixed"}', ["base", "twice"]),
            ("[" * 100000, ["x.json", "nests deeper"]),
            ("\0\1\2\377", ["x.json", "is not JSON"]),
            ({**base, "base": 3}, ["x.json: base"]),
            ({**base, "base": ""}, ["x.json: base"]),
            ({**base, "base": "fixd"}, ["x.json: base", "did you mean fixed?"]),
            ({**base, "base": "/dev/null"}, ["x.json"]),
            ({"base": "fixed", "description": "y"}, ["x.json: name", "missing"]),
            ({**base, "sets": {}}, ["x.json: sets", "set"]),
            ({**base, "set": []}, ["x.json: set"]),
            ({**base, "npu": {}}, ["x.json: npu"]),
            ({**base, "set": {"npu.vector.lane": 3}}, ["x.json: set.npu.vector.lane", "did you mean npu.vector.lanes?"]),
            ({**base, "set": {"": 3}}, ["x.json: set."]),
            ({**base, "set": {"memory.config.channels": 3}}, ["x.json: set.memory.config.channels"]),
            ({**base, "set": {"npu.vector.lanes": "many"}}, ["x.json: npu.vector.lanes"]),
            ({**base, "set": {"decode": 1}}, ["x.json: decode"]),
            ({**base, "set": {"why": {}}}, ["x.json: set.why", "its own why"]),
            ({**base, "why": []}, ["x.json: why"]),
            ({**base, "why": {"npu.clock_hz": "because"}}, ["x.json: why.npu.clock_hz"]),
            ({**base, "why": {"npu.clock": "choice: so"}}, ["x.json: why.npu.clock: ", "no key npu.clock"]),
            ([], ["x.json"]),
        ]
        for content, phrases in table:
            with self.subTest(content=str(content)[:80]):
                self.refuse(phrases, "run", "--config", self.write("x.json", content), *ONE)

    def test_a_circle_is_named(self):
        for name, base in (("a", "b"), ("b", "c"), ("c", "a")):
            self.derive(name, base, {})
        self.refuse(["a.json -> b.json -> c.json -> a.json"], "run", "--config", self.scratch / "a.json", *ONE)
        own = self.derive("own", "own", {})
        self.refuse(["own.json -> own.json"], "run", "--config", own, *ONE)


class Compare(Scratch):
    def compare(self, *arguments, out=None, code=0):
        self.out = out or self.scratch / "out"
        done = chip.call("compare", *arguments, "--out", self.out)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.said = done.stdout
        return json.loads((self.out / "compare.json").read_text())["points"]

    def test_figures_are_those_of_the_runs_alone(self):
        slow = "memory.bytes_per_second=2000000000"
        points = self.compare("fixed", f"fixed:{slow}", "fixed", *SHORT, "--prompts", chip.task_file("showcase"), "--limit", "2")
        self.assertEqual([p["name"] for p in points], ["fixed", f"fixed:{slow}", "fixed-2"])
        jsonschema.validate(json.loads((self.out / "compare.json").read_text()), json.loads((CONFIGS / "compare.schema.json").read_text()))
        for point, more in zip(points, ((), ("--set", slow), ())):
            alone = chip.Run("--quiet", "--config", "fixed", *SHORT, "--prompts", chip.task_file("showcase"), "--limit", "2", *more)
            total = alone.json("stats.json")["total"]
            figures = point["figures"]
            self.assertAlmostEqual(figures["latency_us"], total["latency_us"] / 2)
            self.assertAlmostEqual(figures["energy_uj"]["value"], total["energy"]["dram_movement_pj"]["value"] * 1e-6 / 2)
            self.assertAlmostEqual(figures["system_uj"]["value"], total["energy"]["system_pj"]["value"] * 1e-6 / 2)
            self.assertAlmostEqual(figures["system_uj"]["value"], sum(figures["system_uj"]["parts"].values()))
            self.assertEqual(figures["score"], total["score"])
            self.assertEqual(figures["tokens_per_forward"], total["tokens_per_forward"])
            self.assertEqual((self.out / point["folder"] / "stats.json").read_text(), alone.text("stats.json"))
        self.assertEqual((points[0]["ratio"], points[2]["ratio"]), 2 * ({"latency": 1, "energy": 1, "system_energy": 1},))
        self.assertAlmostEqual(points[1]["ratio"]["latency"], points[1]["figures"]["latency_us"] / points[0]["figures"]["latency_us"])
        self.assertGreater(points[1]["ratio"]["latency"], 1.2)
        self.assertEqual((self.out / "summary.txt").read_text().count("\n"), 6)
        self.assertNotIn("mapping", self.said)  # nobody mapped anything
        self.assertIn("modelled", self.said)

    def test_shapes_of_models_are_compared_as_well(self):
        shape = ("--data", "shape", "--trajectory", "steady", "--generate", "32")
        prompts = ("--prompt-tokens", "9", "--prompt-tokens", "20")
        points = self.compare("fixed", "fixed:npu.vector.lanes=64", *shape, *prompts)
        for point, more in zip(points, ((), ("--set", "npu.vector.lanes=64"))):
            alone = chip.Run("--quiet", "--config", "fixed", *shape, *prompts, *more)
            self.assertEqual((self.out / point["folder"] / "stats.json").read_text(), alone.text("stats.json"))
        self.refuse(["--trajectory"], "compare", "fixed", "--data", "shape")
        self.refuse(["--layers", "--data shape"], "compare", "fixed", "--layers", "1")

    def test_the_timelines_are_one(self):
        points = self.compare("fixed", "fixed:bus.latency_ns=50", *ONE)
        merged = json.loads((self.out / "timeline.json").read_text())["traceEvents"]
        rest = list(merged)
        pids, tids = set(), set()
        for point in points:
            own = json.loads((self.out / point["folder"] / "timeline.json").read_text())["traceEvents"]
            part, rest = rest[:len(own)], rest[len(own):]
            offset = {k: part[0][k] - own[0][k] for k in ("pid", "tid")}
            self.assertFalse({e["pid"] for e in part} & pids or {e["tid"] for e in part} & tids, "numbers are shared between runs")
            pids |= {e["pid"] for e in part}
            tids |= {e["tid"] for e in part}
            for merged_event, event in zip(part, own):
                wanted = {**event, "pid": event["pid"] + offset["pid"], "tid": event["tid"] + offset["tid"]}
                if event["name"] == "process_name":
                    wanted["args"] = {"name": f"{point['name']}: {event['args']['name']}"}
                if event["name"] == "process_sort_index":
                    wanted["args"] = {"sort_index": event["args"]["sort_index"] + offset["pid"]}
                if event["name"] == "thread_sort_index":
                    wanted["args"] = {"sort_index": event["args"]["sort_index"] + offset["tid"]}
                self.assertEqual(merged_event, wanted)
        self.assertEqual(rest, [])

    def test_the_same_again_is_the_same_bytes(self):
        for folder in ("a", "b"):
            self.compare("fixed", "fixed:bus.latency_ns=50", *ONE, "--jobs", "1" if folder == "a" else "2", out=self.scratch / folder)
        for name in ("compare.json", "summary.txt", "timeline.json"):
            self.assertEqual((self.scratch / "a" / name).read_bytes(), (self.scratch / "b" / name).read_bytes(), name)

    def test_one_that_fails_is_reported_and_the_others_go_on(self):
        points = self.compare("fixed:decode.watchdog_us=1,memory.latency_ns=9000", "fixed", *ONE, code=1)
        self.assertIn("npu_timeout", points[0]["trouble"])
        self.assertNotIn("figures", points[0])
        self.assertEqual(points[1]["trouble"], "")
        self.assertIn("figures", points[1])
        self.assertNotIn("ratio", points[1])
        self.assertIn("failed: fixed:decode.watchdog_us=1", self.said)
        self.assertIn("no ratios: the first failed", self.said)

    def test_a_failed_point_says_what_to_change_and_a_long_name_has_a_label(self):
        small = "fixed:npu.window.bytes=65536,decode.swap=naive,memory.latency_ns=60"
        points = self.compare("fixed:npu.window.bytes=1298432,decode.swap=naive", small, *ONE, code=1)
        self.assertIn("raise npu.window.bytes", points[1]["trouble"])
        self.assertIn(f"\n[2] {small}\n", self.said)
        self.assertIn("\n[2]\n", self.said)
        self.assertIn("mapping: share of the time", self.said)

    def test_every_rung_of_the_ladder_runs_and_is_no_slower(self):
        points = self.compare(*(f"ladder/{p.stem}" for p in sorted((CONFIGS / "ladder").glob("[1-6]-*.json")) if ".latency" not in p.name),
                              "--model", "tiny-llada", "--generate", "32", "--steps", "16", "--prompts", chip.task_file("showcase"), "--limit", "1")
        self.assertEqual([p["trouble"] for p in points], 6 * [""])
        latencies = [p["figures"]["latency_us"] for p in points]
        for before, after in zip(latencies, latencies[1:]):
            self.assertLessEqual(after, 1.02 * before, latencies)  # so short an answer leaves nothing to draft
        self.assertLess(latencies[3], latencies[0] / 4)
        self.assertEqual(points[1]["figures"]["tokens_per_forward"], points[3]["figures"]["tokens_per_forward"])
        self.assertGreater(points[2]["figures"]["mapping_share"], 0.5)
        self.assertLess(points[3]["figures"]["mapping_share"], 0.3)
        self.assertGreater(points[3]["figures"]["bytes_staged"], 0)
        self.assertIn("mapping", self.said)

    def test_without_a_folder_only_the_table_is_left(self):
        before = set(pathlib.Path("/tmp").glob("dllm-vp-compare-*"))
        done = chip.call("compare", "fixed", *ONE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("latency us", done.stdout)
        self.assertEqual(set(pathlib.Path("/tmp").glob("dllm-vp-compare-*")) - before, set())

    def test_refused_before_anything_runs(self):
        out = self.scratch / "none"
        broken = self.write("broken.json", "{")
        (self.scratch / "taken").mkdir()
        self.write("taken/fixed", "")
        table = [
            ([], ["takes configurations"]),
            (["fixed", "fixd"], ["fixd", "did you mean fixed?"]),
            (["fixed", broken], ["broken.json", "is not JSON"]),
            (["fixed", "fixed:decode.cache=dual"], ["fixed:decode.cache=dual", "decode.loop"]),
            (["fixed", "fixed:"], ["fixed:", "path=value"]),
            (["fixed", "fixed:decode.cache"], ["decode.cache", "path=value"]),
            (["fixed", "fixed:decode.mbsd.latency=[[2,1],[1,1]],decode.retries=1"], ["decode.mbsd.latency"]),
            (["fixed", "--limit", "0"], ["--limit 0"]),
            (["fixed", "--generate", "40"], ["--generate 40"]),
            (["fixed", "--prompts", self.scratch / "no.jsonl"], ["no.jsonl"]),
            (["fixed", "--jobs", "0"], ["--jobs 0"]),
            (["fixed", "--jbos", "1"], ["--jbos", "did you mean --jobs?"]),
            (["fixed", "--set", "npu.arry=nx"], ["npu.arry", "did you mean npu.array?"]),
        ]
        for arguments, phrases in table:
            with self.subTest(arguments=arguments):
                self.refuse(phrases, "compare", "--model", "tiny-llada", *arguments, "--out", out)
                self.assertFalse(out.exists())
        self.refuse(["taken/fixed", "not a folder"], "compare", "fixed", "--out", self.scratch / "taken")
        self.refuse(["/dev/null/x"], "compare", "fixed", "--out", "/dev/null/x")
        done = chip.call("compare", "fixed", "--model", broken)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_an_interrupt_ends_all_of_it(self):
        out = self.scratch / "cut"
        process = subprocess.Popen([chip.PROGRAM, "compare", "fixed", "reference", "--jobs", "2", "--model", "tiny-llada", "--prompts",
                                    chip.task_file("arith"), "--out", out], cwd=chip.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(list(out.glob("*/timeline.json"))) < 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("SIGINT ended the comparison", complaint)
        left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if os.fsencode(out) in self.command(p)]
        self.assertEqual(left, [], "processes are still running")
        self.assertFalse((out / "compare.json").exists())

    @staticmethod
    def command(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
