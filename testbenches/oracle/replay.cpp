#include "testbenches/oracle/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace dvp::oracle {

namespace {

// The trajectory cannot be followed any further.
class derailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string list(const std::vector<std::size_t>& positions) {
  std::string text = "{";
  for (const std::size_t p : positions) text += (text.size() > 1 ? ", " : "") + std::to_string(p);
  return text + "}";
}

class checking_chooser : public chooser {
 public:
  checking_chooser(const trajectory& t, std::size_t vocabulary, report& result)
      : t_(t), resolution_(std::min(static_cast<double>(vocabulary) * 0x1p-24, 1e-4)), result_(result) {}

  std::vector<commit> choose(const decision& d) override {
    while (next_ < t_.steps.size() && t_.steps[next_].commits.empty()) ++next_;
    if (next_ == t_.steps.size()) throw derailed("the trajectory ends before " + name(d));
    const step& s = t_.steps[next_++];
    std::vector<commit> theirs = s.commits;
    std::sort(theirs.begin(), theirs.end(), [](const commit& a, const commit& b) { return a.position < b.position; });
    ++result_.decisions;
    result_.commits += theirs.size();

    std::vector<const prediction*> chosen;
    for (const commit& c : theirs) {
      const auto found = std::find_if(d.candidates.begin(), d.candidates.end(),
                                      [&](const prediction& p) { return p.position == c.position; });
      if (found == d.candidates.end()) {
        throw derailed(name(d) + " commits position " + std::to_string(c.position) + ", which is not a candidate");
      }
      check_token(d, *found, c.chosen);
      chosen.push_back(&*found);
    }
    check_positions(d, chosen);
    return theirs;
  }

  void finished(const outcome& o) {
    while (next_ < t_.steps.size() && t_.steps[next_].commits.empty()) ++next_;
    if (next_ != t_.steps.size()) result_.errors.push_back("the trajectory goes on behind the end of the answer");
    if (o.steps.size() != t_.steps.size()) {
      result_.errors.push_back(std::to_string(t_.steps.size()) + " forwards where the loop has " +
                               std::to_string(o.steps.size()));
    }
    if (o.tokens != t_.tokens) result_.errors.push_back("the final tokens are not what was committed");
  }

 private:
  static std::string name(const decision& d) { return "forward " + std::to_string(d.forward); }

  void check_token(const decision& d, const prediction& p, token theirs) {
    if (theirs == p.best) return;
    if (theirs >= p.log_probabilities.size() || std::isinf(p.log_probabilities[theirs])) {
      throw derailed(name(d) + " commits token " + std::to_string(theirs) + ", which is the mask or none");
    }
    const double margin = p.log_probabilities[p.best] - p.log_probabilities[theirs];
    result_.disagreements.push_back({d.forward, true, margin, 0,
                                     "position " + std::to_string(p.position) + ": token " + std::to_string(theirs) +
                                         " for " + std::to_string(p.best)});
  }

  // How far the oracle is from ranking `low` above `high`: positive when it ranks high above low.
  void widen(disagreement& d, double high, double high_odds, double low, double low_odds) const {
    d.confidence_gap = std::max(d.confidence_gap, high - low);
    if (high - low > resolution_) d.margin = std::max(d.margin, high_odds - low_odds);
  }

  void check_positions(const decision& d, const std::vector<const prediction*>& chosen) {
    const std::vector<commit> own = own_choice(d);
    const auto is_own = [&](const prediction* p) {
      return std::any_of(own.begin(), own.end(), [&](const commit& c) { return c.position == p->position; });
    };
    std::vector<const prediction*> extra, missing;
    for (const prediction* p : chosen) {
      if (!is_own(p)) extra.push_back(p);
    }
    for (const prediction& p : d.candidates) {
      if (is_own(&p) && std::find(chosen.begin(), chosen.end(), &p) == chosen.end()) missing.push_back(&p);
    }
    const bool counted = d.by != rule::above_threshold && d.by != rule::within_factor;
    if (counted && chosen.size() != own.size()) {
      throw derailed(name(d) + " commits " + std::to_string(chosen.size()) + " positions where the rule says " +
                     std::to_string(own.size()));
    }
    if (extra.empty() && missing.empty()) return;

    disagreement found{d.forward, false, 0, 0, ""};
    if (d.by == rule::above_threshold) {
      margin_at_threshold(d, chosen, extra, missing, found);
    } else {
      for (const prediction* m : missing) {
        for (const prediction* e : extra) widen(found, m->probability, m->log_odds, e->probability, e->log_odds);
      }
      if (d.by == rule::within_factor) margin_of_count(d, chosen.size(), own.size(), extra, missing, found);
    }
    const auto positions = [](const std::vector<const prediction*>& which) {
      std::vector<std::size_t> result;
      for (const prediction* p : which) result.push_back(p->position);
      return list(result);
    };
    found.what = "positions " + positions(extra) + " for " + positions(missing);
    result_.disagreements.push_back(std::move(found));
  }

  void margin_at_threshold(const decision& d, const std::vector<const prediction*>& chosen,
                           const std::vector<const prediction*>& extra, const std::vector<const prediction*>& missing,
                           disagreement& found) const {
    const double tau = d.threshold;
    const double tau_odds = std::log(tau / (1 - tau));
    const auto less = [](const prediction* a, const prediction* b) { return a->log_odds < b->log_odds; };
    const prediction* best = *std::max_element(chosen.begin(), chosen.end(), less);
    // Theirs qualified as best of all rather than by the threshold, as far as the oracle can tell.
    const bool best_is_extra = std::find(extra.begin(), extra.end(), best) != extra.end() && !missing.empty();
    for (const prediction* m : missing) {
      if (m->probability > tau) widen(found, m->probability, m->log_odds, tau, tau_odds);
      if (m->probability <= tau || best_is_extra) {
        widen(found, m->probability, m->log_odds, best->probability, best->log_odds);
      }
    }
    for (const prediction* e : extra) {
      if (e != best || !best_is_extra) widen(found, tau, tau_odds, e->probability, e->log_odds);
    }
  }

  // The factor rule asks the n-th candidate for more than 1 - factor / (n + 1).
  void margin_of_count(const decision& d, std::size_t theirs, std::size_t own,
                       const std::vector<const prediction*>& extra, const std::vector<const prediction*>& missing,
                       disagreement& found) const {
    const auto bar = [&](std::size_t n) { return 1 - d.factor / static_cast<double>(n + 1); };
    const auto odds = [](double p) { return std::log(p / (1 - p)); };
    if (theirs > own && bar(theirs) > 0) {
      for (const prediction* e : extra) {
        widen(found, bar(theirs), odds(bar(theirs)), e->probability, e->log_odds);
      }
    }
    if (theirs < own && bar(theirs + 1) > 0) {
      for (const prediction* m : missing) {
        widen(found, m->probability, m->log_odds, bar(theirs + 1), odds(bar(theirs + 1)));
      }
    }
    // A bar that everything passes leaves nothing to measure.
    if (theirs < own && bar(theirs + 1) <= 0) {
      throw derailed(name(d) + " commits fewer positions than the factor rule always allows");
    }
  }

  const trajectory& t_;
  double resolution_;
  report& result_;
  std::size_t next_ = 0;
};

}  // namespace

double report::worst_margin() const {
  double worst = 0;
  for (const disagreement& d : disagreements) worst = std::max(worst, d.margin);
  return worst;
}

report replay(const network& net, const settings& s, const trajectory& t) {
  report result;
  checking_chooser chooser(t, net.shape.vocabulary, result);
  try {
    chooser.finished(decode(net, s, t.prompt, chooser));
  } catch (const derailed& e) {
    result.errors.push_back(e.what());
  }
  return result;
}

}  // namespace dvp::oracle
