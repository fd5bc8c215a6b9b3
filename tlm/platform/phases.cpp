#include "tlm/platform/phases.h"

#include <iomanip>
#include <ostream>

namespace dvp::platform {

namespace {

using gen::network_pass;
using gen::prefix_reading;
using nlohmann::ordered_json;

struct phase {
  std::uint64_t forwards = 0;
  std::uint64_t ps = 0;

  void take(std::uint64_t time_ps) {
    ++forwards;
    ps += time_ps;
  }
  ordered_json json() const { return {{"forwards", forwards}, {"us", static_cast<double>(ps) * 1e-6}}; }
};

// A name per line of the summary; the JSON's keys are the firmware's.
struct line {
  const char* key;
  const char* title;
};
constexpr line kinds[] = {{"prefill", "prefill"}, {"denoise", "denoising"}, {"fill", "cache fill"}};
constexpr line readings[] = {{"warm_up", "warm-up"}, {"ranking", "ranking"}, {"mapped", "mapped"}};
constexpr line passes[] = {{"anchor", "anchor"}, {"interior", "interior"}};

template <std::size_t count>
void write_shares(std::ostream& out, const ordered_json& phases, const line (&lines)[count], double latency_us) {
  const char* separator = "";
  for (const line& l : lines) {
    const auto& p = phases[l.key];
    out << separator << l.title << ' ' << std::setprecision(1)
        << (latency_us == 0 ? 0 : 100 * p["us"].get<double>() / latency_us) << " % (" << p["forwards"] << ')';
    separator = ", ";
  }
}

}  // namespace

ordered_json phases_of(const answer& a) {
  phase prefill, denoise, fill, warm_up, ranking, mapped, anchor, interior;
  std::uint64_t before_ps = a.begin_ps, accounted_ps = 0;
  for (const forward_record& f : a.forwards) {
    const std::uint64_t ps = f.end_ps - before_ps;
    if (f.kind == gen::progress_kind::prefill) {
      (denoise.forwards == 0 ? prefill : fill).take(ps);
    } else if (f.kind == gen::progress_kind::forward) {
      denoise.take(ps);
      if (f.prefix == prefix_reading::warm_up) warm_up.take(ps);
      if (f.prefix == prefix_reading::ranking) ranking.take(ps);
      if (f.prefix == prefix_reading::mapped) mapped.take(ps);
      if (f.network == network_pass::anchor) anchor.take(ps);
      if (f.network == network_pass::interior) interior.take(ps);
    } else {
      continue;  // its time belongs to the forward behind it
    }
    accounted_ps += ps;
    before_ps = f.end_ps;
  }
  ordered_json json;
  json["prefill"] = prefill.json();
  json["denoise"] = denoise.json();
  json["fill"] = fill.json();
  json["rest"] = {{"us", static_cast<double>(a.end_ps - a.begin_ps - accounted_ps) * 1e-6}};
  if (warm_up.forwards + ranking.forwards + mapped.forwards != 0) {
    json["prefix"] = {{"warm_up", warm_up.json()}, {"ranking", ranking.json()}, {"mapped", mapped.json()}};
  }
  if (anchor.forwards + interior.forwards != 0) {
    json["network"] = {{"anchor", anchor.json()}, {"interior", interior.json()}};
  }
  return json;
}

void write_phases(std::ostream& out, const ordered_json& phases, double latency_us) {
  out << "  phases      ";
  write_shares(out, phases, kinds, latency_us);
  out << " of the time (forwards)\n";
  if (phases.contains("prefix")) {
    out << "              prefix read: ";
    write_shares(out, phases["prefix"], readings, latency_us);
    out << '\n';
  }
  if (phases.contains("network")) {
    out << "              network: ";
    write_shares(out, phases["network"], passes, latency_us);
    out << '\n';
  }
}

}  // namespace dvp::platform
