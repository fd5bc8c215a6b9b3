#include "tlm/platform/profile/options.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>

#include "tlm/loader/model_image.h"
#include "tlm/platform/command_line.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

// What a request can ask about at once: a block and the positions behind it.
constexpr std::uint32_t most_rows = 128;

po::options_description description() {
  po::options_description options("dllm-vp profile: how long forwards take, by rows and keys", 110);
  // clang-format off
  options.add_options()
    ("config,c", po::value<std::string>(), "platform: shipped name or JSON file (default reference)")
    ("set", po::value<std::vector<std::string>>()->composing(), "override one value of the configuration: path=value")
    ("model,m", po::value<std::string>(), "model: shipped name or GGUF file (default tiny-llada)")
    ("data", po::value<std::string>(), "real (default), or shape: no weights and no arithmetic, the same times; --model may then be a shipped shape, a GGUF header or a Hugging Face config.json")
    ("layers", po::value<std::string>(), "shape: cut the model to its first N layers")
    ("keys,k", po::value<std::string>(), "positions that rows attend to, rising (default 96,128,192,256,384,512)")
    ("rows,r", po::value<std::string>(), "measure 1 to N rows (default 96)")
    ("tolerance", po::value<std::string>(), "times within this share of a stair's shortest belong to it (default 0.1)")
    ("out,o", po::value<std::string>(), "file to write (default: NAME.latency.json beside the configuration, or in this folder for a shipped one)")
    ("help,h", "this text");
  // clang-format on
  return options;
}

std::vector<std::uint32_t> parse_keys(const std::string& text) {
  std::vector<std::uint32_t> keys;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t next = 0;
    const auto [behind, error] = std::from_chars(at, end, next);
    const bool rising = keys.empty() || next > keys.back();
    if (error != std::errc() || next == 0 || next > loader::longest_context || !rising || keys.size() == 64) break;
    keys.push_back(next);
    if (behind == end) return keys;
    if (*behind != ',') break;
    at = behind + 1;
  }
  throw usage_error("--keys " + text + ": takes rising numbers from 1 with commas between, such as 128,256");
}

}  // namespace

profile_options parse_profile_options(const std::vector<std::string>& arguments) {
  const po::variables_map given = parse_command_line(arguments, description(), {}, "dllm-vp profile");
  profile_options options;
  options.help = given.count("help") != 0;
  if (given.count("config") != 0) options.config = option_text(given, "config");
  if (given.count("set") != 0) options.overrides = given["set"].as<std::vector<std::string>>();
  if (given.count("model") != 0) options.model = option_text(given, "model");
  if (given.count("data") != 0) options.data = parse_data(option_text(given, "data"));
  refuse_idle(given, "layers", options.data == data_choice::shape, "without --data shape");
  if (given.count("layers") != 0) {
    options.layers = option_number<std::uint32_t>(given, "layers", 1, UINT32_MAX, "a whole number from 1");
  }
  options.keys_given = given.count("keys") != 0;
  if (options.keys_given) options.keys = parse_keys(option_text(given, "keys"));
  if (given.count("rows") != 0) {
    options.rows = option_number<std::uint32_t>(given, "rows", 1, most_rows, "a whole number from 1 to 128");
  }
  if (given.count("tolerance") != 0) {
    options.tolerance = option_number<double>(given, "tolerance", 0.0, 1.0, "a number from 0 to 1");
  }
  if (given.count("out") != 0) options.out = option_text(given, "out");
  return options;
}

std::string profile_help() {
  std::ostringstream text;
  text
      << description()
      << "\nThe file goes into decode.mbsd.latency of the configuration; drafts then fill stairs and open none.\n"
         "Exit codes: 0 measured; 1 a simulation fault; 2 wrong usage or configuration; 3 a model file that cannot be\n"
         "used; 128 + N: signal N ended it.\n";
  return text.str();
}

}  // namespace dvp::platform
