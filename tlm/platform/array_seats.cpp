#include "tlm/platform/array_seats.h"

#include <stdexcept>

#include "tlm/array/array_config.h"
#include "tlm/array/model_array.h"
#include "tlm/cosim/lockstep_array.h"
#include "tlm/cosim/rtl_array.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

array_seats::array_seats(const gen::array_config& array, array_choice choice, std::uint32_t lockstep_every,
                         const std::string& waves, std::uint64_t waves_jobs) {
  const array::array_shape shape = array::shape_of(array);
  if (choice != array_choice::rtl) model_ = std::make_unique<array::model_array>(shape);
  if (choice != array_choice::model) {
    cosim::rtl_options options;
    options.waves = waves;
    // In lockstep the RTL sees one job in N, so N times as many pass until it has seen waves_jobs.
    options.last_wave_job = waves_jobs * (choice == array_choice::both ? lockstep_every : 1) - 1;
    try {
      rtl_ = std::make_unique<cosim::rtl_array>(array.name, options);
    } catch (const std::invalid_argument& error) {
      throw usage_error(std::string("--array ") + name_of(choice) + ": " + error.what());
    }
  }
  if (choice == array_choice::both) {
    cosim::lockstep_options options;
    options.every = lockstep_every;
    both_ = std::make_unique<cosim::lockstep_array>(*model_, *rtl_, shape, options);
  }
  seat_ = both_ ? both_.get() : rtl_ ? rtl_.get() : model_.get();
}

array_seats::~array_seats() = default;

}  // namespace dvp::platform
