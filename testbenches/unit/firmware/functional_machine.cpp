#include "testbenches/unit/firmware/functional_machine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "dvp_gen/converter_regs.h"
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
namespace converter_regs = gen::converter;
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

std::uint32_t window_geometry(const npu::window_config& window) {
  return regs::window_geometry::entries.set(0, window.entries) |
         regs::window_geometry::page_shift.set(0, static_cast<std::uint32_t>(std::countr_zero(window.page_bytes)));
}

// The exclusive or of all bytes of a descriptor that carries a check byte, written out here on purpose.
bool check_byte_agrees(const npu::descriptor_view& d) {
  std::byte all{0};
  for (const std::byte each : d.bytes) {
    all ^= each;
  }
  return all == std::byte{0xff};
}

}  // namespace

functional_machine::functional_machine(const functional_options& options)
    : options_(options),
      dram_(options.memory_bytes),
      scratchpad_(options.scratchpad_bytes),
      array_(shape),
      gemm_(array_, shape.columns),
      checker_(new_checker()),
      window_(options.window) {
  hal::install(this);
}

void functional_machine::reset() {
  registers_.clear();
  irq_status_ = 0;
  unheard_ = false;
  head_ = 0;
  error_ = regs::error_code::none;
  fault_address_ = 0;
  window_.clear();
  window_result_ = regs::window_result::ok;
  checker_ = new_checker();
}

void* functional_machine::memory(std::uint64_t address, std::uint64_t bytes) {
  const bool inside = address >= map::dram_base && address - map::dram_base <= dram_.size() &&
                      bytes <= dram_.size() - (address - map::dram_base);
  return inside ? dram_.data() + (address - map::dram_base) : nullptr;
}

void functional_machine::spend(hal::work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool,
                               gen::purpose purpose) {
  EXPECT_NE(memory(address, bytes), nullptr) << bytes << " bytes at " << std::hex << address;
  streamed_[purpose] += bytes;
  spend(kind, amount);
}

void functional_machine::set_request(std::uint64_t address) {
  request_address_ = address;
  request_pending_ = true;
}

bool functional_machine::npu_level() {
  return !unheard_ && (irq_status_ & registers_[npu_at(regs::irq_enable::offset)]) != 0;
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

std::uint32_t functional_machine::read_converter(std::uint64_t offset) {
  if (offset == converter_regs::id::offset) {
    return converter_regs::id::reset;
  }
  if (offset == converter_regs::views::offset) {
    return options_.converts ? numerics::view_table::count : 0;
  }
  return registers_[map::converter_base + offset];
}

void functional_machine::write_converter(std::uint64_t offset, std::uint32_t value) {
  namespace field = converter_regs::view::descriptor;
  const std::uint64_t number = (offset - field::at(0)) / converter_regs::view::stride + 1;
  numerics::view v;
  v.precision = static_cast<std::uint8_t>(field::precision.get(value));
  v.mode = static_cast<numerics::view_mode>(field::mode.get(value));
  v.shift = static_cast<std::uint8_t>(field::shift.get(value));
  v.clip = static_cast<std::uint8_t>(field::clip.get(value));
  v.threshold = static_cast<std::uint8_t>(field::threshold.get(value));
  if (options_.converts && views_.set(static_cast<std::uint16_t>(number), v)) {
    registers_[map::converter_base + offset] = value;
  }
}

std::uint32_t functional_machine::read32(std::uint64_t address) {
  if (address - map::converter_base < map::converter_bytes) {
    return read_converter(address - map::converter_base);
  }
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
    case npu_at(regs::irq_status::offset):
      return irq_status_;
    case npu_at(regs::status::offset):
      return regs::status::error.set(0, error_ != regs::error_code::none);
    case npu_at(regs::queue::head::at(0)):
    case npu_at(regs::queue::error_index::at(0)):
      return head_;
    case npu_at(regs::queue::error::at(0)):
      return static_cast<std::uint32_t>(error_);
    case npu_at(regs::queue::fault_address_lo::at(0)):
      return static_cast<std::uint32_t>(fault_address_);
    case npu_at(regs::queue::fault_address_hi::at(0)):
      return static_cast<std::uint32_t>(fault_address_ >> 32);
    case npu_at(regs::irq_enable::offset):
      return registers_[address];
    case npu_at(regs::window_size_lo::offset):
      return static_cast<std::uint32_t>(options_.window.bytes);
    case npu_at(regs::window_size_hi::offset):
      return static_cast<std::uint32_t>(options_.window.bytes >> 32);
    case npu_at(regs::window_geometry::offset):
      return options_.window.bytes == 0 ? 0 : window_geometry(options_.window);
    case npu_at(regs::window_status::offset):
      return regs::window_status::result.set(0, static_cast<std::uint32_t>(window_result_));
    default:
      ADD_FAILURE() << "read of " << std::hex << address;
      return 0;
  }
}

void functional_machine::write32(std::uint64_t address, std::uint32_t value) {
  if (address - map::converter_base < map::converter_bytes) {
    write_converter(address - map::converter_base, value);
  } else if (address == mailbox_at(gen::mailbox::progress::offset)) {
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
    unheard_ = unheard_ && irq_status_ != 0;
  } else {
    if (address == npu_at(regs::control::offset) && regs::control::soft_reset.get(value) != 0) {
      reset();
    }
    registers_[address] = value;
    if (address == npu_at(regs::window_command::offset)) {
      window_written();
    }
    if (address == npu_at(regs::queue::tail::at(0))) {
      EXPECT_LE(value - head_, regs::queue::size::entries.get(registers_[npu_at(regs::queue::size::at(0))]))
          << "the doorbell overtakes the ring";
      EXPECT_EQ(registers_[npu_at(regs::control::offset)], 1u) << "the block is not enabled";
      while (options_.eager && head_ != value && head_ < stuck_at && error_ == regs::error_code::none) {
        execute_one();
      }
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
  const std::uint32_t size = regs::queue::size::entries.get(registers_[npu_at(regs::queue::size::at(0))]);
  const std::uint64_t ring = std::uint64_t{registers_[npu_at(regs::queue::base_hi::at(0))]} << 32 |
                             registers_[npu_at(regs::queue::base_lo::at(0))];
  npu::descriptor_view d;
  error_ = reach(ring + std::uint64_t{head_ & (size - 1)} * d.bytes.size(), d.bytes.size(),
                 [&](std::byte* bytes, std::uint64_t offset, std::uint64_t count) {
                   std::memcpy(d.bytes.data() + offset, bytes, count);
                 });
  if (error_ != regs::error_code::none) {
    irq_status_ |= regs::irq_status::error.set(0, 1);
    return;
  }
  if (regs::queue::size::check.get(registers_[npu_at(regs::queue::size::at(0))]) != 0) {
    EXPECT_TRUE(check_byte_agrees(d)) << "descriptor " << head_;
    d.bytes[offsetof(gen::descriptor_header, check)] = std::byte{0};
  }
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
  if (d.flag(gen::descriptor_flag::record)) {
    write_record(d, size);
  }
  ++head_;
  if (d.flag(gen::descriptor_flag::interrupt)) {
    unheard_ = unheard_ || (irq_status_ == 0 && lose_interrupt());
    irq_status_ |= regs::irq_status::completion.set(0, 1);
  }
}

void functional_machine::write_record(const npu::descriptor_view& d, std::uint32_t size) {
  gen::completion_record record;
  record.index = head_;
  record.op = static_cast<std::uint16_t>(d.op());
  tamper_record(record);
  const std::uint64_t ring = std::uint64_t{registers_[npu_at(regs::queue::completion_hi::at(0))]} << 32 |
                             registers_[npu_at(regs::queue::completion_lo::at(0))];
  const auto code = reach(ring + std::uint64_t{head_ & (size - 1)} * sizeof(record), sizeof(record),
                          [&](std::byte* bytes, std::uint64_t offset, std::uint64_t count) {
                            std::memcpy(bytes, reinterpret_cast<const std::byte*>(&record) + offset, count);
                          });
  EXPECT_EQ(code, regs::error_code::none);
}

gen::npu::error_code functional_machine::run(const npu::descriptor_view& d) {
  switch (d.op()) {
    case gen::opcode::fence:
      break;
    case gen::opcode::dma_load:
    case gen::opcode::dma_store:
    case gen::opcode::dma_gather:
      return move(d.as<gen::dma_descriptor>(), d.op());
    case gen::opcode::stage:
      return stage(d.as<gen::dma_descriptor>());
    case gen::opcode::gemm:
      gemm_.run(d.as<gen::gemm_descriptor>(), scratchpad_);
      break;
    case gen::opcode::vector:
      npu::execute_vector(d.as<gen::vector_descriptor>(), scratchpad_);
      break;
    case gen::opcode::rebuild:
      compressed_.run(d.as<gen::rebuild_descriptor>(), scratchpad_);
      break;
    case gen::opcode::update:
      compressed_.run(d.as<gen::update_descriptor>(), scratchpad_);
      break;
    case gen::opcode::sample:
      npu::execute_sample(d.as<gen::sample_descriptor>(), scratchpad_);
      break;
  }
  return regs::error_code::none;
}

gen::npu::error_code functional_machine::move(const gen::dma_descriptor& d, gen::opcode op) {
  auto code = regs::error_code::none;
  if (op == gen::opcode::dma_gather) {
    for (std::uint32_t r = 0; r < d.rows && code == regs::error_code::none; ++r) {
      std::uint32_t index = 0;
      code = reach(d.list_address + std::uint64_t{r} * 4, 4,
                   [&](std::byte* bytes, std::uint64_t, std::uint64_t) { std::memcpy(&index, bytes, 4); });
      if (code == regs::error_code::none) {
        code = transfer(d, d.dram_address + std::uint64_t{index} * d.dram_stride,
                        d.scratchpad_address + std::uint64_t{r} * d.scratchpad_stride, d.row_bytes);
      }
    }
    return code;
  }
  npu::for_each_segment(d, [&](std::uint64_t device, std::uint64_t inside, std::uint64_t bytes) {
    code = transfer(d, device, inside, bytes);
    return code == regs::error_code::none;
  });
  return code;
}

gen::npu::error_code functional_machine::transfer(const gen::dma_descriptor& d, std::uint64_t device,
                                                  std::uint64_t inside, std::uint64_t bytes) {
  const std::span<std::byte> here = std::span(scratchpad_).subspan(inside, bytes);
  if (d.header.op == gen::opcode::dma_store) {
    return reach(device, bytes, [&](std::byte* outside, std::uint64_t offset, std::uint64_t count) {
      std::memcpy(outside, here.data() + offset, count);
    });
  }
  const bool narrow = d.header.tag_precision == gen::precision::q4 || d.header.tag_precision == gen::precision::q2;
  const std::uint32_t bits = !narrow ? 8 : d.header.tag_precision == gen::precision::q4 ? 4 : 2;
  std::vector<std::byte> stored(bytes * 8 / bits);
  const auto code = reach(device, stored.size(), [&](std::byte* outside, std::uint64_t offset, std::uint64_t count) {
    std::memcpy(stored.data() + offset, outside, count);
  });
  if (code != regs::error_code::none) {
    return code;
  }
  const numerics::converter* view = narrow ? views_.find(bits, d.header.function) : nullptr;
  if (narrow && view == nullptr) {
    fault_address_ = device;
    return regs::error_code::bus_error;
  }
  narrow ? view->convert_all(stored, here) : static_cast<void>(std::ranges::copy(stored, here.begin()));
  moved_[{d.header.bytes_purpose, d.header.tag_precision}] += bytes;
  return code;
}

gen::npu::error_code functional_machine::stage(const gen::dma_descriptor& d) {
  const auto* source = static_cast<const std::byte*>(memory(d.list_address, d.row_bytes));
  if (source == nullptr) {
    fault_address_ = d.list_address;
    return regs::error_code::bus_error;
  }
  return reach(d.dram_address, d.row_bytes, [&](std::byte* bytes, std::uint64_t offset, std::uint64_t count) {
    std::memcpy(bytes, source + offset, count);
  });
}

template <class Visit>
gen::npu::error_code functional_machine::reach(std::uint64_t device, std::uint64_t bytes, Visit visit) {
  const bool windowed = options_.window.bytes != 0;
  std::uint64_t lost = device;
  if (windowed && !window_.covers(lost, bytes)) {
    fault_address_ = lost;
    return regs::error_code::window_fault;
  }
  for (std::uint64_t offset = 0; offset < bytes;) {
    const npu::window_span span =
        windowed ? window_.find(device + offset) : npu::window_span{device + offset, bytes - offset};
    const std::uint64_t count = std::min(span.bytes, bytes - offset);
    void* outside = memory(span.bus, count);
    if (outside == nullptr) {
      fault_address_ = device + offset;
      return regs::error_code::bus_error;
    }
    visit(static_cast<std::byte*>(outside), offset, count);
    offset += count;
  }
  return regs::error_code::none;
}

std::uint64_t functional_machine::bus_of(std::uint64_t device) const {
  const npu::window_span span = window_.find(device);
  return span.bytes == 0 ? device : span.bus;
}

hazard_checker functional_machine::new_checker() {
  return {most_ring, [this](std::uint64_t device) { return bus_of(device); },
          [this](std::uint64_t device, std::uint32_t words) {
            std::vector<std::uint32_t> list(words);
            const auto code = reach(device, words * sizeof(std::uint32_t),
                                    [&](const std::byte* bytes, std::uint64_t offset, std::uint64_t count) {
                                      std::memcpy(reinterpret_cast<std::byte*>(list.data()) + offset, bytes, count);
                                    });
            if (code != regs::error_code::none) list.clear();
            return list;
          }};
}

void functional_machine::window_written() {
  npu::window_command command;
  command.operation = static_cast<regs::window_operation>(
      regs::window_command::operation.get(registers_[npu_at(regs::window_command::offset)]));
  command.entry = regs::window_entry::index.get(registers_[npu_at(regs::window_entry::offset)]);
  command.bus = std::uint64_t{registers_[npu_at(regs::window_bus_hi::offset)]} << 32 |
                registers_[npu_at(regs::window_bus_lo::offset)];
  command.page = registers_[npu_at(regs::window_page::offset)];
  command.pages = registers_[npu_at(regs::window_count::offset)];
  tamper_window(command);
  window_result_ = window_.check(command);
  irq_status_ |= regs::irq_status::window.mask();
  if (window_result_ != regs::window_result::ok) {
    return;
  }
  ++window_commands_[static_cast<std::size_t>(command.operation)];
  if (command.operation == regs::window_operation::map) {
    window_.map(command);
  } else if (command.operation == regs::window_operation::unmap) {
    window_.unmap(command.entry);
  }
}

}  // namespace dvp::testbench
