// Every command of a channel in the CSV form that DRAMPower's command line reads.
//
// Lines are "clock,command,rank,bank group,bank,row,column[,data]"; the clock is CK, the bank counts within the rank.
// One ACT stands for ACT-1 and ACT-2, at ACT-1's time; CAS has no counterpart and is left out. Column commands need
// data there: a burst of zero bytes, because the memory model carries no data. A precision-tagged burst is written as a
// whole one, the only kind DRAMPower knows. END closes the file.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::platform {

class command_csv : public lpddr5::command_sink {
 public:
  // <folder>/commands.csv, or commands.0.csv and so on when there are several channels. std::runtime_error when a file
  // cannot be written.
  command_csv(const std::string& folder, const lpddr5::device& d, std::uint32_t channels);
  command_csv(const command_csv&) = delete;
  command_csv& operator=(const command_csv&) = delete;
  // Removes the files unless finish() completed them.
  ~command_csv() override;

  void issued(std::uint32_t channel, const lpddr5::issued_command& command) override;
  // std::runtime_error when a file could not be written whole.
  void finish(lpddr5::cycles end);

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct channel_file {
    std::unique_ptr<std::FILE, closer> file;
    std::vector<std::uint64_t> open_banks;  // per rank, a bit for each
  };
  const char* name_of(const lpddr5::issued_command& command, std::uint64_t& open_banks) const;

  lpddr5::organisation shape_;
  std::string burst_data_;
  std::string line_;
  std::vector<channel_file> files_;
  std::vector<std::string> paths_;
};

}  // namespace dvp::platform
