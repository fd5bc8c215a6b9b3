// Asks the firmware to time forwards: the host side of the mailbox for requests with loop profile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tlm/platform/config.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/platform.h"

namespace dvp::platform {

struct measured_times {
  std::uint32_t keys = 0;
  std::vector<std::uint32_t> ns;  // of 1, 2, 3, ... rows
};

class measurement {
 public:
  measurement(platform& chip, const platform_config& config, const loaded_model& model);

  // Sets the first request, before the simulation starts; the last one stops it. Forwards of 1 to `rows` rows, or as
  // many as there are keys, for each of `keys`. `measured` is told how many of the keys are done.
  void start(const std::vector<std::uint32_t>& keys, std::uint32_t rows, std::function<void(std::size_t)> measured);

  bool over() const { return over_; }
  // Why it ended before it was over, one sentence; empty when it did not.
  const std::string& failure() const { return failure_; }
  // Whether the configuration or the keys are to blame for it.
  bool unfit() const { return unfit_; }
  const std::vector<measured_times>& times() const { return times_; }

 private:
  void ask_next();
  void on_finish(std::uint32_t code);
  template <class Record>
  Record* record(std::uint64_t address);

  platform& chip_;
  const platform_config& config_;
  const loaded_model& model_;
  dram_layout layout_;
  std::function<void(std::size_t)> measured_;
  std::vector<std::uint32_t> keys_;
  std::uint32_t rows_ = 0;
  std::uint32_t asked_ = 0;  // entries of the request under way
  std::vector<measured_times> times_;
  bool over_ = false;
  std::string failure_;
  bool unfit_ = false;
};

}  // namespace dvp::platform
