#include "tlm/loader/elf.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tlm/loader/elf_format.h"
#include "tlm/loader/load_error.h"

namespace dvp::loader {

namespace {

constexpr std::size_t longest_name = 512;
// Each reference back into a mangled name may double what is spelt out; so many do no harm.
constexpr std::ptrdiff_t most_back_references = 16;

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Bounds-checked looks at the file.
class view {
 public:
  view(const std::string& name, std::span<const std::byte> bytes) : name_(name), bytes_(bytes) {}

  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) const {
    throw load_error(name_, "", problem, remedy);
  }

  // [offset, offset + length) of the file; `what` is for the message.
  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t length, const std::string& what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) {
      refuse(what + " is " + grouped(length) + " bytes at offset " + hexadecimal(offset) + " but the file has " +
                 grouped(bytes_.size()) + " bytes",
             "it may have been cut off; build or copy it again");
    }
    return bytes_.subspan(offset, length);
  }

  template <class Record>
  Record record(std::uint64_t offset, const std::string& what) const {
    Record value;
    std::memcpy(&value, part(offset, sizeof value, what).data(), sizeof value);
    return value;
  }

  // Record number `index` of a table that was checked to lie in the file.
  template <class Record>
  static Record entry(std::span<const std::byte> table, std::size_t index) {
    Record value;
    std::memcpy(&value, table.data() + index * sizeof value, sizeof value);
    return value;
  }

 private:
  const std::string& name_;
  std::span<const std::byte> bytes_;
};

const char* type_name(std::uint16_t type) {
  switch (type) {
    case elf::type_object:
      return "an object file";
    case elf::type_shared:
      return "position-independent";
    case elf::type_core:
      return "a core dump";
    default:
      return "no executable";
  }
}

void check_kind(const view& file, const elf::header& h) {
  if (std::memcmp(h.magic,
                  "\x7f"
                  "ELF",
                  sizeof h.magic) != 0) {
    file.refuse("is not an ELF file", "give an executable for RV64 bare metal");
  }
  if (h.file_class != elf::class_64) file.refuse("is no 64-bit ELF file", "compile it with -march=rv64gc");
  if (h.encoding != elf::little_endian) file.refuse("is not little-endian", "compile it for little-endian RV64");
  if (h.machine != elf::machine_riscv) {
    file.refuse("is for machine " + std::to_string(h.machine) + " and RISC-V is " + std::to_string(elf::machine_riscv),
                "compile it with riscv64-unknown-elf-gcc");
  }
  if (h.ident_version != elf::current_version || h.version != elf::current_version) {
    file.refuse("is of ELF version " + std::to_string(h.version) + " and only version 1 is known");
  }
  if (h.type != elf::type_executable) {
    file.refuse(std::string("is ") + type_name(h.type) + " (type " + std::to_string(h.type) + ")",
                "link an executable with fixed addresses: -static -no-pie and a linker script");
  }
  if ((h.flags & elf::flag_embedded) != 0) {
    file.refuse("is compiled for RV64E with 16 registers", "compile it with -mabi=lp64d or lp64");
  }
  if ((h.flags & elf::flag_float_abi) == elf::float_abi_quad) {
    file.refuse("uses quad-precision floating point, which the hart lacks", "compile it with -mabi=lp64d or lp64");
  }
  if ((h.flags & ~std::uint32_t{elf::known_flags}) != 0) {
    file.refuse("has flags " + hexadecimal(h.flags) + " of which only " + hexadecimal(elf::known_flags) + " are known");
  }
  if (h.header_bytes != sizeof(elf::header)) {
    file.refuse("has a header of " + std::to_string(h.header_bytes) + " bytes and ELF64's is 64");
  }
}

std::vector<elf_segment> read_segments(const view& file, const elf::header& h) {
  if (h.program_header_count == 0) file.refuse("has no program headers", "link it; nothing says what to load");
  if (h.program_header_bytes != sizeof(elf::program_header)) {
    file.refuse("has program headers of " + std::to_string(h.program_header_bytes) + " bytes and ELF64's are 56");
  }
  const auto table = file.part(h.program_headers, std::uint64_t{h.program_header_count} * sizeof(elf::program_header),
                               "the table of program headers");
  std::vector<elf_segment> segments;
  for (std::size_t i = 0; i < h.program_header_count; ++i) {
    const auto p = view::entry<elf::program_header>(table, i);
    if (p.type == elf::segment_interpreter) {
      file.refuse("wants a dynamic linker", "link it with -static; there is no operating system");
    }
    if (p.type != elf::segment_load || p.memory_bytes == 0) continue;
    const std::string what = "segment " + std::to_string(i);
    if (p.file_bytes > p.memory_bytes) {
      file.refuse(what + " has " + grouped(p.file_bytes) + " bytes for the " + grouped(p.memory_bytes) +
                  " it takes in memory");
    }
    if (p.physical_address > UINT64_MAX - (p.memory_bytes - 1)) {
      file.refuse(what + " at " + hexadecimal(p.physical_address) + " reaches beyond the end of the address space");
    }
    segments.push_back({.address = p.physical_address,
                        .data = file.part(p.offset, p.file_bytes, what),
                        .memory_bytes = p.memory_bytes,
                        .offset = p.offset,
                        .writable = (p.flags & elf::segment_writable) != 0,
                        .executable = (p.flags & elf::segment_executable) != 0});
  }
  if (segments.empty()) file.refuse("has nothing to load", "link it with a linker script that places .text in memory");
  std::sort(segments.begin(), segments.end(),
            [](const elf_segment& a, const elf_segment& b) { return a.address < b.address; });
  for (std::size_t i = 1; i < segments.size(); ++i) {
    if (segments[i].address <= segments[i - 1].last()) {
      file.refuse("segments at " + hexadecimal(segments[i - 1].address) + " and " + hexadecimal(segments[i].address) +
                  " overlap");
    }
  }
  return segments;
}

void check_entry(const view& file, std::uint64_t entry, const std::vector<elf_segment>& segments) {
  const bool inside = std::any_of(segments.begin(), segments.end(), [&](const elf_segment& s) {
    return s.executable && entry >= s.address && entry - s.address < s.data.size();
  });
  if (!inside) {
    file.refuse("has its entry " + hexadecimal(entry) + " outside every executable segment",
                "name a function with ENTRY() in the linker script");
  }
  if (entry % 2 != 0) file.refuse("has an odd entry " + hexadecimal(entry));
}

std::string readable_name(std::string_view mangled) {
  std::string name(mangled.substr(0, longest_name));
  const bool modest =
      mangled.size() <= longest_name &&
      std::count(name.begin(), name.end(), 'S') + std::count(name.begin(), name.end(), 'T') <= most_back_references;
  if (!modest || !name.starts_with("_Z")) return printable(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  if (plain == nullptr || std::strlen(plain.get()) > longest_name) return printable(name);
  return plain.get();
}

// Compilers mark code and data within a section by "$x" and "$d", and leave some labels of their own.
bool is_internal(std::string_view name) {
  return name.empty() || name.starts_with('$') || name.starts_with(".L");
}

class symbol_reader {
 public:
  symbol_reader(const view& file, const elf::header& h) : file_(file) {
    if (h.section_headers == 0) return;
    if (h.section_header_bytes != sizeof(elf::section_header)) {
      file.refuse("has section headers of " + std::to_string(h.section_header_bytes) + " bytes and ELF64's are 64");
    }
    const auto table = file.part(h.section_headers, std::uint64_t{h.section_header_count} * sizeof(elf::section_header),
                                 "the table of section headers");
    for (std::size_t i = 0; i < h.section_header_count; ++i) {
      sections_.push_back(view::entry<elf::section_header>(table, i));
    }
  }

  std::vector<elf_symbol> read() const {
    std::vector<elf_symbol> symbols;
    const auto is_table = [](const elf::section_header& s) { return s.type == elf::section_symbols; };
    const auto table = std::find_if(sections_.begin(), sections_.end(), is_table);
    if (table == sections_.end()) return symbols;
    if (std::any_of(std::next(table), sections_.end(), is_table)) {
      file_.refuse("has two symbol tables and ELF allows one");
    }
    add(*table, symbols);
    return symbols;
  }

 private:
  void add(const elf::section_header& section, std::vector<elf_symbol>& symbols) const {
    if (section.entry_bytes != sizeof(elf::symbol) || section.bytes % sizeof(elf::symbol) != 0) {
      file_.refuse("has symbols of " + std::to_string(section.entry_bytes) + " bytes and ELF64's are 24");
    }
    const auto table = file_.part(section.offset, section.bytes, "the symbol table");
    if (section.link >= sections_.size() || sections_[section.link].type != elf::section_strings) {
      file_.refuse("has a symbol table without names: section " + std::to_string(section.link) + " is no string table");
    }
    const auto& names = sections_[section.link];
    const auto text = file_.part(names.offset, names.bytes, "the table of symbol names");
    if (text.empty() || text.back() != std::byte{0}) file_.refuse("has a table of symbol names without an end");
    const std::string_view all(reinterpret_cast<const char*>(text.data()), text.size());

    for (std::size_t i = 0; i < section.bytes / sizeof(elf::symbol); ++i) {
      const auto s = view::entry<elf::symbol>(table, i);
      if (s.name >= all.size()) {
        file_.refuse("symbol " + std::to_string(i) + " has its name at " + std::to_string(s.name) +
                     ", beyond the names");
      }
      // Of a longer name no more is looked at: many symbols may share one as long as the file.
      const std::string_view start = all.substr(s.name, longest_name + 1);
      const std::string_view name = start.substr(0, start.find('\0'));
      const bool placed = s.section != elf::section_undefined && s.section < elf::first_reserved_section;
      if (!placed || is_internal(name)) continue;
      if (s.section >= sections_.size()) {
        file_.refuse("symbol " + std::to_string(i) + " is in section " + std::to_string(s.section) + " of " +
                     std::to_string(sections_.size()));
      }
      const auto kind = static_cast<std::uint8_t>(s.info & 15);
      if (kind > elf::symbol_function) continue;
      const bool in_code = (sections_[s.section].flags & elf::section_flag_code) != 0;
      const bool function = kind == elf::symbol_function || (kind == elf::symbol_plain && in_code);
      symbols.push_back({s.value, s.bytes, readable_name(name), function});
    }
  }

  const view& file_;
  std::vector<elf::section_header> sections_;
};

}  // namespace

elf_file elf_file::open(const std::string& path) {
  auto map = std::make_shared<const file_map>(path);
  elf_file file(path, map->bytes());
  file.map_ = std::move(map);
  return file;
}

elf_file::elf_file(std::string name, std::span<const std::byte> bytes) : name_(std::move(name)) {
  const view file(name_, bytes);
  const auto h = file.record<elf::header>(0, "an ELF header");
  check_kind(file, h);
  entry_ = h.entry;
  segments_ = read_segments(file, h);
  check_entry(file, entry_, segments_);
  symbols_ = symbol_reader(file, h).read();
}

}  // namespace dvp::loader
