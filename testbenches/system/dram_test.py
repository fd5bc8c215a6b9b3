"""dllm-vp dram as a user runs it: golden figures, every file it writes, traces of all forms, and what it refuses."""
import collections
import csv
import json
import random
import shutil
import subprocess
import sys
import unittest

import jsonschema

import chip
import dramsys_files

FAULT, USAGE = 1, 2
SCHEMA = json.loads((chip.ROOT / "tlm/platform/configs/dram_stats.schema.json").read_text())
BURST = 32


class Played:
    """One `dllm-vp dram` into a scratch folder."""

    def __init__(self, *arguments):
        self.folder = chip.scratch_folder()
        self.process = chip.call("dram", "--out", self.folder, *arguments, timeout=120)
        if self.process.returncode != 0:
            raise AssertionError(f"{arguments}: {self.process.stdout}{self.process.stderr}")
        self.stats = json.loads((self.folder / "stats.json").read_text())

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def rows(self, name):
        return list(csv.reader((self.folder / name).read_text().splitlines()))


class Dram(unittest.TestCase):
    def test_golden_figures(self):
        done = chip.call("dram", "--golden", timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("random, 64 outstanding", done.stdout)
        self.assertNotIn("NOT OK", done.stdout)
        self.assertIn("allowed", done.stdout)
        folder = chip.scratch_folder()
        brief = chip.call("dram", "--golden", "-q", "--out", folder, timeout=120)
        self.assertEqual((brief.returncode, brief.stderr), (0, ""))
        rows = json.loads((folder / "golden.json").read_text())
        self.assertEqual(brief.stdout.strip().splitlines(), [done.stdout.splitlines()[len(rows) + 1].strip()])
        for row in rows:
            self.assertTrue(row["ok"], row)
            off = row["ours"] / row["expected"] - 1
            self.assertLessEqual(abs(off), row["tolerance"] + 1e-6, row)
            if row["at_most"]:
                self.assertLessEqual(off, 0, row)

    def test_output_that_cannot_be_written(self):
        folder = chip.scratch_folder()
        (folder / "stats.json").mkdir()
        done = chip.call("dram", "-n", "1k", "-q", "--out", folder)
        self.assertEqual(done.returncode, FAULT)
        self.assertEqual(done.stderr.strip(), f"dllm-vp: {folder}/stats.json: cannot be written: Is a directory")
        self.assertEqual([path.name for path in folder.iterdir()], ["stats.json"])
        self.assertIn("the output could not be written", " ".join(chip.call("dram", "--help").stdout.split()))

    def test_orders_that_leave_bursts_unfilled_are_noted(self):
        order = "mapping.order=row-bank-column-group-channel"
        for arguments, noted in [(["--generate", "mixed"], False),
                                 (["--generate", "mixed", "--set", order], True),
                                 (["--generate", "mixed", "--set", order, "--shares", "q8=1"], False),
                                 (["--set", order], False),
                                 (["--set", order, "--set", "tagged.core_feed=2"], True)]:
            with self.subTest(arguments=arguments):
                notes = Played("-n", "1k", *arguments).stats["notes"]
                self.assertEqual(len(notes), noted)
                for note in notes:
                    self.assertIn("use order row-bank-column-group-quad-channel", note)

    def test_stats_follow_their_schema_and_add_up(self):
        for arguments in [("--generate", "stream", "-n", "20k"),
                          ("--generate", "random", "-n", "20k", "--reads", "0.6", "--config", "nano-64dq"),
                          ("--generate", "gemm", "--gemm", "32,256,256", "--outstanding", "8"),
                          ("--generate", "mixed", "-n", "5k", "--set", "tagged.core_feed=2"),
                          ("--generate", "strided", "-n", "5k", "--set", "controller.refresh=per_bank"),
                          ("--generate", "stream", "-n", "2k", "--mode", "stream")]:
            with self.subTest(arguments=arguments):
                stats = Played(*arguments).stats
                jsonschema.validate(stats, SCHEMA)
                bus = stats["data_bus"]
                self.assertAlmostEqual(bus["busy"] + sum(bus["idle"].values()), 1, delta=0.002)
                self.assertAlmostEqual(sum(stats["energy"]["parts_j"].values()), stats["energy"]["total_j"], delta=1e-15)
                streamed = arguments[-1] == "stream"
                if streamed:
                    self.assertIsNone(stats["checker"])
                else:
                    self.assertEqual(stats["checker"]["violations"], 0)
                self.assertEqual(stats["accesses"]["reads"] + stats["accesses"]["writes"], stats["traffic"]["requests"])
                self.assertLessEqual(stats["bandwidth"]["share_of_peak"], 1)
                for channel in [] if streamed else stats["channels"]:
                    for kind in ("RD", "WR", "ACT1"):
                        total = sum(bank.get(kind, 0) for bank in channel["banks"])
                        self.assertEqual(total, channel["commands"].get(kind, 0))

    def test_equal_seeds_give_equal_bytes(self):
        def files(seed):
            played = Played("--generate", "random", "-n", "5k", "--reads", "0.5", "--seed", seed, "--commands", "--timeline")
            return [played.bytes(name) for name in ("stats.json", "latency.csv", "commands.csv", "timeline.json")]

        first = files(1)
        self.assertEqual(first, files(1))
        self.assertNotEqual(first[2], files(2)[2])

    def test_stream_mode_stays_within_two_percent(self):
        """Bandwidth and energy over every pattern; only reads that go on regularly for long are served in one step."""
        patterns = {"stream": [], "stream with writes": ["--reads", "0.5"], "random": [], "strided": ["--stride", "64k"],
                    "gemm": ["--gemm", "64,1024,1024"], "mixed": []}
        for memory in ("lpddr5-6400-x16", "nano-64dq"):
            for name, extra in patterns.items():
                count = [] if name == "gemm" else ["-n", "2k"]
                cycle, stream = (Played(memory, "--generate", name.split()[0], *extra, *count, "--request-bytes", "4096",
                                        "--no-check", "--mode", mode).stats for mode in ("cycle", "stream"))
                for figure in (lambda s: s["bandwidth"]["bytes_per_second"], lambda s: s["energy"]["total_j"]):
                    with self.subTest(memory=memory, pattern=name):
                        self.assertAlmostEqual(figure(stream) / figure(cycle), 1, delta=0.02)
                self.assertEqual(stream["accesses"]["streamed_accesses"] > 1000, name == "stream")

    def test_latency_histogram(self):
        played = Played("--generate", "random", "-n", "5k", "--reads", "0.5")
        rows = played.rows("latency.csv")
        self.assertEqual(rows[0], ["direction", "from_clocks", "to_clocks", "from_ns", "to_ns", "count"])
        for direction in ("read", "write"):
            mine = [row for row in rows[1:] if row[0] == direction]
            self.assertEqual(sum(int(row[5]) for row in mine), played.stats["latency_ns"][direction]["count"])
            edges = [int(edge) for row in mine for edge in row[1:3]]
            self.assertEqual(edges, sorted(edges))

    def test_commands_are_legal_and_counted(self):
        """Every line in DRAMPower's form; banks are opened before they are used and closed before they are reopened."""
        for extra in ([], ["--set", "controller.page=closed"], ["--set", "controller.refresh=per_bank"],
                      ["--set", "channels=2"], ["--interval-ns", "200", "--set", "controller.power_down_after=16"]):
            with self.subTest(extra=extra):
                played = Played("--generate", "random", "-n", "4k", "--reads", "0.5", "--commands", *extra)
                channels = played.stats["channels"]
                names = ["commands.csv"] if len(channels) == 1 else [f"commands.{i}.csv" for i in range(len(channels))]
                for name, channel in zip(names, channels):
                    self.check_commands(played.rows(name), channel["commands"], played.stats["simulated"]["clocks"])

    def check_commands(self, rows, counted, end):
        counts = collections.Counter()
        open_rows, last = {}, -1
        for row in rows[:-1]:
            clock, name, rank, group, bank = int(row[0]), row[1], int(row[2]), int(row[3]), int(row[4])
            self.assertGreater(clock, last)
            last = clock
            counts[name] += 1
            is_column = name in ("RD", "WR", "RDA", "WRA")
            self.assertEqual(len(row), 8 if is_column else 7)
            self.assertEqual(rank, 0)
            self.assertLess(bank, 16)
            self.assertEqual(group, bank // 4)
            if name == "ACT":
                self.assertNotIn(bank, open_rows)
                open_rows[bank] = int(row[5])
            elif name == "PRE":
                del open_rows[bank]
            elif name == "PREA":
                open_rows.clear()
            elif is_column:
                self.assertIn(bank, open_rows)
                self.assertEqual(int(row[6]) % 16, 0)
                self.assertEqual(row[7], "00" * BURST)
                if name.endswith("A"):
                    del open_rows[bank]
            elif name == "REFA":
                self.assertFalse(open_rows)
            elif name == "REFP2B":
                self.assertNotIn(bank, open_rows)
                self.assertNotIn(bank + 8, open_rows)
            else:
                self.assertIn(name, ("PDEA", "PDXA", "PDEP", "PDXP"))
                self.assertEqual(name.endswith("P"), not open_rows)
        self.assertEqual(rows[-1][1:], ["END", "0", "0", "0", "0", "0"])
        self.assertEqual(int(rows[-1][0]), end)
        for ours, theirs in {"ACT": "ACT1", "RD": "RD", "WR": "WR", "RDA": "RDA", "WRA": "WRA", "PRE": "PRE",
                             "PREA": "PREab", "REFA": "REFab", "REFP2B": "REFpb"}.items():
            self.assertEqual(counts[ours], counted.get(theirs, 0), ours)
        self.assertEqual(counts["PDEA"] + counts["PDEP"], counted.get("PDE", 0))

    def test_drampower_takes_the_commands(self):
        program = shutil.which("drampower_cli")
        if program is None:
            self.skipTest("drampower_cli is not installed")
        folder = chip.scratch_folder()
        (folder / "memspec.json").write_text(json.dumps(dramsys_files.drampower_memspec()))
        (folder / "config.json").write_text(json.dumps(dramsys_files.DRAMPOWER))
        for refresh in ("all_bank", "per_bank"):
            played = Played("-n", "3k", "--commands", "--set", f"controller.refresh={refresh}")
            done = subprocess.run([program, "-c", str(folder / "config.json"), "-m", str(folder / "memspec.json"),
                                   "-t", str(played.folder / "commands.csv")], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("Total Energy", done.stdout)

    def test_timeline(self):
        played = Played("--generate", "random", "-n", "2k", "--reads", "0.7", "--timeline", "--commands")
        events = json.loads(played.bytes("timeline.json"))["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        slices = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                slices[names[e["tid"]]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
        self.assertEqual(len([n for n in slices if n.startswith("group")]), 16)
        commands = played.stats["channels"][0]["commands"]
        rows = sum(len(found) for name, found in slices.items() if name.startswith("group"))
        self.assertEqual(rows, commands["ACT1"])
        self.assertEqual(len(slices["data bus"]), commands["RD"] + commands["WR"])
        self.assertEqual(len(slices["command bus"]), sum(commands.values()))
        for name, found in slices.items():
            found.sort()
            for before, after in zip(found, found[1:]):
                self.assertLessEqual(before[1], after[0] + 1e-9, f"{name}: {before} {after}")

    def test_every_form_of_trace_plays_the_same(self):
        """Equal requests in four forms; as none names a time later than it can be served, all take the same clocks."""
        numbers = random.Random(5)
        requests = [(numbers.random() < 0.7, numbers.randrange(1 << 25) * BURST) for _ in range(3000)]
        folder = chip.scratch_folder()
        forms = {
            "absolute.stl": [f"0:\t{'read' if r else 'WRITE'}\t0x{a:x}\r\n" for r, a in requests],
            "relative.rstl": [f"0 ({BURST}) {'Read' if r else 'write'} {a:X}\n" for r, a in requests],
            "ramulator.trace": [f"{'LD' if r else 'ST'} {a}\n" for r, a in requests],
            "older.trace": [f"0x{a:x} {'R' if r else 'W'}\n" for r, a in requests],
            "dramsim3.trace": [f"0x{a:x} {'READ' if r else 'WRITE'} 0\n" for r, a in requests],
        }
        results = set()
        for name, lines in forms.items():
            (folder / name).write_text("".join(lines), newline="")
            stats = Played("--trace", folder / name).stats
            self.assertEqual(stats["accesses"]["reads"], sum(r for r, _ in requests), name)
            results.add(json.dumps([stats["simulated"], stats["channels"]]))
        self.assertEqual(len(results), 1)

    def test_trace_times(self):
        folder = chip.scratch_folder()
        trace = folder / "slow.stl"
        trace.write_text("".join(f"{100 * i}: read {32 * i:x}\n" for i in range(50)))
        stats = Played("--trace", trace, "--clock-mhz", "100", "--set", "controller.refresh=none").stats
        # The last comes at 4900 cycles of 10 ns, 8 clocks each, and is a row hit: RL + burst.
        self.assertEqual(stats["simulated"]["clocks"], 4900 * 8 + 17 + 2)

    def test_dramsys_simulation(self):
        folder = chip.scratch_folder()
        (folder / "a.stl").write_text("".join(f"{i}: read {32 * i:x}\n" for i in range(100)))
        setup = [{"type": "player", "clkMhz": 800, "name": "a.stl", "dataLength": 32},
                 {"clkMhz": 400, "name": "g", "dataLength": 64, "numRequests": 200, "rwRatio": 0.5, "seed": 3,
                  "addressDistribution": "random", "maxPendingReadRequests": 4, "maxPendingWriteRequests": 4},
                 {"type": "generator", "clkMhz": 400, "name": "h", "dataLength": 32, "numRequests": 50, "rwRatio": 1,
                  "addressDistribution": "sequential", "addressIncrement": 4096, "minAddress": 1 << 20}]
        config = dramsys_files.simulation(folder, setup)
        stats = Played("--config", config).stats
        jsonschema.validate(stats, SCHEMA)
        self.assertEqual(stats["traffic"]["requests"], 350)
        self.assertEqual(stats["accesses"]["read_bytes"] + stats["accesses"]["write_bytes"], 100 * 32 + 200 * 64 + 50 * 32)
        self.assertEqual(stats["channels"][0]["commands"].get("REFab", 0), 0)
        other = Played("--config", config, "--set", "mcconfig.RefreshPolicy=AllBank", "--generate", "stream", "-n", "10k")
        self.assertGreater(other.stats["channels"][0]["commands"]["REFab"], 0)
        self.assertEqual(other.stats["traffic"]["requests"], 10000)
        closed = [Played("--config", config, "--set", key + "mcconfig.PagePolicy=Closed").stats for key in ("", "simulation.")]
        self.assertGreater(closed[0]["channels"][0]["commands"].get("RDA", 0), 0)
        self.assertEqual(closed[0]["channels"], closed[1]["channels"])
        missing = [note for note in stats["notes"] if "missing, default used" in note]
        self.assertEqual(len(missing), 1)
        self.assertIn("AAD 8, WCKPST 1", missing[0])

    def test_list_and_help(self):
        for option in ("--list", "--help"):
            done = chip.call("dram", option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("lpddr5-6400-x16", chip.call("dram", "--list").stdout)


class PlatformOverrides(unittest.TestCase):
    """dllm-vp run --set on the description of its memory."""

    def call(self, assignment):
        return chip.call("run", "--prompt", "Compute 1+2", "--quiet", "--set", assignment, timeout=120)

    def test_a_memory_given_by_name_takes_keys(self):
        done = self.call("memory.config.channels=8")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("GB/s of 102.4", done.stdout)

    def test_unknown_keys_name_a_known_one(self):
        for assignment, phrases in [
            ("memory.dq=64", ["unknown key memory.dq", "known there are memory.model, memory.config, memory.mode",
                              "memory.config.channels"]),
            ("memory.channels=8", ["did you mean memory.config.channels?"]),
            ("memory.cofnig=x", ["did you mean memory.config?"]),
            ("memory.config.chanels=8", ["memory.config", "did you mean channels?"]),
            ("memory.config.controller.page=opened", ["controller.page", "did you mean open?"]),
            ("memory.config.timing.FAW.x=1", ["memory.config", "timing.FAW", "is not a number"]),
        ]:
            with self.subTest(assignment=assignment):
                done = self.call(assignment)
                self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                for phrase in phrases:
                    self.assertIn(phrase, done.stderr)


class BadInput(unittest.TestCase):
    def refuse(self, phrases, *arguments):
        done = chip.call("dram", *arguments, timeout=60)
        self.assertEqual(done.returncode, USAGE, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, f"more than one sentence for {arguments}:\n{done.stderr}")
        for phrase in phrases:
            self.assertIn(phrase, done.stderr, arguments)

    def test_options(self):
        for arguments, phrases in [
            (["--config", "lpddr5-6400-x61"], ["lpddr5-6400-x61", "did you mean lpddr5-6400-x16?"]),
            (["--genarate", "stream"], ["--genarate", "did you mean --generate?"]),
            (["--generate", "streem"], ["--generate streem", "stream, random"]),
            (["-n", "0"], ["--requests 0", "whole number"]),
            (["-n", "1Q"], ["--requests 1Q"]),
            (["-n", "99999999999999999999"], ["--requests"]),
            (["-n", "99999999999G"], ["--requests"]),
            (["--reads", "1.5"], ["--reads 1.5", "0 to 1"]),
            (["--reads", "nan"], ["--reads nan"]),
            (["--request-bytes", "0"], ["--request-bytes 0"]),
            (["--generate", "gemm", "--reads", "0.5"], ["--reads", "gemm"]),
            (["--generate", "gemm", "--gemm", "1,2"], ["--gemm 1,2", "M,N,K"]),
            (["--generate", "mixed", "--shares", "q5=1"], ["--shares q5=1", "q8, q4, q2 and q0"]),
            (["--generate", "mixed", "--shares", "q8=0"], ["shares", "all 0"]),
            (["--stride", "64"], ["--stride", "--generate strided"]),
            (["--trace", "x.stl", "--generate", "stream"], ["--generate", "--trace"]),
            (["--format", "stl"], ["--format", "without --trace"]),
            (["--trace", "nowhere.stl"], ["nowhere.stl", "No such file"]),
            (["--trace", "/"], ["is a directory"]),
            (["--commands"], ["--commands", "without --out"]),
            (["--golden", "--seed", "3"], ["--seed", "--golden"]),
            (["--list", "-q"], ["--quiet", "--list"]),
            (["--set", "timing.RBTP=1000"], ["REFI of 3125", "leaves no room"]),
            (["--set", "timing.FAW=9999999"], ["FAW of 9999999", "longer than REFI"]),
            (["--check", "--no-check"], ["--check", "--no-check"]),
            (["--mode", "stream", "--check"], ["--check", "--mode cycle"]),
            (["--mode", "stream", "--out", "/dev/null/x", "--commands"], ["--commands", "--mode cycle"]),
            (["--mode", "fast"], ["--mode fast", "cycle or stream"]),
            (["--first", "4Gi"], ["--first", "bytes"]),
            (["--range", "31"], ["address range of 31 bytes"]),
            (["--range", "4Ti"], ["--range"]),
            (["--set", "controller.refersh=none"], ["controller.refersh", "did you mean controller.refresh?"]),
            (["--set", "controller.refresh=sometimes"], ["controller.refresh", "sometimes"]),
            (["--set", "controller"], ["--set controller", "path=value"]),
            (["--set", "device.x=1"], ["--set device.x=1"]),
            (["--set", "channels=3"], ["channels"]),
            (["--out", "/dev/null/x"], ["--out /dev/null/x"]),
            (["one", "two"], ["--help"]),
        ]:
            with self.subTest(arguments=arguments):
                self.refuse(phrases, *arguments)

    def test_traces(self):
        folder = chip.scratch_folder()
        for name, text, phrases in [
            ("trace.stl", "0: read 0\n\n1: raed 20\n", ['trace.stl line 3: "raed": expected read or write']),
            ("empty.stl", "# nothing\n", ["empty.stl", "has no requests"]),
            ("far.stl", "0: read ffffffffff\n", ["far.stl line 1: address 0xffffffffff", "has only"]),
            ("odd.trace", "hello world\n", ["odd.trace line 1", "expected LD, ST, R or W"]),
            ("cut.trace", "0x40 READ 1\n0x40 REA", ["cut.trace line 2", "READ or WRITE"]),
        ]:
            path = folder / name
            path.write_text(text)
            with self.subTest(name=name):
                self.refuse(phrases, "--trace", path)

    def test_nothing_half_written(self):
        out = chip.scratch_folder() / "out"
        trace = chip.scratch_folder() / "late.stl"
        trace.write_text("0: read 0\n" * 5000 + "oops\n")
        self.refuse(["late.stl line 5001"], "--trace", trace, "--out", out, "--commands", "--timeline")
        self.assertEqual(list(out.iterdir()), [])

    def test_dramsys_files(self):
        folder = chip.scratch_folder()
        setup = [{"type": "player", "clkMhz": 800, "name": "gone.stl", "dataLength": 32}]
        config = dramsys_files.simulation(folder, setup)
        self.refuse(["gone.stl", "No such file"], "--config", config)
        self.refuse(["mcconfig.Schedular", "did you mean"], "--config", config, "--set", "mcconfig.Schedular=Fifo")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
