// What results take as given.

import { h, note, section, table } from "../dom.js";
import { count, plain } from "../format.js";
import { kinds, mark } from "../kinds.js";

/** A section of `all`: [{path, value, kind, reason}], to be filtered by text and by kind. */
export function filteredAssumptions(id, title, explained, all) {
  const body = h("div", {}), shown = h("span", { class: "note", role: "status" });
  let text = "", kind = "";
  const fill = () => {
    const rows = all.filter((a) => (kind === "" || a.kind === kind) && `${a.path}\n${plain(a.value)}\n${a.reason}`.toLowerCase().includes(text));
    shown.textContent = `${count(rows.length)} of ${count(all.length)}`;
    body.replaceChildren(table(["value", { title: "", number: true }, "kind", "reason or source"],
      rows.map((a) => [h("code", {}, a.path), plain(a.value), mark(a.kind), a.reason.replace(/^(choice|quoted|computed|measured): /, "")]),
      { class: "assumptions", "aria-label": "Assumptions" }));
  };
  fill();
  const search = h("input", { type: "search", oninput: (e) => { text = e.target.value.toLowerCase(); fill(); } });
  const select = h("select", { onchange: (e) => { kind = e.target.value; fill(); } }, h("option", { value: "" }, "all kinds"),
    kinds.filter((k) => all.some((a) => a.kind === k)).map((k) => h("option", { value: k }, k)));
  return section(id, title, note(explained),
    h("div", { class: "controls" }, h("label", { class: "control" }, "Filter ", search), h("label", { class: "control" }, "Kind ", select), shown), body);
}

export const assumptions = (run) => filteredAssumptions("assumptions", "Assumptions",
  "Every value of the configuration as it was simulated, and what the memory's device takes as given.", run.assumptions);
