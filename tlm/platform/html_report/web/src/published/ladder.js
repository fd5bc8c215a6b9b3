// Rung by rung, ours beside the publication's.

import { axis, chart, legend, tooltip } from "../chart.js";
import { note, section, table } from "../dom.js";
import { number } from "../format.js";
import { amount, caption, chartsOf, gain, markOf, notesOf } from "./charts.js";

function draw(c) {
  const values = c.rungs.flatMap((r) => [r.value, r.quoted]).filter((v) => v > 0);
  if (values.length === 0) return null;
  const series = [["ours", "value"], ["theirs (quoted)", "quoted"]];
  const unit = (v) => amount(v ?? NaN, c.unit);
  return [chart({
    title: caption(c), height: 70 + 46 * c.rungs.length, wide: true,
    columns: ["rung", { title: "ours", number: true }, { title: "theirs (quoted)", number: true }],
    rows: c.rungs.map((r) => [r.name, unit(r.value), unit(r.quoted)]),
    option: (k) => ({
      grid: { left: 4, right: 70, top: 34, bottom: 4, containLabel: true },
      legend: legend(k),
      tooltip: tooltip(k, (p) => `${p.name}\n${p.seriesName}: ${unit(p.value)}`),
      xAxis: axis(k, { type: "log", min: 10 ** Math.floor(Math.log10(Math.min(...values)) - 0.01), axisLabel: { formatter: unit, hideOverlap: true } }),
      yAxis: axis(k, { type: "category", inverse: true, data: c.rungs.map((r) => r.name), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { interval: 0 } }),
      series: series.map(([name, key], i) => ({ name, type: "bar", barMaxWidth: 16, data: c.rungs.map((r) => r[key]), itemStyle: { color: k.series[i === 0 ? 0 : 5] },
        label: { show: true, position: "right", color: k.text, formatter: (p) => (p.value === null || p.value === undefined ? "" : unit(p.value)) } })),
    }),
  }), table(["rung", { title: "ours", number: true }, "", "how", { title: "theirs (quoted)", number: true }, { title: "ours to theirs", number: true },
    { title: `gain over ${c.reference}`, number: true }, { title: "theirs", number: true }],
  c.rungs.map((r) => [r.name, unit(r.value), markOf(r.kind), r.how ?? "", unit(r.quoted), number(r.ratio ?? NaN), gain(r.gain ?? NaN), gain(r.quoted_gain ?? NaN)]),
  { class: "ladder", "aria-label": "Ladder" }),
  c.source ? note("Quoted: ", c.source, ".") : null];
}

export function ladder(documents) {
  const charts = chartsOf(documents, "ladder");
  return section("ladder", "The ladder", charts.map(draw), notesOf(charts).map((n) => note(n)));
}
