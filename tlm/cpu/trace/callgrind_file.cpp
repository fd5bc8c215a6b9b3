#include "tlm/cpu/trace/callgrind_file.h"

#include <cstdio>
#include <map>
#include <vector>

namespace dvp::cpu::trace {

namespace {

// A name that is spelled out once and then referred to by number: "(3) main", "(3)".
class name_table {
 public:
  std::string operator()(const std::string& name) {
    const auto [known, is_new] = numbers_.emplace(name, numbers_.size() + 1);
    const std::string number = "(" + std::to_string(known->second) + ")";
    return is_new ? number + " " + name : number;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

std::string costs(const cost& c) {
  return std::to_string(c.instructions) + " " + std::to_string(c.cycles) + " " + std::to_string(c.waiting);
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// What one function spent: its instructions, and its calls by place.
struct function_block {
  std::map<std::uint64_t, cost> own;
  std::vector<std::pair<profile::edge_key, call_edge>> calls;
};

class writer {
 public:
  writer(output_file& out, profile& data, const source_lines& lines) : out_(out), data_(data), lines_(lines) {}

  void header(const std::string& command) {
    out_.write("# callgrind format\nversion: 1\ncreator: dllm-vp\ncmd: " + command +
               "\npositions: instr line\nevents: Instructions Cycles Waiting\nsummary: " + costs(data_.total()) + "\n");
  }

  void block(std::uint64_t begin, const function_block& block) {
    out_.write("\nfl=" + file_of(begin) + "\nfn=" + function_(data_.functions().at(begin).name) + "\n");
    file_index_ = lines_.at(begin).file;
    for (const auto& [address, spent] : block.own) cost_line(address, spent);
    for (const auto& [key, edge] : block.calls) call(key, edge);
  }

  void finish() { out_.finish(); }

 private:
  std::string file_of(std::uint64_t address) {
    const source_line place = lines_.at(address);
    return file_(place.line == 0 ? "???" : lines_.file(place.file));
  }
  std::string position(std::uint64_t address) const {
    return hexadecimal(address) + " " + std::to_string(lines_.at(address).line);
  }

  // Where an instruction was inlined from another file, and behind it, the file changes.
  void go_to_file_of(std::uint64_t address) {
    const source_line place = lines_.at(address);
    if (place.file == file_index_) return;
    file_index_ = place.file;
    out_.write("fi=" + file_of(address) + "\n");
  }

  void cost_line(std::uint64_t address, const cost& spent) {
    go_to_file_of(address);
    out_.write(position(address) + " " + costs(spent) + "\n");
  }

  void call(const profile::edge_key& key, const call_edge& edge) {
    const auto& [caller, site, callee] = key;
    go_to_file_of(site);
    out_.write("cfi=" + file_of(callee) + "\ncfn=" + function_(data_.functions().at(callee).name) +
               "\ncalls=" + std::to_string(edge.calls) + " " + position(callee) + "\n");
    out_.write(position(site) + " " + costs(edge.inclusive) + "\n");
  }

  output_file& out_;
  profile& data_;
  const source_lines& lines_;
  name_table file_;
  name_table function_;
  std::uint32_t file_index_ = 0;  // of the lines being written
};

}  // namespace

void write_callgrind(output_file& file, const std::string& command, profile& data, const source_lines& lines) {
  std::map<std::uint64_t, function_block> blocks;  // by the function's begin
  data.by_address().for_each([&](std::uint64_t address, const cost& spent) {
    if (!(spent == cost())) blocks[data.functions().at(address).begin].own[address] = spent;
  });
  for (const auto& edge : data.edges()) blocks[std::get<0>(edge.first)].calls.push_back(edge);
  writer out(file, data, lines);
  out.header(command);
  for (const auto& [begin, block] : blocks) out.block(begin, block);
  out.finish();
}

}  // namespace dvp::cpu::trace
