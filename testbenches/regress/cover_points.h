// Functional cover points: names with counts. Every point a case can reach is declared, so that one never hit is seen.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace dvp::regress {

class cover_points {
 public:
  void declare(const std::string& name) { counts_.try_emplace(name, 0); }

  // The point must be declared: a misspelt name ends the run with std::out_of_range.
  void hit(const std::string& name, std::uint64_t times = 1) { counts_.at(name) += times; }
  // The count itself, for points that are hit in inner loops; valid as long as the object.
  std::uint64_t& count(const std::string& name) { return counts_.at(name); }

  // One line per point: count, name.
  void write(std::ostream& out) const {
    for (const auto& [name, count] : counts_) out << count << ' ' << name << '\n';
  }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace dvp::regress
