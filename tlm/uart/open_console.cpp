#include "tlm/uart/open_console.h"

#include <charconv>
#include <stdexcept>

#include "tlm/uart/console_file.h"
#include "tlm/uart/console_none.h"
#include "tlm/uart/console_pty.h"
#include "tlm/uart/console_stdio.h"
#include "tlm/uart/console_tcp.h"

namespace dvp::uart {

namespace {

constexpr std::string_view tcp = "tcp:";

std::uint16_t port_of(const std::string& what) {
  const char* first = what.data() + tcp.size();
  const char* last = what.data() + what.size();
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(first, last, port);
  if (error != std::errc() || end != last) {
    throw std::runtime_error(what + ": '" + std::string(first, last) + "' is no port; write tcp: and 0 to 65535");
  }
  return port;
}

}  // namespace

std::unique_ptr<console> open_console(const std::string& what, std::ostream& told) {
  if (what == "none") return std::make_unique<console_none>();
  if (what == "stdio") return std::make_unique<console_stdio>();
  if (what == "pty") {
    auto console = std::make_unique<console_pty>();
    told << "uart: " << console->path() << std::endl;
    return console;
  }
  if (what.starts_with(tcp)) {
    auto console = std::make_unique<console_tcp>(port_of(what));
    told << "uart: 127.0.0.1:" << console->port() << std::endl;
    return console;
  }
  if (what.empty()) throw std::runtime_error("no console is named; use stdio, none, pty, tcp:PORT or a file");
  return std::make_unique<console_file>(what);
}

}  // namespace dvp::uart
