#include "tlm/cpu/debug/gdb_server.h"

namespace dvp::cpu::debug {

namespace {

constexpr std::chrono::milliseconds poll_interval{3};
// Nothing is to be sent while the target runs, but for the interrupt byte: who sends more than this is not a debugger.
constexpr std::size_t most_held = 64;
constexpr const char* too_long = "E07";

}  // namespace

gdb_server::gdb_server(target& machine, listener port, std::vector<memory_range> memory)
    : machine_(machine), listener_(std::move(port)), protocol_(machine, std::move(memory)) {}

void gdb_server::give_up_when(std::function<bool()> over) {
  over_ = std::move(over);
  listener_.give_up_when(over_);
}

void gdb_server::adopt(std::optional<connection> client) {
  client_ = std::move(client);
  reader_ = {};
  arrived_.clear();
  held_.clear();
  last_sent_.clear();
  first_byte_ = true;
  acknowledges_ = true;
  owes_stop_reply_ = false;
  interrupted_ = false;
  protocol_.connected();
}

void gdb_server::drop() {
  client_.reset();
  protocol_.disconnected();
}

void gdb_server::send(const std::string& bytes) {
  if (client_ && !client_->send(bytes)) drop();
}

void gdb_server::hold(std::optional<std::string> packet) {
  if (acknowledges_) send("+");
  held_.push_back(std::move(packet));
  // An interrupt that the stop had overtaken; one that follows a packet is meant for what that starts.
  if (!owes_stop_reply_) interrupted_ = false;
}

// Takes what has arrived apart: packets go to held_, an interrupt is noted.
void gdb_server::read_on() {
  if (!client_->receive(arrived_)) {
    drop();
    return;
  }
  if (first_byte_ && !arrived_.empty()) {
    first_byte_ = false;
    constexpr std::string_view beginnings = "+-$\x03";
    if (beginnings.find(arrived_.front()) == std::string_view::npos) {
      drop();
      return;
    }
  }
  for (const char c : arrived_) {
    switch (reader_.take(static_cast<std::uint8_t>(c))) {
      case packet_reader::event::packet:
        hold(reader_.data());
        break;
      case packet_reader::event::too_long:
        hold(std::nullopt);
        break;
      case packet_reader::event::damaged:
        if (acknowledges_) send("-");
        break;
      case packet_reader::event::negative:
        if (acknowledges_) send(last_sent_);
        break;
      case packet_reader::event::interrupt:
        interrupted_ = true;
        break;
      case packet_reader::event::positive:
      case packet_reader::event::none:
        break;
    }
    if (!client_) return;
  }
  arrived_.clear();
}

bool gdb_server::poll_due() {
  const host_clock::time_point now = host_clock::now();
  if (now - last_poll_ < poll_interval) return false;
  last_poll_ = now;
  return true;
}

// While the target runs: is it to stop?
bool gdb_server::look() {
  if (client_) read_on();
  // One that never said a word has to make room.
  if (auto newcomer = listener_.accept(false); newcomer && (!client_ || first_byte_)) {
    adopt(std::move(newcomer));
    read_on();
  }
  if (client_ && held_.size() > most_held) drop();
  if (!client_) return false;
  return owes_stop_reply_ ? interrupted_ : !held_.empty();
}

bool gdb_server::wants_stop() {
  return poll_due() && look();
}

std::optional<resume> gdb_server::act(const std::optional<std::string>& packet) {
  const outcome result = packet ? protocol_.handle(*packet) : outcome{{too_long}, {}, false};
  for (const std::string& reply : result.replies) {
    last_sent_ = framed(reply);
    send(last_sent_);
  }
  if (result.no_acknowledgements) acknowledges_ = false;
  if (!result.released) return std::nullopt;
  if (*result.released == resume_action::run) {
    owes_stop_reply_ = true;
    return protocol_.plan().first();
  }
  if (client_) client_->finish();
  drop();
  return resume{*result.released, 0};
}

resume gdb_server::talk() {
  while (client_) {
    if (held_.empty()) {
      listener_.wait_for(*client_);
      if (over_()) {
        drop();
        return {resume_action::kill, 0};
      }
      read_on();
      if (held_.empty()) interrupted_ = false;  // it stands already
      continue;
    }
    const std::optional<std::string> packet = std::move(held_.front());
    held_.pop_front();
    if (const auto next = act(packet)) return *next;
  }
  return {resume_action::detach, 0};
}

resume gdb_server::stopped(const stop& why) {
  if (why.reason == stop_reason::exited) {
    protocol_.stopped(why, false);
    if (client_ && owes_stop_reply_) {
      send(framed(protocol_.stop_reply()));
      if (client_) client_->finish();
    }
    drop();
    return {resume_action::detach, 0};
  }
  if (!client_ && waits_for_first_) adopt(listener_.accept(true));
  waits_for_first_ = false;
  if (over_()) return {resume_action::kill, 0};
  if (!client_) return {resume_action::run, 0};
  stop told = why;
  if (owes_stop_reply_) {
    const auto next = protocol_.plan().next(told, machine_, protocol_.points());
    if (next && !wants_stop()) return *next;
    if (next) told.reason = stop_reason::interrupted;
  }
  protocol_.stopped(told, interrupted_);
  interrupted_ = false;
  if (owes_stop_reply_) {
    owes_stop_reply_ = false;
    last_sent_ = framed(protocol_.stop_reply());
    send(last_sent_);
  }
  return talk();
}

}  // namespace dvp::cpu::debug
