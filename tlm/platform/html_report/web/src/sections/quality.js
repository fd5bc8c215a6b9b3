// Answers: how many are right, and every one of them.

import { axis, chart, tooltip } from "../chart.js";
import { h, note, section, table } from "../dom.js";
import { count, energy, number, percent, time } from "../format.js";

function scores(run) {
  if (run.scores.length === 0) return null;
  const bars = run.scores.length === 2 ? run.scores.slice(1) : run.scores;
  const interval = (s) => `${percent(s.low)} to ${percent(s.high)}`;
  return chart({
    title: "Right answers, with 95 % interval (measured)", height: 90 + 34 * bars.length,
    columns: ["task", { title: "right", number: true }, { title: "of", number: true }, { title: "95 % interval", number: true }],
    rows: bars.map((s) => [s.task, count(s.right), count(s.of), interval(s)]),
    option: (c) => ({
      grid: { left: 8, right: 24, top: 12, bottom: 8, containLabel: true },
      tooltip: tooltip(c, (p) => { const s = bars[p.dataIndex]; return `${s.task}: ${count(s.right)} of ${count(s.of)}\n95 %: ${interval(s)}`; }),
      xAxis: axis(c, { type: "value", min: 0, max: 1, axisLabel: { formatter: percent } }),
      yAxis: axis(c, { type: "category", inverse: true, data: bars.map((s) => s.task), splitLine: { show: false } }),
      series: [
        { type: "bar", data: bars.map((s) => s.right / s.of), barMaxWidth: 22, itemStyle: { opacity: 0.6 } },
        { type: "custom", data: bars.map((s, i) => [s.low, s.high, i]), encode: { x: [0, 1], y: 2 }, z: 3,
          renderItem: (_, api) => {
            const [x1, y] = api.coord([api.value(0), api.value(2)]);
            const [x2] = api.coord([api.value(1), api.value(2)]);
            const line = (shape) => ({ type: "line", shape, style: { stroke: c.text, lineWidth: 1.5 } });
            return { type: "group", children: [line({ x1, x2, y1: y, y2: y }), line({ x1, x2: x1, y1: y - 6, y2: y + 6 }), line({ x1: x2, x2, y1: y - 6, y2: y + 6 })] };
          } },
      ],
    }),
  });
}

const verdict = (a) => (a.result !== "ok" ? a.trouble ?? a.result : a.right === undefined ? "" : a.right ? "right" : "wrong");

function answers(run) {
  const all = run.answers;
  const body = h("div", {});
  const fill = (text) => {
    const wanted = text.toLowerCase();
    const rows = all.filter((a) => [a.id, a.prompt, a.answer, verdict(a)].join("\n").toLowerCase().includes(wanted));
    body.replaceChildren(table(["answer", "prompt and answer", "", { title: "latency", number: true }, { title: "energy", number: true }, { title: "tokens per forward", number: true }],
      rows.map((a) => [a.id, h("div", {}, h("div", { class: "prompt" }, a.prompt), h("div", {}, a.answer)), verdict(a), time(a.latency_us),
        energy(a.system_pj), number(a.tokens_per_forward)]), { class: "answers", "aria-label": "Answers" }));
  };
  fill("");
  const filter = h("label", { class: "control" }, "Filter ", h("input", { type: "search", oninput: (e) => fill(e.target.value) }));
  return [h("div", { class: "controls" }, all.length > 5 ? filter : null), body,
    run.answers_left_out > 0 ? note(`${count(run.answers_left_out)} more answers are in stats.json.`) : null];
}

export const quality = (run) => section("quality", "Answers", scores(run), ...answers(run));
