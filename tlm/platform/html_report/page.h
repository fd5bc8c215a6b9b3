// The page that `dllm-vp report` writes: one HTML file with everything in it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// web/page.html with style, program and licences in their places, and the document as data. No text of the document
// can be taken for markup: every "<" of it is written as an escape of JSON. It forbids the browser every request.
std::string make_page(const nlohmann::ordered_json& document);

}  // namespace dvp::platform
