// What the image says when it starts.
#pragma once

namespace dvp::port {

// Opens the console and prints name, version and memory map.
void print_boot_message();

}  // namespace dvp::port
