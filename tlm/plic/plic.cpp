#include "tlm/plic/plic.h"

#include <string>

#include "dvp_gen/plic_bank.h"

namespace dvp::plic {

namespace reg = gen::plic;

namespace {

static_assert(plic::sources < 32, "one word holds the state of all sources");

std::uint32_t checked(std::uint32_t contexts, const char* name) {
  if (contexts < 1 || contexts > plic::most_contexts) {
    SC_REPORT_FATAL("/dvp/plic", (std::string(name) + ": " + std::to_string(contexts) +
                                  " contexts, the registers serve 1 to " + std::to_string(plic::most_contexts))
                                     .c_str());
  }
  return contexts;
}

constexpr std::uint32_t bit(std::uint32_t id) {
  return 1U << id;
}

}  // namespace

plic::plic(const sc_core::sc_module_name& name, std::uint32_t contexts)
    : register_target(name, reg::bank),
      interrupt("interrupt", checked(contexts, this->name())),
      lines_("source", sources) {
  attach_registers();
  SC_HAS_PROCESS(plic);
  SC_METHOD(drive_interrupts);
  sensitive << changed_;
  for (input& line : lines_) sensitive << line;
}

void plic::attach_registers() {
  registers_.on_read(reg::pending::offset, [this] { return pending_; });
  const auto change = [this](std::uint32_t) { changed_.notify(sc_core::SC_ZERO_TIME); };
  for (std::uint32_t id = 1; id <= sources; ++id) registers_.on_write(reg::source::priority::at(id), change);
  // There is no source 0.
  registers_.on_write(reg::source::priority::at(0),
                      [this](std::uint32_t) { registers_.set(reg::source::priority::at(0), 0); });
  for (std::uint32_t context = 0; context < most_contexts; ++context) {
    registers_.on_write(reg::enables::word::at(context), [this, context](std::uint32_t value) {
      registers_.set(reg::enables::word::at(context), value & ~bit(0));
      changed_.notify(sc_core::SC_ZERO_TIME);
    });
    registers_.on_write(reg::context::threshold::at(context), change);
  }
  for (std::uint32_t context = 0; context < interrupt.size(); ++context) attach_context(context);
}

void plic::attach_context(std::uint32_t context) {
  const std::uint32_t offset = reg::context::claim::at(context);
  registers_.on_read(
      offset, [this, context] { return best(context, 0); }, [this, context] { claim(best(context, 0)); });
  registers_.on_write(offset, [this, context](std::uint32_t id) { complete(context, id); });
}

bool plic::is_high(std::uint32_t id) const {
  const input& line = lines_[id - 1];
  return line.size() != 0 && line->read();
}

// Every gateway looks at its line.
void plic::sample() {
  for (std::uint32_t id = 1; id <= sources; ++id) {
    if (is_high(id) && ((pending_ | in_service_) & bit(id)) == 0) pending_ |= bit(id);
  }
}

void plic::drive_interrupts() {
  sample();
  for (std::uint32_t context = 0; context < interrupt.size(); ++context) {
    const std::uint32_t threshold =
        reg::context::threshold::level.get(registers_.get(reg::context::threshold::at(context)));
    interrupt[context].write(best(context, threshold) != 0);
  }
}

// The source that a context with this threshold takes next, or 0.
std::uint32_t plic::best(std::uint32_t context, std::uint32_t threshold) const {
  const std::uint32_t candidates = pending_ & registers_.get(reg::enables::word::at(context));
  std::uint32_t found = 0;
  std::uint32_t highest = threshold;
  for (std::uint32_t id = 1; id <= sources; ++id) {
    if ((candidates & bit(id)) == 0) continue;
    const std::uint32_t priority = reg::source::priority::level.get(registers_.get(reg::source::priority::at(id)));
    if (priority > highest) {
      highest = priority;
      found = id;
    }
  }
  return found;
}

void plic::claim(std::uint32_t id) {
  if (id == 0) return;
  pending_ &= ~bit(id);
  in_service_ |= bit(id);
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void plic::complete(std::uint32_t context, std::uint32_t id) {
  if (id > sources || (registers_.get(reg::enables::word::at(context)) & bit(id)) == 0) return;
  in_service_ &= ~bit(id);
  changed_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace dvp::plic
