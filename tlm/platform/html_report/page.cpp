#include "tlm/platform/html_report/page.h"

#include <string_view>

#include "tlm/platform/html_report/bundle.h"

namespace dvp::platform {

namespace {

// Text of HTML, outside of tags.
std::string escaped_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

// JSON inside a script element, where "</script" and "<!--" would end it or change how it is read.
std::string escaped_data(const nlohmann::ordered_json& document) {
  using json = nlohmann::ordered_json;
  std::string result;
  for (const char c : document.dump(-1, ' ', true, json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string make_page(const nlohmann::ordered_json& document) {
  struct place {
    std::string_view mark;
    std::string content;
  };
  // In the order in which the marks stand on the page.
  const place places[] = {{"@STYLE@", std::string(bundle::style())},
                          {"@DATA@", escaped_data(document)},
                          {"@LICENCES@", escaped_text(bundle::licences())},
                          {"@PROGRAM@", std::string(bundle::program())}};
  std::string page;
  std::string_view rest = bundle::page();
  for (const place& p : places) {
    const auto at = rest.find(p.mark);
    page += rest.substr(0, at);
    page += p.content;
    rest.remove_prefix(at + p.mark.size());
  }
  return page += rest;
}

}  // namespace dvp::platform
