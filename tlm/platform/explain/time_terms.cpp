// Latency and what is counted per time and per forward.
#include "tlm/platform/explain/terms.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

// Tokens committed by the answers that the scope is of.
derivation committed(const scope& s) {
  if (s.path != "total") return s.figure("tokens.committed", "");
  derivation d;
  d.name = "committed";
  d.kind = "measured";
  d.source = "sum of tokens.committed over the answers whose result is ok";
  for (const auto& answer : s.run.stats()["answers"]) {
    if (text_at(answer, "result") == "ok") d.value += value_at(answer, "tokens.committed");
  }
  return d;
}

}  // namespace

derivation latency(const scope& s) {
  std::vector<derivation> phases;
  for (const char* name : {"prefill", "denoise", "fill", "rest"}) {
    phases.push_back(s.figure(std::string("phases.") + name + ".us", "us"));
  }
  return as_sum(s.figure("latency_us", "us"),
                "tlm/platform/phases.h: simulated time, each forward's from the end of the one before",
                std::move(phases));
}

derivation tokens_per_second(const scope& s) {
  const derivation tokens = s.figure(s.path == "total" ? "tokens_generated" : "tokens.generated", "");
  const derivation time = latency(s);
  return with_formula(s.figure("tokens_per_second", "1/s"), tokens.name + " / (latency_us * 1e-6)",
                      "tlm/platform/report.cpp", {tokens, time}, ratio(tokens.value, time.value * 1e-6));
}

derivation tokens_per_forward(const scope& s) {
  const derivation tokens = committed(s);
  const derivation forwards = s.figure("phases.denoise.forwards", "");
  return with_formula(s.figure("tokens_per_forward", ""), tokens.name + " / " + forwards.name,
                      "tlm/platform/report.cpp", {tokens, forwards}, ratio(tokens.value, forwards.value));
}

}  // namespace dvp::platform
