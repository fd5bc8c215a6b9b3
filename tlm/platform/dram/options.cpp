#include "tlm/platform/dram/options.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "tlm/platform/command_line.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

po::options_description description() {
  po::options_description options("dllm-vp dram [CONFIG]: plays traffic into an LPDDR5 memory and shows what it cost",
                                  110);
  const auto text = [] { return po::value<std::string>(); };
  // clang-format off
  options.add_options()
    ("config,c", text(), "memory: shipped name, JSON file, or DRAMSys simulation file (default lpddr5-6400-x16)")
    ("set", po::value<std::vector<std::string>>()->composing(), "override one value of the configuration: path=value")
    ("list", "name the shipped configurations, patterns and trace forms")
    ("trace,t", text(), "trace file to play; - reads the standard input")
    ("format", text(), "form of the trace: stl, rstl, ramulator, dramsim3 (default: by extension or first line)")
    ("clock-mhz", text(), "clock that the trace counts (default: the memory's CK)")
    ("generate,g", text(), "pattern to play: stream, random, strided, gemm, mixed (default stream)")
    ("requests,n", text(), "how many requests, e.g. 250k, 1M (default 1M, all of a trace or GEMM)")
    ("request-bytes", text(), "bytes of a request (default: one burst; 256 for mixed, 4096 with --mode stream)")
    ("reads", text(), "share of reads, 0 to 1 (default 1)")
    ("first", text(), "first address (default 0)")
    ("range", text(), "bytes of the address range, e.g. 64MiB (default: the whole memory)")
    ("stride", text(), "strided: bytes from request to request (default 4096)")
    ("gemm", text(), "gemm: M,N,K (default 64,1024,1024)")
    ("tile", text(), "gemm: N,K of the tile that stays in the array (default 64,64)")
    ("element-bytes", text(), "gemm: bytes of an element (default 1)")
    ("run", text(), "mixed: elements between changes of precision (default 1024)")
    ("shares", text(), "mixed: shares of the precisions (default q8=1,q4=1,q2=1,q0=1)")
    ("interval-ns", text(), "at most one request in so many nanoseconds (default: as fast as accepted)")
    ("outstanding", text(), "most requests on their way at a time, per source (default: no limit)")
    ("seed,s", text(), "of the random generator (default 1)")
    ("mode", text(), "cycle, or stream: long sequential reads are served in one step (default: as the configuration says)")
    ("check", "judge every command with the independent checker (default up to 2M requests)")
    ("no-check", "do not")
    ("out,o", text(), "folder for stats.json, latency.csv and summary.txt, or golden.json")
    ("commands", "also write every command in DRAMPower's CSV form, a file per channel")
    ("timeline", "also write timeline.json: rows, data bus, refreshes")
    ("timeline-commands", text(), "commands shown there (default the first 100k)")
    ("golden", "run the table of published and computed figures instead, and compare (takes --quiet and --out)")
    ("quiet,q", "print the bandwidth and the speed only; with --golden the count only")
    ("help,h", "this text");
  // clang-format on
  return options;
}

[[noreturn]] void refuse(const char* option, const std::string& text, const std::string& takes) {
  throw usage_error(std::string("--") + option + " " + text + ": takes " + takes);
}

// A whole number with an optional suffix: k, M, G are thousands, Ki, Mi, Gi (also KiB ...) powers of 1024.
std::optional<std::uint64_t> scaled(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const auto [stop, error] = std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  if (suffix.ends_with('B')) suffix.remove_suffix(1);
  if (suffix.empty()) return value;
  const std::size_t power = std::string_view("kMG").find(suffix[0] == 'K' ? 'k' : suffix[0]);
  if (power == std::string_view::npos || suffix.size() > 2 || (suffix.size() == 2 && suffix[1] != 'i')) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i <= power; ++i) {
    const std::uint64_t factor = suffix.size() == 2 ? 1024 : 1000;
    if (value > UINT64_MAX / factor) return std::nullopt;
    value *= factor;
  }
  return value;
}

class reader {
 public:
  explicit reader(const po::variables_map& given) : given_(given) {}

  bool has(const char* option) const { return given_.count(option) != 0; }
  const std::string& text(const char* option) const { return given_[option].as<std::string>(); }

  void read(const char* option, std::string& value) const {
    if (has(option)) value = text(option);
  }
  // `Value` is a number of 64 bits, or an optional one.
  template <class Value>
  void count(const char* option, Value& value, std::uint64_t least, std::uint64_t most, const char* takes) const {
    if (!has(option)) return;
    const auto number = scaled(text(option));
    if (!number || *number < least || *number > most) refuse(option, text(option), takes);
    value = *number;
  }
  template <class Value>
  void real(const char* option, Value& value, double least, double most, const char* takes) const {
    if (has(option)) value = real_of(option, text(option), least, most, takes);
  }
  static double real_of(const char* option, const std::string& text, double least, double most, const char* takes) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
    if (!whole || number < least || number > most) refuse(option, text, takes);
    return number;
  }
  std::vector<std::string> list(const char* option, std::size_t size, const char* takes) const {
    std::vector<std::string> parts;
    std::istringstream in(text(option));
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    if (size != 0 && parts.size() != size) refuse(option, text(option), takes);
    return parts;
  }

 private:
  const po::variables_map& given_;
};

constexpr const char* whole = "a whole number from 1, e.g. 250k or 1M";
constexpr const char* bytes = "a number of bytes, e.g. 32, 4096 or 64MiB";

void read_gemm(const reader& given, lpddr5::gemm_shape& shape) {
  const auto sizes = [&](const char* option, const char* takes, std::vector<std::uint64_t*> into) {
    if (!given.has(option)) return;
    const auto parts = given.list(option, into.size(), takes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto number = scaled(parts[i]);
      if (!number || *number == 0 || *number > 1U << 20) refuse(option, given.text(option), takes);
      *into[i] = *number;
    }
  };
  sizes("gemm", "M,N,K, each from 1 to 1048576", {&shape.m, &shape.n, &shape.k});
  sizes("tile", "N,K, each from 1 to 1048576", {&shape.tile_n, &shape.tile_k});
  given.count("element-bytes", shape.element_bytes, 1, 8, "1 to 8");
}

void read_shares(const reader& given, lpddr5::generator_options& options) {
  if (!given.has("shares")) return;
  constexpr const char* takes = "shares such as q8=2,q4=1 of q8, q4, q2 and q0";
  options.share_q8 = options.share_q4 = options.share_q2 = options.share_q0 = 0;
  for (const auto& part : given.list("shares", 0, takes)) {
    const std::string name = part.substr(0, part.find('='));
    double* share = name == "q8"   ? &options.share_q8
                    : name == "q4" ? &options.share_q4
                    : name == "q2" ? &options.share_q2
                    : name == "q0" ? &options.share_q0
                                   : nullptr;
    if (share == nullptr || name.size() == part.size()) refuse("shares", given.text("shares"), takes);
    *share = reader::real_of("shares", part.substr(name.size() + 1), 0, 1e9, takes);
  }
}

// An option that nothing reads is a mistake the user should hear of.
void refuse_idle_options(const reader& given, const dram_options& o) {
  const auto needs = [&](std::initializer_list<const char*> options, bool met, const char* what) {
    for (const char* option : options) {
      if (given.has(option) && !met) throw usage_error(std::string("--") + option + ": has no effect " + what);
    }
  };
  using lpddr5::pattern;
  const auto is = [&](pattern p) { return o.generate == p; };
  const bool plain = !is(pattern::gemm) && !is(pattern::mixed);
  const bool from_trace = !o.trace.empty();
  needs({"generate"}, !from_trace, "together with --trace");
  needs({"format", "clock-mhz"}, from_trace, "without --trace");
  needs({"first", "range", "interval-ns", "seed"}, !from_trace, "together with --trace");
  needs({"reads"}, !from_trace && plain, "on traces, gemm and mixed, which decide it themselves");
  needs({"stride"}, is(pattern::strided), "without --generate strided");
  needs({"gemm", "tile", "element-bytes"}, is(pattern::gemm), "without --generate gemm");
  needs({"run", "shares"}, is(pattern::mixed), "without --generate mixed");
  needs({"commands", "timeline"}, !o.out.empty(), "without --out");
  needs({"timeline-commands"}, o.timeline, "without --timeline");
  needs({"check"}, o.check == check_choice::on, "together with --no-check");
}

}  // namespace

std::string dram_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 done; 1 the checker found a violation, a golden figure is off, or the output could\n"
          "not be written; 2 wrong usage, configuration or trace.\n";
  return text.str();
}

dram_options parse_dram_options(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("config", 1);
  const auto map = parse_command_line(arguments, description(), positional, "dllm-vp dram");
  const reader given(map);

  dram_options o;
  o.help = given.has("help");
  if (o.help) return o;
  o.list = given.has("list");
  o.golden = given.has("golden");
  o.quiet = given.has("quiet");
  o.commands = given.has("commands");
  o.timeline = given.has("timeline");
  if (given.has("check")) o.check = check_choice::on;
  if (given.has("no-check")) o.check = check_choice::off;
  given.read("config", o.config);
  if (given.has("set")) o.overrides = map["set"].as<std::vector<std::string>>();
  given.read("trace", o.trace);
  given.read("out", o.out);
  if (given.has("format")) {
    o.format = lpddr5::trace_format_named(given.text("format"));
    if (!o.format) refuse("format", given.text("format"), "stl, rstl, ramulator or dramsim3");
  }
  if (given.has("generate")) {
    for (std::size_t i = 0; i < std::size(lpddr5::pattern_names); ++i) {
      if (given.text("generate") == lpddr5::pattern_names[i]) o.generate = static_cast<lpddr5::pattern>(i);
    }
    if (!o.generate) refuse("generate", given.text("generate"), "stream, random, strided, gemm or mixed");
  }
  if (given.has("mode")) {
    o.stream_mode = given.text("mode") == "stream";
    if (!*o.stream_mode && given.text("mode") != "cycle") refuse("mode", given.text("mode"), "cycle or stream");
  }
  given.real("clock-mhz", o.clock_mhz, 0.001, 100'000, "a number of MHz from 0.001 to 100000");
  given.count("requests", o.requests, 1, UINT64_MAX, whole);
  given.count("request-bytes", o.request_bytes, 1, std::uint64_t{1} << 30, bytes);
  given.count("outstanding", o.outstanding, 1, 1U << 20, "a whole number from 1 to 1Mi");
  given.count("timeline-commands", o.timeline_commands, 1, UINT64_MAX, whole);
  given.real("reads", o.generator.reads, 0, 1, "a share from 0 to 1");
  given.count("first", o.generator.first_address, 0, UINT64_MAX, "an address");
  given.count("range", o.generator.range_bytes, 1, UINT64_MAX, bytes);
  given.count("stride", o.generator.stride_bytes, 1, UINT64_MAX, bytes);
  given.count("run", o.generator.run_elements, 1, UINT64_MAX, whole);
  given.count("seed", o.generator.seed, 0, UINT64_MAX, "a whole number from 0");
  double interval_ns = 0;
  given.real("interval-ns", interval_ns, 0.001, 1e9, "a number of nanoseconds from 0.001 to 1e9");
  o.generator.interval_fs = static_cast<std::uint64_t>(std::llround(interval_ns * 1e6));
  read_gemm(given, o.generator.gemm);
  read_shares(given, o.generator);
  for (const char* alone : {"golden", "list"}) {
    if (!given.has(alone)) continue;
    for (const auto& option : map) {
      const bool both = given.has("golden") && !given.has("list") && (option.first == "quiet" || option.first == "out");
      if (option.first != alone && !both)
        throw usage_error("--" + option.first + ": has no effect together with --" + alone);
    }
  }
  refuse_idle_options(given, o);
  return o;
}

}  // namespace dvp::platform
