// Executables for RV64: what is read of a good one, and that every wrong one is refused with one sentence.
#include "tlm/loader/elf.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <random>

#include "testbenches/unit/loader/elf_writer.h"
#include "testbenches/unit/loader/fuzz/exercise_elf.h"
#include "tlm/loader/load_error.h"

namespace dvp::loader {
namespace {

using testbenches::elf_writer;

// The message of the load_error, or "accepted". The buffer is exactly as long as the file, so that an address
// sanitizer sees the first byte too far.
std::string outcome(const elf_writer::bytes& bytes) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    const elf_file file("x.elf", {exact.get(), bytes.size()});
    return "accepted";
  } catch (const load_error& error) {
    return error.what();
  }
}

TEST(elf, a_good_file_gives_entry_segments_and_symbols) {
  const elf_writer writer;
  const auto bytes = writer.build();
  const elf_file file("x.elf", bytes);
  EXPECT_EQ(file.entry(), elf_writer::text + 4);
  ASSERT_EQ(file.segments().size(), 2U);
  const elf_segment& code = file.segments()[0];
  const elf_segment& data = file.segments()[1];
  EXPECT_EQ(code.address, elf_writer::text);
  EXPECT_EQ(code.memory_bytes, elf_writer::text_bytes);
  EXPECT_TRUE(code.executable && !code.writable);
  EXPECT_EQ(data.address, elf_writer::data);
  EXPECT_EQ(data.last(), elf_writer::data + elf_writer::data_memory - 1);
  EXPECT_TRUE(data.writable && !data.executable);
  ASSERT_EQ(data.data.size(), elf_writer::data_bytes);
  EXPECT_EQ(std::to_integer<int>(data.data[3]), int{elf_writer::text_bytes} + 3);

  ASSERT_EQ(file.symbols().size(), 4U);
  EXPECT_EQ(file.symbols()[0].name, "main");
  EXPECT_EQ(file.symbols()[0].bytes, 8U);
  EXPECT_EQ(file.symbols()[1].name, "dvp::apps::serve(unsigned long)");
  EXPECT_EQ(file.symbols()[2].name, "counter");
  EXPECT_FALSE(file.symbols()[2].function);
  EXPECT_EQ(file.symbols()[3].name, "label");
  EXPECT_TRUE(file.symbols()[3].function);
}

TEST(elf, a_stripped_file_has_no_symbols) {
  elf_writer writer;
  writer.put64(elf_writer::shoff, 0);
  const auto bytes = writer.build();
  EXPECT_TRUE(elf_file("x.elf", bytes).symbols().empty());
}

TEST(elf, segments_come_by_address) {
  elf_writer writer;
  writer.put64(writer.of_program(1, elf_writer::p_paddr), 0x1000);
  const auto bytes = writer.build();
  EXPECT_EQ(elf_file("x.elf", bytes).segments()[0].address, 0x1000U);
}

struct spoiled {
  const char* name;
  std::function<void(elf_writer&)> spoil;
  const char* phrase;
};

TEST(elf, wrong_files_are_refused_with_one_sentence) {
  using w = elf_writer;
  const spoiled table[] = {
      {"magic", [](w& f) { f.put8(1, 'F'); }, "is not an ELF file"},
      {"32 bit", [](w& f) { f.put8(w::file_class, 1); }, "no 64-bit ELF"},
      {"big endian", [](w& f) { f.put8(w::encoding, 2); }, "not little-endian"},
      {"x86-64", [](w& f) { f.put16(w::machine, 62); }, "machine 62 and RISC-V is 243"},
      {"version", [](w& f) { f.put32(w::version, 2); }, "version 2"},
      {"object", [](w& f) { f.put16(w::type, 1); }, "an object file"},
      {"PIE", [](w& f) { f.put16(w::type, 3); }, "position-independent"},
      {"core", [](w& f) { f.put16(w::type, 4); }, "a core dump"},
      {"RV64E", [](w& f) { f.put32(w::flags, 9); }, "RV64E"},
      {"quad", [](w& f) { f.put32(w::flags, 7); }, "quad-precision"},
      {"flags", [](w& f) { f.put32(w::flags, 0x105); }, "flags 0x105"},
      {"ehsize", [](w& f) { f.put16(w::ehsize, 52); }, "header of 52 bytes"},
      {"no phdrs", [](w& f) { f.put16(w::phnum, 0); }, "no program headers"},
      {"phentsize", [](w& f) { f.put16(w::phentsize, 32); }, "program headers of 32 bytes"},
      {"many phdrs", [](w& f) { f.put16(w::phnum, 0xffff); }, "table of program headers"},
      {"phoff", [](w& f) { f.put64(w::phoff, UINT64_MAX - 8); }, "table of program headers"},
      {"offset", [](w& f) { f.put64(f.of_program(0, w::p_offset), UINT64_MAX); }, "segment 0 is"},
      {"filesz",
       [](w& f) { f.put64(f.of_program(1, w::p_filesz), 1 << 20), f.put64(f.of_program(1, w::p_memsz), 1 << 20); },
       "segment 1 is 1,048,576 bytes"},
      {"memsz", [](w& f) { f.put64(f.of_program(0, w::p_memsz), 31); }, "32 bytes for the 31"},
      {"wraps", [](w& f) { f.put64(f.of_program(1, w::p_paddr), UINT64_MAX - 62); }, "end of the address space"},
      {"huge", [](w& f) { f.put64(f.of_program(1, w::p_memsz), UINT64_MAX); }, "end of the address space"},
      {"overlap", [](w& f) { f.put64(f.of_program(1, w::p_paddr), w::text + 31); }, "overlap"},
      {"hidden overlap", [](w& f) { f.put64(f.of_program(0, w::p_memsz), 0x1001); }, "overlap"},
      {"nothing", [](w& f) { f.put32(f.of_program(0, w::p_type), 4), f.put32(f.of_program(1, w::p_type), 4); },
       "nothing to load"},
      {"dynamic", [](w& f) { f.put32(f.of_program(1, w::p_type), 3); }, "dynamic linker"},
      {"entry outside", [](w& f) { f.put64(w::entry, 0); }, "entry 0x0 outside"},
      {"entry in data", [](w& f) { f.put64(w::entry, w::data); }, "entry 0x80001000 outside"},
      {"entry behind the code", [](w& f) { f.put64(w::entry, w::text + 32); }, "outside"},
      {"odd entry", [](w& f) { f.put64(w::entry, w::text + 1); }, "odd entry"},
      {"shoff", [](w& f) { f.put64(w::shoff, UINT64_MAX); }, "table of section headers"},
      {"shnum", [](w& f) { f.put16(w::shnum, 0xfff0); }, "table of section headers"},
      {"shentsize", [](w& f) { f.put16(w::shentsize, 40); }, "section headers of 40 bytes"},
      {"symbol size", [](w& f) { f.put64(f.of_section(2, w::sh_entsize), 0); }, "symbols of 0 bytes"},
      {"symbols", [](w& f) { f.put64(f.of_section(2, w::sh_size), 24ULL << 40); }, "the symbol table"},
      {"link", [](w& f) { f.put32(f.of_section(2, w::sh_link), 9); }, "section 9 is no string table"},
      {"names kind", [](w& f) { f.put32(f.of_section(3, w::sh_type), 1); }, "section 3 is no string table"},
      {"names", [](w& f) { f.put64(f.of_section(3, w::sh_size), 1 << 20); }, "symbol names"},
      {"names end", [](w& f) { f.put64(f.of_section(3, w::sh_size), 3); }, "without an end"},
      {"name", [](w& f) { f.put32(f.of_symbol(1), 5000); }, "symbol 1 has its name at 5000"},
      {"two tables", [](w& f) { f.put32(f.of_section(1, w::sh_type), 2); }, "two symbol tables"},
      {"section", [](w& f) { f.put16(f.of_symbol(1) + 6, 77); }, "symbol 1 is in section 77 of 4"},
  };
  ASSERT_EQ(outcome(elf_writer().build()), "accepted");
  for (const auto& row : table) {
    elf_writer writer;
    row.spoil(writer);
    const std::string message = outcome(writer.build());
    EXPECT_NE(message.find(row.phrase), std::string::npos)
        << row.name << "\n  said:     " << message << "\n  expected: " << row.phrase;
    EXPECT_EQ(message.rfind("x.elf: ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 300U) << message;
  }
}

TEST(elf, a_file_cut_anywhere_is_refused) {
  const auto whole = elf_writer().build();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string message = outcome({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_NE(message.find("cut off"), std::string::npos) << "cut at " << length << ": " << message;
  }
}

TEST(elf, names_from_strangers_stay_short_and_on_one_line) {
  elf_writer writer;
  writer.put(writer.of_names() + 1, "a\nb\x1b");
  const auto bytes = writer.build();
  EXPECT_EQ(elf_file("x.elf", bytes).symbols()[0].name, "a\\x0ab\\x1b");
}

// A name as long as the file that every symbol shares: seconds when each is read to its end, milliseconds otherwise.
TEST(elf, a_long_name_is_not_read_to_its_end_for_every_symbol) {
  constexpr std::size_t count = 20'000, name_bytes = 4 << 20;
  using w = elf_writer;
  w writer;
  const std::size_t symbols = writer.build().size(), names = symbols + count * w::symbol_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = symbols + i * w::symbol_bytes;
    writer.put32(at, 1), writer.put8(at + 4, 16 | 2), writer.put16(at + 6, 1), writer.put64(at + 8, w::text);
  }
  writer.put8(names, 0);
  writer.put(names + 1, std::string(name_bytes, 'n'));
  writer.put8(names + 1 + name_bytes, 0);
  writer.put64(writer.of_section(2, w::sh_offset), symbols);
  writer.put64(writer.of_section(2, w::sh_size), count * w::symbol_bytes);
  writer.put64(writer.of_section(3, w::sh_offset), names);
  writer.put64(writer.of_section(3, w::sh_size), name_bytes + 2);
  const auto bytes = writer.build();
  const auto begin = std::chrono::steady_clock::now();
  const elf_file file("x.elf", bytes);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(file.symbols().size(), count);
  EXPECT_LT(file.symbols().back().name.size(), 600U);
  EXPECT_LT(taken.count(), 1.0) << "80 gigabytes looked at?";
}

TEST(elf, random_changes_never_break_a_promise) {
  constexpr std::uint64_t seed = 20;
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 random(seed);
  const auto whole = elf_writer().build();
  std::size_t accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    auto bytes = whole;
    for (auto changes = 1 + random() % 4; changes != 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    accepted += testbenches::exercise_elf(bytes) ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000U);
  EXPECT_LT(accepted, 99000U);
}

}  // namespace
}  // namespace dvp::loader
