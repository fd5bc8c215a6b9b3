#include "tlm/platform/revision.h"

#include "tlm/platform/commit.h"
#include "tlm/platform/file_digest.h"

namespace dvp::platform {

std::string revision() {
  const std::string commit = commit_of_build;
  if (!commit.empty() && !commit.ends_with("-dirty")) return commit;
  constexpr std::size_t shown = 12;
  return (commit.empty() ? "program" : commit) + "+" + file_digest("/proc/self/exe").substr(0, shown);
}

}  // namespace dvp::platform
