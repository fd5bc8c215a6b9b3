// The figures one looks for first, each with what kind it is and how it comes about.

import { h, note, section, table } from "../dom.js";
import { bytes, count, energy, number, percent, si, time } from "../format.js";
import { explanation, mark } from "../kinds.js";
import { derivationTree } from "./derivation.js";

const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);

function rowsOf(run) {
  const t = run.stats.total;
  const answered = t.answered || 1;
  const held = t.bound.held === "none" ? "nothing alone: latencies and dependencies" : t.bound.held.replaceAll("_", " ");
  const rows = [
    ["latency per answer", time(t.latency_us / answered), "measured", "total.latency_us"],
    ["throughput", si(t.tokens_per_second, "tokens/s"), "measured", "total.tokens_per_second"],
    ["forwards per answer", number(t.forwards / answered), "measured", "total.forwards"],
    ["tokens per denoising forward", number(t.tokens_per_forward), "measured", "total.tokens_per_forward"],
    ["array utilisation", percent(t.array.utilisation), "measured", "total.array.utilisation"],
    ["array busy", percent(t.array.busy), "measured", "total.array.busy"],
    ["DRAM bytes per answer", bytes((sum(t.dram.bytes_read) + sum(t.dram.bytes_written)) / answered), "measured", "total.dram.bytes_read"],
    ["DRAM bandwidth", `${si(t.dram.bytes_per_second, "B/s")} of ${si(t.dram.peak_bytes_per_second, "B/s")}`, "measured", "total.dram.bytes_per_second"],
    ["bound by", held, "measured", "total.bound"],
    ["energy per answer", energy(t.energy.system_pj.value / answered), t.energy.system_pj.kind, "total.energy.system_pj"],
    ["energy of the DRAM", energy((t.energy.dram_total_pj ?? t.energy.dram_movement_pj).value / answered), "modelled",
      t.energy.dram_total_pj ? "total.energy.dram_total_pj" : "total.energy.dram_movement_pj"],
  ];
  if (t.score) rows.push(["right answers", `${count(t.score.right)} of ${count(t.score.of)}`, "measured", "total.score"]);
  return rows;
}

export function figures(run) {
  const derivations = new Map((run.derivations ?? []).map((d) => [d.figure, d]));
  const how = (path) => derivations.has(path)
    ? h("details", {}, h("summary", {}, h("code", {}, path)), derivationTree(derivations.get(path)))
    : h("code", {}, path);
  return section("figures", "Figures", explanation(),
    table(["figure", { title: "value", number: true }, "kind", "in stats.json, and how it comes about"],
      rowsOf(run).map(([name, value, kind, path]) => [name, h("strong", {}, value), mark(kind), how(path)]),
      { class: "figures", "aria-label": "Figures" }),
    run.stats.total.answered < run.stats.total.prompts
      ? note("Not every prompt was answered; costs are of those that were.") : null);
}
