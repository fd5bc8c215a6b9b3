// Small helpers for writing source text.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::npugen {

// One generated file, built line by line.
class text_file {
 public:
  template <typename... Parts>
  text_file& line(const Parts&... parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    return whole_line(stream.str());
  }
  text_file& line() { return whole_line(""); }
  // `text` as comment lines that start with `lead` and stay within 120 columns.
  text_file& comment(std::string_view text, std::string_view lead = "// ");
  text_file& indent(std::size_t columns) {
    indent_ += columns;
    return *this;
  }
  text_file& outdent(std::size_t columns) {
    indent_ -= columns;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  text_file& whole_line(const std::string& content);

  std::string text_;
  std::size_t indent_ = 0;
};

std::string hex(std::uint64_t value, int digits = 1);  // "0x1f", at least `digits` digits
std::string camel_case(std::string_view name);         // "irq_status" -> "IrqStatus"
std::string quoted(std::string_view text);             // as a C string literal
// "text", with "; unit: u" appended where there is a unit.
std::string with_unit(const std::string& text, const std::string& unit);

// The opening lines of every generated file, without comment marks: that it is generated, from which specification
// files (relative paths, shown below gen/spec) and by which command. Equal in every checkout.
std::vector<std::string> banner_lines(const std::vector<std::string>& sources);
void banner(text_file& out, const std::vector<std::string>& sources);  // as // comments

}  // namespace dvp::npugen
