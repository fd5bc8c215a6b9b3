// Latency by phase, energy by part, bytes by precision, configuration by configuration.

import { stackedBars } from "../chart.js";
import { note, section } from "../dom.js";
import { words } from "../format.js";
import { amount, caption, chartsOf, notesOf } from "./charts.js";

const order = ["energy", "bytes", "latency"];

export function amounts(documents) {
  const charts = chartsOf(documents, "stacked").sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what));
  return section("amounts", "Where energy, bytes and time go",
    charts.map((c) => stackedBars({ title: caption(c), parts: c.parts.map(words), bars: c.bars, show: (v) => amount(v, c.unit) })),
    notesOf(charts).map((n) => note(n)));
}
