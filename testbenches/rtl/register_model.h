// What a generated register block does, from its table alone: values, access rules, strobes. It knows nothing of the
// SystemVerilog but the names of the ports, which follow from the names in the table.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "dvp_gen/register_table.h"

namespace dvp::test {

// A port of a Verilated model as bits: every type of port is little-endian memory.
using port_map = std::map<std::string, std::uint8_t*>;

inline std::uint32_t get_bits(const std::uint8_t* port, std::uint32_t lsb, std::uint32_t width) {
  std::uint32_t value = 0;
  for (std::uint32_t b = 0; b < width; ++b) {
    value |= std::uint32_t{(port[(lsb + b) / 8] >> ((lsb + b) % 8) & 1) != 0} << b;
  }
  return value;
}

inline void set_bits(std::uint8_t* port, std::uint32_t lsb, std::uint32_t width, std::uint32_t value) {
  for (std::uint32_t b = 0; b < width; ++b) {
    const std::uint32_t bit = 1U << ((lsb + b) % 8);
    std::uint8_t& byte = port[(lsb + b) / 8];
    byte = static_cast<std::uint8_t>((value >> b & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

// One register and the ports of its fields.
class modelled_register {
 public:
  modelled_register(const gen::register_info& info, const port_map& ports, std::set<std::string>& used) : info_(&info) {
    // "queue[1].tail" is element 1 of the ports queue_tail_*.
    base_ = info.name;
    if (const auto open = base_.find('['); open != std::string::npos) {
      const auto close = base_.find(']');
      element_ = static_cast<std::uint32_t>(std::stoul(base_.substr(open + 1, close - open - 1)));
      base_ = base_.substr(0, open) + "_" + base_.substr(close + 2);
    }
    const auto port = [&](const std::string& name) {
      used.insert(name);
      const auto found = ports.find(name);
      if (found == ports.end()) throw std::runtime_error("no port " + name);
      return found->second;
    };
    for (std::uint32_t i = 0; i < info.field_count; ++i) {
      const gen::field_info& field = info.fields[i];
      const std::string name = base_ + "_" + field.name;
      if (info.hardware && field.mode != gen::access::wo) {
        inputs_.push_back({&field, port(name + "_i")});
      }
      if (field.mode != gen::access::ro) {
        outputs_.push_back({&field, port(name + "_o")});
      }
      if (field.mode == gen::access::w1c) sets_.push_back({&field, port(name + "_set_i")});
      if (field.mode == gen::access::w1s) clears_.push_back({&field, port(name + "_clear_i")});
    }
    if (info.hardware) read_strobe_ = port(base_ + "_read_o");
    if (info.mode != gen::access::ro) write_strobe_ = port(base_ + "_write_o");
  }

  const gen::register_info& info() const { return *info_; }
  bool writable() const { return info_->mode != gen::access::ro; }
  bool readable() const { return info_->mode != gen::access::wo; }

  // What hardware drives and what it sees, in the bits of the register.
  void drive_value(std::uint32_t value) const { drive(inputs_, value); }
  void drive_set(std::uint32_t value) const { drive(sets_, value); }
  void drive_clear(std::uint32_t value) const { drive(clears_, value); }
  std::uint32_t seen() const {
    std::uint32_t value = 0;
    for (const auto& [field, port] : outputs_)
      value |= get_bits(port, element_ * field->width, field->width) << field->lsb;
    return value;
  }
  std::uint32_t seen_mask() const {
    std::uint32_t mask = 0;
    for (const auto& [field, port] : outputs_)
      mask |= (field->width == 32 ? ~0U : (1U << field->width) - 1) << field->lsb;
    return mask;
  }
  bool read_strobe() const { return read_strobe_ != nullptr && get_bits(read_strobe_, element_, 1) != 0; }
  bool write_strobe() const { return write_strobe_ != nullptr && get_bits(write_strobe_, element_, 1) != 0; }

  std::uint32_t next(std::uint32_t value, const std::uint32_t* written, std::uint32_t set, std::uint32_t clear) const {
    const std::uint32_t data = written != nullptr ? *written : 0;
    if (written != nullptr) value = (value & ~info_->write_mask) | (data & info_->write_mask);
    value = (value & ~(data & info_->w1c_mask)) | (set & info_->w1c_mask);
    return (value & ~(clear & info_->w1s_mask)) | (data & info_->w1s_mask);
  }

 private:
  struct field_port {
    const gen::field_info* field;
    std::uint8_t* port;
  };
  void drive(const std::vector<field_port>& fields, std::uint32_t value) const {
    for (const auto& [field, port] : fields) set_bits(port, element_ * field->width, field->width, value >> field->lsb);
  }

  const gen::register_info* info_;
  std::string base_;
  std::uint32_t element_ = 0;
  std::vector<field_port> inputs_, outputs_, sets_, clears_;
  std::uint8_t* read_strobe_ = nullptr;
  std::uint8_t* write_strobe_ = nullptr;
};

}  // namespace dvp::test
