#include "testbenches/unit/npu/npu_bench.h"

#include <gtest/gtest.h>

#include "tlm/lpddr5/controller.h"
#include "tlm/memory/simple_memory.h"

namespace dvp::npu::test {

namespace reg = gen::npu;

namespace {

memory::simple_memory_config fixed_memory() {
  memory::simple_memory_config config;
  config.bytes = npu_bench::memory_bytes;
  config.latency = sc_core::sc_time(100, sc_core::SC_NS);
  config.bytes_per_second = 64'000'000'000;
  return config;
}

std::unique_ptr<core::memory_seat> make_memory(bool non_blocking, core::statistics& figures, core::timeline& timeline) {
  if (!non_blocking) return std::make_unique<memory::simple_memory>("dram", fixed_memory(), figures, timeline);
  lpddr5::memory_config config = lpddr5::load_memory_config("nano-64dq");
  config.channels = 2;
  config.mapping = lpddr5::standard_mapping("row-bank-column-group-channel", config.dev.shape, 2, 64, false);
  config.controller.read_queue = config.controller.write_queue = 6;
  config.controller.write_high = 4;
  config.controller.write_low = 1;
  return std::make_unique<lpddr5::controller>("dram", config, figures, timeline);
}

}  // namespace

npu_config small_npu() {
  npu_config config;
  config.array = *gen::find_array("edge_8x8");
  config.scratchpad_bytes = 0x10000;
  config.dma_max_outstanding = 32;
  return config;
}

npu_config small_non_blocking_npu() {
  npu_config config = small_npu();
  config.memory_non_blocking = true;
  return config;
}

npu_config small_block_npu() {
  npu_config config = small_non_blocking_npu();
  config.dma_block_bytes = 2048;
  return config;
}

npu_bench::line_watch::line_watch(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_HAS_PROCESS(line_watch);
  SC_METHOD(changed);
  sensitive << line;
  dont_initialize();
}

void npu_bench::line_watch::changed() {
  if (line.read()) rises.push_back(now_ns());
}

npu_bench::memory_gate::memory_gate(const sc_core::sc_module_name& name, const std::uint64_t& spoiled_byte)
    : sc_module(name), spoiled(spoiled_byte) {
  in.register_b_transport(this, &memory_gate::b_transport);
}

void npu_bench::memory_gate::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (spoiled - payload.get_address() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  out->b_transport(payload, delay);
}

npu_bench::npu_bench(const npu_config& config, array::array_seat* seat, const std::string& trace)
    : timeline(trace.empty() ? core::timeline() : core::timeline(trace)),
      model_({config.array.rows, config.array.columns}),
      block("npu", config, seat != nullptr ? *seat : model_, figures, timeline),
      memory(make_memory(config.memory_non_blocking, figures, timeline)) {
  initiator.socket.bind(block.registers);
  block.memory.bind(checker.from_initiator);
  if (config.memory_non_blocking) {
    memory->serve(checker.to_target);
  } else {
    gate = std::make_unique<memory_gate>("gate", spoiled_);
    checker.to_target.bind(gate->in);
    memory->serve(gate->out);
  }
  block.interrupt.bind(irq_);
  line.line.bind(irq_);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

npu_bench::~npu_bench() {
  EXPECT_EQ(checker.violations(), std::vector<std::string>{});
  EXPECT_TRUE(checker.under_way() != 0 || block.memory_payloads_out() == 0) << "a payload is left behind";
}

std::uint32_t npu_bench::read(std::uint32_t offset) {
  std::vector<std::uint8_t> data(4);
  EXPECT_EQ(initiator.read(offset, data).status, tlm::TLM_OK_RESPONSE) << "read of " << offset;
  std::uint32_t value = 0;
  std::memcpy(&value, data.data(), sizeof value);
  return value;
}

void npu_bench::write(std::uint32_t offset, std::uint32_t value) {
  std::vector<std::uint8_t> data(4);
  std::memcpy(data.data(), &value, sizeof value);
  EXPECT_EQ(initiator.write(offset, data).status, tlm::TLM_OK_RESPONSE) << "write of " << offset;
}

std::uint64_t npu_bench::counter(reg::counter which) {
  const auto i = static_cast<std::uint32_t>(which);
  const std::uint64_t low = read(reg::counters::value_lo::at(i));
  return std::uint64_t{read(reg::counters::value_hi::at(i))} << 32 | low;
}

void npu_bench::enable() {
  for (std::uint32_t q = 0; q < reg::queue::count; ++q) {
    write(reg::queue::base_lo::at(q), static_cast<std::uint32_t>(ring_base(q)));
    write(reg::queue::size::at(q), ring_entries);
    write(reg::queue::completion_lo::at(q), static_cast<std::uint32_t>(record_base(q)));
    tails_[q] = 0;
  }
  write(reg::irq_enable::offset, 0xffff'ffff);
  write(reg::control::offset, reg::control::enable.mask());
}

void npu_bench::soft_reset() {
  write(reg::control::offset, reg::control::soft_reset.mask());
}

void npu_bench::window(const window_command& command) {
  write(reg::window_bus_lo::offset, static_cast<std::uint32_t>(command.bus));
  write(reg::window_bus_hi::offset, static_cast<std::uint32_t>(command.bus >> 32));
  write(reg::window_page::offset, static_cast<std::uint32_t>(command.page));
  write(reg::window_count::offset, static_cast<std::uint32_t>(command.pages));
  write(reg::window_entry::offset, command.entry);
  write(reg::window_command::offset, static_cast<std::uint32_t>(command.operation));
}

gen::completion_record npu_bench::record(std::uint32_t q, std::uint32_t index) {
  return dram_at<gen::completion_record>(record_base(q) + index % ring_entries * sizeof(gen::completion_record));
}

}  // namespace dvp::npu::test
