#include "tlm/platform/explain/terms.h"

#include "tlm/platform/figures.h"

namespace dvp::platform {

bool scope::has(const std::string& figure) const {
  return find_figure(run.stats(), at(figure)) != nullptr;
}

derivation with_formula(derivation d, std::string formula, std::string source, std::vector<derivation> terms,
                        double computed) {
  d.formula = std::move(formula);
  d.source = std::move(source);
  d.terms = std::move(terms);
  d.computed = computed;
  return d;
}

derivation made_of(std::string name, std::string unit, std::string kind, std::string formula, std::string source,
                   std::vector<derivation> terms, double computed) {
  derivation d;
  d.name = std::move(name);
  d.value = computed;
  d.unit = std::move(unit);
  d.kind = std::move(kind);
  return with_formula(std::move(d), std::move(formula), std::move(source), std::move(terms), computed);
}

derivation as_sum(derivation d, std::string source, std::vector<derivation> terms) {
  std::string formula;
  double sum = 0;
  for (const derivation& term : terms) {
    formula += (formula.empty() ? "" : " + ") + term.name;
    sum += term.value;
  }
  return with_formula(std::move(d), std::move(formula), std::move(source), std::move(terms), sum);
}

}  // namespace dvp::platform
