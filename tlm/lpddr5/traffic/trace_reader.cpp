#include "tlm/lpddr5/traffic/trace_reader.h"

#include <algorithm>
#include <array>

namespace dvp::lpddr5 {

namespace {

// Value of a digit, 16 for what is none.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(16);
  for (unsigned i = 0; i < 10; ++i) values['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i) values['a' + i] = values['A' + i] = static_cast<std::uint8_t>(10 + i);
  return values;
}();

constexpr std::int64_t longest_ps = std::int64_t{1} << 60;  // 13 days

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::uint8_t digit(char c) {
  return digit_values[static_cast<unsigned char>(c)];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// What a message shows of a word from a file: printable, and not for long.
std::string shown(const char* begin, const char* end) {
  std::string text;
  for (; begin != end && text.size() < 40; ++begin) text += *begin > ' ' && *begin <= '~' ? *begin : '?';
  return '"' + text + (begin != end ? "...\"" : "\"");
}

template <class Cursor>
void skip_blanks(Cursor& line) {
  while (line.at != line.end && is_blank(*line.at)) ++line.at;
}

// The word at the cursor; it stays there.
template <class Cursor>
Cursor word_at(Cursor line) {
  const char* stop = line.at;
  while (stop != line.end && !is_blank(*stop)) ++stop;
  return {line.at, stop};
}

template <class Cursor>
bool take_word(Cursor& line, std::string_view lower_case) {
  const Cursor word = word_at(line);
  if (static_cast<std::size_t>(word.end - word.at) != lower_case.size()) return false;
  for (std::size_t i = 0; i < lower_case.size(); ++i) {
    if (lower(word.at[i]) != lower_case[i]) return false;
  }
  line.at = word.end;
  skip_blanks(line);
  return true;
}

template <class Cursor>
bool has_hexadecimal_prefix(Cursor line) {
  return line.end - line.at > 2 && line.at[0] == '0' && lower(line.at[1]) == 'x' && digit(line.at[2]) < 16;
}

// Reads digits up to the first character that is none; false when the value does not fit.
template <unsigned Base>
bool take_digits(const char*& at, const char* end, std::uint64_t& value) {
  constexpr std::uint64_t limit = UINT64_MAX / Base;
  value = 0;
  for (; at != end; ++at) {
    const std::uint8_t d = digit(*at);
    if (d >= Base) break;
    if (value >= limit && (value > limit || d > UINT64_MAX - value * Base)) return false;
    value = value * Base + d;
  }
  return true;
}

}  // namespace

std::optional<trace_format> trace_format_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(trace_format_names); ++i) {
    if (trace_format_names[i] == name) return static_cast<trace_format>(i);
  }
  return std::nullopt;
}

trace_reader::trace_reader(const std::string& path, const trace_options& options)
    : trace_reader(line_file(path), options) {}

trace_reader::trace_reader(const std::string& name, std::FILE* file, const trace_options& options)
    : trace_reader(line_file(name, file), options) {}

trace_reader::trace_reader(line_file lines, const trace_options& options)
    : lines_(std::move(lines)),
      options_(options),
      plain_cycles_(UINT64_MAX / options.clock_period_fs),
      format_(options.format ? *options.format : detect()) {}

void trace_reader::refuse(const std::string& why) {
  throw traffic_error(lines_.name() + " line " + std::to_string(lines_.number()) + ": " + why);
}

void trace_reader::refuse(cursor rest, const char* expected) {
  skip_blanks(rest);
  const cursor word = word_at(rest);
  refuse((word.at == word.end ? std::string("ends too soon") : shown(word.at, word.end)) + ": expected " + expected);
}

// The next line that says something, at its first word.
bool trace_reader::next_line(cursor& line) {
  while (lines_.next(line.at, line.end)) {
    skip_blanks(line);
    if (line.at != line.end && *line.at != '#') return true;
  }
  return false;
}

trace_format trace_reader::detect() {
  const std::string& name = lines_.name();
  if (name.ends_with(".stl")) return trace_format::stl;
  if (name.ends_with(".rstl")) return trace_format::rstl;
  cursor line;
  if (!next_line(line)) return trace_format::ramulator;
  const trace_format found = form_of(line);
  lines_.unread();
  return found;
}

trace_format trace_reader::form_of(cursor line) {
  const cursor word = word_at(line);
  const bool prefixed = has_hexadecimal_prefix(word);
  if (digit(*word.at) == 16) return trace_format::ramulator;
  if (!prefixed && word.end[-1] == ':') return trace_format::stl;
  line.at = word.end;
  skip_blanks(line);
  if (line.at != line.end && *line.at == '(') return trace_format::stl;
  if (take_word(line, "r") || take_word(line, "w")) return trace_format::ramulator;
  if (prefixed) return trace_format::dramsim3;
  line.at = word_at(line).end;
  skip_blanks(line);
  if (has_hexadecimal_prefix(line)) return trace_format::stl;
  refuse("its form is that of several traces; say which with --format stl, rstl, ramulator or dramsim3");
}

// A number that ends the word, or is followed by one of ":)," which the caller looks at.
std::uint64_t trace_reader::number(cursor& line, bool hexadecimal, const char* expected) {
  const cursor start = line;
  if (has_hexadecimal_prefix(line)) {
    if (!hexadecimal) refuse(start, expected);
    line.at += 2;
  }
  const char* first = line.at;
  std::uint64_t value = 0;
  if (!(hexadecimal ? take_digits<16>(line.at, line.end, value) : take_digits<10>(line.at, line.end, value))) {
    refuse(start, "a number below 2^64");
  }
  const bool ended = line.at == line.end || is_blank(*line.at) || *line.at == ':' || *line.at == ')' || *line.at == ',';
  if (line.at == first || !ended) refuse(start, expected);
  return value;
}

void trace_reader::end_of_line(cursor line) {
  skip_blanks(line);
  if (line.at != line.end && *line.at != '#') refuse(line, "the end of the line");
}

std::int64_t trace_reader::time_of(std::uint64_t cycle) {
  const std::uint64_t period = options_.clock_period_fs;
  if (cycle <= plain_cycles_) return static_cast<std::int64_t>(cycle * period / 1000);
  __extension__ using wide = unsigned __int128;
  const wide ps = static_cast<wide>(cycle) * period / 1000;
  if (ps > static_cast<wide>(longest_ps)) refuse("cycle " + std::to_string(cycle) + " is more than 13 days away");
  return static_cast<std::int64_t>(ps);
}

void trace_reader::set_address(traffic_request& request, std::uint64_t address) {
  const auto hexadecimal = [](std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
  if (address < options_.address_offset) {
    refuse("address " + hexadecimal(address) + " is below the offset " + hexadecimal(options_.address_offset));
  }
  request.address = address - options_.address_offset;
  const std::uint64_t room = options_.memory_bytes;
  if (room != 0 && (request.bytes > room || request.address > room - request.bytes)) {
    refuse("address " + hexadecimal(address) + ": the memory has only " + std::to_string(room) + " bytes");
  }
}

void trace_reader::read_dramsys(cursor line, traffic_request& request) {
  request.time_ps = time_of(number(line, false, "a cycle"));
  request.timing = format_ == trace_format::stl ? request_timing::absolute : request_timing::after_previous;
  if (line.at != line.end && *line.at == ':') ++line.at;
  skip_blanks(line);
  request.bytes = options_.request_bytes;
  if (line.at != line.end && *line.at == '(') {
    const cursor word = line;
    ++line.at;
    request.bytes = number(line, false, "a number of bytes such as (64)");
    if (line.at == line.end || *line.at != ')' || request.bytes == 0) refuse(word, "a number of bytes such as (64)");
    ++line.at;
    skip_blanks(line);
  }
  if (take_word(line, "read")) {
    request.write = false;
  } else if (take_word(line, "write")) {
    request.write = true;
  } else {
    refuse(line, "read or write");
  }
  set_address(request, number(line, true, "an address"));
}

std::uint64_t trace_reader::vector_address(cursor word, cursor line) {
  if (options_.mapping == nullptr) refuse(line, "an address; address vectors need a memory configuration");
  const organisation& shape = *options_.shape;
  static constexpr const char* names[] = {"channel", "rank", "bank group", "bank", "row", "burst"};
  const std::uint32_t sizes[] = {options_.mapping->channels(), shape.ranks, shape.bank_groups,
                                 shape.banks_per_group,        shape.rows,  shape.bursts_per_row()};
  std::uint32_t values[std::size(sizes)];
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const std::uint64_t value = number(word, false, "channel,rank,group,bank,row,burst");
    if (value >= sizes[i]) {
      refuse(shown(line.at, word_at(line).end) + ": " + names[i] + " " + std::to_string(value) + " is not one of " +
             std::to_string(sizes[i]));
    }
    values[i] = static_cast<std::uint32_t>(value);
    const bool last = i + 1 == std::size(sizes);
    if (last ? word.at != word.end : word.at == word.end || *word.at != ',') {
      refuse(line, "six numbers: channel,rank,group,bank,row,burst");
    }
    if (!last) ++word.at;
  }
  return options_.mapping->encode({.channel = values[0],
                                   .rank = values[1],
                                   .bank_group = values[2],
                                   .bank = values[3],
                                   .row = values[4],
                                   .column = values[5] * shape.burst_length});
}

void trace_reader::read_ramulator(cursor line, traffic_request& request) {
  request.timing = request_timing::at_once;
  request.time_ps = 0;
  request.bytes = options_.request_bytes;
  const auto direction = [&](bool& write) {
    if (take_word(line, "ld") || take_word(line, "r")) return write = false, true;
    if (take_word(line, "st") || take_word(line, "w")) return write = true, true;
    return false;
  };
  const bool first = direction(request.write);
  if (!first && digit(*line.at) == 16) refuse(line, "LD, ST, R or W");
  const cursor word = word_at(line);
  const bool is_vector = std::find(word.at, word.end, ',') != word.end;
  std::uint64_t address = 0;
  if (is_vector) {
    address = vector_address(word, line);
    line.at = word.end;
  } else {
    const cursor start = line;
    address = number(line, has_hexadecimal_prefix(line), "an address, decimal or with 0x");
    if (line.at != word.end) refuse(start, "an address, decimal or with 0x");
  }
  skip_blanks(line);
  if (!first && !direction(request.write)) refuse(line, "R or W");
  end_of_line(line);
  set_address(request, is_vector ? address + options_.address_offset : address);
}

void trace_reader::read_dramsim3(cursor line, traffic_request& request) {
  const cursor start = line;
  const std::uint64_t address = number(line, true, "an address");
  if (line.at != line.end && !is_blank(*line.at)) refuse(start, "an address");
  skip_blanks(line);
  if (take_word(line, "read") || take_word(line, "p_mem_rd") || take_word(line, "p_fetch")) {
    request.write = false;
  } else if (take_word(line, "write") || take_word(line, "p_mem_wr") || take_word(line, "boff")) {
    request.write = true;
  } else {
    refuse(line, "READ or WRITE");
  }
  request.timing = request_timing::absolute;
  request.time_ps = time_of(number(line, false, "a cycle"));
  end_of_line(line);
  request.bytes = options_.request_bytes;
  set_address(request, address);
}

bool trace_reader::next(traffic_request& request) {
  cursor line;
  if (!next_line(line)) return false;
  request.precision = 8;
  request.tagged = false;
  switch (format_) {
    case trace_format::stl:
    case trace_format::rstl:
      read_dramsys(line, request);
      break;
    case trace_format::ramulator:
      read_ramulator(line, request);
      break;
    case trace_format::dramsim3:
      read_dramsim3(line, request);
      break;
  }
  return true;
}

}  // namespace dvp::lpddr5
