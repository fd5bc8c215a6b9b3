// The swap plan: what lies where in the NPU's address window, step by step.

import { axis, chart, tooltip } from "../chart.js";
import { note, section } from "../dom.js";
import { bytes, count } from "../format.js";

const hex = (address) => "0x" + address.toString(16).padStart(8, "0");
const order = ["pinned", "mapped", "staged"];

export function plan(run) {
  const p = run.plan;
  if (!p || p.buffers.length === 0) return null;
  const steps = Math.max(p.steps.length, 1);
  const row = (b) => [b.how, `${hex(b.first)} - ${hex(b.first + b.bytes - 1)}`, bytes(b.bytes), b.how === "pinned" ? "all" : p.steps[b.from], b.what];
  return section("plan", "Swap plan",
    chart({
      title: `Address window of ${bytes(p.window_bytes)}, policy ${p.policy}, first forward`, height: 420, wide: true,
      columns: ["how", "device address", { title: "size", number: true }, "operator", "what"], rows: p.buffers.slice(0, 200).map(row),
      option: (c) => ({
        grid: { left: 16, right: 24, top: 24, bottom: 60, containLabel: true },
        tooltip: tooltip(c, (x) => { const b = p.buffers[x.dataIndex]; return `${b.what}\n${b.how}, ${bytes(b.bytes)}\n${hex(b.first)} - ${hex(b.first + b.bytes - 1)}\n${b.how === "pinned" ? "all the time" : p.steps[b.from]}`; }),
        xAxis: axis(c, { type: "value", min: 0, max: steps, name: "steps: buffers mapped or staged, in order", nameLocation: "middle", nameGap: 26, splitLine: { show: false } }),
        yAxis: axis(c, { type: "value", min: 0, max: p.window_bytes, axisLabel: { formatter: (v) => bytes(v) } }),
        dataZoom: [{ type: "slider", height: 18, bottom: 4, borderColor: c.line, textStyle: { color: c.faint } }],
        series: [{
          type: "custom", clip: true, encode: { x: [0, 1], y: [2, 3] },
          data: p.buffers.map((b) => [b.from, Math.max(b.to, b.from + 1), b.first, b.first + b.bytes]),
          renderItem: ({ dataIndex }, api) => {
            const b = p.buffers[dataIndex];
            const from = api.coord([api.value(0), api.value(3)]);
            const to = api.coord([api.value(1), api.value(2)]);
            return {
              type: "rect",
              shape: { x: from[0], y: from[1], width: Math.max(to[0] - from[0], 1), height: Math.max(to[1] - from[1], 1) },
              style: { fill: c.series[order.indexOf(b.how)], opacity: 0.75, stroke: c.surface, lineWidth: 0.5 },
            };
          },
        }],
      }),
    }),
    note("Blue: pinned for the whole run; orange: mapped for an operator; green: staged, copied before its operator and there until another takes its place. ",
      p.buffers.length > 200 ? `The table has the first 200 of ${count(p.buffers.length)} buffers. ` : "",
      p.dropped > 0 ? `${count(p.dropped)} more buffers are not shown.` : ""));
}
