// Forward by forward: rows computed and tokens committed.

import { axis, chart, legend, tooltip } from "../chart.js";
import { choice, h, section } from "../dom.js";
import { words } from "../format.js";

export function forwards(run) {
  const answers = (run.forwards ?? []).filter((a) => a.forwards.length > 0);
  if (answers.length === 0) return null;
  let shown = answers[0].forwards;
  const figure = chart({
    title: "Rows computed and tokens committed by each forward (measured)", height: 280, wide: true,
    columns: [{ title: "forward", number: true }, "kind", { title: "rows", number: true }, { title: "committed", number: true }],
    rows: () => shown.map((f, i) => [String(i + 1), words(f.kind), String(f.rows), String(f.commits)]),
    option: (c) => ({
      grid: { left: 16, right: 16, top: 40, bottom: 28, containLabel: true },
      legend: legend(c),
      tooltip: tooltip(c, (points) => {
        const f = shown[points[0].dataIndex];
        return [`forward ${points[0].dataIndex + 1}: ${words(f.kind)}`, `rows ${f.rows}`, `committed ${f.commits}`,
          f.prefix ? "prefix " + words(f.prefix) : null, f.network ? "network " + words(f.network) : null].filter(Boolean).join("\n");
      }, "axis"),
      xAxis: axis(c, { type: "category", data: shown.map((_, i) => i + 1), name: "forward", nameLocation: "middle", nameGap: 24 }),
      yAxis: [axis(c, { type: "value", name: "rows" }), axis(c, { type: "value", name: "committed", splitLine: { show: false }, minInterval: 1 })],
      series: [
        { name: "rows", type: "bar", data: shown.map((f) => f.rows), itemStyle: { opacity: 0.55 }, barMaxWidth: 22 },
        { name: "committed", type: "line", yAxisIndex: 1, data: shown.map((f) => f.commits), symbolSize: 6 },
      ],
    }),
  });
  const chosen = answers.length > 1 ? choice("Answer", answers.map((a) => a.id), (i) => {
    shown = answers[i].forwards;
    figure.redraw();
  }) : null;
  return section("forwards", "Forwards", h("div", { class: "controls" }, chosen), figure);
}
