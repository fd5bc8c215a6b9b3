// Turns operations of a schedule into descriptors: waits, device addresses, labels, submission.
//
// A schedule states operands and order of issue; what each descriptor waits for follows from the bytes it touches
// (dependencies.h). Nothing here waits for the NPU, except when the ring is full. The first failure sticks: later
// operations do nothing and status() tells, so schedules stay free of error paths.
#pragma once

#include <cstdint>

#include "dvp_gen/descriptor.h"
#include "firmware/drivers/npu.h"
#include "firmware/kernels/address_space.h"
#include "firmware/kernels/dependencies.h"

namespace dvp::kernels {

// Rows in the scratchpad: byte address of row 0 and bytes from row to row.
struct matrix {
  std::uint32_t address = 0;
  std::uint32_t stride = 0;

  // The part that starts at row `row` and `bytes` bytes into it.
  matrix from(std::uint32_t row, std::uint32_t bytes = 0) const { return {address + row * stride + bytes, stride}; }
};

// planes x rows pieces of row_bytes, moved between DRAM and scratchpad.
struct transfer {
  std::uint64_t dram = 0;
  std::uint32_t dram_stride = 0;
  std::uint32_t dram_plane_stride = 0;
  matrix scratchpad;
  std::uint32_t plane_stride = 0;  // of the scratchpad side
  std::uint32_t row_bytes = 0;
  std::uint32_t rows = 1;
  std::uint32_t planes = 1;
  gen::purpose purpose = gen::purpose::other;
  gen::precision precision = gen::precision::raw;
  // Loads and gathers tagged q4 or q2: how the memory narrows the codes; 0: midpoints. row_bytes and the scratchpad
  // strides then count what arrives, the DRAM strides what is stored.
  std::uint8_t view = 0;
  dram_object object = dram_object::nothing;
};

struct product {
  gen::precision precision = gen::precision::q8;  // of w: bf16, q8, q4 or q2
  std::uint32_t tokens = 0;
  std::uint32_t vectors = 0;
  std::uint32_t reduction = 0;
  std::uint32_t group = 0;
  matrix x;       // bf16 [tokens][reduction]
  matrix w;       // [vectors][reduction]
  matrix scales;  // fp16 [vectors][reduction / group], of scaled codes only
  matrix out;     // fp32 [tokens][vectors]
  bool accumulate = false;
  bool unscaled = false;        // codes stand for themselves; group = reduction
  bool half_step = false;       // q4, q2: they stand for the middle of what they were cut from
  bool transposed_x = false;    // x is [reduction][tokens]
  bool transposed_out = false;  // out is [vectors][tokens]
};

struct vector_operation {
  gen::vector_function function = gen::vector_function::add;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  matrix s0;
  matrix s1;
  matrix d;
  matrix e{};  // second destination: encode, difference
  float scalar0 = 0;
  std::uint32_t scalar_int = 0;
  gen::precision precision = gen::precision::bf16;  // transpose_codes: of the codes
  bool accumulate = false;                          // column_max: go on from d
};

// See gen::rebuild_descriptor; addresses in the scratchpad.
struct rebuild_operation {
  gen::precision precision = gen::precision::q8;  // of the codes; q0: there are none
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  matrix codes;
  matrix terms;
  std::uint32_t basis = 0;
  std::uint32_t rope = 0;
  std::uint32_t list = 0;
  matrix d;
  std::uint32_t rank = 0;
  std::uint32_t limit = 0;  // entries of terms and of the rotary table
  bool rotate = false;
  bool halves = false;
  bool half_step = false;
};

// See gen::update_descriptor; addresses in the scratchpad.
struct update_operation {
  std::uint32_t rows = 0;     // channels
  std::uint32_t columns = 0;  // tokens
  std::uint32_t gate = 0;
  std::uint32_t up = 0;
  std::uint32_t sums_stride = 0;
  std::uint32_t state = 0;
  std::uint32_t state_rows = 0;
  std::uint32_t list = gen::no_list;
  matrix scales;
  matrix d;
  bool add_state = false;
  bool fresh = false;
};

// Bytes of main memory copied into the window ahead of the operator that reads them.
struct staged_copy {
  std::uint64_t bus = 0;     // from here, past the window's translation
  std::uint64_t device = 0;  // to here
  std::uint32_t bytes = 0;
  dram_object object = dram_object::nothing;  // what the destination is part of
  gen::purpose purpose = gen::purpose::weights;
  gen::operator_label name = gen::operator_label::none;  // of the reader
  std::uint32_t layer = 0;
};

class command_stream {
 public:
  // The driver has been started; window is the length of its ring, at most dependency_tracker::most_window.
  void start(drivers::npu& npu, std::uint32_t window);

  // The NPU failed: starts it again, forgets everything issued before and that it failed.
  void restart();

  // Label of the operations that follow.
  void label(gen::operator_label name, std::uint32_t layer) { label_ = static_cast<std::uint32_t>(name) | layer << 16; }

  void load(const transfer& t) { move(t, gen::opcode::dma_load, {}); }
  void store(const transfer& t) { move(t, gen::opcode::dma_store, {}); }
  // Rows `list[0..t.rows)` of the table at t.dram, which has table_rows; list: bus address of u32 indices, written by
  // the CPU. One plane.
  void gather(const transfer& t, std::uint64_t list, std::uint32_t table_rows) {
    move(t, gen::opcode::dma_gather, {list, table_rows});
  }
  void multiply(const product& p);
  void apply(const vector_operation& v);
  void rebuild(const rebuild_operation& r);
  void update(const update_operation& u);
  // The caller fills all but the header's op, waits and label; flags hold first_chunk and last_chunk.
  void sample(gen::sample_descriptor descriptor);
  // Labelled on its own.
  void stage(const staged_copy& copy);

  // Ends a forward: a fence that interrupts when everything before it is complete. Shows the NPU all of it.
  // Its index goes to wait().
  [[nodiscard]] std::uint32_t finish();
  [[nodiscard]] drivers::npu_code wait(std::uint32_t index);
  // Shows the NPU everything issued so far.
  void flush() { npu_->flush(); }
  // Waits until everything issued so far is complete; status() tells how it went.
  void drain();
  // Whether descriptor `index` and all before it are complete, as far as a look at the NPU tells.
  bool complete(std::uint32_t index) { return npu_->is_complete(index); }
  // Makes everything from now on do nothing, unless something failed before.
  void fail(drivers::npu_code code);

  drivers::npu_code status() const { return status_; }
  std::uint32_t submitted() const { return npu_->next_index(); }
  std::uint32_t lost_interrupts() const { return npu_->lost_interrupts(); }
  std::uint32_t granule_bytes() const { return tracker_.granule_bytes(); }

  // With an address window: where the NPU finds what schedules name by bus address. Null: at the bus address.
  void look_up_in(address_space* addresses) { addresses_ = addresses; }

 private:
  // Of a gather.
  struct listed_rows {
    std::uint64_t list = 0;
    std::uint32_t table_rows = 0;
  };
  void move(const transfer& t, gen::opcode op, const listed_rows& listed);
  const address_range* locate(std::uint64_t& address, std::uint64_t bytes);
  template <class Descriptor>
  void issue(Descriptor descriptor, gen::opcode op);
  void touches(const matrix& m, std::uint32_t rows, std::uint32_t row_bytes, bool written);

  drivers::npu* npu_ = nullptr;
  std::uint32_t window_ = 0;
  dependency_tracker tracker_;
  address_space* addresses_ = nullptr;
  drivers::npu_code status_ = drivers::npu_code::ok;
  std::uint32_t label_ = 0;
};

}  // namespace dvp::kernels
