// Every successful register access as a line of CSV:
//
//   ns,who,access,block,register,value,fields
//   12.500,hart 0,write,npu,control,0x00000001,"enable=1, soft_reset=0"
//
// The time is the simulated time of the access; equal runs write equal files.
#pragma once

#include <string>
#include <string_view>

#include "tlm/core/register_bank.h"
#include "tlm/cpu/trace/output_file.h"

namespace dvp::cpu::trace {

class register_trace {
 public:
  // std::runtime_error when the file cannot be written.
  explicit register_trace(const std::string& path);

  // An access at the present simulated time; for register_bank::on_access. `who` made it: "hart 0", "npu".
  void access(std::string_view who, const core::register_event& what);
  // std::runtime_error when the file could not be written whole.
  void finish() { file_.finish(); }

 private:
  output_file file_;
};

}  // namespace dvp::cpu::trace
