#include "tlm/core/register_bank.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace dvp::core {

namespace {

constexpr std::uint32_t word_bytes = 4;
constexpr std::uint32_t pair_bytes = 2 * word_bytes;

[[noreturn]] void refuse(const gen::block_info& block, std::uint32_t offset, const char* caller, const char* why) {
  std::ostringstream message;
  message << "register_bank " << block.name << ", " << caller << "(0x" << std::hex << offset << "): " << why;
  throw std::invalid_argument(message.str());
}

}  // namespace

register_bank::register_bank(const gen::block_info& block) : block_(block) {
  entries_.reserve(block.register_count);
  for (std::uint32_t i = 0; i < block.register_count; ++i) {
    const gen::register_info& info = block.registers[i];
    if (info.offset % word_bytes != 0 || info.offset >= block.window_bytes) {
      refuse(block, info.offset, "table", "register is misaligned or outside the window");
    }
    entries_.push_back({&info, info.reset, {}, {}, {}});
  }
  std::ranges::sort(entries_, {}, [](const entry& e) { return e.info->offset; });
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const gen::register_info& info = *entries_[i].info;
    const entry* next = i + 1 < entries_.size() ? &entries_[i + 1] : nullptr;
    if (next != nullptr && next->info->offset == info.offset) {
      refuse(block, info.offset, "table", "two registers share this offset");
    }
    if (info.pair && (info.offset % pair_bytes != 0 || next == nullptr || next->info->mode != info.mode ||
                      next->info->offset != info.offset + word_bytes)) {
      refuse(block, info.offset, "table", "no high half of the same mode follows, or the pair is misaligned");
    }
  }
}

const register_bank::entry* register_bank::find(std::uint64_t offset) const {
  const auto place = std::ranges::lower_bound(entries_, offset, {}, [](const entry& e) { return e.info->offset; });
  return place != entries_.end() && place->info->offset == offset ? &*place : nullptr;
}

// The low half of the pair that the access covers, or null.
const register_bank::entry* register_bank::pair_at(const tlm::tlm_generic_payload& payload) const {
  const entry* low = payload.get_data_length() == pair_bytes ? find(payload.get_address()) : nullptr;
  return low != nullptr && low->info->pair ? low : nullptr;
}

const register_bank::entry& register_bank::at(std::uint32_t offset, const char* caller) const {
  const entry* e = find(offset);
  if (e == nullptr) refuse(block_, offset, caller, "no register there");
  return *e;
}

register_bank::entry& register_bank::at(std::uint32_t offset, const char* caller) {
  return const_cast<entry&>(std::as_const(*this).at(offset, caller));
}

std::uint32_t register_bank::get(std::uint32_t offset) const {
  return at(offset, "get").value;
}
void register_bank::set(std::uint32_t offset, std::uint32_t value) {
  at(offset, "set").value = value;
}

void register_bank::on_write(std::uint32_t offset, std::function<void(std::uint32_t)> hook) {
  entry& e = at(offset, "on_write");
  if (e.info->mode == gen::access::ro) refuse(block_, offset, "on_write", "register is read-only");
  e.on_write = std::move(hook);
}

void register_bank::on_read(std::uint32_t offset, std::function<std::uint32_t()> value,
                            std::function<void()> after_read) {
  entry& e = at(offset, "on_read");
  if (!e.info->hardware) refuse(block_, offset, "on_read", "register is not of kind hardware");
  e.on_read = std::move(value);
  e.after_read = std::move(after_read);
}

void register_bank::on_access(std::function<void(const register_event&)> observer) {
  observer_ = std::move(observer);
}

void register_bank::reset() {
  for (entry& e : entries_) e.value = e.info->reset;
}

tlm::tlm_response_status register_bank::check(const tlm::tlm_generic_payload& payload, bool debug) const {
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if ((payload.get_data_length() != word_bytes && pair_at(payload) == nullptr) ||
      payload.get_streaming_width() < payload.get_data_length()) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const entry* e = find(payload.get_address());
  if (e == nullptr) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const bool forbidden =
      payload.is_write() ? debug || e->info->mode == gen::access::ro : !debug && e->info->mode == gen::access::wo;
  return forbidden ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status register_bank::access(tlm::tlm_generic_payload& payload, bool debug) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_OK_RESPONSE;
  }
  const tlm::tlm_response_status status = check(payload, debug);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) {
    if (!debug) ++refused_;
    return status;
  }
  entry& first = at(static_cast<std::uint32_t>(payload.get_address()), "access");
  const std::span<entry> entries(&first, payload.get_data_length() / word_bytes);
  if (payload.is_write()) {
    write(entries, payload.get_data_ptr());
  } else {
    read(entries, payload.get_data_ptr(), debug);
  }
  return status;
}

std::uint32_t register_bank::readable(const entry& e) const {
  return (e.on_read ? e.on_read() : e.value) & e.info->read_mask;
}

void register_bank::read(std::span<entry> entries, std::uint8_t* data, bool debug) {
  reads_ += debug ? 0 : 1;
  for (entry& e : entries) {
    const std::uint32_t value = readable(e);
    std::memcpy(data, &value, word_bytes);
    data += word_bytes;
    if (debug) continue;
    if (e.after_read) e.after_read();
    notify(e, false, value);
  }
}

void register_bank::write(std::span<entry> entries, const std::uint8_t* data) {
  ++writes_;
  std::array<std::uint32_t, pair_bytes / word_bytes> values{};
  std::memcpy(values.data(), data, entries.size() * word_bytes);
  std::array<std::uint32_t, pair_bytes / word_bytes> seen{};
  for (std::size_t i = 0; i < entries.size(); ++i) seen[i] = store(entries[i], values[i]);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].on_write) entries[i].on_write(seen[i]);
    notify(entries[i], true, values[i]);
  }
}

// Returns the written value limited to the writable bits.
std::uint32_t register_bank::store(entry& e, std::uint32_t value) {
  const gen::register_info& info = *e.info;
  const std::uint32_t plain = info.write_mask & ~(info.w1c_mask | info.w1s_mask);
  e.value = (e.value & ~plain) | (value & plain);
  e.value &= ~(value & info.w1c_mask);
  e.value |= value & info.w1s_mask;
  return value & (plain | info.w1c_mask | info.w1s_mask);
}

void register_bank::notify(const entry& e, bool write, std::uint32_t value) {
  if (observer_) observer_({block_, *e.info, write, value});
}

std::string decode(const gen::register_info& info, std::uint32_t value) {
  std::ostringstream text;
  text << info.name << " = 0x" << std::hex << std::setw(8) << std::setfill('0') << value << " {";
  for (std::uint32_t i = 0; i < info.field_count; ++i) {
    const gen::field_info& field = info.fields[i];
    const std::uint32_t mask = field.width >= 32 ? ~0U : (1U << field.width) - 1U;
    // Wide fields are addresses and patterns: nobody reads those in decimal.
    const bool wide = field.width >= 16;
    text << (i == 0 ? "" : ", ") << field.name << "=" << (wide ? "0x" : "") << (wide ? std::hex : std::dec)
         << ((value >> field.lsb) & mask);
  }
  text << "}";
  return text.str();
}

}  // namespace dvp::core
