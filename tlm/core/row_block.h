// Several rows of equal length in one access: what a DMA reads of a matrix, or copies.
//
// The rows' data follow one another in the payload. In memory row i is at the payload's address plus offset(i). Moving
// a block is moving its rows one after another; its time is the memory's, which may know what so regular an access
// costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tlm>

namespace dvp::core {

struct row_block {
  std::uint32_t rows = 1;    // 1 or more
  std::uint64_t stride = 0;  // stored bytes from one row to the next
  // Numbers of `rows` rows, the caller's until the memory has taken the request; null: 0, 1, 2, ...
  const std::uint32_t* list = nullptr;

  std::uint64_t offset(std::uint32_t row) const {
    return stride * (list == nullptr ? std::uint64_t{row} : std::uint64_t{list[row]});
  }
  // Of the row farthest behind the address.
  std::uint64_t last_offset() const {
    return list == nullptr ? offset(rows - 1) : stride * std::uint64_t{*std::max_element(list, list + rows)};
  }
  friend bool operator==(const row_block&, const row_block&) = default;
};

// Calls visit(payload) for every row with the payload made the row's, until it gives false; the payload is as before
// afterwards. False when visit gave it. A payload without an access tag, or with one row, is its only row.
// The data length is a multiple of the number of rows.
template <typename Visit>
bool for_each_row(tlm::tlm_generic_payload& payload, const row_block& block, Visit visit) {
  if (block.rows == 1) return visit(payload);
  const std::uint64_t address = payload.get_address();
  unsigned char* data = payload.get_data_ptr();
  const unsigned int length = payload.get_data_length();
  const unsigned int width = payload.get_streaming_width();
  const unsigned int row_length = length / block.rows;
  payload.set_data_length(row_length);
  payload.set_streaming_width(row_length);
  bool going = true;
  for (std::uint32_t row = 0; going && row < block.rows; ++row) {
    payload.set_address(address + block.offset(row));
    payload.set_data_ptr(data == nullptr ? nullptr : data + std::size_t{row} * row_length);
    going = visit(payload);
  }
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(length);
  payload.set_streaming_width(width);
  return going;
}

// How a memory answers the block: TLM_BURST_ERROR_RESPONSE when its rows do not share its data, or it streams; else the
// first answer of `check`, one row's, that is not TLM_OK_RESPONSE. Of rows at a stride the first and the last are
// asked.
template <typename Check>
tlm::tlm_response_status check_rows(tlm::tlm_generic_payload& payload, const row_block& block, Check check) {
  const unsigned int length = payload.get_data_length();
  if (block.rows != 1 && (block.rows == 0 || length % block.rows != 0 || payload.get_streaming_width() < length)) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const bool wraps = block.stride >> 32 != 0;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  const auto is_fine = [&](tlm::tlm_generic_payload& row) {
    status = check(row);
    return status == tlm::TLM_OK_RESPONSE;
  };
  if (block.rows > 2 && block.list == nullptr && !wraps) {
    const row_block ends{2, block.stride * (block.rows - 1)};
    payload.set_data_length(length / block.rows * 2);
    for_each_row(payload, ends, is_fine);
    payload.set_data_length(length);
  } else {
    for_each_row(payload, block, is_fine);
  }
  return status;
}

}  // namespace dvp::core
