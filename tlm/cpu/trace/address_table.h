// A value per instruction address, zero until it is touched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace dvp::cpu::trace {

template <typename Value>
class address_table {
 public:
  Value& at(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (page_ == nullptr || number != page_number_) {
      auto& page = pages_[number];
      if (page == nullptr) page = std::make_unique<page_values>();
      page_ = page.get();
      page_number_ = number;
    }
    return (*page_)[address % page_bytes / step];
  }
  Value get(std::uint64_t address) const {
    const auto page = pages_.find(address / page_bytes);
    return page == pages_.end() ? Value() : (*page->second)[address % page_bytes / step];
  }
  // Every address of the pages that were touched, in ascending order.
  template <typename Function>
  void for_each(Function&& visit) const {
    for (const auto& [number, page] : pages_) {
      for (std::size_t i = 0; i < page->size(); ++i) visit(number * page_bytes + i * step, (*page)[i]);
    }
  }

 private:
  static constexpr std::uint64_t page_bytes = 4096, step = 2;
  using page_values = std::array<Value, page_bytes / step>;

  std::map<std::uint64_t, std::unique_ptr<page_values>> pages_;
  page_values* page_ = nullptr;  // the last one
  std::uint64_t page_number_ = 0;
};

}  // namespace dvp::cpu::trace
