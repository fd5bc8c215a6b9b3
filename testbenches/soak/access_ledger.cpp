#include "testbenches/soak/access_ledger.h"

#include <algorithm>

namespace dvp::lpddr5::test {

namespace {

std::uint32_t planes_of(data_layout layout) {
  return layout == data_layout::bytes ? 1 : layout == data_layout::nibble ? 2 : 8;
}

std::string number(auto n) {
  return std::to_string(n);
}

}  // namespace

access_ledger::access_ledger(const device& d, const controller_config& config, const address_mapping& mapping,
                             command_checker& checker)
    : device_(d),
      config_(config),
      mapping_(mapping),
      checker_(checker),
      burst_bytes_(d.shape.burst_bytes()),
      planes_(planes_of(config.tagged.layout)),
      merging_(config.posted_writes && config.coalesce_writes) {}

// The column accesses that an access needs, by number of the burst in the address space.
std::vector<std::uint64_t> access_ledger::bursts_of(const access& a) const {
  std::vector<std::uint64_t> all;
  if (a.precision == 0) return all;
  const std::uint64_t block = burst_bytes_ * planes_;
  const std::uint64_t last = (a.address + a.bytes - 1) / block;
  // Low precisions read the high planes only.
  std::uint64_t columns = planes_;
  if (a.precision < 8 && planes_ == 8) columns = a.precision;
  if (a.precision < 8 && planes_ == 2) columns = 1;
  for (std::uint64_t b = a.address / block; b <= last; ++b) {
    for (std::uint64_t c = 0; c < columns; ++c) all.push_back(b * planes_ + c);
  }
  return all;
}

bool access_ledger::covers(const access& a, std::uint64_t burst) const {
  const std::uint64_t block = burst_bytes_ * planes_;
  const std::uint64_t begin = burst / planes_ * block;
  return a.address <= begin && a.address + a.bytes >= begin + block;
}

void access_ledger::submitted(cycles at, const access& a) {
  record& r = open_[a.id];
  r.submitted = at;
  r.write = a.write;
  r.bursts = bursts_of(a);
  for (const std::uint64_t burst : r.bursts) {
    burst_state& b = bursts_[burst];
    if (a.write) {
      b.full.push_back(covers(a, burst));
      ++b.writes;
      ++write_bursts_;
      continue;
    }
    ++read_bursts_;
    const bool must = b.issued == b.writes;
    b.reads.push_back({a.id, b.writes, b.issued, must, false, -1});
  }
}

void access_ledger::accepted(std::uint64_t id, cycles at) {
  const auto r = open_.find(id);
  if (r == open_.end()) return report("access " + number(id) + " is accepted but not open");
  if (r->second.accepted >= 0) report("access " + number(id) + " is accepted twice");
  if (at < r->second.submitted) report("access " + number(id) + " is accepted before it was submitted");
  r->second.accepted = std::max<cycles>(at, 0);
}

void access_ledger::finished(std::uint64_t id, cycles at) {
  const auto found = open_.find(id);
  if (found == open_.end()) return report("access " + number(id) + " is finished but not open");
  const record& r = found->second;
  const std::string who = (r.write ? "write " : "read ") + number(id) + " submitted at clock " + number(r.submitted) +
                          " is finished at clock " + number(at);
  if (r.accepted < 0) report(who + " but was not accepted");
  if (at < r.accepted) report(who + " before it was accepted");
  for (const std::uint64_t burst : r.write ? std::vector<std::uint64_t>{} : r.bursts) {
    burst_state& b = bursts_[burst];
    const auto own = std::find_if(b.reads.begin(), b.reads.end(), [&](const auto& w) { return w.id == id; });
    if (own->must && own->data_end < 0) report(who + " but its burst " + number(burst) + " was not read");
    if (own->must && at < own->data_end + config_.backend_cycles) {
      report(who + " but the data of its burst " + number(burst) + " ends at clock " + number(own->data_end));
    }
    const auto from = b.full.begin() + static_cast<std::ptrdiff_t>(own->issued_before);
    const auto to = b.full.begin() + static_cast<std::ptrdiff_t>(own->writes_before);
    if (!own->must && own->data_end < 0 && std::find(from, to, true) == to) {
      report(who + " without its burst " + number(burst) + " being read, and no write of the whole burst waited");
    }
    b.spare += !own->served;
    b.reads.erase(own);
  }
  const cycles soonest = config_.frontend_cycles + device_.times.WL + device_.times.BL_n_min + config_.backend_cycles;
  if (r.write && !config_.posted_writes && at < r.submitted + soonest) report(who + ", too soon for any write");
  open_.erase(found);
}

std::uint64_t access_ledger::burst_of(std::uint32_t channel, const issued_command& c, std::uint32_t n) const {
  const organisation& o = device_.shape;
  const std::uint32_t step = planes_ == 2 && c.columns > 1 ? 2 : 1;
  location where;
  where.channel = channel;
  where.rank = c.rank;
  where.bank_group = c.bank / o.banks_per_group;
  where.bank = c.bank % o.banks_per_group;
  where.row = c.row;
  where.column = c.column + n * step * o.burst_length;
  return mapping_.encode(where) / burst_bytes_;
}

void access_ledger::issued(std::uint32_t channel, const issued_command& c) {
  checker_.issued(channel, c);
  if (!is_column(c.what)) return;
  for (std::uint32_t n = 0; n < c.columns; ++n) {
    const std::uint64_t burst = burst_of(channel, c, n);
    is_read(c.what) ? read_issued(burst, c) : write_issued(burst, c);
  }
}

void access_ledger::read_issued(std::uint64_t burst, const issued_command& c) {
  ++read_columns_;
  const auto found = bursts_.find(burst);
  const std::string what = "read of burst " + number(burst) + " at clock " + number(c.at);
  if (found == bursts_.end()) return report(what + " is for nobody");
  burst_state& b = found->second;
  // Whose it is, is not told: any for whom every write before is done. Of those, the one for whom that became true last
  // leaves most room to the others.
  const std::uint64_t done = merging_ ? b.settled : b.issued;
  waiting_read* reader = nullptr;
  for (waiting_read& r : b.reads) {
    if (r.data_end < 0) r.data_end = c.at + device_.times.RL + c.late_cycles + device_.times.BL_n_min;
    if (r.served || r.writes_before > done) continue;
    if (reader == nullptr || r.writes_before > reader->writes_before) reader = &r;
  }
  if (reader != nullptr) {
    reader->served = true;
  } else if (b.spare != 0) {
    --b.spare;
  } else {
    report(what +
           (b.reads.empty() ? " is for nobody" : " passes a write that came before every read that waits for it"));
  }
}

void access_ledger::write_issued(std::uint64_t burst, const issued_command& c) {
  ++write_columns_;
  const auto found = bursts_.find(burst);
  const std::string what = "write of burst " + number(burst) + " at clock " + number(c.at);
  if (found == bursts_.end() || found->second.issued == found->second.writes) return report(what + " is for nobody");
  burst_state& b = found->second;
  for (const waiting_read& r : b.reads) {
    if (r.must && r.data_end < 0 && r.writes_before <= b.issued) {
      report(what + " passes the read of access " + number(r.id) + " that came before it");
      break;
    }
  }
  ++b.issued;
  b.settled = b.writes;
}

void access_ledger::end(const system_figures& figures) {
  if (!open_.empty()) report(number(open_.size()) + " accesses never finished, one is " + number(open_.begin()->first));
  std::uint64_t forwarded = 0, joined = 0;
  for (const auto& c : figures.channels) {
    forwarded += c.forwarded_reads;
    joined += c.coalesced_writes;
  }
  if (read_columns_ + forwarded != read_bursts_) {
    report(number(read_bursts_) + " bursts to read, but " + number(read_columns_) + " were read and " +
           number(forwarded) + " answered from waiting writes");
  }
  if (write_columns_ + joined != write_bursts_) {
    report(number(write_bursts_) + " bursts to write, but " + number(write_columns_) + " were written and " +
           number(joined) + " joined another");
  }
  for (const auto& [burst, b] : bursts_) {
    if (!b.reads.empty()) report("burst " + number(burst) + " still waits to be read");
    if ((merging_ ? b.settled : b.issued) != b.writes) report("burst " + number(burst) + " was never written");
  }
}

void access_ledger::report(const std::string& sentence) {
  ++violations_;
  if (sentences_.size() < 10) sentences_.push_back(sentence);
}

}  // namespace dvp::lpddr5::test
