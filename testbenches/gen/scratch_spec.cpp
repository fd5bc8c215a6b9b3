#include "testbenches/gen/scratch_spec.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dvp::testbenches {

namespace fs = std::filesystem;

run_result run_npugen(const std::string& arguments) {
  run_result result;
  FILE* pipe = popen((std::string(DVP_NPUGEN_PROGRAM) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("cannot start npugen");
  }
  std::array<char, 4096> buffer{};
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), bytes);
  }
  result.exit_code = WEXITSTATUS(pclose(pipe));
  return result;
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

scratch_spec::scratch_spec() {
  std::string pattern = (fs::temp_directory_path() / "dvp_gen_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("cannot make a temporary directory");
  }
  root_ = pattern;
  fs::copy("gen/spec", spec(), fs::copy_options::recursive);
}

scratch_spec::~scratch_spec() {
  fs::remove_all(root_);
}

void scratch_spec::patch(const std::string& file, const std::string& json_patch) const {
  const auto good = nlohmann::ordered_json::parse(read_text(spec() / file));
  write_text(spec() / file, good.patch(nlohmann::ordered_json::parse(json_patch)).dump(2));
}

void scratch_spec::replace(const std::string& file, const std::string& from, const std::string& to) const {
  std::string text = read_text(spec() / file);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw std::runtime_error(file + " does not contain " + from);
  }
  write_text(spec() / file, text.replace(at, from.size(), to));
}

run_result scratch_spec::generate() const {
  return run_npugen("generate --spec " + spec().string() + " --out " + out().string());
}

}  // namespace dvp::testbenches
