#include "tlm/core/read_rates.h"

#include "tlm/core/sim_time.h"

namespace dvp::core {

namespace {

constexpr std::array<gen::precision, 4> drawn_precisions = {gen::precision::bf16, gen::precision::q8,
                                                            gen::precision::q4, gen::precision::q2};

}  // namespace

read_rates::read_rates(timeline& out, std::string_view process, std::string_view memory)
    : out_(out), track_(out.track(process, memory)) {
  for (std::size_t i = 0; i < graphs_.size(); ++i) {
    graphs_[i].name = std::string(memory) + " read " + gen::name_of(drawn_precisions[i]) + " GB/s";
  }
}

void read_rates::add(gen::precision precision, const sc_core::sc_time& begin, std::uint64_t bytes) {
  if (!out_.on()) return;
  for (std::size_t i = 0; i < graphs_.size(); ++i) {
    if (drawn_precisions[i] != precision) continue;
    const std::uint64_t period = picoseconds(begin) / period_ps;
    if (period > period_) {
      draw();
      // Nothing came in the periods between.
      if (period > ++period_) draw();
      period_ = period;
    }
    graphs_[i].bytes += bytes;
  }
}

void read_rates::draw() {
  for (graph& g : graphs_) {
    if (g.bytes != g.drawn) {
      const sc_core::sc_time start(static_cast<double>(period_ * period_ps), sc_core::SC_PS);
      out_.counter(track_, g.name, start, static_cast<double>(g.bytes) * 1000 / period_ps);
    }
    g.drawn = g.bytes;
    g.bytes = 0;
  }
}

void read_rates::flush() {
  if (!out_.on()) return;
  draw();
  ++period_;
  draw();
}

}  // namespace dvp::core
