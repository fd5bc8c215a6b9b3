// Control and status registers of a hart that has machine mode only (the privileged architecture, 20211203, chapter 3).
//
// Holds the state and its access rules; what changes by itself (counters, time, interrupt lines) is passed in. fflags,
// frm and fcsr are the simulator's, mstatus.FS is kept equal to the simulator's by the hart.
#pragma once

#include <cstdint>
#include <optional>

#include "tlm/cpu/rv64/pmp.h"

namespace dvp::cpu::rv64 {

namespace csr {
inline constexpr unsigned fflags = 0x001, fcsr = 0x003;
inline constexpr unsigned mstatus = 0x300, misa = 0x301, mie = 0x304, mtvec = 0x305, mcounteren = 0x306;
inline constexpr unsigned mcountinhibit = 0x320, mhpmevent3 = 0x323;
inline constexpr unsigned mscratch = 0x340, mepc = 0x341, mcause = 0x342, mtval = 0x343, mip = 0x344;
inline constexpr unsigned pmpcfg0 = 0x3a0, pmpcfg2 = 0x3a2, pmpaddr0 = 0x3b0;
inline constexpr unsigned tselect = 0x7a0;  // and tdata1 to tdata3: there are no triggers
inline constexpr unsigned mcycle = 0xb00, minstret = 0xb02, mhpmcounter3 = 0xb03;
inline constexpr unsigned cycle = 0xc00, time = 0xc01, instret = 0xc02, hpmcounter3 = 0xc03;
inline constexpr unsigned mvendorid = 0xf11, mconfigptr = 0xf15, mhartid = 0xf14;
}  // namespace csr

// mcause of what a hart raises by itself.
namespace trap_cause {
inline constexpr std::uint64_t fetch_fault = 1, illegal = 2, breakpoint = 3, load_misaligned = 4, load_fault = 5;
inline constexpr std::uint64_t store_misaligned = 6, store_fault = 7, machine_call = 11, interrupt = 1ULL << 63;
}  // namespace trap_cause

inline constexpr std::uint64_t mstatus_mie = 1U << 3;
inline constexpr std::uint64_t mstatus_mpie = 1U << 7;
inline constexpr unsigned mstatus_fs_shift = 13;
inline constexpr std::uint64_t mstatus_fs = 3U << mstatus_fs_shift;

// Values at the instruction that reads or writes, itself not counted.
struct csr_inputs {
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t interrupts = 0;  // lines, bits of mip
  std::uint64_t end_cycles = 0;  // cycles when the instruction ends
};

class csr_file {
 public:
  explicit csr_file(std::uint32_t hart) : hart_(hart) {}

  // Nothing when there is no such register.
  std::optional<std::uint64_t> read(unsigned number, const csr_inputs& now) const;
  // False when there is none or it is read-only; ignored bits keep what they have.
  bool write(unsigned number, std::uint64_t value, const csr_inputs& now);

  // Enters a handler: the address to go on at.
  std::uint64_t enter_trap(std::uint64_t cause, std::uint64_t pc, std::uint64_t value);
  // mret: the address to go on at.
  std::uint64_t leave_trap();

  std::uint64_t enabled() const { return mie_; }
  bool interrupts_on() const { return (mstatus_ & mstatus_mie) != 0; }
  unsigned fs() const { return static_cast<unsigned>((mstatus_ & mstatus_fs) >> mstatus_fs_shift); }
  void set_fs(unsigned fs) { mstatus_ = (mstatus_ & ~mstatus_fs) | std::uint64_t{fs} << mstatus_fs_shift; }
  const pmp& protection() const { return pmp_; }
  // Counts writes that changed a permission.
  std::uint64_t protection_changes() const { return protection_changes_; }

 private:
  // A counter that can be written and stopped.
  struct counter {
    std::uint64_t offset = 0;
    std::uint64_t held = 0;
    bool stopped = false;
    std::uint64_t at(std::uint64_t source) const { return stopped ? held : source + offset; }
    void set(std::uint64_t value, std::uint64_t source) {
      held = value;
      offset = value - source;
    }
    void stop(bool now_stopped, std::uint64_t source) {
      if (now_stopped == stopped) return;
      if (now_stopped) {
        held = source + offset;
      } else {
        offset = held - source;
      }
      stopped = now_stopped;
    }
  };

  std::optional<std::uint64_t> read_group(unsigned number) const;
  bool write_group(unsigned number, std::uint64_t value);

  std::uint32_t hart_;
  std::uint64_t mstatus_ = 0;
  std::uint64_t mie_ = 0;
  std::uint64_t mtvec_ = 0;
  std::uint64_t mscratch_ = 0;
  std::uint64_t mepc_ = 0;
  std::uint64_t mcause_ = 0;
  std::uint64_t mtval_ = 0;
  counter cycle_;
  counter instret_;
  pmp pmp_;
  std::uint64_t protection_changes_ = 0;
};

}  // namespace dvp::cpu::rv64
