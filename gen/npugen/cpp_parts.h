// Pieces that several C++ headers share.
#pragma once

#include <string>
#include <vector>

#include "gen/npugen/model.h"
#include "gen/npugen/render.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {

// Banner, #pragma once and includes of a header; `text` is the comment that says what the header is.
text_file begin_header(const std::vector<std::string>& sources, const std::string& text,
                       const std::vector<std::string>& includes);

// An enum class with name_of(), or for flags a namespace of constants.
void cpp_enumeration(text_file& out, const enumeration& item);
void cpp_constant(text_file& out, const constant& item);
std::string cpp_unsigned(std::uint32_t bits);  // "std::uint16_t"
std::string cpp_access(access_mode mode);      // "access::rw"

rendered_file cpp_bit_field();
rendered_file cpp_register_table();
rendered_file cpp_block_registers(const block& item);
rendered_file cpp_block_bank(const block& item);
rendered_file cpp_records(const record_file& file);
rendered_file cpp_numbers(const number_formats& numbers);
rendered_file cpp_system(const system_map& system);
rendered_file cpp_arrays(const std::vector<array_config>& arrays);
rendered_file cpp_dram(const specification& spec);

}  // namespace dvp::npugen
