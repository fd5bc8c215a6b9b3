#include "tlm/cpu/trace/register_trace.h"

#include <cinttypes>
#include <cstdio>

#include "tlm/core/sim_time.h"

namespace dvp::cpu::trace {

register_trace::register_trace(const std::string& path) : file_(path) {
  file_.write("ns,who,access,block,register,value,fields\n");
}

void register_trace::access(std::string_view who, const core::register_event& what) {
  const std::uint64_t ps = core::picoseconds(sc_core::sc_time_stamp());
  const std::string decoded = core::decode(what.info, what.value);
  const std::size_t open = decoded.find('{');
  const std::string fields = decoded.substr(open + 1, decoded.rfind('}') - open - 1);
  char time[40];
  std::snprintf(time, sizeof time, "%" PRIu64 ".%03" PRIu64, ps / 1000, ps % 1000);
  char value[16];
  std::snprintf(value, sizeof value, "0x%08" PRIx32, what.value);
  file_.write(std::string(time) + "," + std::string(who) + (what.write ? ",write," : ",read,") + what.block.name + "," +
              what.info.name + "," + value + ",\"" + fields + "\"\n");
}

}  // namespace dvp::cpu::trace
