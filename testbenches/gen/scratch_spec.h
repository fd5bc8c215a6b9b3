// A private copy of gen/spec that a test may spoil, and the npugen program run on it.
#pragma once

#include <filesystem>
#include <string>

namespace dvp::testbenches {

struct run_result {
  int exit_code = 0;
  std::string output;  // standard output, then standard error
};

// Runs npugen with these arguments from the root of the repository.
run_result run_npugen(const std::string& arguments);

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

// Lives in a new directory of its own, which the destructor removes.
class scratch_spec {
 public:
  scratch_spec();
  ~scratch_spec();
  scratch_spec(const scratch_spec&) = delete;
  scratch_spec& operator=(const scratch_spec&) = delete;

  std::filesystem::path spec() const { return root_ / "spec"; }
  std::filesystem::path out() const { return root_ / "out"; }

  void patch(const std::string& file, const std::string& json_patch) const;                     // RFC 6902
  void replace(const std::string& file, const std::string& from, const std::string& to) const;  // first occurrence
  run_result generate() const;                                                                  // from spec() to out()

 private:
  std::filesystem::path root_;
};

}  // namespace dvp::testbenches
