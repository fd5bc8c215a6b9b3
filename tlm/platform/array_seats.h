// The array seat a run asked for, with what stands behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dvp_gen/arrays.h"
#include "tlm/array/array_seat.h"
#include "tlm/platform/run_options.h"

namespace dvp::platform {

class array_seats {
 public:
  // lockstep_every: with both, one job in N runs on the RTL and is compared. waves: FST file, empty for none;
  // waves_jobs: RTL jobs recorded. usage_error when there is no Verilated array of this configuration.
  array_seats(const gen::array_config& array, array_choice choice, std::uint32_t lockstep_every,
              const std::string& waves, std::uint64_t waves_jobs);
  ~array_seats();

  array::array_seat& seat() { return *seat_; }

 private:
  std::unique_ptr<array::array_seat> model_;
  std::unique_ptr<array::array_seat> rtl_;
  std::unique_ptr<array::array_seat> both_;
  array::array_seat* seat_;
};

}  // namespace dvp::platform
