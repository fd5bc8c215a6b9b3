// Two choices at a time: the gain with both at an end, and how far they are from simply multiplying.

import { axis, chart, tooltip } from "../chart.js";
import { choice, h, note, section } from "../dom.js";
import { caption, chartsOf, gain, notesOf } from "./charts.js";

const views = [["gain", (cell) => cell.value, (c) => c.centre], ["interaction", (cell) => cell.interaction, () => 1]];

// Blue above the centre, red below it, white at it; strongest where it is `span` times as much or as little.
function shade(c, factor, span) {
  const strength = Math.min(Math.abs(Math.log(factor)) / Math.log(span), 1);
  return { fill: c.series[factor >= 1 ? 0 : 6], opacity: 0.06 + 0.6 * strength };
}

function draw(c) {
  let view = 0;
  const ends = c.choices.flatMap((choice, i) => choice.ends.map((end, j) => ({ choice: i, end: j, name: `${choice.name}: ${end}` })));
  const numbered = ends.map((e, i) => `${e.name}  (${i + 1})`);
  const index = (choice, end) => ends.findIndex((e) => e.choice === choice && e.end === end);
  // Both halves of the square, as a cell says nothing of an order.
  const cells = c.cells.flatMap((cell) => {
    const a = index(cell.a, cell.a_end), b = index(cell.b, cell.b_end);
    return [[a, b, cell], [b, a, cell]];
  });
  const value = (cell) => views[view][1](cell);
  const figure = chart({
    title: caption(c), height: 34 + 34 * ends.length, wide: ends.length > 8,
    columns: ["", "", { title: "gain", number: true }, { title: "interaction", number: true }],
    rows: c.cells.map((cell) => [ends[index(cell.a, cell.a_end)].name, ends[index(cell.b, cell.b_end)].name, gain(cell.value), cell.interaction.toFixed(2)]),
    option: (k) => {
      const middle = views[view][2](c);
      const span = Math.max(1.02, ...c.cells.map((cell) => Math.exp(Math.abs(Math.log(value(cell) / middle)))).filter(Number.isFinite));
      return {
        grid: { left: 4, right: 8, top: 6, bottom: 4, containLabel: true },
        tooltip: tooltip(k, (p) => {
          const [a, b, cell] = cells[p.dataIndex];
          return `${ends[a].name}\n${ends[b].name}\ngain ${gain(cell.value)}, interaction ${cell.interaction.toFixed(2)}`;
        }),
        xAxis: axis(k, { type: "category", position: "top", data: ends.map((_, i) => i + 1), axisTick: { show: false }, splitLine: { show: false }, axisLabel: { interval: 0 } }),
        yAxis: axis(k, { type: "category", inverse: true, data: numbered, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { interval: 0, width: 210, overflow: "break", lineHeight: 13 } }),
        series: [{
          type: "custom", encode: { x: 0, y: 1 }, data: cells.map(([a, b, cell]) => [a, b, value(cell)]),
          renderItem: ({ dataIndex }, api) => {
            const [a, b, cell] = cells[dataIndex];
            const [x, y] = api.coord([a, b]), [width, height] = api.size([1, 1]);
            return { type: "group", children: [
              { type: "rect", shape: { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2 }, style: shade(k, value(cell) / middle, span) },
              { type: "text", x, y, style: { text: value(cell).toFixed(2), textAlign: "center", textVerticalAlign: "middle", fill: k.text, fontSize: 11.5 } },
            ] };
          },
        }],
      };
    },
  });
  return [h("div", { class: "controls" }, choice("Show", views.map(([name]) => name), (i) => { view = i; figure.redraw(); })), figure];
}

export function pairs(documents) {
  const charts = chartsOf(documents, "pairs");
  return section("pairs", "Two choices at a time", charts.map(draw),
    charts.length === 0 ? null : note("Blue: more than as configured, red: less. Interaction: gain with both \u00d7 gain as configured / (gain with the one \u00d7 gain with the other); 1 where the two simply multiply."),
    notesOf(charts).map((n) => note(n)));
}
