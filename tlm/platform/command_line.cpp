#include "tlm/platform/command_line.h"

#include "tlm/core/nearest_word.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

po::variables_map parse_command_line(const std::vector<std::string>& arguments, const po::options_description& options,
                                     const po::positional_options_description& positional, const std::string& command) {
  constexpr int exact = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map given;
  try {
    po::store(po::command_line_parser(arguments).options(options).positional(positional).style(exact).run(), given);
    po::notify(given);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : options.options()) known.push_back("--" + option->long_name());
    const std::string close = core::nearest_word(error.get_option_name(), known);
    throw usage_error(error.get_option_name() + ": unknown option" +
                      (close.empty() ? "; " + command + " --help lists them" : "; did you mean " + close + "?"));
  } catch (const po::error& error) {
    throw usage_error(std::string(error.what()) + "; " + command + " --help lists the options");
  }
  return given;
}

}  // namespace dvp::platform
