#include "tlm/platform/loaded_model.h"

#include <filesystem>

namespace dvp::platform {

loaded_model::loaded_model(const std::string& path, std::uint32_t context)
    : path_(path),
      file_(loader::gguf_file::open(path)),
      model_(loader::read_model(file_)),
      layout_(loader::plan_image(model_, {.context_limit = context})),
      tokenizer_(file_) {}

const loader::compression_sidecar& loaded_model::add_sidecar(const std::string& path, bool in_image) {
  sidecar_file_.emplace(loader::gguf_file::open(path));
  sidecar_ = loader::read_sidecar(*sidecar_file_);
  loader::require_made_for(*sidecar_, model_);
  layout_ =
      loader::plan_image(model_, {.context_limit = layout_.header.context, .sidecar = in_image ? &*sidecar_ : nullptr});
  return *sidecar_;
}

std::string loaded_model::name() const {
  return std::filesystem::path(path_).stem().string();
}

std::vector<std::string> loaded_model::write_image(std::span<std::byte> destination) const {
  return loader::write_image(model_, layout_, destination).notes;
}

}  // namespace dvp::platform
