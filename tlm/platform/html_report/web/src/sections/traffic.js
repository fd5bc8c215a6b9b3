// What crossed the DRAM's interface, and why.

import { stackedBars } from "../chart.js";
import { section } from "../dom.js";
import { bytes, words } from "../format.js";

export function traffic(run) {
  const d = run.stats.total.dram;
  const purposes = [...new Set([...Object.keys(d.bytes_read), ...Object.keys(d.bytes_written)])]
    .map((p) => [p, d.bytes_read[p] ?? 0, d.bytes_written[p] ?? 0]).sort((a, b) => b[1] + b[2] - a[1] - a[2]);
  const precisions = Object.entries(d.bytes_read_by_precision ?? {});
  return section("traffic", "Memory traffic",
    stackedBars({ title: "Bytes by purpose (measured, all answers)", show: bytes, parts: ["read", "written"],
      bars: purposes.map(([name, read, written]) => ({ name: words(name), values: [read, written] })) }),
    precisions.length === 0 ? null : stackedBars({ title: "Bytes read by precision (measured, all answers)", show: bytes, parts: ["read"],
      bars: precisions.map(([name, value]) => ({ name, values: [value] })) }));
}
