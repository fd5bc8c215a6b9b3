// Many requests on one simulated platform, each with faults that differ, and what became of every fault.
//
//   fault_campaign [--injections N] [--seed S] [--retries R] [--config fixed|reference] [--model llada|qwen2]
//                  [--set PATH=VALUE ...] [--json F]
//
// A model of two small layers answers the same prompt again and again. The first request goes without a fault: its
// answer is the right one, and its accesses and interrupts are what faults are drawn from, uniformly. Every later
// request gets one fault, or, one in eight, three close to each other (row `several`), so that a fault meets the driver
// in every state: submitting, waiting, starting again. With decode.row_tile=1 a forward is longer than the command
// ring, so faults also come while the driver waits for room in it. What must hold, else the exit code is 1:
//   - the answer is the right one, or the request ends with the result code that belongs to the fault;
//   - what stops the NPU is noticed, unless it hits a copy into the address window that nobody needs any more;
//   - with retries, one fault never ends a request; three do not either when there are three retries;
//   - only ecc_silent may leave a wrong answer; these are counted apart. Revisions that no forward waits for land
//   sooner
//     or later as time goes, and what a fault does to time then makes another answer right: counted apart too;
//   - a request takes a bounded simulated time, and the simulation ends because all are answered.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/loader/tiny_model.h"
#include "tlm/platform/array_seats.h"
#include "tlm/platform/config.h"
#include "tlm/platform/session.h"
#include "tlm/platform/simulate.h"
#include "tlm/uart/console_none.h"

namespace dvp {
namespace {

using faults::event_class;
using faults::fault;
using faults::fault_kind;
using gen::result_code;

constexpr std::uint32_t watchdog_us = 1000;

struct campaign_options {
  std::uint32_t injections = 500;
  std::uint64_t seed = 1;
  std::uint32_t retries = 0;
  std::string config = "fixed";
  std::string model = "llada";
  std::vector<std::string> overrides;
  std::string json;
};

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why + "; fault_campaign.cpp says what it takes");
}

campaign_options options_of(int argc, char* argv[]) {
  campaign_options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--injections") {
      o.injections = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "--seed") {
      o.seed = std::stoull(value);
    } else if (name == "--retries") {
      o.retries = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "--set") {
      o.overrides.push_back(value);
    } else if (name == "--config") {
      o.config = value;
    } else if (name == "--model") {
      o.model = value;
    } else if (name == "--json") {
      o.json = value;
    } else {
      refuse(name + ": unknown option");
    }
  }
  if (argc % 2 == 0) refuse(std::string(argv[argc - 1]) + ": without a value");
  return o;
}

// What became of the faults of a row of the table.
struct tally {
  std::uint32_t injected = 0;
  std::uint32_t unharmed = 0;   // right answer, nothing to be done
  std::uint32_t recovered = 0;  // right answer after a retry, or after a look in place of an interrupt
  std::uint32_t reported = 0;   // ended with the result code of the fault
  std::uint32_t other = 0;      // another answer, which may be right: the times differ
  std::uint32_t silent = 0;     // wrong answer and nobody knows
};

// Result codes that a fault of this kind may end a request with.
bool explains(fault_kind kind, const gen::result_record& result) {
  const auto error = static_cast<gen::npu::error_code>(result.npu_error);
  switch (kind) {
    case fault_kind::bus_error:
      return result.code == result_code::npu_error && error == gen::npu::error_code::bus_error;
    case fault_kind::stuck:
      return result.code == result_code::npu_timeout;
    case fault_kind::descriptor:
      return result.code == result_code::npu_error && error == gen::npu::error_code::bad_check;
    case fault_kind::record:
      return result.code == result_code::npu_error && error == gen::npu::error_code::none;
    case fault_kind::ecc_uncorrectable:
      return result.code == result_code::memory_error && error == gen::npu::error_code::memory_error;
    case fault_kind::ecc_silent:
      // Row indices of a gather may lead out of memory, or of the window; numbers may become none.
      return (result.code == result_code::npu_error &&
              (error == gen::npu::error_code::bus_error || error == gen::npu::error_code::window_fault)) ||
             result.code == result_code::bad_image;
    case fault_kind::lost_interrupt:
    case fault_kind::ecc_corrected:
      return false;
  }
  return false;
}

class campaign {
 public:
  campaign(const campaign_options& options, platform::platform& chip, const platform::platform_config& config)
      : options_(options),
        chip_(chip),
        every_access_counts_(config.npu.window.bytes == 0),
        times_decide_(config.decode.visibility > 0 && config.decode.revisions != 0 && !config.decode.revision_wait &&
                      config.native.harts > 1),
        random_(options.seed) {}

  // What comes of the request that was answered last; then the faults of the next one.
  void answered(const platform::answer& a) {
    if (done_ == 0) {
      learn(a);
    } else {
      judge(a);
    }
    ++done_;
    chip_.faults->schedule().disarm();
    now_.clear();
    if (done_ <= options_.injections) arm();
  }

  void complain(const std::string& what) {
    ++complaints_;
    std::cout << "request " << done_ << " (" << describe() << "): " << what << '\n';
  }

  std::uint32_t done() const { return done_; }
  std::uint32_t complaints() const { return complaints_; }
  const std::map<std::string, tally>& rows() const { return rows_; }
  std::string describe() const {
    std::ostringstream text;
    for (const fault& f : now_) {
      text << (text.str().empty() ? "" : ", ") << faults::kind_names[static_cast<std::size_t>(f.kind)] << " at "
           << faults::class_names[static_cast<std::size_t>(f.where)] << ' ' << f.number << ", byte " << f.bits.byte
           << ", mask " << f.bits.mask;
    }
    return text.str();
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void learn(const platform::answer& a) {
    if (!a.ok() || a.result.forwards == 0)
      throw std::runtime_error("the request without a fault ended with " + std::string(gen::name_of(a.result.code)));
    right_ = a;
    std::cout << a.result.forwards << " forwards of " << a.result.descriptors / a.result.forwards
              << " descriptors on average, " << a.result.map_calls << " maps, " << a.result.revisions_picked
              << " revisions\n";
    for (std::size_t c = 0; c < faults::event_classes; ++c) {
      events_[c] = chip_.faults->schedule().events(static_cast<event_class>(c));
      if (events_[c] == 0) complain(std::string("there was no ") + faults::class_names[c]);
    }
  }

  // How many descriptors a fetch takes, and which completions share an interrupt, is a matter of time.
  static bool always_there(event_class c) {
    return c == event_class::read || c == event_class::write || c == event_class::record;
  }

  static bool must_be_noticed(fault_kind kind) {
    return kind == fault_kind::bus_error || kind == fault_kind::stuck || kind == fault_kind::descriptor ||
           kind == fault_kind::ecc_uncorrectable;
  }

  fault draw(fault_kind kind) {
    const auto where = faults::classes_of(kind);
    fault f;
    f.kind = kind;
    f.where = where[below(where.size())];
    f.number = 1 + below(std::max<std::uint64_t>(events_[static_cast<std::size_t>(f.where)], 1));
    f.bits.byte = random_();
    if (kind == fault_kind::ecc_silent) {
      f.bits.mask = std::uint64_t{7} << below(62);
    } else {
      f.bits.mask = (1 | below(256)) << below(8);
    }
    return f;
  }

  void arm() {
    if (below(8) == 0) {
      // The later ones count from the same request on, so they come while the first is being dealt with, or soon after.
      fault first = draw(static_cast<fault_kind>(below(faults::fault_kinds - 1)));
      now_ = {first};
      for (int i = 0; i < 2; ++i) {
        fault next = draw(static_cast<fault_kind>(below(faults::fault_kinds - 1)));
        next.number = next.where == first.where ? first.number + below(40) : next.number;
        now_.push_back(next);
      }
    } else {
      now_ = {draw(static_cast<fault_kind>(below(faults::fault_kinds)))};
    }
    for (const fault& f : now_) chip_.faults->schedule().arm(f);
  }

  void judge(const platform::answer& a) {
    const bool several = now_.size() > 1;
    const auto came = static_cast<std::uint32_t>(now_.size() - chip_.faults->schedule().outstanding());
    tally& row = rows_[several ? "several" : faults::kind_names[static_cast<std::size_t>(now_[0].kind)]];
    row.injected += came;
    if (!several && came != 1 && always_there(now_[0].where)) complain("the fault did not come");
    if (!a.fault.empty()) complain(a.fault);
    if (a.end_ps - a.begin_ps > longest_ps()) complain("it took " + std::to_string(a.end_ps - a.begin_ps) + " ps");
    const bool same = a.tokens == right_.tokens && a.result.state_hash == right_.result.state_hash;
    if (a.result.code != result_code::ok) {
      row.reported += came;
      const bool explained =
          std::any_of(now_.begin(), now_.end(), [&](const fault& f) { return explains(f.kind, a.result); });
      if (!explained)
        complain(std::string("ended with ") + gen::name_of(a.result.code) + ", NPU error " +
                 std::to_string(a.result.npu_error));
      if (options_.retries >= now_.size() && now_[0].kind != fault_kind::ecc_silent) complain("retries did not help");
    } else if (!same && times_decide_ && (several || now_[0].kind != fault_kind::ecc_silent)) {
      row.other += came;
    } else if (!same) {
      row.silent += came;
      if (several || now_[0].kind != fault_kind::ecc_silent) complain("answered wrong and nobody knows");
    } else if (a.result.retried != 0 || a.result.lost_interrupts != 0) {
      row.recovered += came;
    } else {
      row.unharmed += came;
      if (!several && came == 1 && every_access_counts_ && must_be_noticed(now_[0].kind)) {
        complain("answered as if nothing had been");
      }
    }
    if (a.result.retried > options_.retries * right_.result.forwards) complain("tried again too often");
  }

  std::uint64_t longest_ps() const {
    const std::uint64_t clean = right_.end_ps - right_.begin_ps;
    return 4 * (clean + std::uint64_t{2} * watchdog_us * 1'000'000);
  }

  const campaign_options& options_;
  platform::platform& chip_;
  const bool every_access_counts_;
  const bool times_decide_;
  std::mt19937_64 random_;
  platform::answer right_;
  std::array<std::uint64_t, faults::event_classes> events_{};
  std::vector<fault> now_;
  std::map<std::string, tally> rows_;
  std::uint32_t done_ = 0;
  std::uint32_t complaints_ = 0;
};

void write_json(const campaign& of, const std::string& path) {
  nlohmann::ordered_json all;
  for (const auto& [kind, t] : of.rows()) {
    all["rows"][kind] = {{"injected", t.injected}, {"unharmed", t.unharmed}, {"recovered", t.recovered},
                         {"reported", t.reported}, {"other", t.other},       {"silent", t.silent}};
  }
  all["complaints"] = of.complaints();
  std::ofstream(path) << all.dump(2) << '\n';
}

void print(const campaign& of) {
  std::printf("%-18s %9s %9s %10s %9s %7s %7s\n", "kind", "injected", "unharmed", "recovered", "reported", "other",
              "silent");
  for (const auto& [kind, t] : of.rows()) {
    std::printf("%-18s %9u %9u %10u %9u %7u %7u\n", kind.c_str(), t.injected, t.unharmed, t.recovered, t.reported,
                t.other, t.silent);
  }
}

platform::platform_config make_config(const campaign_options& o) {
  const std::string no_faults = R"(faults={"seed":0,"mean_events":{},"correction_ns":40,"program":[]})";
  std::vector<std::string> overrides = {"decode.retries=" + std::to_string(o.retries),
                                        "decode.watchdog_us=" + std::to_string(watchdog_us), no_faults};
  overrides.insert(overrides.end(), o.overrides.begin(), o.overrides.end());
  return platform::load_config(o.config, overrides);
}

// With logits as large as those of random weights every prediction would be certain, and hardly a wrong number seen.
void make_less_certain(testbenches::gguf_writer& file) {
  testbenches::byte_string& bytes = file.at("output_norm.weight").data;
  std::vector<float> weights(bytes.size() / sizeof(float));
  std::memcpy(weights.data(), bytes.data(), bytes.size());
  for (float& weight : weights) weight *= 0.02f;
  std::memcpy(bytes.data(), weights.data(), bytes.size());
}

void write_model(const campaign_options& o, const std::string& path) {
  testbenches::gguf_writer file = testbenches::tiny_model({.architecture = o.model, .seed = 3});
  file.set("dllm.block_length", std::uint32_t{8});
  if (o.model != "llada") file.set("dllm.sub_block_length", std::uint32_t{8});
  make_less_certain(file);
  const auto bytes = file.build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

int run(const campaign_options& o) {
  const test::scratch_file file("campaign.gguf");
  write_model(o, file.path());
  const platform::loaded_model model(file.path());
  const platform::platform_config config = make_config(o);
  core::statistics figures;
  core::timeline timeline;
  platform::array_seats seats(config.npu.array, platform::array_choice::model, 0, "", 0);
  uart::console_none console;
  platform::platform chip("campaign", config, seats.seat(), console, 0, figures, timeline);
  std::ostringstream nowhere;
  platform::progress_view view(nowhere, platform::view_mode::quiet, false, model.tokenizer(), model.header().mask_token,
                               model.header().end_token);
  platform::decode_options decode;
  decode.generate_tokens = 16;
  decode.steps = 2;
  decode.threshold = 0.5f;
  platform::session asking(chip, figures, config, model, decode, view);
  campaign c(o, chip, config);
  const std::vector<platform::prompt> prompts(o.injections + 1, {"again", "abc a 1 abc a", {}});
  asking.start(prompts, [&](std::size_t) { c.answered(asking.answers().back()); });
  const platform::simulation_end how = platform::simulate(std::uint64_t{o.injections + 1} * 20 * watchdog_us);
  if (!asking.failure().empty()) c.complain(asking.failure());
  if (!asking.over()) c.complain("no answer: " + platform::cpu_trouble(chip, how, core::symbol_table()));
  print(c);
  if (!o.json.empty()) write_json(c, o.json);
  return c.complaints() == 0 && c.done() == o.injections + 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace dvp

// Replaces the library's main, whose banner nobody needs here.
int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  try {
    const dvp::campaign_options options = dvp::options_of(argc, argv);
    std::cout << "seed " << options.seed << ", " << options.injections << " requests with faults, " << options.retries
              << " retries, " << options.config << ", " << options.model << std::endl;
    return dvp::run(options);
  } catch (const std::exception& error) {
    std::cerr << "fault_campaign: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
