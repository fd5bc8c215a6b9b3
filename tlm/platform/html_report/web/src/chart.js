// Charts: drawn as SVG by Apache ECharts, each with its numbers as a table below, for keyboards, screen readers and paper.

import * as echarts from "echarts/core";
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomComponent, GridComponent, LegendComponent, TooltipComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import { h, table } from "./dom.js";
import { colours, isPrinting, onThemeChange } from "./theme.js";

echarts.use([
  BarChart, CustomChart, LineChart, ScatterChart, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent,
  SVGRenderer,
]);

// By name, as texts are measured before they are drawn.
const font = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const printed_width = 650; // of A4 less margins and frame, CSS pixels
const drawn = new Set();

function draw(chart) {
  chart.instance.setOption({ ...base(), ...chart.option(colours(), chart.instance.getWidth()) }, { notMerge: true });
}

function base() {
  const c = colours();
  return {
    color: c.series,
    backgroundColor: "transparent",
    animation: false,
    textStyle: { color: c.text, fontFamily: font },
  };
}

function resize(chart) {
  const before = chart.instance.getWidth();
  chart.instance.resize({ width: isPrinting() ? printed_width : "auto" });
  if (chart.instance.getWidth() !== before) draw(chart);
}

onThemeChange(() => {
  for (const chart of drawn) {
    draw(chart);
    resize(chart);
    chart.instance.getZr().flush();  // now: paper does not wait for the next frame
  }
});

const observer = new ResizeObserver((entries) => {
  for (const entry of entries) {
    for (const chart of drawn) if (chart.host === entry.target) resize(chart);
  }
});

/** Forgets charts that left the page. */
export function dropCharts() {
  for (const chart of drawn) {
    observer.unobserve(chart.host);
    chart.instance.dispose();
  }
  drawn.clear();
}

/**
 * A figure of `title`; `option(colours, width)` gives what ECharts takes, again for every change of these. `columns` and
 * `rows` are its numbers as table() takes them. The element's `redraw()` draws it anew after a change of its data.
 */
export function chart({ title, height = 280, option, columns, rows, wide = false }) {
  const host = h("div", { class: "canvas", role: "img", "aria-label": columns ? title + "; its numbers are in the table below" : title, style: `height:${height}px` });
  const numbers = h("div", {});
  const figure = h("figure", { class: wide ? "card wide" : "card" }, h("figcaption", {}, title), host,
    columns ? h("details", { class: "numbers" }, h("summary", {}, "As a table"), numbers) : null);
  const fill = () => columns && numbers.replaceChildren(table(columns, typeof rows === "function" ? rows() : rows));
  fill();
  // Once it is on the page and has a size.
  requestAnimationFrame(() => {
    const entry = { host, option, instance: echarts.init(host, null, { renderer: "svg" }) };
    drawn.add(entry);
    observer.observe(host);
    draw(entry);
    figure.redraw = () => {
      draw(entry);
      fill();
    };
  });
  figure.redraw = () => {};
  return figure;
}

/** Text that follows the pointer; plain text, whatever the names in it are. */
export function tooltip(c, formatter, trigger = "item") {
  return {
    trigger, formatter, renderMode: "richText", confine: true, backgroundColor: c.surface, borderColor: c.line,
    textStyle: { color: c.text, fontSize: 12 }, axisPointer: { lineStyle: { color: c.faint } },
  };
}

/** An axis in the page's colours. */
export function axis(c, more) {
  return {
    axisLine: { lineStyle: { color: c.faint } }, axisTick: { lineStyle: { color: c.faint } },
    splitLine: { lineStyle: { color: c.line } }, nameTextStyle: { color: c.faint }, ...more,
    axisLabel: { color: c.text, ...more?.axisLabel },
  };
}

export const legend = (c, more = {}) => ({ top: 0, textStyle: { color: c.text }, inactiveColor: c.line, type: "scroll",
  pageTextStyle: { color: c.text }, ...more });

const narrow = 530; // a chart that shares its line with another, CSS pixels

/**
 * A legend with all names on the page, on as many lines as they take: paper cannot scroll. `height` is that of the lines
 * in a chart of so many CSS pixels, `of(colours)` the option.
 */
export function wrappedLegend(names, width = narrow) {
  let lines = 1, used = 0;
  for (const name of names) {
    const taken = 42 + 7 * name.length;
    if (used > 0 && used + taken > width) {
      lines += 1;
      used = 0;
    }
    used += taken;
  }
  return { height: 10 + 24 * lines, of: (c) => legend(c, { type: "plain" }) };
}

/**
 * Bars lying one below the other, each made of the same parts. `bars`: [{name, values}], `parts`: names of the values;
 * `show` makes a value a text. Null when all values are 0.
 */
export function stackedBars({ title, bars, parts, show, wide, share = false }) {
  const used = parts.map((_, i) => bars.some((b) => b.values[i] > 0));
  if (!used.includes(true)) return null;
  const named = parts.length > 1;
  const shown = parts.filter((_, i) => used[i]);
  const heading = (width) => (named ? wrappedLegend(shown, width) : { height: 6, of: () => undefined });
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  return chart({
    title, wide, height: heading(wide ? printed_width : narrow).height + 32 * bars.length + 30,
    columns: [{ title: "" }, ...parts.map((p) => ({ title: p, number: true }))],
    rows: bars.map((b) => [b.name, ...b.values.map(show)]),
    option: (c, width) => ({
      grid: { left: 4, right: share ? 30 : 74, top: heading(width).height, bottom: 4, containLabel: true },
      legend: heading(width).of(c),
      tooltip: tooltip(c, (p) => `${p.name}\n${named ? p.seriesName + ": " : ""}${show(p.value)}`),
      xAxis: axis(c, { type: "value", axisLabel: { formatter: show, hideOverlap: true }, splitNumber: 4, ...(share ? { max: 1, interval: 0.25 } : {}) }),
      yAxis: axis(c, { type: "category", inverse: true, data: bars.map((b) => b.name), splitLine: { show: false }, axisTick: { show: false }, z: 3 }),
      series: [
        ...parts.flatMap((name, i) => used[i] ? [{
          name, type: "bar", stack: "all", barMaxWidth: 22, data: bars.map((b) => b.values[i]),
          itemStyle: { borderColor: c.surface, borderWidth: 1 },
        }] : []),
        ...(share ? [] : [{
          type: "bar", stack: "all", barMaxWidth: 22, silent: true, data: bars.map(() => 0), tooltip: { show: false },
          label: { show: true, position: "right", color: c.text, fontSize: 11.5, formatter: (p) => show(sum(bars[p.dataIndex].values)) },
        }]),
      ],
    }),
  });
}
