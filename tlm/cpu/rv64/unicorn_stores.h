// Whether this Unicorn's stores are freed of a cost that nobody wants; unicorn_stores.cpp says how.
#pragma once

namespace dvp::cpu::rv64 {

bool stores_are_fast();

}  // namespace dvp::cpu::rv64
