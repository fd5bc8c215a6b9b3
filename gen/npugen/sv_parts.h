// Pieces that several SystemVerilog files share.
#pragma once

#include <cstdint>
#include <string>

#include "gen/npugen/model.h"
#include "gen/npugen/render.h"

namespace dvp::npugen {

std::string sv_literal(std::uint32_t bits, std::uint64_t value);  // "12'h020"
std::string sv_range(std::uint32_t bits);                         // "[11:0]"; empty for one bit

rendered_file sv_package(const specification& spec);
rendered_file sv_block_registers(const block& item);
// The same behind rtl/common/axi_lite_port.sv.
rendered_file sv_block_axi_lite(const block& item);
// Fixes the parameters of the hand-written module systolic_array and gives its ports plain widths.
rendered_file sv_array_wrapper(const array_config& config);

}  // namespace dvp::npugen
