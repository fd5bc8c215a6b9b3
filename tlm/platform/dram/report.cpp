#include "tlm/platform/dram/report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <vector>

namespace dvp::platform {

using namespace lpddr5;

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* form, ...) {
  char text[512];
  std::va_list values;
  va_start(values, form);
  std::vsnprintf(text, sizeof text, form, values);
  va_end(values);
  return text;
}

// "  bandwidth   ..."; an empty label continues the line above.
std::string line(const char* label, const std::string& text) {
  return format("  %-12s", label) + text + '\n';
}

double giga(double value) {
  return value * 1e-9;
}

// Three significant digits or so, with the unit that fits.
std::string scaled(double value, const char* const (&units)[4]) {
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) && value < 1) {
    value *= 1000;
    ++unit;
  }
  return format(value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

std::string time_text(double seconds) {
  return scaled(seconds, {"s", "ms", "us", "ns"});
}

std::string memory_text(const dram_result& r) {
  const organisation& o = r.memory.dev.shape;
  const char* mode = o.mode() == bank_mode::bg ? "BG" : o.mode() == bank_mode::b16 ? "16B" : "8B";
  const double mega_ck = 1e9 / static_cast<double>(r.memory.dev.times.tCK_fs);
  return format("%s, %u channel%s x%u, %u rank%s, %s mode, BL%u, CK %.0f MHz", r.memory.dev.id.c_str(),
                r.memory.channels, r.memory.channels == 1 ? "" : "s", o.width_bits, o.ranks, o.ranks == 1 ? "" : "s",
                mode, o.burst_length, mega_ck);
}

std::string bandwidth_text(const dram_result& r) {
  const double peak = r.peak_bytes_per_second();
  std::string text =
      format("%.3f GB/s of %.3f (%.1f %%)", giga(r.bytes_per_second()), giga(peak), 100 * r.bytes_per_second() / peak);
  if (r.figures.read_bytes != 0 && r.figures.write_bytes != 0) {
    text += format("   read %.3f, write %.3f", giga(static_cast<double>(r.figures.read_bytes) / r.seconds()),
                   giga(static_cast<double>(r.figures.write_bytes) / r.seconds()));
  }
  return text;
}

// Where the rest of the peak went: idle clocks of the data buses by cause, and bits of bursts that nobody asked for.
std::string lost_text(const dram_result& r) {
  struct loss {
    std::string name;
    double share;
  };
  std::vector<loss> losses;
  const auto idle = r.idle_shares();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    std::string name = lpddr5::name_of(static_cast<idle_cause>(i));
    std::replace(name.begin(), name.end(), '_', ' ');
    losses.push_back({name, idle[i]});
  }
  losses.push_back({"padding", std::max(0.0, r.busy_share() - r.bytes_per_second() / r.peak_bytes_per_second())});
  std::stable_sort(losses.begin(), losses.end(), [](const loss& a, const loss& b) { return a.share > b.share; });
  std::string text, none;
  for (const auto& l : losses) {
    if (l.share >= 0.0005) {
      text += (text.empty() ? "" : "   ") + l.name + format(" %.1f %%", 100 * l.share);
    } else {
      none += (none.empty() ? "" : ", ") + l.name;
    }
  }
  if (!none.empty()) text += (text.empty() ? "" : "   ") + none + " 0";
  return text;
}

std::string latency_lines(const dram_result& r) {
  std::string text = line("latency ns", "     p50      p95      p99      max     mean");
  const double ck_ns = static_cast<double>(r.memory.dev.times.tCK_fs) * 1e-6;
  const auto add = [&](const char* label, const latency_histogram& h) {
    if (h.count() == 0) return;
    const auto ns = [&](cycles n) { return static_cast<double>(n) * ck_ns; };
    text += line(label, format("%8.1f %8.1f %8.1f %8.1f %8.1f", ns(h.percentile(50)), ns(h.percentile(95)),
                               ns(h.percentile(99)), ns(h.max()), h.mean() * ck_ns));
  };
  add("  read", r.figures.read_latency);
  add("  write", r.figures.write_latency);
  return text;
}

std::string commands_text(const dram_result& r) {
  std::string text;
  for (std::size_t i = 0; i < command_count; ++i) {
    std::uint64_t count = 0;
    for (const auto& c : r.figures.channels) count += c.commands[i];
    if (count != 0) text += (text.empty() ? "" : "   ") + std::string(command_names[i]) + " " + grouped(count);
  }
  return text;
}

std::string rows_text(const dram_result& r) {
  std::uint64_t hits = 0, misses = 0, conflicts = 0;
  for (const auto& c : r.figures.channels) {
    hits += c.row_hits;
    misses += c.row_misses;
    conflicts += c.row_conflicts;
  }
  const double all = std::max<double>(1, static_cast<double>(hits + misses + conflicts));
  return format("hits %.1f %%   bank closed %.1f %%   other row open %.1f %%", 100 * static_cast<double>(hits) / all,
                100 * static_cast<double>(misses) / all, 100 * static_cast<double>(conflicts) / all);
}

// Fewest and most commands of a kind over the banks of all channels.
std::string spread_text(const dram_result& r) {
  std::string text;
  const auto add = [&](const char* name, std::initializer_list<command> kinds) {
    std::uint64_t least = UINT64_MAX, most = 0;
    for (const auto& c : r.figures.channels) {
      for (const auto& bank : c.bank_commands) {
        std::uint64_t count = 0;
        for (const command kind : kinds) count += bank[static_cast<std::size_t>(kind)];
        least = std::min(least, count);
        most = std::max(most, count);
      }
    }
    if (most != 0)
      text += (text.empty() ? "" : "   ") + std::string(name) + " " + grouped(least) + " to " + grouped(most);
  };
  add("reads", {command::rd, command::rda});
  add("writes", {command::wr, command::wra});
  add("activates", {command::act1});
  return text;
}

std::string queue_text(const dram_result& r) {
  std::uint64_t entries = 0;
  std::uint32_t most = 0;
  for (const auto& c : r.figures.channels) {
    entries += c.queue_entry_cycles;
    most = std::max(most, c.queue_max);
  }
  return format("mean %.1f, most %u entries of a channel", r.share(entries), most);
}

std::string energy_lines(const dram_result& r) {
  static constexpr const char* units[4] = {"J", "mJ", "uJ", "nJ"};
  const auto& e = r.energy;
  const double bits = 8.0 * static_cast<double>(r.figures.read_bytes + r.figures.write_bytes);
  const double total = std::max(e.total_j(), 1e-30);
  std::string text = scaled(e.total_j(), units);
  if (bits != 0) text += format("   %.2f pJ/bit", e.total_j() * 1e12 / bits);
  const auto part = [&](const char* name, double joules) {
    if (joules != 0) text += format("   %s %.1f %%", name, 100 * joules / total);
  };
  part("core", e.core_read_j + e.core_write_j);
  part("I/O", e.down_read_j + e.down_write_j);
  part("activate", e.activate_j);
  part("refresh", e.refresh_j);
  part("background", e.background_j);
  part("convert", e.convert_j);
  text = line("energy", text);
  if (!r.memory.dev.energy.basis.empty()) text += line("", "modelled: " + r.memory.dev.energy.basis);
  return text;
}

// Of tagged reads; plain ones are all q8 and say nothing new.
std::string precision_lines(const dram_result& r) {
  const auto& all = r.figures.by_precision;
  if (all[4].reads + all[2].reads + all[0].reads + all[8].scale_bits == 0) return "";
  std::string text;
  for (const unsigned bits : {8u, 4u, 2u, 0u}) {
    const precision_figures& p = r.figures.by_precision[bits];
    if (p.reads == 0) continue;
    const auto kilobytes = [](std::uint64_t n) { return static_cast<double>(n) / 8e3; };
    const double bursts = std::max<double>(1, static_cast<double>(p.io_bound + p.core_bound));
    text +=
        line("", format("q%-2u %14s %12.1f %12.1f %10.1f %12.1f %8.1f %% %8.1f %%", bits, grouped(p.elements).c_str(),
                        kilobytes(p.delivered_bits), kilobytes(p.padding_bits), kilobytes(p.scale_bits),
                        kilobytes(p.core_bits), 100 * static_cast<double>(p.io_bound) / bursts,
                        100 * static_cast<double>(p.core_bound) / bursts));
  }
  return line("precision",
              "          elements delivered kB   padding kB  scales kB     array kB   I/O pace  core pace") +
         text;
}

std::string check_lines(const dram_result& r) {
  if (!r.check) return line("checker", r.unchecked);
  std::string text = line("checker", grouped(r.check->commands) + " commands, " + grouped(r.check->violations) +
                                         " violation" + (r.check->violations == 1 ? "" : "s"));
  for (const auto& sentence : r.check->sentences) text += line("", sentence);
  return text;
}

std::string wall_line(const dram_result& r, double wall_seconds) {
  return line("wall", format("%.2f s, %.2f M requests/s", wall_seconds,
                             static_cast<double>(r.requests) * 1e-6 / std::max(wall_seconds, 1e-9)));
}

}  // namespace

std::string make_dram_brief(const dram_result& r, double wall_seconds) {
  return line("bandwidth", bandwidth_text(r)) + wall_line(r, wall_seconds);
}

std::string make_dram_report(const dram_result& r, double wall_seconds) {
  std::string text = line("memory", memory_text(r));
  for (const auto& note : r.memory.notes) text += line("  note", note);
  text += line("traffic", r.traffic);
  text += line("simulated", time_text(r.seconds()) + ", " + grouped(static_cast<std::uint64_t>(r.end)) + " clocks");
  text += line("bandwidth", bandwidth_text(r));
  text += line("  lost", lost_text(r));
  text += latency_lines(r);
  text += line("rows", rows_text(r));
  text += line("commands", commands_text(r));
  text += line("per bank", spread_text(r));
  text += line("queue", queue_text(r));
  text += energy_lines(r);
  text += precision_lines(r);
  text += check_lines(r);
  return text + wall_line(r, wall_seconds);
}

}  // namespace dvp::platform
