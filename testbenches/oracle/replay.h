// Checks another program's decode, decision by decision, from that program's own token states.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbenches/oracle/decode.h"

namespace dvp::oracle {

// One answer of a trajectory file: what was committed by each forward. Forwards that only fill have no commits.
struct trajectory {
  std::vector<token> prompt;
  std::vector<token> tokens;  // prompt and answer
  std::vector<step> steps;
};

// A decision that differs from the oracle's. The margin is how much the oracle's logits would have to move for the two
// to agree: the gap of the log-probabilities for a token; the gap of the log-odds for the choice of positions, 0 when
// the confidences themselves are closer than binary32 sums over the vocabulary resolve.
struct disagreement {
  std::size_t forward = 0;
  bool of_token = false;  // else of positions
  double margin = 0;
  double confidence_gap = 0;  // positions: largest difference of the confidences involved
  std::string what;
};

struct report {
  std::size_t decisions = 0;  // forwards that committed something
  std::size_t commits = 0;
  std::vector<disagreement> disagreements;
  std::vector<std::string> errors;  // what no margin excuses: wrong positions, counts, forwards or final tokens

  // The largest margin among the disagreements; 0 without.
  double worst_margin() const;
};

report replay(const network& net, const settings& s, const trajectory& t);

}  // namespace dvp::oracle
