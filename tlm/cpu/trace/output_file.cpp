#include "tlm/cpu/trace/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace dvp::cpu::trace {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

}  // namespace

void output_file::closer::operator()(std::FILE* file) const {
  std::fclose(file);
  if (!part.empty()) std::remove(part.c_str());
}

output_file::output_file(const std::string& path) : path_(path), place_(path) {
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  const bool exists = fs::exists(there);
  const bool directly = exists && !fs::is_regular_file(there);
  if (exists && !directly) place_ = fs::canonical(path, error).string();  // a link to it stays one
  const std::string part = directly ? std::string() : place_ + ".part";
  const bool refused = exists && access(path.c_str(), W_OK) != 0;
  std::FILE* file = refused ? nullptr : std::fopen((directly ? path : part).c_str(), "wb");
  if (file == nullptr) throw std::runtime_error(path + ": cannot be written: " + std::strerror(errno));
  file_ = std::unique_ptr<std::FILE, closer>(file, closer{part});
  std::setvbuf(file, nullptr, _IOFBF, buffer_bytes);
}

void output_file::write(std::string_view text) {
  if (file_ != nullptr) std::fwrite(text.data(), 1, text.size(), file_.get());
}

void output_file::finish() {
  if (file_ == nullptr) return;
  std::string& part = file_.get_deleter().part;
  bool failed = std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0;
  if (!failed && !part.empty()) {
    failed = std::rename(part.c_str(), place_.c_str()) != 0;
    if (!failed) part.clear();
  }
  const int reason = errno;
  file_.reset();
  if (failed) throw std::runtime_error(path_ + ": could not be written whole: " + std::strerror(reason));
}

}  // namespace dvp::cpu::trace
