#include "firmware/kernels/command_stream.h"

#include "firmware/kernels/model.h"
#include "firmware/kernels/precision_bits.h"

namespace dvp::kernels {
namespace {

using gen::opcode;
using gen::vector_function;

constexpr bool reads = false;
constexpr bool writes = true;

constexpr std::uint32_t index_bytes = 4;

// Stored bytes behind so many that arrive.
std::uint64_t stored_bytes(gen::precision precision, std::uint64_t delivered) {
  const bool narrow = precision == gen::precision::q4 || precision == gen::precision::q2;
  return narrow ? delivered * 8 / element_bits(precision) : delivered;
}

// Bytes of a row of each operand of a vector function, and how many rows those have that are not as many as v.rows.
struct operand_rows {
  std::uint32_t s0 = 0;
  std::uint32_t s1 = 0;  // 0: there is none
  std::uint32_t d = 0;
  bool s1_single = false;
  std::uint32_t s0_rows = 0;  // 0: v.rows; the same for d
  std::uint32_t d_rows = 0;
  std::uint32_t e = 0;  // 0: there is none
  std::uint32_t e_rows = 1;
};

operand_rows rows_of(const vector_operation& v) {
  const std::uint32_t n = v.columns;
  switch (v.function) {
    case vector_function::dequantise:
      return {n, n / weight_group * 2, n * 4, false};
    case vector_function::rms_norm:
      return {n * 4, n * 4, n * 2, true};
    case vector_function::add_row:
      return {n * 4, n * 4, n * 4, true};
    case vector_function::add:
      return {n * 4, n * 4, n * 4, false};
    case vector_function::rope_interleaved:
    case vector_function::rope_halves:
      return {n * 4, v.scalar_int * 4, n * 2, false};
    case vector_function::silu_multiply:
      return {n * 4, n * 4, n * 2, false};
    case vector_function::softmax:
    case vector_function::to_bf16:
      return {n * 4, 0, n * 2, false};
    case vector_function::transpose_to_bf16:
      return {.s0 = n * 4, .d = v.rows * 2, .d_rows = n};
    case vector_function::encode:
      return {.s0 = n * 4, .s1 = v.scalar_int != 0 ? n * 4 : 0, .d = n, .e = 2, .e_rows = v.rows};
    case vector_function::difference:
      return {.s0 = n * 2, .s1 = n * 2, .d = n * 2, .e = 8};
    case vector_function::column_max:
      return {.s0 = n * 4, .d = n * 4, .d_rows = 1};
    case vector_function::scale_columns:
      return {.s0 = n * 2, .s1 = n * 2, .d = n * 2, .s1_single = true};
    case vector_function::gather_transpose:
      return {.s0 = n * 2,
              .s1 = v.rows * index_bytes,
              .d = v.rows * 2,
              .s1_single = true,
              .s0_rows = v.scalar_int,
              .d_rows = n};
    case vector_function::transpose_codes:
      return {.s0 = packed_bytes(v.precision, n), .d = packed_bytes(v.precision, v.rows), .d_rows = n};
    case vector_function::row_abs_sum:
      return {.s0 = n * 2, .d = 4};
  }
  return {};
}

}  // namespace

void command_stream::start(drivers::npu& npu, std::uint32_t window) {
  npu_ = &npu;
  status_ = drivers::npu_code::ok;
  label_ = 0;
  window_ = window;
  tracker_.start(npu.limits().scratchpad_bytes, window);
  addresses_ = nullptr;
}

void command_stream::restart() {
  npu_->restart();
  status_ = drivers::npu_code::ok;
  tracker_.start(npu_->limits().scratchpad_bytes, window_);
}

void command_stream::fail(drivers::npu_code code) {
  if (status_ == drivers::npu_code::ok) {
    status_ = code;
  }
}

// Turns a bus address into the device address of the same byte. An access that no range holds gets an address that no
// window reaches: the NPU reports it.
const address_range* command_stream::locate(std::uint64_t& address, std::uint64_t bytes) {
  constexpr std::uint64_t nowhere = std::uint64_t{1} << 63;
  if (addresses_ == nullptr) {
    return nullptr;
  }
  const address_range* range = addresses_->find(address, bytes);
  address = range == nullptr ? nowhere | address : range->device + (address - range->bus);
  return range;
}

void command_stream::touches(const matrix& m, std::uint32_t rows, std::uint32_t row_bytes, bool written) {
  tracker_.touches(m.address, (rows - 1) * m.stride + row_bytes, written);
}

template <class Descriptor>
void command_stream::issue(Descriptor descriptor, gen::opcode op) {
  if (status_ != drivers::npu_code::ok) {
    return;
  }
  dependency_tracker::wait_list waits = tracker_.resolve(npu_->next_index());
  if (waits.count > gen::descriptor_waits) {
    gen::vector_descriptor fence;
    fence.header.op = opcode::fence;
    fence.header.label = static_cast<std::uint32_t>(gen::operator_label::barrier) | (label_ & 0xffff0000u);
    waits = {.count = 1, .index = {npu_->next_index()}};
    status_ = npu_->submit(fence);
    if (status_ != drivers::npu_code::ok) {
      return;
    }
    tracker_.barrier(waits.index[0]);
  }
  descriptor.header.op = op;
  descriptor.header.label = label_;
  for (std::uint32_t w = 0; w < waits.count; ++w) {
    descriptor.header.wait[w] = npu_->after(waits.index[w]);
  }
  tracker_.submitted(npu_->next_index());
  status_ = npu_->submit(descriptor);
}

void command_stream::move(const transfer& t, opcode op, const listed_rows& listed) {
  gen::dma_descriptor d;
  d.header.tag_precision = t.precision;
  d.header.function = t.view;
  d.header.bytes_purpose = t.purpose;
  d.dram_address = t.dram;
  d.list_address = listed.list;
  d.scratchpad_address = t.scratchpad.address;
  d.row_bytes = t.row_bytes;
  d.rows = t.rows;
  d.planes = t.planes;
  d.dram_stride = t.dram_stride;
  d.scratchpad_stride = t.scratchpad.stride;
  d.dram_plane_stride = t.dram_plane_stride;
  d.scratchpad_plane_stride = t.plane_stride;
  const std::uint64_t stored_row = stored_bytes(t.precision, t.row_bytes);
  // Rows without gaps on both sides are one long row: fewer, longer bursts.
  if (op != opcode::dma_gather && t.planes == 1 && t.dram_stride == stored_row && t.scratchpad.stride == t.row_bytes) {
    d.row_bytes = t.row_bytes * t.rows;
    d.rows = 1;
  }
  // A gather may touch any row of its table.
  const std::uint32_t rows = op == opcode::dma_gather ? listed.table_rows : t.rows;
  const std::uint64_t extent =
      std::uint64_t{t.planes - 1} * t.dram_plane_stride + std::uint64_t{rows - 1} * t.dram_stride + stored_row;
  const address_range* range = locate(d.dram_address, extent);
  if (op == opcode::dma_gather) {
    locate(d.list_address, std::uint64_t{t.rows} * sizeof(std::uint32_t));
  }
  const bool storing = op == opcode::dma_store;
  tracker_.begin(storing ? engine::store : engine::load);
  tracker_.touches(t.scratchpad.address,
                   (t.planes - 1) * t.plane_stride + (t.rows - 1) * t.scratchpad.stride + t.row_bytes, !storing);
  tracker_.touches(range != nullptr && range->object != dram_object::nothing ? range->object : t.object, storing);
  issue(d, op);
}

void command_stream::stage(const staged_copy& copy) {
  gen::dma_descriptor d;
  d.header.tag_precision = gen::precision::raw;
  d.header.bytes_purpose = copy.purpose;
  d.dram_address = copy.device;
  d.list_address = copy.bus;
  d.row_bytes = copy.bytes;
  d.rows = 1;
  d.planes = 1;
  tracker_.begin(engine::stage);
  tracker_.touches(copy.object, writes);
  const std::uint32_t others = label_;
  label(copy.name, copy.layer);
  issue(d, opcode::stage);
  label_ = others;
}

void command_stream::multiply(const product& p) {
  const bool scaled = p.precision != gen::precision::bf16 && !p.unscaled;
  gen::gemm_descriptor d;
  d.header.tag_precision = p.precision;
  d.header.function = static_cast<std::uint8_t>(
      (p.unscaled ? gen::gemm_mode::unscaled : 0) | (p.half_step ? gen::gemm_mode::half_step : 0) |
      (p.transposed_x ? gen::gemm_mode::transposed_x : 0) | (p.transposed_out ? gen::gemm_mode::transposed_out : 0));
  d.header.flags = p.accumulate ? gen::descriptor_flag::accumulate : std::uint8_t{0};
  d.tokens = p.tokens;
  d.vectors = p.vectors;
  d.reduction = p.reduction;
  d.group = p.group;
  d.x = p.x.address;
  d.x_stride = p.x.stride;
  d.w = p.w.address;
  d.w_stride = p.w.stride;
  d.scales = scaled ? p.scales.address : 0;
  d.scale_stride = scaled ? p.scales.stride : 0;
  d.out = p.out.address;
  d.out_stride = p.out.stride;
  tracker_.begin(engine::array);
  if (p.transposed_x) {
    touches(p.x, p.reduction, p.tokens * 2, reads);
  } else {
    touches(p.x, p.tokens, p.reduction * 2, reads);
  }
  touches(p.w, p.vectors, packed_bytes(p.precision, p.reduction), reads);
  if (scaled) {
    touches(p.scales, p.vectors, p.reduction / p.group * 2, reads);
  }
  if (p.transposed_out) {
    touches(p.out, p.vectors, p.tokens * 4, writes);
  } else {
    touches(p.out, p.tokens, p.vectors * 4, writes);
  }
  issue(d, opcode::gemm);
}

void command_stream::apply(const vector_operation& v) {
  gen::vector_descriptor d;
  d.header.function = static_cast<std::uint8_t>(v.function);
  // Of every other function the tag is unused.
  d.header.tag_precision = v.function == vector_function::transpose_codes ? v.precision : gen::precision::bf16;
  d.header.flags = v.accumulate ? gen::descriptor_flag::accumulate : std::uint8_t{0};
  d.rows = v.rows;
  d.columns = v.columns;
  d.s0 = v.s0.address;
  d.s0_stride = v.s0.stride;
  d.s1 = v.s1.address;
  d.s1_stride = v.s1.stride;
  d.d = v.d.address;
  d.d_stride = v.d.stride;
  d.scalar0 = v.scalar0;
  d.scalar_int = v.scalar_int;
  d.e = v.e.address;
  d.e_stride = v.e.stride;
  const operand_rows bytes = rows_of(v);
  tracker_.begin(engine::vector);
  touches(v.s0, bytes.s0_rows != 0 ? bytes.s0_rows : v.rows, bytes.s0, reads);
  if (bytes.s1 != 0) {
    touches(v.s1, bytes.s1_single ? 1 : v.rows, bytes.s1, reads);
  }
  touches(v.d, bytes.d_rows != 0 ? bytes.d_rows : v.rows, bytes.d, writes);
  if (bytes.e != 0) {
    touches(v.e, bytes.e_rows, bytes.e, writes);
  }
  issue(d, opcode::vector);
}

void command_stream::rebuild(const rebuild_operation& r) {
  gen::rebuild_descriptor d;
  d.header.tag_precision = r.precision;
  d.header.function = static_cast<std::uint8_t>((r.rotate ? gen::rebuild_mode::rotate : 0) |
                                                (r.halves ? gen::rebuild_mode::halves : 0) |
                                                (r.half_step ? gen::rebuild_mode::half_step : 0));
  d.rows = r.rows;
  d.columns = r.columns;
  d.codes = r.codes.address;
  d.codes_stride = r.codes.stride;
  d.terms = r.terms.address;
  d.terms_stride = r.terms.stride;
  d.basis = r.basis;
  d.rope = r.rope;
  d.list = r.list;
  d.d = r.d.address;
  d.d_stride = r.d.stride;
  d.rank_limit = r.rank | r.limit << 8;
  tracker_.begin(engine::vector);
  if (r.precision != gen::precision::q0) {
    touches(r.codes, r.rows, packed_bytes(r.precision, r.columns), reads);
  }
  touches(r.terms, r.limit, (r.rank + 1) * 2, reads);
  if (r.rank != 0) {
    tracker_.touches(r.basis, r.rank * r.columns * 2, reads);
  }
  if (r.rotate) {
    tracker_.touches(r.rope, r.limit * r.columns * 4, reads);
  }
  tracker_.touches(r.list, r.rows * index_bytes, reads);
  touches(r.d, r.rows, r.columns * 2, writes);
  issue(d, opcode::rebuild);
}

void command_stream::update(const update_operation& u) {
  gen::update_descriptor d;
  d.header.function = static_cast<std::uint8_t>((u.add_state ? gen::update_mode::add_state : 0) |
                                                (u.fresh ? gen::update_mode::fresh : 0));
  d.rows = u.rows;
  d.columns = u.columns;
  d.gate = u.gate;
  d.up = u.up;
  d.sums_stride = u.sums_stride;
  d.state = u.state;
  d.state_rows = u.state_rows;
  d.list = u.list;
  d.scales = u.scales.address;
  d.scale_stride = u.scales.stride;
  d.d = u.d.address;
  d.d_stride = u.d.stride;
  tracker_.begin(engine::vector);
  touches({u.gate, u.sums_stride}, u.rows, u.columns * 4, reads);
  touches({u.up, u.sums_stride}, u.rows, u.columns * 4, reads);
  tracker_.touches(u.state, u.state_rows * u.columns * 4, writes);
  if (u.list != gen::no_list) {
    tracker_.touches(u.list, u.rows * index_bytes, reads);
  }
  touches(u.scales, u.rows, 2, reads);
  touches(u.d, u.rows, u.columns * 2, writes);
  issue(d, opcode::update);
}

void command_stream::sample(gen::sample_descriptor d) {
  tracker_.begin(engine::sampling);
  touches({d.logits, d.logits_stride}, d.rows, d.columns * 4, reads);
  tracker_.touches(d.state, d.rows * static_cast<std::uint32_t>(sizeof(gen::sampling_state)), writes);
  if ((d.header.flags & gen::descriptor_flag::last_chunk) != 0) {
    tracker_.touches(d.result, d.rows * static_cast<std::uint32_t>(sizeof(gen::sample_record)), writes);
  }
  issue(d, opcode::sample);
}

std::uint32_t command_stream::finish() {
  const std::uint32_t index = npu_->next_index();
  gen::vector_descriptor fence;
  fence.header.op = opcode::fence;
  fence.header.flags = gen::descriptor_flag::interrupt;
  fence.header.label = static_cast<std::uint32_t>(gen::operator_label::barrier);
  if (status_ == drivers::npu_code::ok) {
    status_ = npu_->submit(fence);
    npu_->flush();
    tracker_.barrier(index);
  }
  return index;
}

void command_stream::drain() {
  static_cast<void>(wait(finish()));
}

drivers::npu_code command_stream::wait(std::uint32_t index) {
  if (status_ == drivers::npu_code::ok) {
    status_ = npu_->wait_complete(index);
  }
  return status_;
}

}  // namespace dvp::kernels
