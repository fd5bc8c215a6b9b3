// What the subcommands share in reading their arguments.
#pragma once

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "tlm/platform/files.h"

namespace dvp::platform {

// The options given, spelt in full; scripts look for them by name. usage_error, naming the nearest right one, for an
// unknown option and for one without its value. `command` is for messages.
boost::program_options::variables_map parse_command_line(
    const std::vector<std::string>& arguments, const boost::program_options::options_description& options,
    const boost::program_options::positional_options_description& positional, const std::string& command);

// The text of an option that was given.
inline std::string option_text(const boost::program_options::variables_map& given, const char* option) {
  return given[option].as<std::string>();
}

// The text of an option as a number from `least` to `most`; usage_error saying what it `takes` for anything else.
template <class Number>
Number number_from(const std::string& text, const char* option, Number least, Number most, const char* takes) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool in_range = error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
  if constexpr (std::is_floating_point_v<Number>) in_range = in_range && std::isfinite(value);
  if (!in_range) throw usage_error(std::string("--") + option + " " + text + ": takes " + takes);
  return value;
}

// The same of an option that was given.
template <class Number>
Number option_number(const boost::program_options::variables_map& given, const char* option, Number least, Number most,
                     const char* takes) {
  return number_from(option_text(given, option), option, least, most, takes);
}

// usage_error for an option that was given although what it needs is not `met`: nothing would read it.
inline void refuse_idle(const boost::program_options::variables_map& given, const char* option, bool met,
                        const char* why) {
  if (given.count(option) != 0 && !met) throw usage_error(std::string("--") + option + ": has no effect " + why);
}

}  // namespace dvp::platform
