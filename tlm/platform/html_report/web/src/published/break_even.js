// Where something stops to pay.

import { h, note, section, table } from "../dom.js";
import { mark } from "../kinds.js";
import { amount, chartsOf, gain, notesOf } from "./charts.js";

function verdict(r) {
  const points = [...r.points].sort((a, b) => a[0] - b[0]);
  const at = (x) => amount(x, r.unit);
  const gains = points.map((p) => p[1]);
  const range = points.length === 0 ? "" : ` from ${at(points[0][0])} to ${at(points[points.length - 1][0])}, gain ${gain(Math.min(...gains))} to ${gain(Math.max(...gains))}`;
  if (r.verdict === "always") return `pays over the whole range${range}`;
  if (r.verdict === "never") return `pays nowhere${range}`;
  const how = r.bracket ? `simulated at ${at(r.bracket[0])} and ${at(r.bracket[1])}` : "by formula";
  const side = points.length < 2 ? "even at" : gains[0] > gains[gains.length - 1] ? "pays below" : "pays above";
  return [h("strong", {}, `${side} ${at(r.value)}`), ` (${how})`];
}

export function breakEven(documents) {
  const charts = chartsOf(documents, "break_even");
  const rows = charts.flatMap((c) => c.rows.map((r) =>
    [c.subject, r.name, `${r.compares}, ${r.what}`, mark(r.kind), h("span", {}, verdict(r)), amount(r.configured ?? NaN, r.unit),
      r.points.map(([x, y]) => `${amount(x)}: ${gain(y)}`).join(", ")]));
  return rows.length === 0 ? null : section("break-even", "Where it stops to pay",
    table(["", "parameter", "gain of", "", "break-even", { title: "as configured", number: true }, "points"], rows, { class: "break-even", "aria-label": "Break-even" }),
    notesOf(charts).map((n) => note(n)));
}
