#include "tlm/platform/html_report/bundle.h"

// The assembler reads files of any size in no time, which compilers do not.
#define DVP_EMBED(symbol, file)                \
  asm(".section .rodata\n"                     \
      ".global dvp_bundle_" #symbol            \
      "\n"                                     \
      ".global dvp_bundle_" #symbol            \
      "_end\n"                                 \
      "dvp_bundle_" #symbol                    \
      ":\n"                                    \
      ".incbin \"" file                        \
      "\"\n"                                   \
      "dvp_bundle_" #symbol                    \
      "_end:\n"                                \
      ".previous\n");                          \
  extern "C" const char dvp_bundle_##symbol[]; \
  extern "C" const char dvp_bundle_##symbol##_end[]

DVP_EMBED(page, DVP_BUNDLE "/page.html");
DVP_EMBED(style, DVP_BUNDLE "/style.css");
DVP_EMBED(program, DVP_BUNDLE "/report.js");
DVP_EMBED(licences, DVP_BUNDLE "/licences.txt");

namespace dvp::platform::bundle {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page() {
  return between(dvp_bundle_page, dvp_bundle_page_end);
}
std::string_view style() {
  return between(dvp_bundle_style, dvp_bundle_style_end);
}
std::string_view program() {
  return between(dvp_bundle_program, dvp_bundle_program_end);
}
std::string_view licences() {
  return between(dvp_bundle_licences, dvp_bundle_licences_end);
}

}  // namespace dvp::platform::bundle
