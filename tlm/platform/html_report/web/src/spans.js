// Horizontal bars from one value to another, one below the other: waterfalls and tornados.

import { axis, chart, tooltip } from "./chart.js";

const row_height = 30; // CSS pixels

/**
 * `spans`: [{name, from, to, colour(c), left?, right?, tip}]: `left` and `right` are texts at the ends of the bar, `tip`
 * follows the pointer. `line` is the value of a vertical line. `columns` and `rows` as chart() takes them.
 */
export function spanChart({ title, spans, line, show, columns, rows, wide = false }) {
  const values = [line, ...spans.flatMap((s) => [s.from, s.to])];
  const low = Math.min(...values), high = Math.max(...values);
  // What texts need beyond the bars, were these drawn in 200 of the narrowest plot's pixels.
  const range = Math.max(high - low, Math.abs(high) * 0.02, 1e-9), one = range / 200;
  const needed = (text, distance) => (text === undefined ? 0 : Math.max(0, (12 + 6.6 * text.length) * one - distance));
  const left = Math.max(...spans.map((s) => needed(s.left, Math.min(s.from, s.to) - low)));
  const right = Math.max(...spans.map((s) => needed(s.right, high - Math.max(s.from, s.to))));
  return chart({
    title, wide, height: 46 + row_height * spans.length, columns, rows,
    option: (c) => ({
      grid: { left: 4, right: 12, top: 6, bottom: 4, containLabel: true },
      tooltip: tooltip(c, (p) => spans[p.dataIndex]?.tip ?? ""),
      xAxis: axis(c, { type: "value", min: low - left, max: high + right, splitNumber: 4,
        axisLabel: { formatter: show, hideOverlap: true, showMinLabel: left === 0, showMaxLabel: false } }),
      yAxis: axis(c, { type: "category", inverse: true, data: spans.map((s) => s.name), splitLine: { show: false }, axisTick: { show: false }, axisLine: { onZero: false, lineStyle: { color: c.faint } },
        axisLabel: { width: 170, overflow: "break", lineHeight: 13, interval: 0 } }),
      series: [{
        type: "custom", encode: { x: [0, 1], y: 2 }, data: spans.map((s, i) => [s.from, s.to, i]),
        renderItem: ({ dataIndex, coordSys }, api) => {
          const span = spans[dataIndex];
          const ends = [api.coord([span.from, dataIndex]), api.coord([span.to, dataIndex])].sort((a, b) => a[0] - b[0]);
          const [x1, y] = ends[0], x2 = ends[1][0], [zero] = api.coord([line, dataIndex]);
          const text = (content, x, textAlign) => (content === undefined ? [] : [{
            type: "text", x, y, style: { text: content, textAlign, textVerticalAlign: "middle", fill: c.text, fontSize: 11.5 } }]);
          return { type: "group", children: [
            { type: "rect", shape: { x: x1, y: y - 9, width: Math.max(x2 - x1, 1.5), height: 18 }, style: { fill: span.colour(c) } },
            ...text(span.left, x1 - 5, "right"), ...text(span.right, x2 + 5, "left"),
            ...(dataIndex === 0 ? [{ type: "line", silent: true, shape: { x1: zero, x2: zero, y1: coordSys.y, y2: coordSys.y + coordSys.height },
              style: { stroke: c.text, lineWidth: 1, lineDash: [4, 3] } }] : []),
          ] };
        },
      }],
    }),
  });
}
