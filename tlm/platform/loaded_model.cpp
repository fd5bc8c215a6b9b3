#include "tlm/platform/loaded_model.h"

#include <filesystem>

#include "tlm/loader/shape_header.h"
#include "tlm/platform/files.h"
#include "tlm/platform/shape/borrowed_sidecar.h"
#include "tlm/platform/shape/hf_config.h"

namespace dvp::platform {

namespace {

bool is_hf_config(const std::string& path) {
  return std::filesystem::path(path).extension() == ".json";
}

std::vector<std::byte> header_for(const std::string& path, data_choice data, std::optional<std::uint32_t> layers) {
  if (data == data_choice::real || !is_hf_config(path)) {
    if (layers) throw usage_error("--layers: cuts a config.json, and " + path + " is none; leave it out");
    return {};
  }
  loader::model_config shape = read_hf_config(path);
  if (layers && *layers > shape.layers) {
    throw usage_error("--layers " + std::to_string(*layers) + ": " + path + " has " + std::to_string(shape.layers));
  }
  shape.layers = layers.value_or(shape.layers);
  return loader::shape_header(shape);
}

loader::gguf_file open_model(const std::string& path, data_choice data, std::span<const std::byte> header) {
  if (!header.empty()) return {path, header, loader::gguf_part::header};
  return loader::gguf_file::open(path,
                                 data == data_choice::real ? loader::gguf_part::whole : loader::gguf_part::header);
}

}  // namespace

loaded_model::loaded_model(const std::string& path, std::uint32_t context, data_choice data,
                           std::optional<std::uint32_t> layers)
    : path_(path),
      data_(data),
      is_slice_(layers.has_value()),
      shape_header_(header_for(path, data, layers)),
      file_(open_model(path, data, shape_header_)),
      model_(loader::read_model(file_)),
      layout_(loader::plan_image(model_, {.context_limit = context})),
      tokenizer_(file_) {}

const loader::compression_sidecar& loaded_model::add_sidecar(const std::string& path, bool in_image) {
  sidecar_file_.emplace(loader::gguf_file::open(path));
  sidecar_ = loader::read_sidecar(*sidecar_file_);
  loader::require_made_for(*sidecar_, model_);
  plan(layout_.header.context, in_image);
  return *sidecar_;
}

const loader::compression_sidecar& loaded_model::borrow_sidecar(const std::string& path, bool in_image) {
  sidecar_file_.emplace(loader::gguf_file::open(path));
  importance_.assign(model_.config.ffn_width, 1.0F);
  sidecar_ =
      borrowed_sidecar(loader::read_sidecar(*sidecar_file_), model_.config, std::as_bytes(std::span(importance_)));
  plan(layout_.header.context, in_image);
  return *sidecar_;
}

void loaded_model::plan(std::uint32_t context, bool sidecar_in_image) {
  layout_ = loader::plan_image(model_, {.context_limit = context, .sidecar = sidecar_in_image ? &*sidecar_ : nullptr});
}

std::string loaded_model::name() const {
  return std::filesystem::path(path_).stem().string();
}

std::vector<std::string> loaded_model::write_image(std::span<std::byte> destination) const {
  return loader::write_image(model_, layout_, destination).notes;
}

}  // namespace dvp::platform
