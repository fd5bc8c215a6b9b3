#include "tlm/lpddr5/engine/access_splitter.h"

#include <algorithm>

namespace dvp::lpddr5 {

namespace {

std::uint32_t planes_of(data_layout layout) {
  switch (layout) {
    case data_layout::nibble:
      return 2;
    case data_layout::bitplane:
      return 8;
    case data_layout::bytes:
      break;
  }
  return 1;
}

std::uint64_t ceil_div(std::uint64_t n, std::uint64_t d) {
  return (n + d - 1) / d;
}

}  // namespace

access_splitter::access_splitter(const device& d, const controller_config& config, const address_mapping& mapping)
    : device_(d),
      tagged_(config.tagged),
      mapping_(mapping),
      burst_bytes_(d.shape.burst_bytes()),
      planes_(planes_of(config.tagged.layout)),
      runs_(mapping.channels()) {}

const std::vector<access_splitter::piece>& access_splitter::split(const access& a, std::uint32_t slot,
                                                                  precision_figures& figures) {
  pieces_.clear();
  access row = a;
  row.rows = 1;
  row.bytes = a.row_bytes();
  for (std::uint32_t i = 0; i < a.rows; ++i) {
    if (a.is_block()) row.address = a.row_address(i);
    if (planes_ == 1 && !a.tagged) {
      split_plain(row, slot, figures);
    } else {
      split_planes(row, slot, figures);
    }
  }
  return pieces_;
}

burst access_splitter::burst_at(const location& where, std::uint32_t slot, bool write) const {
  burst b;
  b.access = slot;
  b.row = where.row;
  b.column = static_cast<std::uint16_t>(where.column);
  b.rank = static_cast<std::uint8_t>(where.rank);
  b.bank = static_cast<std::uint8_t>(where.bank_group * device_.shape.banks_per_group + where.bank);
  b.write = write;
  return b;
}

void access_splitter::split_plain(const access& a, std::uint32_t slot, precision_figures& figures) {
  const std::uint64_t end = a.address + a.bytes;
  const std::size_t before = pieces_.size();
  for (std::uint64_t at = a.address / burst_bytes_ * burst_bytes_; at < end; at += burst_bytes_) {
    const location where = mapping_.decode(at);
    piece& p = pieces_.emplace_back(piece{where.channel, burst_at(where, slot, a.write)});
    p.what.full = at >= a.address && at + burst_bytes_ <= end;
  }
  if (a.write) return;
  const std::uint64_t bursts = pieces_.size() - before;
  figures.delivered_bits += 8 * a.bytes;
  figures.padding_bits += 8 * (bursts * burst_bytes_ - a.bytes);
  figures.core_bits += 8 * bursts * burst_bytes_;
  figures.io_bound += bursts;
}

void access_splitter::split_planes(const access& a, std::uint32_t slot, precision_figures& figures) {
  const std::uint64_t block = burst_bytes_ * planes_;
  const std::uint64_t end = a.address + a.bytes;
  for (std::uint64_t base = a.address / block * block; base < end; base += block) {
    const std::uint64_t elements = std::min(end, base + block) - std::max(a.address, base);
    // bytes: the one column; nibble: high nibbles, then low; bitplane: from the most significant bit down.
    const std::uint32_t columns = a.write || a.precision == 8 ? planes_ : planes_ == 8 ? a.precision : 1;
    for (std::uint32_t c = 0; c < columns; ++c) {
      const location where = mapping_.decode(base + c * burst_bytes_);
      if (a.write) {
        piece& p = pieces_.emplace_back(piece{where.channel, burst_at(where, slot, true)});
        p.what.full = elements == block;
      } else {
        add_column(where, elements, c == 0, slot, a, figures);
      }
    }
  }
  if (a.write) return;
  for (std::uint32_t c = 0; c < runs_.size(); ++c) close(c, a, figures);
  figures.delivered_bits += std::uint64_t{a.precision} * a.bytes;
}

// A column access for `elements` of the access, in the open burst of its channel or in a new one.
void access_splitter::add_column(const location& where, std::uint64_t elements, bool leads, std::uint32_t slot,
                                 const access& a, precision_figures& figures) {
  // Bits of an element that one column access brings, and of those the ones that cross the I/O.
  const std::uint32_t bits_per_column = 8 / planes_;
  const std::uint32_t crossing = std::min<std::uint32_t>(a.precision, bits_per_column);
  const std::uint32_t most = bits_per_column / crossing;
  run& r = runs_[where.channel];
  const burst b = burst_at(where, slot, false);
  const std::uint32_t step = planes_ == 8 ? 1 : planes_;
  const bool joins = r.open && r.leads == leads && r.what.columns < most && r.what.row == b.row &&
                     r.what.rank == b.rank && r.what.bank == b.bank &&
                     b.column == r.what.column + r.what.columns * step * device_.shape.burst_length;
  if (!joins) {
    close(where.channel, a, figures);
    r.open = true;
    r.what = b;
    r.what.column_step = static_cast<std::uint8_t>(step);
    r.elements = 0;
    r.leads = leads;
  } else {
    ++r.what.columns;
  }
  r.elements += elements;
}

void access_splitter::close(std::uint32_t channel, const access& a, precision_figures& figures) {
  run& r = runs_[channel];
  if (!r.open) return;
  r.open = false;
  burst& b = r.what;
  const timing& t = device_.times;
  const std::uint64_t burst_bits = 8 * burst_bytes_;
  const std::uint32_t bits_per_column = 8 / planes_;
  const std::uint64_t payload = r.elements * std::min<std::uint32_t>(a.precision, bits_per_column);
  const std::uint64_t scales = a.tagged && tagged_.scales == scale_place::in_burst && r.leads
                                   ? ceil_div(r.elements, tagged_.scale_group) * tagged_.scale_bits
                                   : 0;
  const std::uint64_t bits_per_ck = std::uint64_t{device_.shape.width_bits} * device_.shape.beats_per_ck;
  std::uint64_t carried = burst_bits;
  if (payload + scales > burst_bits) {
    const std::uint64_t clocks = ceil_div(payload + scales, bits_per_ck);
    b.io_cycles = static_cast<std::uint16_t>(clocks);
    carried = clocks * bits_per_ck;
  }
  const std::uint32_t slots = (b.columns + tagged_.core_feed - 1U) / tagged_.core_feed;
  b.core_slots = static_cast<std::uint8_t>(slots);
  b.late_cycles = static_cast<std::uint8_t>(t.BL_n_L * (slots - 1));
  b.convert_cycles = static_cast<std::uint16_t>(a.precision < 8 ? tagged_.convert_cycles : 0);
  figures.scale_bits += scales;
  figures.padding_bits += carried - payload - scales;
  figures.core_bits += b.columns * burst_bits;
  const std::uint64_t plain = device_.shape.burst_length / device_.shape.beats_per_ck;
  ++(slots * plain > std::max<std::uint64_t>(plain, b.io_cycles) ? figures.core_bound : figures.io_bound);
  pieces_.push_back({channel, b});
}

}  // namespace dvp::lpddr5
