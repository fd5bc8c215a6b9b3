#include "tlm/loader/decode_defaults.h"

#include "tlm/loader/key_reader.h"

namespace dvp::loader {

decode_defaults read_decode_defaults(const gguf_file& file) {
  decode_defaults defaults;
  defaults.block_length = count_key(file, "dllm.block_length", defaults.block_length);
  const bool fits = defaults.block_length % defaults.sub_block_length == 0;
  defaults.sub_block_length =
      count_key(file, "dllm.sub_block_length", fits ? defaults.sub_block_length : defaults.block_length);
  if (defaults.block_length % defaults.sub_block_length != 0) {
    throw file.key_error("dllm.sub_block_length", "is " + grouped(defaults.sub_block_length) +
                                                      ", which does not divide the block length " +
                                                      grouped(defaults.block_length));
  }
  defaults.threshold = float_key(file, "dllm.threshold", defaults.threshold, 0.0f, 1.0f);
  defaults.gen_length = count_key(file, "dllm.gen_length", defaults.gen_length);
  defaults.steps = count_key(file, "dllm.steps", defaults.steps);
  defaults.prompt_suffix = file.string_of("dllm.prompt_suffix").value_or("");
  return defaults;
}

}  // namespace dvp::loader
