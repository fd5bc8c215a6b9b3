// dllm-vp: the program. Finds the subcommand and turns exceptions into one sentence and an exit code.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <systemc>

#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/loader/load_error.h"
#include "tlm/loader/tokenizer.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/interruption.h"
#include "tlm/platform/version.h"

namespace {

struct command {
  const char* name;
  const char* what;
  int (*call)(const std::vector<std::string>&);
};

constexpr command commands[] = {
    {"run", "answer prompts on the simulated chip", dvp::platform::run_command},
    {"compare", "answer the same prompts on several configurations, side by side", dvp::platform::compare_command},
    {"sweep", "run many design points, results in a database", dvp::platform::sweep_command},
    {"profile", "measure how long forwards take, for drafts that cost no time", dvp::platform::profile_command},
    {"report", "show results of run, compare, sweep or scripts/published as one HTML page",
     dvp::platform::report_command},
    {"explain", "show how a figure of a run comes about", dvp::platform::explain_command},
    {"boot", "run a bare-metal RV64 program on the simulated chip", dvp::platform::boot_command},
    {"dram", "play traffic into an LPDDR5 memory and show what it cost", dvp::platform::dram_command},
    {"check-array", "compare the RTL array with the model on random tiles", dvp::platform::check_array_command},
    {"inspect", "show what is in a model file", dvp::platform::inspect_command},
};

std::string usage() {
  std::string text =
      "dllm-vp: a virtual platform for diffusion language models on an NPU\n\nusage: dllm-vp COMMAND ...\n";
  for (const auto& c : commands) {
    text += "  " + std::string(c.name) + std::string(14 - std::string(c.name).size(), ' ') + c.what + '\n';
  }
  return text + "dllm-vp COMMAND --help tells the options of a command; dllm-vp --version the version.\n";
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    (arguments.empty() ? std::cerr : std::cout) << usage();
    return arguments.empty() ? dvp::platform::exit_usage : dvp::platform::exit_ok;
  }
  if (arguments[0] == "--version") {
    std::cout << "dllm-vp " << dvp::platform::version << '\n';
    return dvp::platform::exit_ok;
  }
  std::vector<std::string> names;
  for (const auto& c : commands) {
    if (arguments[0] == c.name) return c.call({arguments.begin() + 1, arguments.end()});
    names.emplace_back(c.name);
  }
  const std::string close = dvp::core::nearest_word(arguments[0], names);
  throw dvp::platform::usage_error(arguments[0] + ": unknown command; " +
                                   (close.empty() ? "dllm-vp --help lists them" : "did you mean " + close + "?"));
}

// A reader of the output would take a part of it for the whole.
int with_output_whole(int code) {
  std::cout.flush();
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && !std::cout.fail();
  if (whole || code != dvp::platform::exit_ok) return code;
  throw std::runtime_error("standard output: could not be written whole; is the disk full?");
}

}  // namespace

// Replaces the library's main: its banner would come before whatever the user asked for.
int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}

int sc_main(int argc, char* argv[]) {
  // Nor should its notices about stopping.
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  try {
    return with_output_whole(dispatch({argv + 1, argv + argc}));
  } catch (const dvp::platform::usage_error& error) {
    std::cerr << "dllm-vp: " << error.what() << '\n';
    return dvp::platform::exit_usage;
  } catch (const dvp::core::config_error& error) {
    std::cerr << "dllm-vp: " << error.what() << '\n';
    return dvp::platform::exit_usage;
  } catch (const dvp::loader::encode_error& error) {
    std::cerr << "dllm-vp: prompt: " << error.what() << '\n';
    return dvp::platform::exit_usage;
  } catch (const dvp::loader::load_error& error) {
    std::cerr << "dllm-vp: " << error.what() << '\n';
    return dvp::platform::exit_model;
  } catch (const std::exception& error) {
    std::cerr << "dllm-vp: " << error.what() << '\n';
    return dvp::platform::interruption::exit_code().value_or(dvp::platform::exit_fault);
  }
}
