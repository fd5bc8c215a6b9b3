// A file named twice on one command line: whoever writes it last destroys what the other one is for.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform {

struct named_file {
  std::string option;  // that names it: "--profile", "IMAGE"
  std::string path;
};

// usage_error with one sentence when two outputs, or an output and an input, are the same file: the same device and
// inode, or, where there is no file yet, the same place. Devices such as /dev/null may be shared.
void refuse_shared_files(const std::vector<named_file>& outputs, const std::vector<named_file>& inputs);

}  // namespace dvp::platform
