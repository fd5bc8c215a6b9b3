"""The report page of documents of scripts/published: the question answered in figures and words, every chart with its table."""
import json
import re
import unittest

import chip

USAGE = 2
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><b>"


def document(mark=""):
    """One with everything in it, of which no two figures are alike; `mark` is put behind every text that is shown."""
    def chart(kind_of_chart, title, unit="x", kind="measured", **more):
        return {"type": kind_of_chart, "title": title + mark, "subject": "A 1B model" + mark, "kind": kind, "unit": unit, "notes": [title + " has a note" + mark], **more}

    def ends(**values):
        return [{"at": at + mark, "value": value} for at, value in values.items()]

    return {
        "schema": "dllm-vp.published.1", "figure": "four", "title": "Four configurations" + mark, "program": {"version": "0.1" + mark, "revision": "abc" + mark},
        "command": ["scripts/published", "four" + mark], "trajectory": {"name": "steady" + mark, "why": "choice: so" + mark}, "parameters": {"prompt" + mark: 160},
        "sources": ["arXiv 1" + mark], "notes": ["measured on slices" + mark],
        "assumed": [{"configuration": c + mark, "key": "npu.clock_hz" + mark, "value": 123456789, "kind": "choice", "reason": "choice: because" + mark} for c in ("nano/full", "nano/baseline")],
        "tables": [{"title": "Rows" + mark, "columns": [{"name": "which" + mark, "kind": "label"}, {"name": "ms" + mark, "kind": "measured", "unit": "ms"}],
                    "rows": [["Baseline" + mark, 860.25], ["Full" + mark, None]], "notes": ["a note" + mark]}],
        "charts": [
            chart("headline", "Full against Baseline", rows=[{"name": "latency" + mark, "kind": "measured", "ours": 2.46, "theirs": 2.88, "source": "arXiv 1" + mark},
                                                             {"name": "energy" + mark, "kind": "modelled", "ours": 1.21, "theirs": 3.79, "source": "arXiv 1" + mark}]),
            chart("waterfall", "Gain in latency", what="latency", compares="Full / Baseline" + mark, start={"name": "ideal memory" + mark, "value": 3.42},
                  steps=[{"name": "refresh" + mark, "value": 3.29}, {"name": "banks" + mark, "value": 2.98}, {"name": "conversion" + mark, "value": 2.46}],
                  end={"name": "as modelled" + mark, "value": 2.46}, quoted=2.88),
            chart("gains", "Gain by benchmark", what="latency", series=["Compression" + mark, "Full" + mark], quoted=2.88,
                  groups=[{"name": "HumanEval" + mark, "values": [0.93, 2.56]}, {"name": "MBPP" + mark, "values": [1.08, 2.36]}]),
            chart("stacked", "Energy by part", "mJ", "modelled", what="energy", parts=["dram_array" + mark, "cpu" + mark],
                  bars=[{"name": "Baseline" + mark, "values": [896, 242.5]}, {"name": "Full" + mark, "values": [748, 0]}]),
            chart("tornado", "Gain in latency, by choice", what="latency", centre=2.46,
                  bars=[{"name": "prompt" + mark, "ends": ends(short=2.11, long=3.07)}, {"name": "refresh" + mark, "ends": ends(none=2.53)}]),
            chart("pairs", "Gain in latency, by pairs", what="latency", centre=2.46,
                  choices=[{"name": "prompt" + mark, "ends": ["short" + mark, "long" + mark]}, {"name": "width" + mark, "ends": ["two" + mark]}],
                  cells=[{"a": 0, "a_end": 0, "b": 1, "b_end": 0, "value": 1.71, "interaction": 0.94}, {"a": 0, "a_end": 1, "b": 1, "b_end": 0, "value": 2.67, "interaction": 1.07}]),
            chart("break_even", "Break-even", rows=[
                {"name": "bandwidth" + mark, "what": "latency", "kind": "measured", "unit": "x", "compares": "Full / WIFiV" + mark, "configured": 4,
                 "points": [[1, 1.23], [2, 1.13], [3, 0.97]], "verdict": "crosses", "value": 2.76, "bracket": [2, 3]},
                {"name": "prompt" + mark, "what": "energy", "kind": "modelled", "unit": "tokens", "compares": "Full / WIFiV" + mark,
                 "points": [[64, 1.19], [1024, 1.31]], "verdict": "always", "value": None, "bracket": None}]),
            chart("ladder", "Time of an answer", "s", reference="kv" + mark, source="arXiv 2" + mark, rungs=[
                {"name": "cpu" + mark, "value": 8189.1, "kind": "modelled", "how": "by rate" + mark, "quoted": 2996.2}, {"name": "kv" + mark, "value": 1247.6, "kind": "modelled", "quoted": 607.0},
                {"name": "npu" + mark, "value": 40.4, "kind": "measured", "quoted": 87.0}, {"name": "dppr" + mark, "value": None, "kind": None, "quoted": 16.1}]),
        ],
    }


def write(content):
    path = chip.scratch_folder() / "four.json"
    path.write_bytes(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())
    return path


class BadInput(unittest.TestCase):
    def test_what_is_no_document_is_refused_in_one_sentence(self):
        good = document()
        text = json.dumps(good)
        missing = {k: v for k, v in good.items() if k != "charts"}
        out = chip.scratch_folder() / "report.html"
        for content, phrases in (
                (text[:len(text) // 2], ["not JSON"]), ("", ["not JSON"]), ({**good, "schema": "dllm-vp.published.7"}, ["dllm-vp.published.7; this program reads dllm-vp.published.1"]),
                (missing, ["charts"]), ({**good, "chart": []}, ["chart: unknown key; did you mean charts?"]), ({**good, "title": 7}, ["title", "published.schema.json"]),
                ({**good, "charts": {}}, ["charts"]), ({**good, "charts": [{"type": "pie"}]}, ["charts"]), ({**good, "charts": good["charts"] * 100}, ["charts"]),
                ({**good, "charts": [{**good["charts"][2], "series": ["x"]}]}, ["charts.0.groups.0.values: has 2 values for 1 series"]),
                ({**good, "tables": [{**good["tables"][0], "rows": [["a", {}]]}]}, ["tables"]), (text.replace("2.46", "1e999"), ["four.json"]), ("[" * 100000, ["nests deeper"])):
            with self.subTest(str(content)[:60]):
                path = write(content)
                done = chip.call("report", path, "--out", out, timeout=60)
                self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                for phrase in [path.name, *phrases]:
                    self.assertIn(phrase, done.stderr)
        self.assertFalse(out.exists())


class Page(unittest.TestCase):
    """In headless Chromium."""

    @classmethod
    def setUpClass(cls):
        from browser import Browser
        cls.browser = Browser()

    def open(self, *documents):
        page = chip.scratch_folder() / "report.html"
        done = chip.call("report", *map(write, documents), "--out", page)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.browser.open(page)

    def texts(self, selector):
        return [" ".join(t.split()) for t in self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)]

    def rows(self, selector):
        return [[" ".join(cell.split()) for cell in row] for row in self.browser.run(
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => [...r.cells].map(c => c.textContent))", selector)]

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [], "the page asked for something")

    def test_the_answer_is_made_of_the_documents_figures(self):
        d = document()
        self.open(d)
        headline, fall = d["charts"][0], d["charts"][1]
        [sentence] = self.texts("#answer .answer p")
        start, end, quoted = fall["start"]["value"], fall["end"]["value"], fall["quoted"]
        said = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", sentence.split(":", 1)[1])]
        values = [start, *(s["value"] for s in fall["steps"])]
        taken = [round(a - b, 2) for a, b in zip(values, values[1:])]
        self.assertEqual(said, [round(100 * (end - 1) / (start - 1)), start, end, *taken, quoted, round(100 * end / quoted)], sentence)
        for name in ("A 1B model", "latency", "Full over Baseline", *(s["name"] for s in fall["steps"])):
            self.assertIn(name, sentence)
        for shown, row in zip(self.rows("table.headline"), headline["rows"], strict=True):
            self.assertEqual([shown[1], shown[2], shown[4]], [row["name"], f"{row['ours']}×", f"{row['theirs']}×"])
            self.assertIn(row["kind"], shown[3])
            self.assertIn("quoted", shown[5])
            self.assertAlmostEqual(float(shown[6]), row["ours"] / row["theirs"], places=3)

    def test_every_chart_is_drawn_and_has_its_figures_in_a_table(self):
        d = document()
        self.open(d)
        by_type = {c["type"]: c for c in d["charts"]}
        ids = self.browser.run("return [...document.querySelectorAll('section')].map(s => s.id)")
        self.assertEqual(ids, ["answer", "gains", "amounts", "sensitivity", "pairs", "break-even", "ladder", "tables", "origin", "given"])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.canvas')].filter(c => c.querySelectorAll('svg path').length < 3).length"), 0)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('figure')].filter(f => !f.querySelector('table tbody tr')).length"), 0)

        def figures(selector):
            # Every number of the tables there, as the reader sees it.
            return {float(n.replace(",", "")) for row in self.rows(selector) for cell in row for n in re.findall(r"\d[\d,]*(?:\.\d+)?", cell)}

        wanted = {
            "#answer figure": [s["value"] for s in by_type["waterfall"]["steps"]], "#gains figure": [v for g in by_type["gains"]["groups"] for v in g["values"]],
            "#amounts figure": [896, 242, 748], "#sensitivity figure": [e["value"] for b in by_type["tornado"]["bars"] for e in b["ends"]],
            "#pairs figure": [c[k] for c in by_type["pairs"]["cells"] for k in ("value", "interaction")],
            "#break-even": [2.76, 2, 3, 4, 1.23, 0.97, 64, 1024, 1.19, 1.31], "#ladder figure": [8189, 2996, 1248, 607, 40.4, 87, 16.1], "#tables": [860.3, 860.2],
            "#given": [123456789]}
        for selector, numbers in wanted.items():
            if selector == "#tables":
                self.assertTrue(figures(selector) & set(numbers))
            elif selector == "#amounts figure":
                self.assertLessEqual({896, 748}, figures(selector))
            else:
                self.assertLessEqual({float(n) for n in numbers}, figures(selector), selector)
        gains = [row[6] for row in self.rows("#ladder table.ladder")]
        self.assertEqual(gains, [f"{1247.6 / r['value']:.2f}×" if r["value"] else "–" for r in by_type["ladder"]["rungs"]])
        self.assertIn("pays below 2.76×", self.texts("#break-even td")[4])
        [line] = self.rows("#given")
        self.assertIn("nano/full, nano/baseline", line[0])

    def test_charts_of_several_documents_and_colours_and_paper(self):
        d = document()
        parts = [{**d, "charts": [c]} for c in d["charts"]]
        self.open(*parts)
        self.assertEqual(len(self.browser.run("return [...document.querySelectorAll('.canvas svg')].map(s => 1)")), len([c for c in d["charts"] if c["type"] not in ("headline", "break_even")]))
        fill = lambda: self.browser.run("return document.querySelector('#sensitivity .canvas svg text').getAttribute('fill')")
        light = fill()
        self.browser.dark(True)
        self.assertNotEqual(fill(), light)
        self.assertTrue(self.browser.pdf().startswith(b"%PDF-"))
        self.browser.dark(False)
        cell = lambda: self.browser.run("return [...document.querySelectorAll('#pairs svg text')].map(t => t.textContent)")
        self.assertIn("1.71", cell())
        self.browser.run("const s = document.querySelector('#pairs select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))")
        self.browser.settle()
        self.assertIn("0.94", cell())
        self.assertNotIn("1.71", cell())

    def test_texts_stay_texts(self):
        self.open(document(HOSTILE))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, b').length"), 0)
        self.assertNotIn("taken", self.browser.run("return document.title").split("<")[0])
        self.assertIn(HOSTILE, self.texts("#answer .answer p")[0])


if __name__ == "__main__":
    unittest.main()
