// The generated register blocks through their AXI4-Lite ports, against a model that reads only the register table.
//
// The bench drives the five channels and all hardware ports at random and looks at every port in every cycle. The
// header of axi_lite_port fixes when the access of a response took place (2 cycles before the response rises), so each
// cycle has one expected state.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>

#include "Vmailbox_axi_lite.h"
#include "Vnpu_axi_lite.h"
#include "Vuart_axi_lite.h"
#include "dvp_gen/mailbox_bank.h"
#include "dvp_gen/npu_bank.h"
#include "dvp_gen/uart_bank.h"
#include "testbenches/rtl/register_model.h"

namespace dvp::test {
namespace {

#define DVP_PORT(name) \
  { #name, reinterpret_cast < std::uint8_t*>(&dut.name) }

port_map hardware_ports(Vnpu_axi_lite& dut) {
  return {DVP_PORT(capability_rows_i),
          DVP_PORT(capability_columns_i),
          DVP_PORT(capability_queues_i),
          DVP_PORT(capability_read_o),
          DVP_PORT(scratchpad_size_bytes_i),
          DVP_PORT(scratchpad_size_read_o),
          DVP_PORT(scratchpad_banks_count_i),
          DVP_PORT(scratchpad_banks_read_o),
          DVP_PORT(accumulator_vectors_i),
          DVP_PORT(accumulator_read_o),
          DVP_PORT(control_enable_o),
          DVP_PORT(control_soft_reset_o),
          DVP_PORT(control_soft_reset_clear_i),
          DVP_PORT(control_write_o),
          DVP_PORT(status_busy_i),
          DVP_PORT(status_error_i),
          DVP_PORT(status_read_o),
          DVP_PORT(irq_status_completion_o),
          DVP_PORT(irq_status_completion_set_i),
          DVP_PORT(irq_status_error_o),
          DVP_PORT(irq_status_error_set_i),
          DVP_PORT(irq_status_window_o),
          DVP_PORT(irq_status_window_set_i),
          DVP_PORT(irq_status_write_o),
          DVP_PORT(irq_enable_completion_o),
          DVP_PORT(irq_enable_error_o),
          DVP_PORT(irq_enable_window_o),
          DVP_PORT(irq_enable_write_o),
          DVP_PORT(window_size_lo_bytes_i),
          DVP_PORT(window_size_lo_read_o),
          DVP_PORT(window_size_hi_bytes_i),
          DVP_PORT(window_size_hi_read_o),
          DVP_PORT(window_geometry_entries_i),
          DVP_PORT(window_geometry_page_shift_i),
          DVP_PORT(window_geometry_read_o),
          DVP_PORT(window_bus_lo_address_o),
          DVP_PORT(window_bus_lo_write_o),
          DVP_PORT(window_bus_hi_address_o),
          DVP_PORT(window_bus_hi_write_o),
          DVP_PORT(window_page_index_o),
          DVP_PORT(window_page_write_o),
          DVP_PORT(window_count_pages_o),
          DVP_PORT(window_count_write_o),
          DVP_PORT(window_entry_index_o),
          DVP_PORT(window_entry_write_o),
          DVP_PORT(window_command_operation_o),
          DVP_PORT(window_command_write_o),
          DVP_PORT(window_status_busy_i),
          DVP_PORT(window_status_refused_i),
          DVP_PORT(window_status_result_i),
          DVP_PORT(window_status_read_o),
          DVP_PORT(queue_base_lo_address_o),
          DVP_PORT(queue_base_lo_write_o),
          DVP_PORT(queue_base_hi_address_o),
          DVP_PORT(queue_base_hi_write_o),
          DVP_PORT(queue_size_entries_o),
          DVP_PORT(queue_size_check_o),
          DVP_PORT(queue_size_write_o),
          DVP_PORT(queue_tail_index_o),
          DVP_PORT(queue_tail_write_o),
          DVP_PORT(queue_head_index_i),
          DVP_PORT(queue_head_read_o),
          DVP_PORT(queue_completion_lo_address_o),
          DVP_PORT(queue_completion_lo_write_o),
          DVP_PORT(queue_completion_hi_address_o),
          DVP_PORT(queue_completion_hi_write_o),
          DVP_PORT(queue_error_code_i),
          DVP_PORT(queue_error_read_o),
          DVP_PORT(queue_error_index_index_i),
          DVP_PORT(queue_error_index_read_o),
          DVP_PORT(queue_fault_address_lo_address_i),
          DVP_PORT(queue_fault_address_lo_read_o),
          DVP_PORT(queue_fault_address_hi_address_i),
          DVP_PORT(queue_fault_address_hi_read_o),
          DVP_PORT(counters_value_lo_value_i),
          DVP_PORT(counters_value_lo_read_o),
          DVP_PORT(counters_value_hi_value_i),
          DVP_PORT(counters_value_hi_read_o)};
}

port_map hardware_ports(Vmailbox_axi_lite& dut) {
  return {DVP_PORT(request_lo_address_i),    DVP_PORT(request_lo_read_o),
          DVP_PORT(request_hi_address_i),    DVP_PORT(request_hi_read_o),
          DVP_PORT(progress_sequence_o),     DVP_PORT(progress_write_o),
          DVP_PORT(finish_code_o),           DVP_PORT(finish_write_o),
          DVP_PORT(request_state_pending_o), DVP_PORT(request_state_pending_set_i),
          DVP_PORT(request_state_write_o)};
}

// Registers that hardware supplies and software writes: txdata, rxdata, div.
port_map hardware_ports(Vuart_axi_lite& dut) {
  return {DVP_PORT(txdata_data_o), DVP_PORT(txdata_full_i),  DVP_PORT(txdata_read_o),  DVP_PORT(txdata_write_o),
          DVP_PORT(rxdata_data_i), DVP_PORT(rxdata_empty_i), DVP_PORT(rxdata_read_o),  DVP_PORT(rxdata_write_o),
          DVP_PORT(txctrl_txen_o), DVP_PORT(txctrl_nstop_o), DVP_PORT(txctrl_txcnt_o), DVP_PORT(txctrl_write_o),
          DVP_PORT(rxctrl_rxen_o), DVP_PORT(rxctrl_rxcnt_o), DVP_PORT(rxctrl_write_o), DVP_PORT(ie_txwm_o),
          DVP_PORT(ie_rxwm_o),     DVP_PORT(ie_write_o),     DVP_PORT(ip_txwm_i),      DVP_PORT(ip_rxwm_i),
          DVP_PORT(ip_read_o),     DVP_PORT(div_divisor_i),  DVP_PORT(div_divisor_o),  DVP_PORT(div_read_o),
          DVP_PORT(div_write_o)};
}

#undef DVP_PORT

constexpr std::uint32_t okay = 0, slverr = 2;

struct access {
  bool write = false;
  std::uint32_t address = 0;
  std::uint32_t data = 0;
  std::uint32_t strobe = 15;
};

// Percent of the cycles in which a waiting transfer is presented, and in which a response is taken.
struct pace {
  std::uint32_t aw = 100, w = 100, ar = 100, b = 100, r = 100;
};

template <class Dut>
class axi_lite_bench {
 public:
  axi_lite_bench(const gen::block_info& block, std::uint32_t seed) : block_(block), random_(seed) {
    const port_map ports = hardware_ports(dut_);
    std::set<std::string> used;
    for (std::uint32_t i = 0; i < block.register_count; ++i) registers_.emplace_back(block.registers[i], ports, used);
    for (const auto& [name, port] : ports) EXPECT_TRUE(used.contains(name)) << name << " belongs to no register";
    answered_.assign(registers_.size(), {});
    reset();
  }

  void push(const access& item) { (item.write ? writes_ : reads_).push_back({item}); }
  std::size_t waiting() const { return writes_.size() + reads_.size(); }

  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }

  access random_access() {
    access item;
    item.write = chance(50);
    item.address = registers_[random_() % registers_.size()].info().offset;
    if (chance(8)) item.address += 1 + static_cast<std::uint32_t>(random_() % 3);
    if (chance(8)) item.address = static_cast<std::uint32_t>(random_()) % block_.window_bytes;
    item.data = chance(20) ? ~0U : chance(20) ? 0 : static_cast<std::uint32_t>(random_());
    item.strobe = chance(85) ? 15 : random_() % 16;
    return item;
  }

  // One cycle of everything.
  void step(const pace& speed) {
    drive_hardware();
    // A transfer, once presented, stays until it is accepted.
    present(writes_, &transfer::address_sent, aw_, speed.aw);
    present(writes_, &transfer::data_sent, w_, speed.w);
    present(reads_, &transfer::address_sent, ar_, speed.ar);
    dut_.awvalid_i = aw_ != nullptr;
    dut_.awaddr_i = static_cast<std::uint16_t>(aw_ != nullptr ? aw_->item.address : random_() % block_.window_bytes);
    dut_.wvalid_i = w_ != nullptr;
    dut_.wdata_i = w_ != nullptr ? w_->item.data : static_cast<std::uint32_t>(random_());
    dut_.wstrb_i = static_cast<std::uint8_t>(w_ != nullptr ? w_->item.strobe : random_() % 16);
    dut_.arvalid_i = ar_ != nullptr;
    dut_.araddr_i = static_cast<std::uint16_t>(ar_ != nullptr ? ar_->item.address : random_() % block_.window_bytes);
    dut_.bready_i = chance(speed.b);
    dut_.rready_i = chance(speed.r);
    dut_.eval();
    observe();
    check_responses();
    accept(aw_, dut_.awready_o != 0, &transfer::address_sent);
    accept(w_, dut_.wready_o != 0, &transfer::data_sent);
    accept(ar_, dut_.arready_o != 0, &transfer::address_sent);
    clock();
    ++cycle_;
  }

  void finish(const pace& speed) {
    for (int n = 0; n < 2'000 && waiting() != 0 && !::testing::Test::HasFailure(); ++n) step(speed);
    EXPECT_EQ(waiting(), 0U) << "requests without a response";
    for (int n = 0; n < 4; ++n) step(speed);  // nothing may follow
  }

  // Everything in flight is dropped.
  void reset() {
    dut_.rst_ni = 0;
    drive_hardware();
    clock();
    dut_.rst_ni = 1;
    writes_.clear();
    reads_.clear();
    aw_ = w_ = ar_ = nullptr;
    history_.clear();
    b_before_ = r_before_ = false;
    b_held_.reset();
    r_held_.reset();
    written_before_.reset();
    values_.clear();
    for (const auto& item : registers_) values_.push_back(item.info().reset);
  }

  const std::vector<modelled_register>& registers() const { return registers_; }
  std::uint64_t cycle() const { return cycle_; }
  bool read_answered() const { return dut_.rvalid_o != 0; }
  bool write_answered() const { return dut_.bvalid_o != 0; }

  // Every register was read, written, and written in part; every kind of error came up.
  void expect_all_covered() const {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      EXPECT_GT(answered_[i].reads, 0U) << registers_[i].info().name;
      EXPECT_GT(answered_[i].writes, 0U) << registers_[i].info().name;
      EXPECT_GT(answered_[i].partial_writes, 0U) << registers_[i].info().name;
    }
    EXPECT_GT(elsewhere_, 0U) << "no access beside the registers";
  }

 private:
  struct transfer {
    access item;
    bool address_sent = false;
    bool data_sent = false;
  };
  // What hardware drove and what the ports showed in one cycle.
  struct moment {
    std::vector<std::uint32_t> values, sets, clears;  // driven
    std::vector<std::uint32_t> seen;
    std::vector<bool> read_strobes, write_strobes;
  };
  struct counts {
    std::uint64_t reads = 0, writes = 0, partial_writes = 0;
  };

  void clock() {
    dut_.clk_i = 0;
    dut_.eval();
    dut_.clk_i = 1;
    dut_.eval();
  }

  void drive_hardware() {
    now_ = {};
    for (const auto& item : registers_) {
      now_.values.push_back(static_cast<std::uint32_t>(random_()) & item.info().read_mask);
      now_.sets.push_back(chance(10) ? static_cast<std::uint32_t>(random_()) : 0);
      now_.clears.push_back(chance(10) ? static_cast<std::uint32_t>(random_()) : 0);
      item.drive_value(now_.values.back());
      item.drive_set(now_.sets.back());
      item.drive_clear(now_.clears.back());
    }
  }

  // The first transfer whose half is not sent yet, if it is shown in this cycle.
  void present(std::deque<transfer>& queue, bool transfer::*sent, transfer*& shown, std::uint32_t percent) {
    if (shown != nullptr || !chance(percent)) return;
    for (transfer& item : queue) {
      if (!(item.*sent)) {
        shown = &item;
        return;
      }
    }
  }

  void accept(transfer*& shown, bool ready, bool transfer::*sent) {
    if (shown == nullptr || !ready) return;
    shown->*sent = true;
    shown = nullptr;
  }

  void observe() {
    for (const auto& item : registers_) {
      now_.seen.push_back(item.seen());
      now_.read_strobes.push_back(item.read_strobe());
      now_.write_strobes.push_back(item.write_strobe());
    }
    history_.push_back(std::move(now_));
  }

  std::optional<std::size_t> register_at(std::uint32_t address) const {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      if (registers_[i].info().offset == address) return i;
    }
    return std::nullopt;
  }

  void check_responses() {
    const bool b_rises = dut_.bvalid_o != 0 && !b_before_;
    const bool r_rises = dut_.rvalid_o != 0 && !r_before_;
    ASSERT_FALSE(b_rises && r_rises) << "two accesses in one cycle, " << cycle_;
    if (history_.size() == 3) {
      settle(b_rises, r_rises);
      history_.pop_front();
    } else {
      ASSERT_FALSE(b_rises || r_rises) << "a response before any access, " << cycle_;
    }
    hold(dut_.bvalid_o != 0, dut_.bready_i != 0, dut_.bresp_o, b_held_, b_before_, "b");
    hold(dut_.rvalid_o != 0, dut_.rready_i != 0, std::uint64_t{dut_.rresp_o} << 32 | dut_.rdata_o, r_held_, r_before_,
         "r");
  }

  // A response that waits does not change; once taken it is gone.
  void hold(bool valid, bool ready, std::uint64_t payload, std::optional<std::uint64_t>& held, bool& before,
            const char* channel) {
    EXPECT_TRUE(!held || (valid && payload == *held)) << channel << " changed under stall, cycle " << cycle_;
    held.reset();
    if (valid && !ready) held = payload;
    before = valid && !ready;
  }

  // Cycle t - 2 is complete: its access, if any, is answered in this cycle.
  void settle(bool write, bool read) {
    const moment& then = history_.front();
    std::optional<std::size_t> written, strobed;
    std::uint32_t data = 0;
    if (write) {
      ASSERT_TRUE(!writes_.empty() && writes_.front().address_sent && writes_.front().data_sent) << "b without request";
      const access item = writes_.front().item;
      writes_.pop_front();
      written = write_of(item);
      data = item.data;
    }
    if (read) {
      ASSERT_TRUE(!reads_.empty() && reads_.front().address_sent) << "r without request";
      strobed = read_of(reads_.front().item, then);
      reads_.pop_front();
    }
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      const auto& item = registers_[i];
      EXPECT_EQ(then.seen[i], values_[i] & item.seen_mask()) << item.info().name << ", cycle " << cycle_ - 2;
      EXPECT_EQ(then.read_strobes[i], strobed == i) << item.info().name << ", cycle " << cycle_ - 2;
      EXPECT_EQ(then.write_strobes[i], written_before_ == i) << item.info().name << ", cycle " << cycle_ - 2;
      values_[i] = item.next(values_[i], written == i ? &data : nullptr, then.sets[i], then.clears[i]);
    }
    written_before_ = written;
  }

  // Checks the response on the bus; returns the register that took the value.
  std::optional<std::size_t> write_of(const access& item) {
    const auto index = register_at(item.address);
    const bool whole = item.strobe == 15;
    const bool taken = index && whole && registers_[*index].writable();
    EXPECT_EQ(dut_.bresp_o, taken ? okay : slverr) << "write of " << item.address << " strobe " << item.strobe;
    if (!index)
      ++elsewhere_;
    else
      ++(whole ? answered_[*index].writes : answered_[*index].partial_writes);
    return taken ? index : std::nullopt;
  }

  // Checks the response on the bus; returns the register whose read strobe was high.
  std::optional<std::size_t> read_of(const access& item, const moment& then) {
    const auto index = register_at(item.address);
    const bool shown = index && registers_[*index].readable();
    std::uint32_t expected = 0;
    if (shown) {
      const auto& info = registers_[*index].info();
      expected = (info.hardware ? then.values[*index] : values_[*index]) & info.read_mask;
    }
    EXPECT_EQ(dut_.rresp_o, shown ? okay : slverr) << "read of " << item.address;
    EXPECT_EQ(dut_.rdata_o, expected) << "read of " << item.address << ", cycle " << cycle_;
    if (index)
      ++answered_[*index].reads;
    else
      ++elsewhere_;
    return shown && registers_[*index].info().hardware ? index : std::nullopt;
  }

  const gen::block_info& block_;
  Dut dut_;
  std::mt19937 random_;
  std::vector<modelled_register> registers_;
  std::vector<std::uint32_t> values_;
  std::vector<counts> answered_;
  std::uint64_t elsewhere_ = 0;
  std::uint64_t cycle_ = 0;

  std::deque<transfer> writes_, reads_;  // not answered yet; a deque keeps the addresses of its elements
  transfer* aw_ = nullptr;
  transfer* w_ = nullptr;
  transfer* ar_ = nullptr;
  moment now_;
  std::deque<moment> history_;
  bool b_before_ = false, r_before_ = false;  // a response that has been checked still waits
  std::optional<std::uint64_t> b_held_, r_held_;
  std::optional<std::size_t> written_before_;
};

template <class Dut>
struct block_of;
template <>
struct block_of<Vnpu_axi_lite> {
  static const gen::block_info& info() { return gen::npu::bank; }
};
template <>
struct block_of<Vmailbox_axi_lite> {
  static const gen::block_info& info() { return gen::mailbox::bank; }
};

template <>
struct block_of<Vuart_axi_lite> {
  static const gen::block_info& info() { return gen::uart::bank; }
};

template <class Dut>
class registers : public ::testing::Test {
 protected:
  std::uint32_t seeded(std::uint32_t seed) {
    this->RecordProperty("seed", static_cast<int>(seed));
    trace_.emplace(__FILE__, __LINE__, ::testing::Message() << "seed " << seed);
    return seed;
  }

 private:
  std::optional<::testing::ScopedTrace> trace_;
};

using blocks = ::testing::Types<Vnpu_axi_lite, Vmailbox_axi_lite, Vuart_axi_lite>;
TYPED_TEST_SUITE(registers, blocks);

// One register after the other: reset value, ones, zeros, every partial strobe.
TYPED_TEST(registers, each_in_order) {
  axi_lite_bench<TypeParam> bench(block_of<TypeParam>::info(), this->seeded(20281));
  const auto one = [&](const access& item) {
    bench.push(item);
    bench.finish({});
  };
  for (const auto& item : bench.registers()) one({false, item.info().offset});
  for (const auto& item : bench.registers()) {
    const std::uint32_t offset = item.info().offset;
    for (const std::uint32_t data : {~0U, 0U, 0x5a5a'a5a5U, ~0U}) {
      one({true, offset, data});
      one({false, offset});
    }
    for (std::uint32_t strobe = 0; strobe < 15; ++strobe) one({true, offset, 0x1234'5678U, strobe});
    one({false, offset});
    if (this->HasFailure()) return;
  }
  // The whole window: an error everywhere else.
  for (std::uint32_t address = 0; address < block_of<TypeParam>::info().window_bytes; ++address) {
    bench.push({false, address});
    bench.push({true, address, address * 0x0101'0101U});
  }
  while (bench.waiting() != 0 && !this->HasFailure()) bench.step({});
  bench.expect_all_covered();
}

TYPED_TEST(registers, random_order_and_delays) {
  axi_lite_bench<TypeParam> bench(block_of<TypeParam>::info(), this->seeded(20282));
  for (const pace& speed : {pace{}, pace{50, 50, 50, 50, 50}, pace{100, 10, 60, 30, 100}, pace{10, 100, 60, 100, 30},
                            pace{20, 20, 20, 100, 100}, pace{100, 100, 100, 10, 10}}) {
    for (int n = 0; n < 8'000 && !this->HasFailure(); ++n) {
      if (bench.waiting() < 6) bench.push(bench.random_access());
      bench.step(speed);
    }
    bench.finish(speed);
    if (this->HasFailure()) return;
  }
  bench.expect_all_covered();
}

TYPED_TEST(registers, reset_at_any_time) {
  axi_lite_bench<TypeParam> bench(block_of<TypeParam>::info(), this->seeded(20283));
  for (int n = 0; n < 20'000 && !this->HasFailure(); ++n) {
    if (bench.waiting() < 6) bench.push(bench.random_access());
    bench.step({70, 70, 70, 60, 60});
    if (bench.chance(4)) bench.reset();
  }
  bench.finish({});
}

// The latencies of the header: accepted in cycle 0, access in 1, response in 3.
TYPED_TEST(registers, latency) {
  axi_lite_bench<TypeParam> bench(block_of<TypeParam>::info(), this->seeded(20284));
  for (const bool write : {false, true}) {
    for (const std::uint32_t strobe : {15U, 3U}) {
      bench.push({write, 0, 0, strobe});
      for (int n = 0; n < 3; ++n) {
        EXPECT_FALSE(bench.read_answered() || bench.write_answered()) << n;
        bench.step({});
      }
      EXPECT_EQ(bench.read_answered(), !write);
      EXPECT_EQ(bench.write_answered(), write);
      bench.finish({});
    }
  }
}

}  // namespace
}  // namespace dvp::test
