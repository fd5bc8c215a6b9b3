#include "tlm/cosim/rtl_array.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace dvp::cosim {

namespace {

std::runtime_error out_of_step(const array::array_job& job, std::uint64_t cycle, const char* what) {
  return std::runtime_error("rtl array, job " + std::to_string(job.id) + ", cycle " + std::to_string(cycle) + ": " +
                            what);
}

// First reduction index of a fold, and the elements in it.
struct fold_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

fold_range range_of(const numerics::chain_operands& operands, std::uint32_t rows, std::uint64_t folds_per_chain,
                    std::uint64_t fold) {
  const auto chain = static_cast<std::uint32_t>(fold / folds_per_chain);
  const auto offset = static_cast<std::uint32_t>(fold % folds_per_chain) * rows;
  return {chain * operands.group + offset, std::min(rows, operands.group - offset)};
}

void check(const numerics::chain_operands& operands, array::array_shape shape) {
  const bool counted = operands.columns >= 1 && operands.vectors >= 1 && operands.reduction >= 1 && operands.group >= 1;
  if (!counted || operands.reduction % operands.group != 0 || operands.columns > shape.columns) {
    throw std::invalid_argument("rtl array: a job needs 1 to " + std::to_string(shape.columns) +
                                " columns, 1 vector or more, and a reduction that is a multiple of the group");
  }
}

}  // namespace

rtl_array::rtl_array(std::string_view config, const rtl_options& options)
    : array_(make_verilated_array(config, options.seed)),
      shape_(array_->shape()),
      options_(options),
      values_(shape_.columns),
      lanes_(shape_.rows),
      presets_(shape_.columns) {
  if (!options_.waves.empty()) {
    array_->open_waves(options_.waves);
    array_->record_waves(false);
  }
}

float* rtl_array::sums(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t vector) const {
  const std::uint64_t chain = fold / folds_per_chain_;
  return operands.out + (chain * operands.vectors + vector) * operands.columns;
}

void rtl_array::load(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t row) {
  const fold_range range = range_of(operands, shape_.rows, folds_per_chain_, fold);
  const bool active = row < range.count;
  if (active) {
    const std::uint16_t* source = operands.stationary + std::size_t{range.first + row} * operands.columns;
    std::copy_n(source, operands.columns, values_.begin());
  }
  const load_beat beat{row, fold % 2 != 0, active, values_.data()};
  array_->drive_load(&beat);
}

void rtl_array::stream(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t vector) {
  const fold_range range = range_of(operands, shape_.rows, folds_per_chain_, fold);
  const std::size_t first = vector * operands.stream_stride + range.first;
  const bool q8 = operands.format == numerics::stream_format::q8;
  if (q8) {
    const auto* codes = static_cast<const std::uint8_t*>(operands.stream) + first;
    std::copy_n(codes, range.count, lanes_.begin());
  } else {
    const auto* codes = static_cast<const std::uint16_t*>(operands.stream) + first;
    std::copy_n(codes, range.count, lanes_.begin());
  }
  const bool chain_start = fold % folds_per_chain_ == 0;
  const float* preset = sums(operands, fold, vector);
  if (chain_start) {
    preset =
        fold == 0 && operands.preset != nullptr ? operands.preset + std::size_t{vector} * operands.columns : nullptr;
  }
  if (preset != nullptr) {
    std::memcpy(presets_.data(), preset, operands.columns * sizeof(float));
  } else {
    std::fill_n(presets_.begin(), operands.columns, 0u);
  }
  const stream_beat beat{fold % 2 != 0, q8, lanes_.data(), presets_.data()};
  array_->drive_stream(&beat);
}

void rtl_array::take_result(const numerics::chain_operands& operands, std::uint64_t index) {
  float* destination = sums(operands, index / operands.vectors, static_cast<std::uint32_t>(index % operands.vectors));
  std::memcpy(destination, array_->result(), operands.columns * sizeof(float));
}

std::uint64_t rtl_array::run(const array::array_job& job) {
  const numerics::chain_operands& operands = job.operands;
  check(operands, shape_);
  folds_per_chain_ = array::folds_per_chain(shape_, operands.group);
  const std::uint64_t folds = array::job_folds(shape_, operands.reduction, operands.group);
  const std::uint64_t results = folds * operands.vectors;
  const std::uint64_t limit = array::job_cycles(shape_, operands.vectors, operands.reduction, operands.group);
  array_->record_waves(job.id >= options_.first_wave_job && job.id <= options_.last_wave_job);

  std::uint64_t cycle = 0;
  std::uint64_t load_fold = 0;
  std::uint64_t stream_fold = 0;
  for (taken_ = 0; taken_ < results; ++cycle) {
    if (cycle > limit) throw out_of_step(job, cycle, "a result is missing");
    if (array_->result_valid()) take_result(operands, taken_++);

    const std::uint64_t load_start = array::load_start(shape_, operands.vectors, load_fold);
    const bool loads = load_fold < folds && cycle >= load_start;
    if (loads) {
      const auto row = static_cast<std::uint32_t>(cycle - load_start);
      load(operands, load_fold, row);
      if (row + 1 == shape_.rows) ++load_fold;
    } else {
      array_->drive_load(nullptr);
    }

    const std::uint64_t stream_start = array::stream_start(shape_, operands.vectors, stream_fold);
    const bool streams = stream_fold < folds && cycle >= stream_start;
    if (streams) {
      const auto vector = static_cast<std::uint32_t>(cycle - stream_start);
      const bool chained = stream_fold % folds_per_chain_ != 0;
      if (chained && taken_ <= (stream_fold - 1) * operands.vectors + vector) {
        throw out_of_step(job, cycle, "a fold needs a sum that has not left the array");
      }
      stream(operands, stream_fold, vector);
      if (vector + 1 == operands.vectors) ++stream_fold;
    } else {
      array_->drive_stream(nullptr);
    }
    array_->clock();
  }
  if (array_->result_valid()) throw out_of_step(job, cycle, "there are more results than vectors");
  array_->record_waves(false);
  return cycle;
}

}  // namespace dvp::cosim
