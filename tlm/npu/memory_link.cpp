#include "tlm/npu/memory_link.h"

#include <algorithm>
#include <memory>

#include "tlm/npu/decisions.h"

namespace dvp::npu {

using gen::npu::error_code;

namespace {

error_code error_of(const tlm::tlm_generic_payload& payload) {
  if (payload.is_response_ok()) return error_code::none;
  // What a memory says of data that it cannot correct.
  const bool uncorrectable = payload.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE;
  return uncorrectable ? error_code::memory_error : error_code::bus_error;
}

// An access that went out in pieces: its answer is the first error, or the end of the last.
struct joined_answer {
  std::size_t left;
  memory_answer answer;
  memory_link::answer_handler done;

  void add(const memory_answer& piece) {
    if (answer.ok() && !piece.ok()) {
      answer.error = piece.error;
      answer.address = piece.address;
    }
    answer.end = std::max(answer.end, piece.end);
    if (--left == 0) done(answer);
  }
};

}  // namespace

memory_link::~memory_link() {
  for (auto& t : pool_) t.clear_extension(&t.tag);
}

void memory_link::submit(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done) {
  if (access.space == address_space::bus || !window_.is_present()) {
    hand_over({access, access.address}, offset, done);
    return;
  }
  if (access.block.rows != 1) {
    if (is_in_one_place(access)) {
      hand_over({access, window_.map().find(access.address).bus}, offset, done);
    } else {
      submit_rows(access, offset, done);
    }
    return;
  }
  std::uint64_t lost = access.address;
  if (!window_.map().covers(lost, access.stored_bytes())) {
    window_.count_fault();
    done({error_code::window_fault, lost, sc_core::sc_time_stamp() + offset});
    return;
  }
  const window_span span = window_.map().find(access.address);
  if (span.bytes >= access.stored_bytes()) {
    hand_over({access, span.bus}, offset, done);
  } else {
    submit_pieces(access, offset, done);
  }
}

bool memory_link::is_in_one_place(const memory_access& access) const {
  if (access.space == address_space::bus || !window_.is_present()) return true;
  return window_.map().find(access.address).bytes >= access.block.last_offset() + access.stored_bytes();
}

// Row by row: the map may have changed since the caller asked.
void memory_link::submit_rows(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done) {
  const core::row_block& block = access.block;
  const std::size_t row_bytes = access.data.size() / block.rows;
  const sc_core::sc_time due = sc_core::sc_time_stamp() + offset;
  const auto whole =
      std::make_shared<joined_answer>(joined_answer{block.rows, {error_code::none, 0, sc_core::SC_ZERO_TIME}, done});
  for (std::uint32_t row = 0; row < block.rows; ++row) {
    memory_access each = access;
    each.block = {};
    each.address += block.offset(row);
    each.data = access.data.subspan(row * row_bytes, row_bytes);
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    submit(each, std::max(due, now) - now, [whole](const memory_answer& answer) { whole->add(answer); });
  }
}

void memory_link::submit_pieces(const memory_access& access, const sc_core::sc_time& offset,
                                const answer_handler& done) {
  // All of them are translated before the first goes out: a hand-over may wait and the map change meanwhile.
  std::vector<bus_access> pieces;
  for (std::size_t at = 0; at < access.data.size();) {
    const std::uint64_t device = access.address + at * access.stored_per_byte();
    const window_span span = window_.map().find(device);
    const std::size_t bytes = std::min<std::size_t>(span.bytes / access.stored_per_byte(), access.data.size() - at);
    bus_access piece{access, span.bus};
    piece.asked.address = device;
    piece.asked.data = access.data.subspan(at, bytes);
    pieces.push_back(piece);
    at += bytes;
  }
  const sc_core::sc_time due = sc_core::sc_time_stamp() + offset;
  const auto whole =
      std::make_shared<joined_answer>(joined_answer{pieces.size(), {error_code::none, 0, sc_core::SC_ZERO_TIME}, done});
  for (const bus_access& piece : pieces) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    hand_over(piece, std::max(due, now) - now, [whole](const memory_answer& answer) { whole->add(answer); });
  }
}

void memory_link::hand_over(const bus_access& access, const sc_core::sc_time& offset, const answer_handler& done) {
  non_blocking_ ? submit_non_blocking(access, offset, done) : submit_blocking(access, offset, done);
}

memory_link::transaction& memory_link::take(const bus_access& translated, std::span<std::byte> moved) {
  const memory_access& access = translated.asked;
  const bool timing_only = shape_only_ && !carries_decisions(access.purpose);
  if (free_.empty()) {
    transaction& fresh = pool_.emplace_back();
    fresh.set_mm(this);
    fresh.set_extension(&fresh.tag);
    free_.push_back(&fresh);
  }
  transaction& t = *free_.back();
  free_.pop_back();
  ++out_;
  if (timing_only) {
    moved = access.data;  // nobody looks at it
  } else if (non_blocking_) {
    t.copy.resize(access.data.size());
    moved = t.copy;
    if (access.command == tlm::TLM_WRITE_COMMAND) std::copy(access.data.begin(), access.data.end(), moved.begin());
  }
  const auto bytes = static_cast<unsigned int>(moved.size());
  t.tag = core::access_tag(access.precision, access.purpose, 0, access.view);
  t.tag.timing_only = timing_only;
  t.tag.block = access.block;
  t.data = access.data;
  t.asked = access.address;
  t.resets = reset_.pulses();
  t.set_command(access.command);
  t.set_address(translated.bus);
  t.set_data_ptr(reinterpret_cast<unsigned char*>(moved.data()));
  t.set_data_length(bytes);
  t.set_streaming_width(bytes);
  t.set_byte_enable_ptr(nullptr);
  t.set_dmi_allowed(false);
  t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  t.acquire();
  return t;
}

void memory_link::free(tlm::tlm_generic_payload* payload) {
  auto* t = static_cast<transaction*>(payload);
  t->done = nullptr;
  free_.push_back(t);
  --out_;
}

void memory_link::submit_blocking(const bus_access& access, const sc_core::sc_time& offset,
                                  const answer_handler& done) {
  transaction& t = take(access, access.asked.data);
  t.done = done;
  sc_core::sc_time delay = offset;
  socket_->b_transport(t, delay);
  const std::uint64_t resets = t.resets;
  answer(t, sc_core::sc_time_stamp() + delay);
  reset_.check(resets);
}

void memory_link::submit_non_blocking(const bus_access& access, const sc_core::sc_time& offset,
                                      const answer_handler& done) {
  if (offset != sc_core::SC_ZERO_TIME) reset_.wait(offset);
  wait_for_turn();
  transaction& t = take(access, {});
  t.done = done;
  t.acquire();  // in use here until the call is over, even if its answer comes inside
  requesting_ = &t;
  const std::uint64_t mine = ++requests_;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum given = socket_->nb_transport_fw(t, phase, delay);
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (given != tlm::TLM_ACCEPTED) request_is_over(t, at);
  if (given == tlm::TLM_COMPLETED) answer(t, at);
  if (given == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    answer(t, at);
    phase = tlm::END_RESP;
    socket_->nb_transport_fw(t, phase, delay);
  }
  t.release();
  // By number: the payload may be another request's already.
  while (requests_over_ < mine) reset_.wait(turn_);
}

void memory_link::wait_for_turn() {
  for (;;) {
    if (requesting_ != nullptr) {
      reset_.wait(turn_);
    } else if (free_from_ > sc_core::sc_time_stamp()) {
      reset_.wait(free_from_ - sc_core::sc_time_stamp());
    } else {
      return;
    }
  }
}

void memory_link::request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  if (requesting_ != &payload) return;
  requesting_ = nullptr;
  requests_over_ = requests_;
  free_from_ = at;
  turn_.notify();
}

tlm::tlm_sync_enum memory_link::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  request_is_over(payload, at);
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  answer(static_cast<transaction&>(payload), at);
  return tlm::TLM_COMPLETED;
}

void memory_link::answer(transaction& of, const sc_core::sc_time& end) {
  if (of.resets == reset_.pulses()) {
    const bool ok = of.is_response_ok();
    const bool read = of.is_read();
    if (ok && non_blocking_ && read && !of.tag.timing_only) std::copy(of.copy.begin(), of.copy.end(), of.data.begin());
    if (ok) read ? counts_.count_read(of.data.size()) : counts_.count_written(of.data.size());
    of.done({error_of(of), of.asked, end});
  }
  of.release();
}

}  // namespace dvp::npu
