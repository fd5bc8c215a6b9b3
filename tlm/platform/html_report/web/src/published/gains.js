// Gains over the baseline by benchmark.

import { axis, chart, tooltip, wrappedLegend } from "../chart.js";
import { note, section } from "../dom.js";
import { caption, chartsOf, gain, notesOf } from "./charts.js";

function draw(c) {
  const quoted = "mean (quoted)";
  const lines = [["no gain", 1], ...(c.quoted ? [[quoted, c.quoted]] : [])];
  const key = (width) => wrappedLegend([...c.series, ...lines.map(([name]) => name)], width);
  return chart({
    title: caption(c), height: 260 + key().height,
    columns: ["", ...c.series.map((name) => ({ title: name, number: true }))],
    rows: [...c.groups.map((g) => [g.name, ...g.values.map(gain)]), ...(c.quoted ? [[quoted, ...c.series.map((_, i) => (i === c.series.length - 1 ? gain(c.quoted) : ""))]] : [])],
    option: (k, width) => ({
      grid: { left: 8, right: 12, top: key(width).height, bottom: 6, containLabel: true },
      legend: key(width).of(k),
      tooltip: tooltip(k, (p) => `${p.name}\n${p.seriesName}: ${gain(p.value)}`),
      xAxis: axis(k, { type: "category", data: c.groups.map((g) => g.name), axisTick: { show: false }, axisLabel: { interval: 0, width: 86, overflow: "break", lineHeight: 13 } }),
      yAxis: axis(k, { type: "value", min: 0, axisLabel: { formatter: (v) => v + "\u00d7" } }),
      series: [
        ...c.series.map((name, i) => ({ name, type: "bar", barMaxWidth: 22, data: c.groups.map((g) => g.values[i]) })),
        ...lines.map(([name, value], i) => ({ name, type: "line", symbol: "none", silent: true, data: c.groups.map(() => value),
          lineStyle: { type: "dashed", width: 1.5, color: i === 0 ? k.faint : k.series[6] }, itemStyle: { color: i === 0 ? k.faint : k.series[6] } })),
      ],
    }),
  });
}

export function gains(documents) {
  const charts = chartsOf(documents, "gains");
  return section("gains", "Gains by benchmark", charts.map(draw), notesOf(charts).map((n) => note(n)));
}
