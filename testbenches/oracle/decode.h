// The decode loops, written as a sequence of decisions: the loop says what may be committed and what the logits are, a
// chooser says what is committed. Decoding lets the oracle choose; a replay repeats another program's choices.
//
// Loop llada (LLaDA, get_num_transfer_tokens and generate at temperature 0): blocks left to right; every step a full
// bidirectional forward; the most confident masked positions of the block are committed, as many as the schedule says.
// Loop fast_dllm_v1 (Fast-dLLM, generate, generate_with_prefix_cache and generate_with_dual_cache): blocks left to
// right; a block's first forward is over everything; later ones over everything (no cache), over the block and what is
// behind it (prefix) or over the block alone (dual), the other keys and values as they were computed last. With a cache
// there is at least one more forward after the first. With shifted logits the row before the block is in work too. Loop
// fast_dllm_v2: block-causal; sub-blocks in order; what is more confident than the threshold is committed, and always
// the most confident mask; a full block predicts the first token of the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/oracle/network.h"

namespace dvp::oracle {

enum class loop { llada, fast_dllm_v1, fast_dllm_v2 };
enum class cache { none, prefix, dual };
enum class rule { most_confident, above_threshold, within_factor, next_token };

struct settings {
  loop which = loop::llada;
  token mask = 0;
  token end = 0;
  bool shift_logits = false;         // row i of the logits predicts position i + 1
  std::size_t block_length = 0;      // tokens
  std::size_t sub_block_length = 0;  // fast_dllm_v2
  std::size_t gen_length = 0;        // tokens; llada, fast_dllm_v1: a multiple of block_length
  std::size_t steps = 0;             // rule most_confident: forwards in all, a multiple of the number of blocks
  double threshold = 0;              // rule above_threshold: commit above it
  bool stop_at_end = false;          // llada, fast_dllm_v1: stop after a block that holds the end token
  rule by = rule::above_threshold;   // fast_dllm_v1: not next_token
  double factor = 0;                 // rule within_factor: commit n while (n + 1)(1 - the n-th confidence) is below it
  bool inclusive = false;            // "above" and "below" include equal
  cache reuse = cache::none;         // fast_dllm_v1
  bool clear_cache = false;          // fast_dllm_v1: compute everything again before every step

  static settings read(const gguf_file& file);
  // Throws std::runtime_error when the numbers do not fit together.
  void check() const;
};

struct commit {
  std::size_t position = 0;
  token chosen = 0;

  bool operator==(const commit&) const = default;
};

// What the logits say about one position, mask token left out.
struct prediction {
  std::size_t position = 0;
  token best = 0;                           // arg-max, lower token among equals
  double probability = 0;                   // its confidence
  double log_odds = 0;                      // log(probability / (1 - probability)), without cancellation near 1
  std::vector<double> log_probabilities{};  // [vocabulary]; mask: minus infinity
};

struct decision {
  std::size_t forward = 0;  // running number, from 0
  rule by = rule::next_token;
  std::size_t first = 0;  // rows of the forward
  std::size_t rows = 0;
  std::size_t count = 0;  // most_confident: how many
  double threshold = 0;   // above_threshold
  double factor = 0;      // within_factor
  bool inclusive = false;
  std::vector<prediction> candidates{};  // ascending position, never empty
};

prediction predict(std::size_t position, const double* logits, std::size_t vocabulary, token mask);

// The rule applied to the decision's own predictions; ascending position.
std::vector<commit> own_choice(const decision& d);

class chooser {
 public:
  virtual ~chooser() = default;
  // What to commit, ascending position; positions are among the candidates.
  virtual std::vector<commit> choose(const decision& d) = 0;
};

struct step {
  std::size_t forward = 0;
  bool fills = false;  // stores keys and values of a full block
  std::size_t first = 0;
  std::size_t rows = 0;
  std::vector<commit> commits;
};

struct outcome {
  std::vector<token> tokens;  // prompt and answer, the end token included
  std::vector<step> steps;    // one per forward
};

outcome decode(const network& net, const settings& s, const std::vector<token>& prompt, chooser& by);

// As decode with own_choice.
outcome decode(const network& net, const settings& s, const std::vector<token>& prompt);

}  // namespace dvp::oracle
