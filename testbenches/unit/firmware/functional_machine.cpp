#include "testbenches/unit/firmware/functional_machine.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/plic_regs.h"
#include "dvp_gen/system.h"
#include "gtest/gtest.h"
#include "tlm/npu/descriptor_check.h"
#include "tlm/npu/dma_segments.h"
#include "tlm/npu/execute_sample.h"
#include "tlm/npu/execute_vector.h"

namespace dvp::testbench {
namespace {

namespace regs = gen::npu;
namespace map = gen::system;

constexpr std::uint64_t npu_at(std::uint32_t offset) {
  return map::npu_base + offset;
}
constexpr std::uint64_t mailbox_at(std::uint32_t offset) {
  return map::mailbox_base + offset;
}

constexpr std::uint64_t plic_at(std::uint32_t offset) {
  return map::plic_base + offset;
}
constexpr std::uint32_t mailbox_bit = 1u << map::mailbox_interrupt;
constexpr std::uint32_t npu_bit = 1u << map::npu_interrupt;

constexpr array::array_shape shape{.rows = 16, .columns = 16};
constexpr std::uint32_t queues = 2;
constexpr std::uint32_t most_ring = 512;

}  // namespace

functional_machine::functional_machine(const functional_options& options)
    : options_(options),
      dram_(options.memory_bytes),
      scratchpad_(options.scratchpad_bytes),
      array_(shape),
      gemm_(array_, shape.columns),
      checker_(most_ring) {
  hal::install(this);
}

void functional_machine::reset() {
  registers_.clear();
  irq_status_ = 0;
  head_ = 0;
  error_ = regs::error_code::none;
  checker_ = hazard_checker(most_ring);
}

void* functional_machine::memory(std::uint64_t address, std::uint64_t bytes) {
  const bool inside = address >= map::dram_base && address - map::dram_base <= dram_.size() &&
                      bytes <= dram_.size() - (address - map::dram_base);
  return inside ? dram_.data() + (address - map::dram_base) : nullptr;
}

void functional_machine::set_request(std::uint64_t address) {
  request_address_ = address;
  request_pending_ = true;
}

bool functional_machine::npu_level() {
  return (irq_status_ & registers_[npu_at(regs::irq_enable::offset)]) != 0;
}

// Gateways, level-sensitive: a high line asks unless its request is still claimed; a request stays when the line drops.
std::uint32_t functional_machine::asking() {
  const std::uint32_t high = (request_pending_ ? mailbox_bit : 0) | (npu_level() ? npu_bit : 0);
  requests_ |= high & ~claimed_;
  return requests_ & enabled_;
}

std::uint32_t functional_machine::claim() {
  const std::uint32_t candidates = asking();
  if (candidates == 0) {
    return 0;
  }
  const std::uint32_t source = static_cast<std::uint32_t>(std::countr_zero(candidates));
  requests_ &= ~(1u << source);
  claimed_ |= 1u << source;
  return source;
}

std::uint32_t functional_machine::read32(std::uint64_t address) {
  switch (address) {
    case plic_at(gen::plic::context::claim::at(0)):
      return claim();
    case mailbox_at(gen::mailbox::request_state::offset):
      return request_pending_;
    case mailbox_at(gen::mailbox::id::offset):
      return gen::mailbox::id::reset;
    case mailbox_at(gen::mailbox::request_lo::offset):
      return static_cast<std::uint32_t>(request_address_);
    case mailbox_at(gen::mailbox::request_hi::offset):
      return static_cast<std::uint32_t>(request_address_ >> 32);
    case npu_at(regs::id::offset):
      return options_.npu_present ? regs::id::reset : 0;
    case npu_at(regs::capability::offset):
      return shape.rows | shape.columns << 8 | queues << 16;
    case npu_at(regs::scratchpad_size::offset):
      return options_.scratchpad_bytes;
    case npu_at(regs::scratchpad_banks::offset):
      return options_.scratchpad_banks;
    case npu_at(regs::accumulator::offset):
      return options_.accumulator_vectors;
    case npu_at(regs::status::offset):
      return regs::status::error.set(0, error_ != regs::error_code::none);
    case npu_at(regs::queue::head::at(0)):
    case npu_at(regs::queue::error_index::at(0)):
      return head_;
    case npu_at(regs::queue::error::at(0)):
      return static_cast<std::uint32_t>(error_);
    default:
      ADD_FAILURE() << "read of " << std::hex << address;
      return 0;
  }
}

void functional_machine::write32(std::uint64_t address, std::uint32_t value) {
  if (address == mailbox_at(gen::mailbox::progress::offset)) {
    on_progress();
  } else if (address == mailbox_at(gen::mailbox::finish::offset)) {
    finish_code = static_cast<int>(value);
    on_finish(finish_code);
  } else if (address == mailbox_at(gen::mailbox::request_state::offset)) {
    request_pending_ = request_pending_ && (value & 1) == 0;
  } else if (address == plic_at(gen::plic::enables::word::at(0))) {
    enabled_ = value;
  } else if (address == plic_at(gen::plic::context::claim::at(0))) {
    asking();  // the gateway looks at the line when it opens
    claimed_ &= ~(1u << value);
  } else if (address == npu_at(regs::irq_status::offset)) {
    irq_status_ &= ~value;
  } else {
    if (address == npu_at(regs::control::offset) && regs::control::soft_reset.get(value) != 0) {
      reset();
    }
    registers_[address] = value;
    if (address == npu_at(regs::queue::tail::at(0))) {
      EXPECT_LE(value - head_, registers_[npu_at(regs::queue::size::at(0))]) << "the doorbell overtakes the ring";
      EXPECT_EQ(registers_[npu_at(regs::control::offset)], 1u) << "the block is not enabled";
    }
  }
}

bool functional_machine::wait_for_interrupt(std::uint32_t timeout_us) {
  while (asking() == 0) {
    if (head_ == registers_[npu_at(regs::queue::tail::at(0))] || head_ >= stuck_at) {
      if (timeout_us == 0) {
        throw std::logic_error("the firmware waits for ever and nothing will wake it");
      }
      return false;
    }
    execute_one();
  }
  return true;
}

void functional_machine::execute_one() {
  const std::uint32_t size = registers_[npu_at(regs::queue::size::at(0))];
  const std::uint64_t ring = std::uint64_t{registers_[npu_at(regs::queue::base_hi::at(0))]} << 32 |
                             registers_[npu_at(regs::queue::base_lo::at(0))];
  npu::descriptor_view d;
  std::memcpy(d.bytes.data(), memory(ring + std::uint64_t{head_ & (size - 1)} * d.bytes.size(), d.bytes.size()),
              d.bytes.size());
  tamper(d);
  const npu::check_limits limits{.scratchpad_bytes = options_.scratchpad_bytes,
                                 .accumulator_vectors = options_.accumulator_vectors};
  error_ = npu::check(d, head_, limits);
  if (error_ == regs::error_code::none) {
    const std::string hazard = checker_.add(d);
    if (!hazard.empty()) {
      hazards_.push_back(hazard);
    }
    error_ = run(d);
  }
  if (error_ != regs::error_code::none) {
    irq_status_ |= regs::irq_status::error.set(0, 1);
    return;
  }
  ++head_;
  if (d.flag(gen::descriptor_flag::interrupt)) {
    irq_status_ |= regs::irq_status::completion.set(0, 1);
  }
}

gen::npu::error_code functional_machine::run(const npu::descriptor_view& d) {
  switch (d.op()) {
    case gen::opcode::fence:
      break;
    case gen::opcode::dma_load:
    case gen::opcode::dma_store:
    case gen::opcode::dma_gather:
      return move(d.as<gen::dma_descriptor>(), d.op()) ? regs::error_code::none : regs::error_code::bus_error;
    case gen::opcode::gemm:
      gemm_.run(d.as<gen::gemm_descriptor>(), scratchpad_);
      break;
    case gen::opcode::vector:
      npu::execute_vector(d.as<gen::vector_descriptor>(), scratchpad_);
      break;
    case gen::opcode::sample:
      npu::execute_sample(d.as<gen::sample_descriptor>(), scratchpad_);
      break;
  }
  return regs::error_code::none;
}

bool functional_machine::move(const gen::dma_descriptor& d, gen::opcode op) {
  const auto copy = [&](std::uint64_t from_dram, std::uint64_t from_scratchpad, std::uint64_t bytes) {
    void* outside = memory(from_dram, bytes);
    std::byte* inside = scratchpad_.data() + from_scratchpad;
    if (outside == nullptr) {
      return false;
    }
    op == gen::opcode::dma_store ? std::memcpy(outside, inside, bytes) : std::memcpy(inside, outside, bytes);
    return true;
  };
  if (op == gen::opcode::dma_gather) {
    for (std::uint32_t r = 0; r < d.rows; ++r) {
      const auto* index = static_cast<const std::uint32_t*>(memory(d.list_address + std::uint64_t{r} * 4, 4));
      if (index == nullptr || !copy(d.dram_address + std::uint64_t{*index} * d.dram_stride,
                                    d.scratchpad_address + std::uint64_t{r} * d.scratchpad_stride, d.row_bytes)) {
        return false;
      }
    }
    return true;
  }
  bool whole = true;
  npu::for_each_segment(d, [&](std::uint64_t from_dram, std::uint64_t from_scratchpad, std::uint64_t bytes) {
    return whole = copy(from_dram, from_scratchpad, bytes);
  });
  return whole;
}

}  // namespace dvp::testbench
