// The question and its answer: ours beside the publication's, and which part of the gain survives on a real memory.

import { h, note, section, table } from "../dom.js";
import { number, percent } from "../format.js";
import { explanation, mark } from "../kinds.js";
import { spanChart } from "../spans.js";
import { caption, chartsOf, gain, markOf, notesOf } from "./charts.js";

function headline(charts) {
  const rows = charts.flatMap((c) => c.rows.map((r) => [
    c.subject, r.name, h("strong", {}, gain(r.ours)), r.ours === null ? "" : markOf(r.kind), gain(r.theirs), r.theirs === null ? "" : mark("quoted"),
    number(r.ratio ?? NaN), r.source]));
  return rows.length === 0 ? null : table(
    ["", "gain in", { title: "ours", number: true }, "", { title: "theirs", number: true }, "", { title: "ours to theirs", number: true }, "source"],
    rows, { class: "headline", "aria-label": "Headline figures" });
}

// Bars begin at 1, where nothing is gained.
function waterfall(c) {
  const whole = (name, value, colour) => ({ name, from: 1, to: value, colour, right: gain(value), tip: `${name}: ${gain(value)}` });
  let before = c.start.value;
  const steps = c.steps.map((s, i) => {
    const from = before, taken = c.survival.takes[i].amount;
    before = s.value;
    const text = (taken > 0 ? "\u2212" : "+") + Math.abs(taken).toFixed(2);
    return { name: s.name, from, to: s.value, colour: (k) => k.series[taken > 0 ? 6 : 2], right: text, tip: `${s.name}: ${text}\nleft: ${gain(s.value)}` };
  });
  const quoted = c.quoted ? [whole("publication (quoted)", c.quoted, (k) => k.series[5])] : [];
  return spanChart({
    title: `${caption(c)}: ${c.compares}`, line: 1, show: (v) => v.toFixed(2),
    spans: [...quoted, whole(c.start.name, c.start.value, (k) => k.series[0]), ...steps, whole(c.end.name, c.end.value, (k) => k.series[0])],
    columns: ["", { title: "takes", number: true }, { title: "gain left", number: true }],
    rows: [[c.start.name, "", gain(c.start.value)], ...c.steps.map((s, i) => [s.name, number(c.survival.takes[i].amount), gain(s.value)]),
      [c.end.name, "", gain(c.end.value)], ["survives, of what is gained on an ideal memory", "", c.survival.survives === null ? "\u2013" : percent(c.survival.survives)],
      ["publication (quoted)", "", gain(c.quoted ?? NaN)]],
  });
}

export function answer(documents) {
  const waterfalls = chartsOf(documents, "waterfall"), headlines = chartsOf(documents, "headline");
  if (waterfalls.length + headlines.length === 0) return null;
  return section("answer", "Which part of the gain would survive on a real memory?",
    waterfalls.length === 0 ? note("No causes were switched off in these documents; scripts/published four --causes does.")
      : h("div", { class: "card answer" }, waterfalls.map((c) => h("p", {}, h("strong", {}, c.subject), c.survival.sentence.slice(c.subject.length)))),
    headline(headlines), explanation(), waterfalls.map(waterfall),
    waterfalls.length === 0 ? null : note("Causes are put back one after another; what each takes depends on the order, what is left at the end does not. ",
      "Survives: (gain as modelled \u2212 1) / (gain on an ideal memory \u2212 1)."),
    notesOf([...waterfalls, ...headlines]).map((n) => note(n)));
}
