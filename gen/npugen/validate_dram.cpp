// dram/*.json: what a schema cannot say about them.
#include <algorithm>
#include <set>

#include "gen/npugen/validate.h"

namespace dvp::npugen {
namespace {

const std::vector<std::string> speed_timings{"RBTP", "RL", "WL"};

// The names of a list of values, each with exactly one way to give it.
std::set<std::string> check_values(const node& owner) {
  std::set<std::string> names;
  for (const node& value : owner.items("values")) {
    const std::string name = value.text("name");
    if (!names.insert(name).second) {
      value.child("name").fail("'" + name + "' is given twice", "remove one of them");
    }
    const int ways = static_cast<int>(value.has("ck")) + static_cast<int>(value.has("ns")) +
                     static_cast<int>(value.has("expression"));
    if (ways != 1) {
      value.fail("a value needs exactly one of ck, ns and expression", "give one of them");
    }
    if (value.has("min_ck") && !value.has("ns")) {
      value.child("min_ck").fail("a least number of clocks belongs to ns only", "remove it or give ns");
    }
  }
  return names;
}

template <typename Key>
void check_unique(const node& file, const std::string& list, const std::string& what, Key key) {
  std::set<std::string> seen;
  for (const node& item : file.items(list)) {
    const std::string name = key(item);
    if (!seen.insert(name).second) {
      item.fail(what + " " + name + " is described twice", "remove one of them");
    }
  }
}

dram_file with_text(const node& file) {
  nlohmann::json root = file.source().root;
  root.erase("$schema");
  return {file.source().relative, file.text("name"), file.text("doc"), root.dump(1)};
}

}  // namespace

dram_file validate_dram_standard(const node& file) {
  check_values(file);
  check_unique(file, "bank_modes", "bank mode", [](const node& item) { return item.text("name"); });
  check_unique(file, "densities", "density", [](const node& item) { return std::to_string(item.word("gbit")); });
  check_unique(file, "energy", "energy", [](const node& item) { return item.text("name"); });
  for (const node& mode : file.items("bank_modes")) {
    if (mode.word("lowest_rate") > mode.word("highest_rate")) {
      mode.child("lowest_rate").fail("the lowest rate is above the highest", "exchange them");
    }
    check_values(mode);
    check_unique(mode, "bursts", "burst length", [](const node& item) { return std::to_string(item.word("length")); });
    for (const node& burst : mode.items("bursts")) {
      check_values(burst);
    }
  }
  for (const node& density : file.items("densities")) {
    check_values(density);
  }
  for (const node& rule : file.items("rules")) {
    const std::string scope = rule.text("scope");
    if ((rule.has("window") || rule.has("hole")) && scope != "rank" && scope != "channel") {
      rule.fail("a window or hole belongs to the scopes rank and channel only", "choose one of them");
    }
  }
  return with_text(file);
}

dram_file validate_dram_speed(const node& file, const std::vector<node>& standards) {
  const std::string of = file.text("of");
  const auto standard =
      std::find_if(standards.begin(), standards.end(), [&](const node& item) { return item.text("name") == of; });
  if (standard == standards.end()) {
    std::vector<std::string> names;
    for (const node& item : standards) {
      names.push_back(item.text("name"));
    }
    file.child("of").fail("there is no standard '" + of + "'", choose_from(of, names));
  }
  const std::set<std::string> given = check_values(file);
  for (const std::string& name : speed_timings) {
    if (!given.contains(name)) {
      file.child("values").fail("the speed lacks " + name, "add it with its source");
    }
  }
  return with_text(file);
}

}  // namespace dvp::npugen
