#include "testbenches/unit/firmware/hazard_checker.h"

#include <algorithm>
#include <sstream>

#include "tlm/npu/operands.h"

namespace dvp::testbench {
namespace {

std::uint32_t engine_of(gen::opcode op) {
  switch (op) {
    case gen::opcode::dma_load:
    case gen::opcode::dma_gather:
      return 0;
    case gen::opcode::dma_store:
      return 1;
    case gen::opcode::gemm:
      return 2;
    case gen::opcode::vector:
    case gen::opcode::rebuild:
    case gen::opcode::update:
      return 3;
    case gen::opcode::sample:
      return 4;
    case gen::opcode::stage:
      return 5;
    case gen::opcode::fence:
      break;
  }
  return 6;
}

// Of a row in DRAM. A view of 4 or 2 bits is made from codes of 8.
std::uint64_t stored_bytes(const gen::dma_descriptor& d) {
  const std::uint64_t bytes = d.row_bytes;
  return d.header.tag_precision == gen::precision::q4   ? 2 * bytes
         : d.header.tag_precision == gen::precision::q2 ? 4 * bytes
                                                        : bytes;
}

}  // namespace

bool hazard_checker::overlap(const strip& a, const strip& b) {
  if (a.dram != b.dram || (!a.written && !b.written) || a.first >= b.end || b.first >= a.end) {
    return false;
  }
  std::uint64_t i = 0, j = 0;
  while (i < a.rows && j < b.rows) {
    const std::uint64_t row_a = a.first + i * a.stride, row_b = b.first + j * b.stride;
    if (row_a < row_b + b.row_bytes && row_b < row_a + a.row_bytes) {
      return true;
    }
    if (row_a + a.row_bytes <= row_b) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

std::vector<hazard_checker::strip> hazard_checker::strips_of(const npu::descriptor_view& d) const {
  std::vector<strip> strips;
  const auto add = [&](bool dram, bool written, std::uint64_t first, std::uint64_t row_bytes, std::uint64_t rows,
                       std::uint64_t stride, std::uint64_t planes, std::uint64_t plane_stride) {
    for (std::uint64_t p = 0; p < planes; ++p) {
      const std::uint64_t at = first + p * plane_stride;
      strips.push_back({dram, written, at, at + (rows - 1) * stride + row_bytes, row_bytes, rows, stride});
    }
  };
  for (const npu::operand& o : npu::operands_of(d)) {
    add(false, o.written, o.address, o.row_bytes, o.rows, o.stride, o.planes, o.plane_stride);
  }
  const gen::opcode op = d.op();
  if (op == gen::opcode::dma_load || op == gen::opcode::dma_store) {
    const auto dma = d.as<gen::dma_descriptor>();
    add(true, op == gen::opcode::dma_store, bus_of_(dma.dram_address), stored_bytes(dma), dma.rows, dma.dram_stride,
        dma.planes, dma.dram_plane_stride);
  }
  if (op == gen::opcode::dma_gather) {
    const auto dma = d.as<gen::dma_descriptor>();
    add(true, false, bus_of_(dma.list_address), std::uint64_t{dma.rows} * sizeof(std::uint32_t), 1, 0, 1, 0);
    for (const std::uint32_t index : list_of_(dma.list_address, dma.rows)) {
      const std::uint64_t row = dma.dram_address + std::uint64_t{index} * dma.dram_stride;
      add(true, false, bus_of_(row), stored_bytes(dma), 1, 0, 1, 0);
    }
  }
  if (op == gen::opcode::stage) {
    const auto dma = d.as<gen::dma_descriptor>();
    add(true, false, dma.list_address, dma.row_bytes, 1, 0, 1, 0);
    add(true, true, bus_of_(dma.dram_address), dma.row_bytes, 1, 0, 1, 0);
  }
  return strips;
}

std::string hazard_checker::add(const npu::descriptor_view& d) {
  std::ostringstream wrong;
  const gen::descriptor_header header = d.header();
  entry e;
  e.index = next_++;
  e.engine = engine_of(header.op);
  e.strips = strips_of(d);
  std::ostringstream name;
  name << "descriptor " << e.index << " (" << gen::name_of(header.op) << ", "
       << gen::name_of(static_cast<gen::operator_label>(header.label & 0xffff)) << ", layer " << (header.label >> 16)
       << ")";
  e.name = name.str();

  const auto join = [](knowledge& into, const knowledge& from) {
    for (std::uint32_t i = 0; i < engines; ++i) {
      into[i] = std::max(into[i], from[i]);
    }
  };
  // The engine's previous descriptor, and everything the waits say.
  if (e.engine < engines) {
    e.at_start[e.engine] = newest_[e.engine];
    for (const entry& p : past_) {
      if (p.engine == e.engine && p.index + 1 == newest_[e.engine]) {
        join(e.at_start, p.at_end);
      }
    }
  }
  for (const std::uint16_t distance : header.wait) {
    if (distance == 0) {
      continue;
    }
    ++waits_;
    if (distance > e.index || distance > ring_) {
      wrong << e.name << " waits " << distance << " places back";
    } else {
      join(e.at_start, past_[past_.size() - distance].at_end);
    }
  }
  if (e.engine == engines) {
    ++fences_;
    e.at_end = newest_;
  } else {
    e.at_end = e.at_start;
    e.at_end[e.engine] = e.index + 1;
  }

  for (const entry& p : past_) {
    if (p.engine == engines || p.index + 1 <= e.at_start[p.engine]) {
      continue;
    }
    for (const strip& a : p.strips) {
      for (const strip& b : e.strips) {
        if (overlap(a, b)) {
          wrong << e.name << " may start before " << p.name << " is complete; both touch "
                << (a.dram ? "DRAM " : "scratchpad ") << std::hex << std::max(a.first, b.first) << " to "
                << std::min(a.end, b.end) << std::dec << "\n";
        }
      }
    }
  }
  if (e.engine < engines) {
    newest_[e.engine] = e.index + 1;
  }
  past_.push_back(std::move(e));
  if (past_.size() > ring_) {
    past_.pop_front();
  }
  return wrong.str();
}

}  // namespace dvp::testbench
