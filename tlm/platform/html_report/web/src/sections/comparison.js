// Design points side by side.

import { stackedBars } from "../chart.js";
import { h, note, section, table } from "../dom.js";
import { bytes, energy, number, percent, time, words } from "../format.js";
import { mark } from "../kinds.js";

const ratio = (value) => (value === undefined ? "" : number(value, 3));

export function comparison({ name, comparison: c }, index) {
  const good = c.points.filter((p) => p.figures);
  const parts = [...new Set(good.flatMap((p) => Object.keys(p.figures.system_uj?.parts ?? {})))];
  const joules = (uj) => energy(uj * 1e6);
  return section("comparison-" + index, "Comparison " + name,
    table(["point", { title: "latency", number: true }, { title: "to the first", number: true }, { title: "energy", number: true }, { title: "to the first", number: true },
      { title: "DRAM bytes", number: true }, { title: "tokens per forward", number: true }, { title: "array", number: true }, "bound", { title: "right", number: true }],
      c.points.map((p) => {
        const f = p.figures;
        if (!f) return [p.name, h("span", { class: "trouble" }, p.trouble)];
        const e = f.system_uj ?? f.energy_uj;
        return [p.name, time(f.latency_us), ratio(p.ratio?.latency), joules(e.value), ratio(f.system_uj ? p.ratio?.system_energy : p.ratio?.energy),
          bytes(f.dram_bytes), number(f.tokens_per_forward), percent(f.array.utilisation), words(f.bound), f.score ? `${f.score.right} of ${f.score.of}` : ""];
      }), { "aria-label": "Comparison" }),
    h("p", { class: "note" }, "Means per answer. ", mark("measured"), " all but the energy, which is ", mark("modelled"), "."),
    good.length ? stackedBars({ title: "Latency per answer (measured)", bars: good.map((p) => ({ name: p.name, values: [p.figures.latency_us] })), parts: ["latency"], show: time }) : null,
    parts.length ? stackedBars({ title: "Energy per answer by part (modelled)", show: joules, parts: parts.map(words),
      bars: good.map((p) => ({ name: p.name, values: parts.map((x) => p.figures.system_uj?.parts?.[x] ?? 0) })) }) : null,
    c.points.some((p) => !p.figures) ? note("Points without figures say why in their line.") : null);
}
