// verilated_array over one Verilated class; Model is V<module> as Verilator generates it.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tlm/cosim/verilated_array.h"

namespace dvp::cosim {

template <class Model>
class verilated_model final : public verilated_array {
 public:
  verilated_model(array::array_shape shape, std::uint32_t seed)
      : shape_(shape), result_(std::size_t{shape.slots()} * shape.columns) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed & 0x7fff'ffffu));
    context_.fatalOnError(false);
    context_.traceEverOn(true);
    model_ = std::make_unique<Model>(&context_);
    model_->clk_i = 0;
    model_->load_valid_i = 0;
    model_->stream_valid_i = 0;
    model_->result_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
  }

  ~verilated_model() override {
    close_waves();
    model_->final();
  }

  array::array_shape shape() const override { return shape_; }

  void drive_reset(bool asserted) override { model_->rst_ni = asserted ? 0 : 1; }

  void drive_load(const load_beat* beat) override {
    model_->load_valid_i = beat != nullptr;
    if (beat == nullptr) return;
    model_->load_row_i = static_cast<std::remove_reference_t<decltype(model_->load_row_i)>>(beat->row);
    model_->load_bank_i = beat->bank;
    model_->load_active_i = beat->active;
    write(model_->load_data_i, beat->values, shape_.columns);
  }

  void drive_stream(const stream_beat* beat) override {
    model_->stream_valid_i = beat != nullptr;
    if (beat == nullptr) return;
    model_->stream_bank_i = beat->bank;
    model_->stream_format_i = static_cast<std::uint8_t>(beat->format);
    model_->stream_half_step_i = beat->half_step;
    model_->stream_more_i = static_cast<std::uint8_t>(beat->more);
    write(model_->stream_data_i, beat->lanes, shape_.rows * shape_.lane_bits / 8);
    write(model_->stream_preset_i, beat->preset, shape_.slots() * shape_.columns);
  }

  void drive_result_ready(bool ready) override { model_->result_ready_i = ready; }

  bool ready() override {
    model_->eval();
    return model_->load_ready_o != 0 && model_->stream_ready_o != 0;
  }

  bool result_valid() const override { return model_->result_valid_o != 0; }

  std::uint32_t result_more() const override { return model_->result_more_o; }

  const std::uint32_t* result() const override {
    std::memcpy(result_.data(), &model_->result_data_o, result_.size() * sizeof(std::uint32_t));
    return result_.data();
  }

  void clock() override {
    model_->clk_i = 0;
    model_->eval();
    dump(2 * cycles_);
    model_->clk_i = 1;
    model_->eval();
    dump(2 * cycles_ + 1);
    ++cycles_;
    if (context_.gotFinish()) {
      close_waves();
      throw std::runtime_error("the Verilated array stopped by itself in cycle " + std::to_string(cycles_ - 1));
    }
  }

  std::uint64_t cycles() const override { return cycles_; }

  void open_waves(const std::string& path) override {
    close_waves();
    waves_ = std::make_unique<VerilatedFstC>();
    waves_->set_time_unit("1ns");
    model_->trace(waves_.get(), 99);
    waves_->open(path.c_str());
    if (!waves_->isOpen()) {
      waves_.reset();
      throw std::runtime_error("cannot write the waveform file " + path);
    }
    recording_ = true;
  }

  void record_waves(bool on) override {
    recording_ = on && waves_ != nullptr;
    if (!on && waves_ != nullptr) waves_->flush();
  }

  void close_waves() override {
    if (waves_ != nullptr) waves_->close();
    waves_.reset();
    recording_ = false;
  }

 private:
  // Ports are little-endian words whatever C++ type their width gives them.
  template <class Port, class Element>
  static void write(Port& port, const Element* source, std::uint32_t count) {
    std::memcpy(&port, source, count * sizeof(Element));
  }

  void dump(std::uint64_t time) {
    if (recording_) waves_->dump(time);
  }

  array::array_shape shape_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VerilatedFstC> waves_;
  mutable std::vector<std::uint32_t> result_;
  std::uint64_t cycles_ = 0;
  bool recording_ = false;
};

}  // namespace dvp::cosim
