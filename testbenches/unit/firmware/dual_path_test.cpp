// Staged stabilisation and the CPU path, step by step.
//
// What a forward worked on is read off its descriptors, what the CPU path found off its job, which the test runs itself
// where the firmware hands it to another hart: at once, or as late as the case says. From the samples the test follows
// the rules with a diary per position, and computes the same rows in double precision, with a cache of its own that
// goes stale in the same way: the forward's, the masked and the refreshed ones. Tokens, windows, drafts, counters and
// both hashes must be those of the rules; predictions and the keys and values in the cache must be near the reference.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "dvp_gen/descriptor.h"
#include "firmware/dllm/request.h"
#include "firmware/dllm/revision_job.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"
#include "tlm/numerics/bf16.h"

namespace dvp {
namespace {

using gen::progress_kind;
using gen::result_code;
using gen::revision_choice;
using testbench::bench;
using testbench::tiny_model;
using testbench::tiny_options;

// Two probabilities this close may be ordered either way: activations carry 8 significant bits.
double slack(double p) {
  return 0.1 * p + 0.01;
}

enum class other_hart { none, at_once, late };

struct dual_case {
  const char* name;
  tiny_options model;
  std::uint32_t prompt;
  std::uint32_t generate;
  std::uint32_t block;
  float visibility = 0.4f;
  float stability = 0.6f;
  std::uint32_t revisions = 0;
  revision_choice order = revision_choice::oldest;
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 0;
  std::uint32_t sweep = 0;
  bool wait = true;
  other_hart hart = other_hart::at_once;
  std::uint32_t boundaries_late = 0;  // without wait: boundaries at which a job is not done yet
  std::uint32_t trigger = 0;
  std::uint32_t look_ahead = 0;
  float draft_threshold = 0.3f;
  std::uint32_t row_tile = 0;
};

constexpr tiny_options dream(std::uint32_t seed) {
  return {.seed = seed, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2};
}

const dual_case cases[] = {
    {.name = "npu_path_alone", .model = {.seed = 161}, .prompt = 21, .generate = 96, .block = 16},
    {.name = "npu_path_shifted", .model = dream(162), .prompt = 1, .generate = 64, .block = 16},
    {.name = "everything_at_once",
     .model = {.seed = 163},
     .prompt = 9,
     .generate = 64,
     .block = 8,
     .visibility = 0.001f,
     .stability = 0.01f},
    {.name = "blocks_of_one", .model = {.seed = 164}, .prompt = 5, .generate = 6, .block = 1, .revisions = 2},
    {.name = "one_step_at_a_time",
     .model = {.seed = 165},
     .prompt = 9,
     .generate = 32,
     .block = 32,
     .visibility = 2.0f,
     .stability = 2.0f,
     .revisions = 3,
     .sweep = 2},
    {.name = "drafts",
     .model = {.seed = 166},
     .prompt = 11,
     .generate = 96,
     .block = 8,
     .trigger = 9,
     .look_ahead = 32,
     .draft_threshold = 0.2f,
     .row_tile = 16},
    {.name = "drafts_and_revisions_shifted",
     .model = dream(167),
     .prompt = 11,
     .generate = 96,
     .block = 16,
     .revisions = 3,
     .sweep = 4,
     .trigger = 64,
     .look_ahead = 20,
     .draft_threshold = 0.2f,
     .row_tile = 8},
    {.name = "oldest", .model = {.seed = 168}, .prompt = 21, .generate = 96, .block = 16, .revisions = 4, .sweep = 6},
    {.name = "low_confidence",
     .model = {.seed = 169},
     .prompt = 21,
     .generate = 96,
     .block = 16,
     .visibility = 0.2f,
     .revisions = 16,
     .order = revision_choice::low_confidence,
     .sweep = 6},
    {.name = "shifted", .model = dream(170), .prompt = 13, .generate = 96, .block = 16, .revisions = 6, .sweep = 6},
    {.name = "one_layer",
     .model = {.seed = 171, .layers = 3},
     .prompt = 13,
     .generate = 64,
     .block = 8,
     .visibility = 0.3f,
     .revisions = 4,
     .first_layer = 1,
     .layers = 1,
     .sweep = 3},
    {.name = "later_layers",
     .model = {.seed = 172, .layers = 3},
     .prompt = 13,
     .generate = 64,
     .block = 8,
     .visibility = 0.3f,
     .revisions = 4,
     .first_layer = 1,
     .sweep = 3},
    {.name = "late_but_waited_for",
     .model = {.seed = 173},
     .prompt = 13,
     .generate = 96,
     .block = 16,
     .revisions = 4,
     .sweep = 3,
     .hart = other_hart::late},
    {.name = "late_by_one",
     .model = {.seed = 174},
     .prompt = 13,
     .generate = 96,
     .block = 8,
     .visibility = 0.3f,
     .revisions = 6,
     .sweep = 3,
     .wait = false,
     .hart = other_hart::late,
     .boundaries_late = 1},
    {.name = "late_by_three_shifted",
     .model = dream(175),
     .prompt = 13,
     .generate = 96,
     .block = 8,
     .visibility = 0.3f,
     .revisions = 6,
     .sweep = 3,
     .wait = false,
     .hart = other_hart::late,
     .boundaries_late = 3},
    {.name = "never_in_time",
     .model = {.seed = 176},
     .prompt = 13,
     .generate = 64,
     .block = 16,
     .revisions = 4,
     .sweep = 3,
     .wait = false,
     .hart = other_hart::late,
     .boundaries_late = 1000},
};

std::uint64_t fnv(std::uint64_t h, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) {
    h ^= word >> (8 * i) & 0xffu;
    h *= 1099511628211u;
  }
  return h;
}

void ask(bench& b, const dual_case& c) {
  gen::request_record& r = b.request();
  r.loop = gen::decode_loop::fast_dllm_v1;
  r.cache = gen::cache_mode::dual;
  r.generate_tokens = c.generate;
  r.block_length = c.block;
  r.visibility = c.visibility;
  r.stability = c.stability;
  r.revisions = c.revisions;
  r.revision_order = c.order;
  r.refresh_first_layer = c.first_layer;
  r.refresh_layers = c.layers;
  r.sweep_steps = c.sweep;
  r.flags = c.wait ? gen::request_flag::revision_wait : 0;
  r.draft_trigger = c.trigger;
  r.draft_look_ahead = c.look_ahead;
  r.draft_threshold = c.draft_threshold;
  r.row_tile = c.row_tile;
}

enum class stage { masked, visible, stable };

// What is known about a position to generate.
struct diary {
  stage is = stage::masked;
  std::uint32_t token = 0;
  float confidence = 0;
  bool fed = false;
  std::uint32_t last_pick = 0;
  std::uint32_t events = 0;  // that make a correction outdated
};

// What the CPU path was given and found.
struct cpu_job {
  std::vector<dllm::revision_transaction> found;  // by position
  std::vector<std::uint32_t> events;              // of the diaries when it began
  testbench::reference_forward shadow;
  bool over = false;  // the firmware has seen that it is done
};

class follower {
 public:
  follower(tiny_model& model, bench& b, const dual_case& c)
      : model_(model), bench_(b), case_(c), total_(c.prompt + c.generate), cache_(model.empty_forward(total_)) {
    mirror_.resize(c.generate);
    bench_.machine().on_progress = [this] { event(); };
    bench_.machine().tamper = [this](npu::descriptor_view& d) {
      if (d.op() == gen::opcode::dma_gather) {
        gathered(d.as<gen::dma_descriptor>());
      }
    };
    bench_.machine().on_start_hart = [this](std::uint32_t hart, void (*function)(void*), void* argument) {
      return start(hart, function, argument);
    };
    bench_.machine().on_hart_idle = [this](std::uint32_t) { return idle(); };
    bench_.machine().on_wait_for_hart = [this](std::uint32_t) { work(); };
  }

  void expect_totals() {
    const gen::result_record& r = bench_.result();
    EXPECT_EQ(r.code, result_code::ok);
    EXPECT_EQ(r.forwards, forwards_);
    EXPECT_EQ(r.rows, rows_);
    EXPECT_EQ(r.committed, case_.generate);
    EXPECT_EQ(r.edits, 0u);
    EXPECT_EQ(r.blocks, case_.generate / case_.block);
    EXPECT_EQ(r.drafts_offered, offered_);
    EXPECT_EQ(r.drafts_accepted, accepted_);
    EXPECT_EQ(r.drafts_rejected, rejected_);
    EXPECT_EQ(r.made_visible, case_.generate);
    EXPECT_EQ(r.made_stable,
              static_cast<std::uint32_t>(
                  std::count_if(mirror_.begin(), mirror_.end(), [](const diary& d) { return d.is == stage::stable; })));
    EXPECT_EQ(r.revisions_picked, picked_);
    EXPECT_EQ(r.revisions_applied, applied_);
    EXPECT_EQ(r.revisions_replaced, replaced_);
    EXPECT_EQ(r.revisions_dropped, dropped_);
    EXPECT_EQ(r.revision_rows, cpu_rows_);
    EXPECT_EQ(r.state_hash, hash_);
    EXPECT_EQ(r.revision_hash, revision_hash_);
    EXPECT_TRUE(case_.revisions == 0 || sweeps_ == case_.sweep || !unsure_left());
    EXPECT_LE(sweeps_, case_.sweep);
    for (const std::string& hazard : bench_.machine().hazards()) {
      ADD_FAILURE() << hazard;
    }
  }

  std::uint32_t outside_window() const { return outside_; }
  // Windows that began more than one block before the block in work.
  std::uint32_t far_back() const { return far_back_; }

 private:
  std::uint32_t shift() const { return model_.options().shift_logits ? 1 : 0; }
  std::uint32_t mask() const { return model_.mask_token(); }
  bool masked(std::uint32_t position) const { return mirror_[position - case_.prompt].is == stage::masked; }

  // ---- the other hart

  bool start(std::uint32_t hart, void (*function)(void*), void* argument) {
    if (hart != 1 || case_.hart == other_hart::none) {
      return false;
    }
    finish_sweep_step();
    EXPECT_FALSE(job_.has_value()) << "one job at a time";
    EXPECT_TRUE(complete() || !seen_.empty()) << "the forward goes first";
    job_ = cpu_job{.found = {}, .events = {}, .shadow = cache_};
    fresh_job_ = true;
    function_ = function;
    argument_ = static_cast<dllm::revision_job*>(argument);
    const auto targets = argument_->results();
    targets_.assign(targets.begin(), targets.end());
    polls_ = 0;
    if (case_.hart == other_hart::at_once) {
      work();
    }
    return true;
  }

  void work() {
    if (function_ == nullptr) {
      return;
    }
    function_(argument_);
    function_ = nullptr;
    const auto found = argument_->results();
    job_->found.assign(found.begin(), found.end());
  }

  bool idle() {
    if (function_ != nullptr && polls_++ >= case_.boundaries_late) {
      work();
    }
    return function_ == nullptr;
  }

  // ---- the NPU

  void gathered(const gen::dma_descriptor& d) {
    const std::uint64_t tokens = bench_.request().tokens_address;
    const std::uint32_t first = static_cast<std::uint32_t>((d.list_address - tokens) / sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < d.rows; ++i) {
      seen_[first + i] = bench_.tokens()[first + i];
    }
  }

  void event() {
    const gen::progress_record p = bench_.progress();
    switch (p.kind) {
      case progress_kind::started:
        now_ = bench_.tokens(case_.prompt);
        now_.resize(total_, mask());
        break;
      case progress_kind::forward:
        if (complete()) {
          land_outstanding();
        }
        if (seen_.empty()) {
          finish_sweep_step();
        } else {
          forward(p);
        }
        compare();
        break;
      case progress_kind::block:
        EXPECT_EQ(p.masks_left, 0u);
        break;
      case progress_kind::prefill:
        ADD_FAILURE() << "nothing else fills the cache";
        break;
      case progress_kind::finished:
        land_outstanding();
        finish_sweep_step();
        compare();
        break;
    }
  }

  bool complete() const {
    return std::none_of(mirror_.begin(), mirror_.end(), [](const diary& d) { return d.is == stage::masked; });
  }

  bool unsure_left() const {
    return std::any_of(mirror_.begin(), mirror_.end(), [&](const diary& d) {
      return d.is == stage::visible && !(d.confidence >= case_.stability) && d.last_pick <= calm_since_;
    });
  }

  // From the prompt's end.
  std::uint32_t current_block() const {
    const auto first =
        std::find_if(mirror_.begin(), mirror_.end(), [](const diary& d) { return d.is == stage::masked; });
    return static_cast<std::uint32_t>(first - mirror_.begin()) / case_.block * case_.block;
  }

  std::uint32_t stair(std::uint32_t rows) const { return (rows + case_.row_tile - 1) / case_.row_tile; }

  void check_rows(std::uint32_t first, std::uint32_t end, bool drafting) {
    if (forwards_ == 0) {
      EXPECT_EQ(first, 0u);
      EXPECT_EQ(end, total_);
      return;
    }
    std::uint32_t start = 0;
    while (start != mirror_.size() && mirror_[start].is != stage::masked &&
           (mirror_[start].fed || start < last_first_ || start >= last_end_)) {
      ++start;
    }
    const std::uint32_t block = current_block();
    far_back_ += start + case_.block < block ? 1 : 0;
    start += case_.prompt;
    EXPECT_EQ(first, start - shift()) << "from the first position that no forward has had as it is";
    std::uint32_t least = std::min(start + case_.block, total_);
    bool some = complete();
    for (std::uint32_t i = case_.prompt + block; i < least; ++i) {
      some = some || masked(i);
    }
    least = complete() ? total_ : some ? least : case_.prompt + block + case_.block;
    if (!drafting) {
      EXPECT_EQ(end, least);
      return;
    }
    const std::uint32_t limit = std::min({least + case_.look_ahead, case_.prompt + block + case_.block + 64, total_});
    EXPECT_GE(end, least);
    EXPECT_LE(end, limit);
    EXPECT_EQ(stair(end - first), stair(least - first)) << "no new stair is opened";
    EXPECT_TRUE(end == limit || stair(end - first + 1) > stair(end - first)) << "and this one is filled";
  }

  void move_window(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = 0; i < mirror_.size(); ++i) {
      const bool was = i >= last_first_ && i < last_end_;
      const bool is = i >= first && i < end;
      mirror_[i].events += was != is ? 1 : 0;
    }
    last_first_ = first;
    last_end_ = end;
  }

  bool in_window(std::uint32_t i) const { return i >= last_first_ && i < last_end_; }

  void note(std::uint32_t i, std::uint32_t state) {
    for (const std::uint32_t word : {step_, i, state, mirror_[i].token}) {
      revision_hash_ = fnv(revision_hash_, word);
    }
  }

  void freeze(std::uint32_t i) {
    mirror_[i].is = stage::stable;
    ++mirror_[i].events;
    note(i, 2);
  }

  void write(std::uint32_t i, std::uint32_t token) {
    now_[case_.prompt + i] = token;
    for (const std::uint32_t word : {forwards_ - 1, case_.prompt + i, token}) {
      hash_ = fnv(hash_, word);
    }
  }

  // The CPU path's choice at the start of a step.
  void check_targets(bool may_start) {
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < mirror_.size() && may_start; ++i) {
      const bool settles = in_window(i) && mirror_[i].confidence >= case_.stability;
      if (mirror_[i].is == stage::visible && !settles) {
        wanted.push_back(i);
      }
    }
    std::stable_sort(wanted.begin(), wanted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return case_.order == revision_choice::oldest ? mirror_[a].last_pick < mirror_[b].last_pick
                                                    : mirror_[a].confidence < mirror_[b].confidence;
    });
    wanted.resize(std::min<std::size_t>(wanted.size(), case_.revisions));
    picked_ += static_cast<std::uint32_t>(wanted.size());
    for (const std::uint32_t i : wanted) {
      mirror_[i].last_pick = step_ + 1;
      note(i, 3);
    }
    ASSERT_EQ(fresh_job_, !wanted.empty());
    if (!fresh_job_) {
      return;
    }
    fresh_job_ = false;
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(targets_.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const dllm::revision_transaction& t = targets_[k];
      EXPECT_EQ(t.position, wanted[k]);
      const std::uint32_t layers = case_.layers != 0 ? case_.layers : model_.options().layers - case_.first_layer;
      EXPECT_EQ(t.layers, in_window(t.position) ? 0 : layers);
      EXPECT_EQ(t.layers == 0 ? case_.first_layer : t.first_layer, case_.first_layer);
      outside_ += t.layers != 0 ? 1 : 0;
      job_->events.push_back(mirror_[t.position].events);
      cpu_rows_ += t.layers != 0 ? 1 : 0;
    }
  }

  // Mask and predict again, over the keys and values of the moment the job began.
  void check_found() {
    std::map<std::uint32_t, std::uint32_t> rows;
    for (const dllm::revision_transaction& t : job_->found) {
      rows[case_.prompt + t.position] = mask();
    }
    for (const dllm::revision_transaction& t : job_->found) {
      rows.emplace(case_.prompt + t.position - shift(), began_with_[case_.prompt + t.position - shift()]);
    }
    cpu_rows_ += static_cast<std::uint32_t>(rows.size());
    std::vector<std::uint32_t> positions, tokens;
    for (const auto& [position, token] : rows) {
      positions.push_back(position);
      tokens.push_back(token);
    }
    testbench::reference_forward masked_rows = job_->shadow;
    model_.forward_scattered(tokens, positions, 0, masked_rows);
    for (const dllm::revision_transaction& t : job_->found) {
      check_prediction(masked_rows.probabilities, case_.prompt + t.position, t.token, t.confidence);
    }
  }

  void check_prediction(const testbench::table& p, std::uint32_t position, std::uint32_t token, float confidence) {
    const std::uint32_t r = position - shift();
    const auto row = p.values.begin() + static_cast<std::ptrdiff_t>(r) * p.columns;
    const double best = *std::max_element(row, row + p.columns);
    EXPECT_GE(p.at(r, token) + slack(best), best) << "position " << position;
    EXPECT_NEAR(static_cast<double>(confidence), best, slack(best)) << "position " << position;
  }

  void land() {
    check_found();
    testbench::reference_forward refreshed = job_->shadow;
    std::vector<std::uint32_t> positions, tokens;
    for (const dllm::revision_transaction& t : job_->found) {
      if (t.layers != 0) {
        positions.push_back(case_.prompt + t.position);
        tokens.push_back(t.token);
      }
    }
    model_.forward_scattered(tokens, positions, 0, refreshed);
    for (std::size_t k = 0; k < job_->found.size(); ++k) {
      const dllm::revision_transaction& t = job_->found[k];
      diary& d = mirror_[t.position];
      if (d.is != stage::visible || d.events != job_->events[k]) {
        ++dropped_;
        continue;
      }
      ++applied_;
      ++d.events;
      if (t.token != d.token) {
        ++replaced_;
        d.token = t.token;
        d.fed = false;
        write(t.position, t.token);
        note(t.position, 1);
      } else if (t.confidence >= case_.stability) {
        freeze(t.position);
      }
      d.confidence = t.confidence;
      for (std::uint32_t layer = t.first_layer; layer < t.first_layer + t.layers; ++layer) {
        const std::uint32_t row = case_.prompt + t.position;
        for (std::uint32_t column = 0; column < cache_.keys[layer].columns; ++column) {
          cache_.keys[layer].at(row, column) = refreshed.keys[layer].at(row, column);
          cache_.values[layer].at(row, column) = refreshed.values[layer].at(row, column);
        }
      }
    }
    job_.reset();
  }

  // Behind the last mask nothing is left in flight.
  void land_outstanding() {
    if (job_ && !fresh_job_) {
      land();
    }
  }

  // A step without a forward, of which the firmware tells only if something changed.
  void finish_sweep_step() {
    if (!job_ || !complete()) {
      return;
    }
    EXPECT_TRUE(unsure_left()) << "else there is nothing to sweep";
    ++sweeps_;
    move_window(case_.generate, case_.generate);
    began_with_ = now_;
    check_targets(true);
    ++step_;
    const std::uint32_t before = replaced_;
    if (job_) {
      land();
    }
    calm_since_ = replaced_ != before ? step_ : calm_since_;
  }

  // The samples that the forward left are near the reference; from here on they are taken at their word.
  std::map<std::uint32_t, gen::sample_record> read_samples(const std::vector<std::uint32_t>& asked) {
    std::map<std::uint32_t, gen::sample_record> samples;
    const std::uint64_t results =
        bench_.request().work_address +
        std::uint64_t{dllm::ring_entries} * (gen::descriptor_bytes + sizeof(gen::completion_record));
    for (const std::uint32_t i : asked) {
      const gen::sample_record s =
          *bench_.machine().at<gen::sample_record>(results + (i - asked.front()) * sizeof(gen::sample_record));
      check_prediction(cache_.probabilities, i, s.token, s.confidence);
      samples[i] = s;
    }
    return samples;
  }

  void forward(const gen::progress_record& p) {
    const std::uint32_t first = seen_.begin()->first;
    const std::uint32_t end = first + static_cast<std::uint32_t>(seen_.size());
    const bool was_complete = complete();
    const std::uint32_t block = was_complete ? total_ : case_.prompt + current_block();
    const std::uint32_t block_end = was_complete ? total_ : block + case_.block;
    std::vector<std::uint32_t> masks;
    for (std::uint32_t i = block; i < block_end; ++i) {
      if (masked(i)) {
        masks.push_back(i);
      }
    }
    EXPECT_TRUE(!was_complete || unsure_left()) << "else the run is over";
    const bool drafting = forwards_ != 0 && !was_complete && masks.size() < case_.trigger;
    EXPECT_EQ(p.forward, forwards_);
    EXPECT_TRUE(was_complete || p.first == block);
    check_rows(first, end, drafting);
    move_window(std::max(first, case_.prompt) - case_.prompt, end - case_.prompt);
    const bool free = !job_ || fresh_job_;
    if (free) {
      began_with_ = now_;
    }
    ASSERT_NO_FATAL_FAILURE(check_targets(free && case_.revisions != 0 && !was_complete));

    std::vector<std::uint32_t> candidates, asked;
    for (const std::uint32_t i : masks) {
      if (i < end) {
        candidates.push_back(i);
      }
    }
    std::map<std::uint32_t, std::uint32_t> tested;
    for (const std::uint32_t i : candidates) {
      const auto draft = drafts_.find(i);
      if (draft != drafts_.end()) {
        tested.insert(*draft);
        drafts_.erase(draft);
      }
    }
    asked = candidates;
    for (std::uint32_t i = block_end; i < end && drafting; ++i) {
      if (drafts_.count(i) == 0) {
        asked.push_back(i);
      }
    }
    std::vector<std::uint32_t> tokens;
    for (const auto& [position, token] : seen_) {
      const auto draft = drafts_.find(position);
      EXPECT_EQ(token, draft != drafts_.end() ? draft->second : now_[position]) << position;
      tokens.push_back(token);
    }
    seen_.clear();
    model_.forward_rows(tokens, first, 0, cache_);
    auto samples = read_samples(asked);
    ++forwards_;
    ++step_;
    rows_ += end - first;

    const std::set<std::uint32_t> chosen = choose(candidates, samples, tested);
    EXPECT_TRUE(was_complete || !chosen.empty()) << "every step makes progress";
    take_effect(candidates, chosen, samples);
    calm_since_ = was_complete ? calm_since_ : step_;
    for (std::uint32_t i = block_end; i < end && drafting; ++i) {
      if (drafts_.count(i) == 0 && samples[i].confidence > case_.draft_threshold) {
        drafts_[i] = samples[i].token;
        ++offered_;
      }
    }
    if (job_ && (case_.wait || function_ == nullptr)) {
      land();
    }
    EXPECT_EQ(p.committed, chosen.size());
    EXPECT_EQ(p.masks_left, masks.size() - chosen.size());
  }

  std::set<std::uint32_t> choose(std::vector<std::uint32_t> candidates,
                                 std::map<std::uint32_t, gen::sample_record>& samples,
                                 const std::map<std::uint32_t, std::uint32_t>& tested) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return samples[a].confidence > samples[b].confidence; });
    std::set<std::uint32_t> chosen;
    for (std::size_t i = 0; i < std::min(tested.size(), candidates.size()); ++i) {
      const auto draft = tested.find(candidates[i]);
      if (draft != tested.end() && draft->second == samples[candidates[i]].token) {
        chosen.insert(candidates[i]);
      }
    }
    accepted_ += static_cast<std::uint32_t>(chosen.size());
    rejected_ += static_cast<std::uint32_t>(tested.size() - chosen.size());
    for (const std::uint32_t i : candidates) {
      if (samples[i].confidence >= case_.visibility) {
        chosen.insert(i);
      }
    }
    if (chosen.empty() && !candidates.empty()) {
      chosen.insert(candidates.front());
      alone_ = true;
    }
    return chosen;
  }

  void take_effect(const std::vector<std::uint32_t>& candidates, const std::set<std::uint32_t>& chosen,
                   std::map<std::uint32_t, gen::sample_record>& samples) {
    const auto show = [&](std::uint32_t i) {
      const gen::sample_record& s = samples[case_.prompt + i];
      diary& d = mirror_[i];
      d = {.is = stage::visible, .token = s.token, .confidence = s.confidence, .events = d.events + 1};
      note(i, 1);
    };
    for (std::uint32_t i = last_first_; i < last_end_; ++i) {
      diary& d = mirror_[i];
      if (d.is == stage::visible) {
        d.fed = true;
        if (d.confidence >= case_.stability) {
          freeze(i);
        }
      } else if (d.is == stage::masked && chosen.count(case_.prompt + i) != 0 && !alone_) {
        show(i);
      }
    }
    if (alone_) {
      show(*chosen.begin() - case_.prompt);
    }
    alone_ = false;
    for (const std::uint32_t i : candidates) {
      if (chosen.count(i) != 0) {
        write(i - case_.prompt, samples[i].token);
      }
    }
  }

  // Tokens, and every row of the cache.
  void compare() {
    EXPECT_EQ(bench_.tokens(total_), now_) << "forward " << forwards_;
    const tiny_options& o = model_.options();
    kernels::config config;
    config.kv_heads = o.kv_heads;
    config.head_length = o.head_length;
    config.layers = o.layers;
    const kernels::kv_cache at{.address = bench_.request().kv_address, .capacity = (total_ + 63) / 64 * 64};
    const auto element = [&](std::uint64_t address) {
      return static_cast<double>(numerics::from_bf16(*bench_.machine().at<std::uint16_t>(address)));
    };
    for (std::uint32_t layer = 0; layer < o.layers; ++layer) {
      for (std::uint32_t position = 0; position < total_; ++position) {
        double error = 0, whole = 0;
        for (std::uint32_t f = 0; f < o.kv_heads * o.head_length; ++f) {
          const double key = cache_.keys[layer].at(position, f), value = cache_.values[layer].at(position, f);
          const std::uint32_t head = f / o.head_length;
          error += std::pow(element(at.keys(config, layer, head, position) + 2 * (f % o.head_length)) - key, 2) +
                   std::pow(element(at.values(config, layer, f, position)) - value, 2);
          whole += key * key + value * value;
        }
        ASSERT_LT(error, 0.0025 * whole) << "layer " << layer << ", position " << position << ", forward " << forwards_;
      }
    }
  }

  tiny_model& model_;
  bench& bench_;
  const dual_case& case_;
  std::uint32_t total_;
  testbench::reference_forward cache_;
  std::map<std::uint32_t, std::uint32_t> seen_;    // position -> token, of the forward in work
  std::map<std::uint32_t, std::uint32_t> drafts_;  // position -> token, held and not asked about yet
  std::vector<std::uint32_t> now_;                 // as everybody outside sees it
  std::vector<std::uint32_t> began_with_;          // when the job began
  std::vector<diary> mirror_;                      // by position, from the prompt's end
  std::optional<cpu_job> job_;
  bool fresh_job_ = false;  // its targets have not been looked at
  std::vector<dllm::revision_transaction> targets_;
  void (*function_)(void*) = nullptr;  // of a job that has not run
  dllm::revision_job* argument_ = nullptr;
  std::uint32_t polls_ = 0;
  bool alone_ = false;  // one position became visible for the sake of progress
  std::uint32_t last_first_ = 0, last_end_ = 0;
  std::uint32_t calm_since_ = 0;  // the step after which no sweep step changed a token
  std::uint32_t forwards_ = 0, rows_ = 0, step_ = 0, offered_ = 0, accepted_ = 0, rejected_ = 0;
  std::uint32_t picked_ = 0, applied_ = 0, replaced_ = 0, dropped_ = 0, cpu_rows_ = 0, outside_ = 0, sweeps_ = 0,
                far_back_ = 0;
  std::uint64_t hash_ = 14695981039346656037u, revision_hash_ = 14695981039346656037u;
};

class dual_path : public ::testing::TestWithParam<dual_case> {};

TEST_P(dual_path, every_step_follows_the_rules) {
  const dual_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, c.model.seed + 1000);
  // Eager: what the CPU path reads beside a forward is read when the forward has replaced all it will.
  bench b(model, {.eager = true}, prompt);
  ask(b, c);
  follower f(model, b, c);
  ASSERT_EQ(b.run(), result_code::ok);
  f.expect_totals();
  EXPECT_EQ(b.tokens(c.prompt), prompt) << "the prompt stays";
  EXPECT_EQ(b.result().total_tokens, c.prompt + c.generate);
  const gen::result_record& r = b.result();
  EXPECT_TRUE(c.revisions == 0 || r.revisions_replaced != 0) << "the case exercises revisions";
  EXPECT_TRUE(c.trigger == 0 || (r.drafts_accepted != 0 && r.drafts_rejected != 0)) << "the case exercises drafts";
  EXPECT_TRUE(c.sweep == 0 || f.outside_window() != 0) << "the case refreshes keys and values";
  EXPECT_TRUE(c.order != revision_choice::low_confidence || f.far_back() != 0) << "the case revises far behind";
  for (const std::uint32_t period : b.machine().watchdog_starts()) {
    EXPECT_TRUE(period == 0 || period > b.request().watchdog_us) << "the request's is about the NPU";
  }
  EXPECT_TRUE(c.boundaries_late == 0 || r.revisions_dropped != 0) << "the case drops what is outdated";
}

INSTANTIATE_TEST_SUITE_P(all, dual_path, ::testing::ValuesIn(cases),
                         [](const auto& shape) { return std::string(shape.param.name); });

const dual_case mixed{.name = "mixed",
                      .model = dream(167),
                      .prompt = 11,
                      .generate = 96,
                      .block = 16,
                      .revisions = 3,
                      .sweep = 4,
                      .trigger = 64,
                      .look_ahead = 20,
                      .draft_threshold = 0.2f,
                      .row_tile = 8};

struct whole_run {
  gen::result_record result;
  std::vector<std::uint32_t> tokens;
  std::vector<std::byte> cache;
};

// Runs the request; the other hart takes jobs if it is there, and does them when it is waited for.
whole_run run(
    const dual_case& c, void (*change)(gen::request_record&) = [](gen::request_record&) {}) {
  tiny_model model(c.model);
  bench b(model, {}, testbench::random_tokens(model, c.prompt, c.model.seed + 1000));
  ask(b, c);
  change(b.request());
  std::function<void()> job;
  b.machine().on_start_hart = [&](std::uint32_t hart, void (*function)(void*), void* argument) {
    EXPECT_FALSE(job);
    job = [=] { function(argument); };
    if (c.hart == other_hart::at_once) {
      job();
      job = nullptr;
    }
    return hart == 1 && c.hart != other_hart::none;
  };
  b.machine().on_hart_idle = [&](std::uint32_t) { return !job; };
  b.machine().on_wait_for_hart = [&](std::uint32_t) {
    if (job) {
      job();
      job = nullptr;
    }
  };
  if (c.hart == other_hart::none) {
    b.machine().on_start_hart = [](auto...) { return false; };
  }
  EXPECT_EQ(b.run(), result_code::ok);
  EXPECT_FALSE(job) << "nothing runs on behind the end";
  const auto* cache = static_cast<const std::byte*>(b.machine().memory(b.request().kv_address, b.request().kv_bytes));
  return {b.result(), b.tokens(c.prompt + c.generate), {cache, cache + b.request().kv_bytes}};
}

void expect_equal(const whole_run& a, const whole_run& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.cache, b.cache);
  EXPECT_EQ(std::memcmp(&a.result, &b.result, sizeof a.result), 0);
}

// With revision_wait the tokens, and all there is to count, are the same on one hart and on two.
TEST(dual_path_runs, do_not_depend_on_who_does_the_job) {
  for (const float temperature : {0.0f, 1.2f}) {
    std::vector<whole_run> runs;
    for (const other_hart hart : {other_hart::none, other_hart::at_once, other_hart::late}) {
      dual_case c = mixed;
      c.hart = hart;
      runs.push_back(temperature == 0 ? run(c) : run(c, [](gen::request_record& r) { r.temperature = 1.2f; }));
    }
    EXPECT_NE(runs[0].result.revisions_replaced, 0u);
    expect_equal(runs[1], runs[0]);
    expect_equal(runs[2], runs[0]);
  }
}

// Without it they still are when nothing is ever late.
TEST(dual_path_runs, without_waiting_are_the_same_when_nothing_is_late) {
  dual_case c = mixed;
  const whole_run expected = run(c);
  c.wait = false;
  expect_equal(run(c), expected);
  c.hart = other_hart::none;
  expect_equal(run(c), expected);
  c.hart = other_hart::late;
  const whole_run late = run(c);
  EXPECT_NE(late.result.revision_hash, expected.result.revision_hash) << "here every job is in work until the end";
}

TEST(dual_path_runs, a_seed_decides_all_there_is_to_chance) {
  const whole_run a = run(mixed, [](gen::request_record& r) { r.temperature = 1.5f, r.seed = 1; });
  const whole_run b = run(mixed, [](gen::request_record& r) { r.temperature = 1.5f, r.seed = 1; });
  const whole_run other = run(mixed, [](gen::request_record& r) { r.temperature = 1.5f, r.seed = 2; });
  expect_equal(a, b);
  EXPECT_NE(other.result.revision_hash, a.result.revision_hash);
}

// By the CPU engine the forwards are the same, and so is everything else.
TEST(dual_path_runs, do_not_depend_on_the_engine) {
  dual_case c = mixed;
  c.trigger = 0;  // look-ahead goes by the stairs of the engine
  const whole_run npu = run(c);
  const whole_run cpu = run(c, [](gen::request_record& r) { r.engine = gen::forward_engine::cpu; });
  EXPECT_EQ(cpu.tokens, npu.tokens);
  EXPECT_EQ(cpu.cache, npu.cache);
  EXPECT_EQ(cpu.result.state_hash, npu.result.state_hash);
  EXPECT_EQ(cpu.result.revision_hash, npu.result.revision_hash);
}

TEST(dual_path_runs, stop_behind_an_end_token_when_asked) {
  dual_case c = mixed;
  c.model = {.seed = 181};
  c.model.vocabulary = 6;  // so that the end token is common
  const whole_run r = run(c, [](gen::request_record& q) { q.flags |= gen::request_flag::stop_at_end; });
  const std::uint32_t total = r.result.total_tokens;
  ASSERT_LT(total, c.prompt + c.generate);
  const std::uint32_t end = c.model.vocabulary - 2, mask = c.model.vocabulary - 1;
  const std::uint32_t decoded = c.prompt + r.result.blocks * c.block;
  EXPECT_LE(total, decoded);
  EXPECT_EQ(r.result.made_visible, r.result.blocks * c.block);
  EXPECT_EQ(std::count(r.tokens.begin() + decoded, r.tokens.end(), mask), c.prompt + c.generate - decoded)
      << "later blocks stay masked";
  EXPECT_EQ(std::count(r.tokens.begin() + c.prompt, r.tokens.begin() + decoded, mask), 0);
  const auto first = std::find(r.tokens.begin() + c.prompt, r.tokens.begin() + decoded, end);
  EXPECT_EQ(total, first == r.tokens.begin() + decoded ? decoded : first - r.tokens.begin() + 1)
      << "up to the end token, or all that was decoded if a revision took it away";
}

TEST(dual_path_runs, refuse_what_does_not_go_together) {
  tiny_model model(mixed.model);
  const auto code_of = [&](void (*change)(gen::request_record&)) {
    bench b(model, {}, testbench::random_tokens(model, mixed.prompt, 1));
    ask(b, mixed);
    change(b.request());
    return b.run();
  };
  EXPECT_EQ(code_of([](gen::request_record&) {}), result_code::ok);
  for (void (*change)(gen::request_record&) : std::initializer_list<void (*)(gen::request_record&)>{
           [](gen::request_record& r) { r.visibility = -0.5f; },
           [](gen::request_record& r) { r.visibility = std::nanf(""); },
           [](gen::request_record& r) { r.stability = r.visibility / 2; },
           [](gen::request_record& r) { r.stability = std::nanf(""); },
           [](gen::request_record& r) { r.revisions = 17; },
           [](gen::request_record& r) { r.sweep_steps = 65; },
           [](gen::request_record& r) { r.refresh_first_layer = 2; },
           [](gen::request_record& r) { r.refresh_layers = 3; },
           [](gen::request_record& r) { r.refresh_first_layer = 1, r.refresh_layers = ~0u; },
           [](gen::request_record& r) { r.cache = gen::cache_mode::prefix; },
           [](gen::request_record& r) { r.edit_threshold = 0.5f; },
           [](gen::request_record& r) { r.flags |= gen::request_flag::clear_cache; },
           [](gen::request_record& r) { r.revision_order = static_cast<revision_choice>(2); },
           [](gen::request_record& r) { r.visibility = 0; },
       }) {
    EXPECT_EQ(code_of(change), result_code::bad_request);
  }
  EXPECT_EQ(code_of([](gen::request_record& r) { r.work_bytes = 1u << 17; }), result_code::too_long);
}

// A forward that fails while the other hart is at work: the job is waited for all the same.
TEST(dual_path_runs, leave_nobody_at_work_when_the_npu_fails) {
  tiny_model model(mixed.model);
  bench b(model, {}, testbench::random_tokens(model, mixed.prompt, 1));
  ask(b, mixed);
  b.request().flags = 0;
  std::function<void()> job;
  b.machine().on_start_hart = [&](std::uint32_t, void (*function)(void*), void* argument) {
    job = [=] { function(argument); };
    b.machine().stuck_at = b.machine().descriptors() + 10;
    return true;
  };
  b.machine().on_hart_idle = [&](std::uint32_t) { return !job; };
  b.machine().on_wait_for_hart = [&](std::uint32_t) {
    job();
    job = nullptr;
  };
  EXPECT_EQ(b.run(), result_code::npu_timeout);
  EXPECT_FALSE(job);
  EXPECT_NE(b.result().made_visible, 0u) << "what was done so far is told";
}

}  // namespace
}  // namespace dvp
