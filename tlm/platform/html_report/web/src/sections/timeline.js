// How busy the chip was over time.

import { axis, chart, legend, tooltip } from "../chart.js";
import { note, section } from "../dom.js";
import { percent, si, time, words } from "../format.js";

// Channels of the DRAM as one line: their mean.
function lines(view) {
  const channels = view.tracks.filter((t) => t.name.startsWith("memory channel"));
  const rest = view.tracks.filter((t) => !channels.includes(t)).map((t) => ({ name: words(t.name), busy: t.busy }));
  if (channels.length === 0) return rest;
  const busy = channels[0].busy.map((_, i) => channels.reduce((sum, t) => sum + t.busy[i], 0) / channels.length);
  return [{ name: "DRAM data buses", busy }, ...rest];
}

const shownFirst = ["array", "DRAM data buses", "cpu"];

export function timeline(run) {
  const view = run.timeline;
  if (!view || view.tracks.length === 0) return null;
  const all = lines(view).sort((a, b) => (shownFirst.indexOf(b.name) >= 0) - (shownFirst.indexOf(a.name) >= 0));
  const whole = view.memory_bytes_of === "channels";
  const at = (i) => (i + 0.5) * view.bin_us;
  const common = (c) => ({
    grid: { left: 16, right: 24, top: 40, bottom: 56, containLabel: true },
    legend: legend(c, { selected: Object.fromEntries(all.map((l) => [l.name, shownFirst.includes(l.name)])) }),
    xAxis: axis(c, { type: "value", min: 0, max: view.end_us, axisLabel: { formatter: time, hideOverlap: true }, splitLine: { show: false } }),
    dataZoom: [{ type: "slider", height: 20, bottom: 8, borderColor: c.line, textStyle: { color: c.faint },
      labelFormatter: (v) => time(v) }],
  });
  const step = { type: "line", step: "middle", symbol: "none", lineStyle: { width: 1.5 }, sampling: "average" };
  const show = (how) => (points) => [time(points[0].value[0]), ...points.map((p) => `${p.seriesName}: ${how(p.value[1])}`)].join("\n");
  return section("timeline", "Utilisation over time",
    chart({
      title: "Busy, share of each interval (measured)", height: 340, wide: true,
      columns: ["track", { title: "mean", number: true }, { title: "busiest interval", number: true }],
      rows: all.map((l) => [l.name, percent(l.busy.reduce((a, b) => a + b, 0) / l.busy.length), percent(Math.max(...l.busy))]),
      option: (c) => ({
        ...common(c), tooltip: tooltip(c, show(percent), "axis"),
        yAxis: axis(c, { type: "value", min: 0, max: 1, axisLabel: { formatter: percent } }),
        series: all.map((l) => ({ ...step, name: l.name, data: l.busy.map((b, i) => [at(i), b]) })),
      }),
    }),
    chart({
      title: whole ? "DRAM bandwidth (measured)" : "Bandwidth of what the DMAs load and store (measured)", height: 240, wide: true,
      option: (c) => ({
        ...common(c), legend: undefined, tooltip: tooltip(c, show((v) => si(v, "B/s")), "axis"),
        yAxis: axis(c, { type: "value", min: 0, axisLabel: { formatter: (v) => si(v, "B/s") } }),
        series: [{ ...step, name: whole ? "bytes over the data buses" : "bytes of the DMAs", areaStyle: { opacity: 0.2 },
          data: view.memory_bytes_per_second.map((b, i) => [at(i), b]) }],
      }),
    }),
    note(`Intervals of ${time(view.bin_us)}; of the prompts that are on the timeline. ${whole ? "" : "The memory serves what it can in one step, so that its channels have no complete track. "}The same with every event: open timeline.json in ui.perfetto.dev.`));
}
