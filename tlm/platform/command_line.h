// What the subcommands share in reading their arguments.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace dvp::platform {

// The options given, spelt in full; scripts look for them by name. usage_error, naming the nearest right one, for an
// unknown option and for one without its value. `command` is for messages.
boost::program_options::variables_map parse_command_line(
    const std::vector<std::string>& arguments, const boost::program_options::options_description& options,
    const boost::program_options::positional_options_description& positional, const std::string& command);

}  // namespace dvp::platform
