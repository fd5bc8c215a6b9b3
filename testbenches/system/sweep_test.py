"""dllm-vp sweep: points run, shared, killed in the middle and gone on with, and everything that can be wrong."""
import contextlib
import csv
import io
import json
import os
import pty
import signal
import sqlite3
import subprocess
import time
import unittest

import jsonschema

import chip

USAGE = 2
CONFIGS = chip.ROOT / "tlm/platform/configs"
EXAMPLE = chip.ROOT / "tlm/platform/sweep/example.json"
RUN = {"model": "tiny-fdllm2", "config": "fixed", "prompt": ["Sort 9, 4, 7"], "generate": 32}
LANES = {"npu.vector.lanes": [8, 16, 32], "bus.latency_ns": [1, 20]}


class Scratch(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.scratch = chip.scratch_folder()
        self.database = self.scratch / "spec.sqlite"

    def spec(self, **keys):
        path = self.scratch / "spec.json"
        document = {"name": "lanes", "run": RUN, "method": "grid", "parameters": LANES,
                    "objectives": {"total.latency_us": "min", "total.energy.system_pj": "min"}, **keys}
        path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
        return path

    def sweep(self, *arguments, code=0, **more):
        done = chip.call("sweep", *arguments, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def refuse(self, phrases, *arguments, code=USAGE):
        done = self.sweep(*arguments, code=code, timeout=60)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)

    def ask(self, sql, database=None):
        with contextlib.closing(sqlite3.connect(database or self.database)) as connection:
            return connection.execute(sql).fetchall()

    def rows(self, database=None):
        """Everything that does not depend on the clock."""
        return {table: self.ask(f"SELECT {columns} FROM {table} ORDER BY 1, 2", database)
                for table, columns in (("sweep", "id, name, spec, version, revision, digest"),
                                       ("point", "key, arguments, state, reason, exit_code, seed, version, revision, stats, owner"),
                                       ("member", "sweep, ordinal, key, parameters"),
                                       ("result", "key, figure, value, kind"))}


    def states(self):
        """Points by state; none while the database is being made."""
        try:
            return dict(self.ask("SELECT state, count(*) FROM point GROUP BY state")) if self.database.exists() else {}
        except sqlite3.OperationalError:
            return {}


class Sweep(Scratch):
    def test_results_are_those_of_the_runs_alone(self):
        done = self.sweep(self.spec())
        self.assertEqual(self.ask("SELECT state, count(*) FROM point GROUP BY state"), [("done", 6)])
        self.assertEqual([json.loads(p) for p, in self.ask("SELECT parameters FROM member ORDER BY ordinal")],
                         [{"npu.vector.lanes": lanes, "bus.latency_ns": ns} for lanes in (8, 16, 32) for ns in (1, 20)])
        arguments, stats = self.ask("SELECT arguments, stats FROM member JOIN point USING(key) WHERE ordinal = 4")[0]
        alone = chip.Run("--quiet", "--timeline-prompts", "0", "--config", "fixed", "--prompt", RUN["prompt"][0], "--generate", "32",
                         "--set", "npu.vector.lanes=16", "--set", "bus.latency_ns=20")
        self.assertEqual(json.loads(stats), alone.json("stats.json"))
        again = chip.Run(*json.loads(arguments))
        self.assertEqual(again.text("stats.json"), alone.text("stats.json"))
        total = alone.json("stats.json")["total"]
        self.assertEqual(self.ask("SELECT figure, goal, value, kind FROM objective WHERE ordinal = 4"),
                         [("total.latency_us", "min", total["latency_us"], "measured"),
                          ("total.energy.system_pj", "min", total["energy"]["system_pj"]["value"], "modelled")])

        latency = dict(self.ask("SELECT ordinal, value FROM objective WHERE figure = 'total.latency_us'"))
        energy = dict(self.ask("SELECT ordinal, value FROM objective WHERE figure = 'total.energy.system_pj'"))
        best = {p for p in latency if not any(latency[q] <= latency[p] and energy[q] <= energy[p] and
                                              (latency[q], energy[q]) != (latency[p], energy[p]) for q in latency)}
        shown = self.sweep("--show", self.database).stdout
        self.assertEqual({int(line.split()[0]) for line in shown.splitlines() if line.split()[1:2] == ["*"]} - {0}, best)
        self.assertIn(shown.strip(), done.stdout)
        self.assertIn("modelled (stats.json names the formula): total.energy.system_pj", shown)
        self.assertNotIn("\x1b", done.stdout)
        table = list(csv.DictReader(io.StringIO(self.sweep("--show", self.database, "--csv").stdout)))
        self.assertEqual({int(row["point"]): float(row["total.latency_us"]) for row in table}, latency)
        self.assertEqual({int(row["point"]) for row in table if row["pareto"] == "1"}, best)

    def test_a_point_is_run_once_for_all_sweeps_of_a_database(self):
        self.sweep(self.spec())
        before = self.rows()["point"]
        spec = self.spec(name="more", parameters={"npu.vector.lanes": [16, 64], "bus.latency_ns": [1]})
        self.sweep(spec, "--db", self.database)
        self.assertEqual(len(self.ask("SELECT * FROM point")), 7)
        self.assertEqual(len(self.ask("SELECT * FROM member")), 8)
        self.assertTrue(set(before) < set(self.rows()["point"]))
        seconds = self.ask("SELECT key, seconds FROM point ORDER BY key")
        self.sweep(spec, "--db", self.database)
        self.assertEqual(self.ask("SELECT key, seconds FROM point ORDER BY key"), seconds, "something ran again")
        self.assertIn("also in this database: 1 lanes", self.sweep("--show", self.database).stdout)
        self.assertIn("lanes\n", self.sweep("--show", self.database, "--sweep", "lanes").stdout)
        self.refuse(["--sweep lane", "lanes, more"], "--show", self.database, "--sweep", "lane")

    def test_what_a_run_reads_is_part_of_its_key(self):
        prompts = self.scratch / "prompts.jsonl"
        config = self.scratch / "mine.json"
        chip.write_lines(prompts, [{"id": "a", "prompt": "Sort 9, 4, 7"}])
        config.write_text(json.dumps({"base": "fixed", "name": "mine", "description": "x", "set": {"bus.latency_ns": 3}}))
        spec = self.spec(run={"config": str(config), "prompts": str(prompts), "generate": 32}, method="list", parameters=None,
                         points=[{"npu.vector.lanes": 8}])
        self.sweep(spec)
        chip.write_lines(prompts, [{"id": "a", "prompt": "Sort 9, 4, 6"}])
        self.sweep(spec)
        config.write_text(config.read_text().replace("3}", "4}"))
        self.sweep(spec)
        self.sweep(spec)
        self.assertEqual(len(self.ask("SELECT * FROM point")), 3)
        self.assertEqual(len(self.ask("SELECT * FROM sweep")), 3)

        trajectory = self.scratch / "decisions.json"
        shipped = (CONFIGS.parent / "trajectories/one-token.json").read_text()
        spec = self.spec(run={"config": "fixed", "data": "shape", "trajectory": str(trajectory), "prompt-tokens": [20], "generate": 32},
                         method="list", parameters=None, points=[{"npu.vector.lanes": 8}])
        for text in (shipped, shipped + "\n", shipped):
            trajectory.write_text(text)
            self.sweep(spec)
        self.assertEqual(len(self.ask("SELECT * FROM point")), 5)

    def test_a_failing_point_keeps_its_reason_and_stops_nobody(self):
        # 3 channels are no memory, which is known at once; 10 simulated microseconds are too short, which the run finds out.
        points = [{"memory.config.channels": 3}, {"memory.config.channels": 2}, {"--limit-us": 10}]
        spec = self.spec(run={**RUN, "config": "reference"}, method="list", parameters=None, points=points)
        done = self.sweep(spec, code=1)
        states = self.ask("SELECT state, reason, exit_code FROM member JOIN point USING(key) ORDER BY ordinal")
        self.assertEqual([s for s, _, _ in states], ["failed", "done", "failed"])
        self.assertIn("memory.config", states[0][1])
        self.assertEqual((states[0][2], states[2][2]), (2, 1))
        for ordinal in (1, 3):
            self.assertIn(f"failed: point {ordinal}: {states[ordinal - 1][1]}\n", done.stdout)
        self.assertEqual(self.ask("SELECT count(*) FROM result r JOIN point p USING(key) WHERE state <> 'done'"), [(0,)])
        seconds = self.ask("SELECT key, seconds FROM point ORDER BY key")
        self.sweep(spec, code=1)
        self.assertEqual(self.ask("SELECT key, seconds FROM point ORDER BY key"), seconds, "something ran again")
        self.sweep(spec, "--retry", code=1)
        changed = set(self.ask("SELECT key, seconds FROM point")) - set(seconds)
        self.assertEqual({k for k, _ in changed}, {k for k, in self.ask("SELECT key FROM member WHERE ordinal = 3")})

    def test_the_other_methods_run_as_well(self):
        for method in ("random", "latin_hypercube"):
            spec = self.spec(name=method, method=method, points=3, parameters={"bus.latency_ns": {"from": 1, "to": 50}})
            self.sweep(spec, "--db", self.database)
        values = [json.loads(p)["bus.latency_ns"] for p, in self.ask("SELECT parameters FROM member WHERE sweep = 2")]
        self.assertEqual({int((v - 1) / 49 * 3) for v in values}, {0, 1, 2})

    def test_a_terminal_sees_how_far_it_is(self):
        main, side = pty.openpty()
        with subprocess.Popen([chip.PROGRAM, "sweep", self.spec(), "--jobs", "1"], stdout=side, stderr=side, cwd=chip.ROOT) as process:
            os.close(side)
            said = b""
            try:
                while part := os.read(main, 4096):
                    said += part
            except OSError:
                pass  # the other side is closed
            self.assertEqual(process.wait(), 0)
        os.close(main)
        self.assertIn("\r\x1b[K3 of 6 points done, about", said.decode())

    def test_the_example_and_every_specification_here_obey_the_schema(self):
        schema = json.loads((CONFIGS / "sweep.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        for path in (EXAMPLE, self.spec(), self.spec(method="random", points=3, parameters={"--threshold": {"from": 0, "to": 1}})):
            jsonschema.validate(json.loads(path.read_text()), schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({**json.loads(EXAMPLE.read_text()), "seeed": 1}, schema)


class Killed(Scratch):
    PARAMETERS = {"npu.vector.lanes": [8, 16, 24, 32], "bus.latency_ns": [1, 10, 20]}

    def setUp(self):
        super().setUp()
        self.temporary = self.scratch / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def start_and_end(self, number):
        """Starts the sweep, ends it with this signal when something is done and something in work."""
        process = subprocess.Popen([chip.PROGRAM, "sweep", self.spec(parameters=self.PARAMETERS), "--jobs", "2"], cwd=chip.ROOT,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.states().get("done", 0) < self.done_before + 2:
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.done_before = self.states()["done"]
        return process.returncode, said

    def test_a_killed_sweep_goes_on_without_a_lost_or_doubled_point(self):
        undisturbed = self.scratch / "undisturbed.sqlite"
        self.sweep(self.spec(parameters=self.PARAMETERS), "--db", undisturbed)
        self.done_before = 0
        for _ in range(2):
            code, _ = self.start_and_end(signal.SIGKILL)
            self.assertEqual(code, -signal.SIGKILL)
            self.assertGreater(self.states().get("running", 0), 0, "nothing was in work when it was killed")
        finished = dict(self.ask("SELECT key, seconds FROM point WHERE state = 'done'"))
        self.sweep(self.spec(parameters=self.PARAMETERS), environment=self.environment)
        self.assertEqual(self.rows(), self.rows(undisturbed))
        self.assertEqual(list(self.temporary.iterdir()), [], "files of killed programs are left")
        self.assertEqual({k: s for k, s in self.ask("SELECT key, seconds FROM point") if k in finished}, finished,
                         "a finished point ran again")

    def test_an_interrupted_sweep_says_so_and_gives_its_points_back(self):
        self.done_before = 0
        code, said = self.start_and_end(signal.SIGINT)
        self.assertEqual(code, 128 + signal.SIGINT, said)
        self.assertEqual(said, "dllm-vp: SIGINT ended the sweep; the same command goes on with it\n")
        self.assertNotIn("running", self.states())

    def test_two_at_a_time_share_the_work(self):
        spec = self.spec(parameters=self.PARAMETERS)
        both = [subprocess.Popen([chip.PROGRAM, "sweep", spec, "--jobs", "1"], cwd=chip.ROOT, stdout=subprocess.PIPE, text=True)
                for _ in range(2)]
        said = [process.communicate(timeout=120)[0] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(said[0], said[1])
        self.assertEqual(self.states(), {"done": 12})


class BadInput(Scratch):
    def test_specifications(self):
        path = self.scratch / "spec.json"
        table = [
            ("", ["spec.json: is not JSON"]),
            ("[" * 100000, ["spec.json: nests deeper"]),
            ("\0\1\2\377", ["spec.json: is not JSON"]),
            (json.dumps({"name": "x"}), ["spec.json: method: is missing"]),
        ]
        for content, phrases in table:
            path.write_text(content)
            self.refuse(phrases, path)
        self.refuse(["spec.json: seeed: unknown key; did you mean seed?"], self.spec(seeed=3))
        self.refuse(["spec.json", "--modle=x: unknown option; did you mean --model?"], self.spec(run={"modle": "x"}))
        self.refuse(["spec.json", "unknown key npu.vector.lanez", "npu.vector.lanes"], self.spec(parameters={"npu.vector.lanez": [1, 2]}))
        self.refuse(["spec.json", "tiny-llama", "tiny-llada"], self.spec(run={"model": "tiny-llama"}))
        self.refuse(["no point meets them"], self.spec(constraints=["npu.vector.lanes > 99"]))
        self.refuse(["has 6 points and the limit is 5", "--yes"], self.spec(limit=5))
        self.refuse(["asks for more than 1000000 points"], self.spec(parameters={f"k{i}": list(range(100)) for i in range(9)}), "--yes")
        self.refuse(["is a directory"], self.scratch)
        self.refuse(["cannot be read"], self.scratch / "absent.json")
        self.assertFalse(self.database.exists(), "a refused sweep left a database")

    def test_an_unknown_objective_is_named_and_costs_no_results(self):
        points = {"method": "list", "parameters": None, "points": [{"npu.vector.lanes": 8}]}
        self.refuse(["objectives.total.latency_uz", "did you mean total.latency_us?"], self.spec(objectives={"total.latency_uz": "min"}, **points))
        seconds = self.ask("SELECT seconds FROM point")
        self.sweep(self.spec(**points))
        self.assertEqual(self.ask("SELECT seconds FROM point"), seconds)

    def test_command_lines(self):
        self.refuse(["--show"])
        self.refuse(["--jobs", "has no effect with --show"], "--show", self.database, "--jobs", "2")
        self.refuse(["--csv", "has no effect without --show"], self.spec(), "--csv")
        self.refuse(["--jobs 0"], self.spec(), "--jobs", "0")
        self.refuse(["--paretoo: unknown option; did you mean --pareto?"], self.spec(), "--paretoo")
        self.refuse(["cannot be opened as a database"], "--show", self.scratch / "absent.sqlite")

    def test_databases(self):
        self.database.write_text("no database, whatever it is called " * 40)
        self.refuse(["spec.sqlite: is no database, or a damaged one"], self.spec())
        self.refuse(["spec.sqlite: is no database, or a damaged one"], "--show", self.database)
        self.database.unlink()
        self.refuse(["cannot be opened as a database"], self.spec(), "--db", self.scratch / "no" / "folder.sqlite")
        self.ask("CREATE TABLE t(x)")
        self.refuse(["is a database of another program"], self.spec())
        self.database.unlink()
        self.sweep(self.spec(parameters={"npu.vector.lanes": [8]}))
        self.ask("PRAGMA user_version = 9")
        self.refuse(["has form 9 and this version reads form 1"], self.spec())

    def test_a_locked_database_is_said_after_a_while(self):
        self.sweep(self.spec(parameters={"npu.vector.lanes": [8]}))
        connection = sqlite3.connect(self.database, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        self.refuse(["spec.sqlite: is locked by another program"], self.spec(), code=1)
        connection.close()
        self.sweep(self.spec())

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount the small file system this needs")
    def test_a_full_disk_is_said_and_the_sweep_goes_on_when_there_is_room(self):
        small = self.scratch / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], check=True)
        try:
            database = small / "x.sqlite"
            self.refuse(["x.sqlite", "disk"], self.spec(), "--db", database, code=1)
            subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
            self.sweep(self.spec(), "--db", database)
            self.sweep(self.spec())
            self.assertEqual(self.rows(), self.rows(database))
        finally:
            subprocess.run(["umount", small], check=True)


if __name__ == "__main__":
    unittest.main()
