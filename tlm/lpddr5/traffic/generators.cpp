#include "tlm/lpddr5/traffic/generators.h"

#include <algorithm>
#include <string>

#include "tlm/lpddr5/traffic/random.h"

namespace dvp::lpddr5 {

namespace {

// What all patterns share: how many requests, and at which pace.
class generator : public traffic_source {
 public:
  explicit generator(const generator_options& options)
      : options_(options), random_(options.seed), left_(options.requests == 0 ? UINT64_MAX : options.requests) {}

  bool next(traffic_request& request) final {
    if (left_ == 0 || !make(request)) return false;
    --left_;
    request.timing = request_timing::at_once;
    request.time_ps = 0;
    if (options_.interval_fs != 0) {
      __extension__ using wide = unsigned __int128;
      request.timing = request_timing::absolute;
      request.time_ps = static_cast<std::int64_t>(static_cast<wide>(made_++) * options_.interval_fs / 1000);
    }
    return true;
  }

 protected:
  virtual bool make(traffic_request& request) = 0;

  const generator_options& options() const { return options_; }
  random_generator& random() { return random_; }
  std::uint64_t slots() const { return options_.range_bytes / options_.request_bytes; }

  void set(traffic_request& request, std::uint64_t offset) {
    request.address = options_.first_address + offset;
    request.bytes = options_.request_bytes;
    request.write = options_.reads < 1.0 && !random_.chance(options_.reads);
    request.precision = 8;
    request.tagged = false;
  }

 private:
  generator_options options_;
  random_generator random_;
  std::uint64_t left_;
  std::uint64_t made_ = 0;
};

class stream_generator : public generator {
 public:
  using generator::generator;

 private:
  bool make(traffic_request& request) override {
    set(request, slot_ * options().request_bytes);
    if (++slot_ == slots()) slot_ = 0;
    return true;
  }
  std::uint64_t slot_ = 0;
};

class random_pattern : public generator {
 public:
  using generator::generator;

 private:
  bool make(traffic_request& request) override {
    const std::uint64_t slot = random().below(slots());
    set(request, slot * options().request_bytes);
    return true;
  }
};

class strided_generator : public generator {
 public:
  using generator::generator;

 private:
  bool make(traffic_request& request) override {
    set(request, offset_);
    const std::uint64_t last = options().range_bytes - options().request_bytes;
    if (options().stride_bytes <= last - offset_) {
      offset_ += options().stride_bytes;
      return true;
    }
    if (options().laps) lap_ += options().request_bytes;
    if (lap_ > last || lap_ >= options().stride_bytes) lap_ = 0;
    offset_ = lap_;
    return true;
  }
  std::uint64_t offset_ = 0;
  std::uint64_t lap_ = 0;  // offset of the lap's first request
};

class gemm_generator : public generator {
 public:
  explicit gemm_generator(const generator_options& options) : generator(options), shape_(options.gemm) {
    activations_ = shape_.k * shape_.n * shape_.element_bytes;
    results_ = activations_ + shape_.m * shape_.k * shape_.element_bytes;
    begin_run();
  }

 private:
  enum class phase : std::uint8_t { weights, activations, results };

  bool make(traffic_request& request) override {
    if (done_) return false;
    set(request, offset_);
    request.bytes = std::min(options().request_bytes, run_bytes_);
    request.write = phase_ == phase::results;
    offset_ += request.bytes;
    run_bytes_ -= request.bytes;
    if (run_bytes_ == 0) end_run();
    return true;
  }

  // A run is a contiguous piece: a weight tile, or a row's part of the activations or results.
  void begin_run() {
    const std::uint64_t columns = std::min(shape_.tile_n, shape_.n - column_);
    const std::uint64_t depth = std::min(shape_.tile_k, shape_.k - reduction_);
    const std::uint64_t bytes = shape_.element_bytes;
    switch (phase_) {
      case phase::weights:
        offset_ = (column_ * shape_.k + reduction_ * columns) * bytes;
        run_bytes_ = columns * depth * bytes;
        break;
      case phase::activations:
        offset_ = activations_ + (row_ * shape_.k + reduction_) * bytes;
        run_bytes_ = depth * bytes;
        break;
      case phase::results:
        offset_ = results_ + (row_ * shape_.n + column_) * bytes;
        run_bytes_ = columns * bytes;
        break;
    }
  }

  void end_run() {
    if (phase_ == phase::weights) {
      phase_ = phase::activations;
    } else if (++row_ == shape_.m) {
      row_ = 0;
      end_rows();
    }
    if (!done_) begin_run();
  }

  void end_rows() {
    if (phase_ == phase::activations) {
      reduction_ += shape_.tile_k;
      phase_ = reduction_ < shape_.k ? phase::weights : phase::results;
      if (phase_ == phase::results) reduction_ = 0;
      return;
    }
    column_ += shape_.tile_n;
    phase_ = phase::weights;
    done_ = column_ >= shape_.n;
  }

  gemm_shape shape_;
  std::uint64_t activations_ = 0, results_ = 0;  // offsets of the matrices
  phase phase_ = phase::weights;
  std::uint64_t column_ = 0, reduction_ = 0, row_ = 0;
  std::uint64_t offset_ = 0, run_bytes_ = 0;  // what is left of the run
  bool done_ = false;
};

class mixed_generator : public generator {
 public:
  explicit mixed_generator(const generator_options& options)
      : generator(options), total_(options.share_q8 + options.share_q4 + options.share_q2 + options.share_q0) {}

 private:
  bool make(traffic_request& request) override {
    const std::uint64_t range = options().range_bytes;
    if (run_left_ == 0) {
      run_left_ = options().run_elements;
      precision_ = draw();
    }
    if (offset_ == range) offset_ = 0;
    set(request, offset_);
    request.bytes = std::min({options().request_bytes, run_left_, range - offset_});
    request.precision = precision_;
    request.tagged = true;
    offset_ += request.bytes;
    run_left_ -= request.bytes;
    return true;
  }

  std::uint8_t draw() {
    double at = static_cast<double>(random().next() >> 11) * 0x1p-53 * total_;
    if ((at -= options().share_q8) < 0) return 8;
    if ((at -= options().share_q4) < 0) return 4;
    if ((at -= options().share_q2) < 0) return 2;
    return options().share_q0 > 0 ? 0 : options().share_q2 > 0 ? 2 : options().share_q4 > 0 ? 4 : 8;
  }

  double total_;
  std::uint64_t offset_ = 0;
  std::uint64_t run_left_ = 0;
  std::uint8_t precision_ = 8;
};

void require(bool met, const std::string& what) {
  if (!met) throw traffic_error(what);
}

void check(const generator_options& o) {
  require(o.request_bytes > 0, "request bytes 0: give 1 or more");
  require(o.reads >= 0 && o.reads <= 1, "reads: takes a share from 0 to 1");
  require(o.reads == 1 || (o.what != pattern::gemm && o.what != pattern::mixed),
          "reads: " + std::string(name_of(o.what)) + " decides itself what is read");
  require(o.what != pattern::strided || o.stride_bytes > 0, "stride 0: give 1 byte or more");
  require(o.what != pattern::mixed || o.run_elements > 0, "run 0: give 1 element or more");
  if (o.what == pattern::mixed) {
    for (const double share : {o.share_q8, o.share_q4, o.share_q2, o.share_q0}) {
      require(share >= 0 && share <= 1e9, "shares: take numbers from 0, as in q8=2,q4=1");
    }
    require(o.share_q8 + o.share_q4 + o.share_q2 + o.share_q0 > 0, "shares: are all 0");
  }
  if (o.what == pattern::gemm) {
    for (const std::uint64_t size : {o.gemm.m, o.gemm.n, o.gemm.k, o.gemm.tile_n, o.gemm.tile_k}) {
      require(size >= 1 && size <= 1U << 20, "gemm: each size is 1 to 1048576");
    }
    require(o.gemm.element_bytes >= 1 && o.gemm.element_bytes <= 8, "gemm: elements have 1 to 8 bytes");
  }
  const std::uint64_t least = least_range(o);
  require(o.range_bytes >= least, "address range of " + std::to_string(o.range_bytes) + " bytes: " +
                                      std::string(name_of(o.what)) + " needs at least " + std::to_string(least));
}

}  // namespace

std::uint64_t least_range(const generator_options& options) {
  const gemm_shape& g = options.gemm;
  if (options.what == pattern::gemm) return (g.k * g.n + g.m * g.k + g.m * g.n) * g.element_bytes;
  return options.what == pattern::mixed ? 1 : options.request_bytes;
}

std::unique_ptr<traffic_source> make_generator(const generator_options& options) {
  check(options);
  switch (options.what) {
    case pattern::stream:
      return std::make_unique<stream_generator>(options);
    case pattern::random:
      return std::make_unique<random_pattern>(options);
    case pattern::strided:
      return std::make_unique<strided_generator>(options);
    case pattern::gemm:
      return std::make_unique<gemm_generator>(options);
    case pattern::mixed:
      return std::make_unique<mixed_generator>(options);
  }
  throw traffic_error("no such pattern");
}

}  // namespace dvp::lpddr5
