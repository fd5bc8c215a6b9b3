#include <iostream>

#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/html_report/document.h"
#include "tlm/platform/html_report/options.h"
#include "tlm/platform/html_report/page.h"

namespace dvp::platform {

int report_command(const std::vector<std::string>& arguments) {
  const report_options options = parse_report_options(arguments);
  if (options.help) {
    std::cout << report_help();
    return exit_ok;
  }
  refuse_unwritable(options.out);
  write_text(options.out, make_page(report_document(options.inputs, options.title)));
  std::cout << "written  " << options.out << " (open in a browser)\n";
  return exit_ok;
}

}  // namespace dvp::platform
