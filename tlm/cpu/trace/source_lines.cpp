#include "tlm/cpu/trace/source_lines.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tlm/cpu/trace/function_map.h"

extern char** environ;

namespace dvp::cpu::trace {

namespace {

constexpr const char* tool = "riscv64-unknown-elf-addr2line";

struct closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using temporary_file = std::unique_ptr<std::FILE, closer>;

temporary_file temporary() {
  temporary_file file(std::tmpfile());
  if (file == nullptr) throw std::runtime_error(std::string("no temporary file can be made: ") + std::strerror(errno));
  return file;
}

// Runs the tool with these as standard input and output. Its own messages are dropped: the exit code says enough.
void run(const std::string& image, std::FILE* input, std::FILE* output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = tool;
  std::string option = "--exe=" + image;
  char* arguments[] = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, tool, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error(std::string(tool) + ": cannot be run: " + std::strerror(error) +
                             "; install gcc-riscv64-unknown-elf or leave out what needs source lines");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw std::runtime_error(image + ": " + tool + " cannot read its source lines");
}

// "/a/b.cpp:12" or "/a/b.cpp:12 (discriminator 3)"; false for "??:0" and "??:?".
bool parse(std::string text, std::string& file, std::uint32_t& line) {
  text.erase(text.find_last_not_of(" \n") + 1);
  if (const std::size_t note = text.find(" (discriminator"); note != std::string::npos) text.erase(note);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, line);
  if (error != std::errc() || stop != end || line == 0 || text.starts_with("??")) return false;
  file = std::filesystem::path(text.substr(0, colon)).lexically_normal().string();
  return true;
}

}  // namespace

source_lines::source_lines(const std::string& image, const core::symbol_table& symbols) {
  constexpr std::uint64_t longest_function = 1 << 24;  // bytes; a larger one is no function
  const temporary_file questions = temporary();
  std::vector<std::uint64_t> addresses;
  function_map functions(symbols);
  for (const core::symbol& s : symbols.all()) {
    if (!s.function) continue;
    const function& f = functions.at(s.address);
    if (f.end - f.begin > longest_function) continue;
    for (std::uint64_t address = f.begin; address < f.end; address += 2) {
      addresses.push_back(address);
      std::fprintf(questions.get(), "0x%llx\n", static_cast<unsigned long long>(address));
    }
  }
  std::rewind(questions.get());  // flushes too
  const temporary_file answers = temporary();
  run(image, questions.get(), answers.get());
  std::rewind(answers.get());
  std::string text;
  std::string file;
  std::size_t next = 0;
  for (int c = std::fgetc(answers.get()); c != EOF && next < addresses.size(); c = std::fgetc(answers.get())) {
    if (c != '\n') {
      text += static_cast<char>(c);
      continue;
    }
    std::uint32_t line = 0;
    if (parse(text, file, line)) add(addresses[next], file, line);
    ++next;
    text.clear();
  }
}

void source_lines::add(std::uint64_t address, const std::string& file, std::uint32_t line) {
  const auto [known, is_new] = index_.emplace(file, static_cast<std::uint32_t>(files_.size()));
  if (is_new) files_.push_back(file);
  lines_[address] = {known->second, line};
}

source_line source_lines::at(std::uint64_t address) const {
  const auto found = lines_.find(address);
  return found == lines_.end() ? source_line() : found->second;
}

}  // namespace dvp::cpu::trace
