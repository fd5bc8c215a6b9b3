#include "tlm/platform/sidecar_choice.h"

#include <filesystem>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;

// Whose settings a model that is only a shape is decoded with.
constexpr const char* lender = "tiny-fdllm2.compression";

constexpr const char* key = "decode.compression.sidecar: ";

fs::path find_sidecar(const platform_config& config, const loaded_model& model) {
  const compression_config& c = config.decode.compression;
  std::error_code ignored;
  if (c.sidecar.empty()) {
    throw usage_error(std::string(key) + "is empty and decode.compression." +
                      (c.ffn == gen::ffn_mode::dat ? "ffn dat" : "brq.shares without numbers") +
                      " needs one; set it to shipped, or to a file that scripts/calibrate wrote");
  }
  if (c.sidecar == "shipped") {
    fs::path path(model.path());
    path.replace_extension(".compression.gguf");
    if (fs::is_regular_file(path, ignored)) return path;
    if (model.data() == data_choice::shape) return find_model_or_sidecar(lender);
    throw usage_error(std::string(key) + "there is no " + path.string() +
                      "; make it with scripts/calibrate, or name another file");
  }
  if (fs::is_regular_file(c.sidecar, ignored)) return c.sidecar;
  for (const auto& folder : config.folders) {
    if (fs::is_regular_file(folder / c.sidecar, ignored)) return folder / c.sidecar;
  }
  throw usage_error(key + c.sidecar +
                    ": there is no such file, here or beside the configuration; scripts/calibrate makes one");
}

// By name: a model without its weights has no digest to compare.
bool is_sidecar_of(const fs::path& sidecar, const loaded_model& model) {
  return sidecar.stem() == fs::path(model.path()).stem().string() + ".compression" &&
         fs::path(model.path()).extension() == ".gguf";
}

}  // namespace

void load_sidecar(platform_config& config, loaded_model& model) {
  compression_config& c = config.decode.compression;
  if (!c.needs_sidecar()) return;
  const bool channels = c.ffn == gen::ffn_mode::dat;
  const std::string path = find_sidecar(config, model).string();
  const bool own = model.data() == data_choice::real || is_sidecar_of(path, model);
  const loader::compression_sidecar& sidecar =
      own ? model.add_sidecar(path, channels) : model.borrow_sidecar(path, channels);
  if (channels && c.corrections > sidecar.correction_rank) {
    throw usage_error("decode.compression.dat.corrections: is " + std::to_string(c.corrections) +
                      " and the corrections of " + sidecar.file->name() + " have rank " +
                      std::to_string(sidecar.correction_rank) + "; set at most that");
  }
  if (c.needs_shares()) c.shares.assign(sidecar.shares.begin(), sidecar.shares.end());
  if (c.needs_touch()) {
    const loader::touch_setting& setting = sidecar.settings.at(c.setting);
    c.touch = {setting.gain, setting.q8, setting.q4};
  }
}

}  // namespace dvp::platform
