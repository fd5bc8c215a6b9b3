// What goes wrong and when: the faults of a run as data, and the schedule that deals them out. No simulator.
//
// Everything is counted in events of a class: accesses of the NPU's memory socket, or rises of its interrupt line. An
// event suffers at most one fault; a second one that is due then waits for the next event of its class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace dvp::faults {

enum class fault_kind : std::uint8_t {
  bus_error,          // the access reaches no memory and is answered with an address error
  stuck,              // the access is never answered
  descriptor,         // bits of fetched descriptors arrive inverted
  record,             // bits of a completion record are stored inverted
  lost_interrupt,     // a rise of the line is not passed on; it stays low until the next one
  ecc_corrected,      // read data had an error that was corrected, which takes time
  ecc_uncorrectable,  // read data had an error that was found: answered with a generic error
  ecc_silent,         // read data arrive with inverted bits that no code found
};
inline constexpr std::size_t fault_kinds = 8;
inline constexpr const char* kind_names[fault_kinds] = {
    "bus_error", "stuck", "descriptor", "record", "lost_interrupt", "ecc_corrected", "ecc_uncorrectable", "ecc_silent"};

enum class event_class : std::uint8_t {
  access,     // any of the four below
  fetch,      // read of descriptors
  read,       // read of anything else
  write,      // write of anything but completion records
  record,     // write of a completion record
  interrupt,  // rise of the line
};
inline constexpr std::size_t event_classes = 6;
inline constexpr const char* class_names[event_classes] = {"access", "fetch", "read", "write", "record", "interrupt"};

// The classes of events that a kind can happen to; the first is the one it happens to when nothing is said.
std::vector<event_class> classes_of(fault_kind kind);

// Bits to invert: `mask`, little-endian, laid over eight bytes of the access from byte `byte` on. Both wrap around at
// the end of the access.
struct inverted_bits {
  std::uint64_t byte = 0;
  std::uint64_t mask = 1;
};

struct fault {
  fault_kind kind = fault_kind::bus_error;
  event_class where = event_class::access;
  std::uint64_t number = 1;  // the how-maniest event of the class from at_ps on, 1 or more
  std::uint64_t at_ps = 0;   // simulated time
  inverted_bits bits = {};   // descriptor, record, ecc_silent
};

// Faults drawn by chance, the same for the same seed and events. The gap from one to the next of a kind, in events of
// its class, is uniform from 1 to 2 * mean - 1. descriptor and record invert a burst of one to eight bits: the check
// byte of a descriptor always finds it; a record has none, and what hits its end_cycle alone, which nobody reads, harms
// nobody. ecc_silent inverts three bits of one 64-bit word.
struct chance {
  std::uint64_t seed = 0;
  std::array<std::uint64_t, fault_kinds> mean_events{};  // by kind; 0: never
};

struct fault_plan {
  std::vector<fault> program;
  chance random;
  std::uint64_t correction_ps = 0;  // that an ecc_corrected access takes longer
};

class fault_schedule {
 public:
  explicit fault_schedule(const fault_plan& plan);

  // Adds a fault; its number counts from now.
  void arm(const fault& f);
  // Drops the program's and the armed faults that have not come; those of chance stay.
  void disarm() { armed_.clear(); }

  // An event of this class, never `access`, happens at `now_ps`. The fault it suffers, if any.
  std::optional<fault> next(event_class happened, std::uint64_t now_ps);

  // Faults of the program and armed ones that have not come yet.
  std::size_t outstanding() const { return armed_.size(); }
  // Events of a class so far.
  std::uint64_t events(event_class what) const { return events_[static_cast<std::size_t>(what)]; }

 private:
  struct drawn {
    fault_kind kind;
    std::uint64_t mean;
    std::uint64_t left;  // events to the next one
  };

  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }
  inverted_bits draw_bits(fault_kind kind);

  std::vector<fault> armed_;  // their numbers count down
  std::vector<drawn> drawn_;
  std::array<std::uint64_t, event_classes> events_{};
  std::mt19937_64 generator_;
};

// Inverts the bits.
void invert(const inverted_bits& bits, unsigned char* data, std::size_t bytes);

}  // namespace dvp::faults
