// Dual-path progressive revision (DPPR): what every position's token is worth, and which late corrections may land.
//
// A position is invisible (masked), then visible (it has a token, which is context for others and may still change),
// then stable (frozen for good). The NPU's dense forward predicts the positions of the window; at the same time the CPU
// masks some visible tokens, predicts them again and refreshes their keys and values over a range of layers. What the
// CPU found lands only between two steps, as a transaction that names the versions it was computed from; if the
// position has moved on since, the transaction is dropped. This class is that bookkeeping and no more: no hardware, no
// time, no sequence; the same calls in the same order give the same state and hash.
//
// Keys and values of a position in the window are rebuilt by every forward. Those of one that has left it without being
// stable are replaced by transactions only. Those of a stable one no transaction replaces; a forward whose window still
// holds the position computes them again from the same token.
//
// One step, in this order: move_window, pick (what the CPU starts now), observe for the positions of the window that
// the forward was asked about, end_forward, then merge for every transaction that has come back, in any order and
// however late. Stable positions are not asked about. A network that was trained on masked positions only says nothing
// useful at visible ones: then observe masked positions alone, and stability comes from the confidence that a token was
// predicted with, and from revisions. The caller keeps a position in the window until a forward had its token as input:
// else the keys and values that it leaves behind are those of the mask.
//
// Rules. A masked position of the current block, the first one that has masks, becomes visible when it is predicted
// with at least `visibility`; if none is, the most confident one does (ties and NaN as in commit.h). So every forward
// makes at least one position visible until none is masked, and blocks fill from left to right. A visible position
// becomes stable when a forward that had its token as input, or a revision, gives the same token with at least
// `stability`; or when the forward that had its token as input was not asked about it and it was predicted with at
// least `stability` before. It is never stable in the forward that made it visible, whose keys and values are those of
// the mask. So revisions go to tokens below `stability`, and to others only once they have left the window. A forward
// that predicts another token for a visible position changes nothing. Thresholds and policies are this implementation's
// choice; the publication gives none.
#pragma once

#include <cstdint>
#include <span>

namespace dvp::dllm {

// Most transactions in flight.
inline constexpr std::uint32_t most_revisions = 16;

enum class visibility_state : std::uint8_t { invisible, visible, stable };

// oldest: never revised first, then least recently revised. low_confidence: least confident first. Ties by position.
enum class revision_policy : std::uint8_t { oldest, low_confidence };

struct revision_rules {
  float visibility = 0.7f;
  float stability = 0.9f;
  revision_policy policy = revision_policy::oldest;
  std::uint32_t block_length = 32;
  std::uint32_t first_layer = 0;  // what a revision refreshes outside the window
  std::uint32_t layers = 0;
};

struct revision_entry {
  visibility_state state = visibility_state::invisible;
  bool in_flight = false;  // a transaction of these versions is on its way
  bool observed = false;   // by the forward in work
  bool accepted = false;   // by the caller, in the forward in work
  bool fed = false;        // a forward had the token as its input
  std::uint32_t token = 0;
  float confidence = 0;             // of the token, when it was last predicted
  std::uint32_t token_version = 0;  // rises when the token changes, and when it is frozen
  std::uint32_t kv_version = 0;     // rises when a transaction lands, and when the position enters or leaves the window
  std::uint32_t revised = 0;        // step of the last pick, counted from 1; 0: never
  std::uint32_t next_token = 0;
  float next_confidence = 0;
};

// A correction on its way: what it was computed from and, once the CPU is done, what it found.
struct revision_transaction {
  std::uint32_t position = 0;
  std::uint32_t first_layer = 0;  // keys and values of layers [first_layer, first_layer + layers); none in the window
  std::uint32_t layers = 0;
  std::uint32_t token_version = 0;
  std::uint32_t kv_version = 0;
  std::uint32_t token = 0;
  float confidence = 0;
};

enum class revision_code : std::uint8_t {
  ok,
  dropped,       // outdated; nothing changed
  stable_write,  // would change what is frozen: the run must stop. Nothing changed
  bad_argument,  // no such position, or not one that this call is for. Nothing changed
};

struct revision_counters {
  std::uint32_t made_visible = 0;
  std::uint32_t below_visibility = 0;  // of these, only to make progress
  std::uint32_t made_stable = 0;
  std::uint32_t picked = 0;    // transactions started
  std::uint32_t applied = 0;   // landed
  std::uint32_t replaced = 0;  // of these, with another token
  std::uint32_t dropped = 0;
};

class revision {
 public:
  // One entry per position to generate, all as default-constructed; their number is a multiple of the block length,
  // which is 1 or more. The span outlives the object.
  revision(const revision_rules& rules, std::span<revision_entry> entries);

  // Positions [first, first + count) are in work from now on. Codes: ok, bad_argument.
  [[nodiscard]] revision_code move_window(std::uint32_t first, std::uint32_t count);

  // The last positions, from `count` on, are no part of the run any more: none of them is anything but masked, and
  // count is a multiple of the block length. Codes: ok, bad_argument.
  [[nodiscard]] revision_code cut(std::uint32_t count);

  // Chooses up to targets.size() visible positions by the policy, and fills in the transactions' origins. Returns how
  // many. Not chosen: a position in flight (one whose transaction is outdated no longer is), and one of the window that
  // its confidence makes stable anyway.
  std::uint32_t pick(std::span<revision_transaction> targets);

  // The forward's prediction for a position of the window. Codes: ok, stable_write (a stable position is not asked
  // about), bad_argument (not in the window).
  [[nodiscard]] revision_code observe(std::uint32_t position, std::uint32_t token, float confidence);

  // A masked position that was observed becomes visible whatever its confidence, if it is one of the current block.
  // Codes: ok, bad_argument (not observed, or not masked).
  [[nodiscard]] revision_code accept(std::uint32_t position);

  // The forward is complete: its observations take effect. False when it had to make a masked position visible and had
  // observed none of the current block.
  [[nodiscard]] bool end_forward();

  // Codes: ok, dropped, stable_write (the versions are right, yet the position is stable: the caller's bookkeeping is
  // broken), bad_argument.
  [[nodiscard]] revision_code merge(const revision_transaction& t);

  // First position of the first block with masks; the number of positions when there is none.
  std::uint32_t current_block() const { return current_; }
  // No position is masked.
  bool complete() const { return current_ == entries_.size(); }

  std::span<const revision_entry> entries() const { return entries_; }
  const revision_counters& counters() const { return counters_; }
  std::uint32_t step() const { return step_; }  // forwards ended
  // FNV-1a, 64 bits, over the little-endian words (step, position, state, token) of every transition, replacement and
  // pick, in order; picks with state 3.
  std::uint64_t state_hash() const { return hash_; }

 private:
  bool in_window(std::uint32_t position) const { return position - window_first_ < window_count_; }
  bool before(std::uint32_t a, std::uint32_t b) const;
  bool settles(std::uint32_t position) const;
  void end_visible(std::uint32_t position);
  void make_visible(std::uint32_t position);
  void make_stable(std::uint32_t position);
  void replace(std::uint32_t position, std::uint32_t token, float confidence);
  void confirm(std::uint32_t position, float confidence);
  void note(std::uint32_t position, std::uint32_t state);

  revision_rules rules_;
  std::span<revision_entry> entries_;
  std::uint32_t window_first_ = 0;
  std::uint32_t window_count_ = 0;
  std::uint32_t current_ = 0;
  std::uint32_t step_ = 0;
  revision_counters counters_;
  std::uint64_t hash_;
};

}  // namespace dvp::dllm
