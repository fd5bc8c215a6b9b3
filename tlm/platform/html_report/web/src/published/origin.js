// What made the documents, their tables as printed, and everything they rest on.

import { h, note, section, table } from "../dom.js";
import { number, plain } from "../format.js";
import { filteredAssumptions } from "../sections/assumptions.js";

function entries(d) {
  const list = [["file", d.name], ["command", h("code", {}, d.command.join(" "))], ["program", `dllm-vp ${d.program.version}, revision ${d.program.revision}`]];
  if (d.trajectory) list.push(["decided by", `distribution ${d.trajectory.name}` + (d.trajectory.why ? `: ${d.trajectory.why}` : "")]);
  if (d.parameters) list.push(["options", plain(d.parameters)]);
  if (d.sources?.length) list.push(["quoted", d.sources.join("; ")]);
  return list;
}

export const origin = (documents) => section("origin", "What made this", documents.map((d) =>
  [h("dl", { class: "card wide" }, h("dt", {}, "figure"), h("dd", {}, d.title), entries(d).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    (d.notes ?? []).map((n) => note(n))]));

const heading = (c) => [c.name, [c.kind === "label" ? "" : c.kind, c.unit].filter(Boolean).join(", ")].filter(Boolean).join(" \u2013 ");
const cell = (value) => (typeof value === "number" ? number(value, 4) : value ?? "");

export function tables(documents) {
  const all = documents.flatMap((d) => d.tables ?? []);
  return section("tables", "All tables", all.map((t) => h("details", { class: "printed" }, h("summary", {}, t.title),
    table(t.columns.map((c) => ({ title: heading(c), number: c.kind !== "label" })), t.rows.map((row) => row.map(cell)), { "aria-label": t.title }),
    (t.notes ?? []).map((n) => note(n)))));
}

/** What all documents take as given; what several of them say alike, once. */
export function given(documents) {
  const all = new Map();
  for (const a of documents.flatMap((d) => d.assumed ?? [])) {
    const { configuration, key, value = null, kind, reason } = a;
    const line = JSON.stringify([key, value, kind, reason]);
    const known = all.get(line);
    if (known && !known.of.includes(configuration)) known.of.push(configuration);
    if (!known) all.set(line, { of: [configuration], path: key, value, kind, reason });
  }
  const lines = [...all.values()].map((a) => ({ ...a, path: `${a.path} (${a.of.join(", ")})` }));
  return lines.length === 0 ? null : filteredAssumptions("given", "What it rests on",
    "Every value that the figures take as given, with its reason; what several configurations have alike stands once.", lines);
}
