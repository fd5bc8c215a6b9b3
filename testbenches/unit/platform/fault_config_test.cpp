// The part "faults" of a configuration, right and wrong.
#include "tlm/platform/fault_config.h"

#include <gtest/gtest.h>

#include "tlm/platform/config.h"
#include "tlm/platform/files.h"

namespace dvp::platform {
namespace {

using faults::event_class;
using faults::fault_kind;

platform_config with(const std::string& faults) {
  return load_config("fixed", {"faults=" + faults});
}

std::string whole(const std::string& means, const std::string& program) {
  return R"({"seed": 7, "mean_events": {)" + means + R"(}, "correction_ns": 12.5, "program": [)" + program + "]}";
}

// The message of the usage_error, or "accepted".
std::string refusal(const std::string& faults) {
  try {
    with(faults);
    return "accepted";
  } catch (const usage_error& error) {
    return error.what();
  }
}

TEST(fault_config, absent_unless_given) {
  EXPECT_FALSE(load_config("fixed", {}).faults.has_value());
}

TEST(fault_config, every_key_has_its_place) {
  const auto plan = *with(whole(R"("stuck": 5, "ecc_silent": 900)",
                                R"({"kind": "ecc_corrected"},
                                   {"kind": "bus_error", "where": "write", "number": 3, "at_us": 1.5},
                                   {"kind": "record", "byte": 9, "mask": 9223372036854775807})"))
                         .faults;
  EXPECT_EQ(plan.random.seed, 7U);
  EXPECT_EQ(plan.correction_ps, 12'500U);
  for (std::size_t k = 0; k < faults::fault_kinds; ++k) {
    const auto kind = static_cast<fault_kind>(k);
    EXPECT_EQ(plan.random.mean_events[k], kind == fault_kind::stuck ? 5U : kind == fault_kind::ecc_silent ? 900U : 0U);
  }
  ASSERT_EQ(plan.program.size(), 3U);
  EXPECT_EQ(plan.program[0].where, event_class::read) << "the kind's own";
  EXPECT_EQ(plan.program[0].number, 1U);
  EXPECT_EQ(plan.program[1].where, event_class::write);
  EXPECT_EQ(plan.program[1].number, 3U);
  EXPECT_EQ(plan.program[1].at_ps, 1'500'000U);
  EXPECT_EQ(plan.program[2].bits.byte, 9U);
  EXPECT_EQ(plan.program[2].bits.mask, ~std::uint64_t{0} >> 1);
}

TEST(fault_config, what_cannot_be_is_refused_by_its_key) {
  struct row {
    std::string faults;
    std::vector<std::string> phrases;
  };
  const row rows[] = {
      {"3", {"faults"}},
      {"{}", {"faults"}},
      {whole("", R"({"kind": "bus_eror"})"), {"faults.program", "kind"}},
      {whole("", R"({})"), {"faults.program"}},
      {whole("", R"({"kind": "stuck", "numbr": 1})"), {"faults.program"}},
      {whole("", R"({"kind": "stuck", "number": 0})"), {"faults.program", "number"}},
      {whole(R"("stuk": 5)", ""), {"faults.mean_events.stuk", "did you mean faults.mean_events.stuck?"}},
      {whole(R"("stuck": 0)", ""), {"faults.mean_events.stuck"}},
      {whole("", R"({"kind": "stuck"}, {"kind": "record", "where": "read"})"),
       {"faults.program.1.where", "record cannot happen to read", "it can to: record"}},
      {whole("", R"({"kind": "stuck", "mask": 1})"), {"faults.program.0.mask", "inverts no bits"}},
  };
  for (const row& r : rows) {
    const std::string said = refusal(r.faults);
    for (const auto& phrase : r.phrases) EXPECT_NE(said.find(phrase), std::string::npos) << r.faults << ": " << said;
  }
}

}  // namespace
}  // namespace dvp::platform
