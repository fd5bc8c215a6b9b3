#include "tlm/lpddr5/device/device.h"

#include <algorithm>
#include <array>

namespace dvp::lpddr5 {

namespace {

constexpr std::array fields = {timing_field{"REFI", &timing::REFI},
                               timing_field{"REFIpb", &timing::REFIpb},
                               timing_field{"RFCab", &timing::RFCab},
                               timing_field{"RFCpb", &timing::RFCpb},
                               timing_field{"RAS", &timing::RAS},
                               timing_field{"RPab", &timing::RPab},
                               timing_field{"RPpb", &timing::RPpb},
                               timing_field{"RCpb", &timing::RCpb},
                               timing_field{"RCab", &timing::RCab},
                               timing_field{"PPD", &timing::PPD},
                               timing_field{"RCD", &timing::RCD},
                               timing_field{"FAW", &timing::FAW},
                               timing_field{"RRD", &timing::RRD},
                               timing_field{"AAD", &timing::AAD},
                               timing_field{"RL", &timing::RL},
                               timing_field{"WL", &timing::WL},
                               timing_field{"RBTP", &timing::RBTP},
                               timing_field{"WR", &timing::WR},
                               timing_field{"RTRS", &timing::RTRS},
                               timing_field{"BL_n_min", &timing::BL_n_min},
                               timing_field{"BL_n_max", &timing::BL_n_max},
                               timing_field{"BL_n_S", &timing::BL_n_S},
                               timing_field{"BL_n_L", &timing::BL_n_L},
                               timing_field{"WTR_L", &timing::WTR_L},
                               timing_field{"WTR_S", &timing::WTR_S},
                               timing_field{"RTW_L", &timing::RTW_L},
                               timing_field{"RTW_S", &timing::RTW_S},
                               timing_field{"WCKPST", &timing::WCKPST},
                               timing_field{"pbR2act", &timing::pbR2act},
                               timing_field{"pbR2pbR", &timing::pbR2pbR},
                               timing_field{"XP", &timing::XP},
                               timing_field{"CSPD", &timing::CSPD},
                               timing_field{"SR", &timing::SR},
                               timing_field{"XSR", &timing::XSR}};

// A member that is added to timing and forgotten above would silently be unknown to rule files.
static_assert(sizeof(timing) == sizeof(std::uint64_t) + fields.size() * sizeof(cycles));

}  // namespace

std::span<const timing_field> timing_fields() {
  return fields;
}

std::optional<cycles> timing_value(const timing& t, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const timing_field& f) { return f.name == name; });
  if (found == fields.end()) return std::nullopt;
  return t.*(found->value);
}

double peak_bytes_per_second(const device& d) {
  return static_cast<double>(d.shape.width_bits) / 8 * d.shape.beats_per_ck /
         (static_cast<double>(d.times.tCK_fs) * 1e-15);
}

}  // namespace dvp::lpddr5
