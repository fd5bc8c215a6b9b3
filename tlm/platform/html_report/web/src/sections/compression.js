// What compression read, touched and left out.

import { stackedBars } from "../chart.js";
import { note, section } from "../dom.js";
import { count, number, percent } from "../format.js";

const shares = (parts) => {
  const all = parts.reduce((a, b) => a + b, 0);
  return parts.map((p) => (all ? p / all : 0));
};

export function compression(run) {
  const c = run.stats.total.compression;
  if (!c) return null;
  const layers = c.layers ?? [];
  const bars = (of) => [["all layers", c], ...layers.map((l, i) => [`layer ${i}`, l])]
    .filter(([, x]) => x[of[0]]).map(([name, x]) => ({ name, values: shares(of[1](x[of[0]])) }));
  const prefix = bars(["prefix", (p) => {
    const m = p.reads.mapped;
    return [p.reads.unmapped, p.reads.plain, m.q8, m.q4, m.q2, m.q0];
  }]);
  const network = bars(["network", (n) => [n.channels.q8, n.channels.q4, n.channels.q2, n.channels.q0]]);
  return section("compression", "Compression",
    prefix.length ? stackedBars({ title: "Reads of prefix entries, shares (measured)", bars: prefix, share: true, show: percent,
      parts: ["q8, no map yet", "q8, without a basis", "mapped q8", "mapped q4", "mapped q2", "mapped q0"] }) : null,
    network.length ? stackedBars({ title: "Channels of the feed-forward network, shares (measured)", bars: network, share: true, show: percent,
      parts: ["recomputed, q8", "corrected, q4", "corrected, q2", "carried"] }) : null,
    c.prefix ? note(`${c.prefix.maps ? `Mean bits of mapped reads ${number(c.prefix.mean_bits.mapped)}` : "No reads are mapped"}, mean bits of all reads ${number(c.prefix.mean_bits.all)}; ${count(c.prefix.maps)} tier maps, ${count(c.prefix.bases)} bases.`) : null,
    c.network ? note(`Mean drift ${number(c.network.mean_drift)}, largest ${number(c.network.largest_drift)}, mean budget ${number(c.network.mean_budget)}.`) : null);
}
