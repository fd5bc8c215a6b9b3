#include <boost/program_options.hpp>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "dvp_gen/system.h"
#include "tlm/platform/array_seats.h"
#include "tlm/platform/command_line.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/config.h"
#include "tlm/platform/cpu_side.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"
#include "tlm/platform/shared_files.h"
#include "tlm/platform/simulate.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

struct boot_options {
  std::string config = "fixed";
  std::vector<std::string> overrides;  // path=value
  cpu_options cpu;                     // firmware: the image
  bool quiet = false;
  bool help = false;
};

po::options_description description() {
  po::options_description options("dllm-vp boot IMAGE: runs a bare-metal program on the simulated chip", 110);
  // clang-format off
  options.add_options()
    ("config,c", po::value<std::string>(), "platform: shipped name or JSON file (default fixed)")
    ("set", po::value<std::vector<std::string>>()->composing(), "override one value of the configuration: path=value");
  // clang-format on
  add_cpu_options(options);
  // clang-format off
  options.add_options()
    ("quiet,q", "print nothing but what the program prints and other options ask for")
    ("help,h", "this text");
  // clang-format on
  return options;
}

std::string boot_help() {
  std::ostringstream text;
  text << description()
       << "\nIMAGE is an ELF executable for RV64 (rv64gc, machine mode), linked into the memories firmware or dram of\n"
          "gen/spec/system. It runs until it writes to the finisher, a hart cannot go on, or the time limit. The "
          "console is\n"
          "standard input and output unless --uart says otherwise.\n"
          "\nExit codes: 0 the program passed; 1 it failed, a hart could not go on, or the time limit came; 2 wrong "
          "usage\n"
          "or configuration; 3 an image that cannot be used; 128 + N: signal N (Ctrl-C, SIGTERM, SIGHUP) ended the "
          "run,\n"
          "and a second one ends it at once.\n";
  return text.str();
}

boot_options parse(const std::vector<std::string>& arguments) {
  po::options_description all = description();
  all.add_options()("image", po::value<std::string>(), "the program");
  const po::variables_map given =
      parse_command_line(arguments, all, po::positional_options_description().add("image", 1), "dllm-vp boot");
  boot_options options;
  options.help = given.count("help") != 0;
  if (options.help) return options;
  if (given.count("image") == 0)
    throw usage_error("boot: name the image to run; dllm-vp boot --help lists the options");
  options.cpu = read_cpu_options(given);
  options.cpu.firmware = option_text(given, "image");
  if (given.count("config") != 0) options.config = option_text(given, "config");
  if (given.count("set") != 0) options.overrides = given["set"].as<std::vector<std::string>>();
  options.overrides.emplace_back("cpu.seat=rv64");
  for (const auto& override : overrides_of(options.cpu)) options.overrides.push_back(override);
  options.quiet = given.count("quiet") != 0;
  return options;
}

void print_summary(std::uint32_t harts, const nlohmann::ordered_json& figures, std::ostream& out) {
  out << "  passed      at " << std::fixed << std::setprecision(3) << sc_core::sc_time_stamp().to_seconds() * 1e6
      << " us\n";
  for (std::uint32_t h = 0; h < harts; ++h) {
    const auto figure = [&](const char* name) { return count_at(figures, "cpu" + std::to_string(h) + "." + name); };
    out << "  hart " << h << "      " << figure("instructions") << " instructions in " << figure("cycles")
        << " cycles, " << figure("register_reads") + figure("register_writes") << " register accesses, "
        << figure("exceptions") << " exceptions, " << figure("interrupts") << " interrupts\n";
  }
}

}  // namespace

int boot_command(const std::vector<std::string>& arguments) {
  const boot_options options = parse(arguments);
  if (options.help) {
    std::cout << boot_help();
    return exit_ok;
  }
  const platform_config config = load_config(options.config, options.overrides);
  refuse_shared_files(output_files(options.cpu),
                      {{"the image", options.cpu.firmware}, {"--config", find_config(options.config).string()}});
  cpu_side cpu(options.cpu, config, "stdio", std::cerr);
  core::statistics figures;
  core::timeline timeline;
  array_seats seats(config.npu.array, array_choice::model, 1, "", 0);
  platform chip("dllm_vp", config, seats.seat(), cpu.console(), cpu.entry(), figures, timeline);
  cpu.attach(chip, true, timeline, std::cerr);

  const simulation_end how = simulate(options.cpu.limit_us);
  std::string why = cpu_trouble(chip, how, cpu.symbols(), options.cpu.limit_us);
  if (cpu.killed()) why = "the debugger ended the run";
  if (!chip.npu.failure().empty()) why = chip.npu.failure();
  if (why.empty() && !chip.finished()) why = "the simulation was stopped before the program wrote to the finisher";
  std::cout << std::flush;
  cpu.finish(chip, why.empty() ? exit_ok : exit_fault, std::cout);
  if (!why.empty()) throw std::runtime_error(why);
  if (!options.quiet) print_summary(chip.cpu->harts(), chip.finished()->figures, std::cout);
  return exit_ok;
}

}  // namespace dvp::platform
