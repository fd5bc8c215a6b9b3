// Address mappings out of JSON.
#pragma once

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/engine/address_mapping.h"

namespace dvp::lpddr5 {

// DRAMSys's "addressmapping" object: BYTE_BIT or BURST_BIT, COLUMN_BIT, BANK_BIT, BANKGROUP_BIT, ROW_BIT, RANK_BIT,
// CHANNEL_BIT; each a list of address bits, or of lists whose bits are XORed. Also the older forms: "XOR": [{"FIRST",
// "SECOND"}], where address bit FIRST becomes FIRST xor SECOND, and everything inside "CONGEN".
mapping_bits read_address_mapping(const core::json_object& json, const organisation& shape);

// Ours: {"order", "interleave_bytes", "xor_banks"} or {"bits": {DRAMSys's keys}}.
mapping_bits read_mapping(const core::json_object& json, const organisation& shape, std::uint32_t channels);
mapping_bits default_mapping(const organisation& shape, std::uint32_t channels);

}  // namespace dvp::lpddr5
