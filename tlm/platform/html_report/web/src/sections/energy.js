// Energy by part.

import { stackedBars } from "../chart.js";
import { note, section, table } from "../dom.js";
import { energy as joules, percent, words } from "../format.js";
import { mark } from "../kinds.js";

export function energy(run) {
  const e = run.stats.total.energy;
  const answered = run.stats.total.answered || 1;
  const named = { system_pj: "all of it", dram_total_pj: "DRAM", npu_pj: "NPU" };
  const bars = [], parts = [];
  for (const [key, name] of Object.entries(named)) {
    if (!e[key]?.parts) continue;
    const values = Array(parts.length).fill(0);
    for (const [part, value] of Object.entries(e[key].parts)) {
      parts.push(key === "system_pj" ? words(part) : `${name}: ${words(part)}`);
      values.push(value / answered);
    }
    bars.push({ name, values });
  }
  for (const bar of bars) bar.values = [...bar.values, ...Array(parts.length - bar.values.length).fill(0)];
  const total = e.system_pj;
  return section("energy", "Energy by part",
    stackedBars({ title: "Energy per answer (modelled)", bars, parts, show: joules, wide: true }),
    table(["part", { title: "per answer", number: true }, { title: "share", number: true }, "kind"],
      Object.entries(total.parts).map(([part, value]) =>
        [words(part), joules(value / answered), percent(total.value ? value / total.value : 0), mark(total.kind)])),
    note("Formula: ", total.formula, "."));
}
