#include "tlm/core/traffic_figures.h"

#include <utility>

namespace dvp::core {

traffic_figures::traffic_figures(statistics& figures, std::string owner)
    : figures_(figures),
      owner_(std::move(owner)),
      accesses_(figures.counter(owner_ + ".accesses")),
      bytes_read_(figures.counter(owner_ + ".bytes_read")),
      bytes_written_(figures.counter(owner_ + ".bytes_written")) {}

void traffic_figures::count(bool write, const access_tag& tag, std::uint64_t bytes) {
  ++accesses_;
  (write ? bytes_written_ : bytes_read_) += bytes;
  const std::size_t purpose = static_cast<std::size_t>(tag.purpose) % purposes;
  const std::size_t precision = static_cast<std::size_t>(tag.precision) % precisions;
  std::uint64_t*& traffic = traffic_[((write ? 1 : 0) * purposes + purpose) * precisions + precision];
  if (traffic == nullptr) {
    traffic = &figures_.counter(owner_ + ".traffic." + (write ? "write." : "read.") + gen::name_of(tag.purpose) + '.' +
                                gen::name_of(tag.precision) + "_bytes");
  }
  *traffic += bytes;
}

}  // namespace dvp::core
