// Numbers for people.

const prefixes = [
  [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"], [1e-12, "p"],
];

/** Three or more significant digits, no exponent. */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "\u2013";
  if (value === 0) return "0";
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 12) });
}

/** With the prefix of the SI that leaves one to three digits before the point: 7.24 GB/s. */
export function si(value, unit) {
  if (!Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  const [scale, prefix] = value === 0 ? [1, ""] : prefixes.find(([s]) => size >= s * 0.9995) ?? prefixes[prefixes.length - 1];
  return number(value / scale) + "\u00a0" + prefix + unit;
}

export const time = (microseconds) => si(microseconds * 1e-6, "s");
export const energy = (picojoules) => si(picojoules * 1e-12, "J");
export const bytes = (count) => si(count, "B");
export const percent = (share) => number(share * 100) + "\u00a0%";
export const count = (value) => value.toLocaleString("en-US");

/** Names of the program as words: dma_load becomes "dma load". */
export const words = (name) => String(name).replaceAll("_", " ");

/** A value of a configuration on one line. */
export function plain(value) {
  if (Array.isArray(value)) return "[" + value.map(plain).join(", ") + "]";
  // Single-precision values as they were meant: 0.9, not 0.8999999761581421.
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(7)));
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value).map(([key, part]) => words(key) + " " + (typeof part === "object" && !Array.isArray(part) ? `(${plain(part)})` : plain(part))).join(", ");
}
