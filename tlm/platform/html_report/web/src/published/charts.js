// What documents of scripts/published hold, by type, and how their gains are written.

import { number } from "../format.js";
import { mark } from "../kinds.js";

/** All charts of a type, in the order of the documents. */
export const chartsOf = (documents, type) => documents.flatMap((d) => d.charts.filter((c) => c.type === type));

/** A gain: 2.65x. */
export const gain = (value) => (Number.isFinite(value) ? value.toFixed(2) + "\u00d7" : "\u2013");

/** A heading for a chart: what, of what, and of which kind. */
export function caption(c) {
  const what = c.subject && !c.title.includes(c.subject) ? `${c.title}, ${c.subject}` : c.title;
  return `${what} (${c.kind})`;
}

export function amount(value, unit) {
  if (!Number.isFinite(value)) return "\u2013";
  return number(value) + (unit === "x" ? "\u00d7" : unit ? "\u00a0" + unit : "");
}

/** The mark of a kind; nothing where there is no figure. */
export const markOf = (kind) => (kind ? mark(kind) : "");

/** The texts that belong to charts, each once. */
export const notesOf = (charts) => [...new Set(charts.flatMap((c) => c.notes ?? []))];
