// Stage 3: typed objects to text.
#pragma once

#include <string>
#include <vector>

#include "gen/npugen/model.h"

namespace dvp::npugen {

struct rendered_file {
  std::string path;  // below the output directory, e.g. "dvp_gen/npu_regs.h"
  std::string text;
};

// C++ headers below dvp_gen/, namespace dvp::gen; freestanding.
std::vector<rendered_file> render_cpp(const specification& spec);
// SystemVerilog below sv/, within what Verilator, Icarus and Yosys all read.
std::vector<rendered_file> render_sv(const specification& spec);
// dvp_gen/platform.dts: the address map as a device tree.
std::vector<rendered_file> render_device_tree(const specification& spec);
// registers.md: the register, address and record maps for people.
std::vector<rendered_file> render_markdown(const specification& spec);

// All of the above, sorted by path.
std::vector<rendered_file> render(const specification& spec);

}  // namespace dvp::npugen
