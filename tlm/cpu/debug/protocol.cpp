#include "tlm/cpu/debug/protocol.h"

#include <algorithm>
#include <limits>

#include "tlm/cpu/debug/packet.h"

namespace dvp::cpu::debug {

namespace {

constexpr const char* ok = "OK";
constexpr const char* no_thread = "E03";
constexpr const char* no_place = "E0e";
constexpr const char* malformed = "E16";

constexpr std::uint32_t g_registers = first_float + 32;  // x0..x31, pc, f0..f31
constexpr std::size_t register_digits = 16;
constexpr std::uint32_t sp_number = 2;
constexpr std::uint32_t fp_number = 8;

outcome says(std::string reply) {
  return {{std::move(reply)}, {}, false};
}

// "address,length"
struct place {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};
std::optional<place> take_place(field_reader& in) {
  const auto address = in.number();
  const bool comma = in.take(',');
  const auto bytes = in.number();
  if (!address || !comma || !bytes) return std::nullopt;
  return place{*address, *bytes};
}

// Bytes from the address to the end of the address space, at most `bytes`.
std::size_t room(const place& p) {
  const std::uint64_t behind = std::numeric_limits<std::uint64_t>::max() - p.address;
  return static_cast<std::size_t>(behind < p.bytes ? behind + 1 : p.bytes);
}

}  // namespace

void protocol::connected() {
  hart_ = why_.hart;
  resumed_hart_.reset();
  tells_breakpoints_ = false;
  target_xml_.clear();
  threads_xml_.clear();
}

void protocol::stopped(const stop& why, bool asked) {
  why_ = why;
  asked_ = asked;
  hart_ = why.hart;
}

std::string protocol::stop_reply() const {
  std::string reply;
  if (why_.reason == stop_reason::exited) {
    reply = "W";
    append_byte(reply, static_cast<std::uint8_t>(machine_.exit_code()));
    return reply;
  }
  const std::uint64_t pc = machine_.read_register(why_.hart, pc_number).value_or(0);
  reply = "T05";
  if (why_.reason == stop_reason::fault) reply = "T0b";                  // SIGSEGV
  if (why_.reason == stop_reason::interrupted && asked_) reply = "T02";  // SIGINT
  if (why_.reason == stop_reason::watchpoint) {
    const std::uint64_t type = points_.watching(why_.watched_address);
    reply += type == point_set::write_watchpoint  ? "watch:"
             : type == point_set::read_watchpoint ? "rwatch:"
                                                  : "awatch:";
    reply += hex_number(why_.watched_address) + ";";
  } else if (why_.reason == stop_reason::breakpoint && tells_breakpoints_ && points_.breaks_at(pc)) {
    reply += points_.has_hardware_breakpoint(pc) ? "hwbreak:;" : "swbreak:;";
  }
  reply += "thread:" + hex_number(why_.hart + 1) + ";core:" + hex_number(why_.hart) + ";";
  for (const std::uint32_t number : {sp_number, fp_number, pc_number}) {
    if (const auto value = machine_.read_register(why_.hart, number)) {
      append_byte(reply, static_cast<std::uint8_t>(number));
      reply += ":" + hex_register(*value) + ";";
    }
  }
  return reply;
}

outcome protocol::handle(std::string_view packet) {
  if (packet.empty()) return says("");
  field_reader in(packet.substr(1));
  switch (packet.front()) {
    case '?':
      return says(stop_reply());
    case '!':
      return says(ok);
    case 'g':
      return says(read_registers());
    case 'G':
      return says(write_registers(in));
    case 'p':
      return says(read_register(in));
    case 'P':
      return says(write_register(in));
    case 'm':
      return says(read_memory(in));
    case 'M':
    case 'X':
      return says(write_memory(in, packet.front() == 'X'));
    case 'Z':
    case 'z':
      return says(change_point(in, packet.front() == 'Z'));
    case 'H':
      return says(select_thread(in));
    case 'T':
      return says(hart_of(in) ? ok : no_thread);
    case 'c':
    case 's':
      return resume_at(in, false, packet.front() == 's');
    case 'C':
    case 'S':
      return resume_at(in, true, packet.front() == 'S');
    case 'D':
      return {{ok}, resume_action::detach, false};
    case 'k':
      return {{}, resume_action::kill, false};
    case 'v':
      return letter_v(packet);
    case 'q':
    case 'Q':
      return query(packet);
    default:
      return says("");
  }
}

outcome protocol::released(const run_plan& plan) {
  plan_ = plan;
  return {{}, resume_action::run, false};
}

outcome protocol::resume_at(field_reader in, bool signal, bool step) {
  if (signal && (!in.number() || (!in.done() && !in.take(';')))) return says(malformed);
  const std::uint32_t hart = resumed_hart_.value_or(why_.hart);
  if (!in.done()) {
    const auto address = in.number();
    if (!address || !in.done()) return says(malformed);
    if (!machine_.write_register(hart, pc_number, *address)) return says(no_place);
  }
  if (step) return released(run_plan::step(hart));
  return released(resumed_hart_ && machine_.harts() > 1 ? run_plan::only(hart) : run_plan());
}

outcome protocol::letter_v(std::string_view packet) {
  field_reader in(packet);
  if (in.take("vCont?")) return says("vCont;c;C;s;S;r");
  if (in.take("vCont")) {
    const auto plan = run_plan::parse(in.rest(), machine_.harts(), why_.hart);
    return plan ? released(*plan) : says(malformed);
  }
  if (in.take("vKill;")) return {{ok}, resume_action::kill, false};
  return says("");
}

outcome protocol::query(std::string_view packet) {
  field_reader in(packet);
  if (in.take("qSupported")) return says(supported(in.rest()));
  if (in.take("qXfer:")) return says(transfer(in));
  if (in.take("qRcmd,")) return monitor(in);
  if (in.take("qThreadExtraInfo,")) {
    const auto hart = hart_of(in);
    return says(hart ? hex_text(machine_.describe(*hart)) : no_thread);
  }
  if (packet == "qfThreadInfo") return says(thread_list());
  if (packet == "qsThreadInfo") return says("l");
  if (packet == "qC") return says("QC" + hex_number(why_.hart + 1));
  if (packet == "qAttached" || in.take("qAttached:")) return says("1");  // leaving means to let it run
  if (packet == "QStartNoAckMode") return {{ok}, {}, true};
  if (in.take("qSymbol:")) return says(ok);
  return says("");
}

std::string protocol::supported(std::string_view features) {
  field_reader in(features);
  if (in.take(':')) {
    while (!in.done()) {
      if (in.until(';') == "swbreak+") tells_breakpoints_ = true;
    }
  }
  return "PacketSize=" + hex_number(packet_bytes) +
         ";qXfer:features:read+;qXfer:threads:read+;QStartNoAckMode+;vContSupported+;swbreak+;hwbreak+" +
         (memory_.empty() ? "" : ";qXfer:memory-map:read+");
}

std::optional<std::uint32_t> protocol::hart_of(field_reader in) const {
  const auto thread = in.number();
  if (!thread || !in.done() || *thread == 0 || *thread > machine_.harts()) return std::nullopt;
  return static_cast<std::uint32_t>(*thread - 1);
}

std::string protocol::select_thread(field_reader in) {
  const bool of_registers = in.take('g');
  if (!of_registers && !in.take('c')) return malformed;
  if (in.rest() == "-1" || in.rest() == "0") {  // all, any
    if (of_registers) {
      hart_ = why_.hart;
    } else {
      resumed_hart_.reset();
    }
    return ok;
  }
  const auto hart = hart_of(in);
  if (!hart) return no_thread;
  if (of_registers) {
    hart_ = *hart;
  } else {
    resumed_hart_ = hart;
  }
  return ok;
}

std::string protocol::read_registers() {
  std::string reply;
  for (std::uint32_t number = 0; number < g_registers; ++number) {
    const auto value = machine_.read_register(hart_, number);
    reply += value ? hex_register(*value) : std::string(register_digits, 'x');
  }
  return reply;
}

// A register that would not change is not written: x0 is read-only and part of every G.
bool protocol::set_register(std::uint32_t number, std::uint64_t value) {
  return machine_.read_register(hart_, number) == value || machine_.write_register(hart_, number, value);
}

std::string protocol::write_registers(field_reader in) {
  const std::string_view digits = in.rest();
  if (digits.empty() || digits.size() % register_digits != 0 || digits.size() > g_registers * register_digits) {
    return malformed;
  }
  std::vector<std::uint64_t> values;
  for (std::size_t at = 0; at < digits.size(); at += register_digits) {
    const auto value = register_value(digits.substr(at, register_digits));
    if (!value) return malformed;
    values.push_back(*value);
  }
  for (std::uint32_t number = 0; number < values.size(); ++number) {
    if (!set_register(number, values[number])) return no_place;
  }
  return ok;
}

std::string protocol::read_register(field_reader in) {
  const auto number = in.number();
  if (!number || !in.done()) return malformed;
  if (*number > std::numeric_limits<std::uint32_t>::max()) return no_place;
  const auto value = machine_.read_register(hart_, static_cast<std::uint32_t>(*number));
  return value ? hex_register(*value) : no_place;
}

std::string protocol::write_register(field_reader in) {
  const auto number = in.number();
  if (!number || !in.take('=')) return malformed;
  const auto value = register_value(in.rest());
  if (!value) return malformed;
  if (*number > std::numeric_limits<std::uint32_t>::max()) return no_place;
  return set_register(static_cast<std::uint32_t>(*number), *value) ? ok : no_place;
}

std::string protocol::read_memory(field_reader in) {
  auto where = take_place(in);
  if (!where || !in.done()) return malformed;
  // A reply may be shorter than asked for.
  where->bytes = std::min<std::uint64_t>(where->bytes, packet_bytes / 2);
  std::vector<std::uint8_t> bytes(room(*where));
  const std::size_t got = machine_.read_memory(where->address, bytes);
  if (got == 0 && !bytes.empty()) return no_place;
  bytes.resize(got);
  return hex(bytes);
}

std::string protocol::write_memory(field_reader in, bool binary) {
  const auto where = take_place(in);
  if (!where || !in.take(':')) return malformed;
  std::vector<std::uint8_t> bytes(in.rest().begin(), in.rest().end());
  if (!binary) {
    auto decoded = in.bytes();
    if (!decoded) return malformed;
    bytes = std::move(*decoded);
  }
  if (bytes.size() != where->bytes) return malformed;
  if (room(*where) != bytes.size()) return no_place;
  return bytes.empty() || machine_.write_memory(where->address, bytes) == bytes.size() ? ok : no_place;
}

std::string protocol::change_point(field_reader in, bool set) {
  const auto type = in.number();
  const bool comma = in.take(',');
  const auto where = take_place(in);
  if (!type || !comma || !where || !in.done()) return malformed;  // conditions and commands are not offered
  if (*type > point_set::access_watchpoint) return "";
  const bool done =
      set ? points_.set(*type, where->address, where->bytes) : points_.clear(*type, where->address, where->bytes);
  return done ? ok : malformed;
}

std::string protocol::thread_list() const {
  std::string reply;
  for (std::uint32_t hart = 0; hart < machine_.harts(); ++hart) {
    reply += (hart == 0 ? "m" : ",") + hex_number(hart + 1);
  }
  return reply;
}

std::string protocol::transfer(field_reader in) {
  const std::string_view object = in.until(':');
  if (!in.take("read:")) return "";
  const std::string_view annex = in.until(':');
  const auto part = take_place(in);
  if (!part || !in.done()) return malformed;
  std::string memory_map;
  const std::string* whole = nullptr;
  if (object == "features" && annex == "target.xml") {
    if (target_xml_.empty()) target_xml_ = target_xml(machine_);
    whole = &target_xml_;
  } else if (object == "threads" && annex.empty()) {
    if (part->address == 0) threads_xml_ = threads_xml(machine_);
    whole = &threads_xml_;
  } else if (object == "memory-map" && annex.empty() && !memory_.empty()) {
    memory_map = memory_map_xml(memory_);
    whole = &memory_map;
  } else {
    return object == "features" ? "E00" : "";  // E00: no such annex
  }
  if (part->address > whole->size()) return malformed;
  // Half a packet: escapes may double its length.
  const std::uint64_t bytes = std::min<std::uint64_t>(part->bytes, packet_bytes / 2);
  const std::string text = whole->substr(static_cast<std::size_t>(part->address), static_cast<std::size_t>(bytes));
  return (part->address + text.size() == whole->size() ? "l" : "m") + text;
}

outcome protocol::monitor(field_reader in) {
  const auto bytes = in.bytes();
  if (!bytes) return says(malformed);
  const std::string command(bytes->begin(), bytes->end());
  std::string text = machine_.monitor(command);
  if (text.empty()) text = "monitor: unknown command '" + command + "'\n";
  outcome result;
  for (std::size_t at = 0; at < text.size(); at += packet_bytes / 4) {
    result.replies.push_back("O" + hex_text(std::string_view(text).substr(at, packet_bytes / 4)));
  }
  result.replies.emplace_back(ok);
  return result;
}

}  // namespace dvp::cpu::debug
