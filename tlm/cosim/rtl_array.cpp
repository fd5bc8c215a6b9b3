#include "tlm/cosim/rtl_array.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tlm/numerics/fp32.h"

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
      lanes_(std::size_t{shape_.rows} * shape_.lane_bits / 8),
      presets_(std::size_t{shape_.slots()} * shape_.columns) {
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
  const load_beat beat{row, shape_.banks == 2 && fold % 2 != 0, active, values_.data()};
  array_->drive_load(&beat);
}

void rtl_array::plan(const numerics::chain_operands& operands) {
  beats_.clear();
  results_.clear();
  array::beat_packer packer(shape_);
  for (std::uint32_t v = 0; v < operands.vectors; ++v) {
    const numerics::stream_vector vector = operands.vector(v);
    if (vector.format == numerics::stream_format::q0) continue;
    if (packer.joins(vector.format, vector.half_step)) {
      beats_.back().vectors[++beats_.back().more] = v;
      continue;
    }
    planned_beat beat{vector.format, vector.half_step, true, 0, {v}, results_.size()};
    if (array::beats_per_vector(shape_, vector.format) == 2) {
      beat.last = false;
      beats_.push_back(beat);
      beat.last = true;
    }
    results_.push_back(static_cast<std::uint32_t>(beats_.size()));
    beats_.push_back(beat);
  }
}

const float* rtl_array::start(const numerics::chain_operands& operands, std::uint64_t fold,
                              std::uint32_t vector) const {
  if (fold % folds_per_chain_ != 0) return sums(operands, fold, vector);
  if (fold != 0 || operands.preset == nullptr) return nullptr;
  return operands.preset + std::size_t{vector} * operands.columns;
}

void rtl_array::stream(const numerics::chain_operands& operands, std::uint64_t fold, const planned_beat& beat) {
  const fold_range range = range_of(operands, shape_.rows, folds_per_chain_, fold);
  const std::uint32_t bytes = shape_.lane_bits / 8;
  const std::uint32_t bits = numerics::element_bits(beat.format);
  const std::uint32_t mask = (1U << std::min(bits, 8U)) - 1;
  const std::uint32_t shift = bits == 16 && beat.last && bytes == 1 ? 8 : 0;
  for (std::uint32_t j = 0; j <= beat.more; ++j) {
    const numerics::stream_vector vector = operands.vector(beat.vectors[j]);
    for (std::uint32_t r = 0; r < range.count; ++r) {
      const auto stored = static_cast<std::uint32_t>(vector.stored(range.first + r));
      std::uint8_t* lane = &lanes_[r * bytes];
      const auto part = static_cast<std::uint8_t>((stored >> shift & mask) << (j * bits));
      *lane = j == 0 ? part : static_cast<std::uint8_t>(*lane | part);
      if (bytes == 2 && bits == 16) lane[1] = static_cast<std::uint8_t>(stored >> 8);
    }
    std::uint32_t* preset = &presets_[std::size_t{j} * shape_.columns];
    const float* first = start(operands, fold, beat.vectors[j]);
    if (first != nullptr) {
      std::memcpy(preset, first, operands.columns * sizeof(float));
    } else {
      std::fill_n(preset, operands.columns, 0U);
    }
  }
  const stream_beat driven{
      shape_.banks == 2 && fold % 2 != 0, beat.format, beat.half_step, beat.more, lanes_.data(), presets_.data()};
  array_->drive_stream(&driven);
}

void rtl_array::take_result(const array::array_job& job, std::uint64_t cycle) {
  const numerics::chain_operands& operands = job.operands;
  const std::uint64_t fold = taken_ / results_.size();
  const planned_beat& beat = beats_[results_[taken_ % results_.size()]];
  if (array_->result_more() != beat.more) throw out_of_step(job, cycle, "a result has not the vectors of its beat");
  const std::uint32_t* result = array_->result();
  for (std::uint32_t j = 0; j <= beat.more; ++j, result += shape_.columns) {
    std::memcpy(sums(operands, fold, beat.vectors[j]), result, operands.columns * sizeof(float));
  }
  ++taken_;
}

// The sums of the q0 vectors, which the array never sees.
void rtl_array::pass_starts(const numerics::chain_operands& operands) {
  const std::uint64_t chains = operands.chains();
  for (std::uint32_t v = 0; v < operands.vectors; ++v) {
    if (operands.format_of(v) != numerics::stream_format::q0) continue;
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      const float* first = start(operands, chain * folds_per_chain_, v);
      float* destination = sums(operands, chain * folds_per_chain_, v);
      for (std::uint32_t c = 0; c < operands.columns; ++c) {
        destination[c] = first != nullptr ? numerics::canonical(first[c]) : 0.0F;
      }
    }
  }
}

std::uint64_t rtl_array::run(const array::array_job& job) {
  const numerics::chain_operands& operands = job.operands;
  check(operands, shape_);
  folds_per_chain_ = array::folds_per_chain(shape_, operands.group);
  plan(operands);
  pass_starts(operands);
  if (beats_.empty()) return 0;
  const std::uint64_t beats = beats_.size();
  const std::uint64_t folds = array::job_folds(shape_, operands.reduction, operands.group);
  const std::uint64_t results = folds * results_.size();
  const std::uint64_t limit = array::job_cycles(shape_, beats, operands.reduction, operands.group);
  array_->record_waves(job.id >= options_.first_wave_job && job.id <= options_.last_wave_job);

  std::uint64_t cycle = 0;
  std::uint64_t load_fold = 0;
  std::uint32_t load_row = 0;
  std::uint64_t stream_fold = 0;
  for (taken_ = 0; taken_ < results; ++cycle) {
    if (cycle > limit) throw out_of_step(job, cycle, "a result is missing");
    if (array_->result_valid()) take_result(job, cycle);

    if (load_fold < folds && cycle >= array::load_cycle(shape_, beats, load_fold, load_row)) {
      load(operands, load_fold, load_row);
      if (++load_row == shape_.rows) {
        load_row = 0;
        ++load_fold;
      }
    } else {
      array_->drive_load(nullptr);
    }

    const std::uint64_t stream_start = array::stream_start(shape_, beats, stream_fold);
    if (stream_fold < folds && cycle >= stream_start) {
      const planned_beat& beat = beats_[cycle - stream_start];
      const bool chained = stream_fold % folds_per_chain_ != 0;
      if (chained && taken_ <= (stream_fold - 1) * results_.size() + beat.result) {
        throw out_of_step(job, cycle, "a fold needs a sum that has not left the array");
      }
      stream(operands, stream_fold, beat);
      if (cycle - stream_start + 1 == beats) ++stream_fold;
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
