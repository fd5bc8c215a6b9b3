// Which build of the program this is.
#pragma once

#include <string>

namespace dvp::platform {

// Two builds that may compute different figures never have the same: the commit where the sources were unchanged,
// "1f2e3d4", else with the digest of the program file behind it, "1f2e3d4-dirty+0123456789ab"; "program+0123456789ab"
// where the sources are not a git repository.
std::string revision();

}  // namespace dvp::platform
