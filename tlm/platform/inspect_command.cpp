#include <iomanip>
#include <iostream>

#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

int inspect_command(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || arguments[0] == "--help" || arguments[0] == "-h") {
    const bool asked = !arguments.empty() && arguments[0].starts_with("-h");
    (asked || (!arguments.empty() && arguments[0] == "--help") ? std::cout : std::cerr)
        << "usage: dllm-vp inspect MODEL     MODEL: shipped name or GGUF file\n";
    return arguments.size() == 1 ? exit_ok : exit_usage;
  }
  const loaded_model model(find_model(arguments[0]).string());
  const auto& c = model.config();
  const auto& d = model.defaults();
  std::cout << "file          " << model.path() << "\narchitecture  " << gen::name_of(c.architecture)
            << (c.block_causal() ? ", block-causal" : ", bidirectional") << (c.shift_logits ? ", logits shifted" : "")
            << (c.tied_head ? ", tied head" : "") << "\nshape         " << c.layers << " layers, width " << c.width
            << ", " << c.heads << " heads of " << c.head_length << ", " << c.kv_heads << " KV heads, FFN "
            << c.ffn_width << ", vocabulary " << c.vocabulary << ", context " << c.context
            << "\ndecode        blocks of " << d.block_length << ", sub-blocks of " << d.sub_block_length
            << ", threshold " << d.threshold << ", up to " << d.gen_length << " tokens, " << d.steps
            << " steps\nimage         " << model.image_bytes() << " bytes in DRAM\n";
  return exit_ok;
}

}  // namespace dvp::platform
