// Energy by part.

import { stackedBars } from "../chart.js";
import { note, section, table } from "../dom.js";
import { energy as joules, percent, words } from "../format.js";
import { mark } from "../kinds.js";

export function energy(run) {
  const e = run.stats.total.energy;
  const answered = run.stats.total.answered || 1;
  const bar = (key, title, wide) => e[key]?.parts ? stackedBars({
    title, wide, show: joules, parts: Object.keys(e[key].parts).map(words),
    bars: [{ name: words(key.replace(/_(total_)?pj$/, "")), values: Object.values(e[key].parts).map((v) => v / answered) }],
  }) : null;
  const total = e.system_pj;
  return section("energy", "Energy by part",
    bar("system_pj", "Energy per answer, all of it (modelled)", true),
    bar("dram_total_pj", "The DRAM's (modelled)"), bar("npu_pj", "The NPU's (modelled)"),
    table(["part", { title: "per answer", number: true }, { title: "share", number: true }, "kind"],
      Object.entries(total.parts).map(([part, value]) =>
        [words(part), joules(value / answered), percent(total.value ? value / total.value : 0), mark(total.kind)])),
    note("Formula: ", total.formula, "."));
}
