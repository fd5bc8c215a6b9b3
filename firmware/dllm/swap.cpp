#include "firmware/dllm/swap.h"

#include "firmware/dllm/alignment.h"
#include "firmware/dllm/swap_compression.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::result_code;
using gen::swap_policy;

constexpr std::uint64_t identity_bytes = 2 * kernels::weight_group * kernels::weight_group;

// Steps of the planner that take as long as a token examined; by the RV64 image's time.
constexpr std::uint64_t planner_steps_per_token = 10;

}  // namespace

result_code swap_runtime::plan(const swapped_run& run, drivers::npu_window& window, swap_policies& policies) {
  const gen::request_record& request = run.request;
  const work_layout& work = run.work;
  const kernels::config& model = run.model;
  const std::uint64_t end = request.work_address + request.work_bytes;
  const std::uint64_t parameters = align_up(work.end);
  const byte_range room{parameters + parameter_bytes(model), 0};
  if (room.bus > end) {
    return result_code::too_long;
  }
  pack_parameters(model, parameters, run.weights);
  make_graph(model, run.weights, run.state.cache, static_cast<std::uint32_t>(sequence_length(request)), graph_);
  if (run.compression.any()) {
    add_compression(request, run.compression, work.compression, model, run.network, graph_);
  }
  hal::spend(hal::work::tensor, graph_.count);
  graph_.identity = {};
  graph_.system = {work.ring, work.npu_end - work.ring};
  graph_.parameters = {parameters, parameter_bytes(model)};
  graph_.tokens = {request.tokens_address, sequence_length(request) * sizeof(std::uint32_t)};
  window_ = &window;
  commands_.open(window, run.state.stream,
                 hal::objects<gen::swap_plan_entry>(request.plan_address, request.plan_entries));
  return place(request, {room.bus, end - room.bus}, policies) ? result_code::ok : result_code::window_too_small;
}

void swap_runtime::plan_once(const window_limits& limits, const byte_range& room, bool staging) {
  if (planned_ && planned_for_.limits == limits && planned_for_.room == room && planned_for_.staging == staging &&
      planned_for_.graph.same_memory(graph_)) {
    return;
  }
  make_plan(graph_, limits, room, staging, space_, plan_);
  hal::spend(hal::work::token, plan_.steps / planner_steps_per_token);
  planned_for_.graph = graph_;  // one by one: together they would be built on the stack first
  planned_for_.limits = limits;
  planned_for_.room = room;
  planned_for_.staging = staging;
  planned_ = true;
}

bool swap_runtime::place(const gen::request_record& request, const byte_range& room, swap_policies& policies) {
  const window_limits limits = commands_.limits();
  bool fits = false;
  std::uint64_t ring_device = 0;
  switch (request.swap) {
    case swap_policy::none:
    case swap_policy::somr:
      plan_once(limits, room, request.swap == swap_policy::somr);
      fits = plan_.fits;
      refusal_ = {plan_.shortage, plan_.name, plan_.layer, plan_.need};
      policies.staged.open(graph_, plan_, commands_);
      policy_ = &policies.staged;
      ring_device = plan_.runs.device(graph_.system.bus);
      break;
    case swap_policy::naive:
    case swap_policy::lru:
      fits = policies.mapped.open(graph_, commands_, mapped_, request.swap == swap_policy::lru, refusal_);
      policy_ = &policies.mapped;
      ring_device = policies.mapped.device(graph_.system.bus);
      break;
  }
  memory_base_ = graph_.system.bus - ring_device;
  return fits;
}

void swap_runtime::start(kernels::run_state& state, bool identity) {
  graph_.identity = {state.identity, identity ? identity_bytes : 0};
  state.stream.look_up_in(&commands_.addresses());
  state.reachable = policy_;
  policy_->restart();
}

void swap_runtime::finish(kernels::run_state& state, gen::result_record& result) {
  if (policy_ != nullptr) {
    const std::uint32_t before = state.stream.submitted();
    if (state.stream.status() == drivers::npu_code::ok) {
      state.stream.drain();
    }
    result.descriptors += state.stream.submitted() - before;
    result.lost_interrupts = state.stream.lost_interrupts() + window_->lost_interrupts();
  }
  state.reachable = nullptr;
  policy_ = nullptr;
}

void swap_runtime::clear() {
  window_ = nullptr;
  policy_ = nullptr;
  refusal_ = {};
}

void swap_runtime::report(gen::result_record& result) const {
  if (window_ == nullptr) {
    return;
  }
  const swap_counters& c = commands_.counters();
  result.map_calls = c.map_calls;
  result.unmap_calls = c.unmap_calls;
  result.pages_mapped = static_cast<std::uint32_t>(c.pages_mapped);
  result.bytes_staged = c.bytes_staged;
  result.mapping_ns = c.mapping_ns;
  result.plan_length = commands_.recorded();
  if (result.code == result_code::window_too_small) {
    result.plan_operator = static_cast<std::uint16_t>(refusal_.name);
    result.plan_layer = static_cast<std::uint16_t>(refusal_.layer);
    result.plan_bytes = refusal_.need;
    result.plan_shortage = refusal_.shortage;
  }
}

}  // namespace dvp::dllm
