// Every rule of the specification, each broken once in an otherwise good copy of it: the program must leave with code
// 2, name file and key, say what is wrong, and write nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "testbenches/gen/scratch_spec.h"

namespace dvp::testbenches {
namespace {

struct bad_spec {
  const char* what;
  const char* file;
  const char* patch;   // JSON patch
  const char* key;     // where the message points
  const char* phrase;  // what it says there
};

class bad_spec_test : public testing::TestWithParam<bad_spec> {};

TEST_P(bad_spec_test, is_refused_with_file_and_key) {
  const bad_spec& item = GetParam();
  const scratch_spec scratch;
  scratch.patch(item.file, item.patch);
  const run_result result = scratch.generate();
  EXPECT_EQ(result.exit_code, 2) << result.output;
  const std::string place =
      (scratch.spec() / item.file).string() + ": " + (*item.key ? item.key + std::string(": ") : "");
  EXPECT_EQ(result.output.rfind(place, 0), 0U) << "the message does not start with '" << place << "':\n"
                                               << result.output;
  EXPECT_NE(result.output.find(item.phrase, place.size()), std::string::npos) << "'" << item.phrase << "' is not in:\n"
                                                                              << result.output;
  EXPECT_NE(result.output.find("; ", place.size()), std::string::npos) << "no remedy in:\n" << result.output;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << "more than a line:\n" << result.output;
  EXPECT_FALSE(std::filesystem::exists(scratch.out()));
}

// registers: 0 id, 1 capability, 2 scratchpad_size, 3 scratchpad_banks, 4 accumulator, 5 control, 6 status,
// 7 irq_status, 8 irq_enable. register_arrays: 0 queue (registers 0 base_lo to 8 error_index), 1 counters.
const std::vector<bad_spec> bad_blocks{
    {"unknown_key", "blocks/npu.json", R"([{"op":"add","path":"/registers/5/ofset","value":"0x20"}])",
     "registers[control]", "unknown key 'ofset'; did you mean 'offset'?"},
    {"unknown_key_at_top", "blocks/npu.json", R"([{"op":"move","from":"/title","path":"/titel"}])", "",
     "unknown key 'titel'; did you mean 'title'?"},
    {"missing_key", "blocks/npu.json", R"([{"op":"remove","path":"/registers/5/offset"}])", "registers[control]",
     "the key 'offset' is missing"},
    {"wrong_type", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/doc","value":7}])",
     "registers[control].doc", "7 is not valid here; expected a sentence"},
    {"bad_number", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/offset","value":"20h"}])",
     "registers[control].offset", "\"20h\" is not valid here; expected a whole number"},
    {"negative_number", "blocks/npu.json", R"([{"op":"replace","path":"/window_bytes","value":-4096}])", "window_bytes",
     "-4096 is not valid here"},
    {"bad_access", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/access","value":"rwx"}])",
     "registers[control].access", "expected an access mode"},
    {"bad_name", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/name","value":"Control"}])",
     "registers[Control].name", "expected a name: lower-case"},
    {"keyword", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/name","value":"register"}])",
     "registers[register].name", "is a keyword"},
    {"double_underscore", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/name","value":"con__trol"}])",
     "registers[con__trol].name", "double underscore"},
    {"name_of_generated_code", "blocks/npu.json",
     R"([{"op":"replace","path":"/registers/5/fields/0/name","value":"offset"}])",
     "registers[control].fields[offset].name", "the generated code uses itself"},
    {"no_fields", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/fields","value":[]}])",
     "registers[control].fields", "the list is empty"},
    {"file_name", "blocks/npu.json", R"([{"op":"replace","path":"/name","value":"gpu"}])", "name",
     "'gpu' is not the name of the file"},
    {"schema", "blocks/npu.json", R"([{"op":"replace","path":"/$schema","value":"../schemas/blok.schema.json"}])",
     "$schema", "did you mean '../schemas/block.schema.json'?"},
    {"registers_overlap", "blocks/npu.json", R"([{"op":"replace","path":"/registers/6/offset","value":"0x020"}])",
     "registers[status].offset", "'status' at 0x20 overlaps 'control'"},
    {"array_overlaps_register", "blocks/npu.json", R"([{"op":"replace","path":"/registers/8/offset","value":"0x144"}])",
     "register_arrays[queue].registers[base_hi].offset", "'queue[1].base_hi' at 0x144 overlaps 'irq_enable'"},
    {"register_misaligned", "blocks/npu.json", R"([{"op":"replace","path":"/registers/6/offset","value":"0x026"}])",
     "registers[status].offset", "0x26 is not a multiple of 4"},
    {"register_twice", "blocks/npu.json", R"([{"op":"replace","path":"/registers/6/name","value":"control"}])",
     "registers[control].name", "the name 'control' is taken"},
    {"joined_name_twice", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/name","value":"queue_size"}])",
     "register_arrays[queue].registers[size].name", "the name 'queue_size' is taken"},
    {"field_named_like_strobe", "blocks/npu.json",
     R"([{"op":"replace","path":"/registers/5/fields/0/name","value":"write"}])", "registers[control].name",
     "the name 'control_write' is taken"},
    {"fields_overlap", "blocks/npu.json", R"([{"op":"replace","path":"/registers/1/fields/1/bits","value":"15:7"}])",
     "registers[capability].fields[columns].bits", "overlaps field 'rows'"},
    {"field_outside", "blocks/npu.json", R"([{"op":"replace","path":"/registers/1/fields/2/bits","value":"32:31"}])",
     "registers[capability].fields[queues].bits", "outside the 32 bits"},
    {"field_reversed", "blocks/npu.json", R"([{"op":"replace","path":"/registers/1/fields/2/bits","value":"16:19"}])",
     "registers[capability].fields[queues].bits", "low bit first"},
    {"field_access", "blocks/npu.json", R"([{"op":"add","path":"/registers/6/fields/0/access","value":"w1c"}])",
     "registers[status].fields[busy].access", "differs from that of its register"},
    {"reset_of_undefined_bits", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/reset","value":"0x5"}])",
     "registers[control].reset", "sets bits that belong to no field (0x4)"},
    {"reset_too_large", "blocks/npu.json", R"([{"op":"replace","path":"/registers/5/reset","value":"0x1_0000_0000"}])",
     "registers[control].reset", "is too large"},
    {"reset_missing", "blocks/npu.json", R"([{"op":"remove","path":"/registers/5/reset"}])", "registers[control]",
     "no reset value"},
    {"reset_of_hardware", "blocks/npu.json", R"([{"op":"add","path":"/registers/6/reset","value":"0x0"}])",
     "registers[status].reset", "has no stored value"},
    {"hardware_with_bits_to_clear", "blocks/npu.json",
     R"([{"op":"replace","path":"/registers/6/access","value":"w1c"}])", "registers[status].access",
     "a hardware register has a value to read"},
    {"hardware_field_to_set", "blocks/uart.json",
     R"([{"op":"add","path":"/registers/6/fields/0/access","value":"w1s"}])", "registers[div].fields",
     "a field of a hardware register is stored nowhere"},
    {"field_named_like_read_strobe", "blocks/uart.json",
     R"([{"op":"replace","path":"/registers/6/fields/0/name","value":"read"}])", "registers[div].name",
     "the name 'div_read' is taken"},
    {"pair_of_far_registers", "blocks/clint.json",
     R"([{"op":"replace","path":"/registers/1/offset","value":"0xc000"}])", "registers[mtime_lo].pair",
     "'mtime_hi' is not the next register"},
    {"pair_misnamed", "blocks/clint.json", R"([{"op":"replace","path":"/registers/0/pair","value":"mtime_high"}])",
     "registers[mtime_lo].pair", "'mtime_high' is not the next register"},
    {"pair_of_unlike_registers", "blocks/clint.json", R"([{"op":"replace","path":"/registers/1/access","value":"ro"}])",
     "registers[mtime_lo].pair", "'mtime_hi' does not behave as 'mtime_lo' does"},
    {"pair_without_high_half", "blocks/clint.json", R"([{"op":"add","path":"/registers/1/pair","value":"mtime_lo"}])",
     "registers[mtime_lo].pair", "only the low one a pair"},
    {"pair_misaligned", "blocks/clint.json",
     R"([{"op":"replace","path":"/register_arrays/1/offset","value":"0x4004"}])",
     "register_arrays[mtimecmp].registers[lo].pair", "not at a multiple of 8"},
    {"pair_misaligned_in_later_elements", "blocks/clint.json",
     R"([{"op":"replace","path":"/register_arrays/1/stride","value":"0xc"}])",
     "register_arrays[mtimecmp].registers[lo].pair", "not at a multiple of 8"},
    {"no_compatible_name", "blocks/uart.json", R"([{"op":"replace","path":"/compatible","value":[]}])", "compatible",
     "the list is empty"},
    {"compatible_of_odd_characters", "blocks/uart.json",
     R"([{"op":"replace","path":"/compatible/0","value":"sifive uart"}])", "compatible[0]",
     "expected a name as device trees write it"},
    {"window_too_small", "blocks/npu.json", R"([{"op":"replace","path":"/window_bytes","value":512}])",
     "register_arrays[counters].registers[value_lo].offset", "outside the window of 512 bytes"},
    {"window_no_power_of_two", "blocks/npu.json", R"([{"op":"replace","path":"/window_bytes","value":4100}])",
     "window_bytes", "not a power of two"},
    {"stride_too_small", "blocks/npu.json", R"([{"op":"replace","path":"/register_arrays/0/stride","value":"0x20"}])",
     "register_arrays[queue].stride", "0x20 is too small for register 'error_index' at 0x20"},
    {"stride_misaligned", "blocks/npu.json", R"([{"op":"replace","path":"/register_arrays/0/stride","value":"0x42"}])",
     "register_arrays[queue].stride", "0x42 is not a multiple of 4"},
    {"array_count", "blocks/npu.json", R"([{"op":"replace","path":"/register_arrays/0/count","value":0}])",
     "register_arrays[queue].count", "0 is not valid here"},
    {"unknown_enum", "blocks/npu.json",
     R"([{"op":"replace","path":"/register_arrays/0/registers/7/fields/0/enum","value":"error_cod"}])",
     "register_arrays[queue].registers[error].fields[code].enum", "did you mean 'error_code'?"},
    {"enum_too_wide", "blocks/npu.json",
     R"([{"op":"replace","path":"/register_arrays/0/registers/7/fields/0/bits","value":"1:0"}])",
     "register_arrays[queue].registers[error].fields[code].enum", "does not fit in 2 bits"},
    {"enum_value_twice", "blocks/npu.json", R"([{"op":"replace","path":"/enums/0/values/2/value","value":1}])",
     "enums[error_code].values[bad_operand].value", "1 is the value of 'bad_opcode' already"},
};

const std::vector<bad_spec> bad_records{
    {"unknown_type", "formats/request.json",
     R"([{"op":"replace","path":"/records/0/fields/1/type","value":"decode_lop"}])",
     "records[request_record].fields[loop].type", "did you mean 'decode_loop'?"},
    {"field_named_like_type", "formats/request.json",
     R"([{"op":"replace","path":"/records/0/fields/1/name","value":"decode_loop"}])",
     "records[request_record].fields[decode_loop].name", "is the name of a type"},
    {"flags_as_type", "formats/request.json",
     R"([{"op":"replace","path":"/records/0/fields/2/type","value":"request_flag"}])",
     "records[request_record].fields[flags].type", "is a set of flags"},
    {"wrong_size", "formats/descriptor.json", R"([{"op":"replace","path":"/records/9/bytes","value":24}])",
     "records[completion_record].bytes", "states 24 bytes but its fields take 16"},
    {"misaligned", "formats/request.json", R"([{"op":"remove","path":"/records/0/fields/2"}])",
     "records[request_record].fields[image_address]", "starts at byte 6 but its type is aligned to 8"},
    {"size_no_multiple_of_alignment", "formats/image.json",
     R"([{"op":"replace","path":"/records/1/fields/9/count","value":1},
         {"op":"replace","path":"/records/1/bytes","value":44}])",
     "records[tensor_entry].bytes", "not a multiple of the record's alignment, 8"},
    {"flag_of_two_bits", "formats/image.json", R"([{"op":"replace","path":"/enums/1/values/0/value","value":3}])",
     "enums[image_flag].values[shift_logits].value", "3 is not a single bit"},
    {"value_beyond_type", "formats/descriptor.json",
     R"([{"op":"replace","path":"/enums/0/values/6/value","value":256}])", "enums[opcode].values[sample].value",
     "256 is too large"},
    {"name_in_two_files", "formats/request.json",
     R"([{"op":"replace","path":"/records/2/name","value":"sample_record"}])", "records[sample_record].name",
     "taken by"},
    {"constant_too_large", "formats/request.json",
     R"([{"op":"replace","path":"/constants/0/value","value":4294967296}])", "constants[request_version].value",
     "4294967296 is too large"},
    {"underlying_type", "formats/request.json", R"([{"op":"replace","path":"/enums/0/type","value":"u64"}])",
     "enums[decode_loop].type", "expected the underlying type"},
    {"float_widths", "formats/numbers.json", R"([{"op":"replace","path":"/floats/0/mantissa_bits","value":8}])",
     "floats[bf16].bits", "are not 16 bits"},
    {"not_a_nan", "formats/numbers.json", R"([{"op":"replace","path":"/floats/0/canonical_nan","value":"0x7f80"}])",
     "floats[bf16].canonical_nan", "0x7f80 is not a NaN"},
};

const std::vector<bad_spec> bad_platforms{
    {"array_rows", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/rows","value":12}])", "rows",
     "12 is not a size the array can have"},
    {"array_columns", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/columns","value":256}])", "columns",
     "use a power of two from 2 to 128"},
    {"lane_bits", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/lane_bits","value":12}])", "lane_bits",
     "use 8 or 16"},
    {"no_accumulator", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/accumulator_vectors","value":0}])",
     "accumulator_vectors", "0 vectors"},
    {"accumulator_smaller_than_a_beat", "arrays/ref_16x16.json",
     R"([{"op":"replace","path":"/accumulator_vectors","value":3}])", "accumulator_vectors",
     "a packed beat holds 4 vectors and the accumulator only 3"},
    {"accumulator_bits", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/accumulator_bits","value":24}])",
     "accumulator_bits", "sums of 24 bits would not have the bits of the models"},
    {"no_adder_stage", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/adder_stages","value":0}])", "adder_stages",
     "an addition cannot take 0 cycles"},
    {"many_adder_stages", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/adder_stages","value":4}])",
     "adder_stages", "use 1 to 3"},
    {"packing_as_number", "arrays/edge_8x8.json", R"([{"op":"replace","path":"/packing","value":4}])", "packing",
     "4 is not valid here; expected true (beats of"},
    {"double_buffered_missing", "arrays/edge_8x8.json", R"([{"op":"remove","path":"/double_buffered"}])", "",
     "the key 'double_buffered' is missing"},
    {"back_pressure_of_no_kind", "arrays/edge_8x8.json",
     R"([{"op":"replace","path":"/back_pressure","value":"elastic"}])", "back_pressure",
     "expected what an untaken result does"},
    {"windows_overlap", "system/reference.json", R"([{"op":"replace","path":"/devices/5/base","value":"0x1000_0000"}])",
     "devices[npu].base", "overlaps 'mailbox'"},
    {"device_in_memory", "system/reference.json",
     R"([{"op":"replace","path":"/devices/5/base","value":"0x8000_0000"}])", "memories[firmware].base",
     "overlaps 'npu'"},
    {"device_misaligned", "system/reference.json",
     R"([{"op":"replace","path":"/devices/5/base","value":"0x2000_0800"}])", "devices[npu].base",
     "not a multiple of the block's window"},
    {"interrupt_twice", "system/reference.json", R"([{"op":"replace","path":"/devices/3/interrupt","value":1}])",
     "devices[npu].interrupt", "interrupt 1 belongs to 'mailbox'"},
    {"beyond_address_bits", "system/reference.json", R"([{"op":"replace","path":"/address_bits","value":31}])",
     "memories[firmware].base", "does not fit in 31 address bits"},
    {"unknown_block", "system/reference.json", R"([{"op":"replace","path":"/devices/5/block","value":"npo"}])",
     "devices[npu].block", "did you mean 'npu'?"},
    {"interrupt_beyond_the_controller", "system/reference.json",
     R"([{"op":"replace","path":"/devices/5/interrupt","value":32}])", "devices[npu].interrupt",
     "the interrupt controller has 31 sources; use 1 to 31"},
    {"interrupt_without_controller", "system/reference.json", R"([{"op":"remove","path":"/devices/2"}])",
     "devices[mailbox].interrupt", "add a device compatible with riscv,plic0"},
    {"two_controllers", "system/reference.json",
     R"([{"op":"replace","path":"/devices/2/base","value":"0x0c40_0000"},
         {"op":"add","path":"/devices/3","value":{"name":"aplic","block":"plic","base":"0x0c00_0000","doc":""}}])",
     "devices[aplic].block", "a device compatible with riscv,plic0 already"},
    {"more_harts_than_timers", "system/reference.json", R"([{"op":"replace","path":"/most_harts","value":5}])",
     "most_harts", "'clint' serves 4 harts only"},
    {"no_harts", "system/reference.json", R"([{"op":"replace","path":"/most_harts","value":0}])", "most_harts",
     "0 is not valid here"},
    {"clock_of_no_rate", "system/reference.json", R"([{"op":"replace","path":"/devices/4/clock_hz","value":0}])",
     "devices[uart].clock_hz", "expected a frequency in Hz"},
    {"memory_of_no_kind", "system/reference.json", R"([{"op":"replace","path":"/memories/2/kind","value":"flash"}])",
     "memories[boot_rom].kind", "expected what it is"},
    {"empty_memory", "system/reference.json", R"([{"op":"replace","path":"/memories/0/bytes","value":0}])",
     "memories[firmware].bytes", "the memory is empty"},
};

std::string test_name(const testing::TestParamInfo<bad_spec>& info) {
  return info.param.what;
}
const std::vector<bad_spec> bad_drams{
    {"no_source", "dram/lpddr5_6400.json", R"([{"op":"remove","path":"/values/0/source"}])", "values[RL]",
     "the key 'source' is missing"},
    {"source_of_no_kind", "dram/lpddr5_6400.json",
     R"([{"op":"replace","path":"/values/0/source","value":"a data sheet"}])", "values[RL].source",
     "expected where the value comes from"},
    {"unknown_command", "dram/lpddr5.json", R"([{"op":"replace","path":"/rules/0/later/0","value":"ACTIVATE"}])",
     "rules[0].later[0]", "expected a command"},
    {"two_ways", "dram/lpddr5.json", R"([{"op":"add","path":"/values/0/ck","value":15}])", "values[RCD]",
     "exactly one of ck, ns and expression"},
    {"no_way", "dram/lpddr5_6400.json", R"([{"op":"remove","path":"/values/0/ck"}])", "values[RL]",
     "exactly one of ck, ns and expression"},
    {"least_clocks_of_clocks", "dram/lpddr5_6400.json", R"([{"op":"add","path":"/values/0/min_ck","value":3}])",
     "values[RL].min_ck", "belongs to ns only"},
    {"value_twice", "dram/lpddr5_6400.json", R"([{"op":"replace","path":"/values/1/name","value":"RL"}])",
     "values[RL].name", "'RL' is given twice"},
    {"negative_clocks", "dram/lpddr5_6400.json", R"([{"op":"replace","path":"/values/0/ck","value":-17}])",
     "values[RL].ck", "-17 is not valid here"},
    {"latency_missing", "dram/lpddr5_6400.json", R"([{"op":"remove","path":"/values/0"}])", "values",
     "the speed lacks RL"},
    {"standard_unknown", "dram/lpddr5_6400.json", R"([{"op":"replace","path":"/of","value":"lpddr6"}])", "of",
     "there is no standard 'lpddr6'; did you mean 'lpddr5'?"},
    {"window_of_bank", "dram/lpddr5.json", R"([{"op":"add","path":"/rules/0/window","value":4}])", "rules[0]",
     "rank and channel only"},
    {"mode_twice", "dram/lpddr5.json", R"([{"op":"replace","path":"/bank_modes/1/name","value":"BG"}])",
     "bank_modes[BG]", "bank mode BG is described twice"},
    {"rates_reversed", "dram/lpddr5.json", R"([{"op":"replace","path":"/bank_modes/0/highest_rate","value":100}])",
     "bank_modes[BG].lowest_rate", "above the highest"},
    {"unknown_key_of_a_value", "dram/lpddr5.json",
     R"([{"op":"move","from":"/values/0/min_ck","path":"/values/0/min_clk"}])", "values[RCD]",
     "unknown key 'min_clk'; did you mean 'min_ck'?"}};

INSTANTIATE_TEST_SUITE_P(drams, bad_spec_test, testing::ValuesIn(bad_drams), test_name);
INSTANTIATE_TEST_SUITE_P(blocks, bad_spec_test, testing::ValuesIn(bad_blocks), test_name);
INSTANTIATE_TEST_SUITE_P(records, bad_spec_test, testing::ValuesIn(bad_records), test_name);
INSTANTIATE_TEST_SUITE_P(platforms, bad_spec_test, testing::ValuesIn(bad_platforms), test_name);

// Faults of the text itself.
TEST(bad_text_test, syntax_error_names_file_and_line) {
  const scratch_spec scratch;
  scratch.replace("arrays/edge_8x8.json", "\"rows\": 8,", "\"rows\": 8");
  const run_result result = scratch.generate();
  EXPECT_EQ(result.exit_code, 2);
  // The fault shows at the key after the missing comma, on line 6.
  EXPECT_EQ(result.output.rfind((scratch.spec() / "arrays/edge_8x8.json").string() + ":6: ", 0), 0U) << result.output;
  EXPECT_FALSE(std::filesystem::exists(scratch.out()));
}

TEST(bad_text_test, key_that_appears_twice_is_refused) {
  const scratch_spec scratch;
  scratch.replace("arrays/edge_8x8.json", "\"rows\": 8,", "\"rows\": 8, \"rows\": 16,");
  const run_result result = scratch.generate();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.output.find("edge_8x8.json: rows: the key appears twice"), std::string::npos) << result.output;
  EXPECT_FALSE(std::filesystem::exists(scratch.out()));
}

TEST(bad_text_test, unknown_folder_and_stray_file_are_refused) {
  const scratch_spec scratch;
  write_text(scratch.spec() / "blocks/npu.yaml", "name: npu\n");
  EXPECT_NE(scratch.generate().output.find("npu.yaml: this is not a specification file"), std::string::npos);
  std::filesystem::remove(scratch.spec() / "blocks/npu.yaml");
  write_text(scratch.spec() / "block/npu.json", "{}");
  const run_result result = scratch.generate();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.output.find("folder 'block' is not part of a specification"), std::string::npos) << result.output;
  EXPECT_FALSE(std::filesystem::exists(scratch.out()));
}

TEST(bad_text_test, second_system_map_and_missing_parts_are_refused) {
  const scratch_spec scratch;
  std::filesystem::copy(scratch.spec() / "system/reference.json", scratch.spec() / "system/second.json");
  scratch.replace("system/second.json", "\"reference\"", "\"second\"");
  EXPECT_NE(scratch.generate().output.find("there is a system map already"), std::string::npos);
  std::filesystem::remove(scratch.spec() / "system/second.json");
  std::filesystem::remove(scratch.spec() / "system/reference.json");
  const run_result result = scratch.generate();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.output.find("the specification has no system map"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace dvp::testbenches
