// Random jobs through one array: every beat's sums by a double loop in the host's arithmetic, every cycle's ready and
// valid by the contract in rtl/array/systolic_array.sv.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <vector>

#include "testbenches/regress/arithmetic_cover.h"
#include "testbenches/regress/array_job.h"
#include "testbenches/regress/designs.h"
#include "testbenches/regress/regress_case.h"

namespace dvp::regress {

namespace {

std::string text_of(std::uint32_t bits) {
  char text[48];
  std::snprintf(text, sizeof text, "0x%08x (%g)", bits, static_cast<double>(std::bit_cast<float>(bits)));
  return text;
}

// How busy the three channels are, in percent, and how often a reset comes; drawn anew every few hundred cycles.
struct profile {
  std::uint32_t load = 100, stream = 100, ready = 100, burst = 0, other_tile = 50, reset_every = 0;
};

class array_run {
 public:
  array_run(const case_options& options, cover_points& points)
      : options_(options),
        config_(options.design.substr(6)),
        dut_(make_array(config_, options.seed)),
        shape_(dut_->shape()),
        points_(points),
        arithmetic_(points),
        traffic_(options.seed),
        filler_(options.seed ^ 0x5eed'0001u),
        jobs_(options.seed ^ 0x5eed'0002u) {
    declare_points();
    if (!options_.waves.empty()) {
      dut_->open_waves(options_.waves);
      dut_->record_waves(false);
    }
    forget();
  }

  case_result run() {
    while (cycle_ < options_.cycles && !failure_) {
      if (phase_left_ == 0) new_phase();
      --phase_left_;
      if (now_.reset_every != 0 && traffic_() % now_.reset_every == 0) {
        reset();
      } else {
        step(true);
      }
    }
    for (std::uint32_t n = 0; n < 4 * latency() && !failure_ && !expected_.empty(); ++n) step(false);
    return {failure_, cycle_, compared_};
  }

 private:
  struct expected_result {
    std::uint64_t move = 0;  // in which it is presented at the earliest
    std::shared_ptr<tile> from;
    std::vector<std::uint32_t> vectors;
    std::vector<std::vector<std::uint32_t>> sums;  // [vectors][C]
    std::string history;
  };

  std::uint32_t rows() const { return shape_.rows; }
  std::uint32_t columns() const { return shape_.columns; }
  std::uint64_t latency() const { return std::uint64_t{rows()} * shape_.adder_stages + columns() + 1; }
  bool percent(std::uint32_t p) { return traffic_() % 100 < p; }

  std::string name(const std::string& point) const { return options_.design + "/" + point; }
  void hit(const std::string& point) { points_.hit(name(point)); }
  void hit_if(bool condition, const char* point) {
    if (condition) hit(point);
  }

  void declare_points() {
    for (std::uint32_t a = 0; a < beat_kinds; ++a) {
      for (std::uint32_t b = 0; b < beat_kinds; ++b) {
        const std::string pair = std::string(kind_names[a]) + "_" + kind_names[b];
        points_.declare(name("beat_after_beat/" + pair));
        beat_pair_[a][b] = &points_.count(name("beat_after_beat/" + pair));
      }
      const auto most = array::vectors_per_beat(shape_, format_of(static_cast<stream_kind>(a)));
      for (std::uint32_t n = 1; n <= most; ++n)
        points_.declare(name("vectors/" + std::string(kind_names[a]) + "_" + std::to_string(n)));
      points_.declare(name("stall/stream_" + std::string(kind_names[a])));
    }
    for (const char* a : {"bf16", "q8", "q4", "q2", "q0"}) {
      for (const char* b : {"bf16", "q8", "q4", "q2", "q0"}) {
        points_.declare(std::string("precision/") + a + "_to_" + b);
      }
    }
    for (const char* point : {"stall/load",
                              "stall/load_and_stream",
                              "stall/result_once",
                              "stall/result_long",
                              "gap/stream_while_loaded",
                              "gap/load_while_loading",
                              "state/idle",
                              "state/filling",
                              "state/presenting",
                              "accept/load_and_stream",
                              "accept/load_while_presenting",
                              "accept/stream_while_presenting",
                              "result_ready/before_valid",
                              "result_ready/low_before_valid",
                              "reset/idle",
                              "reset/loading",
                              "reset/streaming",
                              "reset/draining",
                              "reset/presenting",
                              "reset/stalled",
                              "reset/chain_waiting",
                              "reset/longer",
                              "reset/with_inputs",
                              "load/earliest",
                              "load/latest",
                              "load/any_order",
                              "load/inactive_row",
                              "rows/none",
                              "rows/one",
                              "rows/some",
                              "rows/all",
                              "fold/chained",
                              "fold/third_of_chain",
                              "fold/partial_end_of_chain",
                              "job/only_q0",
                              "job/one_vector",
                              "pace/every_cycle"}) {
      points_.declare(name(point));
    }
    if (shape_.banks == 2) {
      for (const char* point :
           {"bank/0_to_1", "bank/1_to_0", "bank/load_other_while_streaming", "bank/beats_of_two_tiles_alternate"}) {
        points_.declare(name(point));
      }
    }
    if (shape_.lane_bits == 8) {
      for (const char* point :
           {"half/alone", "half/other_beat_between", "half/stalled_between", "reset/half_pending"}) {
        points_.declare(name(point));
      }
    }
    if (shape_.output_buffer) {
      for (const char* point :
           {"buffer/one", "buffer/full", "buffer/leaves_full", "buffer/enters_as_one_leaves", "reset/buffer_full"}) {
        points_.declare(name(point));
      }
    }
  }

  void new_phase() {
    constexpr std::uint32_t paces[] = {100, 100, 90, 50, 15};
    now_ = {paces[traffic_() % 5], paces[traffic_() % 5], paces[traffic_() % 5], 0, traffic_() % 3 * 45, 0};
    if (traffic_() % 4 == 0) now_.burst = 3 + traffic_() % 12;
    if (traffic_() % 4 == 0) now_.reset_every = 20 + traffic_() % 120;
    phase_left_ = 100 + traffic_() % 300;
  }

  void forget() {
    window_.clear();
    waiting_.clear();
    expected_.clear();
    half_.reset();
    buffered_ = 0;
    previous_kind_ = -1;
    next_id_ = 0;
    for (auto& use : last_use_) use = moves_;
    refill();
  }

  // The window holds the tiles whose banks are being loaded or used.
  void refill() {
    while (window_.size() < shape_.banks) {
      if (waiting_.empty()) {
        for (auto& made : random_chain(shape_, next_id_, jobs_)) waiting_.push_back(std::move(made));
        next_id_ += waiting_.size();
        const tile& first = *waiting_.front();
        hit_if(first.beats.empty(), "job/only_q0");
        hit_if(first.vectors.size() == 1, "job/one_vector");
      }
      window_.push_back(waiting_.front());
      waiting_.pop_front();
      window_.back()->bank_left = last_use_[window_.back()->bank];
      entered(*window_.back());
    }
  }

  void entered(const tile& in) {
    const auto active = std::count(in.active.begin(), in.active.end(), true);
    hit_if(active == 0, "rows/none");
    hit_if(active == 1, "rows/one");
    hit_if(active > 1 && active < rows(), "rows/some");
    hit_if(active == rows(), "rows/all");
    hit_if(in.chained, "fold/chained");
    hit_if(in.fold == 2, "fold/third_of_chain");
    hit_if(in.chained && active < rows(), "fold/partial_end_of_chain");
    for (std::size_t v = 1; v < in.vectors.size(); ++v) {
      points_.hit(std::string("precision/") + precision_name(in.vectors[v - 1].kind) + "_to_" +
                  precision_name(in.vectors[v].kind));
    }
  }

  static const char* precision_name(stream_kind kind) {
    constexpr const char* names[] = {"bf16", "q8", "q4", "q4", "q2", "q2", "q0"};
    return names[static_cast<std::size_t>(kind)];
  }

  std::uint64_t row_free(const tile& in, std::uint32_t row) const {
    return in.bank_left + std::uint64_t{row} * shape_.adder_stages + columns();
  }

  // The tile whose next row is to be loaded now, or null. A tight tile in use comes first and without gaps.
  tile* tile_to_load(const tile* streaming, bool traffic) {
    for (const auto& in : window_) {
      const bool used = in->sent > 0 || in.get() == streaming || in == half_;
      if (in->tight && used && in->loaded < rows()) return may_load(*in) ? in.get() : nullptr;
    }
    if (!traffic || !percent(now_.load)) return nullptr;
    for (const auto& in : window_) {
      if (in->loaded < rows() && may_load(*in)) return in.get();
    }
    return nullptr;
  }

  bool may_load(const tile& in) const { return moves_ >= row_free(in, in.load_order[in.loaded]); }

  bool may_stream(const tile& in) const {
    const bool there = in.loaded == rows() || (in.tight && in.loaded > 0 && nobody_else_is_tight(in));
    return there && in.sent < in.beats.size() && starts_known(in, in.beats[in.sent]);
  }

  static bool starts_known(const tile& in, const tile_beat& beat) {
    return std::all_of(beat.vectors.begin(), beat.vectors.end(), [&](auto v) { return in.vectors[v].ready; });
  }

  bool nobody_else_is_tight(const tile& in) const {
    return std::none_of(window_.begin(), window_.end(), [&](const auto& other) {
      return other.get() != &in && other->tight && (other->sent > 0 || other == half_) && other->loaded < rows();
    });
  }

  std::shared_ptr<tile> tile_to_stream() {
    if (!percent(now_.stream)) return nullptr;
    if (half_ && percent(60)) return half_;
    std::vector<std::shared_ptr<tile>> able;
    for (const auto& in : window_) {
      const bool second_bf16 =
          half_ && in != half_ && in->sent < in->beats.size() && in->beats[in->sent].kind == stream_kind::bf16;
      if (!second_bf16 && may_stream(*in)) able.push_back(in);
    }
    if (able.empty()) return nullptr;
    return able[able.size() > 1 && percent(now_.other_tile) ? 1 : 0];
  }

  void step(bool traffic) {
    if (!options_.waves.empty()) {
      dut_->record_waves(cycle_ >= options_.first_wave_cycle && cycle_ <= options_.last_wave_cycle);
    }
    const std::shared_ptr<tile> streaming = traffic ? tile_to_stream() : nullptr;
    tile* loading = tile_to_load(streaming.get(), traffic);
    if (now_.burst != 0 && stalled_ == 0 && traffic_() % 32 == 0) not_ready_for_ = now_.burst;
    bool result_ready = not_ready_for_ == 0 ? percent(now_.ready) : false;
    if (not_ready_for_ > 0) --not_ready_for_;
    if (!traffic) result_ready = true;

    drive_load(loading);
    drive_stream(streaming.get());
    dut_->drive_result_ready(result_ready);
    const bool ready = dut_->ready();
    const bool valid = dut_->result_valid();
    check_flags(ready, valid, result_ready);
    if (failure_) return;
    const bool enters_buffer = ready && expected_.size() > buffered_ && expected_[buffered_].move == moves_;
    cover_cycle(loading, streaming.get(), ready, valid, result_ready, enters_buffer);
    if (valid) check_result(result_ready);
    if (failure_) return;
    if (shape_.output_buffer) buffered_ += (enters_buffer ? 1 : 0) - (valid && result_ready ? 1 : 0);
    if (ready) {
      if (streaming != nullptr) accept(streaming);
      if (loading != nullptr) keep(*loading);
      ++moves_;
      stalled_before_ = stalled_;
      stalled_ = 0;
    } else {
      ++stalled_;
    }
    dut_->clock();
    ++cycle_;
    while (finished(*window_.front())) {
      window_.pop_front();
      refill();
    }
  }

  // Every row is loaded even if no beat needs it.
  bool finished(const tile& in) const { return in.loaded == rows() && in.sent == in.beats.size(); }

  void reset() {
    const bool longer = traffic_() % 3 == 0;
    const bool inputs = traffic_() % 2 == 0;
    cover_reset(longer, inputs);
    const tile* front = window_.front().get();
    drive_load(inputs ? front : nullptr, true);
    drive_stream(inputs && front->sent < front->beats.size() ? front : nullptr);
    dut_->drive_result_ready(percent(50));
    dut_->drive_reset(true);
    for (int n = 0; n < (longer ? 3 : 1); ++n) {
      dut_->clock();
      ++cycle_;
    }
    dut_->drive_reset(false);
    stalled_ = 0;
    forget();
  }

  // Bits that carry nothing are random. The next row of the tile, or the first one, whether or not it is loaded.
  void drive_load(const tile* in, bool first_row = false) {
    if (in == nullptr) return dut_->drive_load(nullptr);
    const std::uint32_t row = in->load_order[first_row ? 0 : in->loaded];
    row_values_.resize(columns());
    const bool active = takes_part(*in, row);
    for (std::uint32_t c = 0; c < columns(); ++c) {
      row_values_[c] = active ? in->values[row * columns() + c] : static_cast<std::uint16_t>(filler_());
    }
    const bool bank = shape_.banks == 2 ? in->bank : filler_() % 2 != 0;
    const cosim::load_beat beat{row, bank, active, row_values_.data()};
    dut_->drive_load(&beat);
  }

  bool takes_part(const tile& in, std::uint32_t row) const { return in.active[row] && row < options_.row_limit; }

  // With byte lanes the low bytes of a bf16 vector go first.
  bool is_low_half(const tile& in) const {
    return shape_.lane_bits == 8 && in.beats[in.sent].kind == stream_kind::bf16 && half_.get() != &in;
  }

  void drive_stream(const tile* in) {
    if (in == nullptr) return dut_->drive_stream(nullptr);
    const tile_beat& beat = in->beats[in->sent];
    const bool low = is_low_half(*in);
    const std::uint32_t bytes = shape_.lane_bits / 8;
    lanes_.resize(std::size_t{rows()} * bytes);
    presets_.resize(std::size_t{shape_.slots()} * columns());
    for (auto& lane : lanes_) lane = static_cast<std::uint8_t>(filler_());
    for (auto& preset : presets_) preset = filler_();
    const std::uint32_t bits = numerics::element_bits(format_of(beat.kind));
    for (std::uint32_t j = 0; j < beat.vectors.size(); ++j) {
      const tile_vector& vector = in->vectors[beat.vectors[j]];
      for (std::uint32_t r = 0; r < rows(); ++r) {
        const std::uint32_t element = vector.elements[r];
        std::uint8_t& lane = lanes_[r * bytes];
        if (bits == 16) {
          lane = static_cast<std::uint8_t>(bytes == 2 || low ? element : element >> 8);
          if (bytes == 2) lanes_[2 * r + 1] = static_cast<std::uint8_t>(element >> 8);
        } else {
          const std::uint32_t mask = ((1U << bits) - 1) << (j * bits);
          lane = static_cast<std::uint8_t>((lane & ~mask) | (element << (j * bits) & mask));
        }
      }
      if (!low) std::copy(vector.starts.begin(), vector.starts.end(), presets_.begin() + j * columns());
    }
    const bool any_bank = shape_.banks == 1 || low;
    const bool bank = any_bank ? filler_() % 2 != 0 : in->bank;
    const bool half_step =
        beat.kind == stream_kind::bf16 || beat.kind == stream_kind::q8 ? filler_() % 2 != 0 : half_step_of(beat.kind);
    const cosim::stream_beat driven{bank,          format_of(beat.kind),
                                    half_step,     static_cast<std::uint32_t>(beat.vectors.size() - 1),
                                    lanes_.data(), presets_.data()};
    dut_->drive_stream(&driven);
  }

  void keep(tile& in) {
    const std::uint32_t row = in.load_order[in.loaded++];
    hit_if(moves_ == row_free(in, row), "load/earliest");
    hit_if(in.sent > 0 && moves_ + 1 == in.first_use + std::uint64_t{row} * shape_.adder_stages, "load/latest");
    hit_if(row != in.loaded - 1, "load/any_order");
    hit_if(!in.active[row], "load/inactive_row");
  }

  void accept(const std::shared_ptr<tile>& in) {
    const tile_beat& beat = in->beats[in->sent];
    if (is_low_half(*in)) {
      half_ = in;
      half_move_ = moves_;
      // The tile's next beat may come before the high bytes.
      if (in->sent + 1 < in->beats.size() && in->beats[in->sent + 1].kind != stream_kind::bf16 &&
          starts_known(*in, in->beats[in->sent + 1]) && percent(30)) {
        std::swap(in->beats[in->sent], in->beats[in->sent + 1]);
      }
      return;
    }
    if (half_ == in && beat.kind == stream_kind::bf16) {
      hit_if(half_move_ + 1 == moves_, "half/alone");
      hit_if(between_, "half/other_beat_between");
      half_.reset();
      between_ = false;
    } else if (half_) {
      between_ = true;
    }
    const auto kind = static_cast<std::size_t>(beat.kind);
    expected_result result{moves_ + latency(), in, beat.vectors, {}, {}};
    result.history = std::string("stream ") + kind_names[kind];
    if (previous_kind_ >= 0) {
      ++*beat_pair_[previous_kind_][kind];
      result.history += std::string(" after ") + kind_names[previous_kind_];
    }
    if (stalled_before_ > 0) result.history += ", stalled " + std::to_string(stalled_before_) + " cycles before";
    hit("vectors/" + std::string(kind_names[kind]) + "_" + std::to_string(beat.vectors.size()));
    if (previous_kind_ >= 0 && shape_.banks == 2) {
      hit_if(!previous_bank_ && in->bank, "bank/0_to_1");
      hit_if(previous_bank_ && !in->bank, "bank/1_to_0");
      hit_if(previous_bank_ != in->bank && in->sent > 0, "bank/beats_of_two_tiles_alternate");
    }
    hit_if(previous_kind_ >= 0 && previous_move_ + 1 == moves_, "pace/every_cycle");
    previous_kind_ = static_cast<int>(kind);
    previous_bank_ = in->bank;
    previous_move_ = moves_;
    for (const std::uint32_t v : beat.vectors) result.sums.push_back(sums_of(*in, in->vectors[v]));
    expected_.push_back(std::move(result));
    if (in->sent++ == 0) in->first_use = moves_;
    last_use_[in->bank] = moves_;
  }

  std::vector<std::uint32_t> sums_of(const tile& in, const tile_vector& vector) {
    std::vector<std::uint32_t> sums = vector.starts;
    const bool code = vector.kind != stream_kind::bf16;
    for (std::uint32_t c = 0; c < columns(); ++c) {
      float sum = std::bit_cast<float>(vector.starts[c]);
      for (std::uint32_t r = 0; r < rows(); ++r) {
        if (!takes_part(in, r)) continue;
        const float streamed = element_value(vector.kind, vector.elements[r]);
        const float stationary = test::host_bf16(in.values[r * columns() + c]);
        const float product = streamed * stationary;
        const float above = sum;
        sum = above + product;
        arithmetic_.product(streamed, stationary, code, product);
        arithmetic_.sum(above, product, sum);
      }
      sums[c] = test::host_bits(sum);
    }
    return sums;
  }

  void fail(const std::string& place, const std::string& history, const std::string& expected, const std::string& got) {
    if (!failure_) failure_ = mismatch{cycle_, place, history, expected, got};
  }

  void check_flags(bool ready, bool valid, bool result_ready) {
    const bool due = !expected_.empty() && expected_.front().move <= moves_;
    const bool valid_wanted = shape_.output_buffer ? buffered_ > 0 : due;
    const bool ready_wanted = shape_.output_buffer ? buffered_ < 2 : result_ready || !valid_wanted;
    const std::string history = expected_.empty() ? "nothing in flight" : expected_.front().history;
    const std::string place = expected_.empty() ? "handshake" : "tile " + std::to_string(expected_.front().from->id);
    if (valid != valid_wanted) fail(place, history, valid_wanted ? "a result" : "no result", valid ? "one" : "none");
    if (ready != ready_wanted)
      fail(place, history, ready_wanted ? "ready" : "not ready", ready ? "ready" : "not ready");
  }

  void check_result(bool taken) {
    const expected_result& wanted = expected_.front();
    const std::string place = "tile " + std::to_string(wanted.from->id);
    if (dut_->result_more() + 1 != wanted.sums.size()) {
      return fail(place, wanted.history, std::to_string(wanted.sums.size()) + " vectors",
                  std::to_string(dut_->result_more() + 1));
    }
    const std::uint32_t* actual = dut_->result();
    for (std::size_t j = 0; j < wanted.sums.size(); ++j) {
      for (std::uint32_t c = 0; c < columns(); ++c) {
        if (actual[j * columns() + c] == wanted.sums[j][c]) continue;
        return fail(place + ", column " + std::to_string(c) + ", slot " + std::to_string(j), wanted.history,
                    text_of(wanted.sums[j][c]), text_of(actual[j * columns() + c]));
      }
    }
    compared_ += wanted.sums.size() * columns();
    if (!taken) return;
    if (tile* next = wanted.from->next.get(); next != nullptr) {
      for (std::size_t j = 0; j < wanted.sums.size(); ++j) {
        next->vectors[wanted.vectors[j]].starts = wanted.sums[j];
        next->vectors[wanted.vectors[j]].ready = true;
      }
    }
    expected_.pop_front();
  }

  void cover_cycle(const tile* loading, const tile* streaming, bool ready, bool valid, bool result_ready,
                   bool enters_buffer) {
    hit_if(!ready && loading != nullptr, "stall/load");
    hit_if(!ready && loading != nullptr && streaming != nullptr, "stall/load_and_stream");
    if (!ready && streaming != nullptr) {
      hit("stall/stream_" + std::string(kind_names[static_cast<std::size_t>(streaming->beats[streaming->sent].kind)]));
      hit_if(half_.get() == streaming, "half/stalled_between");
    }
    waited_ = valid && !result_ready ? waited_ + 1 : 0;
    hit_if(waited_ == 1, "stall/result_once");
    hit_if(waited_ == 4, "stall/result_long");
    const bool able = std::any_of(window_.begin(), window_.end(), [&](const auto& in) { return may_stream(*in); });
    hit_if(streaming == nullptr && able, "gap/stream_while_loaded");
    hit_if(loading == nullptr && window_.front()->loaded > 0 && window_.front()->loaded < rows(),
           "gap/load_while_loading");
    hit(expected_.empty() ? "state/idle" : valid ? "state/presenting" : "state/filling");
    hit_if(ready && loading != nullptr && streaming != nullptr, "accept/load_and_stream");
    hit_if(ready && valid && loading != nullptr, "accept/load_while_presenting");
    hit_if(ready && valid && streaming != nullptr, "accept/stream_while_presenting");
    hit_if(!valid && result_ready, "result_ready/before_valid");
    hit_if(!valid && !result_ready, "result_ready/low_before_valid");
    if (shape_.banks == 2) {
      hit_if(ready && loading != nullptr && streaming != nullptr && loading != streaming,
             "bank/load_other_while_streaming");
    }
    if (shape_.output_buffer) {
      hit_if(buffered_ == 1, "buffer/one");
      hit_if(buffered_ == 2, "buffer/full");
      hit_if(buffered_ == 2 && result_ready, "buffer/leaves_full");
      hit_if(enters_buffer && valid && result_ready, "buffer/enters_as_one_leaves");
    }
  }

  void cover_reset(bool longer, bool inputs) {
    const tile& front = *window_.front();
    const bool due = !expected_.empty() && (shape_.output_buffer ? buffered_ > 0 : expected_.front().move <= moves_);
    hit_if(expected_.empty() && front.loaded == 0, "reset/idle");
    hit_if(front.loaded > 0 && front.loaded < rows(), "reset/loading");
    hit_if(!expected_.empty() && front.sent > 0 && front.sent < front.beats.size(), "reset/streaming");
    hit_if(!expected_.empty() && previous_move_ + 1 < moves_, "reset/draining");
    hit_if(due, "reset/presenting");
    hit_if(stalled_ > 0, "reset/stalled");
    hit_if(front.chained && !front.beats.empty() && !may_stream(front) && front.loaded == rows(),
           "reset/chain_waiting");
    hit_if(longer, "reset/longer");
    hit_if(inputs, "reset/with_inputs");
    if (shape_.lane_bits == 8) hit_if(half_ != nullptr, "reset/half_pending");
    if (shape_.output_buffer) hit_if(buffered_ == 2, "reset/buffer_full");
  }

  const case_options& options_;
  std::string config_;
  std::unique_ptr<cosim::verilated_array> dut_;
  array::array_shape shape_;
  cover_points& points_;
  arithmetic_cover arithmetic_;
  // Apart, so that no draw depends on what the design answers or on row_limit.
  random_words traffic_, filler_, jobs_;
  std::uint64_t* beat_pair_[beat_kinds][beat_kinds] = {};

  profile now_;
  std::uint32_t phase_left_ = 0, not_ready_for_ = 0;
  std::deque<std::shared_ptr<tile>> window_, waiting_;
  std::uint64_t next_id_ = 0;
  std::shared_ptr<tile> half_;  // its low bytes have been accepted
  std::uint64_t half_move_ = 0;
  bool between_ = false;
  std::deque<expected_result> expected_;  // the buffered ones first
  std::size_t buffered_ = 0;
  std::vector<std::uint16_t> row_values_;
  std::vector<std::uint8_t> lanes_;
  std::vector<std::uint32_t> presets_;
  std::uint64_t last_use_[2] = {0, 0};
  std::uint64_t cycle_ = 0, moves_ = 0, compared_ = 0;
  std::uint64_t stalled_ = 0, stalled_before_ = 0, waited_ = 0;
  int previous_kind_ = -1;
  bool previous_bank_ = false;
  std::uint64_t previous_move_ = 0;
  std::optional<mismatch> failure_;
};

}  // namespace

case_result run_array_case(const case_options& options, cover_points& points) {
  array_run run(options, points);
  return run.run();
}

}  // namespace dvp::regress
