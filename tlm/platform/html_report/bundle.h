// The parts of the page, put into the program when it is built: from web/, its JavaScript bundled with what it uses.
#pragma once

#include <string_view>

namespace dvp::platform::bundle {

std::string_view page();      // the frame: HTML with the places of the other parts
std::string_view style();     // CSS
std::string_view program();   // JavaScript
std::string_view licences();  // of the libraries in the program, plain text

}  // namespace dvp::platform::bundle
