// What an access is for: a TLM payload extension that initiators attach and memories account by.
//
// An access without a tag moves plain bytes: precision raw, which counts as one element of 8 bits per byte, purpose
// other. Writes store plain bytes whatever the tag says. A read tagged q4, q2 or q0 delivers converted codes:
// converted_read.h.
// An access of several rows says so in `block` (row_block.h); of a converted one `elements` is 0.
// An access that is timing_only takes its time and is counted like any other, but moves no bytes.
// The initiator owns the extension and keeps it alive for the whole transaction; nobody downstream changes it.
#pragma once

#include <cstdint>
#include <tlm>

#include "dvp_gen/descriptor.h"
#include "tlm/core/row_block.h"

namespace dvp::core {

class access_tag : public tlm::tlm_extension<access_tag> {
 public:
  gen::precision precision = gen::precision::raw;
  gen::purpose purpose = gen::purpose::other;
  // Elements moved. 0: as many as the data length holds at the tag's precision.
  std::uint32_t elements = 0;
  // View descriptor of a q4 or q2 read, by the number the memory knows it by; 0: the precision's midpoint view.
  std::uint16_t view = 0;
  bool timing_only = false;
  row_block block;

  access_tag() = default;
  access_tag(gen::precision tag_precision, gen::purpose tag_purpose, std::uint32_t tag_elements,
             std::uint16_t tag_view = 0)
      : precision(tag_precision), purpose(tag_purpose), elements(tag_elements), view(tag_view) {}

  tlm::tlm_extension_base* clone() const override { return new access_tag(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const access_tag&>(other); }
  friend bool operator==(const access_tag& a, const access_tag& b) {
    return a.precision == b.precision && a.purpose == b.purpose && a.elements == b.elements && a.view == b.view &&
           a.timing_only == b.timing_only && a.block == b.block;
  }
};

// The tag of an access; that of a plain byte access when it has none. The reference lives as long as the payload.
const access_tag& tag_of(const tlm::tlm_generic_payload& payload);

}  // namespace dvp::core
