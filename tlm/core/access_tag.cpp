#include "tlm/core/access_tag.h"

namespace dvp::core {

const access_tag& tag_of(const tlm::tlm_generic_payload& payload) {
  static const access_tag plain;
  const access_tag* tag = payload.get_extension<access_tag>();
  return tag != nullptr ? *tag : plain;
}

}  // namespace dvp::core
