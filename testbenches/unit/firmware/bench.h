// A tiny model in the functional machine's memory, with a request beside it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dvp_gen/request.h"
#include "firmware/apps/firmware.h"
#include "testbenches/unit/firmware/functional_machine.h"
#include "testbenches/unit/firmware/tiny_model.h"

namespace dvp::testbench {

class bench {
 public:
  // The model is copied to memory; the request asks for what the arguments say and leaves room for all of it.
  bench(tiny_model& model, const functional_options& options, std::span<const std::uint32_t> prompt);

  functional_machine& machine() { return machine_; }
  gen::request_record& request() { return *machine_.at<gen::request_record>(request_address_); }
  std::uint64_t request_address() const { return request_address_; }
  apps::server& server() { return server_; }
  const gen::result_record& result() { return *machine_.at<gen::result_record>(request().result_address); }
  const gen::progress_record& progress() { return *machine_.at<gen::progress_record>(request().progress_address); }
  std::uint32_t* tokens() { return machine_.at<std::uint32_t>(request().tokens_address); }
  std::vector<std::uint32_t> tokens(std::uint32_t count) { return {tokens(), tokens() + count}; }

  // The firmware serves this request; its return value is the finish code. Every call serves one more.
  gen::result_code run();

 private:
  functional_machine machine_;
  apps::server server_;
  std::uint64_t request_address_ = 0;
};

// Tokens below the special ones, from a seed.
std::vector<std::uint32_t> random_tokens(const tiny_model& model, std::uint32_t count, std::uint32_t seed);

}  // namespace dvp::testbench
