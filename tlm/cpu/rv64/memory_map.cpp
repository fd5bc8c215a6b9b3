#include "tlm/cpu/rv64/memory_map.h"

#include <unicorn/unicorn.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint64_t page_bytes = 4096;
// The simulator takes a time proportional to a piece to unmap it, so pieces stay below this.
constexpr std::uint64_t most_piece_bytes = 1U << 30;

std::uint32_t permissions_of(const granted_memory& grant, std::uint8_t allowed) {
  const auto has = [&](permission p) { return (allowed & static_cast<std::uint8_t>(p)) != 0; };
  std::uint32_t bits = 0;
  if (grant.readable && has(permission::read)) bits |= UC_PROT_READ;
  if (grant.writable && has(permission::write)) bits |= UC_PROT_WRITE;
  if (grant.executable && has(permission::execute)) bits |= UC_PROT_EXEC;
  return bits;
}

void check(uc_err answer, const char* what) {
  if (answer == UC_ERR_OK) return;
  throw std::runtime_error(std::string("the instruction-set simulator refuses to ") + what + ": " +
                           uc_strerror(answer));
}

}  // namespace

bool memory_map::add(const granted_memory& grant) {
  granted_memory whole = grant;
  whole.first = (grant.first + page_bytes - 1) / page_bytes * page_bytes;
  whole.last = grant.last == ~0ULL ? grant.last : (grant.last + 1) / page_bytes * page_bytes - 1;
  if (whole.first < grant.first || whole.first >= whole.last || whole.last > grant.last) return false;
  whole.data = grant.data + (whole.first - grant.first);
  const bool overlaps = std::any_of(grants_.begin(), grants_.end(), [&](const auto& other) {
    return other.second.first <= whole.last && whole.first <= other.second.last;
  });
  if (overlaps) return false;
  grants_.emplace(whole.first, whole);
  return true;
}

void memory_map::forget() {
  grants_.clear();
}

const granted_memory* memory_map::find(std::uint64_t address) const {
  auto after = grants_.upper_bound(address);
  if (after == grants_.begin()) return nullptr;
  const granted_memory& grant = std::prev(after)->second;
  return address <= grant.last ? &grant : nullptr;
}

const std::uint8_t* memory_map::data(std::uint64_t address) const {
  const granted_memory* grant = find(address);
  return grant == nullptr ? nullptr : grant->data + (address - grant->first);
}

std::uint8_t* memory_map::writable_data(std::uint64_t address) const {
  const granted_memory* grant = find(address);
  return grant == nullptr || !grant->writable ? nullptr : grant->data + (address - grant->first);
}

bool memory_map::is_mapped(std::uint64_t address) const {
  const auto after = mapped_.upper_bound(address);
  return after != mapped_.begin() && address <= std::prev(after)->second.last;
}

void memory_map::cut(const granted_memory& grant, const pmp& protection, pieces& into) const {
  std::vector<std::uint64_t> starts = protection.borders(grant.first, grant.last);
  starts.push_back(grant.first);
  for (std::uint64_t at = grant.first; grant.last - at >= most_piece_bytes;) {
    at = (at / most_piece_bytes + 1) * most_piece_bytes;
    starts.push_back(at);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint64_t last = i + 1 < starts.size() ? starts[i + 1] - 1 : grant.last;
    const std::uint32_t permissions = permissions_of(grant, protection.permissions(starts[i]));
    // What nobody may touch stays unmapped: the simulator does not check reads of what it has fetched.
    if (permissions != 0) into.emplace(starts[i], piece{last, grant.data + (starts[i] - grant.first), permissions});
  }
}

void memory_map::apply(const pmp& protection) {
  pieces wanted;
  for (const auto& [first, grant] : grants_) cut(grant, protection, wanted);
  std::erase_if(mapped_, [&](const auto& old) {
    const auto same = wanted.find(old.first);
    if (same != wanted.end() && same->second == old.second) return false;
    check(uc_mem_unmap(simulator_, old.first, old.second.last - old.first + 1), "unmap memory");
    return true;
  });
  for (const auto& [first, fresh] : wanted) {
    if (mapped_.contains(first)) continue;
    check(uc_mem_map_ptr(simulator_, first, fresh.last - first + 1, fresh.permissions, fresh.data), "map memory");
    mapped_.emplace(first, fresh);
  }
}

}  // namespace dvp::cpu::rv64
