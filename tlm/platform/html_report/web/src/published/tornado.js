// What the gain rests on, one choice at a time.

import { note, section } from "../dom.js";
import { spanChart } from "../spans.js";
import { caption, chartsOf, gain, notesOf } from "./charts.js";

function draw(c) {
  const bars = c.bars.map((b) => {
    const ends = [...b.ends, { at: "", value: c.centre }].sort((x, y) => x.value - y.value);
    const [low, high] = [ends[0], ends[ends.length - 1]];
    const label = (end) => (end.at === "" ? undefined : `${end.at}: ${end.value.toFixed(2)}`);
    return { name: b.name, from: low.value, to: high.value, colour: (k) => k.series[0], left: label(low), right: label(high),
      tip: [b.name, ...b.ends.map((e) => `${e.at}: ${gain(e.value)}`), `as configured: ${gain(c.centre)}`].join("\n") };
  });
  const most = Math.max(...c.bars.map((b) => b.ends.length));
  const columns = Array.from({ length: most }, () => ["at", { title: "gain", number: true }]).flat();
  return spanChart({
    title: `${caption(c)}; ${gain(c.centre)} as configured`, line: c.centre, show: (v) => v.toFixed(2), spans: bars,
    columns: ["choice", ...columns],
    rows: c.bars.map((b) => [b.name, ...Array.from({ length: most }, (_, i) => (b.ends[i] ? [b.ends[i].at, gain(b.ends[i].value)] : ["", ""])).flat()]),
  });
}

export function tornado(documents) {
  const charts = chartsOf(documents, "tornado");
  return section("sensitivity", "What the gain rests on, one choice at a time", charts.map(draw), notesOf(charts).map((n) => note(n)));
}
