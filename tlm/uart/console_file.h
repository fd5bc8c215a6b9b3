// Files: output goes to one, input comes from another, as fast as the line takes it. The same input gives the same run.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "tlm/uart/console.h"

namespace dvp::uart {

class console_file : public console {
 public:
  // Creates or empties `output`; reads `input` unless its name is empty. std::runtime_error with path and reason where
  // one cannot be opened.
  explicit console_file(const std::string& output, const std::string& input = {});

  void put(std::uint8_t byte) override { std::putc(byte, output_.get()); }
  std::optional<std::uint8_t> poll() override;
  bool may_send() const override { return next_ != EOF; }
  std::string failure() override;

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;  // of the output
  std::unique_ptr<std::FILE, closer> input_;
  std::unique_ptr<std::FILE, closer> output_;
  int next_ = EOF;
};

}  // namespace dvp::uart
