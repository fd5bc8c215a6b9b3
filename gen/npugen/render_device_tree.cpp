// platform.dts: what an operating system or a portable bare-metal program learns of the platform.
//
// The bindings are the field's: riscv/cpus.yaml, sifive,clint.yaml, sifive,plic-1.0.0.yaml, sifive-serial.yaml,
// mmio-sram and mtd-physmap of the Linux kernel. Nodes carry the names of the address map.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gen/npugen/render.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

// Interrupts of a hart by their number in mip.
constexpr int machine_software = 3, machine_timer = 7, machine_external = 11;

std::string cells(std::uint64_t value) {
  return hex(value >> 32) + " " + hex(value & 0xffff'ffff);
}

std::string string_list(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) {
    result += (result.empty() ? "" : ", ") + quoted(text);
  }
  return result;
}

class device_tree {
 public:
  explicit device_tree(const specification& spec) : spec_(spec), system_(spec.system) {}

  std::string text() {
    banner(out_, {system_.file});
    out_.line("//").comment(system_.title + ". " + system_.doc +
                            " It has as many harts as there can be; a configuration with fewer disables the others.");
    out_.line("/dts-v1/;").line();
    open("/");
    cell_counts(2, 2);
    property("compatible", quoted("dllm-vp," + system_.name));
    property("model", quoted(system_.title));
    out_.line();
    harts();
    for (const memory& item : system_.memories) {
      if (item.kind == memory_kind::dram) {
        main_memory(item);
      }
    }
    for (const device& item : system_.devices) {
      if (item.clock_hz != 0) {
        clock(item);
      }
    }
    out_.line();
    open("soc");
    cell_counts(2, 2);
    property("compatible", quoted("simple-bus"));
    out_.line("ranges;");
    for (const memory& item : system_.memories) {
      if (item.kind != memory_kind::dram) {
        small_memory(item);
      }
    }
    for (const device& item : system_.devices) {
      peripheral(item);
    }
    close();
    close();
    return out_.text();
  }

 private:
  void open(const std::string& name) { out_.line(name, " {").indent(2); }
  void close() { out_.outdent(2).line("};"); }
  void property(const std::string& name, const std::string& value) { out_.line(name, " = ", value, ";"); }
  void number(const std::string& name, std::uint64_t value) { property(name, "<" + std::to_string(value) + ">"); }
  void cell_counts(int address, int size) {
    number("#address-cells", static_cast<std::uint64_t>(address));
    number("#size-cells", static_cast<std::uint64_t>(size));
  }
  void place(std::uint64_t base, std::uint64_t bytes) { property("reg", "<" + cells(base) + " " + cells(bytes) + ">"); }
  static std::string at(const std::string& name, std::uint64_t base) { return name + "@" + hex(base).substr(2); }

  void harts() {
    open("cpus");
    cell_counts(1, 0);
    number("timebase-frequency", system_.timebase_hz);
    for (std::uint32_t hart = 0; hart < system_.most_harts; ++hart) {
      open(at("cpu", hart));
      property("device_type", quoted("cpu"));
      number("reg", hart);
      property("compatible", quoted("riscv"));
      property("riscv,isa", quoted(system_.isa));
      property("mmu-type", quoted("riscv,none"));
      open(interrupts_of(hart) + ": interrupt-controller");
      property("compatible", quoted("riscv,cpu-intc"));
      number("#address-cells", 0);
      number("#interrupt-cells", 1);
      out_.line("interrupt-controller;");
      close();
      close();
    }
    close();
  }

  static std::string interrupts_of(std::uint32_t hart) { return "cpu" + std::to_string(hart) + "_intc"; }

  void main_memory(const memory& item) {
    out_.line().comment(item.doc);
    open(item.name + ": " + at("memory", item.base));
    property("device_type", quoted("memory"));
    place(item.base, item.bytes);
    close();
  }

  void small_memory(const memory& item) {
    out_.line().comment(item.doc);
    open(item.name + ": " + at(item.name, item.base));
    property("compatible", quoted(item.kind == memory_kind::rom ? "mtd-rom" : "mmio-sram"));
    place(item.base, item.bytes);
    if (item.kind == memory_kind::rom) {
      number("bank-width", 4);
    } else {
      cell_counts(1, 1);
      property("ranges", "<0x0 " + cells(item.base) + " " + hex(item.bytes) + ">");
    }
    close();
  }

  void clock(const device& item) {
    out_.line();
    open(clock_of(item) + ": " + item.name + "-clock");
    property("compatible", quoted("fixed-clock"));
    number("#clock-cells", 0);
    number("clock-frequency", item.clock_hz);
    close();
  }

  static std::string clock_of(const device& item) { return item.name + "_clock"; }

  void peripheral(const device& item) {
    const block& owner = block_of(item);
    out_.line().comment(item.doc);
    open(item.name + ": " + at(item.name, item.base));
    property("compatible", string_list(owner.compatible));
    place(item.base, item.bytes);
    if (owner.is(core_timer)) {
      reaches_harts({machine_software, machine_timer});
    }
    if (owner.is(interrupt_controller)) {
      number("#address-cells", 0);
      number("#interrupt-cells", 1);
      out_.line("interrupt-controller;");
      number("riscv,ndev", system_.interrupt_sources);
      reaches_harts({machine_external});
    }
    if (item.interrupt != 0) {
      property("interrupt-parent", "<&" + controller() + ">");
      number("interrupts", item.interrupt);
    }
    if (item.clock_hz != 0) {
      property("clocks", "<&" + clock_of(item) + ">");
    }
    close();
  }

  const block& block_of(const device& item) const {
    return *std::ranges::find_if(spec_.blocks, [&](const block& candidate) { return candidate.name == item.block; });
  }

  // Validation leaves no interrupt without one.
  std::string controller() const {
    return std::ranges::find_if(system_.devices,
                                [&](const device& item) { return block_of(item).is(interrupt_controller); })
        ->name;
  }

  void reaches_harts(const std::vector<int>& interrupts) {
    std::string list;
    for (std::uint32_t hart = 0; hart < system_.most_harts; ++hart) {
      for (const int interrupt : interrupts) {
        list += (list.empty() ? "<&" : ", <&") + interrupts_of(hart) + " " + std::to_string(interrupt) + ">";
      }
    }
    property("interrupts-extended", list);
  }

  const specification& spec_;
  const system_map& system_;
  text_file out_;
};

}  // namespace

std::vector<rendered_file> render_device_tree(const specification& spec) {
  return {{"dvp_gen/platform.dts", device_tree(spec).text()}};
}

}  // namespace dvp::npugen
