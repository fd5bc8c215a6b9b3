// Elements out of names and texts. Texts never become markup.

/**
 * An element: h("td", {class: "number"}, "7", h("b", {}, "!")). Attributes that are null, undefined or false are left
 * out, functions become listeners ("onclick"), children that are null are skipped.
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

/** A table: columns are {title, number?} or texts, rows lists of texts or elements. */
export function table(columns, rows, attributes = {}) {
  const column = columns.map((c) => (typeof c === "string" ? { title: c } : c));
  const aligned = (i) => (column[i].number ? "number" : null);
  const cell = (value, i) => h("td", { class: aligned(i) }, value ?? "");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": attributes["aria-label"] ?? "Table" },
    h("table", attributes,
      h("thead", {}, h("tr", {}, column.map((c, i) => h("th", { scope: "col", class: aligned(i) }, c.title)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/** A choice of one of `values`; `call` gets the index of the chosen one. */
export function choice(label, values, call, chosen = 0) {
  const select = h("select", { onchange: () => call(select.selectedIndex) }, values.map((v) => h("option", {}, v)));
  select.selectedIndex = chosen;
  return h("label", { class: "control" }, label + " ", select);
}

/** A section of the page with its heading; null when there is nothing to show. */
export function section(id, title, ...children) {
  const content = children.flat(Infinity).filter((c) => c !== null && c !== undefined);
  if (content.length === 0) return null;
  return h("section", { id, "aria-labelledby": id + "-title" }, h("h2", { id: id + "-title" }, title), content);
}

/** A line of explanation. */
export const note = (...text) => h("p", { class: "note" }, ...text);
