#include "tlm/platform/html_report/plan_view.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_buffers = 20000;
constexpr std::size_t longest_line = 2000;  // expressions recurse on the length of what they match

struct buffer {
  std::string how, what;
  std::uint64_t first = 0, bytes = 0;
  std::size_t from = 0, to = 0;
};

// Longer numbers than a plan has are refused by the expressions already.
std::uint64_t number(const std::string& text, int base = 10) {
  return std::stoull(text, nullptr, base);
}

class plan_reader {
 public:
  explicit plan_reader(std::string file) : file_(std::move(file)) {}

  void take(const std::string& line) {
    static const std::regex title(R"(swap policy (\w+), window of (\d{1,18}) bytes, .*)");
    // op operator layer how place first - last bus bytes what; a pinned buffer has no operator.
    static const std::regex row(
        R"( *(?:(\d{1,9}) +(\w+) +(\d{1,9}) +)?(pinned|mapped|staged) +(?:half \d +|down +)?0x([0-9a-f]{8,16}) - )"
        R"(0x([0-9a-f]{8,16}) +0x[0-9a-f]+ +(\d{1,18})  (.*))");
    static const std::regex more(R"(and (\d{1,18}) more entries that there was no room for)");
    ++line_;
    if (line.size() > longest_line) refuse("is too long for a swap plan");
    std::smatch found;
    if (line_ == 1) {
      if (!std::regex_match(line, found, title)) refuse("is no swap plan");
      view_["policy"] = found[1].str();
      view_["window_bytes"] = number(found[2]);
    } else if (std::regex_match(line, found, more)) {
      dropped_ += number(found[1]);
    } else if (std::regex_match(line, found, row)) {
      take_row(found);
    }
  }

  ordered_json result() {
    if (line_ == 0) refuse("is empty");
    end_buffers();
    view_["dropped"] = dropped_;
    view_["steps"] = steps_;
    view_["buffers"] = ordered_json::array();
    for (const buffer& b : buffers_) {
      view_["buffers"].push_back(
          {{"how", b.how}, {"what", b.what}, {"first", b.first}, {"bytes", b.bytes}, {"from", b.from}, {"to", b.to}});
    }
    return std::move(view_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw usage_error(file_ + " line " + std::to_string(line_) + ": " + what + "; remove it to report without a plan");
  }

  void take_row(const std::smatch& found) {
    buffer b{found[4], found[8]};
    b.first = number(found[5], 16);
    const std::uint64_t last = number(found[6], 16);
    b.bytes = number(found[7]);
    if (last < b.first || last - b.first + 1 != b.bytes) refuse("the addresses and the bytes do not agree");
    if (buffers_.size() == most_buffers) {
      ++dropped_;
      return;
    }
    if (b.how != "pinned") {
      if (!found[1].matched) refuse("a buffer that is not pinned has no operator");
      b.from = steps_.size();
      steps_.push_back(found[2].str() + ", layer " + found[3].str() + ", operator " + found[1].str());
    }
    buffers_.push_back(std::move(b));
  }

  void end_buffers() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffer& b = buffers_[i];
      b.to = steps_.size();
      if (b.how == "pinned") continue;
      const auto ends_it = [&](const buffer& later) {
        if (b.how == "mapped") return later.how != "pinned" && steps_[later.from] != steps_[b.from];
        return later.how == "staged" && later.first < b.first + b.bytes && later.first + later.bytes > b.first;
      };
      const auto end = std::find_if(buffers_.begin() + static_cast<std::ptrdiff_t>(i) + 1, buffers_.end(), ends_it);
      if (end != buffers_.end()) b.to = end->from;
    }
  }

  std::string file_;
  std::size_t line_ = 0;
  ordered_json view_;
  std::vector<buffer> buffers_;
  std::vector<std::string> steps_;
  std::uint64_t dropped_ = 0;
};

}  // namespace

ordered_json view_plan(const std::filesystem::path& file) {
  plan_reader reader(file.string());
  std::istringstream lines(read_text(file));
  for (std::string line; std::getline(lines, line);) reader.take(line);
  return reader.result();
}

}  // namespace dvp::platform
