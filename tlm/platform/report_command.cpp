#include <filesystem>
#include <iostream>

#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/html_report/document.h"
#include "tlm/platform/html_report/options.h"
#include "tlm/platform/html_report/page.h"
#include "tlm/platform/shared_files.h"

namespace dvp::platform {

namespace {

// The page in place of what it shows would be the last of that.
void refuse_results_as_page(const report_options& options) {
  std::vector<named_file> results;
  for (const auto& input : options.inputs) {
    results.push_back({"the results", input});
    for (const char* name : {"stats.json", "compare.json", "timeline.json", "trajectory.json", "plan.txt"}) {
      results.push_back({"the results", (std::filesystem::path(input) / name).string()});
    }
  }
  refuse_shared_files({{"--out", options.out}}, results);
}

}  // namespace

int report_command(const std::vector<std::string>& arguments) {
  const report_options options = parse_report_options(arguments);
  if (options.help) {
    std::cout << report_help();
    return exit_ok;
  }
  refuse_unwritable(options.out);
  refuse_results_as_page(options);
  write_text(options.out, make_page(report_document(options.inputs, options.title)));
  std::cout << "written  " << options.out << " (open in a browser)\n";
  return exit_ok;
}

}  // namespace dvp::platform
