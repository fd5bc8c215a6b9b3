#include "tlm/platform/swap_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <vector>

namespace dvp::platform {

namespace {

using gen::swap_plan_entry;

struct named_memory {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::string name;
};

std::vector<named_memory> name_memory(const dram_layout& layout, const loaded_model& model) {
  std::vector<named_memory> all{{layout.tokens, layout.tokens + std::uint64_t{4} * layout.tokens_capacity, "tokens"},
                                {layout.kv, layout.kv + layout.kv_bytes, "KV cache"},
                                {layout.work, layout.work + layout.work_bytes, "work area"}};
  const auto in_layer = [](const gen::tensor_entry& e) {
    return e.kind != gen::tensor_kind::embedding && e.kind != gen::tensor_kind::output_norm &&
           e.kind != gen::tensor_kind::output && e.kind != gen::tensor_kind::rope_table;
  };
  for (const gen::tensor_entry& e : model.entries()) {
    const std::string name =
        (in_layer(e) ? "layer " + std::to_string(e.layer) + " " : std::string()) + gen::name_of(e.kind);
    const std::uint64_t data = layout.image + e.data_offset;
    all.push_back({data, data + std::uint64_t{e.rows} * e.row_bytes, name});
    if (e.scale_row_bytes != 0) {
      const std::uint64_t scales = layout.image + e.scale_offset;
      all.push_back({scales, scales + std::uint64_t{e.rows} * e.scale_row_bytes, name + " scales"});
    }
  }
  return all;
}

// The first and the last thing in a buffer.
std::string contents(const swap_plan_entry& entry, const std::vector<named_memory>& memory) {
  const named_memory* first = nullptr;
  const named_memory* last = nullptr;
  for (const named_memory& m : memory) {
    if (m.first >= entry.bus_address + entry.bytes || m.end <= entry.bus_address) continue;
    if (first == nullptr || m.first < first->first) first = &m;
    if (last == nullptr || m.first > last->first) last = &m;
  }
  if (first == nullptr) return "nothing known";
  return first == last ? first->name : first->name + " .. " + last->name;
}

const char* place_of(const swap_plan_entry& e) {
  if (e.how != gen::residence::staged) return "";
  const auto name = static_cast<gen::operator_label>(e.operator_name);
  if (name == gen::operator_label::ffn_down || name == gen::operator_label::ffn_update) return "whole";
  return e.half == 0 ? "half 0" : "half 1";
}

// Device addresses that one place of the window is staged to, over the whole plan.
struct staging_area {
  const char* place = "";
  std::uint64_t first = UINT64_MAX;
  std::uint64_t end = 0;
};

std::vector<staging_area> staging_areas(std::span<const swap_plan_entry> entries) {
  std::vector<staging_area> areas;
  for (const char* place : {"half 0", "half 1", "whole"}) {
    staging_area area{place};
    for (const swap_plan_entry& e : entries) {
      if (std::string_view(place_of(e)) != place) continue;
      area.first = std::min<std::uint64_t>(area.first, e.device_address);
      area.end = std::max<std::uint64_t>(area.end, e.device_address + e.bytes);
    }
    if (area.end != 0) areas.push_back(area);
  }
  return areas;
}

}  // namespace

std::string swap_table(std::span<const swap_plan_entry> entries, std::size_t dropped_entries, const dram_layout& layout,
                       const loaded_model& model, const npu::window_config& window, const char* policy) {
  const std::vector<named_memory> memory = name_memory(layout, model);
  std::ostringstream out;
  out << "swap policy " << policy << ", window of " << window.bytes << " bytes, " << window.entries
      << " entries, pages of " << window.page_bytes
      << " bytes; the first forward, and the first of a compressed decode that denoises\n"
      << "how     pinned: mapped for the whole run; mapped: for its operator; staged: copied before its operator\n"
      << "place   of what is staged: the half of the double buffer, or the buffer of ffn_down and ffn_update,\n"
      << "        which are needed whole\n"
      << "what    lies in the buffer, first .. last\n\n"
      << "   op  operator          layer  how     place   device address                bus address         bytes  "
         "what\n";
  const auto hex = [&](std::uint64_t value, int digits) {
    std::ostringstream text;
    text << "0x" << std::hex << std::setfill('0') << std::setw(digits) << value;
    return text.str();
  };
  for (const staging_area& area : staging_areas(entries)) {
    out << std::setw(40) << "" << std::left << std::setw(6) << area.place << "  " << hex(area.first, 8) << " - "
        << hex(area.end - 1, 8) << std::setw(12) << "" << std::right << std::setw(14) << area.end - area.first
        << "  as far as it is used\n";
  }
  for (const swap_plan_entry& e : entries) {
    const bool pinned = e.how == gen::residence::pinned;
    out << std::setw(5) << (pinned ? "" : std::to_string(e.operator_index)) << "  " << std::left << std::setw(16)
        << (pinned ? "" : gen::name_of(static_cast<gen::operator_label>(e.operator_name))) << "  " << std::right
        << std::setw(5) << (pinned ? "" : std::to_string(e.layer)) << "  " << std::left << std::setw(6)
        << gen::name_of(e.how) << "  " << std::setw(6) << place_of(e) << "  " << hex(e.device_address, 8) << " - "
        << hex(e.device_address + e.bytes - 1, 8) << "  " << hex(e.bus_address, 10) << std::right << std::setw(14)
        << e.bytes << "  " << contents(e, memory) << '\n';
  }
  if (dropped_entries != 0) out << "and " << dropped_entries << " more entries that there was no room for\n";
  return out.str();
}

}  // namespace dvp::platform
