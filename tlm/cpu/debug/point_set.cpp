#include "tlm/cpu/debug/point_set.h"

namespace dvp::cpu::debug {

namespace {

bool is_breakpoint(std::uint64_t type) {
  return type <= point_set::hardware_breakpoint;
}

watch kind_of(std::uint64_t type) {
  if (type == point_set::write_watchpoint) return watch::write;
  return type == point_set::read_watchpoint ? watch::read : watch::access;
}

bool valid(std::uint64_t type, std::uint64_t address, std::uint64_t bytes) {
  if (is_breakpoint(type)) return true;
  return type <= point_set::access_watchpoint && bytes != 0 && address + (bytes - 1) >= address;
}

}  // namespace

bool point_set::set(std::uint64_t type, std::uint64_t address, std::uint64_t bytes) {
  if (!valid(type, address, bytes)) return false;
  if (!points_.insert({type, address, is_breakpoint(type) ? 0 : bytes}).second) return true;
  if (is_breakpoint(type)) {
    machine_.set_breakpoint(address);
  } else {
    machine_.set_watchpoint(kind_of(type), address, bytes);
  }
  return true;
}

bool point_set::clear(std::uint64_t type, std::uint64_t address, std::uint64_t bytes) {
  if (!valid(type, address, bytes)) return false;
  clear(point{type, address, is_breakpoint(type) ? 0 : bytes});
  return true;
}

void point_set::clear(const point& p) {
  if (points_.erase(p) == 0) return;
  const auto [type, address, bytes] = p;
  if (!is_breakpoint(type)) {
    machine_.clear_watchpoint(kind_of(type), address, bytes);
  } else if (!breaks_at(address)) {  // the other kind of breakpoint may still be there
    machine_.clear_breakpoint(address);
  }
}

void point_set::clear_all() {
  while (!points_.empty()) clear(point(*points_.begin()));
}

bool point_set::breaks_at(std::uint64_t address) const {
  return points_.contains({software_breakpoint, address, 0}) || points_.contains({hardware_breakpoint, address, 0});
}

std::uint64_t point_set::watching(std::uint64_t address) const {
  for (const auto& [type, first, bytes] : points_) {
    if (!is_breakpoint(type) && address - first < bytes) return type;
  }
  return access_watchpoint;
}

}  // namespace dvp::cpu::debug
