// One RV64IMAFDC hart with machine mode only, on Unicorn; no SystemC.
//
// Instructions are executed by Unicorn out of memory that the surroundings grant by pointer. Everything that has to do
// with privilege, time or devices is done here: CSRs, traps, interrupts, mret, wfi, fence.i, physical memory
// protection, accesses to what is not granted memory. Traps are precise; instruction counts and times are exact and do
// not depend on how execution is cut into calls of run().
//
// Time. The hart's clock now() counts 1/256 cycles since the start of simulation, sleep included. An instruction starts
// at now() and moves it by its price (cost_model.h); one that accesses a device has been charged before the
// transaction, which adds what the bus takes.
//
// Counters. minstret counts instructions that completed (ecall, ebreak and faulting ones do not), mcycle the cycles of
// now() without sleep, time what hart_surroundings::time_ns() says.
//
// A trap handler that cannot go on is a fault of the run: an exception that repeats 16 times with the same cause at the
// same pc, each within 256 instructions of the one before, no mret between them. ecall and ebreak do not count.
//
// CSRs: those of machine mode without S and U, fflags, frm, fcsr, cycle, time, instret and zero for the performance
// counters; MPP reads 3; interrupts 3, 7 and 11 (software, timer, external) from the lines. misa, mip and the
// identification registers ignore writes. Any other CSR is an illegal instruction.
//
// Atomics work on granted memory; an AMO, LR or SC that reaches anything else is an access fault. A store conditional
// succeeds when it is the first behind an LR of this hart from the same address and memory holds the value that was
// read then, whoever wrote it meanwhile; one to another address fails without an access and so without a fault.
// A misaligned access is served in granted memory and raises the address-misaligned exception elsewhere.
// Code runs from granted memory only: a fetch from anything else is an access fault. Code that was changed may be
// executed as it was until a fence.i.
//
// Limits of Unicorn 2.0.1 that are not made good for: a single-precision result leaves the upper half of its register
// zero instead of ones, a single-precision operand is taken as it is instead of as NaN when it is not boxed, sc with a
// misaligned address fails instead of trapping, and pages that are locked execute-only can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlm/cpu/rv64/code_cache.h"
#include "tlm/cpu/rv64/cost_model.h"
#include "tlm/cpu/rv64/csr_file.h"
#include "tlm/cpu/rv64/granted_memory.h"
#include "tlm/cpu/rv64/instruction.h"
#include "tlm/cpu/rv64/memory_map.h"
#include "tlm/cpu/rv64/observer.h"

struct uc_struct;

namespace dvp::cpu::rv64 {

// What a hart needs of the machine around it. Calls come from inside run() and csr().
class hart_surroundings {
 public:
  // One naturally aligned transaction of 1, 2, 4 or 8 bytes, at now(); false when it was refused. It may move the
  // hart's clock (hart::advance_to) but must not run the hart. `value` in the low bytes.
  virtual bool read(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) = 0;
  virtual bool write(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) = 0;
  // The granted memory around an address; nothing when it is none. Asked on first use of an address.
  virtual std::optional<granted_memory> grant(std::uint64_t address) = 0;
  // mtime at now().
  virtual std::uint64_t time_ns() = 0;
  // fence.i: instructions may have been written; every hart's forget_code() has to be called.
  virtual void code_changed() = 0;

 protected:
  ~hart_surroundings() = default;
};

// Why run() returned. The next call goes on where it stopped.
enum class slice_end : std::uint8_t {
  limit,        // now() reached the limit
  synchronise,  // interrupts may have become possible, or their state is needed: call set_interrupts()
  access,       // a transaction happened
  trap,         // a handler was entered or left
  sleep,        // wfi with no enabled interrupt pending; call wake()
  stepped,      // so many instructions or traps as asked for
  breakpoint,   // before the instruction at pc()
  watchpoint,   // after an access that overlaps watched memory
  fault,        // cannot go on; fault() says why
};

// Interrupt bits of mip and mie.
inline constexpr std::uint64_t software_interrupt = 1U << 3;
inline constexpr std::uint64_t timer_interrupt = 1U << 7;
inline constexpr std::uint64_t external_interrupt = 1U << 11;

struct hart_config {
  std::uint32_t id = 0;  // mhartid
  std::uint64_t reset_pc = 0;
  cost_model costs;
  bool direct_data = true;  // loads and stores use granted memory; else every one is a transaction
};

struct hart_figures {
  std::uint64_t instructions = 0;  // completed
  std::uint64_t exceptions = 0;    // traps other than interrupts
  std::uint64_t interrupts = 0;
  std::uint64_t device_reads = 0;  // transactions, refused ones too
  std::uint64_t device_writes = 0;
  std::uint64_t refused = 0;  // transactions
  std::uint64_t sleeps = 0;
  std::uint64_t asleep_units = 0;
};

class hart {
 public:
  // std::runtime_error when Unicorn cannot be opened, std::invalid_argument for a bad cost model. The surroundings
  // outlive the hart and are not called here.
  hart(const hart_config& config, hart_surroundings& surroundings);
  hart(const hart&) = delete;
  hart& operator=(const hart&) = delete;
  ~hart();

  // Executes until now() >= limit or something else happens; an instruction starts only while now() < limit. A pending
  // enabled interrupt is taken first. instructions: 0, or return slice_end::stepped after so many instructions and
  // traps (sleep and fault are told instead when the last one ended so).
  slice_end run(std::uint64_t limit, std::uint64_t instructions = 0);

  std::uint64_t now() const { return now_; }
  // Moves the clock forward; earlier times change nothing.
  void advance_to(std::uint64_t units);

  // The interrupt lines at now(), bits of mip.
  void set_interrupts(std::uint64_t lines);
  // mie, and whether an interrupt of it would be taken (mstatus.MIE).
  std::uint64_t enabled_interrupts() const { return csrs_.enabled(); }
  bool interruptible() const { return csrs_.interrupts_on() && csrs_.enabled() != 0; }
  // Ends a sleep at this time; the price of waking is added.
  void wake(std::uint64_t units);
  bool asleep() const { return asleep_; }

  // Sentence with pc, cause and address after slice_end::fault; empty before.
  const std::string& fault() const { return fault_; }
  const hart_figures& figures() const { return figures_; }

  // True while in a trap handler, from the trap to mret.
  bool in_trap() const { return trap_depth_ != 0; }

  // Memory changed without a store of this hart, or grants did: the hart asks again. Not from inside run() except by
  // surroundings.
  void forget_code();
  void forget_grants();

  // Watching. Null ends it.
  void observe(observer* watcher);
  void set_breakpoint(std::uint64_t address);
  void clear_breakpoint(std::uint64_t address);
  // The same range may be watched for reads and writes at once.
  void watch(std::uint64_t address, std::uint64_t bytes, bool reads, bool writes);
  void unwatch(std::uint64_t address, std::uint64_t bytes, bool reads, bool writes);
  std::uint64_t watched_address() const { return watched_address_; }  // of the last slice_end::watchpoint

  // Registers, between calls of run(). x 0..31, f 0..31 (raw 64 bits).
  std::uint64_t pc() const { return pc_; }
  void set_pc(std::uint64_t value);
  std::uint64_t x(unsigned number) const;
  void set_x(unsigned number, std::uint64_t value);
  std::uint64_t f(unsigned number) const;
  void set_f(unsigned number, std::uint64_t value);
  // By CSR number, as csrr and csrw see it; nothing, or false, when it does not exist (or is read-only).
  std::optional<std::uint64_t> csr(unsigned number);
  bool set_csr(unsigned number, std::uint64_t value);

 private:
  struct simulator_closer {
    void operator()(uc_struct* simulator) const;
  };
  struct watched_range {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    bool reads = false;
    bool writes = false;
    friend bool operator==(const watched_range&, const watched_range&) = default;
  };
  // Why the simulator stopped, told by its hooks.
  enum class cause : std::uint8_t { none, limit, stepped, breakpoint, watchpoint, emulate, data, fetch, exception };
  // What a synchronous exception is about.
  struct exception {
    std::uint64_t cause = 0;
    std::uint64_t pc = 0;
    std::uint64_t value = 0;
  };

  static void on_code(uc_struct* simulator, std::uint64_t address, std::uint32_t size, void* self);
  static bool on_bad_access(uc_struct* simulator, int kind, std::uint64_t address, int size, std::int64_t value,
                            void* self);
  static void on_exception(uc_struct* simulator, std::uint32_t number, void* self);
  void attend(std::uint64_t address, code_entry& entry);
  void stop(cause why, std::uint64_t address);

  void add_hooks();
  std::optional<slice_end> execute();
  std::optional<slice_end> go_on();
  std::optional<slice_end> bad_fetch();
  std::optional<slice_end> bad_data();
  std::optional<slice_end> access_memory(const instruction& what);
  bool load(const instruction& what, std::uint64_t address);
  bool store(const instruction& what, std::uint64_t address);
  std::optional<slice_end> emulate();
  std::optional<slice_end> emulate_access(const instruction& what);
  std::optional<slice_end> emulate_system(const instruction& what);
  std::optional<slice_end> emulate_amo_extreme(const instruction& what);
  std::optional<slice_end> emulate_float_extreme(const instruction& what);
  std::optional<slice_end> emulate_csr(const instruction& what, std::uint32_t units);
  std::optional<slice_end> interrupts_changed() const;
  bool take_interrupt();
  std::optional<slice_end> raise(std::uint64_t number, std::uint64_t pc, std::uint64_t value);
  std::optional<slice_end> raise_uncounted(std::uint64_t number, std::uint64_t value);
  void enter(const exception& what);
  bool repeats(const exception& what);

  void begin();
  void again(std::uint32_t units);
  void count(const code_entry& entry, std::uint64_t address);
  bool has_signaling_operand(const instruction& what) const;
  void tell(std::uint64_t address, std::uint32_t units);
  void note_access(const instruction& what);
  void update_attention();
  bool request(std::uint64_t address, std::uint64_t bytes);
  void update_simulator();
  std::optional<std::uint32_t> bits_at(std::uint64_t address) const;
  instruction at(std::uint64_t address) const;
  std::uint64_t effective_address(const instruction& what) const;
  csr_inputs inputs() const;
  std::uint64_t cycles_at(std::uint64_t units) const;
  void read_fs();
  void write_fs();
  std::uint64_t read_register(int number) const;
  void write_register(int number, std::uint64_t value);

  // Touched by every instruction.
  std::uint64_t now_ = 0;
  std::uint64_t hook_limit_ = 0;  // limit_, or 0 when every instruction needs attention
  std::uint64_t pc_ = 0;          // of the instruction that was counted last, or to go on at
  hart_figures figures_;
  code_cache code_;

  hart_config config_;
  hart_surroundings& surroundings_;
  std::unique_ptr<uc_struct, simulator_closer> simulator_;
  memory_map memory_;
  csr_file csrs_;
  std::uint64_t limit_ = 0;
  std::uint64_t steps_left_ = 0;
  bool stepping_ = false;

  cause stopped_ = cause::none;
  std::uint64_t bad_address_ = 0;
  std::uint32_t exception_number_ = 0;
  std::uint64_t until_ = 1;  // where the simulator stops by itself; odd: nowhere

  std::uint64_t lines_ = 0;
  std::uint64_t lines_at_ = ~0ULL;  // when they were read
  bool asleep_ = false;
  std::uint64_t asleep_since_ = 0;
  unsigned trap_depth_ = 0;
  exception last_exception_;
  exception first_exception_;
  std::uint64_t last_exception_at_ = 0;  // instructions completed then
  unsigned repetitions_ = 0;
  std::string fault_;

  bool code_changed_ = false;
  bool grants_changed_ = false;
  bool map_changed_ = false;
  std::uint64_t protection_seen_ = 0;
  std::uint64_t clean_fcsr_ = 0;
  bool float_off_ = true;  // as the entries of code_ were judged

  observer* watcher_ = nullptr;
  std::vector<watched_range> watched_;
  std::uint64_t watched_address_ = 0;
  bool watch_hit_ = false;
  bool told_ = false;                 // the instruction at pc_ is executed again after memory was granted
  std::uint64_t resumed_at_ = ~0ULL;  // whose breakpoint has been reported
};

}  // namespace dvp::cpu::rv64
