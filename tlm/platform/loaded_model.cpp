#include "tlm/platform/loaded_model.h"

#include <filesystem>

namespace dvp::platform {

loaded_model::loaded_model(const std::string& path, std::uint32_t context)
    : path_(path),
      file_(loader::gguf_file::open(path)),
      model_(loader::read_model(file_)),
      layout_(loader::plan_image(model_, {.context_limit = context})),
      tokenizer_(file_) {}

std::string loaded_model::name() const {
  return std::filesystem::path(path_).stem().string();
}

std::vector<std::string> loaded_model::write_image(std::span<std::byte> destination) const {
  return loader::write_image(model_, layout_, destination).notes;
}

}  // namespace dvp::platform
