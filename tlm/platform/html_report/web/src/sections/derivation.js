// How a figure comes about: a tree of terms down to counters and prices.

import { h } from "../dom.js";
import { number } from "../format.js";
import { mark } from "../kinds.js";

const shown = (d) => (d.text !== undefined ? d.text : number(d.value, 6) + (d.unit ? "\u00a0" + d.unit : ""));

function item(d) {
  return h("li", {}, h("code", {}, d.name), " = ", h("strong", {}, shown(d)), " ", mark(d.kind),
    d.formula ? h("div", { class: "formula" }, "= ", d.formula) : null,
    d.source ? h("div", { class: "source" }, d.source) : null,
    d.terms?.length ? h("ul", {}, d.terms.map(item)) : null);
}

export const derivationTree = (d) => h("ul", { class: "derivation" }, item(d));
