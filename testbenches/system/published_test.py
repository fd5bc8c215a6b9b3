"""scripts/published: its tables against figures reckoned by hand, and on slices that are quick: finished ones are not
run again, wrong options are refused.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import unittest
from unittest import mock

import jsonschema

import chip

SCRIPT = chip.ROOT / "scripts/published"
sys.path.insert(0, str(chip.ROOT / "scripts"))
sys.dont_write_bytecode = True
from published_tables import break_even, causes, choices, crossing, design  # noqa: E402
from published_tables import energy_limit, four, ladder, pairs, sensitivity, what_if  # noqa: E402
from published_tables.document import resolved  # noqa: E402


def published(*arguments):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=chip.ROOT,
        env={**os.environ, "DLLM_VP": str(chip.PROGRAM)},
    )


def table(document, title):
    return next(t for t in document["tables"] if t["title"].startswith(title))


def checked(path):
    """A document, as its schema wants it."""
    document = json.loads(path.read_text())
    jsonschema.validate(document, json.loads((chip.CONFIGS / "published.schema.json").read_text()))
    return document


class Simulated(unittest.TestCase):
    def test_four_on_slices(self):
        out = chip.scratch_folder()
        arguments = (
            "four",
            "--model",
            "1.5b",
            "--frozen",
            "3",
            "--slices",
            "1,2",
            "--prompt",
            "16",
            "--reply",
            "32",
            "--trajectory",
            "every-token",
            "--seeds",
            "1",
            "--without",
            "prices",
            "--out",
            out,
        )
        first = published(*arguments)
        self.assertEqual(first.returncode, 0, first.stderr)
        kept = sorted((out / "runs").iterdir())
        self.assertEqual(len(kept), 8)
        document = checked(out / "four.json")
        columns = [c["name"] for c in table(document, "Figures")["columns"]]
        rows = {row[0]: dict(zip(columns, row)) for row in table(document, "Figures")["rows"]}
        self.assertEqual(list(rows), ["Baseline", "Compression, setting 3", "WIFiV-LPDDR", "Full, setting 3"])
        # Bytes of all 28 layers and the head, whatever the slices: forwards times codes.
        layer, head = 1536 * (2 * 1536 + 2 * 256 + 3 * 8960), 1536 * 151936
        base = rows["Baseline"]
        whole = base["forwards"] * (28 * layer + head) * (1 + 2 / 32)
        self.assertLess(abs(base["read q8"] * 1e9 / whole - 1), 0.2, (base, whole))
        gains = next(c for c in document["charts"] if c["type"] == "gains" and c["what"] == "latency")["groups"][0][
            "values"
        ]
        for gain, row in zip(gains, list(rows.values())[1:]):
            self.assertAlmostEqual(gain, base["time"] / row["time"], places=9)
        # Without the price of chip and leakage what is left is the memory's.
        alone = dict(zip(("configured", "memory"), table(document, "Gain over a Baseline that lacks")["rows"]))[
            "memory"
        ]
        memory = [sum(r[p] for p in ("dram array", "dram io", "conversion")) for r in rows.values()]
        for cell, own in zip(alone[2::2], memory[1:]):
            self.assertAlmostEqual(cell, memory[0] / own, places=9)
        for said in ("measured", "modelled", "quoted", "2.88", "3.79"):
            self.assertIn(said, first.stdout)
        self.assertGreater(
            len([a for a in document["assumed"] if a["kind"] == "choice" and a["configuration"] == "nano/full"]), 20
        )
        before = [p.stat().st_mtime_ns for p in kept]
        again = published(*arguments, "--quiet")
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual([p.stat().st_mtime_ns for p in sorted((out / "runs").iterdir())], before)

    def test_wrong_options(self):
        for arguments, said in (
            (["four", "--slices", "3,1"], "--slices"),
            (["four", "--slices", "1,99"], "--slices"),
            (["four", "--slices", "a,b"], "--slices"),
            (["four", "--reply", "0"], "--reply"),
            (["four", "--program", "/nowhere/vp"], "/nowhere/vp"),
            (["five"], "five"),
            (["four", "--seeds", "0"], "--seeds"),
            (["ladder", "--model", "7b"], "ladder takes 8b"),
            (["pairs", "--widest", "1"], "--widest"),
            (["sensitivity", "--choice", "no such", "--out", str(chip.scratch_folder())], "price of static"),
            (
                ["sensitivity", "--trajectory", "nowhere", "--quiet", "--out", str(chip.scratch_folder())],
                "one of every-token",
            ),
            (
                ["four", "--model", "1.5b", "--trajectory", "nowhere", "--quiet", "--out", str(chip.scratch_folder())],
                "nowhere",
            ),
        ):
            done = published(*arguments)
            self.assertIn(done.returncode, (1, 2))
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


def options(**more):
    return argparse.Namespace(
        **{
            "models": ["1.5b"],
            "choices": [],
            "frozen": None,
            "prompt": 160,
            "reply": 32,
            "trajectory": "fast-dllm-v2",
            "slices": (1, 2),
            "refine": 3,
            "widest": 2,
            "by": "latency",
            **more,
        }
    )


def figures(latency, compute=1.0, io=1.0):
    return {
        "latency_us": latency,
        "prefill_us": 0.0,
        "forwards": 1,
        "prefill_uj": 0.0,
        "channels": {},
        "read": {"q8": 1},
        "rows_opened": 0,
        "energy_uj": {
            p: {"compute": compute, "dram_io": io}.get(p, 0.0)
            for p in ("dram_array", "dram_io", "conversion", "compute", "sram", "static", "cpu")
        },
    }


class ByHand(unittest.TestCase):
    """Against a chip that is a formula here."""

    def told(self, module, formula):
        """`module` finds the formula's figures where it would simulate."""

        def whole_models(_options, _runs, points):
            return {p: formula(p.configuration, json.loads(p.change)) for p in points}

        patch = mock.patch.object(module, "whole_models", whole_models)
        patch.start()
        self.addCleanup(patch.stop)

    def test_where_a_gain_becomes_one(self):
        # 2 / x is straight in the logarithms: exactly 2.
        found = crossing.verdict([(1, 2.0), (4, 0.5)])
        self.assertEqual((found.kind, found.bracket, found.places), ("crosses", (1, 4), 1))
        self.assertAlmostEqual(found.value, 2)
        self.assertAlmostEqual(
            crossing.verdict([(0, math.e), (2, 1 / math.e)]).value, 1
        )  # from 0 on straight in the value
        self.assertEqual(crossing.verdict([(1, 2.0), (2, 0.5), (3, 2.0)]).places, 2)
        self.assertEqual(crossing.verdict([(1, 2.0), (4, 1.5)]).kind, "always")
        self.assertEqual(crossing.verdict([(1, 1.0), (4, 0.5)]).kind, "never")

    def test_brackets_are_halved_around_the_crossing(self):
        # Full takes 100 + 3 clocks, WIFiV 400: it stops to pay at 100 clocks.
        def formula(configuration, change):
            clocks = int(change["set"][0].split("=")[1]) if "set" in change else 0
            return figures(100 + 3 * clocks if configuration == "full" else 400)

        self.told(break_even, formula)
        rows = break_even.simulated(options(choices=["conversion"]), None, "1.5b")
        points = next(points for _, pair, i, points in rows if pair == ("full", "wifiv") and i == 0)
        found = crossing.verdict(points)
        self.assertLess(found.bracket[0], 100)
        self.assertGreaterEqual(found.bracket[1], 100)
        self.assertLessEqual(found.bracket[1] - found.bracket[0], 40)  # from 16 and 255
        self.assertLess(abs(found.value - 100), 5)

    def test_prices_are_solved(self):
        # 10 + 2 f = 6 + 10 f at f = 1/2: pays below.
        found, at_none, at_most = crossing.priced(10, 6, 2, 10)
        self.assertEqual((found.kind, found.value), ("crosses", 0.5))
        self.assertAlmostEqual(at_none, 10 / 6)
        self.assertAlmostEqual(at_most, (10 + 100 * 2) / (6 + 100 * 10))
        self.assertEqual(crossing.priced(10, 6, 10, 2)[0].kind, "always")
        self.assertEqual(crossing.priced(6, 10, 2, 10)[0].kind, "never")
        self.assertEqual(
            crossing.priced(10, 6, 2.0, 2.001)[0].kind, "always"
        )  # crosses at 4000 times, which nobody asks
        self.assertEqual(crossing.priced(10, 6, 0, 1)[0].value, 4)  # of Full alone, as conversion is
        self.assertEqual(crossing.priced(10, 6, 2, 2)[0].kind, "always")  # the same counts

    def test_pairs_multiply_or_do_not(self):
        # Time of Full: clocks double it, 16-token bursts add 50 %; together a fifth more than the product.
        def formula(configuration, change):
            slow, late = "npu.dma.issue_cycles=4" in change.get("set", []), "bus.latency_ns=50" in change.get("set", [])
            factor = (2 if slow else 1) * (1.5 if late else 1) * (1.2 if slow and late else 1)
            return figures(
                100 * factor if configuration == "full" else 600, compute=1 if configuration == "full" else 3
            )

        self.told(sensitivity, formula)
        (section,) = pairs.pairs(options(choices=["DMA, clocks", "bus, ns"]), None)
        rows = {(row[0], row[1]): row[2:] for row in section.tables[0].rows}
        both = rows["DMA, clocks per burst 4", "bus, ns 50"]
        self.assertEqual([round(x, 6) for x in both], [3, 4, round(6 / 3.6, 6), 2, round(1 / 1.2, 6)])
        self.assertEqual([round(x, 6) for x in rows["DMA, clocks per burst 4", "bus, ns 1"]], [3, 6, 3, 3, 1])
        self.assertIn("1 of 2 pairs", section.tables[0].notes[0])
        self.assertIn("-17 %", section.tables[0].notes[0])
        self.assertIn("The choices multiply.", section.tables[1].notes[0])

    def test_gains_are_means_over_seeds(self):
        # Full takes 100, 200 and 300 by seed, at every setting: gains of 12, 6 and 4.
        self.told(four, lambda c, change: figures(100 * change.get("seed", 1) if c == "full" else 1200))
        section = four.section(options(seeds=3), None, "1.5b")
        rows = {row[0]: row for row in next(t for t in section.tables if t.title == "Gain over Baseline").rows}
        at = len(four.GAIN_COLUMNS)  # Full's latency is the last but one
        self.assertEqual(
            [round(rows[n][at], 9) for n in ("MATH", "mean", "lowest of 3 seeds", "highest of 3 seeds")],
            [round(22 / 3, 9), round(22 / 3, 9), 4, 12],
        )
        headline = next(c for c in section.charts if c["type"] == "headline")
        self.assertAlmostEqual(headline["rows"][0]["ours"], 22 / 3)
        self.assertIn("4.00 to 12.00", headline["notes"][0])

    def test_effects_are_put_back_to_what_is_configured(self):
        # Each effect costs Full its own time; the last row has them all, the first none.
        costs = {"refresh": 1, "rows": 2, "conversion": 4, "scatter": 8, "cpu": 16}
        self.assertEqual(tuple(costs), causes.EFFECTS)

        def formula(configuration, change):
            off = [
                n
                for n, (_, _, c) in causes.WITHOUT.items()
                if n in costs
                and all(
                    set(v) <= set(change.get(k, [])) if isinstance(v, list) else change.get(k) == v
                    for k, v in c.items()
                )
            ]
            return figures(100 + sum(costs[n] for n in costs if n not in off) if configuration == "full" else 1000)

        self.told(causes, formula)
        section = causes.put_back(options(), None, "1.5b")
        chart = next(c for c in section.charts if c["what"] == "latency" and c["compares"].startswith("Full"))
        self.assertEqual(
            [s["name"] for s in chart["steps"]],
            ["refresh", "banks and rows", "conversion", "scattered channels and entries", "the CPU's work"],
        )
        self.assertEqual(
            [round(1000 / s["value"]) for s in (chart["start"], *chart["steps"], chart["end"])],
            [100, 101, 103, 107, 115, 131, 131],
        )

    def test_the_energy_of_a_read_at_best(self):
        cost = energy_limit.Prices(core=2.5, down=1.5, convert=0.5)
        self.assertEqual([cost.read(b) for b in (8, 4, 2, 0)], [32, 26.5, 23.5, 0])
        self.assertAlmostEqual(energy_limit.gain(cost, {8: 0.5, 0: 0.5}, 0.5), 4 / 3)
        left = energy_limit.share_left(3.0, 0.8)
        self.assertAlmostEqual(1 / (0.2 + 0.8 * left), 3.0)
        self.assertIsNone(energy_limit.share_left(6.0, 0.8))  # 5 is all there is
        factor = energy_limit.scale_for(2.0, 100, 20, 60)
        self.assertAlmostEqual(100 / (20 + 60 * factor), 2.0)
        self.assertIsNone(energy_limit.scale_for(10.0, 100, 20, 60))
        # 28 layers of 3 x 1536 x 8960 of all that a forward of the 1.5B model reads.
        read = what_if.weights("1.5b")
        self.assertEqual(read["feed-forward"], 28 * 3 * 1536 * 8960)
        self.assertEqual(sum(read.values()), 28 * 1536 * (2 * 1536 + 2 * 256 + 3 * 8960) + 1536 * 151936)

    def test_changes_merge_and_become_arguments(self):
        change = design.merged(
            {"set": ["a=1"], "price": {"sram": 2}, "distribution": {"run": 4}, "clock": 4},
            {"set": ["b=2"], "price": {"sram": 3}, "distribution": {"tokens_per_forward": 8}, "clock": 0.5},
        )
        decided = {"run": 4, "tokens_per_forward": 8}
        self.assertEqual(change, {"set": ["a=1", "b=2"], "price": {"sram": 6}, "distribution": decided, "clock": 2})
        words = design.arguments(
            options(),
            design.point(
                "1.5b", "full", change, {"wide": ["c=3"], "uncompressed": ["d=4"], "setting": 6, "prompt": 33}
            ),
            2,
        )
        self.assertEqual(
            [w for f, w in zip(words, words[1:]) if f == "--set"],
            ["a=1", "b=2", "c=3", "decode.compression.dat.setting=6", "npu.clock_hz=9760000000"],
        )
        self.assertEqual(words[words.index("--context") + 1], "96")  # 33 and 32, in blocks of 32
        doubled = design.arguments(options(), design.point("7b", "wifiv", {"bandwidth": 8}), 2)
        self.assertIn("memory.config.channels=64", doubled)  # of 8 plain ones
        self.assertIn("memory.config.energy.refresh_all_nj=5.6", doubled)  # half of each of the 32 configured ones
        given = words[words.index("--trajectory") + 1]
        self.assertEqual(
            (given["run"], given["tokens_per_forward"], given["drift"]), (4, 8, {"least": 0.05, "most": 0.35})
        )
        self.assertEqual(
            design.line((1, {"x": 5, "y": {"z": 1}}), (3, {"x": 9, "y": {"z": 1}}), 28), {"x": 59, "y": {"z": 1}}
        )

    def test_a_decode_out_of_short_ones(self):
        def short(blocks, forwards):  # setting up 1000, a block's first forward 100, its others 1
            return {"us": 1000.0 + blocks * (100 + forwards - 1)}

        self.assertAlmostEqual(ladder.decoded([short(*at) for at in ladder.SHORT])["us"], 1000 + 4 * 100 + 124)
        window = resolved("phone/4-somr")["npu"]["window"]
        self.assertLess(abs(ladder.window_of(32, ladder.window_share()) - window["bytes"]), window["page_bytes"] + 1)
        layer = 4096 * (4 * 4096 + 3 * 12288) * 34 / 32
        self.assertLess(abs(ladder.window_of(2, 1) - ladder.window_of(1, 1) - layer), window["page_bytes"] + 1)

    def test_every_choice_is_varied_or_has_a_reason_not_to_be(self):
        listed = choices.listed()
        for name in ("baseline", "compression", "wifiv", "full"):
            for chip_class in ("nano", "nx"):
                for path, why in resolved(f"{chip_class}/{name}")["why"].items():
                    if why.startswith("choice"):
                        self.assertTrue(
                            any(path == p or path.startswith(p + ".") or p.startswith(path + ".") for p in listed), path
                        )

    def test_configurations_are_those_of_the_program(self):
        for name in ("nano/full", "nx/wifiv", "phone/4-somr"):
            ours, whole = resolved(name), chip.configuration(name)
            self.assertEqual(
                {k: v for k, v in ours.items() if k in ("npu", "cpu", "memory", "energy", "decode")},
                {k: v for k, v in whole.items() if k in ("npu", "cpu", "memory", "energy", "decode")},
            )


if __name__ == "__main__":
    sys.exit(unittest.main())
