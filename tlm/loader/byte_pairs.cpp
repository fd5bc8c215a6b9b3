#include "tlm/loader/byte_pairs.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>

namespace dvp::loader {
namespace {

constexpr std::size_t none = ~std::size_t{0};

// The tokens as a doubly linked list over the positions they started at.
struct node {
  std::uint32_t token;
  std::size_t previous;
  std::size_t next;
  bool alive;
};

// A possible merge; out of date when its two nodes no longer hold these tokens next to each other.
struct candidate {
  std::uint32_t rank;
  std::size_t at;
  std::uint32_t left, right, result;  // tokens
  bool operator>(const candidate& other) const { return std::tie(rank, at) > std::tie(other.rank, other.at); }
};

}  // namespace

void byte_pairs::add(std::uint32_t left, std::uint32_t right, std::uint32_t result) {
  const auto rank = static_cast<std::uint32_t>(merges_.size());
  merges_.try_emplace(std::uint64_t{left} << 32 | right, merge{rank, result});
}

const byte_pairs::merge* byte_pairs::find(std::uint32_t left, std::uint32_t right) const {
  const auto place = merges_.find(std::uint64_t{left} << 32 | right);
  return place == merges_.end() ? nullptr : &place->second;
}

void byte_pairs::apply(std::vector<std::uint32_t>& tokens) const {
  std::vector<node> nodes(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    nodes[i] = {tokens[i], i == 0 ? none : i - 1, i + 1 == tokens.size() ? none : i + 1, true};
  }
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
  const auto offer = [&](std::size_t at) {
    if (at == none || nodes[at].next == none) {
      return;
    }
    const std::uint32_t left = nodes[at].token, right = nodes[nodes[at].next].token;
    if (const merge* found = find(left, right)) {
      queue.push({found->rank, at, left, right, found->result});
    }
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    offer(i);
  }
  while (!queue.empty()) {
    const candidate best = queue.top();
    queue.pop();
    node& left = nodes[best.at];
    if (!left.alive || left.token != best.left || left.next == none || nodes[left.next].token != best.right) {
      continue;
    }
    node& right = nodes[left.next];
    left.token = best.result;
    right.alive = false;
    left.next = right.next;
    if (left.next != none) {
      nodes[left.next].previous = best.at;
    }
    offer(best.at);
    offer(left.previous);
  }
  tokens.clear();
  for (const node& n : nodes) {
    if (n.alive) {
      tokens.push_back(n.token);
    }
  }
}

}  // namespace dvp::loader
