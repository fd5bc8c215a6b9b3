#include "testbenches/oracle/decode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

namespace dvp::oracle {

namespace {

class run {
 public:
  run(const network& net, const settings& s, const std::vector<token>& prompt, chooser& by)
      : net_(net),
        s_(s),
        by_(by),
        tokens_(prompt),
        prompt_(prompt.size()),
        limit_(prompt.size() + s.gen_length),
        cache_(net.shape, net.layers.size(), limit_ + s.block_length) {}

  outcome llada() {
    tokens_.resize(limit_, s_.mask);
    const std::size_t steps = s_.steps / (s_.gen_length / s_.block_length);
    for (std::size_t first = prompt_; first < limit_; first += s_.block_length) {
      for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t count = count_of(i);
        if (count == 0) continue;
        decision d = look(0, tokens_.size(), first, s_.block_length);
        d.by = rule::most_confident;
        d.count = count;
        settle(d);
      }
      if (s_.stop_at_end && end_before(first + s_.block_length) != 0) return answer(end_before(limit_));
    }
    return answer(limit_);
  }

  outcome fast_dllm_v1() {
    tokens_.resize(limit_, s_.mask);
    for (std::size_t first = prompt_; first < limit_; first += s_.block_length) {
      const bool cached = s_.reuse != cache::none;
      for (std::size_t i = 0; masked(first, s_.block_length) || (cached && i < 2); ++i) {
        const bool whole = i == 0 || !cached;
        if (!whole && s_.clear_cache) refresh();
        const std::size_t from = whole ? 0 : first - (s_.shift_logits ? 1 : 0);
        const std::size_t to = whole || s_.reuse == cache::prefix ? limit_ : first + s_.block_length;
        decision d = look(from, to - from, first, s_.block_length);
        d.by = s_.by;
        d.count = count_of(i);
        d.threshold = s_.threshold;
        d.factor = s_.factor;
        d.inclusive = s_.inclusive;
        settle(d);
      }
      if (s_.stop_at_end && end_before(first + s_.block_length) != 0) return answer(end_before(limit_));
    }
    return answer(limit_);
  }

  outcome fast_dllm_v2() {
    const std::size_t length = s_.block_length;
    for (std::size_t first = 0; first + length <= prompt_; first += length) fill(first, first + length == prompt_);
    while (answered() == 0) {
      tokens_.resize((tokens_.size() + length - 1) / length * length, s_.mask);
      const std::size_t first = tokens_.size() - length;
      for (std::size_t sub = first; sub < first + length; sub += s_.sub_block_length) {
        while (masked(sub, s_.sub_block_length) && answered() == 0) {
          decision d = look(first, length, sub, s_.sub_block_length);
          d.by = rule::above_threshold;
          d.threshold = s_.threshold;
          d.inclusive = s_.inclusive;
          settle(d);
        }
      }
      if (answered() == 0) fill(first, true);
    }
    return answer(answered());
  }

 private:
  // Bidirectional loops see the whole sequence, whatever rows they work on.
  std::vector<double> forward(std::size_t first, std::size_t rows, std::size_t logits_from) {
    const std::size_t seen = s_.which == loop::fast_dllm_v1 ? tokens_.size() : 0;
    return net_.forward(std::span(tokens_).subspan(first, rows), first, logits_from - first, cache_, seen);
  }

  // How many positions step i of a block commits by count.
  std::size_t count_of(std::size_t i) const {
    const std::size_t steps = s_.steps / (s_.gen_length / s_.block_length);
    if (steps == 0) return 0;
    return s_.block_length / steps + (i < s_.block_length % steps ? 1 : 0);
  }

  // Keys and values of everything, as they would be without a cache.
  void refresh() {
    forward(0, tokens_.size(), tokens_.size() - 1);
    steps_.push_back({steps_.size(), true, 0, tokens_.size(), {}});
  }

  // A forward over `rows` rows and its predictions for the masks among `count` positions from `from`.
  decision look(std::size_t first, std::size_t rows, std::size_t from, std::size_t count) {
    const auto row_of = [&](std::size_t position) {
      return s_.shift_logits && position > first ? position - 1 : position;
    };
    const std::vector<double> logits = forward(first, rows, row_of(from));
    decision d{.forward = steps_.size(), .first = first, .rows = rows};
    for (std::size_t p = from; p < from + count; ++p) {
      if (tokens_[p] != s_.mask) continue;
      const double* row = logits.data() + (row_of(p) - row_of(from)) * net_.shape.vocabulary;
      d.candidates.push_back(predict(p, row, net_.shape.vocabulary, s_.mask));
    }
    return d;
  }

  void settle(const decision& d) {
    std::vector<commit> commits;
    if (!d.candidates.empty()) commits = by_.choose(d);
    for (const commit& c : commits) tokens_[c.position] = c.chosen;
    steps_.push_back({d.forward, false, d.first, d.rows, std::move(commits)});
  }

  // The final keys and values of a full block; with `append`, the first token behind it.
  void fill(std::size_t first, bool append) {
    const std::size_t last = first + s_.block_length - 1;
    const std::vector<double> logits = forward(first, s_.block_length, last);
    decision d{.forward = steps_.size(), .by = rule::next_token, .first = first, .rows = s_.block_length};
    std::vector<commit> commits;
    if (append) {
      d.candidates.push_back(predict(last + 1, logits.data(), net_.shape.vocabulary, s_.mask));
      commits = by_.choose(d);
      tokens_.push_back(commits.at(0).chosen);
    }
    steps_.push_back({d.forward, true, d.first, d.rows, std::move(commits)});
  }

  bool masked(std::size_t from, std::size_t count) const {
    return std::count(tokens_.begin() + static_cast<std::ptrdiff_t>(from),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(from + count), s_.mask) != 0;
  }

  // Position behind the first end token of the answer that lies before `until`; 0: none.
  std::size_t end_before(std::size_t until) const {
    for (std::size_t p = prompt_; p < until; ++p) {
      if (tokens_[p] == s_.end) return p + 1;
    }
    return 0;
  }

  // Length of the whole sequence when no mask stands before an end token or before the limit; else 0.
  std::size_t answered() const {
    const auto answer_begin = tokens_.begin() + static_cast<std::ptrdiff_t>(prompt_);
    const auto known = static_cast<std::size_t>(std::find(answer_begin, tokens_.end(), s_.mask) - tokens_.begin());
    const std::size_t end = end_before(std::min(known, limit_));
    if (end != 0) return end;
    return known >= limit_ ? limit_ : 0;
  }

  outcome answer(std::size_t length) {
    tokens_.resize(length);
    return {std::move(tokens_), std::move(steps_)};
  }

  const network& net_;
  const settings& s_;
  chooser& by_;
  std::vector<token> tokens_;
  std::size_t prompt_;
  std::size_t limit_;
  key_values cache_;
  std::vector<step> steps_;
};

class own_chooser : public chooser {
 public:
  std::vector<commit> choose(const decision& d) override { return own_choice(d); }
};

}  // namespace

settings settings::read(const gguf_file& file) {
  settings s;
  s.which = file.text("general.architecture") == "qwen2" ? loop::fast_dllm_v2 : loop::llada;
  s.mask = static_cast<token>(file.integer("tokenizer.ggml.mask_token_id"));
  s.end = static_cast<token>(file.integer("tokenizer.ggml.eos_token_id"));
  s.shift_logits = file.flag("diffusion.shift_logits");
  s.block_length = file.integer("dllm.block_length");
  s.gen_length = file.integer("dllm.gen_length");
  if (s.which == loop::llada) {
    s.steps = file.integer("dllm.steps");
    s.threshold = 0.9;
  } else {
    s.sub_block_length = file.integer("dllm.sub_block_length");
    s.threshold = file.real("dllm.threshold");
  }
  return s;
}

void settings::check() const {
  const auto need = [](bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
  };
  need(block_length > 0, "the block length is 0");
  need(gen_length > 0, "the generation length is 0");
  if (which != loop::fast_dllm_v2) {
    need(gen_length % block_length == 0, "the generation length is not a multiple of the block length");
    need((which == loop::fast_dllm_v1 && by != rule::most_confident) ||
             (steps > 0 && steps % (gen_length / block_length) == 0),
         "the steps are not a multiple of the number of blocks");
    need(by != rule::next_token, "next_token is not a rule for masks");
  } else {
    need(sub_block_length > 0 && block_length % sub_block_length == 0, "sub-blocks do not divide the block");
  }
}

prediction predict(std::size_t position, const double* logits, std::size_t vocabulary, token mask) {
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  prediction p{.position = position};
  p.log_probabilities.assign(logits, logits + vocabulary);
  p.log_probabilities.at(mask) = minus_infinity;
  const auto best = std::max_element(p.log_probabilities.begin(), p.log_probabilities.end());
  p.best = static_cast<token>(best - p.log_probabilities.begin());
  const double maximum = *best;
  double others = 0;
  for (std::size_t t = 0; t < vocabulary; ++t) {
    if (t != p.best) others += std::exp(p.log_probabilities[t] - maximum);
  }
  p.probability = 1 / (1 + others);
  p.log_odds = -std::log(others);
  for (double& l : p.log_probabilities) l -= maximum + std::log1p(others);
  return p;
}

std::vector<commit> own_choice(const decision& d) {
  std::vector<const prediction*> order;
  for (const prediction& p : d.candidates) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(),
                   [](const prediction* a, const prediction* b) { return a->probability > b->probability; });
  const auto passes = [&](double high, double low) { return high > low || (d.inclusive && high == low); };
  std::size_t count = 1;
  if (d.by == rule::most_confident) count = std::min(d.count, order.size());
  if (d.by == rule::above_threshold) {
    while (count < order.size() && passes(order[count]->probability, d.threshold)) ++count;
  }
  if (d.by == rule::within_factor) {
    const auto doubt = [&](std::size_t n) { return static_cast<double>(n + 1) * (1 - order[n - 1]->probability); };
    while (count < order.size() && passes(d.factor, doubt(count + 1))) ++count;
  }
  std::vector<commit> commits;
  for (std::size_t i = 0; i < count; ++i) commits.push_back({order[i]->position, order[i]->best});
  std::sort(commits.begin(), commits.end(), [](const commit& a, const commit& b) { return a.position < b.position; });
  return commits;
}

outcome decode(const network& net, const settings& s, const std::vector<token>& prompt, chooser& by) {
  s.check();
  if (prompt.empty()) throw std::runtime_error("the prompt is empty");
  run r(net, s, prompt, by);
  switch (s.which) {
    case loop::llada:
      return r.llada();
    case loop::fast_dllm_v1:
      return r.fast_dllm_v1();
    case loop::fast_dllm_v2:
      break;
  }
  return r.fast_dllm_v2();
}

outcome decode(const network& net, const settings& s, const std::vector<token>& prompt) {
  own_chooser by;
  return decode(net, s, prompt, by);
}

}  // namespace dvp::oracle
