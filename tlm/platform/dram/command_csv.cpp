#include "tlm/platform/dram/command_csv.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace dvp::platform {

using lpddr5::command;
using lpddr5::issued_command;

namespace {

// The number and a comma.
void append(std::string& line, std::uint64_t value) {
  char digits[24];
  line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr).append(1, ',');
}

}  // namespace

command_csv::command_csv(const std::string& folder, const lpddr5::device& d, std::uint32_t channels)
    : shape_(d.shape), burst_data_(std::size_t{2} * d.shape.burst_bytes(), '0') {
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    paths_.push_back(folder + "/commands" + (channels == 1 ? "" : "." + std::to_string(channel)) + ".csv");
    std::FILE* file = std::fopen(paths_.back().c_str(), "wb");
    if (file == nullptr) throw std::runtime_error(paths_.back() + ": cannot be written: " + std::strerror(errno));
    files_.push_back({std::unique_ptr<std::FILE, closer>(file), std::vector<std::uint64_t>(shape_.ranks)});
    std::setvbuf(file, nullptr, _IOFBF, std::size_t{1} << 16);
  }
}

command_csv::~command_csv() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].file != nullptr) std::remove(paths_[i].c_str());
  }
}

// DRAMPower's name, nullptr where it has none; follows which banks are open.
const char* command_csv::name_of(const issued_command& c, std::uint64_t& open_banks) const {
  const std::uint64_t bank = std::uint64_t{1} << c.bank;
  switch (c.what) {
    case command::act1:
      open_banks |= bank;
      return "ACT";
    case command::act2:
    case command::cas:
      return nullptr;
    case command::pre:
      open_banks &= ~bank;
      return "PRE";
    case command::pre_all:
      open_banks = 0;
      return "PREA";
    case command::rd:
      return "RD";
    case command::wr:
      return "WR";
    case command::rda:
      open_banks &= ~bank;
      return "RDA";
    case command::wra:
      open_banks &= ~bank;
      return "WRA";
    case command::ref_all:
      return "REFA";
    case command::ref_bank:
      return shape_.pair_offset == 0 ? "REFB" : "REFP2B";
    case command::pd_enter:
      return open_banks == 0 ? "PDEP" : "PDEA";
    case command::pd_exit:
      return open_banks == 0 ? "PDXP" : "PDXA";
    case command::sr_enter:
      return "SREFEN";
    case command::sr_exit:
      return "SREFEX";
  }
  return nullptr;
}

void command_csv::issued(std::uint32_t channel, const issued_command& c) {
  channel_file& out = files_[channel];
  const char* name = name_of(c, out.open_banks[c.rank]);
  if (name == nullptr) return;
  line_.clear();
  append(line_, static_cast<std::uint64_t>(c.at));
  line_.append(name).append(1, ',');
  append(line_, c.rank);
  append(line_, c.bank / shape_.banks_per_group);
  append(line_, c.bank);
  append(line_, c.what == command::act1 ? c.row : 0);
  append(line_, is_column(c.what) ? c.column : 0);
  if (is_column(c.what)) {
    line_ += burst_data_;
  } else {
    line_.pop_back();
  }
  line_ += '\n';
  std::fwrite(line_.data(), 1, line_.size(), out.file.get());
}

void command_csv::finish(lpddr5::cycles end) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    std::fprintf(files_[i].file.get(), "%lld,END,0,0,0,0,0\n", static_cast<long long>(end));
    if (std::ferror(files_[i].file.get()) != 0 || std::fclose(files_[i].file.release()) != 0) {
      throw std::runtime_error(paths_[i] + ": could not be written whole; is the disk full?");
    }
  }
}

}  // namespace dvp::platform
