#include "tlm/platform/answer_trouble.h"

#include <sstream>

#include "dvp_gen/npu_regs.h"

namespace dvp::platform {

namespace {

// What the NPU's driver found, to be put behind the result code; empty when it found nothing.
std::string npu_fault_of(const gen::result_record& result, const platform_config& config) {
  if (result.code == gen::result_code::window_error) {
    return ": the NPU's address window refused a command, or a forward left its swap plan; this is a fault of the "
           "firmware";
  }
  if (result.code != gen::result_code::npu_error && result.code != gen::result_code::memory_error) return {};
  if (result.npu_error == 0) return ": a completion record contradicts the NPU's head";
  std::ostringstream text;
  if (result.code == gen::result_code::npu_error) {
    text << " " << gen::npu::name_of(static_cast<gen::npu::error_code>(result.npu_error));
  }
  text << " at descriptor " << result.npu_error_index;
  if (result.fault_address != 0) {
    const bool window = config.npu.window.bytes != 0;
    const bool either = window && result.npu_error != static_cast<std::uint32_t>(gen::npu::error_code::window_fault);
    text << (window ? ", device address 0x" : ", bus address 0x") << std::hex << result.fault_address
         << (either ? " (a bus address if a stage descriptor read it)" : "");
  }
  return text.str();
}

// What did not fit the NPU's address window, to be put behind the result code; empty for other codes.
std::string shortage_of(const gen::result_record& result, const platform_config& config) {
  if (result.code != gen::result_code::window_too_small) return {};
  const auto name = static_cast<gen::operator_label>(result.plan_operator);
  const std::string who = name == gen::operator_label::none ? "what every operator needs"
                                                            : std::string("operator ") + gen::name_of(name) +
                                                                  " of layer " + std::to_string(result.plan_layer);
  const std::string bytes = " needs a window of " + std::to_string(result.plan_bytes) + " bytes and there are " +
                            std::to_string(config.npu.window.bytes) + "; raise npu.window.bytes";
  switch (result.plan_shortage) {
    case gen::window_shortage::operands:
      return ": " + who + bytes +
             (config.decode.swap == gen::swap_policy::somr || name == gen::operator_label::ffn_update
                  ? ""
                  : ", or use somr, which cuts operators in parts");
    case gen::window_shortage::everything:
      return ": " + who + " is the first that finds no room; everything together" + bytes +
             (config.decode.swap == gen::swap_policy::none ? " or set decode.swap" : "");
    case gen::window_shortage::entries:
      return ": " + who + " needs more map entries than there are; raise npu.window.entries";
    case gen::window_shortage::runs:
      return ": " + who + " lies in more runs of pages than the firmware keeps; raise npu.window.page_bytes";
    case gen::window_shortage::work_buffer:
      return ": the work buffer has no room for the staging area of " + who + "; use more DRAM or a smaller model";
    case gen::window_shortage::none:
      break;
  }
  return {};
}

// What asks for the scratchpad beside the weights and rows of a tile; empty for other codes.
std::string scratchpad_of(const gen::result_record& result, const platform_config& config) {
  if (result.code != gen::result_code::scratchpad_too_small) return {};
  const compression_config& c = config.decode.compression;
  std::string who = "the schedules of this model";
  if (c.any()) who += " with the rows of a block in one tile";
  if (c.kv != gen::kv_format::bf16) who += ", the order and scales of the prefix";
  if (c.ffn != gen::ffn_mode::whole) who += ", the anchors of every layer";
  return ": " + who + " find no room in " + std::to_string(config.npu.scratchpad_bytes) +
         " bytes; raise npu.scratchpad.bytes" + (c.kv != gen::kv_format::bf16 ? ", shorten the prompt" : "") +
         (c.any() ? " or turn compression off" : "");
}

}  // namespace

std::string trouble_of(const answer& a, const platform_config& config) {
  if (!a.fault.empty() || a.ok()) return a.fault;
  return std::string("the firmware ended with ") + gen::name_of(a.result.code) + npu_fault_of(a.result, config) +
         shortage_of(a.result, config) + scratchpad_of(a.result, config);
}

bool is_configurations_fault(const answer& a) {
  return a.fault.empty() && a.result.code == gen::result_code::window_too_small;
}

}  // namespace dvp::platform
