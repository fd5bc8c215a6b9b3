// A run's timeline.json, however long, as what a chart can show: how busy every track was over time, the bandwidth of
// the memory, and what each operator of the network computed and moved.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace dvp::platform {

// {"end_us", "bin_us", "tracks": [{"process", "name", "busy": [share of each bin]}],
//  "memory_bytes_per_second": [of each bin], "memory_bytes_of": "channels" | "dmas",
//  "operators": [{"name", "macs", "bytes", "array_us", "transfer_us"}],
//  "forwards": [{"macs", "bytes", "begin_us", "end_us"}]}
//
// A slice is busy time unless its name is wait or sleep. At most 512 bins; the file is read as a stream, so memory does
// not grow with it. Tracks without slices, and those whose slices overlap (nested calls of functions), are left out: a
// share of such a sum would mean nothing. Bytes of the memory are those on its channels' tracks; where these have fewer
// than the DMAs move, since a memory in stream mode serves rows without simulating their bursts and one of model fixed
// has no channels, they are the DMAs', and the channels' tracks are left out. Bytes of an operator are those that the
// DMAs load and store for it. A forward begins where tokens are embedded after products have been computed, and ends
// with its last operator; there are none when there are more than 2000. usage_error naming file and place when it is
// not JSON.
nlohmann::ordered_json view_timeline(const std::filesystem::path& file);

}  // namespace dvp::platform
