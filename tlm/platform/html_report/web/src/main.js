// The page: reads its data, builds the sections, lets the reader choose a run and the colours.

import { dropCharts } from "./chart.js";
import { choice, h } from "./dom.js";
import { amounts } from "./published/amounts.js";
import { answer } from "./published/answer.js";
import { breakEven } from "./published/break_even.js";
import { gains } from "./published/gains.js";
import { ladder } from "./published/ladder.js";
import { given, origin, tables } from "./published/origin.js";
import { pairs } from "./published/pairs.js";
import { tornado } from "./published/tornado.js";
import { assumptions } from "./sections/assumptions.js";
import { comparison } from "./sections/comparison.js";
import { compression } from "./sections/compression.js";
import { energy } from "./sections/energy.js";
import { figures } from "./sections/figures.js";
import { forwards } from "./sections/forwards.js";
import { latency } from "./sections/latency.js";
import { plan } from "./sections/plan.js";
import { quality } from "./sections/quality.js";
import { roofline } from "./sections/roofline.js";
import { sweep } from "./sections/sweep.js";
import { timeline } from "./sections/timeline.js";
import { traffic } from "./sections/traffic.js";
import { what } from "./sections/what.js";
import { startTheme, toggleTheme } from "./theme.js";

const of_a_run = [what, figures, latency, energy, roofline, timeline, forwards, traffic, plan, compression, quality, assumptions];
const of_publications = [answer, gains, amounts, tornado, pairs, breakEven, ladder, tables, origin, given];

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.runs.map((run) => `${run.name} (${run.folder})`);
const alone = data.runs.length === 1 && !data.comparisons.length && !data.sweeps.length && !data.published.length ? data.runs[0].name : "";
const of_one_document = data.published.length === 1 && !data.runs.length ? data.published[0].title : "";
const title = data.title || (alone || of_one_document || "Results") + ", dllm-vp";
document.title = title;

const main = h("main", { id: "main", tabindex: "-1" });
const contents = h("nav", { "aria-label": "Sections" });

function show(index) {
  dropCharts();
  const sections = data.published.length > 0 ? of_publications.map((build) => build(data.published)) : [];
  sections.push(...data.sweeps.map(sweep), ...data.comparisons.map(comparison));
  if (data.runs.length > 0) {
    if (sections.length > 0 || data.runs.length > 1) sections.push(h("h1", { class: "run" }, "Run " + data.runs[index].name));
    sections.push(...of_a_run.map((build) => build(data.runs[index])));
  }
  main.replaceChildren(...sections.filter((s) => s !== null));
  contents.replaceChildren(h("ul", {}, [...main.querySelectorAll("section")].map((s) =>
    h("li", {}, h("a", { href: "#" + s.id }, s.querySelector("h2").textContent)))));
}

function licences() {
  const text = document.getElementById("licences");
  text.hidden = false;
  return h("details", {}, h("summary", {}, "Charts by Apache ECharts; licences"), text);
}

startTheme();
document.body.append(
  h("a", { class: "skip", href: "#main" }, "To the results"),
  h("header", {}, h("h1", {}, title), h("div", { class: "controls" },
    data.runs.length > 1 ? choice("Run", names, show) : null,
    h("button", { type: "button", onclick: toggleTheme }, "Light / dark"),
    h("button", { type: "button", onclick: () => print() }, "Print"))),
  contents, main,
  h("footer", {}, h("p", {}, `Written by dllm-vp ${data.version}. The same inputs give the same page.`), licences()));
show(0);
