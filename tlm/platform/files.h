// Finding and writing files: shipped configurations and models by name, results all or nothing.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::platform {

// A mistake in what the user gave us: what() is one sentence with file, key and remedy.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The folder with tlm/platform/configs and firmware/models: $DVP_DATA, else the source tree this was built from.
std::filesystem::path data_root();

// A path as given when it names a file, else the shipped configuration, core or model of that name; a configuration of
// a subfolder is called "ladder/1-cpu". usage_error, listing the shipped names, when there is neither.
std::filesystem::path find_config(const std::string& name_or_path);
std::filesystem::path find_shipped_config(const std::string& name);  // a path is not looked at
std::filesystem::path find_core(const std::string& name_or_path);
std::filesystem::path find_model(const std::string& name_or_path);
// The same, or a shipped shape: "llada-8b".
std::filesystem::path find_model_or_shape(const std::string& name_or_path);
// find_model, or the compression sidecar of a shipped model: "tiny-fdllm2.compression".
std::filesystem::path find_model_or_sidecar(const std::string& name_or_path);

std::vector<std::string> shipped_configs();
std::vector<std::string> shipped_names(const std::filesystem::path& folder, std::string_view extension);

// The whole file; usage_error naming path and reason.
std::string read_text(const std::filesystem::path& path);

// The folder of --out, made where it is not there; usage_error when it cannot be, or nothing can be written to it.
void make_folder(const std::string& path);

// The file of --out, before there is anything to write; usage_error when its folder is not there or takes no file.
void refuse_unwritable(const std::filesystem::path& path);

// Writes beside the target and renames, so that a reader never sees half a file; std::runtime_error naming the path.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace dvp::platform
