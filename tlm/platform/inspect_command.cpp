#include <iomanip>
#include <iostream>

#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

namespace {

void print_sidecar(const loader::gguf_file& file) {
  const loader::compression_sidecar s = loader::read_sidecar(file);
  std::cout << "file          " << file.name() << "\nholds         compression of a model: " << s.layers
            << " layers, width " << s.width << ", " << s.ffn_width << " channels, scales of " << s.group
            << " elements, corrections " << (s.correction_rank == 0 ? "none" : "of rank ");
  if (s.correction_rank != 0) std::cout << s.correction_rank;
  std::cout << "\nmodel         " << loader::printable(s.model) << ", SHA-256 " << s.model_sha256 << "\nmade by       "
            << loader::printable(s.tool) << ", seed " << s.seed << "\nmade on       " << loader::printable(s.data)
            << "\nprefix        " << s.shares[0] << " q8, " << s.shares[1] << " q4, " << s.shares[2]
            << " q2, the rest q0: " << 8 * s.shares[0] + 4 * s.shares[1] + 2 * s.shares[2]
            << " bits per entry; first basis of " << s.basis_tokens << " positions\n";
  for (std::size_t i = 0; i < s.settings.size(); ++i) {
    const loader::touch_setting& t = s.settings[i];
    std::cout << (i == 0 ? "network       " : "              ") << "setting " << i << ": touches min(1, " << t.gain
              << " x budget) of the channels, " << t.q8 << " of them at q8, " << t.q4 << " at q4, the rest at q2\n";
  }
}

bool is_sidecar(const loader::gguf_file& file) {
  const loader::gguf_value* architecture = file.find("general.architecture");
  return architecture != nullptr && architecture->type == loader::value_type::string &&
         architecture->text() == loader::sidecar_architecture;
}

}  // namespace

int inspect_command(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || arguments[0] == "--help" || arguments[0] == "-h") {
    const bool asked = !arguments.empty() && arguments[0].starts_with("-h");
    (asked || (!arguments.empty() && arguments[0] == "--help") ? std::cout : std::cerr)
        << "usage: dllm-vp inspect MODEL     MODEL: shipped name or GGUF file, or a compression sidecar\n";
    return arguments.size() == 1 ? exit_ok : exit_usage;
  }
  const std::string path = find_model_or_sidecar(arguments[0]).string();
  if (const auto file = loader::gguf_file::open(path); is_sidecar(file)) {
    print_sidecar(file);
    return exit_ok;
  }
  const loaded_model model(path);
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
