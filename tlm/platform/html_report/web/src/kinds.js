// What a figure is, as a mark beside it.

import { h } from "./dom.js";

const meaning = {
  measured: ["\u25cf", "it was simulated"],
  modelled: ["\u25d0", "a formula over what was simulated, named beside it"],
  quoted: ["\u275d", "a publication or data sheet, named beside it"],
  computed: ["=", "follows from what is named beside it"],
  choice: ["\u25c7", "a value that somebody chose, with the reason beside it"],
  unstated: ["?", "no reason is stated"],
};

export const kinds = Object.keys(meaning);

export function mark(kind) {
  const [sign, what] = meaning[kind] ?? ["?", "of no known kind"];
  return h("span", { class: "kind kind-" + (meaning[kind] ? kind : "unstated"), title: what },
    h("span", { "aria-hidden": "true" }, sign), " " + kind);
}

export function explanation() {
  return h("p", { class: "note kinds" }, ["measured", "modelled", "quoted", "choice"].flatMap((kind) =>
    [mark(kind), " " + meaning[kind][1] + ". "]));
}
