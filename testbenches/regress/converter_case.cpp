// Random bursts through the precision converter: codes by numerics::convert, packing and ends of bursts by a model of
// the contract in rtl/converter/precision_converter.sv.
#include <algorithm>
#include <deque>
#include <random>

#include "testbenches/regress/designs.h"
#include "testbenches/regress/regress_case.h"
#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/numerics/converter.h"

namespace dvp::regress {

namespace {

constexpr std::uint8_t bits_of[] = {0, 8, 4, 2};  // by the RTL's code of a precision
constexpr const char* precision_names[] = {"q0", "q8", "q4", "q2"};
constexpr const char* mode_names[] = {"midpoint", "round", "fitted", "truncate"};

std::string text_of(const converter_output& out) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = std::string(precision_names[out.precision]) + (out.half_step ? " half" : "") + ", count " +
                     std::to_string(out.count) + (out.last ? ", last, 0x" : ", 0x");
  for (std::size_t n = converter_burst_bytes; n-- > 0;) {
    text += digits[out.data[n] >> 4];
    text += digits[out.data[n] & 15];
  }
  return text;
}

// What has gone in and has not come out.
class stream_model {
 public:
  // Whether an output burst is open, and what the burst did to it.
  enum class effect { joins, starts, splits, marks, alone, nothing };

  effect push(const converter_input& in) {
    const std::uint8_t bits = bits_of[in.precision];
    const bool half_step = in.mode == 0 && (bits == 4 || bits == 2);
    const bool elements = bits != 0 && in.count != 0;
    effect done = effect::nothing;
    if (elements) {
      done = open_ ? effect::joins : effect::starts;
      if (open_ && (filling_.precision != in.precision || filling_.half_step != half_step)) {
        finish();
        done = effect::splits;
      }
      if (!open_) {
        filling_ = {};
        filling_.precision = in.precision;
        filling_.half_step = half_step;
        open_ = true;
      }
      const numerics::view view{bits, static_cast<numerics::view_mode>(in.mode), in.clip, in.shift, in.threshold};
      for (std::uint32_t n = 0; n < in.count; ++n) {
        const std::int8_t code = numerics::convert(view, static_cast<std::int8_t>(in.data[n]));
        const std::uint32_t place = filling_.count * bits;
        filling_.data[place / 8] |= static_cast<std::uint8_t>((code & ((1 << bits) - 1)) << place % 8);
        ++filling_.count;
      }
    }
    if (in.last) {
      if (!elements) done = open_ ? effect::marks : effect::alone;
      if (!open_) filling_ = {};
      filling_.last = true;
      finish();
    } else if (open_ && filling_.count * bits_of[filling_.precision] == converter_burst_bytes * 8) {
      finish();
    }
    return done;
  }

  bool open() const { return open_; }
  std::deque<converter_output>& finished() { return finished_; }

 private:
  void finish() {
    finished_.push_back(filling_);
    open_ = false;
  }

  bool open_ = false;
  converter_output filling_;
  std::deque<converter_output> finished_;
};

class converter_run {
 public:
  converter_run(const case_options& options, cover_points& points)
      : options_(options), dut_(make_converter(options.seed)), points_(points), random_(options.seed) {
    for (const char* a : precision_names) {
      for (const char* b : precision_names) points_.declare(name("precision/" + std::string(a) + "_to_" + b));
      for (const char* mode : mode_names) points_.declare(name("view/" + std::string(a) + "_" + mode));
    }
    for (const char* point : {"burst/joins",
                              "burst/starts",
                              "burst/splits",
                              "burst/marks",
                              "burst/alone",
                              "burst/nothing",
                              "burst/empty",
                              "burst/short",
                              "fitted/ties",
                              "fitted/clips",
                              "fitted/no_shift",
                              "round/ties",
                              "round/limits",
                              "code/minus_128",
                              "fitted/at_threshold",
                              "stall/burst",
                              "stall/result",
                              "stall/result_long",
                              "gap/burst_while_open",
                              "result_ready/before_valid",
                              "pace/every_cycle",
                              "reset/idle",
                              "reset/open",
                              "reset/result_waiting",
                              "reset/stalled",
                              "reset/with_input",
                              "fitted/clips_past_tie",
                              "fitted/tie_at_clip"}) {
      points_.declare(name(point));
    }
    if (!options_.waves.empty()) {
      dut_->open_waves(options_.waves);
      dut_->record_waves(false);
    }
  }

  case_result run() {
    std::optional<converter_input> waiting;
    while (cycle_ < options_.cycles && !failure_) {
      if (phase_left_-- == 0) new_phase();
      if (!waiting && percent(valid_)) waiting = random_burst();
      if (reset_every_ != 0 && random_() % reset_every_ == 0) {
        reset(waiting ? &*waiting : nullptr);
        continue;
      }
      if (step(waiting ? &*waiting : nullptr, percent(ready_))) waiting.reset();
    }
    for (int n = 0; n < 8 && !failure_; ++n) step(nullptr, true);
    if (!failure_ && !model_.finished().empty()) fail(text_of(model_.finished().front()), "nothing");
    return {failure_, cycle_, delivered_};
  }

 private:
  std::string name(const std::string& point) const { return "converter/" + point; }
  void hit_if(bool condition, const std::string& point) {
    if (condition) points_.hit(name(point));
  }
  bool percent(std::uint32_t p) { return random_() % 100 < p; }

  void new_phase() {
    constexpr std::uint32_t paces[] = {100, 100, 80, 50, 10};
    valid_ = paces[random_() % 5];
    ready_ = paces[random_() % 5];
    keep_ = random_() % 3 * 45;
    reset_every_ = random_() % 4 == 0 ? 10 + random_() % 60 : 0;
    phase_left_ = 100 + random_() % 300;
  }

  converter_input random_burst() {
    converter_input in;
    if (percent(keep_)) {
      in = before_;
    } else {
      in.precision = random_() % 4;
      in.mode = random_() % 4;
      const bool borders = random_() % 3 == 0;
      constexpr std::uint8_t bytes[] = {0, 1, 7, 63, 64, 126, 127};
      in.clip = borders ? bytes[random_() % 7] : random_() % 128;
      in.threshold = borders ? bytes[random_() % 7] : random_() % 128;
      in.shift = random_() % 8;
      if (random_() % 4 == 0) in.clip = near_tie(in.shift);
    }
    before_ = in;
    const bool borders = random_() % 4 == 0;
    const bool limits = random_() % 4 == 0;
    for (auto& byte : in.data) {
      byte = static_cast<std::uint8_t>(random_());
      if (borders) byte = static_cast<std::uint8_t>(test::code_corners[byte % std::size(test::code_corners)]);
      if (limits) byte = static_cast<std::uint8_t>(around_limit(in, byte));
    }
    in.last = percent(20);
    in.count = percent(8) ? 0 : in.last && percent(60) ? 1 + random_() % converter_burst_bytes : converter_burst_bytes;
    return in;
  }

  // A clip at most three away from where rounding by the shift changes its result.
  std::uint8_t near_tie(std::uint8_t shift) {
    const int tie = static_cast<int>((2 * (random_() % 8) + 1) << shift >> 1);
    return static_cast<std::uint8_t>(std::clamp(tie + static_cast<int>(random_() % 7) - 3, 0, 127));
  }

  // A code at most three away from plus or minus the clip or the threshold.
  static int around_limit(const converter_input& in, std::uint8_t random) {
    const int limit = (random & 1) != 0 ? in.clip : in.threshold;
    const int near = limit + (random >> 2) % 7 - 3;
    return std::clamp((random & 2) != 0 ? near : -near, -128, 127);
  }

  // One cycle; whether `in` was accepted.
  bool step(const converter_input* in, bool result_ready) {
    if (!options_.waves.empty()) {
      dut_->record_waves(cycle_ >= options_.first_wave_cycle && cycle_ <= options_.last_wave_cycle);
    }
    dut_->drive_burst(in);
    dut_->drive_result_ready(result_ready);
    const bool ready = dut_->ready();
    const bool valid = dut_->result_valid();
    check(ready, valid, result_ready);
    hit_if(in != nullptr && !ready, "stall/burst");
    hit_if(in == nullptr && model_.open(), "gap/burst_while_open");
    hit_if(!valid && result_ready, "result_ready/before_valid");
    if (failure_) return false;
    // What is complete in the register moves on to the output buffer.
    const bool moves = ready && model_.finished().size() > buffered_;
    const bool accepted = in != nullptr && ready;
    const bool splits = accepted && accept(*in);
    if (moves || splits) ++buffered_;
    if (valid && result_ready) {
      model_.finished().pop_front();
      --buffered_;
      ++delivered_;
    }
    dut_->clock();
    ++cycle_;
    return accepted;
  }

  // Whether the burst ended the open output burst without being part of it.
  bool accept(const converter_input& in) {
    const auto done = model_.push(in);
    constexpr const char* names[] = {"joins", "starts", "splits", "marks", "alone", "nothing"};
    hit_if(true, std::string("burst/") + names[static_cast<std::size_t>(done)]);
    hit_if(in.count == 0, "burst/empty");
    hit_if(in.count > 0 && in.count < converter_burst_bytes, "burst/short");
    hit_if(true, "view/" + std::string(precision_names[in.precision]) + "_" + mode_names[in.mode]);
    if (accepted_before_) {
      hit_if(true, "precision/" + std::string(precision_names[previous_]) + "_to_" + precision_names[in.precision]);
    }
    hit_if(accepted_before_ && accept_cycle_ + 1 == cycle_, "pace/every_cycle");
    previous_ = in.precision;
    accepted_before_ = true;
    accept_cycle_ = cycle_;
    cover_codes(in);
    return done == stream_model::effect::splits;
  }

  void cover_codes(const converter_input& in) {
    const bool q4 = in.precision == 2, q2 = in.precision == 3;
    const bool fitted = in.mode == 2, round = in.mode == 1;
    for (std::uint32_t n = 0; n < in.count; ++n) {
      const int q = static_cast<std::int8_t>(in.data[n]);
      hit_if(q == -128, "code/minus_128");
      hit_if(q4 && fitted && std::abs(q) > in.clip, "fitted/clips");
      hit_if(q4 && fitted && in.shift == 0, "fitted/no_shift");
      // Where the result changes: at odd multiples of half the divisor.
      const int half = 1 << in.shift >> 1;
      const int steps = half == 0 ? 0 : (std::abs(q) + half) / (2 * half);
      hit_if(q4 && fitted && steps < 8 && half != 0 && steps > (in.clip + half) / (2 * half), "fitted/clips_past_tie");
      hit_if(q4 && fitted && half > 1 && std::abs(q) % (2 * half) == half && std::abs(std::abs(q) - in.clip) <= 2,
             "fitted/tie_at_clip");
      const int below = std::clamp(q, -int{in.clip}, int{in.clip}) & ((1 << in.shift) - 1);
      hit_if(q4 && fitted && in.shift > 0 && below == 1 << (in.shift - 1), "fitted/ties");
      hit_if(q2 && fitted && std::abs(q) == in.threshold, "fitted/at_threshold");
      hit_if(round && ((q4 && (q & 15) == 8) || (q2 && (q & 63) == 32)), "round/ties");
      hit_if(round && ((q4 && q > 119) || (q2 && q > 95)), "round/limits");
    }
  }

  void fail(const std::string& expected, const std::string& got) {
    if (failure_) return;
    failure_ =
        mismatch{cycle_, "burst " + std::to_string(delivered_),
                 accepted_before_ ? std::string("last accepted ") + precision_names[previous_] : "nothing accepted",
                 expected, got};
  }

  // A finished burst passes one register and a buffer of two entries; the one that a burst of another precision ends
  // goes into the buffer at once. Ready is space in the buffer.
  void check(bool ready, bool valid, bool result_ready) {
    if (ready != (buffered_ < 2)) return fail(buffered_ < 2 ? "ready" : "not ready", ready ? "ready" : "not ready");
    if (valid != (buffered_ > 0)) {
      return fail(buffered_ > 0 ? text_of(model_.finished().front()) : "no result",
                  valid ? text_of(dut_->result()) : "no result");
    }
    if (!valid) return;
    const converter_output out = dut_->result();
    const converter_output& wanted = model_.finished().front();
    if (out != wanted) return fail(text_of(wanted), text_of(out));
    waiting_ = result_ready ? 0 : waiting_ + 1;
    hit_if(waiting_ == 1, "stall/result");
    hit_if(waiting_ == 4, "stall/result_long");
  }

  void reset(const converter_input* in) {
    hit_if(!model_.open() && model_.finished().empty(), "reset/idle");
    hit_if(model_.open(), "reset/open");
    hit_if(!model_.finished().empty(), "reset/result_waiting");
    hit_if(waiting_ > 0, "reset/stalled");
    hit_if(in != nullptr, "reset/with_input");
    dut_->drive_burst(in);
    dut_->drive_result_ready(percent(50));
    dut_->drive_reset(true);
    dut_->clock();
    ++cycle_;
    dut_->drive_reset(false);
    model_ = {};
    buffered_ = 0;
    waiting_ = 0;
    accepted_before_ = false;
  }

  const case_options& options_;
  std::unique_ptr<converter_design> dut_;
  cover_points& points_;
  test::random_words random_;
  stream_model model_;
  std::size_t buffered_ = 0;  // finished bursts in the output buffer
  converter_input before_;
  std::uint32_t valid_ = 100, ready_ = 100, keep_ = 50, reset_every_ = 0, phase_left_ = 0;
  std::uint64_t cycle_ = 0, delivered_ = 0, accept_cycle_ = 0;
  std::uint32_t waiting_ = 0;  // cycles the presented burst has waited
  bool accepted_before_ = false;
  std::uint8_t previous_ = 0;
  std::optional<mismatch> failure_;
};

}  // namespace

case_result run_converter_case(const case_options& options, cover_points& points) {
  converter_run run(options, points);
  return run.run();
}

}  // namespace dvp::regress
