// A model file opened for one run: the checked file, its image layout and its tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlm/loader/compression_sidecar.h"
#include "tlm/loader/gguf.h"
#include "tlm/loader/model.h"
#include "tlm/loader/model_image.h"
#include "tlm/loader/tokenizer.h"
#include "tlm/platform/data_choice.h"

namespace dvp::platform {

class loaded_model {
 public:
  // context: most positions to make room for; the model's own when that is less. With data_choice::shape of a GGUF file
  // the header is enough, and a Hugging Face config.json (a path that ends in .json) will do, also cut to its first
  // `layers`. loader::load_error or core::config_error when the file cannot be used, usage_error when it cannot be cut.
  explicit loaded_model(const std::string& path, std::uint32_t context = loader::longest_context,
                        data_choice data = data_choice::real, std::optional<std::uint32_t> layers = {});
  loaded_model(const loaded_model&) = delete;
  loaded_model& operator=(const loaded_model&) = delete;

  // Reads the compression sidecar at path, checked to be this model's; in_image: its tensors become part of the image.
  // loader::load_error when it cannot be used.
  const loader::compression_sidecar& add_sidecar(const std::string& path, bool in_image);
  // Without weights any sidecar lends its settings: its tensors get this model's shapes and no content but the
  // channels' importance, which is the same for all. loader::load_error when it cannot be used.
  const loader::compression_sidecar& borrow_sidecar(const std::string& path, bool in_image);
  // Null without.
  const loader::compression_sidecar* sidecar() const { return sidecar_ ? &*sidecar_ : nullptr; }

  data_choice data() const { return data_; }
  // Cut to its first layers.
  bool is_slice() const { return is_slice_; }

  const std::string& path() const { return path_; }
  std::string name() const;  // file name without its ending
  const gen::image_header& header() const { return layout_.header; }
  const std::vector<gen::tensor_entry>& entries() const { return layout_.entries; }
  std::uint64_t image_bytes() const { return layout_.header.total_bytes; }
  // Of the image without the rotary table, which is its last tensor and grows with the context.
  std::uint64_t weight_bytes() const { return layout_.entries.back().data_offset; }
  const loader::model_config& config() const { return model_.config; }
  const loader::decode_defaults& defaults() const { return model_.config.decode; }
  const loader::tokenizer& tokenizer() const { return tokenizer_; }

  // Notes for the user: what was rounded or cut.
  std::vector<std::string> write_image(std::span<std::byte> destination) const;

 private:
  void plan(std::uint32_t context, bool sidecar_in_image);

  std::string path_;
  data_choice data_;
  bool is_slice_;
  std::vector<std::byte> shape_header_;  // of a model that is no GGUF file
  loader::gguf_file file_;
  loader::model model_;
  loader::image_layout layout_;
  loader::tokenizer tokenizer_;
  std::optional<loader::gguf_file> sidecar_file_;
  std::optional<loader::compression_sidecar> sidecar_;
  std::vector<float> importance_;  // of a borrowed sidecar
};

}  // namespace dvp::platform
