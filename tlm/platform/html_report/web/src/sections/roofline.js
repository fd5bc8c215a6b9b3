// Roofline: what the array and the memory could do at most, and what was done.

import { axis, chart, legend, tooltip } from "../chart.js";
import { note, section } from "../dom.js";
import { number, si, words } from "../format.js";

const rate = (v) => si(v, "MAC/s");

export function roofline(run) {
  const r = run.roofline;
  if (!r || r.points.length === 0) return null;
  const bandwidth = r.bytes_per_second;
  const ridges = r.roofs.map((roof) => roof.macs_per_second / bandwidth);
  const least = Math.min(...r.points.map((p) => p.macs_per_byte), ...ridges) / 2;
  const most = Math.max(...r.points.map((p) => p.macs_per_byte), ...ridges) * 2;
  // Formats with one roof share its line.
  const lines = new Map();
  for (const roof of r.roofs) lines.set(roof.macs_per_second, [...(lines.get(roof.macs_per_second) ?? []), roof.format]);
  const kinds = [["run", "whole run", "diamond", 16], ["answer", "answers", "circle", 8], ["forward", "kinds of forward", "roundRect", 12], ["operator", "operators", "triangle", 11]];
  const series = (c) => [
    ...[...lines].map(([peak, formats]) => ({
      name: "roof " + formats.join(", "), type: "line", symbol: "none", lineStyle: { width: 2 },
      data: [[least, bandwidth * least], [peak / bandwidth, peak], [most, peak]],
    })),
    ...kinds.map(([what, name, symbol, symbolSize]) => ({
      name, type: "scatter", symbol, symbolSize, itemStyle: { borderColor: c.surface, borderWidth: 1 },
      data: r.points.filter((p) => p.what === what).map((p) => ({ name: words(p.name), value: [p.macs_per_byte, p.macs_per_second] })),
    })).filter((s) => s.data.length > 0),
  ];
  return section("roofline", "Roofline",
    chart({
      title: `Array ${r.array} and DRAM of ${si(bandwidth, "B/s")}`, height: 420, wide: true,
      columns: ["point", "of", { title: "MAC per DRAM byte", number: true }, { title: "MAC/s", number: true }],
      rows: r.points.map((p) => [words(p.name), p.what, number(p.macs_per_byte), rate(p.macs_per_second)]),
      option: (c) => ({
        legend: legend(c),
        grid: { left: 16, right: 32, top: 40, bottom: 36, containLabel: true },
        tooltip: tooltip(c, (p) => `${p.name || p.seriesName}\n${number(p.value[0])} MAC/B\n${rate(p.value[1])}`),
        xAxis: axis(c, { type: "log", min: least, max: most, name: "MAC per byte of DRAM", nameLocation: "middle", nameGap: 26,
          axisLabel: { formatter: (v) => number(v, 2) } }),
        yAxis: axis(c, { type: "log", axisLabel: { formatter: rate } }),
        series: series(c),
      }),
    }),
    note("Roofs follow from the configuration: rows \u00d7 columns \u00d7 clock of the array, with q4 and q2 packed where it packs, and the peak of the DRAM. ",
      "Points are measured: run and answers over their latency, kinds of forward over the time until the next one began, operators over the time of their busiest engine, from the part of the run that is on the timeline. ",
      "An operator's bytes are those its DMAs move, which with an address window come from a buffer that was filled before."));
}
