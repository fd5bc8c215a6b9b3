// Driver of the memory's precision converter: which views reads tagged q4 and q2 may name.
#pragma once

#include <cstdint>

namespace dvp::drivers {

enum class converter_code : std::uint8_t {
  ok,
  absent,        // wrong identification; nothing was written
  bad_argument,  // no such view number; the device was not touched
  refused,       // the device did not take the view; the number stands for what it stood for before
};

class converter {
 public:
  // Codes: ok, absent. After absent no other call may be made. Views that were set before stay.
  [[nodiscard]] converter_code probe(std::uint64_t base);

  // Numbers 1 to views() can be set; 0: the memory does not convert. Number 0 is always the midpoint view.
  std::uint32_t views() const { return views_; }

  // Codes: ok, bad_argument, refused. descriptor: the fields of gen::converter::view::descriptor. No read that names
  // the number may be under way; those submitted afterwards convert by it. Never blocks.
  [[nodiscard]] converter_code set_view(std::uint32_t number, std::uint32_t descriptor);

 private:
  std::uint64_t base_ = 0;
  std::uint32_t views_ = 0;
};

}  // namespace dvp::drivers
