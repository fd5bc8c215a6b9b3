#include "tlm/cpu/trace/coverage.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dvp::cpu::trace {

namespace {

// One source file; times executed.
struct file_coverage {
  std::map<std::uint32_t, std::uint64_t> lines;
  std::map<std::string, std::pair<std::uint32_t, std::uint64_t>> functions;  // name to line and times
};

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

template <typename Map, typename Times>
std::size_t hits(const Map& entries, Times times) {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [&](const auto& entry) { return times(entry.second) != 0; }));
}

void write_record(output_file& out, const std::string& path, const file_coverage& file) {
  out.write("TN:\nSF:" + path + "\n");
  for (const auto& [name, place] : file.functions) out.write("FN:" + number(place.first) + "," + name + "\n");
  for (const auto& [name, place] : file.functions) out.write("FNDA:" + number(place.second) + "," + name + "\n");
  out.write("FNF:" + number(file.functions.size()) +
            "\nFNH:" + number(hits(file.functions, [](const auto& place) { return place.second; })) + "\n");
  for (const auto& [line, times] : file.lines) out.write("DA:" + number(line) + "," + number(times) + "\n");
  out.write("LF:" + number(file.lines.size()) +
            "\nLH:" + number(hits(file.lines, [](std::uint64_t times) { return times; })) + "\nend_of_record\n");
}

}  // namespace

std::size_t coverage::write(output_file& out, const core::symbol_table& symbols, const source_lines& lines,
                            const std::function<bool(const std::string&)>& known) const {
  std::map<std::string, file_coverage> files;
  for (const auto& [address, line] : lines.all()) {
    std::uint64_t& times = files[lines.file(line.file)].lines[line.line];
    times = std::max(times, count(address));
  }
  for (const core::symbol& s : symbols.all()) {
    const source_line line = lines.at(s.address);
    if (s.function && line.line != 0) files[lines.file(line.file)].functions[s.name] = {line.line, count(s.address)};
  }
  std::size_t left_out = 0;
  for (const auto& [name, file] : files) {
    if (known(name)) {
      write_record(out, name, file);
    } else {
      ++left_out;
    }
  }
  out.finish();
  return left_out;
}

}  // namespace dvp::cpu::trace
