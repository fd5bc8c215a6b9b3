// The whole firmware as one call: what both the native CPU seat and the RV64 image run.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"

namespace dvp::apps {

// Takes the request from the mailbox, decodes, writes the result record and finishes through the mailbox. One run at a
// time. Without a mailbox nobody can be told: then only the return value (bad_request) says so.
gen::result_code run_firmware(std::uint64_t mailbox_base, std::uint64_t npu_base);

}  // namespace dvp::apps
