#include "tlm/platform/compression_report.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <string>

namespace dvp::platform {

namespace {

using gen::layer_statistics;
using nlohmann::ordered_json;

constexpr const char* tiers[] = {"q8", "q4", "q2", "q0"};

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return ratio(static_cast<double>(a), static_cast<double>(b));
}

void add(layer_statistics& total, const layer_statistics& s) {
  total.map_q8 += s.map_q8;
  total.map_q4 += s.map_q4;
  total.map_q2 += s.map_q2;
  total.map_q0 += s.map_q0;
  total.plain_reads += s.plain_reads;
  total.unmapped_reads += s.unmapped_reads;
  total.maps += s.maps;
  total.encoded += s.encoded;
  total.bases += s.bases;
  total.whole_ffn += s.whole_ffn;
  total.interior_ffn += s.interior_ffn;
  total.channels_q8 += s.channels_q8;
  total.channels_q4 += s.channels_q4;
  total.channels_q2 += s.channels_q2;
  total.channels_q0 += s.channels_q0;
  total.crossings += s.crossings;
  total.drift_sum += s.drift_sum;
  total.drift_most = std::max(total.drift_most, s.drift_most);
  total.budget_sum += s.budget_sum;
}

// Residual bits of an entry, on average over reads of the prefix.
ordered_json prefix_of(const layer_statistics& s) {
  const std::uint64_t mapped = s.map_q8 + s.map_q4 + s.map_q2 + s.map_q0;
  const std::uint64_t mapped_bits = 8 * s.map_q8 + 4 * s.map_q4 + 2 * s.map_q2;
  const std::uint64_t whole = s.plain_reads + s.unmapped_reads;
  ordered_json json;
  json["reads"] = {{"mapped", {{"q8", s.map_q8}, {"q4", s.map_q4}, {"q2", s.map_q2}, {"q0", s.map_q0}}},
                   {"plain", s.plain_reads},
                   {"unmapped", s.unmapped_reads}};
  json["mean_bits"] = {{"mapped", ratio(mapped_bits, mapped)}, {"all", ratio(mapped_bits + 8 * whole, mapped + whole)}};
  json["maps"] = s.maps;
  json["entries_stored"] = s.encoded;
  json["bases"] = s.bases;
  return json;
}

ordered_json network_of(const layer_statistics& s) {
  const auto interior = static_cast<double>(s.interior_ffn);
  ordered_json json;
  json["anchor_passes"] = s.whole_ffn;
  json["interior_passes"] = s.interior_ffn;
  json["channels"] = {{"q8", s.channels_q8}, {"q4", s.channels_q4}, {"q2", s.channels_q2}, {"q0", s.channels_q0}};
  json["crossings"] = s.crossings;
  json["mean_drift"] = ratio(double{s.drift_sum}, interior);
  json["largest_drift"] = s.drift_most;
  json["mean_budget"] = ratio(double{s.budget_sum}, interior);
  return json;
}

ordered_json figures_of(const compression_config& config, const layer_statistics& s) {
  ordered_json json = ordered_json::object();
  if (config.kv != gen::kv_format::bf16) json["prefix"] = prefix_of(s);
  if (config.ffn != gen::ffn_mode::whole) json["network"] = network_of(s);
  return json;
}

// "q8 12.0 %, q4 60.1 %, ..."
void write_shares(std::ostream& out, const ordered_json& counts) {
  double all = 0;
  for (const auto& item : counts.items()) all += item.value().get<double>();
  const char* separator = "";
  for (const char* tier : tiers) {
    out << separator << tier << ' ' << std::setprecision(1) << 100 * ratio(counts[tier].get<double>(), all) << " %";
    separator = ", ";
  }
}

void write_prefix(std::ostream& out, const ordered_json& prefix, const std::string& kv) {
  const auto& reads = prefix["reads"];
  double mapped = 0;
  for (const auto& item : reads["mapped"].items()) mapped += item.value().get<double>();
  const double plain = reads["plain"], unmapped = reads["unmapped"], all = mapped + plain + unmapped;
  out << "  prefix      " << kv << ": " << std::setprecision(2) << prefix["mean_bits"]["all"].get<double>()
      << " bits per entry read";
  if (kv != gen::name_of(gen::kv_format::brq)) {
    out << '\n';
    return;
  }
  out << ", " << std::setprecision(1) << 100 * ratio(mapped, all) << " % of reads mapped, " << 100 * ratio(plain, all)
      << " % plain, " << 100 * ratio(unmapped, all) << " % before a map\n";
  if (mapped == 0) return;
  out << "              mapped: ";
  write_shares(out, reads["mapped"]);
  out << ", " << std::setprecision(2) << prefix["mean_bits"]["mapped"].get<double>() << " bits per entry\n";
}

void write_network(std::ostream& out, const ordered_json& network) {
  const double anchors = network["anchor_passes"], interior = network["interior_passes"];
  out << "  network     dat: " << std::setprecision(1) << 100 * ratio(interior, anchors + interior)
      << " % of passes moved from an anchor";
  if (interior == 0) {
    out << '\n';
    return;
  }
  out << ", channels ";
  write_shares(out, network["channels"]);
  out << "\n              drift " << std::setprecision(3) << network["mean_drift"].get<double>() << " on average, "
      << network["largest_drift"].get<double>() << " at most, budget " << network["mean_budget"].get<double>() << ", "
      << network["crossings"] << " touched late\n";
}

}  // namespace

void add(std::vector<layer_statistics>& total, const std::vector<layer_statistics>& layers) {
  total.resize(std::max(total.size(), layers.size()));
  for (std::size_t i = 0; i < layers.size(); ++i) add(total[i], layers[i]);
}

ordered_json compression_figures(const compression_config& config, const std::vector<layer_statistics>& layers) {
  layer_statistics all;
  for (const auto& layer : layers) add(all, layer);
  ordered_json json = figures_of(config, all);
  json["layers"] = ordered_json::array();
  for (const auto& layer : layers) json["layers"].push_back(figures_of(config, layer));
  return json;
}

ordered_json compression_used(const compression_config& config, const loaded_model& model) {
  ordered_json json;
  json["kv"] = gen::name_of(config.kv);
  if (config.kv == gen::kv_format::brq) json["shares"] = config.shares;
  json["ffn"] = gen::name_of(config.ffn);
  if (config.ffn == gen::ffn_mode::dat) json["touch"] = config.touch;
  if (const loader::compression_sidecar* s = model.sidecar()) {
    const std::string& path = s->file->name();
    json["sidecar"] = {{"name", path.substr(path.find_last_of('/') + 1)},
                       {"model", s->model},
                       {"model_sha256", s->model_sha256},
                       {"data", s->data},
                       {"tool", s->tool},
                       {"seed", s->seed},
                       {"correction_rank", s->correction_rank}};
  }
  return json;
}

void write_compression(std::ostream& out, const ordered_json& stats) {
  if (!stats.contains("compression")) return;
  const auto& used = stats["compression"];
  if (used.contains("sidecar")) {
    const auto& s = used["sidecar"];
    const auto text = [&](const char* key) { return loader::printable(s[key].get<std::string>()); };
    out << "  sidecar     " << text("name") << ": " << text("tool") << ", seed " << s["seed"] << ", on " << text("data")
        << '\n';
  }
  if (!stats["total"].contains("compression")) return;
  const auto& figures = stats["total"]["compression"];
  if (figures.contains("prefix")) write_prefix(out, figures["prefix"], used["kv"]);
  if (figures.contains("network")) write_network(out, figures["network"]);
}

}  // namespace dvp::platform
