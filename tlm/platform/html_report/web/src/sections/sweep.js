// A sweep: its points, the front of those that no other one beats, and filters over its parameters.

import { axis, chart, legend, tooltip } from "../chart.js";
import { choice, h, note, section, table } from "../dom.js";
import { count, number, plain, si } from "../format.js";
import { mark } from "../kinds.js";
import { paretoFront } from "../pareto.js";

const most_choices = 12; // values of a parameter that are chosen one by one; more by a range

// A figure with its unit, by the end of its name.
function show(figure, value) {
  if (value === null || value === undefined) return "\u2013";
  if (figure.endsWith("_us") || figure.endsWith(".us")) return si(value * 1e-6, "s");
  if (figure.endsWith("_pj")) return si(value * 1e-12, "J");
  if (figure.endsWith("bytes_per_second")) return si(value, "B/s");
  return number(value);
}

const short = (figure) => figure.replace(/^total\./, "");

// Numbers by size, then words.
const ordered = (values) => [...new Set(values)].sort((a, b) => (a - b) || String(a).localeCompare(String(b)));

// One control a parameter; `passes(point)` of each says whether the reader wants to see the point.
function filterOf(name, points, changed) {
  const values = ordered(points.map((p) => plain(p.parameters[name])));
  const numeric = points.every((p) => typeof p.parameters[name] === "number");
  if (values.length < 2) return null;
  if (values.length > most_choices && numeric) {
    const all = points.map((p) => p.parameters[name]);
    const limit = (label, value) => h("label", {}, label + " ", h("input", { type: "number", step: "any", value, oninput: changed }));
    const low = limit("from", Math.min(...all)), high = limit("to", Math.max(...all));
    const of = (l) => l.querySelector("input").valueAsNumber;
    const passes = (p) => !(p.parameters[name] < of(low)) && !(p.parameters[name] > of(high));
    return { passes, element: h("fieldset", {}, h("legend", {}, name), low, high) };
  }
  if (values.length > most_choices) return null;
  const boxes = values.map((v) => h("input", { type: "checkbox", checked: true, onchange: changed, value: v }));
  const passes = (p) => boxes.some((b) => b.checked && b.value === plain(p.parameters[name]));
  return { passes, element: h("fieldset", {}, h("legend", {}, name), boxes.map((b) => h("label", {}, b, b.value))) };
}

export function sweep(s, index) {
  const done = s.points.filter((p) => p.state === "done");
  const failed = s.points.filter((p) => p.state === "failed");
  const objectives = s.objectives;
  let x = 0, y = Math.min(1, objectives.length - 1), coloured = 0;
  let visible = done, front = [];
  const status = h("span", { class: "note", role: "status" });
  const body = h("div", {});
  const filters = s.parameters.map((name) => filterOf(name, done, () => update())).filter((f) => f !== null);

  const option = (c) => {
    const optimal = new Set(front);
    const name = s.parameters[coloured];
    const groups = name === undefined ? [["points", visible]] :
      ordered(visible.map((p) => plain(p.parameters[name]))).map((value) => [`${name} ${value}`, visible.filter((p) => plain(p.parameters[name]) === value)]);
    const data = (points) => points.map((p) => ({
      value: [p.values[x], p.values[y]], point: p,
      symbolSize: optimal.has(p) ? 15 : 9, itemStyle: optimal.has(p) ? { borderColor: c.text, borderWidth: 2 } : { opacity: 0.75 },
    }));
    const sorted = [...front].sort((a, b) => a.values[x] - b.values[x]);
    return {
      legend: legend(c),
      grid: { left: 16, right: 24, top: 56, bottom: 40, containLabel: true },
      tooltip: tooltip(c, (p) => p.data?.point ? [
        `point ${p.data.point.ordinal}${optimal.has(p.data.point) ? ", on the front" : ""}`,
        ...s.parameters.map((n) => `${n} = ${plain(p.data.point.parameters[n])}`),
        ...objectives.map((o, i) => `${short(o.figure)}: ${show(o.figure, p.data.point.values[i])}`)].join("\n") : ""),
      xAxis: axis(c, { type: "value", scale: true, name: `${short(objectives[x].figure)} (${objectives[x].goal})`, nameLocation: "middle", nameGap: 26, axisLabel: { formatter: (v) => show(objectives[x].figure, v), hideOverlap: true } }),
      yAxis: axis(c, { type: "value", scale: true, name: `${short(objectives[y].figure)} (${objectives[y].goal})`, nameTextStyle: { align: "left", color: c.faint }, axisLabel: { formatter: (v) => show(objectives[y].figure, v) } }),
      series: [
        ...groups.map(([name, points]) => ({ name, type: "scatter", data: data(points) })),
        { name: "front", type: "line", symbol: "none", lineStyle: { type: "dashed", color: c.faint }, itemStyle: { color: c.faint }, data: sorted.map((p) => [p.values[x], p.values[y]]) },
      ],
    };
  };
  const figure = objectives.length === 0 || done.length === 0 ? null : chart({ title: "Points, and the front that no other point beats", height: 440, wide: true, option });

  function update() {
    visible = done.filter((p) => filters.every((f) => f.passes(p)));
    front = objectives.length === 0 ? [] : paretoFront(visible, (p) => [p.values[x], p.values[y]], [objectives[x].goal, objectives[y].goal]);
    const optimal = new Set(front);
    status.textContent = `${count(visible.length)} of ${count(done.length)} points shown, ${count(front.length)} on the front`;
    body.replaceChildren(table(
      [{ title: "point", number: true }, ...s.parameters.map((p) => ({ title: p, number: true })), ...objectives.map((o) => ({ title: short(o.figure), number: true })), "front"],
      visible.map((p) => [String(p.ordinal), ...s.parameters.map((n) => plain(p.parameters[n])),
        ...objectives.map((o, i) => show(o.figure, p.values[i])), optimal.has(p) ? "\u2605" : ""]), { class: "points", "aria-label": "Points" }));
    figure?.redraw();
  }
  update();

  const names = objectives.map((o) => short(o.figure));
  const controls = [
    objectives.length > 1 ? choice("Across", names, (i) => { x = i; update(); }, x) : null,
    objectives.length > 1 ? choice("Up", names, (i) => { y = i; update(); }, y) : null,
    s.parameters.length > 1 ? choice("Colour by", s.parameters, (i) => { coloured = i; update(); }) : null,
  ];
  return section("sweep-" + index, "Sweep " + s.name,
    h("div", { class: "controls filters" }, controls, filters.map((f) => f.element), status),
    figure, body,
    h("p", { class: "note" }, "Objectives: ", objectives.flatMap((o) => [`${short(o.figure)} (${o.goal}) `, mark(o.kind), " "])),
    s.points_left_out > 0 ? note(`${count(s.points_left_out)} more points are in ${s.file}.`) : null,
    s.points.length > done.length ? note(`${count(s.points.length - done.length)} of ${count(s.points.length)} points have no figures: ${count(failed.length)} failed, the others have not run.`) : null,
    failed.length > 0 ? table([{ title: "failed point", number: true }, "parameters", "why"], failed.slice(0, 200).map((p) =>
      [String(p.ordinal), s.parameters.map((n) => `${n} = ${plain(p.parameters[n])}`).join(", "), h("span", { class: "trouble" }, p.reason)])) : null);
}
