// converter_design over one Verilated class; Model is Vprecision_converter as Verilator generates it.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "testbenches/regress/converter_design.h"

namespace dvp::regress {

template <class Model>
class converter_model final : public converter_design {
 public:
  explicit converter_model(std::uint32_t seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed & 0x7fff'ffffu));
    context_.traceEverOn(true);
    model_ = std::make_unique<Model>(&context_);
    model_->clk_i = 0;
    model_->burst_valid_i = 0;
    model_->result_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
  }
  ~converter_model() override {
    if (waves_ != nullptr) waves_->close();
    model_->final();
  }

  void drive_reset(bool asserted) override { model_->rst_ni = asserted ? 0 : 1; }

  void drive_burst(const converter_input* burst) override {
    model_->burst_valid_i = burst != nullptr;
    if (burst == nullptr) return;
    std::memcpy(&model_->burst_data_i, burst->data, sizeof burst->data);
    model_->burst_count_i = burst->count;
    model_->burst_last_i = burst->last;
    model_->burst_precision_i = burst->precision;
    model_->burst_mode_i = burst->mode;
    model_->burst_clip_i = burst->clip;
    model_->burst_shift_i = burst->shift;
    model_->burst_threshold_i = burst->threshold;
  }

  void drive_result_ready(bool ready) override { model_->result_ready_i = ready; }

  bool ready() override {
    model_->eval();
    return model_->burst_ready_o != 0;
  }

  bool result_valid() const override { return model_->result_valid_o != 0; }

  converter_output result() const override {
    converter_output out;
    std::memcpy(out.data, &model_->result_data_o, sizeof out.data);
    out.count = static_cast<std::uint8_t>(model_->result_count_o);
    out.last = model_->result_last_o != 0;
    out.precision = static_cast<std::uint8_t>(model_->result_precision_o);
    out.half_step = model_->result_half_step_o != 0;
    return out;
  }

  void clock() override {
    model_->clk_i = 0;
    model_->eval();
    if (recording_) waves_->dump(2 * cycles_);
    model_->clk_i = 1;
    model_->eval();
    if (recording_) waves_->dump(2 * cycles_ + 1);
    ++cycles_;
  }

  void open_waves(const std::string& path) override {
    waves_ = std::make_unique<VerilatedFstC>();
    waves_->set_time_unit("1ns");
    model_->trace(waves_.get(), 99);
    waves_->open(path.c_str());
    if (!waves_->isOpen()) throw std::runtime_error("cannot write the waveform file " + path);
    recording_ = true;
  }

  void record_waves(bool on) override {
    recording_ = on && waves_ != nullptr;
    if (!on && waves_ != nullptr) waves_->flush();
  }

 private:
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VerilatedFstC> waves_;
  std::uint64_t cycles_ = 0;
  bool recording_ = false;
};

}  // namespace dvp::regress
