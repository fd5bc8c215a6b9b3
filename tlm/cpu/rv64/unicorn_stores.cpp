// Stores at the speed of loads, nearly.
//
// Unicorn 2.0 looks behind every store whether it hit translated code, and takes a lock object of several allocations
// to do so: 58 ns a store where a load takes 2. It calls the functions in question through the dynamic linker, so those
// defined here take their place, and do nothing. What is lost, that a store drops the translation of what it
// overwrites, nobody may rely on: RISC-V asks for fence.i, and there the hart drops translations itself
// (hart::forget_code).
//
// With another version of Unicorn they pass every call on to the library's own.
#include "tlm/cpu/rv64/unicorn_stores.h"

#include <dlfcn.h>
#include <unicorn/unicorn.h>

#include <cstdint>

namespace {

bool is_known() {
  unsigned major = 0;
  unsigned minor = 0;
  uc_version(&major, &minor);
  return major == 2 && minor == 0;
}

const bool known = is_known();

// The library's function of the same name and type.
template <typename Function>
Function* own(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace dvp::cpu::rv64 {

bool stores_are_fast() {
  return known;
}

}  // namespace dvp::cpu::rv64

extern "C" {

// Weak: beside a static Unicorn they give way.
[[gnu::weak]] void* page_collection_lock_riscv64(void* simulator, std::uint64_t first, std::uint64_t last) {
  if (known) return nullptr;
  return own(&page_collection_lock_riscv64, __func__)(simulator, first, last);
}

[[gnu::weak]] void page_collection_unlock_riscv64(void* pages) {
  if (!known) own(&page_collection_unlock_riscv64, __func__)(pages);
}

[[gnu::weak]] void tb_invalidate_phys_page_fast_riscv64(void* simulator, void* pages, std::uint64_t address, int bytes,
                                                        std::uintptr_t return_address) {
  if (!known) own(&tb_invalidate_phys_page_fast_riscv64, __func__)(simulator, pages, address, bytes, return_address);
}
}
