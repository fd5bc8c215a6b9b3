// Stage 2: JSON values to typed objects, or an error that names file and key.
#pragma once

#include <vector>

#include "gen/npugen/model.h"
#include "gen/npugen/names.h"
#include "gen/npugen/node.h"
#include "gen/npugen/parse.h"

namespace dvp::npugen {

// Each file must have passed its JSON Schema (schema.h). Checks what a schema cannot say: every name unique in its
// scope and no keyword, no overlap of registers, fields, records or windows, every number in its range, every reference
// resolved. Throws spec_error at the first fault.
specification validate(const std::vector<source_file>& files);

// The parts, one per kind of file. `globals` are the names in namespace dvp::gen.
block validate_block(const node& file, name_scope& globals);
record_file validate_records(const node& file, name_scope& globals);
number_formats validate_numbers(const node& file);
array_config validate_array(const node& file);
system_map validate_system(const node& file, const std::vector<block>& blocks);
dram_file validate_dram_standard(const node& file);
dram_file validate_dram_speed(const node& file, const std::vector<node>& standards);

// Shared by them.
enumeration validate_enumeration(const node& item, std::uint32_t bits);
std::vector<constant> validate_constants(const node& file, name_scope& scope);

}  // namespace dvp::npugen
