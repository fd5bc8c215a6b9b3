#include "tlm/lpddr5/config/controller_json.h"

#include <algorithm>

#include "tlm/lpddr5/config/notes.h"

namespace dvp::lpddr5 {

namespace {

using core::named_value;

constexpr std::uint32_t longest_queue = 4096;
constexpr std::uint64_t most_clocks = 1'000'000'000;
constexpr std::uint32_t most_refreshes = 8;

constexpr named_value<scheduler_policy> schedulers[] = {{"fifo", scheduler_policy::fifo},
                                                        {"fr_fcfs", scheduler_policy::fr_fcfs},
                                                        {"fr_fcfs_grouped", scheduler_policy::fr_fcfs_grouped}};
constexpr named_value<page_policy> pages[] = {{"open", page_policy::open},
                                              {"open_adaptive", page_policy::open_adaptive},
                                              {"closed", page_policy::closed},
                                              {"closed_adaptive", page_policy::closed_adaptive}};
constexpr named_value<refresh_policy> refreshes[] = {
    {"none", refresh_policy::none}, {"all_bank", refresh_policy::all_bank}, {"per_bank", refresh_policy::per_bank}};
constexpr named_value<queue_layout> queues[] = {
    {"shared", queue_layout::shared}, {"read_write", queue_layout::read_write}, {"bankwise", queue_layout::bankwise}};
constexpr named_value<data_layout> layouts[] = {
    {"bytes", data_layout::bytes}, {"nibble", data_layout::nibble}, {"bitplane", data_layout::bitplane}};
constexpr named_value<scale_place> places[] = {{"cached", scale_place::cached}, {"in_burst", scale_place::in_burst}};

constexpr named_value<page_policy> dramsys_pages[] = {{"Open", page_policy::open},
                                                      {"OpenAdaptive", page_policy::open_adaptive},
                                                      {"Closed", page_policy::closed},
                                                      {"ClosedAdaptive", page_policy::closed_adaptive}};
constexpr named_value<queue_layout> dramsys_queues[] = {
    {"Bankwise", queue_layout::bankwise}, {"ReadWrite", queue_layout::read_write}, {"Shared", queue_layout::shared}};

// What the names of DRAMSys mean here; `refusal` says why a policy is not to be had.
template <typename Value>
struct policy {
  Value value{};
  const char* refusal = nullptr;
};

constexpr named_value<policy<scheduler_policy>> dramsys_schedulers[] = {
    {"Fifo", {scheduler_policy::fifo}},
    {"FrFcfs", {scheduler_policy::fr_fcfs}},
    {"GrpFrFcfsWm", {scheduler_policy::fr_fcfs_grouped}},
    {"FrFcfsGrp", {{}, "this model does not group row hits by direction; use FrFcfs or GrpFrFcfsWm"}},
    {"GrpFrFcfs", {{}, "this model groups by watermarks only; use GrpFrFcfsWm"}}};

struct refresh_choice {
  refresh_policy policy = refresh_policy::all_bank;
  bool in_pairs = true;
};
constexpr named_value<policy<refresh_choice>> dramsys_refreshes[] = {
    {"AllBank", {{refresh_policy::all_bank}}},
    {"Rankwise", {{refresh_policy::all_bank}}},
    {"NoRefresh", {{refresh_policy::none}}},
    {"PerBank", {{refresh_policy::per_bank, false}}},
    {"Bankwise", {{refresh_policy::per_bank, false}}},
    {"Per2Bank", {{refresh_policy::per_bank}}},
    {"SameBank", {{}, "LPDDR5 has no same-bank refresh; use AllBank, PerBank or Per2Bank"}},
    {"Groupwise", {{}, "LPDDR5 has no same-bank refresh; use AllBank, PerBank or Per2Bank"}}};

enum class unused { fine };
constexpr named_value<policy<unused>> dramsys_command_muxes[] = {
    {"Oldest", {}}, {"Strict", {{}, "this model issues the oldest command that is ready; use Oldest"}}};
constexpr named_value<unused> dramsys_responses[] = {{"Fifo", unused::fine}, {"Reorder", unused::fine}};
constexpr named_value<unused> dramsys_arbiters[] = {
    {"Simple", unused::fine}, {"Fifo", unused::fine}, {"Reorder", unused::fine}};
constexpr named_value<bool> dramsys_power_downs[] = {{"NoPowerDown", false}, {"Staggered", true}};

template <typename Value, std::size_t N>
Value supported(const core::json_object& json, const char* key, Value otherwise,
                const named_value<policy<Value>> (&table)[N]) {
  if (!json.has(key)) return otherwise;
  const policy<Value> chosen = json.choice(key, table);
  if (chosen.refusal != nullptr) json.fail(key, json.text(key) + ": " + chosen.refusal);
  return chosen.value;
}

void read_queues(const core::json_object& json, controller_config& config) {
  const std::uint32_t size = json.word_or("RequestBufferSize", 8, 1, longest_queue);
  const std::uint32_t reads = json.word_or("RequestBufferSizeRead", 8, 1, longest_queue);
  const std::uint32_t writes = json.word_or("RequestBufferSizeWrite", 8, 1, longest_queue);
  config.queue = json.choice_or("SchedulerBuffer", queue_layout::bankwise, dramsys_queues);
  config.read_queue = config.queue == queue_layout::read_write ? reads : size;
  config.write_queue = config.queue == queue_layout::read_write ? writes : size;
  const std::uint32_t high = json.word_or("HighWatermark", 0, 0, longest_queue);
  const std::uint32_t low = json.word_or("LowWatermark", 0, 0, longest_queue);
  if (config.scheduler == scheduler_policy::fr_fcfs_grouped) {
    config.write_high = high;
    config.write_low = low;
  }
}

void read_delays(const core::json_object& json, controller_config& config, std::vector<std::string>& notes) {
  const auto delay = [&](const char* key, std::uint64_t otherwise) {
    return static_cast<cycles>(json.whole_or(key, otherwise, 0, most_clocks));
  };
  config.frontend_cycles = delay("ArbitrationDelayFw", 0) + delay("ThinkDelayFw", 1) + delay("PhyDelayFw", 0);
  config.backend_cycles = delay("ArbitrationDelayBw", 0) + delay("ThinkDelayBw", 0) + delay("PhyDelayBw", 0);
  for (const char* key : {"BlockingReadDelay", "BlockingWriteDelay"}) {
    if (!json.has(key)) continue;
    delay(key, 0);
    add_note(notes, not_used, json.path_of(key));
  }
}

void read_idle_policy(const core::json_object& json, controller_config& config, const device& d,
                      std::vector<std::string>& notes) {
  const std::uint64_t timeout = json.whole_or("PowerDownTimeout", 1, 1, most_clocks);
  if (!json.choice_or("PowerDownPolicy", false, dramsys_power_downs)) return;
  config.power_down_after = static_cast<cycles>(timeout);
  config.self_refresh_after = d.times.REFI;
  notes.push_back(json.path_of("PowerDownPolicy") + ": Staggered is power-down after " + std::to_string(timeout) +
                  " idle clocks and self-refresh after an idle REFI");
}

void note_what_changes_nothing(const core::json_object& json, std::vector<std::string>& notes) {
  supported(json, "CmdMux", unused::fine, dramsys_command_muxes);
  if (json.has("RespQueue")) {
    json.choice("RespQueue", dramsys_responses);
    if (core::same_word(json.text("RespQueue"), "Fifo")) {
      notes.push_back(json.path_of("RespQueue") + ": responses leave as their data come, not in order of requests");
    }
  }
  if (json.has("Arbiter")) {
    json.choice("Arbiter", dramsys_arbiters);
    if (!core::same_word(json.text("Arbiter"), "Simple")) {
      add_note(notes, not_used, json.path_of("Arbiter"));
    }
  }
  if (json.has("MaxActiveTransactions")) {
    json.whole("MaxActiveTransactions", 1, most_clocks);
    add_note(notes, not_used, json.path_of("MaxActiveTransactions"));
  }
  if (json.flag_or("RefreshManagement", false)) {
    json.fail("RefreshManagement", "this model has no refresh management commands; give false");
  }
  if (json.whole_or("Gearing", 1, 1, 64) != 1) json.fail("Gearing", "LPDDR5 has no gear mode; give 1");
  if (json.has("ECCControllerMode") && !core::same_word(json.text("ECCControllerMode"), "Disabled")) {
    json.fail("ECCControllerMode", "this model has no controller for error correction; give Disabled");
  }
}

}  // namespace

void read_tagged(const core::json_object& json, tagged_read_config& config) {
  config.layout = json.choice_or("layout", config.layout, layouts);
  config.core_feed = json.word_or("core_feed", config.core_feed, 1, 16);
  config.convert_cycles =
      static_cast<cycles>(json.whole_or("convert_cycles", static_cast<std::uint64_t>(config.convert_cycles), 0, 1024));
  config.scales = json.choice_or("scales", config.scales, places);
  config.scale_group = json.word_or("scale_group", config.scale_group, 1, 65536);
  config.scale_bits = json.word_or("scale_bits", config.scale_bits, 0, 64);
  json.finish();
}

void read_controller(const core::json_object& json, controller_config& config) {
  const auto clocks = [&](const char* key, cycles& value) {
    value = static_cast<cycles>(json.whole_or(key, static_cast<std::uint64_t>(value), 0, most_clocks));
  };
  config.scheduler = json.choice_or("scheduler", config.scheduler, schedulers);
  config.page = json.choice_or("page", config.page, pages);
  config.refresh = json.choice_or("refresh", config.refresh, refreshes);
  config.refresh_postpone = json.word_or("refresh_postpone", config.refresh_postpone, 0, most_refreshes);
  config.refresh_pull_in = json.word_or("refresh_pull_in", config.refresh_pull_in, 0, most_refreshes);
  config.queue = json.choice_or("queue", config.queue, queues);
  config.read_queue = json.word_or("read_queue", config.read_queue, 1, longest_queue);
  config.write_queue = json.word_or("write_queue", config.write_queue, 1, longest_queue);
  // Watermarks follow the queue where they are not given: three quarters and one quarter.
  config.write_high = json.word_or("write_high", std::max(1U, config.write_queue * 3 / 4), 1, longest_queue);
  config.write_low = json.word_or("write_low", config.write_high / 3, 0, longest_queue);
  config.posted_writes = json.flag_or("posted_writes", config.posted_writes);
  config.coalesce_writes = json.flag_or("coalesce_writes", config.coalesce_writes);
  clocks("starvation_limit", config.starvation_limit);
  clocks("power_down_after", config.power_down_after);
  clocks("self_refresh_after", config.self_refresh_after);
  clocks("frontend_cycles", config.frontend_cycles);
  clocks("backend_cycles", config.backend_cycles);
  config.stream_bytes = json.whole_or("stream_bytes", config.stream_bytes, 0, std::uint64_t{1} << 44);
  json.finish();
}

controller_config read_mcconfig(const core::json_object& json, device& d, std::vector<std::string>& notes) {
  controller_config config;
  config.page = json.choice_or("PagePolicy", page_policy::open, dramsys_pages);
  config.scheduler = supported(json, "Scheduler", scheduler_policy::fr_fcfs, dramsys_schedulers);
  read_queues(json, config);
  const refresh_choice refresh = supported(json, "RefreshPolicy", refresh_choice{}, dramsys_refreshes);
  config.refresh = refresh.policy;
  if (refresh.policy == refresh_policy::per_bank) {
    if (!refresh.in_pairs) d.shape.pair_offset = 0;
    if (refresh.in_pairs && d.shape.pair_offset == 0) {
      json.fail("RefreshPolicy", "Per2Bank needs per2BankOffset in the memspec; it is 0");
    }
  }
  config.refresh_postpone = json.word_or("RefreshMaxPostponed", 0, 0, most_refreshes);
  config.refresh_pull_in = json.word_or("RefreshMaxPulledin", 0, 0, most_refreshes);
  // DRAMSys answers a write when its data is on the bus, merges none, and lets misses wait for as long as hits come.
  config.posted_writes = false;
  config.coalesce_writes = false;
  config.starvation_limit = 0;
  read_delays(json, config, notes);
  read_idle_policy(json, config, d, notes);
  note_what_changes_nothing(json, notes);
  json.finish();
  return config;
}

void check_controller(const controller_config& config, const device& d, const std::string& file) {
  const auto refuse = [&](const std::string& what) { throw core::config_error(file, "controller", what); };
  if (config.scheduler == scheduler_policy::fr_fcfs_grouped) {
    const std::uint32_t room = config.queue == queue_layout::read_write ? config.write_queue : config.read_queue;
    if (config.write_low >= config.write_high) {
      refuse("the low watermark " + std::to_string(config.write_low) + " is not below the high one, " +
             std::to_string(config.write_high));
    }
    if (config.write_high > room) {
      refuse("the high watermark " + std::to_string(config.write_high) + " is more than the queue's " +
             std::to_string(room) + " entries; writes would never drain");
    }
  }
  if (config.refresh != refresh_policy::per_bank) return;
  if (d.times.REFIpb == 0 || d.times.RFCpb == 0) {
    refuse("per-bank refresh needs REFIpb and RFCpb, and the device has 0; give them or refresh all banks");
  }
  const auto round = static_cast<cycles>(d.shape.pair_offset == 0 ? d.shape.banks() : d.shape.banks() / 2);
  const cycles apart = std::max(d.times.pbR2pbR, d.times.pbR2act);
  if (d.times.REFI / round <= apart) {
    refuse("per-bank refresh of " + std::to_string(round) + " banks or pairs in a REFI of " +
           std::to_string(d.times.REFI) + " clocks is closer than pbR2pbR and pbR2act allow, " + std::to_string(apart) +
           "; refresh all banks");
  }
}

}  // namespace dvp::lpddr5
