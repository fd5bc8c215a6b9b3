#include "testbenches/unit/firmware/bench.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "dvp_gen/system.h"
#include "gtest/gtest.h"

namespace dvp::testbench {

bench::bench(tiny_model& model, const functional_options& options, std::span<const std::uint32_t> prompt)
    : machine_(options) {
  std::uint64_t next = gen::system::dram_base;
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t address = next;
    next += (bytes + 4095) / 4096 * 4096;
    return address;
  };
  const std::uint32_t capacity = model.options().context;
  gen::request_record r;
  r.version = gen::request_version;
  r.image_address = take(model.image().size());
  request_address_ = take(sizeof r);
  r.tokens_capacity = capacity;
  r.tokens_address = take(std::uint64_t{4} * capacity);
  r.kv_bytes = 1u << 20;
  r.kv_address = take(r.kv_bytes);
  r.work_bytes = 1u << 20;
  r.work_address = take(r.work_bytes);
  r.result_address = take(sizeof(gen::result_record));
  r.progress_address = take(sizeof(gen::progress_record));
  r.prompt_tokens = static_cast<std::uint32_t>(prompt.size());
  r.loop = model.options().block_causal ? gen::decode_loop::fast_dllm_v2 : gen::decode_loop::llada;
  r.block_length = 32;
  r.sub_block_length = 8;
  r.generate_tokens = 64;
  r.steps = 16;
  r.threshold = 0.9f;
  r.watchdog_us = 1000;
  std::memcpy(machine_.memory(r.image_address, model.image().size()), model.image().data(), model.image().size());
  std::memcpy(machine_.memory(r.tokens_address, prompt.size_bytes()), prompt.data(), prompt.size_bytes());
  *machine_.at<gen::request_record>(request_address_) = r;
  EXPECT_TRUE(server_.start(gen::system::mailbox_base, gen::system::npu_base, gen::system::plic_base));
}

gen::result_code bench::run() {
  machine_.set_request(request_address_);
  const gen::result_code code = server_.serve_one();
  EXPECT_FALSE(machine_.request_pending());
  EXPECT_EQ(machine_.finish_code, static_cast<int>(code));
  return code;
}

std::vector<std::uint32_t> random_tokens(const tiny_model& model, std::uint32_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<std::uint32_t> tokens(count);
  std::generate(tokens.begin(), tokens.end(),
                [&] { return static_cast<std::uint32_t>(random() >> 8) % model.end_token(); });
  return tokens;
}

}  // namespace dvp::testbench
