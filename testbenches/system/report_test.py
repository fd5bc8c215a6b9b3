"""The report page in a browser, and figures explained: what they show against what the run left."""
import contextlib
import json
import math
import re
import sqlite3
import unittest

import chip

USAGE = 2
ALL_RUN = ("--timeline-prompts", "9")


class Results(unittest.TestCase):
    """Runs of which many tests look at the same."""
    made = {}

    @classmethod
    def run_of(cls, name):
        arguments = {
            "plain": ("--prompts", chip.task_file("showcase"), "--limit", "3", *ALL_RUN),
            "one": ("--prompts", chip.task_file("showcase"), "--limit", "1"),
            "window": ("--config", "ladder/4-somr", "--model", "tiny-llada", "--generate", "32", "--steps", "4", "--prompt", "Sort 9, 4, 7"),
            "compressed": ("--config", "small-nano/full", "--prompt", "Sort 9, 4, 7"),
            "fixed": ("--config", "fixed", "--prompt", "Sort 9, 4, 7"),
        }[name]
        if name not in cls.made:
            cls.made[name] = chip.Run("--quiet", *arguments)
            assert cls.made[name].code == 0, cls.made[name].describe()
        return cls.made[name]

    def refuse(self, phrases, *arguments):
        done = chip.call(*arguments, timeout=60)
        self.assertEqual(done.returncode, USAGE, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, f"more than one sentence for {arguments}:\n{done.stderr}")
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)

    def page(self, *inputs):
        path = chip.scratch_folder() / "report.html"
        done = chip.call("report", *inputs, "--out", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return path


def data_of(page):
    """What is embedded in a page, read as a browser would: up to the first end of the script element."""
    text = page.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start:text.index("</script", start)])


class Data(Results):
    """The page's data, without a browser."""

    def test_work_on_the_timeline_is_the_work_counted(self):
        run = self.run_of("one")
        data = data_of(self.page(run.folder))["runs"][0]
        total = run.json("stats.json")["total"]
        macs = sum(o["macs"] for o in data["timeline"]["operators"])
        self.assertEqual(macs, total["array"]["macs"])
        self.assertLessEqual(len(data["timeline"]["tracks"][0]["busy"]), 512)
        for track, cycles in (("array", "array"), ("vector", "vector"), ("dma_load", "dma_load")):
            busy = next(t["busy"] for t in data["timeline"]["tracks"] if t["name"] == track)
            busy_us = sum(busy) * data["timeline"]["bin_us"]
            self.assertAlmostEqual(busy_us / (total["busy_cycles"][cycles] * 1e-3), 1, delta=0.03, msg=track)
        moved = sum(data["timeline"]["memory_bytes_per_second"]) * data["timeline"]["bin_us"] * 1e-6
        bursts = total["counters"]["memory"]["bursts"]
        self.assertAlmostEqual(moved / (32 * (bursts["read"] + bursts["write"])), 1, delta=0.01)

    def test_every_value_of_the_configuration_is_an_assumption(self):
        run = self.run_of("plain")
        configuration = run.json("stats.json")["configuration"]
        listed = {a["path"]: a for a in data_of(self.page(run.folder))["runs"][0]["assumptions"]}
        for path in ("npu.clock_hz", "energy.mac_pj.q8", "npu.vector.functions.softmax", "decode.compression.brq.rank", "cpu.harts"):
            value = configuration
            for key in path.split("."):
                value = value[key]
            self.assertEqual(listed[path]["value"], value)
        why = configuration["why"]["energy.mac_pj"]
        self.assertEqual(listed["energy.mac_pj.q8"]["reason"], why)
        self.assertEqual(listed["energy.mac_pj.q8"]["kind"], why.split(":")[0])
        energy = json.loads((chip.ROOT / "gen/spec/dram/lpddr5.json").read_text())["energy"]
        for price in energy:
            self.assertEqual(listed["memory.device.energy." + price["name"]]["reason"], price["source"])

    def test_equal_inputs_give_equal_pages(self):
        run = self.run_of("plain")
        self.assertEqual(self.page(run.folder).read_bytes(), self.page(run.folder).read_bytes())

    def test_nothing_of_a_network_is_in_the_page(self):
        # In attributes and style sheets; namespaces and addresses inside the libraries are none.
        frame = re.sub(r"<script.*?</script>", "", self.page(self.run_of("plain").folder).read_text(), flags=re.S)
        self.assertNotRegex(frame, r"""(src|href)\s*=\s*["']?(https?:)?//|@import|url\(""")


class BadInput(Results):
    def setUp(self):
        self.scratch = chip.scratch_folder()

    def folder(self, **files):
        folder = chip.scratch_folder()
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def test_what_is_no_result_is_refused_in_one_sentence(self):
        run = self.run_of("one")
        stats = run.text("stats.json")
        good = json.loads(stats)

        def changed(**more):
            return json.dumps({**good, **more})

        out = ("--out", self.scratch / "report.html")
        timeline = run.text("timeline.json")
        table = [
            ({}, ["has neither stats.json nor compare.json"]),
            ({"stats__json": stats[:len(stats) // 2]}, ["stats.json", "not JSON"]),
            ({"stats__json": ""}, ["stats.json", "not JSON"]),
            ({"stats__json": b"\x00\xff" * 100}, ["stats.json", "not JSON"]),
            ({"stats__json": "[" * 100000}, ["stats.json", "nests deeper"]),
            ({"stats__json": "{}"}, ["stats.json: schema: is missing"]),
            ({"stats__json": "[1]"}, ["stats.json: schema: is missing"]),
            ({"stats__json": changed(schema="dllm-vp.stats.9")}, ["schema: is dllm-vp.stats.9; this program reads dllm-vp.stats.1"]),
            ({"stats__json": changed(schema="somebody.else.1")}, ["schema: is somebody.else.1; wanted is dllm-vp.stats.1"]),
            ({"stats__json": changed(total=7)}, ["stats.json", "total"]),
            ({"stats__json": changed(answers={})}, ["stats.json", "answers"]),
            ({"stats__json": stats, "timeline__json": timeline[:5000]}, ["timeline.json: is not JSON at byte"]),
            ({"stats__json": stats, "plan__txt": "hello\n"}, ["plan.txt line 1: is no swap plan"]),
            ({"stats__json": stats, "trajectory__json": '{"schema":"x"}'}, ["trajectory.json: is no trajectory"]),
            ({"compare__json": '{"schema":"dllm-vp.compare.1","version":"1"}'}, ["compare.json", "points"]),
            ({"stats__json": b"SQLite format 3\0" + b"\0" * 4000}, ["stats.json"]),
            ({"compare__json": '{"schema":"dllm-vp.compare.7"}'}, ["schema: is dllm-vp.compare.7"]),
        ]
        for files, phrases in table:
            with self.subTest(files={name: str(content)[:60] for name, content in files.items()}):
                self.refuse(phrases, "report", self.folder(**files), *out)
        self.assertFalse((self.scratch / "report.html").exists())

    def test_wrong_usage(self):
        run = self.run_of("one").folder
        self.refuse(["takes results to show"], "report")
        self.refuse(["--out is missing"], "report", run)
        self.refuse(["is not there"], "report", self.scratch / "nowhere", "--out", self.scratch / "r.html")
        self.refuse(["is a folder"], "report", run, "--out", self.scratch)
        self.refuse(["there is no folder"], "report", run, "--out", self.scratch / "no/r.html")
        self.refuse(["did you mean --title?"], "report", run, "--titel", "x", "--out", self.scratch / "r.html")
        before = (run / "stats.json").read_bytes()
        self.refuse(["stats.json"], "report", run, "--out", run / "stats.json")
        self.assertEqual((run / "stats.json").read_bytes(), before)

    def test_a_configuration_of_strange_shape_is_shown_all_the_same(self):
        good = self.run_of("one").json("stats.json")
        for configuration in ({}, {"npu": 3, "memory": [], "why": 7}, {"npu": {"array": {}, "clock_hz": "x"}, "why": {"npu": 3}}):
            folder = self.folder(stats__json=json.dumps({**good, "configuration": configuration}))
            self.assertIsNone(data_of(self.page(folder))["runs"][0]["roofline"])


# Formulas name their terms; longest first, so that no name is taken for a part of another.
def evaluate(formula, terms):
    values = {}
    for i, term in enumerate(sorted(terms, key=lambda t: -len(t["name"]))):
        formula = formula.replace(term["name"], f"@{i}@")
        values[i] = term["value"]
    expression = re.sub(r"@(\d+)@", lambda m: repr(values[int(m[1])]), formula)
    assert re.fullmatch(r"[-+*/()\d.e ]*", expression), f"{formula} names something that is no term: {expression}"
    return eval(expression)  # numbers and operators alone


class Explain(Results):
    def explain(self, figure, run):
        done = chip.call("explain", figure, run.folder, "--json")
        self.assertEqual(done.returncode, 0, f"{figure}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def check(self, d, where):
        if "formula" in d and "text" not in d:
            computed = evaluate(d["formula"], d["terms"])
            self.assertTrue(math.isclose(computed, d["value"], rel_tol=1e-7, abs_tol=1e-6), f"{where}: {d['name']} = {d['value']}, its formula gives {computed}")
        for term in d.get("terms", []):
            self.check(term, where + " > " + d["name"])
        self.assertIn(d["kind"], ("measured", "modelled", "quoted", "computed", "choice", "unstated"))
        if "terms" not in d:
            self.assertTrue(d.get("source") or d["kind"] == "modelled", f"{where}: {d['name']} has neither terms nor a source")

    def figures(self, run):
        """Paths that the page explains, so all that have a formula."""
        return [d["figure"] for d in data_of(self.page(run.folder))["runs"][0]["derivations"]]

    def test_formulas_over_their_terms_give_the_stored_figures(self):
        for name in ("plain", "window", "compressed", "fixed"):
            run = self.run_of(name)
            stats = run.json("stats.json")
            figures = self.figures(run)
            self.assertGreaterEqual(len(figures), 12, name)
            for figure in figures + [f.replace("total.", "answers.0.") for f in figures]:
                d = self.explain(figure, run)
                self.check(d, f"{name}: {figure}")
                stored = stats
                for key in figure.split("."):
                    stored = stored[int(key) if isinstance(stored, list) else key]
                if isinstance(stored, dict) and "value" in stored:
                    stored = stored["value"]
                if isinstance(stored, (int, float)):
                    self.assertEqual(d["value"], stored, figure)

    def test_energy_goes_down_to_prices_with_reasons(self):
        run = self.run_of("plain")
        leaves = []

        def collect(d):
            leaves.append(d) if "terms" not in d else [collect(t) for t in d["terms"]]

        collect(self.explain("energy", run))
        by_name = {d["name"]: d for d in leaves}
        stats = run.json("stats.json")
        self.assertEqual(by_name["npu.work.macs_q8"]["value"], stats["total"]["counters"]["npu"]["work"]["macs_q8"])
        self.assertEqual(by_name["energy.mac_pj.q8"]["value"], stats["configuration"]["energy"]["mac_pj"]["q8"])
        self.assertEqual(by_name["energy.mac_pj.q8"]["source"], stats["configuration"]["why"]["energy.mac_pj"])
        for wanted in ("memory.commands.act1", "memory.busy_ps", "memory.states.active_ps", "e_core of reads", "cpu.busy_ps", "energy.npu_static_mw"):
            self.assertIn(wanted, by_name)

    def test_energies_of_the_memory_have_the_source_they_come_from(self):
        run = self.run_of("compressed")
        configuration = run.json("stats.json")["configuration"]
        source = {e["name"]: e["source"] for e in json.loads((chip.ROOT / "gen/spec/dram/lpddr5.json").read_text())["energy"]}
        leaves = {t["name"]: t for part in self.explain("energy_dram", run)["terms"] for t in part["terms"]}
        self.assertEqual(leaves["e_core of reads"]["source"], source["core_read_pj_per_bit"])
        # The configuration replaces this one.
        self.assertIn("refresh_all_nj", configuration["memory"]["config"]["energy"])
        self.assertEqual(leaves["energy of a REFab"]["source"],
                         next(configuration["why"][p] for p in ("memory.config.energy.refresh_all_nj", "memory.config.energy", "memory.config", "memory")
                              if p in configuration["why"]))

    def test_names_paths_and_answers(self):
        run = self.run_of("plain")
        stats = run.json("stats.json")
        first = stats["answers"][0]
        self.assertEqual(self.explain(f"answers.{first['id']}.latency_us", run)["value"], first["latency_us"])
        self.assertEqual(self.explain("forwards", run)["value"], stats["total"]["forwards"])
        self.assertIn("Forwards of all kinds", self.explain("total.forwards", run)["source"])
        price = self.explain("configuration.energy.cpu_busy_mw", run)
        self.assertEqual((price["kind"], price["value"]), ("choice", stats["configuration"]["energy"]["cpu_busy_mw"]))
        self.assertEqual(self.explain("bound", run)["text"], stats["total"]["bound"]["held"])
        text = chip.call("explain", "energy", run.folder).stdout
        self.assertIn("energy.mac_pj.q8 = ", text)
        self.assertIn("modelled", text)

    def test_what_cannot_be_explained(self):
        run = self.run_of("plain").folder
        self.refuse(["enrgy: stats.json has no such figure; did you mean energy?"], "explain", "enrgy", run)
        self.refuse(["did you mean total.latency_us?"], "explain", "total.latency", run)
        self.refuse(["is a group", "bytes_read"], "explain", "total.dram", run)
        self.refuse(["try latency"], "explain", "x" * 500, run)
        self.refuse(["takes a figure and a run"], "explain", "energy")
        self.refuse(["is not there"], "explain", "energy", run / "nowhere")
        for hostile in ("", ".", "...", "answers.99999999999999999999.x", "answers.-1.latency_us", "total..latency_us"):
            self.refuse([], "explain", hostile, run)


class Hostile:
    """Strings that would do something if any of them were taken for markup."""
    PROMPT = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> <!-- ${1} {{x}} \u2028"

    @classmethod
    def put_into(cls, stats):
        stats["configuration"]["name"] = "</script><b>name" + cls.PROMPT
        stats["configuration"]["description"] = cls.PROMPT
        stats["model"]["name"] = cls.PROMPT
        stats["configuration"]["why"] = {"npu.clock_hz": "choice: " + cls.PROMPT}
        stats["total"]["dram"]["bytes_read"][cls.PROMPT] = 12345
        for answer in stats["answers"]:
            answer["id"], answer["prompt"], answer["answer"] = "</script>" + cls.PROMPT, cls.PROMPT, cls.PROMPT
        return stats


class Page(Results):
    """In headless Chromium."""

    @classmethod
    def setUpClass(cls):
        from browser import Browser
        cls.browser = Browser()

    def open(self, *inputs):
        self.browser.dark(False)
        self.browser.open(self.page(*inputs))
        self.assertEqual(self.browser.complaints(), [])

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [], "the page asked for something")

    def test_every_section_of_every_kind_of_run_is_drawn(self):
        for name, sections in (("plain", {"roofline", "timeline", "quality"}), ("window", {"plan", "timeline"}), ("compressed", {"compression"}), ("fixed", {"roofline"})):
            run = self.run_of(name)
            self.open(run.folder)
            ids = set(self.browser.run("return [...document.querySelectorAll('section')].map(s => s.id)"))
            self.assertLessEqual({"what", "figures", "latency", "energy", "traffic", "forwards", "assumptions"} | sections, ids, name)
            empty = self.browser.run("return [...document.querySelectorAll('.canvas')].filter(c => c.querySelectorAll('svg path').length < 3).length")
            self.assertEqual(empty, 0, f"{name}: charts without anything drawn")
            latency = run.json("stats.json")["total"]["latency_us"] / run.json("stats.json")["total"]["answered"]
            shown = self.texts("table.figures tbody tr:first-child td:nth-child(2)")[0]
            number, unit = shown.split("\u00a0")
            self.assertAlmostEqual(float(number) * {"ms": 1000, "\u00b5s": 1, "s": 1e6}[unit] / latency, 1, delta=0.006)
            self.assertIn("measured", self.texts("table.figures tbody tr:first-child td:nth-child(3)")[0])

    def test_filters_of_the_tables(self):
        self.open(self.run_of("plain").folder)
        rows = lambda: self.texts("table.assumptions tbody tr")
        everything = len(rows())
        self.browser.run("const i = document.querySelector('#assumptions input'); i.value = 'VECTOR.LANES'; i.dispatchEvent(new Event('input'))")
        self.assertEqual(len(rows()), 1)
        self.assertIn("npu.vector.lanes", rows()[0])
        self.browser.run("const i = document.querySelector('#assumptions input'); i.value = ''; i.dispatchEvent(new Event('input'));"
                         "const s = document.querySelector('#assumptions select'); s.value = 'quoted'; s.dispatchEvent(new Event('change'))")
        self.assertLess(0, len(rows()))
        self.assertLess(len(rows()), everything)
        self.assertTrue(all("quoted" in row for row in rows()))

    def test_light_and_dark_by_the_system_and_by_the_reader(self):
        self.open(self.run_of("plain").folder)
        background = lambda: self.browser.run("return getComputedStyle(document.body).backgroundColor")
        text_in_chart = lambda: self.browser.run("return document.querySelector('.canvas svg text').getAttribute('fill')")
        light = background(), text_in_chart()
        self.browser.dark(True)
        dark = background(), text_in_chart()
        self.assertNotEqual(light[0], dark[0])
        self.assertNotEqual(light[1], dark[1])
        self.browser.run("[...document.querySelectorAll('button')].find(b => b.textContent.includes('dark')).click()")
        self.browser.settle()
        self.assertEqual((background(), text_in_chart()), light)

    def test_keyboard_reaches_sections_and_controls(self):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        self.open(self.run_of("plain").folder)
        reached = []
        for _ in range(40):
            ActionChains(self.browser.driver).send_keys(Keys.TAB).perform()
            reached.append(self.browser.run("return document.activeElement.textContent.trim()"))
        for wanted in ("To the results", "Light / dark", "Print", "Roofline", "As a table"):
            self.assertIn(wanted, reached)

    def test_paper(self):
        self.open(self.run_of("plain").folder)
        self.browser.dark(True)
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF-"))
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertGreaterEqual(pages, 4)
        self.assertLessEqual(pages, 40)
        self.browser.settle()
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme"), "dark", "back on the screen")

    def test_texts_of_the_data_stay_texts(self):
        folder = chip.scratch_folder()
        stats = Hostile.put_into(self.run_of("plain").json("stats.json"))
        (folder / "stats.json").write_text(json.dumps(stats))
        self.open(folder)
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, b').length"), 0)
        self.assertNotEqual(self.browser.run("return document.title"), "taken")
        self.assertIn(Hostile.PROMPT, self.texts("table.answers .prompt")[0])
        # What follows the pointer on a chart as well.
        from selenium.webdriver.common.action_chains import ActionChains
        chart = self.browser.driver.find_element("css selector", "#traffic .canvas")
        self.browser.run("arguments[0].scrollIntoView({block: 'center'})", chart)
        ActionChains(self.browser.driver).move_to_element_with_offset(chart, 0, 10).perform()
        self.browser.settle()
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, b').length"), 0)

    def test_runs_of_strange_configurations_are_drawn(self):
        good = self.run_of("fixed").json("stats.json")
        folders = []
        for configuration in ({}, {"npu": 3, "memory": [], "name": {}, "energy": {"x": [{"y": None}]}, "why": 7}):
            folders.append(chip.scratch_folder())
            (folders[-1] / "stats.json").write_text(json.dumps({**good, "configuration": configuration}))
        self.open(*folders)
        self.assertIn("Run ", self.texts("h1.run")[0])

    def test_a_sweep_its_front_and_its_filters(self):
        folder = chip.scratch_folder()
        (folder / "spec.json").write_text(json.dumps({
            "name": "lanes <b>", "method": "grid", "run": {"model": "tiny-fdllm2", "config": "fixed", "prompt": ["Sort 9, 4, 7"], "generate": 32},
            "parameters": {"npu.vector.lanes": [0, 8, 32], "energy.vector_pj": [1, 3]},
            "objectives": {"total.latency_us": "min", "total.energy.system_pj": "min"}}))
        done = chip.call("sweep", folder / "spec.json")
        self.assertEqual(done.returncode, 1, f"no lanes at all are refused\n{done.stdout}{done.stderr}")
        with contextlib.closing(sqlite3.connect(folder / "spec.sqlite")) as database:
            stored = database.execute("SELECT ordinal, figure, value FROM objective WHERE value IS NOT NULL").fetchall()
        points = {}
        for ordinal, figure, value in stored:
            points.setdefault(ordinal, {})[figure] = value
        self.assertEqual(len(points), 4)

        def beaten(a):
            return any(all(b[f] <= a[f] for f in a) and b != a for b in points.values())

        front = sorted(ordinal for ordinal, p in points.items() if not beaten(p))
        self.open(folder / "spec.sqlite")
        self.assertEqual(self.texts("#sweep-0 h2")[0], "Sweep lanes <b>")
        starred = lambda: sorted(int(row) for row in self.browser.run(
            "return [...document.querySelectorAll('table.points tbody tr')].filter(r => r.lastChild.textContent).map(r => r.firstChild.textContent)"))
        self.assertEqual(starred(), front)
        self.assertEqual(len(self.texts("table.points tbody tr")), 4)
        self.assertTrue(any("npu.vector.lanes" in text for text in self.texts("#sweep-0 .trouble")), "why a point failed")
        self.browser.run("[...document.querySelectorAll('fieldset input')].find(i => i.value === '32').click()")
        self.assertEqual(len(self.texts("table.points tbody tr")), 2)
        self.assertIn("2 of 4 points shown", self.texts("#sweep-0 [role=status]")[0])

    def test_a_comparison_and_the_choice_of_its_runs(self):
        out = chip.scratch_folder()
        done = chip.call("compare", "fixed", "fixed:npu.vector.lanes=64", "--prompt", "Sort 9, 4, 7", "--generate", "32", "--out", out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.open(out)
        points = json.loads((out / "compare.json").read_text())["points"]
        shown = self.texts("#comparison-0 tbody tr td:first-child")
        self.assertEqual(shown[:2], [p["name"] for p in points])
        heading = lambda: self.texts("h1.run")[0]
        self.assertEqual(heading(), "Run " + points[0]["name"])
        self.browser.run("const s = document.querySelector('header select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))")
        self.browser.settle()
        self.assertEqual(heading(), "Run " + points[1]["name"])


if __name__ == "__main__":
    unittest.main()
