// Where the time went: by what forwards did, by what engines waited for, by what kept the data bus idle.

import { stackedBars } from "../chart.js";
import { note, section } from "../dom.js";
import { percent, time, words } from "../format.js";

function phases(run) {
  const p = run.stats.total.phases;
  const kinds = ["prefill", "denoise", "fill", "rest"];
  const bars = [{ name: "all forwards", values: kinds.map((k) => p[k].us) }];
  const parts = kinds.map((k) => ({ prefill: "prefill", denoise: "denoising", fill: "cache fill", rest: "behind the last" })[k]);
  // The denoising forwards once more, by how they read the prefix and computed the network.
  for (const [key, name] of [["prefix", "denoising, by prefix"], ["network", "denoising, by network"]]) {
    if (!p[key]) continue;
    const offset = parts.length;
    for (const kind of Object.keys(p[key])) parts.push(words(kind));
    bars.push({ name, values: [...Array(offset).fill(0), ...Object.values(p[key]).map((x) => x.us)] });
  }
  for (const bar of bars) bar.values = [...bar.values, ...Array(parts.length - bar.values.length).fill(0)];
  return stackedBars({ title: "Time by what forwards did (measured, all answers)", wide: true, bars, parts, show: time });
}

function engines(run) {
  const engines = run.stats.total.counters?.npu?.engines;
  if (!engines) return null;
  const kinds = ["busy", "blocked", "waiting", "idle"];
  const bars = Object.entries(engines).map(([name, e]) => {
    const all = kinds.reduce((sum, k) => sum + (e[k + "_cycles"] ?? 0), 0);
    return { name: words(name), values: kinds.map((k) => (all ? (e[k + "_cycles"] ?? 0) / all : 0)) };
  }).filter((b) => b.values[0] > 0);
  return bars.length === 0 ? null : stackedBars({
    title: "Engines of the NPU, share of its cycles (measured)", bars, share: true, show: percent,
    parts: ["busy", "blocked by a bank", "waiting for others", "nothing queued"],
  });
}

function dataBus(run) {
  const memory = run.stats.total.dram.lpddr5;
  if (!memory) return null;
  return stackedBars({
    title: "Data buses of the DRAM, share of the time (measured)", wide: true, share: true, show: percent,
    bars: [{ name: "data buses", values: [memory.bus_busy, ...Object.values(memory.idle)] }],
    parts: ["busy", ...Object.keys(memory.idle).map((cause) => "idle: " + words(cause))],
  });
}

function bound(run) {
  const shares = Object.entries(run.stats.total.bound.shares).filter(([, value]) => value >= 0.0005);
  if (shares.length === 0) return null;
  return stackedBars({
    title: "In use, or in the way, share of the time (measured)", share: true, show: percent,
    bars: shares.map(([name, value]) => ({ name: words(name), values: [value] })), parts: ["share"],
  });
}

export const latency = (run) => section("latency", "Latency by cause",
  note("Engines and buses work at the same time, so their shares do not add up to the latency; phases do."),
  dataBus(run), phases(run), engines(run), bound(run));
