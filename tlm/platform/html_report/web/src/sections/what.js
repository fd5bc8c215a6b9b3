// What was run: configuration, model, decode, seats, version.

import { h, section } from "../dom.js";
import { count, plain } from "../format.js";

function entries(run) {
  const s = run.stats;
  const configuration = s.configuration;
  const list = [
    ["configuration", [configuration.name, configuration.description].filter(Boolean).join(": ")],
    ["model", `${s.model.name} (${s.model.architecture}), ${count(s.model.layers)} layers of width ${count(s.model.width)}, vocabulary ${count(s.model.vocabulary)}`],
    ["prompts", `${count(s.total.answered)} of ${count(s.total.prompts)} answered`],
    ["decode", plain(s.decode)],
    ["array", `${plain(configuration.npu?.array ?? "unknown")}, simulated by: ${s.array_seat === "both" ? "model and RTL in lockstep" : s.array_seat}`],
    ["firmware", s.cpu_seat === "rv64" ? "RV64 image, instruction by instruction" : "native, with a cost model"],
    ["memory", plain(configuration.memory?.config ?? configuration.memory?.model ?? "unknown")],
  ];
  // Of runs that say where data and decisions come from.
  for (const key of ["data", "trajectory", "compression"]) {
    if (s[key] !== undefined) list.push([key, plain(s[key])]);
  }
  list.push(["results", run.folder], ["program", "dllm-vp " + s.version]);
  return list;
}

export const what = (run) => section("what", "What was run",
  h("dl", { class: "card wide" }, entries(run).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
