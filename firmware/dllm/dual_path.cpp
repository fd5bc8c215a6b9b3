#include "firmware/dllm/dual_path.h"

#include <algorithm>

#include "firmware/dllm/drafts.h"
#include "firmware/dllm/revision.h"
#include "firmware/dllm/revision_job.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::result_code;
namespace request_flag = gen::request_flag;

revision_rules rules_of(const gen::request_record& request, const kernels::config& model) {
  const bool oldest = request.revision_order == gen::revision_choice::oldest;
  return {.visibility = request.visibility,
          .stability = request.stability,
          .policy = oldest ? revision_policy::oldest : revision_policy::low_confidence,
          .block_length = request.block_length,
          .first_layer = request.refresh_first_layer,
          .layers = request.refresh_layers != 0 ? request.refresh_layers : model.layers - request.refresh_first_layer};
}

std::span<revision_entry> fresh_entries(const gen::request_record& request, const work_layout& work) {
  const auto entries = hal::objects<revision_entry>(work.revision_entries, request.generate_tokens);
  std::fill(entries.begin(), entries.end(), revision_entry{});
  return entries;
}

class dual_path final : private meanwhile {
 public:
  dual_path(session& s, const work_layout& work)
      : s_(s),
        request_(s.request()),
        length_(request_.block_length),
        prompt_(request_.prompt_tokens),
        total_(prompt_ + request_.generate_tokens),
        latencies_(read_latencies(request_, s.row_tile())),
        revision_(rules_of(request_, s.model()), fresh_entries(request_, work)),
        job_(s, work) {
    drafts_.base = prompt_;
  }

  result_code answer();

 private:
  void run() override;
  bool has(std::uint16_t flag) const { return (request_.flags & flag) != 0; }
  bool unsure_left() const;
  result_code decode();
  result_code sweep();
  void open_block();
  void close_block();

  result_code step(bool revising);
  window rows_of_step(bool drafts_wanted) const;
  bool move_window(const window& rows);
  void start_job();
  result_code forward(const window& rows, position_set candidates, position_set ahead);
  result_code take_predictions(position_set candidates, const draft_set& drafted);
  result_code land();
  result_code land(const revision_transaction& t);
  void slide();
  void publish();

  session& s_;
  const gen::request_record& request_;
  std::uint32_t length_;  // of a block
  std::uint32_t prompt_;
  std::uint32_t total_;
  latency_table latencies_;
  draft_set drafts_;              // of later blocks
  draft_set pending_;             // of the block in work, not asked about yet
  block block_;                   // in work
  std::uint32_t frontier_ = 0;    // where the window starts, from the prompt's end
  std::uint32_t calm_since_ = 0;  // sweep: the step after which no token changed
  revision revision_;
  revision_job job_;
  bool revising_ = false;  // in the forward in work
};

result_code dual_path::answer() {
  std::fill(s_.tokens().begin() + prompt_, s_.tokens().begin() + total_, s_.model().mask_token);
  s_.result().total_tokens = total_;
  result_code code = decode();
  if (code == result_code::ok) {
    job_.wait();
    code = land();
  }
  if (code == result_code::ok && request_.revisions != 0 && request_.sweep_steps != 0) {
    code = sweep();
  }
  job_.wait();
  publish();
  if (has(request_flag::stop_at_end)) {
    const std::uint32_t decoded = prompt_ + static_cast<std::uint32_t>(revision_.entries().size());
    const std::uint32_t end = s_.behind_end_token(prompt_, decoded);
    s_.result().total_tokens = end != 0 ? end : decoded;
  }
  return code;
}

// Whether a visible token below the stability has not been revised since anything else was.
bool dual_path::unsure_left() const {
  return std::any_of(revision_.entries().begin(), revision_.entries().end(), [&](const revision_entry& e) {
    return e.state == visibility_state::visible && !(e.confidence >= request_.stability) && e.revised <= calm_since_;
  });
}

result_code dual_path::decode() {
  result_code code = result_code::ok;
  while (code == result_code::ok && !revision_.complete()) {
    if (block_.masks == 0) {
      open_block();
    }
    code = step(true);
    if (code == result_code::ok && block_.masks == 0) {
      close_block();
    }
  }
  return code;
}

void dual_path::open_block() {
  const std::uint32_t first = prompt_ + revision_.current_block();
  block_ = s_.open_block(first, length_, first);
  pending_ = take_block(drafts_, length_);
}

void dual_path::close_block() {
  s_.block_complete(block_, total_);
  const std::uint32_t end = block_.first + length_;
  if (has(request_flag::stop_at_end) && s_.behind_end_token(prompt_, end) != 0) {
    static_cast<void>(revision_.cut(end - prompt_));
    drafts_.held = 0;
  }
}

// The NPU is idle but for one forward, after which every token has been an input.
result_code dual_path::sweep() {
  result_code code = result_code::ok;
  calm_since_ = revision_.step();
  if (unsure_left() && frontier_ != revision_.entries().size()) {
    code = step(false);
  }
  for (std::uint32_t i = 0; i < request_.sweep_steps && code == result_code::ok && unsure_left(); ++i) {
    const std::uint32_t replaced = revision_.counters().replaced;
    if (!move_window({.first = total_})) {
      return result_code::stable_write;
    }
    start_job();
    job_.wait();
    static_cast<void>(revision_.end_forward());
    code = land();
    if (revision_.counters().replaced != replaced) {
      calm_since_ = revision_.step();
      s_.report(gen::progress_kind::forward, block_, 0, total_);
    }
  }
  return code;
}

result_code dual_path::step(bool revising) {
  const bool first = s_.result().forwards == 0;
  const bool wanted = !first && block_.masks != 0 && count(block_.masks) < request_.draft_trigger;
  const window rows = first ? window{.rows = total_, .keys = total_} : rows_of_step(wanted);
  if (!move_window(rows)) {
    return result_code::stable_write;
  }
  revising_ = revising && request_.revisions != 0;
  if (revising_ && !job_.in_work() && revision_.counters().made_visible != revision_.counters().made_stable) {
    job_.secure(rows);
  }
  const std::uint32_t end = rows.first + rows.rows;
  const position_set candidates = block_.masks & positions(0, std::min(length_, end - block_.first));
  const position_set ahead =
      wanted && end > drafts_.base ? positions(0, end - drafts_.base) & ~drafts_.held : position_set{0};
  draft_set drafted = pending_;
  drafted.held &= candidates;
  pending_.held &= ~candidates;
  result_code code = forward(rows, candidates, ahead);
  if (code != result_code::ok) {
    return code;
  }
  job_.replaced(rows);
  s_.result().drafts_offered += add_drafts(drafts_, s_.confidences().subspan(length_), s_.predicted().subspan(length_),
                                           ahead, request_.draft_threshold, has(request_flag::threshold_inclusive));
  const position_set masks = block_.masks;
  code = take_predictions(candidates, drafted);
  if (code == result_code::ok && (job_.done() || has(request_flag::revision_wait))) {
    job_.wait();
    code = land();
  }
  slide();
  s_.report(gen::progress_kind::forward, block_, count(masks & ~block_.masks), total_);
  return code;
}

window dual_path::rows_of_step(bool drafts_wanted) const {
  const std::uint32_t shift = s_.model().shift_logits ? 1 : 0;
  const std::uint32_t start = prompt_ + frontier_;
  const std::uint32_t first = start - shift;
  std::uint32_t end = std::min(start + length_, total_);
  if (revision_.complete()) {
    end = std::max(end, prompt_ + static_cast<std::uint32_t>(revision_.entries().size()));
  }
  if (block_.masks != 0 && end <= block_.first + lowest(block_.masks)) {
    end = block_.first + length_;
  }
  if (!drafts_wanted) {
    return {.first = first, .rows = end - first, .keys = total_};
  }
  const std::uint32_t limit = std::min({end + request_.draft_look_ahead, drafts_.base + most_drafts, total_});
  return {.first = first, .rows = latencies_.same_time(end - first, limit - first), .keys = total_};
}

// False when the bookkeeping does not know the rows.
bool dual_path::move_window(const window& rows) {
  const std::uint32_t decoded = static_cast<std::uint32_t>(revision_.entries().size());
  const std::uint32_t first = std::min(std::max(rows.first, prompt_) - prompt_, decoded);
  const std::uint32_t end = std::min(std::max(rows.first + rows.rows, prompt_) - prompt_, decoded);
  return revision_.move_window(first, end - first) == revision_code::ok;
}

// Beside the forward, with the drafts among the tokens.
void dual_path::run() {
  if (revising_) {
    start_job();
  }
  job_.run();
}

void dual_path::start_job() {
  if (!job_.in_work()) {
    hal::spend(hal::work::token, revision_.entries().size());
    const std::uint32_t targets = revision_.pick(job_.targets());
    if (targets == 0) {
      return;
    }
    job_.start(targets, revision_.entries());
  }
  ++s_.result().revision_steps;
}

// With the drafts as context that are not asked about.
result_code dual_path::forward(const window& rows, position_set candidates, position_set ahead) {
  show(drafts_, s_.tokens());
  show(pending_, s_.tokens());
  const result_code code = s_.predict(rows, block_, candidates, ahead, this);
  hide(drafts_, s_.tokens(), s_.model().mask_token);
  hide(pending_, s_.tokens(), s_.model().mask_token);
  return code;
}

// What the forward said about masks of the block in work takes effect.
result_code dual_path::take_predictions(position_set candidates, const draft_set& drafted) {
  const std::uint32_t first = block_.first - prompt_;
  const position_set accepted = confirmed(drafted, s_.confidences(), s_.predicted(), candidates);
  s_.result().drafts_accepted += count(accepted);
  s_.result().drafts_rejected += count(drafted.held & ~accepted);
  bool sound = true;
  for (position_set rest = candidates; rest != 0; rest &= rest - 1) {
    const std::uint32_t i = lowest(rest);
    sound = sound && revision_.observe(first + i, s_.predicted()[i], s_.confidences()[i]) == revision_code::ok &&
            ((accepted >> i & 1) == 0 || revision_.accept(first + i) == revision_code::ok);
  }
  if (!sound || !revision_.end_forward()) {
    return result_code::stable_write;
  }
  position_set chosen = 0;
  for (position_set rest = candidates; rest != 0; rest &= rest - 1) {
    if (revision_.entries()[first + lowest(rest)].state != visibility_state::invisible) {
      chosen |= rest & -rest;
    }
  }
  s_.write(block_, chosen);
  return result_code::ok;
}

// What the CPU path found.
result_code dual_path::land() {
  if (!job_.in_work()) {
    return result_code::ok;
  }
  result_code code = job_.good() ? result_code::ok : result_code::bad_image;
  hal::spend(hal::work::token, job_.results().size());
  for (const revision_transaction& t : job_.results()) {
    if (code == result_code::ok) {
      code = land(t);
    }
  }
  job_.finish();
  return code;
}

result_code dual_path::land(const revision_transaction& t) {
  const bool changes = revision_.entries()[t.position].token != t.token;
  switch (revision_.merge(t)) {
    case revision_code::ok:
      break;
    case revision_code::dropped:
      return result_code::ok;
    case revision_code::stable_write:
    case revision_code::bad_argument:
      return result_code::stable_write;
  }
  if (changes) {
    s_.replace(prompt_ + t.position, t.token);
  }
  if (t.layers != 0) {
    job_.store(t);
  } else if (changes) {
    frontier_ = std::min(frontier_, t.position);
  }
  return result_code::ok;
}

// On to the first position that the window must still hold.
void dual_path::slide() {
  const auto entries = revision_.entries();
  while (frontier_ != entries.size() && entries[frontier_].fed) {
    ++frontier_;
  }
}

void dual_path::publish() {
  gen::result_record& result = s_.result();
  const revision_counters& counters = revision_.counters();
  result.made_visible = counters.made_visible;
  result.made_stable = counters.made_stable;
  result.revisions_picked = counters.picked;
  result.revisions_applied = counters.applied;
  result.revisions_replaced = counters.replaced;
  result.revisions_dropped = counters.dropped;
  result.revision_hash = revision_.state_hash();
}

}  // namespace

result_code run_dual_path(session& s, const work_layout& work) {
  return dual_path(s, work).answer();
}

}  // namespace dvp::dllm
